//! The pace of what limits its requests in a second: an endpoint, or an organisation.
//!
//! A request may begin every so many microseconds, and a few may begin together when none did for
//! a while: as few as a twentieth of the limit, so that a limit of a thousand costs twenty claims
//! in a second. No second, wherever it begins, sees more requests begin than the limit says.

/// How a limit is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pace {
    /// From one request to the next.
    interval_us: i64,
    /// How many may begin together.
    burst: i64,
}

impl Pace {
    /// The pace of a limit; none where it is no limit.
    pub(crate) fn new(max_per_second: i32) -> Option<Self> {
        let limit = i64::from(max_per_second);
        let burst = (limit / 20).max(1);
        // A burst and what follows it within the second make no more than the limit.
        (limit > 0).then(|| Self {
            interval_us: 1_000_000_u64.div_ceil(unsigned(limit - burst + 1)).cast_signed(),
            burst,
        })
    }

    /// From when on it is worth claiming: half of a burst may begin.
    pub(crate) fn ready_us(self, next_us: i64) -> i64 {
        next_us.saturating_add(self.burst / 2 * self.interval_us)
    }

    /// When the first of those that may begin now could have begun.
    fn first_us(self, next_us: i64, now_us: i64) -> i64 {
        next_us.max(now_us.saturating_sub((self.burst - 1) * self.interval_us))
    }

    /// From when on it is worth claiming for the one that so many are before, each with a request.
    pub(crate) fn turn_us(self, next_us: i64, before: i64) -> i64 {
        let begun_before = before - before % self.burst;
        self.ready_us(next_us).saturating_add(begun_before.saturating_mul(self.interval_us))
    }

    /// How many may begin now.
    pub(crate) fn allowed(self, next_us: i64, now_us: i64) -> usize {
        let first = self.first_us(next_us, now_us);
        let count = if first > now_us { 0 } else { (now_us - first) / self.interval_us + 1 };
        usize::try_from(count).unwrap_or_default()
    }

    /// When the next may begin, after so many do now.
    pub(crate) fn after(self, next_us: i64, now_us: i64, begun: usize) -> i64 {
        let begun = i64::try_from(begun).unwrap_or(i64::MAX);
        self.first_us(next_us, now_us).saturating_add(begun.saturating_mul(self.interval_us))
    }
}

fn unsigned(number: i64) -> u64 {
    number.max(1).unsigned_abs()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_low_limit_is_spread_evenly() {
        let pace = Pace::new(2).unwrap();
        let now = 1_000_000_000;
        assert_eq!(pace.allowed(0, now), 1);
        let next = pace.after(0, now, 1);
        assert_eq!((next, pace.allowed(next, now)), (now + 500_000, 0));
        assert_eq!(pace.allowed(next, now + 499_999), 0);
        assert_eq!(pace.allowed(next, now + 500_000), 1);
        assert_eq!(Pace::new(0), None);
    }

    proptest! {
        /// Whenever somebody claims, and however many it takes of what it may.
        #[test]
        fn no_second_sees_more_than_the_limit(
            limit in 1_i32..2_000,
            steps in proptest::collection::vec((0_i64..400_000, 0_usize..200), 1..60),
        ) {
            let pace = Pace::new(limit).unwrap();
            let (mut now, mut next) = (1_000_000_000, 0);
            let mut begun: Vec<(i64, usize)> = Vec::new();
            for (wait, wanted) in steps {
                now += wait;
                let count = pace.allowed(next, now).min(wanted);
                next = pace.after(next, now, count);
                begun.push((now, count));
                let second = begun.iter().filter(|(time, _)| *time > now - 1_000_000);
                let count: usize = second.map(|(_, count)| count).sum();
                prop_assert!(count <= usize::try_from(limit).unwrap(), "{count} of {limit}");
            }
        }

        /// Who claims whenever it is worth it gets most of what the limit allows.
        #[test]
        fn the_limit_is_nearly_reached(limit in 1_i32..2_000) {
            let pace = Pace::new(limit).unwrap();
            let (mut now, mut next, mut begun) = (1_000_000_000_i64, 0, 0);
            let end = now + 10_000_000;
            while now < end {
                let count = pace.allowed(next, now);
                begun += count;
                next = pace.after(next, now, count);
                now = pace.ready_us(next).max(now + 1);
            }
            let most = usize::try_from(limit).unwrap() * 10;
            prop_assert!(begun * 100 >= most * 93, "{begun} of {most}");
        }
    }
}
