//! The textual forms of values, as in key segments, payloads and CSDL (ABNF `primitiveValue`).

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;
use time::{Date, Duration, Month, OffsetDateTime, Time, UtcOffset};

use super::{Value, ValueError, echo};
use crate::model::{EnumIndex, EnumType, Model, PrimitiveType, PropertyType};
use crate::syntax::lexical::{self, Lexed};

/// The most digits a decimal may have when written out; what databases hold is far below.
const MOST_DIGITS: usize = 400;

const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::URL_SAFE,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Reads the textual form of a primitive value. Fractions of a second are read to the nanosecond.
///
/// # Errors
/// When the text does not have the type's form, or means a value outside its range; also for a second's
/// fraction that is finer than nanoseconds.
pub fn parse_primitive(ty: PrimitiveType, text: &str) -> Result<Value, ValueError> {
    match ty {
        PrimitiveType::Binary | PrimitiveType::Stream => binary(text),
        PrimitiveType::Boolean => match text {
            "true" => Ok(Value::Boolean(true)),
            "false" => Ok(Value::Boolean(false)),
            _ => Err(malformed(ty, text)),
        },
        PrimitiveType::Byte => integer(ty, text, 0, 255),
        PrimitiveType::SByte => integer(ty, text, -128, 127),
        PrimitiveType::Int16 => integer(ty, text, i64::from(i16::MIN), i64::from(i16::MAX)),
        PrimitiveType::Int32 => integer(ty, text, i64::from(i32::MIN), i64::from(i32::MAX)),
        PrimitiveType::Int64 => integer(ty, text, i64::MIN, i64::MAX),
        PrimitiveType::Date => {
            whole(lexical::date, ty, text).and_then(|()| date(text)).map(Value::Date)
        }
        PrimitiveType::DateTimeOffset => date_time_offset(text).map(Value::DateTimeOffset),
        PrimitiveType::TimeOfDay => whole(lexical::time_of_day, ty, text)
            .and_then(|()| time_of_day(text))
            .map(Value::TimeOfDay),
        PrimitiveType::Duration => duration(text).map(Value::Duration),
        PrimitiveType::Decimal => decimal(text),
        PrimitiveType::Double | PrimitiveType::Single => double(ty, text),
        PrimitiveType::Guid => {
            whole(lexical::guid, ty, text)?;
            text.parse().map(Value::Guid).map_err(|_| malformed(ty, text))
        }
        PrimitiveType::String => Ok(Value::String(text.to_owned())),
    }
}

/// Reads the members of an enumeration value: names or numbers, separated by commas where the
/// enumeration can have several at once.
///
/// # Errors
/// When a member is unknown, or several are given where one is possible.
pub fn parse_enum(model: &Model, index: EnumIndex, text: &str) -> Result<Value, ValueError> {
    let enum_type = model.enum_type(index);
    let mut total = 0;
    for (count, part) in text.split(',').enumerate() {
        let part = part.trim();
        if count > 0 && !enum_type.flags {
            return Err(not_a_member(enum_type, text));
        }
        let named = enum_type.members.iter().find(|member| member.name == part);
        let number = || part.parse::<i64>().ok().filter(|number| is_member(enum_type, *number));
        let value = named.map(|member| member.value).or_else(number);
        total |= value.ok_or_else(|| not_a_member(enum_type, part))?;
    }
    Ok(Value::Enum(index, total))
}

fn is_member(enum_type: &EnumType, number: i64) -> bool {
    if enum_type.flags {
        let all = enum_type.members.iter().fold(0, |all, member| all | member.value);
        number & !all == 0
    } else {
        enum_type.members.iter().any(|member| member.value == number)
    }
}

fn not_a_member(enum_type: &EnumType, found: &str) -> ValueError {
    let names: Vec<_> =
        enum_type.members.iter().map(|member| format!("`{}`", member.name)).collect();
    ValueError::NotAllowed { found: echo(found), allowed: names.join(", ") }
}

pub(super) fn malformed(ty: PrimitiveType, text: &str) -> ValueError {
    ValueError::Malformed { expected: expected(ty.into()), found: echo(text) }
}

/// What a type is, for a message.
pub(crate) fn expected(ty: PropertyType) -> String {
    let PropertyType::Primitive(primitive) = ty else {
        return "a member of the enumeration".to_owned();
    };
    let example = match primitive {
        PrimitiveType::Date => " such as `2026-11-20`",
        PrimitiveType::DateTimeOffset => " such as `2026-11-20T18:00:00Z`",
        PrimitiveType::TimeOfDay => " such as `18:00:00`",
        PrimitiveType::Duration => " such as `P1DT2H`",
        PrimitiveType::Guid => " such as `0192f4d2-7e65-7c7e-9d2a-2f9d3c1b0a58`",
        PrimitiveType::Boolean => " (`true` or `false`)",
        PrimitiveType::Binary => " (base64url)",
        _ => "",
    };
    format!("`{}`{example}", primitive.name())
}

