//! How long a record may stay in a state: spans of time, and the days of an organisation on which nobody works.
//!
//! Days are those of UTC. A term of working days ends at the time of day at which it began: one of a day that
//! begins on a Friday at noon ends on Monday at noon.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use svc_core::{Registry, Result};
use svc_data::Context;
use svc_settings::{ApplicationSetting, ApplicationSettings, SettingsRegistry as _};
use time::{Date, Month, OffsetDateTime, Weekday};

/// The setting that says which days of the week are free.
const WEEKEND: &str = "Workflows.Weekend";

/// The setting that says which other days are.
const HOLIDAYS: &str = "Workflows.Holidays";

/// What may be chosen for [`WEEKEND`], with the days.
const WEEKENDS: [(&str, &[Weekday]); 5] = [
    ("saturday-sunday", &[Weekday::Saturday, Weekday::Sunday]),
    ("friday-saturday", &[Weekday::Friday, Weekday::Saturday]),
    ("sunday", &[Weekday::Sunday]),
    ("friday", &[Weekday::Friday]),
    ("none", &[]),
];

const HOUR_US: i64 = 60 * 60 * 1_000_000;

/// The longest term, in days.
pub(crate) const MAX_DAYS: u32 = 3_650;

/// The most days that are gone through for the end of a term: a calendar without a working day ends it
/// there.
const MAX_STEPS: u32 = 3 * MAX_DAYS;

/// A span of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Term {
    /// So many hours, whatever day it is.
    Hours(u32),
    /// So many days of 24 hours.
    Days(u32),
    /// So many days on which the organisation works, as its settings `Workflows.Weekend` and
    /// `Workflows.Holidays` say.
    WorkingDays(u32),
}

impl Term {
    /// Whether it is neither nothing nor too long.
    pub(crate) fn is_sound(self) -> bool {
        match self {
            Self::Hours(count) => (1..=24 * MAX_DAYS).contains(&count),
            Self::Days(count) | Self::WorkingDays(count) => (1..=MAX_DAYS).contains(&count),
        }
    }
}

/// The days on which nobody works.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Calendar {
    weekend: Vec<Weekday>,
    days: BTreeSet<Date>,
    /// Days of each year.
    yearly: BTreeSet<(u8, u8)>,
}

impl Calendar {
    /// What the settings of an organisation say. Of the holidays, what is no day is left out.
    pub(crate) fn new(weekend: &str, holidays: &str) -> Self {
        let weekend = WEEKENDS.iter().find(|(name, _)| *name == weekend);
        let mut calendar = Self {
            weekend: weekend.map_or_else(Vec::new, |(_, days)| days.to_vec()),
            ..Self::default()
        };
        for day in holidays.split([',', ' ', '\r', '\n']).filter(|day| !day.is_empty()) {
            let numbers: Option<Vec<u16>> = day.split('-').map(|part| part.parse().ok()).collect();
            match numbers.as_deref() {
                Some([year, month, day]) => calendar.days.extend(date(*year, *month, *day)),
                // A leap year has every day.
                Some([month, day]) => {
                    let day = date(2_000, *month, *day);
                    calendar.yearly.extend(day.map(|day| (day.month().into(), day.day())));
                }
                _ => {}
            }
        }
        calendar
    }

    /// The calendar of the caller's organisation.
    pub(crate) async fn of(ctx: &Context) -> Result<Self> {
        let settings = ctx.app().service::<ApplicationSettings>()?;
        let weekend: String = settings.get(ctx, WEEKEND).await?;
        let holidays: String = settings.get(ctx, HOLIDAYS).await?;
        Ok(Self::new(&weekend, &holidays))
    }

    fn is_free(&self, day: Date) -> bool {
        self.weekend.contains(&day.weekday())
            || self.days.contains(&day)
            || self.yearly.contains(&(day.month().into(), day.day()))
    }

    /// When a term ends that begins at a time, in microseconds since 1970.
    pub(crate) fn end_us(&self, begins_us: i64, term: Term) -> i64 {
        let days = match term {
            Term::Hours(hours) => return begins_us + i64::from(hours) * HOUR_US,
            Term::Days(days) => i64::from(days),
            Term::WorkingDays(days) => self.working_days(begins_us, days),
        };
        begins_us + days * 24 * HOUR_US
    }

    /// In how many days so many working days are over.
    fn working_days(&self, begins_us: i64, count: u32) -> i64 {
        let begins = OffsetDateTime::from_unix_timestamp(begins_us.div_euclid(1_000_000));
        let mut day = begins.unwrap_or(OffsetDateTime::UNIX_EPOCH).date();
        let mut left = count;
        for gone in 0..i64::from(MAX_STEPS) {
            if left == 0 {
                return gone;
            }
            day = day.next_day().unwrap_or(Date::MAX);
            left -= u32::from(!self.is_free(day));
        }
        i64::from(MAX_STEPS)
    }
}

fn date(year: u16, month: u16, day: u16) -> Option<Date> {
    let month = Month::try_from(u8::try_from(month).ok()?).ok()?;
    Date::from_calendar_date(year.into(), month, u8::try_from(day).ok()?).ok()
}

/// The settings of organisations.
pub(crate) fn register(registry: &mut Registry) {
    let doc = "The days of the week that aren't working days, for deadlines in workflows.";
    let names = WEEKENDS.map(|(name, _)| name);
    registry.application_setting(ApplicationSetting::choice(WEEKEND, doc, &names, names[0]));
    let doc = "Other days that aren't working days, with commas or lines between: `2026-05-14` for \
               one, `12-25` for that of each year.";
    registry.application_setting(ApplicationSetting::text(HOLIDAYS, doc, 10_000, ""));
}

