//! Whether a value keeps within the facets of its property.

use std::cmp::Ordering;

use rust_decimal::Decimal;

use super::text::parse_primitive;
use super::{Value, ValueError, echo};
use crate::model::{Property, PropertyType};

/// Checks null, length, precision, scale, bounds and allowed values. Patterns are not checked
/// here: they need a regular expression engine.
///
/// # Errors
/// When the property cannot have this value.
pub fn check_facets(property: &Property, value: &Value) -> Result<(), ValueError> {
    match value {
        // A list can be empty, but not null; what can be null is its items.
        Value::Null if property.collection => Err(ValueError::Null),
        Value::Collection(items) => items.iter().try_for_each(|item| check_item(property, item)),
        _ => check_item(property, value),
    }
}

fn check_item(property: &Property, value: &Value) -> Result<(), ValueError> {
    match value {
        Value::Null if property.nullable => Ok(()),
        Value::Null => Err(ValueError::Null),
        _ => check_one(property, value),
    }
}

fn check_one(property: &Property, value: &Value) -> Result<(), ValueError> {
    match value {
        Value::String(text) => {
            check_length(text.chars().count(), "characters", property.max_length)?;
        }
        Value::Binary(bytes) => check_length(bytes.len(), "bytes", property.max_length)?,
        Value::Decimal(number) => check_digits(property, *number)?,
        Value::BigDecimal(digits) => {
            let allowed = "at most 28 digits".to_owned();
            return Err(ValueError::Range { found: echo(digits), allowed });
        }
        Value::DateTimeOffset(moment) => check_fraction(property, moment.nanosecond())?,
        Value::TimeOfDay(time) => check_fraction(property, time.nanosecond())?,
        Value::Duration(duration) => {
            check_fraction(property, duration.subsec_nanoseconds().unsigned_abs())?;
        }
        _ => {}
    }
    check_bounds(property, value)?;
    check_allowed(property, value)
}

fn check_length(found: usize, unit: &'static str, limit: Option<u32>) -> Result<(), ValueError> {
    match limit {
        Some(limit) if found > limit as usize => Err(ValueError::Length { found, unit, limit }),
        _ => Ok(()),
    }
}

fn check_digits(property: &Property, number: Decimal) -> Result<(), ValueError> {
    // Zeros at the end are not a loss.
    let number = number.normalize();
    let scale = number.scale();
    if let Some(limit) = property.scale
        && scale > limit
    {
        let allowed = format!("at most {limit} digits after the point");
        return Err(ValueError::Range { found: number.to_string(), allowed });
    }
    if let Some(limit) = property.precision {
        let digits =
            u32::try_from(number.mantissa().unsigned_abs().to_string().len()).unwrap_or(u32::MAX);
        let before_point = digits.saturating_sub(scale);
        let room = limit - property.scale.unwrap_or(0).min(limit);
        let fits = if property.scale.is_some() {
            number.is_zero() || before_point <= room
        } else {
            digits <= limit
        };
        if !fits {
            let allowed = match property.scale {
                Some(_) => format!("at most {room} digits before the point"),
                None => format!("at most {limit} digits"),
            };
            return Err(ValueError::Range { found: number.to_string(), allowed });
        }
    }
    Ok(())
}

/// Fractions of a second, in microseconds unless the property says otherwise.
fn check_fraction(property: &Property, nanoseconds: u32) -> Result<(), ValueError> {
    const STORED_DIGITS: u32 = 6;
    let digits = property.precision.unwrap_or(STORED_DIGITS).min(9);
    let unit = 10_u32.pow(9 - digits);
    if nanoseconds.is_multiple_of(unit) {
        return Ok(());
    }
    let found = format!("0.{nanoseconds:09}");
    let allowed = format!("at most {digits} digits of a second's fraction");
    Err(ValueError::Range { found: found.trim_end_matches('0').to_owned(), allowed })
}

fn check_bounds(property: &Property, value: &Value) -> Result<(), ValueError> {
    let PropertyType::Primitive(primitive) = property.ty else { return Ok(()) };
    let bound = |text: &Option<String>| {
        text.as_deref().and_then(|text| parse_primitive(primitive, text).ok())
    };
    let below = bound(&property.minimum)
        .is_some_and(|least| compare(value, &least) == Some(Ordering::Less));
    let above = bound(&property.maximum)
        .is_some_and(|most| compare(value, &most) == Some(Ordering::Greater));
    if !below && !above {
        return Ok(());
    }
    let allowed = match (&property.minimum, &property.maximum) {
        (Some(least), Some(most)) => format!("{least} to {most}"),
        (Some(least), None) => format!("at least {least}"),
        (_, most) => format!("at most {}", most.as_deref().unwrap_or_default()),
    };
    Err(ValueError::Range { found: echo(&super::write_text(value)), allowed })
}

fn compare(value: &Value, bound: &Value) -> Option<Ordering> {
    match (value, bound) {
        (Value::Integer(value), Value::Integer(bound)) => Some(value.cmp(bound)),
        (Value::Decimal(value), Value::Decimal(bound)) => Some(value.cmp(bound)),
        (Value::Double(value), Value::Double(bound)) => value.partial_cmp(bound),
        (Value::Date(value), Value::Date(bound)) => Some(value.cmp(bound)),
        (Value::DateTimeOffset(value), Value::DateTimeOffset(bound)) => Some(value.cmp(bound)),
        (Value::TimeOfDay(value), Value::TimeOfDay(bound)) => Some(value.cmp(bound)),
        (Value::Duration(value), Value::Duration(bound)) => Some(value.cmp(bound)),
        _ => None,
    }
}

fn check_allowed(property: &Property, value: &Value) -> Result<(), ValueError> {
    if property.allowed_values.is_empty() {
        return Ok(());
    }
    let text = super::write_text(value);
    if property.allowed_values.iter().any(|allowed| allowed.value == text) {
        return Ok(());
    }
    let names: Vec<_> =
        property.allowed_values.iter().map(|allowed| format!("`{}`", allowed.value)).collect();
    Err(ValueError::NotAllowed { found: echo(&text), allowed: names.join(", ") })
}
