//! What an organisation used of its limits, and what that leaves.
//!
//! Requests keep the pace of [`Pace`], as those of an endpoint do. Bytes fill a bucket that holds those of a day
//! and runs out evenly over a day: so there is no midnight at which all begins anew, nobody's time
//! zone counts, and what waits goes on step by step, not all at once a day later. A day and not a second,
//! since what a body may weigh times requests in a second bounds the second already, and traffic is paid for by
//! the month.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::limits::Limits;
use crate::pace::Pace;

const MINUTE_US: i64 = 60_000_000;
const DAY_US: i64 = 24 * 60 * MINUTE_US;

/// From how many percent on a limit is near.
const NEAR: i64 = 80;

/// How far apart those go on that wait for bytes alone, in microseconds.
const STEP_US: i64 = 50_000;

/// One of the limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    Endpoints,
    PerSecond,
    BytesPerDay,
}

impl Limit {
    /// The name, as in JSON.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Endpoints => "endpoints",
            Self::PerSecond => "perSecond",
            Self::BytesPerDay => "bytesPerDay",
        }
    }
}

/// When a limit was last near, and reached; in microseconds, zero for never.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Marks {
    pub(crate) near_us: i64,
    pub(crate) reached_us: i64,
}

impl Marks {
    /// Notes that so much of the limit is used; answers with the percentage that is to be told: one that
    /// it wasn't at for a day.
    fn note(&mut self, percent: i64, now_us: i64) -> Option<i64> {
        if percent < NEAR {
            return None;
        }
        let was_long_ago = |last_us: i64| last_us == 0 || now_us - last_us > DAY_US;
        let is_reached = percent >= 100;
        let last_us = if is_reached { self.reached_us } else { self.near_us };
        self.near_us = now_us;
        if is_reached {
            self.reached_us = now_us;
        }
        was_long_ago(last_us).then_some(if is_reached { 100 } else { NEAR })
    }
}

/// The marks of all limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Reached {
    pub(crate) endpoints: Marks,
    pub(crate) per_second: Marks,
    pub(crate) bytes_per_day: Marks,
}

/// What an organisation used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Allowance {
    /// When its next request may begin.
    pub(crate) next_us: i64,
    /// The endpoint whose turn was last.
    pub(crate) at_endpoint: Uuid,
    /// The minute in which requests were last counted, and their number.
    pub(crate) minute: i64,
    pub(crate) begun: i64,
    /// Bytes that counted at a time.
    pub(crate) bytes: i64,
    pub(crate) bytes_us: i64,
    pub(crate) reached: Reached,
}

impl Allowance {
    /// How many requests may begin now.
    pub(crate) fn allowed(&self, limits: &Limits, now_us: i64) -> usize {
        if self.bytes_ready_us(limits) > now_us {
            return 0;
        }
        let pace = limits.per_second.and_then(Pace::new);
        pace.map_or(usize::MAX, |pace| pace.allowed(self.next_us, now_us))
    }

    /// From when on it is worth claiming.
    pub(crate) fn ready_us(&self, limits: &Limits) -> i64 {
        let pace = limits.per_second.and_then(Pace::new);
        let pace_us = pace.map_or(i64::MIN, |pace| pace.ready_us(self.next_us));
        pace_us.max(self.bytes_ready_us(limits))
    }

    /// When to look at the one that so many are before: when its turn comes, and after a minute at the
    /// latest, since the limit may be another by then.
    pub(crate) fn turn_us(&self, limits: &Limits, now_us: i64, before: usize) -> i64 {
        let before = i64::try_from(before).unwrap_or(i64::MAX);
        let ready_us = self.bytes_ready_us(limits);
        let turn_us = match limits.per_second.and_then(Pace::new) {
            Some(pace) => pace.turn_us(self.next_us, before).max(ready_us),
            None => ready_us.saturating_add(before.saturating_mul(STEP_US)),
        };
        turn_us.min(now_us.saturating_add(MINUTE_US))
    }

    /// Counts requests that begin now; answers with what is to be told of the limit. `has_waited` says
    /// that one of them could have begun before, were it not for the limit.
    pub(crate) fn begin(
        &mut self,
        limits: &Limits,
        now_us: i64,
        count: usize,
        has_waited: bool,
    ) -> Option<i64> {
        let most = limits.per_second?;
        if let Some(pace) = Pace::new(most) {
            self.next_us = pace.after(self.next_us, now_us, count);
        }
        let minute = now_us.div_euclid(MINUTE_US);
        if std::mem::replace(&mut self.minute, minute) != minute {
            self.begun = 0;
        }
        self.begun = self.begun.saturating_add(i64::try_from(count).unwrap_or(i64::MAX));
        let percent = if has_waited { 100 } else { self.percent_of_minute(most, now_us) };
        self.reached.per_second.note(percent, now_us)
    }

    /// Counts bytes that were sent; answers with what is to be told of the limit.
    pub(crate) fn send(&mut self, limits: &Limits, now_us: i64, bytes: i64) -> Option<i64> {
        let most = limits.bytes_per_day?;
        self.bytes = self.bytes_used(most, now_us).saturating_add(bytes);
        self.bytes_us = now_us;
        self.reached.bytes_per_day.note(percent(self.bytes, most), now_us)
    }

    /// Notes how many endpoints there are; answers with what is to be told of the limit.
    pub(crate) fn have(&mut self, limits: &Limits, now_us: i64, endpoints: i64) -> Option<i64> {
        self.reached.endpoints.note(percent(endpoints, limits.endpoints), now_us)
    }

