//! What an endpoint wants besides types of events: a condition over an event's `data`, as `$filter` of
//! OData writes it.
//!
//! A filter is compared in memory with what the endpoint's owner sees, so what is hidden from the owner
//! is null to it. What costs more than the data is long (`any` and `all` over lists within lists) is
//! refused when the endpoint is saved, as are functions that say nothing of a value.
//!
//! An event may have a thousand endpoints with a filter each, while others wait for it to be told. So a filter calls
//! few functions ([`MAX_CALLS`]), what they make of a text is made once for all filters that see the same data
//! ([`Seen`]), and there are few things that they can make: a case is changed once. What they make of texts that
//! stand in a filter is made when it is read.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};
use std::str::FromStr as _;

use sea_orm::prelude::Decimal;
use serde_json::{Number, Value as Json};
use svc_odata::syntax::{
    BinaryOperator, Expr, ExprKind, Function, Literal, ParseLimits, Path, PathRoot, Position,
    SegmentKind, UnaryOperator,
};
use svc_odata::value::{in_lower_case, in_upper_case};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// The longest filter, in bytes.
const MAX_LENGTH: usize = 2_000;

/// The most calls of functions in a filter: each may go along a text of the data.
const MAX_CALLS: usize = 20;

/// How much of an expression is read.
const LIMITS: ParseLimits = ParseLimits { nodes: 200, depth: 16 };

/// A condition over the data of events.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Filter(Term);

#[derive(Clone, Debug, PartialEq)]
enum Term {
    Value(Value<'static>),
    /// Names to follow from the data on.
    Path(Vec<String>),
    Made(Made),
    Call(Text, Vec<Self>),
    Compare(BinaryOperator, Box<Self>, Box<Self>),
    In(Box<Self>, Vec<Self>),
    And(Vec<Self>),
    Or(Vec<Self>),
    Not(Box<Self>),
}

/// A text that is made of one of the data.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Made {
    path: Vec<String>,
    /// What is done with it, first to last.
    by: Vec<Text>,
}

/// Data that filters are compared with, and the texts that they have made of it.
pub(crate) struct Seen<'a> {
    data: &'a Json,
    made: HashMap<&'a Made, Value<'a>>,
}

impl<'a> Seen<'a> {
    pub(crate) fn new(data: &'a Json) -> Self {
        Self { data, made: HashMap::new() }
    }

    fn at(&self, path: &[String]) -> Value<'a> {
        let found = path.iter().try_fold(self.data, |data, name| data.get(name));
        found.map_or(Value::Null, Value::of_json)
    }

    fn made(&mut self, made: &'a Made) -> Value<'a> {
        if let Some(known) = self.made.get(made) {
            return known.clone();
        }
        let text = made.by.iter().fold(self.at(&made.path), |value, text| text.call(&[value]));
        self.made.insert(made, text.clone());
        text
    }
}

/// A function of texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Text {
    Contains,
    StartsWith,
    EndsWith,
    Length,
    ToLower,
    ToUpper,
    Trim,
}

#[derive(Clone, Debug, PartialEq)]
enum Value<'a> {
    Null,
    Boolean(bool),
    Number(Decimal),
    /// A number that no decimal holds.
    Float(f64),
    Text(Cow<'a, str>),
    Time(OffsetDateTime),
    /// An object or a list: equal to nothing.
    Structure,
}

/// Why a text is no filter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct FilterError(String);

impl FilterError {
    fn at(position: Position, what: &str) -> Self {
        Self(format!("position {position}: {what}"))
    }
}

impl Filter {
    /// Reads a filter.
    pub(crate) fn parse(text: &str) -> Result<Self, FilterError> {
        if text.len() > MAX_LENGTH {
            return Err(FilterError(format!("must have at most {MAX_LENGTH} bytes")));
        }
        if text.contains('\0') {
            return Err(FilterError("must not contain the character U+0000".to_owned()));
        }
        let parsed = Expr::parse_with(text.trim(), LIMITS);
        let parsed = parsed.map_err(|error| FilterError(error.to_string()))?;
        let mut calls = 0;
        let term = Term::read(&parsed, &mut calls)?;
        if calls > MAX_CALLS {
            let message = format!("calls {calls} functions, and may call {MAX_CALLS} at most");
            return Err(FilterError(message));
        }
        if term.is_condition() {
            return Ok(Self(term));
        }
        Err(FilterError::at(parsed.at, "isn't a condition; compare it, as in `price gt 100`"))
    }

