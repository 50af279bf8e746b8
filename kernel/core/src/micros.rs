//! Times and spans in whole microseconds, as the database keeps them, and the time in an identifier.
//!
//! What is beyond the range is its end, never an error: such a time comes after, or before, all that there is.

use std::time::Duration;

use time::{OffsetDateTime, PrimitiveDateTime};
use uuid::Uuid;

/// What of a UUIDv7 stands behind its time, in bits (RFC 9562, section 5.7).
const REST_BITS: u32 = 80;

/// A time in microseconds since 1970.
#[must_use]
pub fn of_time(time: OffsetDateTime) -> i64 {
    i64::try_from(time.unix_timestamp_nanos().div_euclid(1_000)).unwrap_or(i64::MAX)
}

/// The length of a span.
#[must_use]
pub fn of_span(span: Duration) -> i64 {
    i64::try_from(span.as_micros()).unwrap_or(i64::MAX)
}

/// The time that is so many microseconds after 1970.
#[must_use]
pub fn to_time(micros: i64) -> OffsetDateTime {
    let end = if micros < 0 { PrimitiveDateTime::MIN } else { PrimitiveDateTime::MAX };
    OffsetDateTime::from_unix_timestamp_nanos(i128::from(micros) * 1_000)
        .unwrap_or(end.assume_utc())
}

/// When an identifier was made, which a UUIDv7 tells to the millisecond.
#[must_use]
pub fn of_id(id: Uuid) -> i64 {
    i64::try_from(id.as_u128() >> REST_BITS).unwrap_or(0).saturating_mul(1_000)
}

/// The smallest identifier that the clock could have made at a time: what separates rows by age.
#[must_use]
pub fn first_id(micros: i64) -> Uuid {
    let milliseconds = u128::try_from(micros.div_euclid(1_000)).unwrap_or(0);
    Uuid::from_u128(milliseconds << REST_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Clock;

    #[test]
    fn a_time_is_read_back_to_the_microsecond_before_1970_too() {
        for micros in [0, 1, -1, -999_999, 1_764_150_000_123_456, -62_135_596_800_000_000] {
            assert_eq!(of_time(to_time(micros)), micros);
        }
        let half = OffsetDateTime::UNIX_EPOCH - Duration::from_nanos(1_500);
        assert_eq!(of_time(half), -2, "what is before a time stays before it");
    }

    #[test]
    fn what_is_beyond_the_range_is_its_end() {
        assert_eq!(to_time(i64::MAX), PrimitiveDateTime::MAX.assume_utc());
        assert_eq!(to_time(i64::MIN), PrimitiveDateTime::MIN.assume_utc());
        assert_eq!(of_span(Duration::MAX), i64::MAX);
    }

    #[test]
    fn identifiers_are_told_apart_by_the_millisecond_in_which_they_were_made() {
        let now = to_time(1_764_150_000_123_456);
        let clock = Clock::manual(now);
        let id = clock.new_id();
        assert_eq!(of_id(id), 1_764_150_000_123_000);
        assert!(first_id(of_time(now)) <= id);
        assert!(id < first_id(of_time(now) + 1_000));
        assert_eq!(first_id(-1), Uuid::nil());
    }
}
