//! Values as they pass between the database, the catalogue and JSON.
//!
//! How each is kept is in [`svc_database::stored`].

mod enumeration;
mod literal;

use rust_decimal::Decimal;
use rust_decimal::prelude::FromPrimitive as _;
use sea_orm::sea_query::{ColumnType, SimpleExpr};
use sea_orm::{DbErr, QueryResult, Value};
use serde_json::Value as Json;
use svc_core::{Error, Result};
use svc_database::stored::{self, DATE, TIME, in_utc, timestamp};
use time::format_description::well_known::Rfc3339;
use time::{Date, OffsetDateTime, Time};
use uuid::Uuid;

pub use enumeration::{Enumeration, Member};
pub use literal::{to_column, to_value};

/// The type of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// `true` or `false`.
    Boolean,
    /// A whole number of 16 bits.
    Int16,
    /// A whole number of 32 bits.
    Int32,
    /// A whole number of 64 bits.
    Int64,
    /// A floating-point number of 64 bits.
    Double,
    /// An exact number with at most `precision` digits, `scale` of them after the point.
    Decimal {
        /// Digits in all.
        precision: u32,
        /// Digits after the point.
        scale: u32,
    },
    /// Text of at most `max` characters, where there is a limit.
    Text {
        /// The most characters.
        max: Option<u32>,
    },
    /// A UUID.
    Uuid,
    /// A point in time, in UTC, with microseconds.
    Timestamp,
    /// A day of the calendar.
    Date,
    /// A time of day, with microseconds.
    Time,
    /// Bytes.
    Bytes,
    /// Any JSON.
    Json,
    /// A member of an enumeration, which is stored as text or a whole number.
    Enumeration(&'static Enumeration),
}

impl ValueKind {
    /// Whether it holds numbers, which can be money or have a unit.
    #[must_use]
    pub fn is_number(self) -> bool {
        matches!(
            self,
            Self::Int16 | Self::Int32 | Self::Int64 | Self::Double | Self::Decimal { .. }
        )
    }

    /// The kind of a column's type; the error names what to use instead.
    pub(crate) fn of(column_type: &ColumnType) -> Result<Self, String> {
        use sea_orm::sea_query::StringLen;
        Ok(match column_type {
            ColumnType::Boolean => Self::Boolean,
            ColumnType::SmallInteger => Self::Int16,
            ColumnType::Integer => Self::Int32,
            ColumnType::BigInteger => Self::Int64,
            ColumnType::Double => Self::Double,
            ColumnType::Decimal(size) => {
                let (precision, scale) = size.unwrap_or((15, 4));
                if precision > 15 {
                    return Err(format!(
                        "has {precision} digits, but SQLite keeps 15 exactly; use at most 15"
                    ));
                }
                Self::Decimal { precision, scale }
            }
            ColumnType::Text | ColumnType::String(StringLen::None | StringLen::Max) => {
                Self::Text { max: None }
            }
            ColumnType::String(StringLen::N(max)) | ColumnType::Char(Some(max)) => {
                Self::Text { max: Some(*max) }
            }
            ColumnType::Uuid => Self::Uuid,
            ColumnType::TimestampWithTimeZone => Self::Timestamp,
            ColumnType::Date => Self::Date,
            ColumnType::Time => Self::Time,
            ColumnType::VarBinary(_) | ColumnType::Blob | ColumnType::Binary(_) => Self::Bytes,
            ColumnType::Json | ColumnType::JsonBinary => Self::Json,
            other => {
                return Err(format!(
                    "has the type `{other:?}`, which is not served on both databases; use a \
                     boolean, `i16`, `i32`, `i64`, `f64`, `Decimal`, `String`, `Uuid`, \
                     `OffsetDateTime`, `Date`, `Time`, `Vec<u8>` or JSON"
                ));
            }
        })
    }