    /// Reads a filter that was stored. It was checked then, perhaps by a program that knew other
    /// functions: one that can't be read lets nothing through.
    pub(crate) fn read(text: &str) -> Self {
        Self::parse(text).unwrap_or_else(|error| {
            tracing::error!(%error, "a filter of webhooks can't be read, and lets nothing through");
            Self(Term::Value(Value::Boolean(false)))
        })
    }

    /// Whether data is as the filter wants it.
    pub(crate) fn matches(&self, data: &Json) -> bool {
        self.lets_through(&mut Seen::new(data))
    }

    /// The same of data that is compared with many filters.
    pub(crate) fn lets_through<'a>(&'a self, seen: &mut Seen<'a>) -> bool {
        self.0.holds(seen)
    }

    /// The properties of the data that it names.
    pub(crate) fn properties(&self) -> BTreeSet<&str> {
        let mut names = BTreeSet::new();
        self.0.name(&mut names);
        names
    }

    /// Those that it asks whether they come before or behind something.
    pub(crate) fn ordered(&self) -> BTreeSet<&str> {
        let mut names = BTreeSet::new();
        self.0.order(&mut names);
        names
    }
}

impl Term {
    /// Reads an expression, and counts the functions that it calls.
    fn read(expression: &Expr, calls: &mut usize) -> Result<Self, FilterError> {
        let at = expression.at;
        let all = |parts: &[Expr], calls: &mut usize| {
            parts.iter().map(|part| Self::read(part, calls)).collect::<Result<Vec<_>, _>>()
        };
        let conditions = |parts: &[Expr], calls: &mut usize| {
            let read = all(parts, calls)?;
            if read.iter().all(Self::is_condition) {
                return Ok(read);
            }
            Err(FilterError::at(at, "`and` and `or` join conditions, such as `price gt 100`"))
        };
        match &expression.kind {
            ExprKind::Literal(literal) => Value::of_literal(literal, at).map(Self::Value),
            ExprKind::Path(path) => read_path(path).map(Self::Path),
            ExprKind::And(parts) => conditions(parts, calls).map(Self::And),
            ExprKind::Or(parts) => conditions(parts, calls).map(Self::Or),
            ExprKind::Unary(UnaryOperator::Not, operand) => {
                let operand = Self::read(operand, calls)?;
                if operand.is_condition() {
                    return Ok(Self::Not(Box::new(operand)));
                }
                Err(FilterError::at(at, "`not` takes a condition, such as `price gt 100`"))
            }
            ExprKind::Binary(operator, left, right) if operator.is_comparison() => {
                let operands =
                    (Box::new(Self::read(left, calls)?), Box::new(Self::read(right, calls)?));
                Ok(Self::Compare(*operator, operands.0, operands.1))
            }
            ExprKind::In(left, right) => {
                let (ExprKind::List(list) | ExprKind::Array(list)) = &right.kind else {
                    return Err(FilterError::at(right.at, "`in` takes a list, as in `(1,2)`"));
                };
                Ok(Self::In(Box::new(Self::read(left, calls)?), all(list, calls)?))
            }
            ExprKind::Call(function, arguments) => match Text::of(*function) {
                Some(text) => {
                    *calls += 1;
                    Self::call(text, all(arguments, calls)?, at)
                }
                None => Err(unusable(at, &format!("`{}`", function.name()))),
            },
            ExprKind::Binary(operator, ..) => {
                Err(unusable(at, &format!("`{}`", operator.keyword())))
            }
            _ => Err(unusable(at, "this")),
        }
    }

    /// A call of a function. What it makes of a text that stands there is made at once, and what it makes of one of
    /// the data once for all filters.
    fn call(text: Text, mut arguments: Vec<Self>, at: Position) -> Result<Self, FilterError> {
        if !text.makes_text() || arguments.len() != 1 {
            return Ok(Self::Call(text, arguments));
        }
        Ok(match arguments.pop() {
            Some(Self::Value(value)) => Self::Value(text.call(&[value])),
            Some(Self::Path(path)) => Self::Made(Made { path, by: vec![text] }),
            Some(Self::Made(mut made)) => {
                if text.is_case() && made.by.iter().any(|text| text.is_case()) {
                    let message =
                        "the case of a text is changed once, by `tolower` or by `toupper`";
                    return Err(FilterError::at(at, message));
                }
                // What was trimmed is, in whatever case.
                if !made.by.contains(&text) {
                    made.by.push(text);
                }
                Self::Made(made)
            }
            other => Self::Call(text, other.into_iter().collect()),
        })
    }

    /// Whether it says yes or no, or may.
    fn is_condition(&self) -> bool {
        match self {
            Self::Value(value) => matches!(value, Value::Boolean(_)),
            Self::Call(text, _) => {
                matches!(text, Text::Contains | Text::StartsWith | Text::EndsWith)
            }
            Self::Made(_) => false,
            // A property may be a boolean.
            _ => true,
        }
    }

