//! Values between OData's types and the database's.

use rust_decimal::Decimal;
use svc_odata::value::Value as Literal;

use crate::value::{ValueKind, truncate};

/// A value of OData as one of a column's kind. None where the kinds don't meet, which a bound
/// expression and a checked payload rule out.
pub(crate) fn to_column(kind: ValueKind, literal: &Literal) -> Option<sea_orm::Value> {
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

/// A value of OData as the database's of the same type.
pub(crate) fn to_value(literal: &Literal) -> Option<sea_orm::Value> {
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
