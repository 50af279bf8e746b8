//! Durations as settings write them: `[d.]hh:mm:ss[.fff]`.
//!
//! `00:00:10` is ten seconds, `24:00:00` and `1.00:00:00` are both one day, `00:00:00.250` is a
//! quarter of a second. Without days the hours may exceed 23. There are no negative durations.
//!
//! The functions fit `#[serde(with = "svc_configuration::duration")]`.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serializer};

/// The longest duration that is accepted, so that adding it to a date cannot leave the calendar.
pub const MAXIMUM: Duration = super::units::days(36_500);

const SECONDS_PER_DAY: u64 = 24 * 60 * 60;

/// A text is not a duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a duration `[d.]hh:mm:ss[.fff]` of at most 36500 days")]
pub struct ParseDurationError;

/// Reads a duration.
///
/// # Errors
/// The text has another form, is negative, or means more than [`MAXIMUM`].
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use svc_configuration::duration::parse;
///
/// assert_eq!(parse("06:00:00"), Ok(Duration::from_secs(6 * 60 * 60)));
/// assert_eq!(parse("7.00:00:00.5"), Ok(Duration::from_millis(604_800_500)));
/// assert!(parse("10").is_err());
/// ```
pub fn parse(text: &str) -> Result<Duration, ParseDurationError> {
    parse_parts(text).filter(|duration| *duration <= MAXIMUM).ok_or(ParseDurationError)
}

fn parse_parts(text: &str) -> Option<Duration> {
    let mut parts = text.split(':');
    let (day_and_hour, minute, second) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() {
        return None;
    }
    let (days, hours) = match day_and_hour.split_once('.') {
        Some((days, hours)) => (digits(days, 1..=5)?, below(digits(hours, 1..=2)?, 24)?),
        None => (0, digits(day_and_hour, 1..=6)?),
    };
    let (whole_second, nanoseconds) = match second.split_once('.') {
        Some((whole, fraction)) => (whole, nanoseconds(fraction)?),
        None => (second, 0),
    };
    let minutes = below(digits(minute, 2..=2)?, 60)?;
    let seconds = below(digits(whole_second, 2..=2)?, 60)?;
    // Five digits of days and six of hours stay far below the largest `u64`.
    let total = days * SECONDS_PER_DAY + hours * 3600 + minutes * 60 + seconds;
    Some(Duration::new(total, nanoseconds))
}

/// A number of `length` decimal digits.
fn digits(text: &str, length: std::ops::RangeInclusive<usize>) -> Option<u64> {
    let valid = length.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if valid { text.parse().ok() } else { None }
}

fn below(number: u64, limit: u64) -> Option<u64> {
    (number < limit).then_some(number)
}

fn nanoseconds(fraction: &str) -> Option<u32> {
    digits(fraction, 1..=9)?;
    format!("{fraction:0<9}").parse().ok()
}

/// Writes a duration so that [`parse`] reads it back.
///
/// Up to one day is written in hours, as in `24:00:00`, more with days.
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use svc_configuration::duration::format;
///
/// assert_eq!(format(Duration::from_millis(10_250)), "00:00:10.250");
/// assert_eq!(format(Duration::from_secs(36 * 60 * 60)), "1.12:00:00");
/// ```
#[must_use]
pub fn format(duration: Duration) -> String {
    let total = duration.as_secs();
    let days = if total > SECONDS_PER_DAY { total / SECONDS_PER_DAY } else { 0 };
    let in_day = total - days * SECONDS_PER_DAY;
    let prefix = if days > 0 { format!("{days}.") } else { String::new() };
    let (hours, minutes, seconds) = (in_day / 3600, in_day / 60 % 60, in_day % 60);
    let nanoseconds = duration.subsec_nanos();
    let fraction = if nanoseconds == 0 {
        String::new()
    } else if nanoseconds.is_multiple_of(1_000_000) {
        format!(".{:03}", nanoseconds / 1_000_000)
    } else if nanoseconds.is_multiple_of(1_000) {
        format!(".{:06}", nanoseconds / 1_000)
    } else {
        format!(".{nanoseconds:09}")
    };
    format!("{prefix}{hours:02}:{minutes:02}:{seconds:02}{fraction}")
}

/// Serializes a duration as its text.
///
/// # Errors
/// Those of the serializer.
pub fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&format(*duration))
}

/// Reads a duration from its text.
///
/// # Errors
/// The value is not a text, or not one that [`parse`] accepts.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(deserializer)?;
    parse(&text).map_err(serde::de::Error::custom)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{MAXIMUM, ParseDurationError, format, parse};

    #[test]
    fn durations_are_read_and_written_back() {
        for (text, milliseconds, written) in [
            ("00:00:00", 0, "00:00:00"),
            ("0:00:10", 10_000, "00:00:10"),
            ("00:00:10.5", 10_500, "00:00:10.500"),
            ("00:00:00.250", 250, "00:00:00.250"),
            ("23:59:59.999", 86_399_999, "23:59:59.999"),
            ("24:00:00", 86_400_000, "24:00:00"),
            ("1.00:00:00", 86_400_000, "24:00:00"),
            ("1.12:00:00", 129_600_000, "1.12:00:00"),
            ("36:00:00", 129_600_000, "1.12:00:00"),
            ("30.00:00:00", 2_592_000_000, "30.00:00:00"),
            ("36500.00:00:00", 3_153_600_000_000, "36500.00:00:00"),
        ] {
            let duration = parse(text).unwrap();
            assert_eq!(duration, Duration::from_millis(milliseconds), "{text}");
            assert_eq!(format(duration), written, "{text}");
            assert_eq!(parse(written), Ok(duration), "{text}");
        }
        assert_eq!(format(Duration::from_micros(1)), "00:00:00.000001");
        assert_eq!(format(Duration::from_nanos(1)), "00:00:00.000000001");
    }

    #[test]
    fn everything_else_is_refused() {
        for text in [
            "",
            "10",
            "10s",
            "00:10",
            "-00:00:10",
            "+00:00:10",
            "00:00:-1",
            "00:60:00",
            "00:00:60",
            "00:0:10",
            "00:00:1",
            "1.24:00:00",
            ".00:00:10",
            "1.:00:00",
            "00:00:10.",
            "00:00:10.x",
            "00:00:10.1234567890",
            "00:00:00:10",
            " 00:00:10",
            "00:00:10 ",
            "00:00:1０",
            "36500.00:00:00.001",
            "99999.00:00:00",
            "999999:00:00",
            "18446744073709551615:00:00",
        ] {
            assert_eq!(parse(text), Err(ParseDurationError), "{text}");
        }
        assert_eq!(parse(&format(MAXIMUM)), Ok(MAXIMUM));
    }
}