    /// The value of this kind that a column's default in an entity says; none where the database
    /// computes it.
    pub(crate) fn default_of(self, default: &SimpleExpr) -> Option<Value> {
        let SimpleExpr::Value(value) = default else { return None };
        let whole = match value {
            Value::TinyInt(number) => number.map(i64::from),
            Value::SmallInt(number) => number.map(i64::from),
            Value::Int(number) => number.map(i64::from),
            Value::BigInt(number) => *number,
            _ => None,
        };
        match (self, value, whole) {
            (Self::Int16, _, Some(number)) => Some(i16::try_from(number).ok()?.into()),
            (Self::Int32, _, Some(number)) => Some(i32::try_from(number).ok()?.into()),
            (Self::Int64, _, Some(number)) => Some(number.into()),
            (Self::Decimal { .. }, _, Some(number)) => Some(Decimal::from(number).into()),
            (Self::Decimal { .. }, Value::Double(Some(number)), _) => {
                Some(Decimal::from_f64(*number)?.normalize().into())
            }
            (Self::Decimal { .. }, Value::String(Some(text)), _) => {
                Some(parse_decimal(text)?.normalize().into())
            }
            (Self::Double, Value::Double(Some(number)), _) => Some((*number).into()),
            #[expect(clippy::cast_precision_loss, reason = "a double is what the column holds")]
            (Self::Double, _, Some(number)) => Some((number as f64).into()),
            (Self::Boolean, Value::Bool(Some(_)), _)
            | (Self::Text { .. }, Value::String(Some(_)), _)
            | (Self::Uuid, Value::Uuid(Some(_)), _) => Some(value.clone()),
            _ => None,
        }
    }

    /// The null of this kind.
    #[must_use]
    pub fn null(self) -> Value {
        match self {
            Self::Boolean => Value::Bool(None),
            Self::Int16 => Value::SmallInt(None),
            Self::Int32 => Value::Int(None),
            Self::Int64 => Value::BigInt(None),
            Self::Double => Value::Double(None),
            Self::Decimal { .. } => Value::Decimal(None),
            Self::Text { .. } => Value::String(None),
            Self::Uuid => Value::Uuid(None),
            Self::Timestamp => Value::TimeDateTimeWithTimeZone(None),
            Self::Date => Value::TimeDate(None),
            Self::Time => Value::TimeTime(None),
            Self::Bytes => Value::Bytes(None),
            Self::Json => Value::Json(None),
            Self::Enumeration(enumeration) => enumeration.storage().null(),
        }
    }

    /// The kind of what the database holds: of an enumeration text or a whole number, of all others
    /// the kind itself.
    #[must_use]
    pub fn stored(self) -> Self {
        match self {
            Self::Enumeration(enumeration) => enumeration.storage(),
            other => other,
        }
    }

    /// Whether people find such values by the words that they read: texts and numbers. What is kept
    /// in another form than it is shown in can't be found.
    #[must_use]
    pub fn is_searched(self) -> bool {
        let number = matches!(self, Self::Int16 | Self::Int32 | Self::Int64 | Self::Decimal { .. });
        number || matches!(self, Self::Text { .. } | Self::Enumeration(_))
    }

