use std::time::Duration;

use svc_core::{Backoff, micros};

svc_core::settings_section! {
    /// How messages are handed to their handlers.
    pub struct EventsSettings in "Svc:Events" {
        /// Messages that a handler gets at once, at most.
        pub batch_size: u32 = 100, within(1..=1_000);
        /// Handlers that work at the same time on one node. SQLite has one writer, so there it
        /// is one.
        pub concurrency: u32 = 4, within(1..=64);
        /// How often the outbox looks for messages that no wake-up told of.
        pub poll_interval: Duration = seconds(5), within(milliseconds(100)..=minutes(10));
        /// Time for a handler's work on one batch; after it the work is undone and counts as
        /// failed.
        pub handler_timeout: Duration = seconds(60), within(seconds(1)..=hours(1));
        /// Attempts before a message is set aside as a dead letter, the first included.
        pub max_attempts: u32 = 15, within(1..=1_000);
        /// Delay after the first failure; it doubles with each further one.
        pub first_retry_delay: Duration = seconds(1), within(milliseconds(10)..=hours(1));
        /// Longest delay between two attempts.
        pub max_retry_delay: Duration = minutes(10), within(milliseconds(10)..=days(7));
    }
    validate: |settings, problems| {
        if settings.max_retry_delay < settings.first_retry_delay {
            problems.add("MaxRetryDelay", "at least `FirstRetryDelay`");
        }
    };
}

impl EventsSettings {
    /// The delays between attempts.
    #[must_use]
    pub fn backoff(&self) -> Backoff {
        Backoff { first: self.first_retry_delay, cap: self.max_retry_delay }
    }

    /// When a message that has failed `attempts` times at `now_us` is due again.
    pub(crate) fn next_attempt_us(&self, now_us: i64, attempts: u32) -> i64 {
        let delay = self.backoff().delay(attempts);
        now_us.saturating_add(micros::of_span(delay))
    }
}
