use crate::micros;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use time::OffsetDateTime;
use tokio::sync::watch;
use uuid::{ContextV7, Timestamp, Uuid};

/// The application's only source of time, and of the identifiers that carry a time.
///
/// Everything that waits, expires, retries or is scheduled asks this clock, so that a test can
/// move an application by hours ([`Clock::advance`]). On PostgreSQL the clock follows the
/// database's ([`Clock::follow`]), so that nodes agree on what is due.
///
/// Times are in UTC and have microseconds, as both databases store them.
#[derive(Clone)]
pub struct Clock(Arc<Inner>);

struct Inner {
    source: Source,
    ids: Mutex<ContextV7>,
}

enum Source {
    /// The machine's clock. Once it follows another, it counts on from what that showed, and no step
    /// of the machine's own moves it.
    System {
        start: Instant,
        /// What the followed clock showed at `start`; [`ALONE`] where none is followed.
        at_start_us: AtomicI64,
    },
    /// A clock that stands still until it is moved; the value is Unix time in microseconds.
    Manual { now_us: watch::Sender<i64> },
}

/// In place of a time: no clock is followed.
const ALONE: i64 = i64::MIN;

impl Clock {
    /// The machine's clock.
    #[must_use]
    pub fn system() -> Self {
        let at_start_us = AtomicI64::new(ALONE);
        Self::new(Source::System { start: Instant::now(), at_start_us })
    }

    /// A clock that shows `start` until [`Clock::advance`] moves it.
    #[must_use]
    pub fn manual(start: OffsetDateTime) -> Self {
        Self::new(Source::Manual { now_us: watch::Sender::new(micros::of_time(start)) })
    }

    fn new(source: Source) -> Self {
        Self(Arc::new(Inner { source, ids: Mutex::new(ContextV7::new()) }))
    }

    /// The time, in UTC, in whole microseconds.
    #[must_use]
    pub fn now(&self) -> OffsetDateTime {
        micros::to_time(self.now_us())
    }

    /// The time as Unix time in microseconds: the form in which queues store what is due.
    #[must_use]
    pub fn now_us(&self) -> i64 {
        match &self.0.source {
            Source::System { start, at_start_us } => match at_start_us.load(Ordering::Relaxed) {
                ALONE => machine_us(),
                at_start_us => at_start_us.saturating_add(micros::of_span(start.elapsed())),
            },
            Source::Manual { now_us } => *now_us.borrow(),
        }
    }

    /// A new identifier: a UUIDv7 (RFC 9562) that sorts after the ones before it.
    #[must_use]
    pub fn new_id(&self) -> Uuid {
        let micros = self.now_us();
        let seconds = u64::try_from(micros.div_euclid(1_000_000)).unwrap_or(0);
        let nanos = u32::try_from(micros.rem_euclid(1_000_000) * 1_000).unwrap_or(0);
        let context = self.0.ids.lock();
        Uuid::new_v7(Timestamp::from_unix(&*context, seconds, nanos))
    }

    /// Whether the clock is moved by hand.
    #[must_use]
    pub fn is_manual(&self) -> bool {
        matches!(self.0.source, Source::Manual { .. })
    }

    /// Moves a manual clock forward and wakes all who wait for a time that has come.
    ///
    /// # Panics
    ///
    /// On the machine's clock: only a test that made its clock may move it.
    pub fn advance(&self, by: Duration) {
        let Source::Manual { now_us } = &self.0.source else {
            panic!("only a clock made by `Clock::manual` can be moved");
        };
        let by = micros::of_span(by);
        now_us.send_modify(|now| *now = now.saturating_add(by));
    }

    /// Makes the clock show what another shows at this moment, and count on from there; a manual clock
    /// ignores it.
    pub fn follow(&self, now: OffsetDateTime) {
        if let Source::System { start, at_start_us } = &self.0.source {
            let at_start = micros::of_time(now).saturating_sub(micros::of_span(start.elapsed()));
            at_start_us.store(at_start, Ordering::Relaxed);
        }
    }