    /// The bytes that count now.
    pub(crate) fn bytes_used(&self, most: i64, now_us: i64) -> i64 {
        let elapsed = i128::from(now_us.saturating_sub(self.bytes_us).max(0));
        let back = elapsed * i128::from(most) / i128::from(DAY_US);
        i64::try_from(i128::from(self.bytes) - back).unwrap_or(0).max(0)
    }

    /// How much of a minute's requests began in the present one, in percent; of one in which something
    /// had to wait, all.
    pub(crate) fn percent_of_minute(&self, most: i32, now_us: i64) -> i64 {
        let minute = now_us.div_euclid(MINUTE_US);
        if self.reached.per_second.reached_us.div_euclid(MINUTE_US) == minute {
            return 100;
        }
        let begun = if self.minute == minute { self.begun } else { 0 };
        percent(begun, i64::from(most) * 60)
    }

    /// When there is room for bytes.
    fn bytes_ready_us(&self, limits: &Limits) -> i64 {
        let Some(most) = limits.bytes_per_day.filter(|most| *most <= self.bytes) else {
            return i64::MIN;
        };
        let over = i128::from(self.bytes - most) + 1;
        let most = i128::from(most.max(1));
        let wait = (over * i128::from(DAY_US) + most - 1) / most;
        self.bytes_us.saturating_add(i64::try_from(wait).unwrap_or(i64::MAX))
    }
}

/// A part of a whole in percent.
pub(crate) fn percent(part: i64, whole: i64) -> i64 {
    let percent = i128::from(part) * 100 / i128::from(whole.max(1));
    i64::try_from(percent).unwrap_or(i64::MAX)
}

/// How many each of several gets of what may begin, evenly; each wants so many.
pub(crate) fn share(allowed: usize, wanted: &[usize]) -> Vec<usize> {
    let mut left = allowed;
    let one = |(place, count): (usize, &usize)| {
        let share = left.div_ceil(wanted.len() - place).min(*count);
        left -= share;
        share
    };
    wanted.iter().enumerate().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR_US: i64 = 60 * MINUTE_US;
    const NOW: i64 = 1_700_000_000_000_000;

    fn limits(per_second: Option<i32>, bytes_per_day: Option<i64>) -> Limits {
        Limits { endpoints: 10, per_second, bytes_per_day }
    }

    #[test]
    fn bytes_come_back_evenly_over_a_day() {
        let limits = limits(None, Some(24_000));
        let mut used = Allowance::default();
        assert_eq!(used.send(&limits, NOW, 19_000), None);
        assert_eq!(used.send(&limits, NOW, 1_000), Some(80));
        assert_eq!(used.send(&limits, NOW, 5_000), Some(100));
        assert_eq!((used.allowed(&limits, NOW), used.bytes_used(24_000, NOW)), (0, 25_000));
        assert_eq!(used.bytes_used(24_000, NOW + HOUR_US), 24_000);
        assert_eq!(used.allowed(&limits, NOW + HOUR_US), 0, "all of them are still a day's");
        let ready = used.ready_us(&limits);
        assert!(ready > NOW + HOUR_US && ready < NOW + HOUR_US + 5_000_000);
        assert_eq!(used.allowed(&limits, ready), usize::MAX);
        assert_eq!(used.send(&limits, ready, 1_000), None, "told once in a day");
        assert_eq!(used.bytes_used(24_000, NOW + 3 * 24 * HOUR_US), 0);
        assert_eq!(used.send(&limits, NOW + 3 * 24 * HOUR_US, 24_000), Some(100));
        let lower = Limits { bytes_per_day: Some(12_000), ..limits };
        assert_eq!(used.allowed(&lower, NOW + 3 * 24 * HOUR_US + 11 * HOUR_US), 0);
    }

    #[test]
    fn requests_keep_their_pace_and_say_when_much_of_a_minute_began() {
        let limits = limits(Some(2), None);
        let mut used = Allowance::default();
        let minute = NOW.div_euclid(MINUTE_US) * MINUTE_US;
        let mut told = Vec::new();
        for step in 0..110 {
            let now = minute + step * 500_000;
            assert_eq!(used.allowed(&limits, now), 1);
            told.extend(used.begin(&limits, now, 1, false));
            assert_eq!(used.allowed(&limits, now + 499_999), 0);
        }
        assert_eq!((told, used.percent_of_minute(2, minute)), (vec![80], 91));
        assert_eq!(used.begin(&limits, minute + MINUTE_US, 1, true), Some(100));
        assert_eq!(used.percent_of_minute(2, minute + MINUTE_US), 100);
        assert_eq!(used.percent_of_minute(2, minute + 2 * MINUTE_US), 0);
        let now = minute + MINUTE_US;
        assert_eq!(used.turn_us(&limits, now, 3), used.ready_us(&limits) + 1_500_000);
        assert_eq!(used.turn_us(&limits, now, 3_000), now + MINUTE_US);
    }

    #[test]
    fn what_may_begin_is_shared_evenly() {
        assert_eq!(share(3, &[16, 16, 16, 16]), [1, 1, 1, 0]);
        assert_eq!(share(10, &[1, 16, 16]), [1, 5, 4]);
        assert_eq!(share(usize::MAX, &[2, 3]), [2, 3]);
        assert_eq!(share(0, &[2, 3]), [0, 0]);
    }
}
