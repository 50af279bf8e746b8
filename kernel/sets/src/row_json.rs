//! Values of a row as JSON, written from what the driver received: no value is made on the way.
//!
//! What is written is what [`to_json`] would say. A stored form that isn't the
//! common one (a decimal with more digits than its column has, a time of another width) takes the
//! way over the value.

use std::fmt::Write as _;

use sea_orm::{DbErr, QueryResult, Value};
use sqlx::postgres::{PgRow, PgValueFormat, PgValueRef};
use sqlx::sqlite::{SqliteRow, SqliteValueRef};
use sqlx::{Decode, Postgres, Row as _, Sqlite, TypeInfo as _, ValueRef as _};
use svc_database::stored::in_utc;
use time::OffsetDateTime;
use uuid::Uuid;

use svc_data::value::{Enumeration, ValueKind, to_json};

/// The largest whole number that a double keeps exactly, with room for rounding.
const EXACT: f64 = 1e15;

/// A stored form that is not the common one.
struct Uncommon;

impl From<sqlx::error::BoxDynError> for Uncommon {
    fn from(_: sqlx::error::BoxDynError) -> Self {
        Self
    }
}

type Written = Result<(), Uncommon>;

/// Writes column `index` of a row as JSON.
///
/// # Errors
///
/// When the stored value is not of this kind.
pub(crate) fn write_json(
    kind: ValueKind,
    row: &QueryResult,
    index: usize,
    out: &mut String,
) -> Result<(), DbErr> {
    let length = out.len();
    let written = match (row.try_as_sqlite_row(), row.try_as_pg_row()) {
        (Some(row), _) => write_sqlite(kind, row, index, out),
        (_, Some(row)) => write_postgres(kind, row, index, out),
        _ => Err(Uncommon),
    };
    if written.is_err() {
        out.truncate(length);
        let _ = write!(out, "{}", kind.to_json(&kind.read(row, index)?));
    }
    Ok(())
}

fn write_sqlite(kind: ValueKind, row: &SqliteRow, index: usize, out: &mut String) -> Written {
    let value = row.try_get_raw(index).map_err(|_| Uncommon)?;
    if value.is_null() {
        out.push_str("null");
        return Ok(());
    }
    match kind {
        ValueKind::Text { .. } => push_text(<&str as Decode<Sqlite>>::decode(value)?, out),
        ValueKind::Boolean => push_bool(<bool as Decode<Sqlite>>::decode(value)?, out),
        ValueKind::Int16 | ValueKind::Int32 | ValueKind::Int64 => {
            push_integer(<i64 as Decode<Sqlite>>::decode(value)?, out);
        }
        ValueKind::Uuid => push_uuid(<Uuid as Decode<Sqlite>>::decode(value)?, out),
        ValueKind::Decimal { scale, .. } => push_sqlite_decimal(value, scale, out)?,
        ValueKind::Timestamp => push_stored_time(<&str as Decode<Sqlite>>::decode(value)?, out)?,
        ValueKind::Enumeration(known) if matches!(known.storage(), ValueKind::Text { .. }) => {
            push_text(known.name_of_text(<&str as Decode<Sqlite>>::decode(value)?), out);
        }
        ValueKind::Enumeration(known) => {
            push_member(known, <i64 as Decode<Sqlite>>::decode(value)?, out)?;
        }
        _ => return Err(Uncommon),
    }
    Ok(())
}