    /// Waits until the clock shows `time` or later.
    pub async fn sleep_until(&self, time: OffsetDateTime) {
        let due = micros::of_time(time);
        match &self.0.source {
            Source::System { .. } => loop {
                let left = due - self.now_us();
                if left <= 0 {
                    return;
                }
                let left = u64::try_from(left).unwrap_or(0);
                // The followed clock may be set while we wait, so look again at least every minute.
                tokio::time::sleep(Duration::from_micros(left).min(Duration::from_mins(1))).await;
            },
            Source::Manual { now_us } => {
                let mut changes = now_us.subscribe();
                // The sender lives in `self`, so the channel can't close while we wait.
                let _ = changes.wait_for(|now| *now >= due).await;
            }
        }
    }

    /// Waits for a span of the clock's time.
    pub async fn sleep(&self, span: Duration) {
        self.sleep_until(self.now() + span).await;
    }
}

impl std::fmt::Debug for Clock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Clock({})", self.now())
    }
}

#[expect(clippy::disallowed_methods, reason = "the one place that reads the machine's clock")]
fn machine_us() -> i64 {
    micros::of_time(OffsetDateTime::now_utc())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_sort_in_the_order_they_were_made() {
        let clock = Clock::manual(OffsetDateTime::UNIX_EPOCH + Duration::from_secs(1_000));
        let ids: Vec<Uuid> = (0..1_000).map(|_| clock.new_id()).collect();
        assert!(ids.is_sorted());
        assert_eq!(ids[0].get_version_num(), 7);
    }

    #[test]
    fn identifiers_of_several_threads_are_all_different() {
        // The clock stands still: nothing but a counter tells them apart.
        let clock = Clock::manual(OffsetDateTime::UNIX_EPOCH);
        let several = || (0..5_000).map(|_| clock.new_id()).collect::<Vec<Uuid>>();
        let made: Vec<Vec<Uuid>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(several)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(made.iter().all(|ids| ids.is_sorted()));
        let all: std::collections::HashSet<Uuid> = made.into_iter().flatten().collect();
        assert_eq!(all.len(), 20_000);
    }

    #[test]
    fn times_have_whole_microseconds_also_before_1970() {
        for (nanos, micros) in [(0, 0), (999, 0), (1_000, 1), (-1, -1), (-1_000, -1), (-1_001, -2)]
        {
            let start = OffsetDateTime::UNIX_EPOCH + time::Duration::nanoseconds(nanos);
            let clock = Clock::manual(start);
            assert_eq!(clock.now_us(), micros, "{nanos}");
            assert_eq!(
                clock.now(),
                OffsetDateTime::UNIX_EPOCH + time::Duration::microseconds(micros)
            );
            // An identifier's time can't lie before 1970.
            assert_eq!(clock.new_id().get_version_num(), 7);
        }
    }

    #[test]
    fn a_clock_that_follows_another_counts_on_from_what_that_showed() {
        let clock = Clock::system();
        let long_ago = OffsetDateTime::UNIX_EPOCH + Duration::from_secs(1_000);
        clock.follow(long_ago);
        let shown = clock.now() - long_ago;
        assert!(shown >= time::Duration::ZERO && shown < time::Duration::minutes(1), "{shown}");
        clock.follow(long_ago + Duration::from_hours(1));
        assert!(clock.now() - long_ago >= time::Duration::hours(1));
    }

    #[tokio::test]
    async fn who_waits_wakes_when_a_manual_clock_passes_the_time() {
        let clock = Clock::manual(OffsetDateTime::UNIX_EPOCH);
        let waiting = tokio::spawn({
            let clock = clock.clone();
            async move { clock.sleep(Duration::from_hours(1)).await }
        });
        tokio::task::yield_now().await;
        clock.advance(Duration::from_secs(3_599));
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        clock.advance(Duration::from_secs(1));
        waiting.await.unwrap();
    }
}
