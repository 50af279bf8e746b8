//! When deliveries to one endpoint are tried, where that is other than the settings say.

use std::time::Duration;

use svc_core::FieldErrors;

use crate::backoff::RetryDelays;
use crate::settings::WebhooksSettings;

/// The most delays between attempts that an endpoint may list.
const MAX_DELAYS: usize = 30;

/// The shortest age at which a delivery is given up.
const MIN_EXPIRY_S: i32 = 60;

const DAY_S: i32 = 24 * 60 * 60;

/// An endpoint's own times, in seconds; what is none is as the settings say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "units stand last")]
pub(crate) struct Schedule {
    /// For one attempt.
    pub(crate) timeout_s: Option<i32>,
    /// The age at which a delivery is given up.
    pub(crate) expires_after_s: Option<i32>,
    /// Between attempts, one after the other; an empty list means a single attempt.
    pub(crate) delays_s: Option<Vec<i32>>,
}

impl Schedule {
    /// The time for one attempt, where it is shorter than the settings'.
    pub(crate) fn timeout(&self) -> Option<Duration> {
        self.timeout_s.map(seconds)
    }

    /// Attempts for each delivery, the first included.
    pub(crate) fn attempts(&self, settings: &WebhooksSettings) -> u32 {
        match &self.delays_s {
            Some(delays) => u32::try_from(delays.len()).unwrap_or(u32::MAX).saturating_add(1),
            None => settings.max_attempts,
        }
    }

    /// How long to wait after so many attempts, as [`RetryDelays::delay`] says.
    pub(crate) fn delay(
        &self,
        backoff: &RetryDelays,
        made: u32,
        retry_after: Option<Duration>,
        sample: f64,
    ) -> Duration {
        let place = usize::try_from(made).unwrap_or(usize::MAX).saturating_sub(1);
        let own = self.delays_s.as_ref().and_then(|delays| delays.get(place));
        match own {
            Some(delay) => backoff.lengthened(seconds(*delay), retry_after, sample),
            None => backoff.delay(made, retry_after, sample),
        }
    }

    /// When a delivery that was queued at a time is given up, in microseconds.
    pub(crate) fn expires_us(&self, queued_us: i64) -> Option<i64> {
        let after = i64::from(self.expires_after_s?).saturating_mul(1_000_000);
        Some(queued_us.saturating_add(after))
    }

    /// Names each field that is out of its bounds.
    pub(crate) fn check(&self, settings: &WebhooksSettings) -> FieldErrors {
        let mut errors = FieldErrors::new();
        let mut refuse = |field: String, message: String| {
            errors.entry(field).or_default().push(message);
        };
        let whole = |span: Duration| i32::try_from(span.as_secs()).unwrap_or(i32::MAX).max(1);
        let longest = whole(settings.timeout);
        if self.timeout_s.is_some_and(|own| !(1..=longest).contains(&own)) {
            let expected = format!(
                "must be from 1 to {longest}, the seconds of `Svc:Webhooks:Timeout`, or null for these"
            );
            refuse("timeoutSeconds".to_owned(), expected);
        }
        let kept = i32::try_from(settings.log_retention_days).unwrap_or(i32::MAX);
        let oldest = kept.saturating_mul(DAY_S);
        if self.expires_after_s.is_some_and(|own| !(MIN_EXPIRY_S..=oldest).contains(&own)) {
            let expected = format!(
                "must be from {MIN_EXPIRY_S} to {oldest}, the seconds of `Svc:Webhooks:LogRetentionDays`, \
                 or null for never"
            );
            refuse("expiresAfterSeconds".to_owned(), expected);
        }
        let delays = self.delays_s.as_deref().unwrap_or_default();
        if delays.len() > MAX_DELAYS {
            refuse(
                "retryDelaysSeconds".to_owned(),
                format!("must have at most {MAX_DELAYS} delays"),
            );
        }
        let cap = whole(settings.max_retry_delay);
        for (index, delay) in delays.iter().take(MAX_DELAYS).enumerate() {
            if !(1..=cap).contains(delay) {
                let expected =
                    format!("must be from 1 to {cap}, the seconds of `Svc:Webhooks:MaxRetryDelay`");
                refuse(format!("retryDelaysSeconds[{index}]"), expected);
            }
        }
        errors
    }
}

fn seconds(count: i32) -> Duration {
    Duration::from_secs(u64::try_from(count).unwrap_or(0))
}

/// The delays as they are stored.
pub(crate) fn written(delays_s: &[i32]) -> String {
    serde_json::to_string(delays_s).unwrap_or_default()
}

/// Reads what [`written`] wrote.
pub(crate) fn read(text: &str) -> Vec<i32> {
    serde_json::from_str(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_delays_take_the_place_of_the_doubling_ones() {
        let backoff = RetryDelays::default();
        let own = Schedule { delays_s: Some(vec![5, 3_600]), ..Schedule::default() };
        let delay = |made, asked: Option<u64>| {
            own.delay(&backoff, made, asked.map(Duration::from_secs), 0.0).as_secs()
        };
        assert_eq!([delay(1, None), delay(2, None)], [5, 3_600]);
        assert_eq!([delay(1, Some(60)), delay(1, Some(1_000_000))], [60, 21_600], "up to the cap");
        let plain = Schedule::default();
        assert_eq!(plain.delay(&backoff, 2, None, 0.0).as_secs(), 60);
    }

    #[test]
    fn delays_are_stored_as_they_were_given() {
        for delays in [vec![], vec![7], vec![1, 2, 3]] {
            assert_eq!(read(&written(&delays)), delays);
        }
    }

    #[test]
    fn a_delivery_expires_by_its_age() {
        let schedule = Schedule { expires_after_s: Some(60), ..Schedule::default() };
        assert_eq!(schedule.expires_us(5), Some(60_000_005));
        assert_eq!(Schedule::default().expires_us(5), None);
    }
}