fn whole(form: fn(&str) -> Lexed, ty: PrimitiveType, text: &str) -> Result<(), ValueError> {
    if form(text) == Ok(text.len()) { Ok(()) } else { Err(malformed(ty, text)) }
}

fn binary(text: &str) -> Result<Value, ValueError> {
    // Many writers use the standard alphabet.
    let text: String = text
        .chars()
        .map(|c| match c {
            '+' => '-',
            '/' => '_',
            other => other,
        })
        .collect();
    BASE64.decode(&text).map(Value::Binary).map_err(|_| malformed(PrimitiveType::Binary, &text))
}

pub(super) fn encode_binary(bytes: &[u8]) -> String {
    const ENCODE: GeneralPurpose = GeneralPurpose::new(
        &alphabet::URL_SAFE,
        GeneralPurposeConfig::new().with_encode_padding(false),
    );
    ENCODE.encode(bytes)
}

fn integer(ty: PrimitiveType, text: &str, least: i64, greatest: i64) -> Result<Value, ValueError> {
    let range =
        || ValueError::Range { found: echo(text), allowed: format!("{least} to {greatest}") };
    let number = match decimal(text).map_err(|_| malformed(ty, text))? {
        Value::Decimal(number) if number.fract().is_zero() => number.to_i64().ok_or_else(range)?,
        Value::BigDecimal(_) => return Err(range()),
        _ => return Err(malformed(ty, text)),
    };
    if (least..=greatest).contains(&number) { Ok(Value::Integer(number)) } else { Err(range()) }
}

fn double(ty: PrimitiveType, text: &str) -> Result<Value, ValueError> {
    match text {
        "INF" => return Ok(Value::Double(f64::INFINITY)),
        "-INF" => return Ok(Value::Double(f64::NEG_INFINITY)),
        "NaN" => return Ok(Value::Double(f64::NAN)),
        _ => whole(lexical::number, ty, text)?,
    }
    let number: f64 = text.parse().map_err(|_| malformed(ty, text))?;
    let greatest = if ty == PrimitiveType::Single { f64::from(f32::MAX) } else { f64::MAX };
    if number.abs() > greatest {
        let allowed = format!("-{greatest:e} to {greatest:e}");
        return Err(ValueError::Range { found: echo(text), allowed });
    }
    Ok(Value::Double(number))
}

/// A decimal with every digit that was written.
fn decimal(text: &str) -> Result<Value, ValueError> {
    whole(lexical::number, PrimitiveType::Decimal, text)?;
    let plain = plain_decimal(text)?;
    Ok(match Decimal::from_str_exact(&plain) {
        Ok(number) => Value::Decimal(number),
        Err(_) => Value::BigDecimal(plain),
    })
}

/// Writes a number out, without an exponent.
fn plain_decimal(text: &str) -> Result<String, ValueError> {
    let range = || ValueError::Range {
        found: echo(text),
        allowed: format!("at most {MOST_DIGITS} digits"),
    };
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().map_err(|_| range())?),
        None => (text, 0),
    };
    let (sign, mantissa) = match mantissa.strip_prefix(['-', '+']) {
        Some(rest) => (if text.starts_with('-') { "-" } else { "" }, rest),
        None => ("", mantissa),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let shift = exponent.unsigned_abs() as usize;
    if whole.len() + fraction.len() + shift > MOST_DIGITS {
        return Err(range());
    }
    let mut digits = format!("{whole}{fraction}");
    let point = if exponent >= 0 {
        let missing = shift.saturating_sub(fraction.len());
        digits.extend(std::iter::repeat_n('0', missing));
        whole.len() + shift
    } else {
        let missing = (shift + 1).saturating_sub(whole.len());
        digits.insert_str(0, &"0".repeat(missing));
        whole.len() + missing - shift
    };
    let (whole, fraction) = digits.split_at(point);
    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    let dot = if fraction.is_empty() { "" } else { "." };
    Ok(format!("{sign}{whole}{dot}{fraction}"))
}

/// 4713 BC, the first year that the databases count days from.
const FIRST_YEAR: i32 = -4712;