    fn holds<'a>(&'a self, seen: &mut Seen<'a>) -> bool {
        match self {
            Self::And(parts) => parts.iter().all(|part| part.holds(seen)),
            Self::Or(parts) => parts.iter().any(|part| part.holds(seen)),
            Self::Not(part) => !part.holds(seen),
            Self::Compare(operator, left, right) => {
                compare(*operator, &left.value(seen), &right.value(seen))
            }
            Self::In(left, list) => {
                let left = left.value(seen);
                list.iter().any(|one| left.equals(&one.value(seen)))
            }
            Self::Value(_) | Self::Path(_) | Self::Made(_) | Self::Call(..) => {
                matches!(self.value(seen), Value::Boolean(true))
            }
        }
    }

    fn value<'a>(&'a self, seen: &mut Seen<'a>) -> Value<'a> {
        match self {
            Self::Value(value) => value.clone(),
            Self::Path(path) => seen.at(path),
            Self::Made(made) => seen.made(made),
            Self::Call(text, arguments) => {
                let values: Vec<Value<'a>> =
                    arguments.iter().map(|argument| argument.value(seen)).collect();
                text.call(&values)
            }
            _ => Value::Boolean(self.holds(seen)),
        }
    }

    fn name<'a>(&'a self, names: &mut BTreeSet<&'a str>) {
        match self {
            Self::Value(_) => {}
            Self::Path(path) | Self::Made(Made { path, .. }) => {
                names.extend(path.first().map(String::as_str));
            }
            Self::Call(_, parts) | Self::And(parts) | Self::Or(parts) => {
                for part in parts {
                    part.name(names);
                }
            }
            Self::Compare(_, left, right) => {
                left.name(names);
                right.name(names);
            }
            Self::In(left, list) => {
                left.name(names);
                for part in list {
                    part.name(names);
                }
            }
            Self::Not(part) => part.name(names),
        }
    }

    fn order<'a>(&'a self, names: &mut BTreeSet<&'a str>) {
        match self {
            Self::Compare(BinaryOperator::Equal | BinaryOperator::NotEqual, left, right) => {
                left.order(names);
                right.order(names);
            }
            Self::Compare(_, left, right) => {
                for side in [left, right] {
                    match &**side {
                        Self::Path(path) => names.extend(path.first().map(String::as_str)),
                        other => other.order(names),
                    }
                }
            }
            Self::And(parts) | Self::Or(parts) => parts.iter().for_each(|part| part.order(names)),
            Self::Not(part) => part.order(names),
            Self::Value(_) | Self::Path(_) | Self::Made(_) | Self::Call(..) | Self::In(..) => {}
        }
    }
}

fn unusable(at: Position, what: &str) -> FilterError {
    let usable = "compare properties with `eq`, `ne`, `gt`, `ge`, `lt`, `le` and `in`, with `and`, `or`, \
                  `not`, `contains`, `startswith`, `endswith`, `length`, `tolower`, `toupper` and `trim`";
    FilterError::at(at, &format!("a filter of webhooks has no use for {what}; {usable}"))
}

fn read_path(path: &Path) -> Result<Vec<String>, FilterError> {
    if !matches!(path.root, PathRoot::Relative | PathRoot::It) || path.segments.is_empty() {
        return Err(unusable(path.at, "this path"));
    }
    let names = path.segments.iter().map(|segment| match &segment.kind {
        SegmentKind::Name { name, arguments: None } => Ok(name.clone()),
        SegmentKind::Any(_) => Err(unusable(segment.at, "`any`")),
        SegmentKind::All(_) => Err(unusable(segment.at, "`all`")),
        _ => Err(unusable(segment.at, "this part of a path")),
    });
    names.collect()
}

impl Text {
    fn of(function: Function) -> Option<Self> {
        Some(match function {
            Function::Contains => Self::Contains,
            Function::StartsWith => Self::StartsWith,
            Function::EndsWith => Self::EndsWith,
            Function::Length => Self::Length,
            Function::ToLower => Self::ToLower,
            Function::ToUpper => Self::ToUpper,
            Function::Trim => Self::Trim,
            _ => return None,
        })
    }

    /// Whether what it answers with is a text.
    fn makes_text(self) -> bool {
        self.is_case() || self == Self::Trim
    }

    fn is_case(self) -> bool {
        matches!(self, Self::ToLower | Self::ToUpper)
    }

