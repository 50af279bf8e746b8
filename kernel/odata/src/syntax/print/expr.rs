//! Expressions.

use std::fmt::{self, Display, Formatter};

use super::{joined, json_string, quoted};
use crate::syntax::ast::{
    Argument, Arguments, BinaryOperator, CountOptions, Expr, ExprKind, Literal, Path, PathRoot,
    Segment, SegmentKind, TypeName, UnaryOperator,
};

impl Display for Literal {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => formatter.write_str("null"),
            Self::Boolean(value) => value.fmt(formatter),
            Self::Guid(guid) => guid.hyphenated().fmt(formatter),
            Self::Date(text)
            | Self::DateTimeOffset(text)
            | Self::TimeOfDay(text)
            | Self::Number(text) => formatter.write_str(text),
            Self::Duration(text) => write!(formatter, "duration'{text}'"),
            Self::String(text) => quoted(formatter, text),
            Self::Enum { type_name, members } => write!(formatter, "{type_name}'{members}'"),
            Self::Binary(text) => write!(formatter, "binary'{text}'"),
            Self::Geo { geography, text } => {
                write!(formatter, "{}'{text}'", if *geography { "geography" } else { "geometry" })
            }
        }
    }
}

/// How tightly an expression holds together; looser ones need parentheses within tighter ones.
fn tightness(kind: &ExprKind) -> u8 {
    match kind {
        ExprKind::Or(_) => 0,
        ExprKind::And(_) => 1,
        ExprKind::Binary(operator, ..) => operator_tightness(*operator),
        ExprKind::Unary(..) => 6,
        ExprKind::In(..) => 7,
        _ => 8,
    }
}

fn operator_tightness(operator: BinaryOperator) -> u8 {
    match operator {
        BinaryOperator::Equal | BinaryOperator::NotEqual => 2,
        BinaryOperator::Greater
        | BinaryOperator::GreaterOrEqual
        | BinaryOperator::Less
        | BinaryOperator::LessOrEqual => 3,
        BinaryOperator::Add | BinaryOperator::Subtract => 4,
        BinaryOperator::Multiply
        | BinaryOperator::Divide
        | BinaryOperator::DivideBy
        | BinaryOperator::Modulo => 5,
        BinaryOperator::Has => 7,
    }
}

/// An operand, in parentheses if it is looser than `least`.
struct Operand<'e>(&'e Expr, u8);

impl Display for Operand<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        if tightness(&self.0.kind) < self.1 {
            write!(formatter, "({})", self.0)
        } else {
            self.0.fmt(formatter)
        }
    }
}

impl Display for Expr {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let own = tightness(&self.kind);
        match &self.kind {
            ExprKind::Literal(literal) => literal.fmt(formatter),
            ExprKind::Path(path) => path.fmt(formatter),
            ExprKind::Unary(UnaryOperator::Not, inner) => {
                write!(formatter, "not {}", Operand(inner, own))
            }
            ExprKind::Unary(UnaryOperator::Negate, inner) => negate(formatter, inner),
            ExprKind::Binary(operator, left, right) => {
                // From the left they group by themselves, to the right only what is tighter.
                let keyword = operator.keyword();
                write!(formatter, "{} {keyword} {}", Operand(left, own), Operand(right, own + 1))
            }
            ExprKind::And(parts) => {
                joined(formatter, parts.iter().map(|part| Operand(part, own + 1)), " and ")
            }
            ExprKind::Or(parts) => {
                joined(formatter, parts.iter().map(|part| Operand(part, own + 1)), " or ")
            }
            ExprKind::In(left, right) => {
                write!(formatter, "{} in {}", Operand(left, own), Operand(right, own + 1))
            }
            ExprKind::List(items) => parenthesised(formatter, "", items),
            ExprKind::Call(function, arguments) => {
                parenthesised(formatter, function.name(), arguments)
            }
            ExprKind::Case(cases) => {
                formatter.write_str("case(")?;
                joined(formatter, cases.iter().map(|(when, then)| Case(when, then)), ",")?;
                formatter.write_str(")")
            }
            ExprKind::Cast(inner, target) => with_type(formatter, "cast", inner.as_deref(), target),
            ExprKind::IsOf(inner, target) => with_type(formatter, "isof", inner.as_deref(), target),
            ExprKind::Array(items) => {
                formatter.write_str("[")?;
                joined(formatter, items, ",")?;
                formatter.write_str("]")
            }
            ExprKind::Object(members) => object(formatter, members),
        }
    }
}