    /// The enumeration whose members the values are.
    #[must_use]
    pub fn enumeration(self) -> Option<&'static Enumeration> {
        match self {
            Self::Enumeration(enumeration) => Some(enumeration),
            _ => None,
        }
    }

    /// Reads column `index` of a row.
    ///
    /// # Errors
    ///
    /// When the stored value is not of this kind.
    pub fn read(self, row: &QueryResult, index: usize) -> Result<Value, DbErr> {
        Ok(match self {
            Self::Boolean => Value::Bool(row.try_get_by_index(index)?),
            Self::Int16 => Value::SmallInt(row.try_get_by_index(index)?),
            Self::Int32 => Value::Int(row.try_get_by_index(index)?),
            Self::Int64 => Value::BigInt(row.try_get_by_index(index)?),
            Self::Double => Value::Double(row.try_get_by_index(index)?),
            Self::Decimal { scale, .. } => {
                let value: Option<Decimal> = row.try_get_by_index(index)?;
                Value::Decimal(value.map(|value| value.round_dp(scale).normalize()))
            }
            Self::Text { .. } => Value::String(row.try_get_by_index(index)?),
            Self::Uuid => Value::Uuid(row.try_get_by_index(index)?),
            Self::Timestamp => {
                let value: Option<OffsetDateTime> = row.try_get_by_index(index)?;
                let value = value.map(in_utc);
                Value::TimeDateTimeWithTimeZone(value)
            }
            Self::Date => Value::TimeDate(row.try_get_by_index(index)?),
            Self::Time => Value::TimeTime(row.try_get_by_index(index)?),
            Self::Bytes => Value::Bytes(row.try_get_by_index(index)?),
            Self::Json => {
                let value: Option<Json> = row.try_get_by_index(index)?;
                Value::Json(value.map(Box::new))
            }
            Self::Enumeration(enumeration) => enumeration.storage().read(row, index)?,
        })
    }

    /// A value as sets return it: as [`to_json`] says, but a member of an enumeration by its name.
    #[must_use]
    pub fn to_json(self, value: &Value) -> Json {
        match self {
            Self::Enumeration(enumeration) => enumeration.name_of(value).into(),
            _ => to_json(value),
        }
    }

    /// Whether JSON is a value of this kind, as [`ValueKind::to_json`] makes it.
    pub(crate) fn holds_json(self, json: &Json) -> bool {
        match (self, json) {
            (_, Json::Null) => true,
            (Self::Enumeration(enumeration), json) => {
                enumeration.members().iter().any(|member| *json == member.name)
            }
            _ => self.parse_json(json).is_ok(),
        }
    }

    /// Reads the JSON that [`to_json`] wrote: of a member of an enumeration what is stored.
    ///
    /// # Errors
    ///
    /// When the JSON is not a value of this kind.
    pub fn parse_json(self, json: &Json) -> Result<Value> {
        let wrong = || Error::internal(format!("stored JSON is not a value of {self:?}"));
        if json.is_null() {
            return Ok(self.null());
        }
        let text = || json.as_str().ok_or_else(wrong);
        Ok(match self {
            Self::Boolean => json.as_bool().ok_or_else(wrong)?.into(),
            Self::Int16 => narrow::<i16>(json).ok_or_else(wrong)?.into(),
            Self::Int32 => narrow::<i32>(json).ok_or_else(wrong)?.into(),
            Self::Int64 => json.as_i64().ok_or_else(wrong)?.into(),
            Self::Double => json.as_f64().ok_or_else(wrong)?.into(),
            Self::Decimal { .. } => {
                let digits = json.as_number().ok_or_else(wrong)?.to_string();
                parse_decimal(&digits).ok_or_else(wrong)?.into()
            }
            Self::Text { .. } => text()?.to_owned().into(),
            Self::Uuid => Uuid::parse_str(text()?).map_err(|_| wrong())?.into(),
            Self::Timestamp => {
                OffsetDateTime::parse(text()?, &Rfc3339).map_err(|_| wrong())?.into()
            }
            Self::Date => Date::parse(text()?, DATE).map_err(|_| wrong())?.into(),
            Self::Time => Time::parse(text()?, TIME).map_err(|_| wrong())?.into(),
            Self::Bytes => {
                use base64::Engine as _;
                let bytes = base64::engine::general_purpose::URL_SAFE.decode(text()?);
                bytes.map_err(|_| wrong())?.into()
            }
            Self::Json => Value::Json(Some(Box::new(json.clone()))),
            Self::Enumeration(enumeration) => enumeration.storage().parse_json(json)?,
        })
    }
}

fn narrow<T: TryFrom<i64>>(json: &Json) -> Option<T> {
    T::try_from(json.as_i64()?).ok()
}

/// Reads digits, with an exponent where there is one.
fn parse_decimal(digits: &str) -> Option<Decimal> {
    digits.parse().or_else(|_| Decimal::from_scientific(digits)).ok()
}

