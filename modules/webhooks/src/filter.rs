//! What an endpoint wants besides types of events: a condition over an event's `data`, as `$filter` of
//! OData writes it.
//!
//! A filter is compared in memory with what the endpoint's owner sees, so what is hidden from the owner
//! is null to it. What costs more than the data is long (`any` and `all` over lists within lists) is
//! refused when the endpoint is saved, as are functions that say nothing of a value.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeSet;
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
    Call(Text, Vec<Self>),
    Compare(BinaryOperator, Box<Self>, Box<Self>),
    In(Box<Self>, Vec<Self>),
    And(Vec<Self>),
    Or(Vec<Self>),
    Not(Box<Self>),
}

/// A function of texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
        let term = Term::read(&parsed)?;
        if term.is_condition() {
            return Ok(Self(term));
        }
        Err(FilterError::at(parsed.at, "is no condition; compare it, as in `price gt 100`"))
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
        self.0.holds(data)
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
    fn read(expression: &Expr) -> Result<Self, FilterError> {
        let at = expression.at;
        let all = |parts: &[Expr]| parts.iter().map(Self::read).collect::<Result<Vec<_>, _>>();
        let conditions = |parts: &[Expr]| {
            let read = all(parts)?;
            if read.iter().all(Self::is_condition) {
                return Ok(read);
            }
            Err(FilterError::at(at, "`and` and `or` join conditions, such as `price gt 100`"))
        };
        match &expression.kind {
            ExprKind::Literal(literal) => Value::of_literal(literal, at).map(Self::Value),
            ExprKind::Path(path) => read_path(path).map(Self::Path),
            ExprKind::And(parts) => conditions(parts).map(Self::And),
            ExprKind::Or(parts) => conditions(parts).map(Self::Or),
            ExprKind::Unary(UnaryOperator::Not, operand) => {
                let operand = Self::read(operand)?;
                if operand.is_condition() {
                    return Ok(Self::Not(Box::new(operand)));
                }
                Err(FilterError::at(at, "`not` takes a condition, such as `price gt 100`"))
            }
            ExprKind::Binary(operator, left, right) if operator.is_comparison() => {
                let operands = (Box::new(Self::read(left)?), Box::new(Self::read(right)?));
                Ok(Self::Compare(*operator, operands.0, operands.1))
            }
            ExprKind::In(left, right) => {
                let (ExprKind::List(list) | ExprKind::Array(list)) = &right.kind else {
                    return Err(FilterError::at(right.at, "`in` takes a list, as in `(1,2)`"));
                };
                Ok(Self::In(Box::new(Self::read(left)?), all(list)?))
            }
            ExprKind::Call(function, arguments) => match Text::of(*function) {
                Some(text) => Ok(Self::Call(text, all(arguments)?)),
                None => Err(unusable(at, &format!("`{}`", function.name()))),
            },
            ExprKind::Binary(operator, ..) => {
                Err(unusable(at, &format!("`{}`", operator.keyword())))
            }
            _ => Err(unusable(at, "this")),
        }
    }

    /// Whether it says yes or no, or may.
    fn is_condition(&self) -> bool {
        match self {
            Self::Value(value) => matches!(value, Value::Boolean(_)),
            Self::Call(text, _) => {
                matches!(text, Text::Contains | Text::StartsWith | Text::EndsWith)
            }
            // A property may be a boolean.
            _ => true,
        }
    }

    fn holds(&self, data: &Json) -> bool {
        match self {
            Self::And(parts) => parts.iter().all(|part| part.holds(data)),
            Self::Or(parts) => parts.iter().any(|part| part.holds(data)),
            Self::Not(part) => !part.holds(data),
            Self::Compare(operator, left, right) => {
                compare(*operator, &left.value(data), &right.value(data))
            }
            Self::In(left, list) => {
                let left = left.value(data);
                list.iter().any(|one| left.equals(&one.value(data)))
            }
            Self::Value(_) | Self::Path(_) | Self::Call(..) => {
                matches!(self.value(data), Value::Boolean(true))
            }
        }
    }

    fn value<'a>(&'a self, data: &'a Json) -> Value<'a> {
        match self {
            Self::Value(value) => value.clone(),
            Self::Path(names) => {
                let found = names.iter().try_fold(data, |data, name| data.get(name));
                found.map_or(Value::Null, Value::of_json)
            }
            Self::Call(text, arguments) => {
                let values: Vec<Value<'a>> =
                    arguments.iter().map(|argument| argument.value(data)).collect();
                text.call(&values)
            }
            _ => Value::Boolean(self.holds(data)),
        }
    }

    fn name<'a>(&'a self, names: &mut BTreeSet<&'a str>) {
        match self {
            Self::Value(_) => {}
            Self::Path(path) => names.extend(path.first().map(String::as_str)),
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
            Self::Value(_) | Self::Path(_) | Self::Call(..) | Self::In(..) => {}
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

    fn call<'a>(self, arguments: &[Value<'a>]) -> Value<'a> {
        let texts: Vec<&str> = arguments.iter().filter_map(Value::as_text).collect();
        match (self, texts.as_slice()) {
            (Self::Contains, [text, part]) => Value::Boolean(text.contains(part)),
            (Self::StartsWith, [text, part]) => Value::Boolean(text.starts_with(part)),
            (Self::EndsWith, [text, part]) => Value::Boolean(text.ends_with(part)),
            (Self::Length, [text]) => Value::Number(text.chars().count().into()),
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
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn holds(filter: &str) -> bool {
        let data = json!({
            "sku": "A-7", "price": 19.99, "stock": 3, "sold": true, "note": null, "id":
            "0193f81d-4fae-7dec-91d0-a765a0c91e6b", "made": "2026-11-20T18:00:00.5+01:00",
            "day": "2026-11-20", "maker": {"name": "Ada's"}, "tags": ["a"], "huge": 1e300,
        });
        Filter::parse(filter).unwrap_or_else(|error| panic!("{filter}: {error}")).matches(&data)
    }

    #[test]
    fn data_is_compared_as_odata_says() {
        for filter in [
            "sku eq 'A-7'",
            "price eq 19.990",
            "price gt 19.98 and price lt 2e1",
            "stock in (1,2,3) and not (sku in ('B'))",
            "sold",
            "sold eq true and not (sold eq false)",
            "note eq null and missing eq null and maker/none/deeper eq null",
            "note ne 'x'",
            "id eq 0193F81D-4FAE-7DEC-91D0-A765A0C91E6B",
            "made eq 2026-11-20T17:00:00.5Z",
            "made gt 2026-11-20T17:00:00Z and made lt 2026-11-20T17:00:01Z",
            "day ge 2026-11-20",
            "maker/name eq 'Ada''s' and $it/stock eq 3",
            "contains(tolower(sku),'a-') or false",
            "startswith(sku,'A') and endswith(sku,'7') and length(trim(sku)) eq 3",
            "toupper(maker/name) eq 'ADA''S'",
            "huge gt 10",
        ] {
            assert!(holds(filter), "{filter}");
        }
        for filter in [
            "sku eq 'a-7'",
            "price gt 20",
            "note gt 1",
            "note lt 1",
            "sku gt 5",
            "tags eq 'a'",
            "contains(stock,'3')",
            "note",
            "false",
            "stock in ()",
        ] {
            let parsed = Filter::parse(filter);
            assert!(parsed.is_err() || !holds(filter), "{filter}");
        }
    }

    #[test]
    fn what_is_no_filter_is_refused_with_its_place() {
        for (filter, place) in [
            ("", "position 0"),
            ("price gt", "position 5: expected an operator"),
            ("price gt 5 and", "position"),
            ("'x'", "position 0: is no condition"),
            ("length(sku)", "is no condition"),
            ("price add 1 eq 2", "`add`"),
            ("tags/any(t:t eq 'a')", "`any`"),
            ("matchesPattern(sku,'(a+)+$')", "`matchesPattern`"),
            ("now() gt made", "`now`"),
            ("stock in tags", "takes a list"),
            ("price and 'x'", "join conditions"),
            ("@p eq 1", "this path"),
        ] {
            let error = Filter::parse(filter).unwrap_err().to_string();
            assert!(error.contains(place), "{filter}: {error}");
        }
        let long = format!("sku eq '{}'", "x".repeat(MAX_LENGTH));
        assert!(Filter::parse(&long).is_err());
        let deep = format!("{}sold{}", "not (".repeat(50), ")".repeat(50));
        assert!(Filter::parse(&deep).is_err());
        let wide = vec!["sold"; 300].join(" or ");
        assert!(Filter::parse(&wide).is_err());
    }

    #[test]
    fn the_properties_are_those_at_the_beginning_of_paths() {
        let filter = Filter::parse("maker/name eq 'a' or (stock gt 1 and contains(sku,note))");
        let expected = BTreeSet::from(["maker", "note", "sku", "stock"]);
        assert_eq!(filter.unwrap().properties(), expected);
    }

    #[test]
    fn what_is_put_in_order_is_told_from_what_is_compared() {
        let filter = "a eq 1 and not (b gt 2 or 3 le c/d) and (e lt f) eq true and length(g) gt 1 and h in (1)";
        let filter = Filter::parse(filter).unwrap();
        assert_eq!(filter.ordered(), BTreeSet::from(["b", "c", "e", "f"]));
    }

    #[test]
    fn letters_change_their_case_one_by_one() {
        let cased = |function: &str, text: &str| {
            let data = json!({ "a": text });
            let is = |cased: &str| {
                let filter = format!("{function}(a) eq '{cased}'");
                Filter::parse(&filter).unwrap().matches(&data)
            };
            [text.to_owned(), text.to_lowercase(), text.to_uppercase()].map(|cased| is(&cased))
        };
        // As it stands, as Unicode has it in lower case, and in upper case.
        assert_eq!(cased("tolower", "\u{c4}\u{416}Z"), [false, true, false]);
        assert_eq!(cased("toupper", "\u{e4}\u{436}z"), [false, false, true]);
        // Which would be two letters, or none that leads back, or whose case no database changes.
        for odd in [
            "\u{df}", "\u{130}", "\u{fb01}", "\u{212a}", "\u{491}", "\u{490}", "\u{531}",
            "\u{1e01}",
        ] {
            assert!(cased("toupper", odd)[0] && cased("tolower", odd)[0], "{odd}");
        }
    }

    proptest! {
        /// Whatever somebody types, and whatever the data.
        #[test]
        fn no_text_is_too_much(filter in "[ -~]{0,60}", key in "[a-z]{1,3}", value in ".{0,10}") {
            if let Ok(filter) = Filter::parse(&filter) {
                let _ = filter.matches(&json!({ key: value }));
            }
        }

        #[test]
        fn numbers_compare_as_numbers(one in -1_000_000_i64..1_000_000, other in -1_000_000_i64..1_000_000) {
            let filter = Filter::parse(&format!("n lt {other}")).unwrap();
            prop_assert_eq!(filter.matches(&json!({"n": one})), one < other);
        }
    }
}
