//! The textual forms of values, written.

use std::fmt::Write as _;

use time::{Date, Duration, OffsetDateTime, Time};

use super::Value;
use super::text::encode_binary;

/// The textual form of a value, as in `$value`, keys and CSDL, without quotes.
///
/// An enumeration is written by number; names need the model.
#[must_use]
pub fn write_text(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Binary(bytes) => encode_binary(bytes),
        Value::Boolean(value) => value.to_string(),
        Value::Date(date) => format_date(*date),
        Value::DateTimeOffset(moment) => format_date_time_offset(*moment),
        Value::Decimal(number) => number.to_string(),
        Value::BigDecimal(digits) | Value::String(digits) => digits.clone(),
        Value::Double(number) => format_double(*number),
        Value::Duration(duration) => format_duration(*duration),
        Value::Enum(_, number) | Value::Integer(number) => number.to_string(),
        Value::Guid(guid) => guid.hyphenated().to_string(),
        Value::TimeOfDay(time) => format_time_of_day(*time),
        Value::Json(json) => json.to_string(),
        Value::Collection(items) => {
            let items: Vec<_> = items.iter().map(write_text).collect();
            items.join(",")
        }
    }
}

/// The shortest digits that read back to the same number; `INF`, `-INF`, `NaN`.
fn format_double(number: f64) -> String {
    if number.is_nan() {
        "NaN".to_owned()
    } else if number.is_infinite() {
        if number > 0.0 { "INF".to_owned() } else { "-INF".to_owned() }
    } else if number != 0.0 && !(1e-5..1e17).contains(&number.abs()) {
        format!("{number:e}")
    } else {
        format!("{number}")
    }
}

fn format_date(date: Date) -> String {
    let (year, month, day) = (date.year(), u8::from(date.month()), date.day());
    let sign = if year < 0 { "-" } else { "" };
    format!("{sign}{:04}-{month:02}-{day:02}", year.unsigned_abs())
}

/// `18:00:00.5`: at most microseconds, no zeros at the end.
#[must_use]
pub fn format_time_of_day(time: Time) -> String {
    let mut text = format!("{:02}:{:02}:{:02}", time.hour(), time.minute(), time.second());
    push_fraction(&mut text, time.microsecond());
    text
}

/// `2026-11-20T18:00:00.5+01:00`, `Z` for UTC: at most microseconds, no zeros at the end.
#[must_use]
pub fn format_date_time_offset(moment: OffsetDateTime) -> String {
    let offset = moment.offset();
    let mut text = format!("{}T{}", format_date(moment.date()), format_time_of_day(moment.time()));
    if offset.is_utc() {
        text.push('Z');
    } else {
        let sign = if offset.is_negative() { '-' } else { '+' };
        let (hours, minutes, _) = offset.as_hms();
        let _ = write!(text, "{sign}{:02}:{:02}", hours.unsigned_abs(), minutes.unsigned_abs());
    }
    text
}

/// `-P1DT2H3M4.5S`: at most microseconds.
#[must_use]
pub fn format_duration(duration: Duration) -> String {
    let seconds = duration.whole_seconds().unsigned_abs();
    let micros = duration.subsec_microseconds().unsigned_abs();
    let mut text = if duration.is_negative() { "-P".to_owned() } else { "P".to_owned() };
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let (hours, minutes, seconds) = (rest / 3_600, rest % 3_600 / 60, rest % 60);
    if days > 0 {
        let _ = write!(text, "{days}D");
    }
    let has_seconds = seconds > 0 || micros > 0;
    if days > 0 && hours == 0 && minutes == 0 && !has_seconds {
        return text;
    }
    text.push('T');
    for (number, unit) in [(hours, 'H'), (minutes, 'M')] {
        if number > 0 {
            let _ = write!(text, "{number}{unit}");
        }
    }
    if has_seconds || (hours == 0 && minutes == 0) {
        let _ = write!(text, "{seconds}");
        push_fraction(&mut text, micros);
        text.push('S');
    }
    text
}

fn push_fraction(text: &mut String, micros: u32) {
    if micros > 0 {
        let digits = format!("{micros:06}");
        text.push('.');
        text.push_str(digits.trim_end_matches('0'));
    }
}