/// A value as text: a string as it is, all else as [`to_json`] writes it.
#[must_use]
pub fn to_text(value: &Value) -> String {
    match to_json(value) {
        Json::String(text) => text,
        other => other.to_string(),
    }
}

/// A value as JSON, as it is stored: numbers stay exact, times are RFC 3339 with `Z` and at most six decimals,
/// bytes are URL-safe base64.
#[must_use]
pub fn to_json(value: &Value) -> Json {
    let json = match value {
        Value::Bool(value) => value.map(Json::from),
        Value::SmallInt(value) => value.map(Json::from),
        Value::Int(value) => value.map(Json::from),
        Value::BigInt(value) => value.map(Json::from),
        Value::Double(value) => value.map(Json::from),
        Value::Decimal(value) => value.map(decimal_json),
        Value::String(value) => value.as_deref().map(Json::from),
        Value::Uuid(value) => value.map(|id| Json::from(id.to_string())),
        Value::TimeDateTimeWithTimeZone(value) => value.map(|time| Json::from(timestamp(time))),
        Value::TimeDate(value) => value.map(|date| Json::from(stored::date(date))),
        Value::TimeTime(value) => value.map(|time| Json::from(stored::time_of_day(time))),
        Value::Bytes(value) => value.as_ref().map(|bytes| {
            use base64::Engine as _;
            Json::from(base64::engine::general_purpose::URL_SAFE.encode(bytes))
        }),
        Value::Json(value) => value.as_deref().cloned(),
        // The catalogue admits no column of another type, so no other value comes from a row.
        _ => None,
    };
    json.unwrap_or(Json::Null)
}

fn decimal_json(value: Decimal) -> Json {
    // At most 15 digits, which a JSON number keeps exactly.
    serde_json::from_str(&value.normalize().to_string()).unwrap_or(Json::Null)
}

#[cfg(test)]
mod tests {
    use sea_orm::sea_query::Expr;
    use time::macros::datetime;

    use super::*;

    #[test]
    fn what_json_tells_is_read_back_as_the_same_value() {
        let cases = [
            (ValueKind::Boolean, Value::from(true)),
            (ValueKind::Int64, Value::from(i64::MAX)),
            (ValueKind::Decimal { precision: 12, scale: 2 }, Value::from(Decimal::new(1999, 2))),
            (ValueKind::Timestamp, datetime!(2026-01-02 03:04:05.06 UTC).into()),
            (ValueKind::Timestamp, datetime!(2026-01-02 03:04:00 UTC).into()),
            (ValueKind::Date, Date::from_ordinal_date(2026, 60).unwrap().into()),
            (ValueKind::Time, Time::from_hms_micro(1, 2, 3, 40).unwrap().into()),
            (ValueKind::Bytes, Value::from(vec![0_u8, 255])),
            (ValueKind::Text { max: None }, Value::String(None)),
        ];
        for (kind, value) in cases {
            assert_eq!(kind.parse_json(&to_json(&value)).unwrap(), value, "{kind:?}");
        }
    }

