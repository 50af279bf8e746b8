//! Literals of URLs as values of a known type.

use super::text::{expected, parse_enum, parse_primitive};
use super::{Value, ValueError, echo};
use crate::model::{Model, PrimitiveType, PropertyType};
use crate::syntax::Literal;

/// The value that a literal means where a value of this type stands.
///
/// Quotes decide: a date, number or guid in quotes is a text. Durations and enumeration members
/// can do without the name of their type in front of the quotes (4.01). A date stands for its
/// first moment in UTC where a moment is expected.
///
/// # Errors
/// When the literal is of another type, or not a value of this one.
pub fn from_literal(
    model: &Model,
    ty: PropertyType,
    literal: &Literal,
) -> Result<Value, ValueError> {
    let clash = || ValueError::Type { expected: expected(ty), found: describe_literal(literal) };
    let primitive = match (ty, literal) {
        (_, Literal::Null) => return Ok(Value::Null),
        (PropertyType::Enum(index), Literal::Enum { type_name, members }) => {
            let name = &model.enum_type(index).name;
            if model.unqualified(type_name) != Some(name.as_str()) {
                return Err(clash());
            }
            return parse_enum(model, index, members);
        }
        (PropertyType::Enum(index), Literal::String(members)) => {
            return parse_enum(model, index, members);
        }
        (PropertyType::Primitive(primitive), _) => primitive,
        _ => return Err(clash()),
    };
    match (primitive, literal) {
        (PrimitiveType::Boolean, Literal::Boolean(value)) => Ok(Value::Boolean(*value)),
        (PrimitiveType::Guid, Literal::Guid(value)) => Ok(Value::Guid(*value)),
        (PrimitiveType::Date, Literal::Date(text))
        | (PrimitiveType::DateTimeOffset, Literal::DateTimeOffset(text))
        | (PrimitiveType::TimeOfDay, Literal::TimeOfDay(text))
        | (PrimitiveType::Duration, Literal::Duration(text) | Literal::String(text))
        | (PrimitiveType::Binary, Literal::Binary(text))
        | (PrimitiveType::String, Literal::String(text)) => parse_primitive(primitive, text),
        (PrimitiveType::DateTimeOffset, Literal::Date(text)) => {
            parse_primitive(primitive, &format!("{text}T00:00Z"))
        }
        (_, Literal::Number(text)) if primitive.is_numeric() => parse_primitive(primitive, text),
        _ => Err(clash()),
    }
}

/// What a literal is, for a message.
#[must_use]
pub fn describe_literal(literal: &Literal) -> String {
    match literal {
        Literal::Null => "`null`".to_owned(),
        Literal::Boolean(value) => format!("the boolean `{value}`"),
        Literal::Guid(value) => format!("the guid `{value}`"),
        Literal::Date(text) => format!("the date `{}`", echo(text)),
        Literal::DateTimeOffset(text) => format!("the moment `{}`", echo(text)),
        Literal::TimeOfDay(text) => format!("the time of day `{}`", echo(text)),
        Literal::Duration(text) => format!("the duration `{}`", echo(text)),
        Literal::Number(text) => format!("the number `{}`", echo(text)),
        Literal::String(text) => format!("the text `'{}'`", echo(text)),
        Literal::Enum { type_name, members } => {
            format!("the member `{}'{}'`", echo(type_name), echo(members))
        }
        Literal::Binary(_) => "binary data".to_owned(),
        Literal::Geo { .. } => "a shape".to_owned(),
    }
}
