//! How values are kept.
//!
//! Both databases must give the same answers, so what SQLite has no type for is stored in a form
//! that keeps order and comparison: a time is text of fixed width in UTC with six decimals, a
//! decimal is a number (exact for up to 15 digits), an identifier its 16 bytes. [`for_sqlite`]
//! brings bound values into that form.

use rust_decimal::prelude::ToPrimitive as _;
use sea_orm::{Statement, Value};
use time::format_description::BorrowedFormatItem;
use time::macros::format_description;
use time::{Date, OffsetDateTime, PrimitiveDateTime, Time, UtcOffset};

const TIMESTAMP: &[BorrowedFormatItem<'_>] =
    format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:6]Z");

/// The form of a day.
pub const DATE: &[BorrowedFormatItem<'_>] = format_description!("[year]-[month]-[day]");

/// The form of a time of day.
pub const TIME: &[BorrowedFormatItem<'_>] =
    format_description!("[hour]:[minute]:[second].[subsecond digits:6]");

/// Brings the values of a statement into the form in which SQLite stores and compares them.
#[must_use]
pub fn for_sqlite(mut statement: Statement) -> Statement {
    for value in statement.values.iter_mut().flat_map(|values| &mut values.0) {
        let stored = match value {
            Value::TimeDateTimeWithTimeZone(time) => {
                let time = time.map(in_utc);
                Value::String(time.map(|time| format_with(&time, TIMESTAMP)))
            }
            Value::TimeDate(date) => Value::String(date.map(|date| format_with(&date, DATE))),
            Value::TimeTime(time) => Value::String(time.map(|time| format_with(&time, TIME))),
            Value::Decimal(decimal) => Value::Double(decimal.and_then(|d| d.to_f64())),
            _ => continue,
        };
        *value = stored;
    }
    statement
}

/// A time with whole microseconds in UTC, as both databases keep it.
#[must_use]
pub fn truncate(time: OffsetDateTime) -> OffsetDateTime {
    let time = in_utc(time);
    time.replace_microsecond(time.microsecond()).unwrap_or(time)
}

/// A time in UTC. One that has no place there, in the last hours of the year 9999 elsewhere, is the
/// nearest that has.
#[must_use]
pub fn in_utc(time: OffsetDateTime) -> OffsetDateTime {
    let end = if time.year() > 0 { PrimitiveDateTime::MAX } else { PrimitiveDateTime::MIN };
    time.checked_to_offset(UtcOffset::UTC).unwrap_or(end.assume_utc())
}

/// A point in time in RFC 3339, in UTC, with as many decimals as it has, at most six.
#[must_use]
pub fn timestamp(time: OffsetDateTime) -> String {
    let text = format_with(&in_utc(time), TIMESTAMP);
    trim_fraction(text.trim_end_matches('Z')).to_owned() + "Z"
}

/// A day of the calendar, as it is kept.
#[must_use]
pub fn date(date: Date) -> String {
    format_with(&date, DATE)
}

/// A time of day, as it is kept: a row is read back from all six decimals.
#[must_use]
pub fn time_of_day(time: Time) -> String {
    format_with(&time, TIME)
}

fn trim_fraction(text: &str) -> &str {
    text.trim_end_matches('0').trim_end_matches('.')
}

trait Formats {
    fn text(&self, format: &[BorrowedFormatItem<'_>]) -> Result<String, time::error::Format>;
}

macro_rules! formats {
    ($($kind:ty),+) => {
        $(impl Formats for $kind {
            fn text(&self, form: &[BorrowedFormatItem<'_>]) -> Result<String, time::error::Format> {
                self.format(form)
            }
        })+
    };
}

formats!(OffsetDateTime, Date, Time);

fn format_with(value: &impl Formats, format: &[BorrowedFormatItem<'_>]) -> String {
    value.text(format).expect("the format asks only for parts that the value has")
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn a_time_without_a_place_in_utc_is_the_nearest_that_has_one() {
        let late = datetime!(9999-12-31 23:59:59 -1);
        assert_eq!(truncate(late), datetime!(9999-12-31 23:59:59.999_999 UTC));
        assert_eq!(timestamp(late), "9999-12-31T23:59:59.999999Z");
    }

    #[test]
    fn a_time_ends_with_its_last_decimal() {
        assert_eq!(timestamp(datetime!(2026-01-02 03:04:00 UTC)), "2026-01-02T03:04:00Z");
        assert_eq!(timestamp(datetime!(2026-01-02 03:04:05.06 +1)), "2026-01-02T02:04:05.06Z");
    }
}