/// A minus in front of a number would become part of it.
fn negate(formatter: &mut Formatter<'_>, inner: &Expr) -> fmt::Result {
    let text = Operand(inner, 6).to_string();
    let swallows = text.starts_with(|next: char| next.is_ascii_digit() || "+-".contains(next))
        || text.starts_with("INF");
    if swallows { write!(formatter, "-({text})") } else { write!(formatter, "-{text}") }
}

struct Case<'e>(&'e Expr, &'e Expr);

impl Display for Case<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} : {}", self.0, self.1)
    }
}

fn parenthesised(formatter: &mut Formatter<'_>, name: &str, items: &[Expr]) -> fmt::Result {
    write!(formatter, "{name}(")?;
    joined(formatter, items, ",")?;
    formatter.write_str(")")
}

fn with_type(
    formatter: &mut Formatter<'_>,
    name: &str,
    inner: Option<&Expr>,
    target: &TypeName,
) -> fmt::Result {
    match inner {
        Some(inner) => write!(formatter, "{name}({inner},{target})"),
        None => write!(formatter, "{name}({target})"),
    }
}

fn object(formatter: &mut Formatter<'_>, members: &[(String, Expr)]) -> fmt::Result {
    formatter.write_str("{")?;
    for (index, (name, value)) in members.iter().enumerate() {
        if index > 0 {
            formatter.write_str(",")?;
        }
        json_string(formatter, name)?;
        write!(formatter, ":{value}")?;
    }
    formatter.write_str("}")
}

impl Display for TypeName {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        if self.collection {
            write!(formatter, "Collection({})", self.name)
        } else {
            formatter.write_str(&self.name)
        }
    }
}

impl Display for Path {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let root = match &self.root {
            PathRoot::Relative => "",
            PathRoot::It => "$it",
            PathRoot::This => "$this",
            PathRoot::These => "$these",
            PathRoot::Root => "$root",
            PathRoot::Alias(name) => {
                write!(formatter, "@{name}")?;
                ""
            }
        };
        formatter.write_str(root)?;
        if self.root != PathRoot::Relative && !self.segments.is_empty() {
            formatter.write_str("/")?;
        }
        for (place, segment) in self.segments.iter().enumerate() {
            if place > 0 && !matches!(segment.kind, SegmentKind::Key(_)) {
                formatter.write_str("/")?;
            }
            segment.fmt(formatter)?;
        }
        Ok(())
    }
}

impl Display for Segment {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            SegmentKind::Name { name, arguments } => {
                formatter.write_str(name)?;
                arguments.iter().try_for_each(|arguments| arguments.fmt(formatter))
            }
            SegmentKind::Key(key) => key.fmt(formatter),
            SegmentKind::Annotation { term, qualifier } => {
                write!(formatter, "@{term}")?;
                qualifier.iter().try_for_each(|qualifier| write!(formatter, "#{qualifier}"))
            }
            SegmentKind::Count(None) => formatter.write_str("$count"),
            SegmentKind::Count(Some(options)) => write!(formatter, "$count({options})"),
            SegmentKind::Filter(condition) => write!(formatter, "$filter({condition})"),
            SegmentKind::Any(None) => formatter.write_str("any()"),
            SegmentKind::Any(Some(lambda)) => {
                write!(formatter, "any({}:{})", lambda.variable, lambda.condition)
            }
            SegmentKind::All(lambda) => {
                write!(formatter, "all({}:{})", lambda.variable, lambda.condition)
            }
            SegmentKind::Aggregate(item) => write!(formatter, "aggregate({item})"),
        }
    }
}

impl Display for CountOptions {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let filter = self.filter.iter().map(|filter| format!("$filter={filter}"));
        let search = self.search.iter().map(|search| format!("$search={search}"));
        joined(formatter, filter.chain(search), ";")
    }
}

impl Display for Arguments {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => formatter.write_str("()"),
            Self::Single(value) => write!(formatter, "({value})"),
            Self::Named(arguments) => {
                formatter.write_str("(")?;
                joined(formatter, arguments, ",")?;
                formatter.write_str(")")
            }
        }
    }
}

impl Display for Argument {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}={}", self.name, self.value)
    }
}