fn write_postgres(kind: ValueKind, row: &PgRow, index: usize, out: &mut String) -> Written {
    let value = row.try_get_raw(index).map_err(|_| Uncommon)?;
    if value.is_null() {
        out.push_str("null");
        return Ok(());
    }
    match kind {
        ValueKind::Text { .. } => push_text(<&str as Decode<Postgres>>::decode(value)?, out),
        ValueKind::Boolean => push_bool(<bool as Decode<Postgres>>::decode(value)?, out),
        ValueKind::Int16 => push_integer(<i16 as Decode<Postgres>>::decode(value)?.into(), out),
        ValueKind::Int32 => push_integer(<i32 as Decode<Postgres>>::decode(value)?.into(), out),
        ValueKind::Int64 => push_integer(<i64 as Decode<Postgres>>::decode(value)?, out),
        ValueKind::Uuid => push_uuid(<Uuid as Decode<Postgres>>::decode(value)?, out),
        ValueKind::Decimal { scale, .. } => push_numeric(&value, scale, out)?,
        ValueKind::Timestamp => {
            push_time(<OffsetDateTime as Decode<Postgres>>::decode(value)?, out)?;
        }
        ValueKind::Enumeration(known) => match known.storage() {
            ValueKind::Text { .. } => {
                push_text(known.name_of_text(<&str as Decode<Postgres>>::decode(value)?), out);
            }
            ValueKind::Int16 => {
                push_member(known, <i16 as Decode<Postgres>>::decode(value)?.into(), out)?;
            }
            ValueKind::Int32 => {
                push_member(known, <i32 as Decode<Postgres>>::decode(value)?.into(), out)?;
            }
            _ => push_member(known, <i64 as Decode<Postgres>>::decode(value)?, out)?,
        },
        _ => return Err(Uncommon),
    }
    Ok(())
}

/// Writes the name of a stored number; what is no member is not common.
fn push_member(enumeration: &Enumeration, number: i64, out: &mut String) -> Written {
    push_text(enumeration.name_of_number(number).ok_or(Uncommon)?, out);
    Ok(())
}

/// Writes a value as [`ValueKind::to_json`] says.
pub(crate) fn push_json(kind: ValueKind, value: &Value, out: &mut String) {
    match kind {
        ValueKind::Enumeration(_) => drop(write!(out, "{}", kind.to_json(value))),
        _ => push_value(value, out),
    }
}

/// Writes a value as JSON, as [`to_json`] says.
fn push_value(value: &Value, out: &mut String) {
    match value {
        Value::String(Some(text)) => push_text(text, out),
        Value::Bool(Some(value)) => push_bool(*value, out),
        Value::SmallInt(Some(number)) => push_integer((*number).into(), out),
        Value::Int(Some(number)) => push_integer((*number).into(), out),
        Value::BigInt(Some(number)) => push_integer(*number, out),
        Value::Uuid(Some(id)) => push_uuid(*id, out),
        Value::Decimal(Some(number)) => drop(write!(out, "{}", number.normalize())),
        Value::TimeDateTimeWithTimeZone(Some(time)) if push_time(*time, out).is_ok() => {}
        other => {
            let _ = write!(out, "{}", to_json(other));
        }
    }
}

/// Writes a text as a JSON string. Most texts need no escape, and are copied as they are.
fn push_text(text: &str, out: &mut String) {
    if text.bytes().any(|byte| byte < 0x20 || byte == b'"' || byte == b'\\') {
        svc_odata::json::push_string(out, text);
    } else {
        out.push('"');
        out.push_str(text);
        out.push('"');
    }
}

fn push_bool(value: bool, out: &mut String) {
    out.push_str(if value { "true" } else { "false" });
}

