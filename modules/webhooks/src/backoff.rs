//! When a failed delivery is tried again.
//!
//! The delay doubles from `FirstRetryDelay` with every attempt made, up to `MaxRetryDelay`. A
//! receiver's `Retry-After` and the optional jitter only ever lengthen it, and nothing exceeds
//! the cap.

use std::time::Duration;

use http::{HeaderMap, StatusCode, header};
use time::OffsetDateTime;

/// The delays between the attempts of one delivery.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RetryDelays {
    /// Delay after the first failed attempt.
    pub first_retry_delay: Duration,
    /// No delay is longer than this.
    pub max_retry_delay: Duration,
    /// Largest part of a delay that jitter adds to it: `0.0` adds nothing, `0.5` up to a half.
    pub jitter: f64,
}

impl Default for RetryDelays {
    /// 30 seconds, doubling up to 6 hours, exactly.
    fn default() -> Self {
        Self {
            first_retry_delay: Duration::from_secs(30),
            max_retry_delay: Duration::from_hours(6),
            jitter: 0.0,
        }
    }
}

impl RetryDelays {
    /// How long to wait after `attempts_made` attempts (1 after the first one).
    ///
    /// `retry_after` is what the receiver asked for, see [`retry_after`]. `sample` is a random
    /// number from 0 to 1 that picks the jitter; without jitter it changes nothing.
    #[must_use]
    pub fn delay(
        &self,
        attempts_made: u32,
        retry_after: Option<Duration>,
        sample: f64,
    ) -> Duration {
        let doublings = attempts_made.saturating_sub(1);
        let doubled = 1_u32
            .checked_shl(doublings)
            .and_then(|factor| self.first_retry_delay.checked_mul(factor))
            .unwrap_or(Duration::MAX);
        self.lengthened(doubled, retry_after, sample)
    }

    /// A delay with what the receiver asks for and jitter add to it, up to the longest one.
    #[must_use]
    pub fn lengthened(
        &self,
        delay: Duration,
        retry_after: Option<Duration>,
        sample: f64,
    ) -> Duration {
        let wanted = delay.max(retry_after.unwrap_or_default()).min(self.max_retry_delay);
        (wanted.saturating_add(self.jitter_of(wanted, sample))).min(self.max_retry_delay)
    }

    fn jitter_of(&self, delay: Duration, sample: f64) -> Duration {
        let seconds = delay.as_secs_f64() * self.jitter * sample.clamp(0.0, 1.0);
        // What is negative or not a number adds nothing, so that jitter can never shorten.
        Duration::try_from_secs_f64(seconds).unwrap_or_default()
    }
}

/// The delay that a receiver asks for: `Retry-After` of a 429 or 503 answer (RFC 9110, 10.2.3).
///
/// Other statuses, an unreadable value, and a date that has passed give nothing.
#[must_use]
pub fn retry_after(
    status: StatusCode,
    headers: &HeaderMap,
    now: OffsetDateTime,
) -> Option<Duration> {
    if !matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) {
        return None;
    }
    parse_retry_after(headers.get(header::RETRY_AFTER)?.to_str().ok()?, now)
}

fn parse_retry_after(value: &str, now: OffsetDateTime) -> Option<Duration> {
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        // More digits than a number holds still means "very long"; the cap does the rest.
        return Some(Duration::from_secs(value.parse().unwrap_or(u64::MAX)));
    }
    let until = OffsetDateTime::from(httpdate::parse_http_date(value).ok()?);
    Duration::try_from(until - now).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use time::macros::datetime;

    use super::*;

    const NOW: OffsetDateTime = datetime!(2026-11-20 12:00:00 UTC);

    #[test]
    fn delays_double_from_the_first_and_stop_at_the_cap() {
        let backoff = RetryDelays::default();
        let delays: Vec<u64> =
            (1..=5).map(|attempts| backoff.delay(attempts, None, 0.0).as_secs()).collect();
        assert_eq!(delays, [30, 60, 120, 240, 480]);
        for (attempts, seconds) in [(0, 30), (10, 15_360), (11, 21_600), (33, 21_600)] {
            assert_eq!(backoff.delay(attempts, None, 0.0).as_secs(), seconds, "{attempts}");
        }
        assert_eq!(backoff.delay(u32::MAX, None, 0.0), backoff.max_retry_delay);
    }

    #[test]
    fn a_first_delay_above_the_cap_is_cut_to_it() {
        let backoff =
            RetryDelays { max_retry_delay: Duration::from_secs(10), ..RetryDelays::default() };
        assert_eq!(backoff.delay(1, None, 0.0), Duration::from_secs(10));
    }

    #[test]
    fn retry_after_lengthens_and_never_shortens() {
        let backoff = RetryDelays::default();
        let delay = |seconds| backoff.delay(2, Some(Duration::from_secs(seconds)), 0.0).as_secs();
        assert_eq!([delay(0), delay(59), delay(61), delay(u64::MAX)], [60, 60, 61, 21_600]);
    }

    #[test]
    fn retry_after_is_read_as_seconds_and_as_every_form_of_date() {
        for (value, expected) in [
            ("0", Some(0)),
            ("120", Some(120)),
            (" 120 ", Some(120)),
            ("99999999999999999999999", Some(u64::MAX)),
            ("Fri, 20 Nov 2026 12:01:30 GMT", Some(90)),
            ("Friday, 20-Nov-26 12:01:30 GMT", Some(90)),
            ("Fri Nov 20 12:01:30 2026", Some(90)),
            ("Fri, 20 Nov 2026 11:59:59 GMT", None),
            ("", None),
            ("-1", None),
            ("+5", None),
            ("1.5", None),
            ("soon", None),
            ("0x10", None),
        ] {
            let read = parse_retry_after(value, NOW).map(|delay| delay.as_secs());
            assert_eq!(read, expected, "{value}");
        }
    }

    #[test]
    fn only_too_many_requests_and_unavailable_carry_a_retry_after() {
        let headers = HeaderMap::from_iter([(header::RETRY_AFTER, "7".parse().unwrap())]);
        for (status, expected) in [(429, Some(7)), (503, Some(7)), (500, None), (302, None)] {
            let read = retry_after(StatusCode::from_u16(status).unwrap(), &headers, NOW);
            assert_eq!(read.map(|delay| delay.as_secs()), expected, "{status}");
        }
        assert_eq!(retry_after(StatusCode::TOO_MANY_REQUESTS, &HeaderMap::new(), NOW), None);
    }

    proptest! {
        #[test]
        fn jitter_only_lengthens_and_the_cap_holds(
            attempts in 0_u32..100,
            jitter in proptest::num::f64::ANY,
            sample in proptest::num::f64::ANY,
            asked in proptest::option::of(0_u64..100_000),
        ) {
            let plain = RetryDelays::default();
            let jittered = RetryDelays { jitter, ..plain };
            let asked = asked.map(Duration::from_secs);
            let delay = jittered.delay(attempts, asked, sample);
            prop_assert!(delay >= plain.delay(attempts, asked, 0.0));
            prop_assert!(delay <= plain.max_retry_delay);
        }
    }
}
