//! Values between OData's types and the database's.

use rust_decimal::Decimal;
use sea_orm::Value;
use svc_database::stored::truncate;
use svc_odata::value::Value as Literal;

use super::ValueKind;

/// A value of OData as one of a column's kind. None where the kinds don't meet, which a bound
/// expression and a checked payload rule out.
#[must_use]
pub fn to_column(kind: ValueKind, literal: &Literal) -> Option<sea_orm::Value> {
    Some(match (kind, literal) {
        (kind, Literal::Null) => kind.null(),
        (ValueKind::Int16, Literal::Integer(number)) => i16::try_from(*number).ok()?.into(),
        (ValueKind::Int32, Literal::Integer(number)) => i32::try_from(*number).ok()?.into(),
        (ValueKind::Json, Literal::Json(json)) => json.clone().into(),
        (ValueKind::Enumeration(enumeration), Literal::Enum(_, number)) => {
            enumeration.stored(*number)?
        }
        (ValueKind::Decimal { .. }, Literal::Integer(number)) => Decimal::from(*number).into(),
        #[expect(clippy::cast_precision_loss, reason = "a double is what the property holds")]
        (ValueKind::Double, Literal::Integer(number)) => (*number as f64).into(),
        _ => to_value(literal)?,
    })
}

impl ValueKind {
    /// A value of this kind as one of OData: a member of an enumeration by its name, as text.
    #[must_use]
    pub fn to_literal(self, value: &Value) -> Literal {
        if let Self::Enumeration(enumeration) = self {
            return enumeration.name_of(value).map_or(Literal::Null, Literal::String);
        }
        let literal = match value {
            Value::Bool(value) => value.map(Literal::Boolean),
            Value::SmallInt(number) => number.map(|number| Literal::Integer(number.into())),
            Value::Int(number) => number.map(|number| Literal::Integer(number.into())),
            Value::BigInt(number) => number.map(Literal::Integer),
            Value::Double(number) => number.map(Literal::Double),
            Value::Decimal(number) => number.map(Literal::Decimal),
            Value::String(text) => text.clone().map(Literal::String),
            Value::Uuid(id) => id.map(Literal::Guid),
            Value::TimeDateTimeWithTimeZone(moment) => moment.map(Literal::DateTimeOffset),
            Value::TimeDate(date) => date.map(Literal::Date),
            Value::TimeTime(time) => time.map(Literal::TimeOfDay),
            Value::Bytes(bytes) => bytes.clone().map(Literal::Binary),
            Value::Json(json) => json.clone().map(|json| Literal::Json(*json)),
            // The catalogue admits no column of another type, so no other value comes from a row.
            _ => None,
        };
        literal.unwrap_or(Literal::Null)
    }
}

/// A value of OData as the database's of the same type.
#[must_use]
pub fn to_value(literal: &Literal) -> Option<sea_orm::Value> {
    Some(match literal {
        Literal::Binary(bytes) => bytes.clone().into(),
        Literal::Boolean(value) => (*value).into(),
        Literal::Date(date) => (*date).into(),
        Literal::DateTimeOffset(moment) => truncate(*moment).into(),
        Literal::Decimal(number) => (*number).into(),
        Literal::Double(number) => (*number).into(),
        Literal::Guid(id) => (*id).into(),
        Literal::Integer(number) => (*number).into(),
        Literal::String(text) => text.clone().into(),
        Literal::TimeOfDay(time) => (*time).into(),
        Literal::Null
        | Literal::BigDecimal(_)
        | Literal::Duration(_)
        | Literal::Enum(..)
        | Literal::Json(_)
        | Literal::Collection(_) => return None,
    })
}