/// Writes a whole number.
pub(crate) fn push_integer(number: i64, out: &mut String) {
    // Twenty digits hold every number of 64 bits.
    let (mut digits, mut first, mut rest) = ([0_u8; 20], 20, number.unsigned_abs());
    loop {
        first -= 1;
        digits[first] = digit(rest % 10);
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if number < 0 {
        out.push('-');
    }
    out.extend(digits[first..].iter().map(|digit| char::from(*digit)));
}

fn digit(number: u64) -> u8 {
    b"0123456789"[usize::try_from(number % 10).unwrap_or(0)]
}

fn push_uuid(id: Uuid, out: &mut String) {
    let mut text = [0; uuid::fmt::Hyphenated::LENGTH];
    out.push('"');
    out.push_str(id.hyphenated().encode_lower(&mut text));
    out.push('"');
}

/// Writes a decimal that SQLite keeps as a number: whole, or a double with at most 15 digits.
fn push_sqlite_decimal(value: SqliteValueRef<'_>, scale: u32, out: &mut String) -> Written {
    if value.type_info().name() == "INTEGER" {
        push_integer(<i64 as Decode<Sqlite>>::decode(value)?, out);
        return Ok(());
    }
    let number = <f64 as Decode<Sqlite>>::decode(value)?;
    let power = 10_i64.checked_pow(scale).ok_or(Uncommon)?;
    #[expect(clippy::cast_precision_loss, reason = "a power of ten up to 15 is exact")]
    let scaled = (number * power as f64).round();
    if scaled.abs() >= EXACT || scaled.is_nan() {
        return Err(Uncommon);
    }
    #[expect(clippy::cast_possible_truncation, reason = "it is whole, and within the bounds")]
    let scaled = scaled as i64;
    if scaled < 0 {
        out.push('-');
    }
    let (whole, mut fraction) = (scaled.abs() / power, scaled.abs() % power);
    push_integer(whole, out);
    if fraction != 0 {
        let mut places = scale;
        while fraction % 10 == 0 {
            fraction /= 10;
            places -= 1;
        }
        let _ = write!(out, ".{fraction:0width$}", width = places as usize);
    }
    Ok(())
}

/// Writes PostgreSQL's binary form of a decimal: digits to the base of 10,000.
fn push_numeric(value: &PgValueRef<'_>, scale: u32, out: &mut String) -> Written {
    let bytes = value.as_bytes()?;
    let word = |place: usize| {
        let word = bytes.get(2 * place..2 * place + 2).ok_or(Uncommon)?;
        Ok::<u16, Uncommon>(u16::from_be_bytes([word[0], word[1]]))
    };
    let (count, weight, sign, decimals) = (word(0)?, word(1)?, word(2)?, word(3)?);
    let weight = weight.cast_signed();
    if value.format() != PgValueFormat::Binary || sign & !0x4000 != 0 || u32::from(decimals) > scale
    {
        return Err(Uncommon);
    }
    if sign == 0x4000 && count > 0 {
        out.push('-');
    }
    let group = |place: i16| match usize::try_from(place) {
        Ok(place) if place < usize::from(count) => word(4 + place),
        _ => Ok(0),
    };
    push_integer(group(if weight < 0 { -1 } else { 0 })?.into(), out);
    for place in 1..=weight {
        let _ = write!(out, "{:04}", group(place)?);
    }
    let end = out.len();
    let last = i16::try_from(count).map_err(|_| Uncommon)?;
    out.push('.');
    for place in weight + 1..last {
        let _ = write!(out, "{:04}", group(place)?);
    }
    let kept = out.trim_end_matches('0').trim_end_matches('.').len();
    out.truncate(kept.max(end));
    Ok(())
}

/// Writes a time that SQLite keeps as text: `2026-11-20T12:00:00.000000Z`.
fn push_stored_time(text: &str, out: &mut String) -> Written {
    let form = b"0000-00-00T00:00:00.000000Z";
    let fits = |(byte, form): (u8, &u8)| match form {
        b'0' => byte.is_ascii_digit(),
        form => byte == *form,
    };
    if text.len() != form.len() || !text.bytes().zip(form).all(fits) {
        return Err(Uncommon);
    }
    out.push('"');
    out.push_str(text[..text.len() - 1].trim_end_matches('0').trim_end_matches('.'));
    out.push_str("Z\"");
    Ok(())
}

fn push_time(time: OffsetDateTime, out: &mut String) -> Written {
    let time = in_utc(time);
    let year = u32::try_from(time.year()).ok().filter(|year| *year <= 9_999).ok_or(Uncommon)?;
    let (hour, minute, second, micros) = time.to_hms_micro();
    out.push('"');
    push_digits(year, 4, out);
    for (before, part) in [
        ('-', u8::from(time.month())),
        ('-', time.day()),
        ('T', hour),
        (':', minute),
        (':', second),
    ] {
        out.push(before);
        push_digits(part.into(), 2, out);
    }
    if micros != 0 {
        out.push('.');
        push_digits(micros, 6, out);
        out.truncate(out.trim_end_matches('0').len());
    }
    out.push_str("Z\"");
    Ok(())
}

/// Writes the last `width` digits of a number, at most ten.
fn push_digits(number: u32, width: usize, out: &mut String) {
    let (mut digits, mut rest) = ([b'0'; 10], u64::from(number));
    for place in digits[..width].iter_mut().rev() {
        *place = digit(rest);
        rest /= 10;
    }
    out.extend(digits[..width].iter().map(|digit| char::from(*digit)));
}

/// Ends a list whose parts have a comma behind each.
pub(super) fn close(out: &mut String, end: char) {
    if out.ends_with(',') {
        out.pop();
    }
    out.push(end);
}