pub(super) fn date(text: &str) -> Result<Date, ValueError> {
    let error = || malformed(PrimitiveType::Date, text);
    let (year, rest) =
        text.get(..text.len() - 6).zip(text.get(text.len() - 6..)).ok_or_else(error)?;
    let year = year.parse().map_err(|_| error())?;
    if year < FIRST_YEAR {
        return Err(error());
    }
    let month: u8 = rest[1..3].parse().map_err(|_| error())?;
    let day = rest[4..6].parse().map_err(|_| error())?;
    let month = Month::try_from(month).map_err(|_| error())?;
    Date::from_calendar_date(year, month, day).map_err(|_| error())
}

pub(super) fn time_of_day(text: &str) -> Result<Time, ValueError> {
    let error = || malformed(PrimitiveType::TimeOfDay, text);
    let mut parts = text.splitn(3, ':');
    let hour = parts.next().and_then(|hour| hour.parse().ok()).ok_or_else(error)?;
    let minute = parts.next().and_then(|minute| minute.parse().ok()).ok_or_else(error)?;
    let (second, fraction) = match parts.next() {
        Some(second) => second.split_once('.').unwrap_or((second, "")),
        None => ("0", ""),
    };
    let second = second.parse().map_err(|_| error())?;
    Time::from_hms_nano(hour, minute, second, nanoseconds(fraction)?).map_err(|_| error())
}

/// The nanoseconds of a second's fraction. The grammar has up to twelve digits, of which all but zeros behind
/// the ninth are refused: no store keeps them, and cut off they would stand for another moment.
fn nanoseconds(fraction: &str) -> Result<u32, ValueError> {
    let (kept, finer) = fraction.split_at(fraction.len().min(9));
    if finer.bytes().any(|digit| digit != b'0') {
        let allowed = "at most 9 digits of a second's fraction".to_owned();
        return Err(ValueError::Range { found: echo(&format!("0.{fraction}")), allowed });
    }
    let digits = kept.bytes().chain(std::iter::repeat(b'0')).take(9);
    Ok(digits.fold(0, |sum, digit| sum * 10 + u32::from(digit - b'0')))
}

fn date_time_offset(text: &str) -> Result<OffsetDateTime, ValueError> {
    whole(lexical::date_time_offset, PrimitiveType::DateTimeOffset, text)?;
    let error = || malformed(PrimitiveType::DateTimeOffset, text);
    let (day, rest) = text.split_once(['T', 't']).ok_or_else(error)?;
    let (time, offset) = if let Some(time) = rest.strip_suffix(['Z', 'z']) {
        (time, UtcOffset::UTC)
    } else {
        let (time, offset) = rest.split_at(rest.len() - 6);
        let hours: i8 = offset[1..3].parse().map_err(|_| error())?;
        let minutes: i8 = offset[4..6].parse().map_err(|_| error())?;
        let sign = if offset.starts_with('-') { -1 } else { 1 };
        (time, UtcOffset::from_hms(sign * hours, sign * minutes, 0).map_err(|_| error())?)
    };
    let day = date(day).map_err(|_| error())?;
    let time = time_of_day(time).map_err(|fault| match fault {
        ValueError::Malformed { .. } => error(),
        finer => finer,
    })?;
    let moment = OffsetDateTime::new_in_offset(day, time, offset);
    // Its UTC form must exist as well, or comparing and storing it would panic.
    moment.checked_to_offset(UtcOffset::UTC).map(|_| moment).ok_or_else(error)
}

fn duration(text: &str) -> Result<Duration, ValueError> {
    whole(lexical::duration, PrimitiveType::Duration, text)?;
    let error = || malformed(PrimitiveType::Duration, text);
    let negative = text.starts_with('-');
    let mut total = Duration::ZERO;
    let mut parts = 0;
    let mut start = 0;
    let body = text.trim_start_matches('-');
    for (at, unit) in body.char_indices().filter(|(_, next)| next.is_ascii_alphabetic()) {
        let number = &body[start..at];
        start = at + 1;
        let seconds_each = match unit.to_ascii_uppercase() {
            'D' => 86_400,
            'H' => 3_600,
            'M' => 60,
            'S' => 1,
            _ => continue,
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let whole: i64 = whole.parse().map_err(|_| error())?;
        let seconds = whole.checked_mul(seconds_each).ok_or_else(error)?;
        let part =
            Duration::new(seconds, i32::try_from(nanoseconds(fraction)?).map_err(|_| error())?);
        total = total.checked_add(part).ok_or_else(error)?;
        parts += 1;
    }
    // `P` and `PT` alone have the form, but no length.
    if parts == 0 {
        return Err(error());
    }
    if negative { Duration::ZERO.checked_sub(total).ok_or_else(error) } else { Ok(total) }
}