    #[test]
    fn the_least_and_the_greatest_come_back_from_json_as_they_were() {
        let decimal = |scale| ValueKind::Decimal { precision: 15, scale };
        let cases = [
            (ValueKind::Int16, Value::from(i16::MIN)),
            (ValueKind::Int32, Value::from(i32::MIN)),
            (ValueKind::Int64, Value::from(i64::MIN)),
            (ValueKind::Int64, Value::from(9_007_199_254_740_993_i64)),
            (ValueKind::Double, Value::from(f64::MAX)),
            (ValueKind::Double, Value::from(f64::MIN_POSITIVE)),
            (ValueKind::Double, Value::from(0.1 + 0.2)),
            (decimal(0), Value::from(Decimal::new(999_999_999_999_999, 0))),
            (decimal(4), Value::from(Decimal::new(-999_999_999_999_999, 4))),
            (decimal(15), Value::from(Decimal::new(1, 15))),
            (decimal(15), Value::from(Decimal::new(999_999_999_999_999, 15))),
            (ValueKind::Text { max: None }, Value::from("\u{1f600}\"\\\u{7f}")),
            (ValueKind::Uuid, Value::from(Uuid::max())),
            (ValueKind::Timestamp, datetime!(0001-01-01 00:00 UTC).into()),
            (ValueKind::Timestamp, datetime!(9999-12-31 23:59:59.999_999 UTC).into()),
            (ValueKind::Date, Date::from_ordinal_date(1, 1).unwrap().into()),
            (ValueKind::Date, Date::from_ordinal_date(9999, 365).unwrap().into()),
            (ValueKind::Time, Time::MIDNIGHT.into()),
            (ValueKind::Time, Time::from_hms_micro(23, 59, 59, 999_999).unwrap().into()),
            (ValueKind::Bytes, Value::Bytes(Some(Vec::new()))),
            (ValueKind::Bytes, Value::Bytes(Some(vec![0xfb, 0xff, 0xbf]))),
        ];
        for (kind, value) in cases {
            let json = to_json(&value);
            // Messages carry it as text in between.
            let json: Json = serde_json::from_str(&json.to_string()).unwrap();
            assert_eq!(kind.parse_json(&json).unwrap(), value, "{kind:?} {json}");
            assert!(kind.holds_json(&json), "{kind:?} {json}");
            assert_eq!(kind.parse_json(&Json::Null).unwrap(), kind.null());
        }
    }

    #[test]
    fn json_of_another_kind_is_no_value() {
        let date = || Json::from("2026-01-02");
        let cases = [
            (ValueKind::Boolean, vec![Json::from(1), Json::from("true")]),
            (ValueKind::Int16, vec![Json::from(32_768), Json::from(1.5), Json::from("1")]),
            (ValueKind::Int32, vec![Json::from(i64::MAX), Json::from(-1e300)]),
            (ValueKind::Int64, vec![Json::from(u64::MAX), Json::from(1.0)]),
            (ValueKind::Double, vec![Json::from("1"), Json::from(true)]),
            (
                ValueKind::Decimal { precision: 12, scale: 2 },
                vec![Json::from("1.5"), Json::from(1e300)],
            ),
            (ValueKind::Text { max: None }, vec![Json::from(1), Json::Array(Vec::new())]),
            (ValueKind::Uuid, vec![Json::from("x"), Json::from(1)]),
            (ValueKind::Timestamp, vec![date(), Json::from("2026-01-02T03:04:05"), Json::from(0)]),
            (ValueKind::Date, vec![Json::from("2026-02-30"), Json::from("2026-1-2")]),
            (ValueKind::Time, vec![date(), Json::from("24:00:00.000000")]),
            (ValueKind::Bytes, vec![Json::from("a"), Json::from("+/8="), Json::from(1)]),
        ];
        for (kind, wrong) in cases {
            for json in wrong {
                assert!(kind.parse_json(&json).is_err(), "{kind:?} {json}");
                assert!(!kind.holds_json(&json), "{kind:?} {json}");
            }
        }
    }

    #[test]
    fn a_default_is_a_value_of_its_column() {
        let text = ValueKind::Text { max: None };
        let decimal = ValueKind::Decimal { precision: 12, scale: 2 };
        let cases = [
            (ValueKind::Int64, Expr::val(7_i32), Some(Value::from(7_i64))),
            (ValueKind::Int16, Expr::val(70_000_i32), None),
            (decimal, Expr::val(1.5), Some(Decimal::new(15, 1).into())),
            (decimal, Expr::val("2.50"), Some(Decimal::new(25, 1).into())),
            (ValueKind::Double, Expr::val(2_i32), Some(2.0.into())),
            (ValueKind::Boolean, Expr::val(false), Some(false.into())),
            (text, Expr::val("piece"), Some("piece".into())),
            (text, Expr::current_timestamp(), None),
            (ValueKind::Timestamp, Expr::current_timestamp(), None),
        ];
        for (kind, default, expected) in cases {
            assert_eq!(kind.default_of(&default), expected, "{kind:?} {default:?}");
        }
    }
}
