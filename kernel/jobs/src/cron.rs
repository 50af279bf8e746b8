//! When a schedule comes next.

use std::fmt;

use croner::Cron;
use croner::parser::{CronParser, Seconds, Year};
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// The zone of a schedule that names none.
pub(crate) const UTC: &str = "UTC";

/// A cron pattern in a time zone.
///
/// Five fields (minute, hour, day of month, month, day of week) or six with seconds before them.
/// Where a zone's clock is put forward over a fixed time, the schedule comes at the first moment
/// after the gap; where it is put back, a fixed time comes once.
#[derive(Clone)]
pub(crate) struct Timetable {
    cron: Cron,
    pattern: String,
    zone_name: String,
    zone: TimeZone,
}

impl Timetable {
    /// Reads a pattern; the error completes a sentence that names the schedule.
    pub(crate) fn parse(pattern: &str, zone_name: &str) -> Result<Self, String> {
        let parser =
            CronParser::builder().seconds(Seconds::Optional).year(Year::Disallowed).build();
        let cron = parser.parse(pattern).map_err(|error| {
            format!(
                "has the cron pattern `{pattern}`, which can't be read ({error}); write six \
                 fields, such as `0 30 3 * * *` for 03:30 each day"
            )
        })?;
        let zone = match zone_name {
            UTC => TimeZone::UTC,
            name => TimeZone::get(name).map_err(|_| {
                format!("has the unknown time zone `{name}`; write one like `Europe/Berlin`")
            })?,
        };
        let timetable =
            Self { cron, pattern: pattern.to_owned(), zone_name: zone_name.to_owned(), zone };
        match timetable.next_after(0) {
            Some(_) => Ok(timetable),
            None => Err(format!("has the cron pattern `{pattern}`, which never comes")),
        }
    }

    pub(crate) fn pattern(&self) -> &str {
        &self.pattern
    }

    pub(crate) fn zone_name(&self) -> &str {
        &self.zone_name
    }

    /// The first time after `now_us`, both in microseconds since 1970; none when there is none.
    pub(crate) fn next_after(&self, now_us: i64) -> Option<i64> {
        let now = Timestamp::from_microsecond(now_us).ok()?.to_zoned(self.zone.clone());
        let next = self.cron.find_next_occurrence(&now, false).ok()?;
        Some(next.timestamp().as_microsecond())
    }
}

impl fmt::Display for Timetable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.pattern, self.zone_name)
    }
}

#[cfg(test)]
mod tests {
    use time::OffsetDateTime;
    use time::macros::datetime;

    use super::*;

    fn next(pattern: &str, zone: &str, after: OffsetDateTime) -> OffsetDateTime {
        let after_us = after.unix_timestamp() * 1_000_000;
        let next_us = Timetable::parse(pattern, zone).unwrap().next_after(after_us).unwrap();
        OffsetDateTime::from_unix_timestamp(next_us / 1_000_000).unwrap()
    }

    #[test]
    fn a_time_comes_each_day_in_utc_or_in_a_zone() {
        let noon = datetime!(2026-11-20 12:00 UTC);
        assert_eq!(next("0 0 3 * * *", UTC, noon), datetime!(2026-11-21 03:00 UTC));
        assert_eq!(next("0 3 * * *", UTC, noon), datetime!(2026-11-21 03:00 UTC));
        assert_eq!(next("0 0 3 * * *", "Europe/Berlin", noon), datetime!(2026-11-21 02:00 UTC));
        assert_eq!(next("0 0 12 * * *", UTC, noon), datetime!(2026-11-21 12:00 UTC));
    }

    #[test]
    fn a_fixed_time_comes_once_on_the_days_when_clocks_change() {
        // In Berlin, 02:30 doesn't exist on 29 March 2026 and comes twice on 25 October 2026.
        let before = datetime!(2026-03-28 12:00 UTC);
        let gap = next("0 30 2 * * *", "Europe/Berlin", before);
        assert_eq!(gap, datetime!(2026-03-29 01:00 UTC));
        assert_eq!(next("0 30 2 * * *", "Europe/Berlin", gap), datetime!(2026-03-30 00:30 UTC));
        let fold = next("0 30 2 * * *", "Europe/Berlin", datetime!(2026-10-24 12:00 UTC));
        assert_eq!(fold, datetime!(2026-10-25 00:30 UTC));
        assert_eq!(next("0 30 2 * * *", "Europe/Berlin", fold), datetime!(2026-10-26 01:30 UTC));
    }

    #[test]
    fn what_can_not_be_read_is_told_with_what_to_write() {
        let wrong = |pattern, zone| Timetable::parse(pattern, zone).err().unwrap();
        assert!(wrong("every day", UTC).contains("write six fields"));
        assert!(wrong("0 0 3 * * * 2027", UTC).contains("write six fields"));
        assert!(wrong("0 0 3 * * *", "Mars/Olympus").contains("Europe/Berlin"));
        assert!(wrong("0 0 3 30 2 *", UTC).contains("never comes"));
    }
}