#[cfg(test)]
mod tests {
    use svc_core::micros;
    use time::macros::datetime;

    use super::*;

    fn end(calendar: &Calendar, begins: OffsetDateTime, term: Term) -> OffsetDateTime {
        let begins_us = micros::of_time(begins);
        let end_us = calendar.end_us(begins_us, term);
        micros::to_time(end_us)
    }

    #[test]
    fn free_days_are_passed_over() {
        let friday = datetime!(2026-12-18 12:30 UTC);
        let calendar = Calendar::new("saturday-sunday", "12-25, 2026-12-24\n13-01 nonsense 02-30");
        for (term, expected) in [
            (Term::Hours(30), datetime!(2026-12-19 18:30 UTC)),
            (Term::Days(2), datetime!(2026-12-20 12:30 UTC)),
            (Term::WorkingDays(1), datetime!(2026-12-21 12:30 UTC)),
            (Term::WorkingDays(3), datetime!(2026-12-23 12:30 UTC)),
            (Term::WorkingDays(4), datetime!(2026-12-28 12:30 UTC)),
        ] {
            assert_eq!(end(&calendar, friday, term), expected, "{term:?}");
        }
        let later = datetime!(2027-12-23 00:00 UTC);
        assert_eq!(end(&calendar, later, Term::WorkingDays(2)), datetime!(2027-12-27 00:00 UTC));
        let other = Calendar::new("friday-saturday", "");
        assert_eq!(end(&other, friday, Term::WorkingDays(1)), datetime!(2026-12-20 12:30 UTC));
        let none = Calendar::new("none", "");
        assert_eq!(end(&none, friday, Term::WorkingDays(1)), datetime!(2026-12-19 12:30 UTC));
    }

    #[test]
    fn a_year_without_a_working_day_ends() {
        let all: Vec<String> =
            (1..=12).flat_map(|month| (1..=31).map(move |day| format!("{month}-{day}"))).collect();
        let calendar = Calendar::new("none", &all.join(","));
        let begins = datetime!(2026-12-18 12:30 UTC);
        let ends = end(&calendar, begins, Term::WorkingDays(1));
        assert_eq!(ends - begins, time::Duration::days(i64::from(MAX_STEPS)));
    }

    #[test]
    fn of_what_people_write_each_day_counts_that_there_is() {
        let calendar = Calendar::new(
            "none",
            "2028-02-29,2-29 ,\r\n2027-02-29 2026-2-3 02-03-2026 0-1 1-0 --1 1-2-3-4 12-31",
        );
        let days = [(2_028, 2, 29), (2_032, 2, 29), (2_026, 2, 3), (1_999, 12, 31)];
        for (year, month, day) in days {
            assert!(calendar.is_free(date(year, month, day).unwrap()), "{year}-{month}-{day}");
        }
        assert_eq!(calendar.yearly, BTreeSet::from([(2, 29), (12, 31)]));
        assert_eq!(calendar.days.len(), 2);
        // A weekend that a later release had is none.
        assert_eq!(Calendar::new("thursday", ""), Calendar::new("none", ""));
    }

    #[test]
    fn the_time_of_day_stays_in_whatever_season_and_century() {
        let calendar = Calendar::new("saturday-sunday", "");
        // UTC has no summer; the last second of a day is of that day, before 1970 too.
        for (begins, ends) in [
            (datetime!(2026-03-27 23:59:59.999999 UTC), datetime!(2026-03-30 23:59:59.999999 UTC)),
            (datetime!(2026-10-23 00:00 UTC), datetime!(2026-10-26 00:00 UTC)),
            (datetime!(1969-12-31 23:59:59.5 UTC), datetime!(1970-01-01 23:59:59.5 UTC)),
            (datetime!(1969-12-26 00:00:00.000001 UTC), datetime!(1969-12-29 00:00:00.000001 UTC)),
        ] {
            assert_eq!(end(&calendar, begins, Term::WorkingDays(1)), ends, "{begins}");
        }
    }

    proptest::proptest! {
        /// A term ends on a working day, and so many working days are behind its first day.
        #[test]
        fn as_many_working_days_pass_as_were_named(
            begins_s in 0_i64..4_000_000_000,
            count in 1_u32..60,
            weekend in 0_usize..5,
            holidays in proptest::collection::vec((1_u16..13, 1_u16..32), 0..20),
        ) {
            let holidays: Vec<String> = holidays.iter().map(|(month, day)| format!("{month:02}-{day}")).collect();
            let calendar = Calendar::new(WEEKENDS[weekend].0, &holidays.join("\n"));
            let begins_us = begins_s * 1_000_000 + 7;
            let day_of = |us: i64| OffsetDateTime::from_unix_timestamp(us.div_euclid(1_000_000)).unwrap().date();
            let ends_us = calendar.end_us(begins_us, Term::WorkingDays(count));
            proptest::prop_assert_eq!((ends_us - begins_us) % (24 * HOUR_US), 0);
            proptest::prop_assert!(!calendar.is_free(day_of(ends_us)));
            let days = std::iter::successors(day_of(begins_us).next_day(), |day| day.next_day());
            let passed = days.take_while(|day| *day <= day_of(ends_us)).filter(|day| !calendar.is_free(*day));
            proptest::prop_assert_eq!(u32::try_from(passed.count()).unwrap(), count);
            // A day more never ends earlier, and no working day is shorter than a day.
            let more = calendar.end_us(begins_us, Term::WorkingDays(count + 1));
            proptest::prop_assert!(more >= ends_us + 24 * HOUR_US);
            proptest::prop_assert!(ends_us >= calendar.end_us(begins_us, Term::Days(count)));
        }
    }
}