    fn call<'a>(self, arguments: &[Value<'a>]) -> Value<'a> {
        let texts: Vec<&str> = arguments.iter().filter_map(Value::as_text).collect();
        match (self, texts.as_slice()) {
            (Self::Contains, [text, part]) => Value::Boolean(text.contains(part)),
            (Self::StartsWith, [text, part]) => Value::Boolean(text.starts_with(part)),
            (Self::EndsWith, [text, part]) => Value::Boolean(text.ends_with(part)),
            (Self::Length, [text]) => Value::Number(text.chars().count().into()),
            (Self::ToLower, [text]) if text.is_ascii() => {
                Value::Text(text.to_ascii_lowercase().into())
            }
            (Self::ToUpper, [text]) if text.is_ascii() => {
                Value::Text(text.to_ascii_uppercase().into())
            }
            (Self::ToLower, [text]) => Value::Text(text.chars().map(in_lower_case).collect()),
            (Self::ToUpper, [text]) => Value::Text(text.chars().map(in_upper_case).collect()),
            (Self::Trim, [text]) => Value::Text(text.trim().to_owned().into()),
            // One of them is no text.
            _ => Value::Null,
        }
    }
}

impl<'a> Value<'a> {
    fn of_literal(literal: &Literal, at: Position) -> Result<Value<'static>, FilterError> {
        Ok(match literal {
            Literal::Null => Value::Null,
            Literal::Boolean(value) => Value::Boolean(*value),
            Literal::Guid(id) => Value::Text(id.to_string().into()),
            Literal::Number(digits) => number(digits)
                .ok_or_else(|| FilterError::at(at, "write a number, such as `10.50`"))?,
            Literal::DateTimeOffset(text) => Value::Time(
                OffsetDateTime::parse(text, &Rfc3339)
                    .map_err(|_| FilterError::at(at, "write a time with its seconds"))?,
            ),
            Literal::Date(text)
            | Literal::TimeOfDay(text)
            | Literal::Duration(text)
            | Literal::String(text)
            | Literal::Enum { members: text, .. } => Value::Text(text.clone().into()),
            Literal::Binary(_) | Literal::Geo { .. } => return Err(unusable(at, "this literal")),
        })
    }

    fn of_json(json: &'a Json) -> Self {
        match json {
            Json::Null => Self::Null,
            Json::Bool(value) => Self::Boolean(*value),
            Json::Number(found) => of_number(found),
            Json::String(text) => Self::Text(text.as_str().into()),
            Json::Array(_) | Json::Object(_) => Self::Structure,
        }
    }

    fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// How it compares with another; none where the two can't be compared.
    fn order(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Boolean(one), Self::Boolean(other)) => Some(one.cmp(other)),
            (Self::Number(one), Self::Number(other)) => Some(one.cmp(other)),
            (Self::Float(one), Self::Float(other)) => one.partial_cmp(other),
            (Self::Float(one), Self::Number(other)) => one.partial_cmp(&float(*other)?),
            (Self::Number(one), Self::Float(other)) => float(*one)?.partial_cmp(other),
            (Self::Time(one), Self::Time(other)) => Some(one.cmp(other)),
            (Self::Time(one), Self::Text(text)) => Some(one.cmp(&time(text)?)),
            (Self::Text(text), Self::Time(other)) => Some(time(text)?.cmp(other)),
            (Self::Text(one), Self::Text(other)) => Some(one.cmp(other)),
            _ => None,
        }
    }

    fn equals(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            _ => self.order(other) == Some(Ordering::Equal),
        }
    }
}

fn number(digits: &str) -> Option<Value<'static>> {
    let exact = Decimal::from_str(digits).or_else(|_| Decimal::from_scientific(digits));
    match exact {
        Ok(exact) => Some(Value::Number(exact)),
        Err(_) => digits.parse().ok().map(Value::Float),
    }
}

fn of_number(found: &Number) -> Value<'static> {
    number(&found.to_string()).unwrap_or(Value::Null)
}

fn float(exact: Decimal) -> Option<f64> {
    exact.to_string().parse().ok()
}

fn time(text: &str) -> Option<OffsetDateTime> {
    OffsetDateTime::parse(text, &Rfc3339).ok()
}

/// Nothing is above or below null, nor above or below what it can't be compared with.
fn compare(operator: BinaryOperator, left: &Value<'_>, right: &Value<'_>) -> bool {
    let order = left.order(right);
    match operator {
        BinaryOperator::Equal => left.equals(right),
        BinaryOperator::NotEqual => !left.equals(right),
        BinaryOperator::Greater => order == Some(Ordering::Greater),
        BinaryOperator::GreaterOrEqual => order.is_some_and(Ordering::is_ge),
        BinaryOperator::Less => order == Some(Ordering::Less),
        BinaryOperator::LessOrEqual => order.is_some_and(Ordering::is_le),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
