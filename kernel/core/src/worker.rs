use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::FutureExt as _;
use parking_lot::{Mutex, MutexGuard};
use serde::Serialize;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::Result;

/// Work that goes on beside requests: a queue's consumer, a scheduler, a measurer.
///
/// A worker is started with the application and runs until `stop` is cancelled; then it finishes
/// or hands back what it has begun. One that fails or panics is started again after a pause, so
/// a worker keeps nothing in memory that its store doesn't also know.
#[async_trait]
pub trait Worker: Send + Sync + 'static {
    /// The name in logs and metrics, such as `outbox`.
    fn name(&self) -> &'static str;

    /// Works until `stop` is cancelled.
    ///
    /// # Errors
    ///
    /// Any error ends this run; the supervisor logs it and starts the worker again. A
    /// [transient](crate::Error::is_transient) one is an error in the log only when the next run ends with
    /// a fault, too.
    async fn run(&self, stop: CancellationToken) -> Result<()>;

    /// Does all that is due now, at the application's clock, and says how many pieces that was.
    /// Tests use it instead of [`Worker::run`] to move an application step by step.
    ///
    /// # Errors
    ///
    /// A fault of the store. The failure of a single piece is recorded with it instead.
    async fn drain(&self) -> Result<usize> {
        Ok(0)
    }
}

/// Delays between attempts that double from a first one up to a cap.
#[derive(Clone, Copy, Debug)]
pub struct Backoff {
    /// The delay after the first failure.
    pub first: Duration,
    /// The longest delay.
    pub cap: Duration,
}

impl Backoff {
    /// The delay after `failures` failures in a row (1 for the first).
    #[must_use]
    pub fn delay(&self, failures: u32) -> Duration {
        let doublings = failures.saturating_sub(1).min(31);
        self.first.saturating_mul(1 << doublings).min(self.cap)
    }
}

/// The pauses between the runs of a worker that fails. They are real time: they protect the
/// machine, and no state of the application hangs on them.
const PAUSES: Backoff = Backoff { first: Duration::from_millis(250), cap: Duration::from_secs(30) };

/// Where a worker stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum WorkerState {
    /// It works, or waits for work.
    Running,
    /// It failed or panicked, and has not run for half a minute without that since.
    Failing,
    /// It had nothing to do at all, or the application stops.
    Ended,
}

/// How a worker is doing, for those who operate the application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerStatus {
    /// The worker's name.
    pub name: &'static str,
    /// Where it stands.
    pub state: WorkerState,
    /// Runs that failed or panicked since the application started.
    pub failures: u64,
}

/// A worker that is started again when it fails or panics.
///
/// | Phase | Left when | For |
/// | --- | --- | --- |
/// | running | the run fails or panics | pausing |
/// | running | the run ends without a fault, which a stop asks for | ended |
/// | pausing | the pause is over | running |
/// | pausing | the application stops | ended |
pub(crate) struct Supervised {
    worker: Arc<dyn Worker>,
    course: Mutex<Course>,
}

struct Course {
    phase: Phase,
    failures: u64,
}

enum Phase {
    Running { since: Instant, after_failure: bool },
    Pausing,
    Ended,
}

impl Phase {
    fn state(&self, now: Instant) -> WorkerState {
        match *self {
            Self::Running { since, after_failure: true } if now - since < PAUSES.cap => {
                WorkerState::Failing
            }
            Self::Running { .. } => WorkerState::Running,
            Self::Pausing => WorkerState::Failing,
            Self::Ended => WorkerState::Ended,
        }
    }
}

impl Supervised {
    pub(crate) fn new(worker: Arc<dyn Worker>) -> Self {
        let phase = Phase::Running { since: Instant::now(), after_failure: false };
        Self { worker, course: Mutex::new(Course { phase, failures: 0 }) }
    }

    pub(crate) fn status(&self) -> WorkerStatus {
        let course = self.course();
        let state = course.phase.state(Instant::now());
        WorkerStatus { name: self.worker.name(), state, failures: course.failures }
    }

    /// Runs the worker until `stop`.
    pub(crate) async fn run(&self, stop: CancellationToken) {
        let worker = &self.worker;
        let mut in_a_row = 0;
        while !stop.is_cancelled() {
            let since = Instant::now();
            self.enter(Phase::Running { since, after_failure: in_a_row > 0 });
            let run = AssertUnwindSafe(worker.run(stop.clone())).catch_unwind().await;
            in_a_row = if since.elapsed() > PAUSES.cap { 1 } else { in_a_row + 1 };
            let name = worker.name();
            match run {
                Ok(Ok(())) => break,
                // As a rule the next run finds it gone: a turn to write that didn't come in time.
                Ok(Err(error)) if error.is_transient() && in_a_row == 1 => {
                    let error = error.report();
                    tracing::warn!(worker = name, error, "a worker failed, and begins again");
                }
                Ok(Err(error)) => {
                    tracing::error!(worker = name, error = error.report(), "a worker failed");
                }
                Err(_) => tracing::error!(worker = name, "a worker panicked"),
            }
            self.enter(Phase::Pausing);
            tokio::select! {
                () = tokio::time::sleep(PAUSES.delay(in_a_row)) => {}
                () = stop.cancelled() => break,
            }
        }
        self.enter(Phase::Ended);
    }

    fn enter(&self, phase: Phase) {
        let mut course = self.course();
        course.failures += u64::from(matches!(phase, Phase::Pausing));
        course.phase = phase;
    }

    fn course(&self) -> MutexGuard<'_, Course> {
        self.course.lock()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tracing::instrument::WithSubscriber as _;
    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Level, Metadata, Subscriber};

    use super::*;

    #[test]
    fn delays_double_up_to_the_cap() {
        let backoff = Backoff { first: Duration::from_secs(30), cap: Duration::from_mins(5) };
        let delays: Vec<u64> = (1..=6).map(|n| backoff.delay(n).as_secs()).collect();
        assert_eq!(delays, [30, 60, 120, 240, 300, 300]);
        assert_eq!(backoff.delay(u32::MAX).as_secs(), 300);
    }

    #[test]
    fn a_worker_counts_as_failing_until_it_has_run_for_a_while() {
        let since = Instant::now();
        let after = |seconds: u64| since + Duration::from_secs(seconds);
        let first = Phase::Running { since, after_failure: false };
        assert_eq!(first.state(since), WorkerState::Running);
        assert_eq!(Phase::Pausing.state(since), WorkerState::Failing);
        let again = Phase::Running { since, after_failure: true };
        assert_eq!(again.state(after(29)), WorkerState::Failing);
        assert_eq!(again.state(after(30)), WorkerState::Running);
        assert_eq!(Phase::Ended.state(after(30)), WorkerState::Ended);
    }

    /// Ends its first two runs with an error and a panic; then it has nothing to do.
    struct Moody(AtomicUsize);

    #[async_trait]
    impl Worker for Moody {
        fn name(&self) -> &'static str {
            "moody"
        }

        async fn run(&self, _stop: CancellationToken) -> Result<()> {
            match self.0.fetch_add(1, Ordering::SeqCst) {
                0 => Err(crate::Error::internal("told to fail")),
                1 => panic!("told to panic"),
                _ => Ok(()),
            }
        }
    }

    #[tokio::test]
    async fn runs_that_fail_or_panic_are_counted_and_followed_by_another() {
        let supervised = Supervised::new(Arc::new(Moody(AtomicUsize::new(0))));
        supervised.run(CancellationToken::new()).await;
        let expected = WorkerStatus { name: "moody", state: WorkerState::Ended, failures: 2 };
        assert_eq!(supervised.status(), expected);
    }

    /// Ends its runs as it is told; then it has nothing to do.
    struct Told(Mutex<Vec<Result<()>>>);

    #[async_trait]
    impl Worker for Told {
        fn name(&self) -> &'static str {
            "told"
        }

        async fn run(&self, _stop: CancellationToken) -> Result<()> {
            self.0.lock().pop().unwrap_or(Ok(()))
        }
    }

    /// Remembers of what levels events are.
    #[derive(Clone, Default)]
    struct Levels(Arc<Mutex<Vec<Level>>>);

    impl Subscriber for Levels {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }

        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }

        fn record(&self, _: &Id, _: &Record<'_>) {}

        fn record_follows_from(&self, _: &Id, _: &Id) {}

        fn event(&self, event: &Event<'_>) {
            let is_ours = event.metadata().target().ends_with("worker");
            self.0.lock().extend(is_ours.then(|| *event.metadata().level()));
        }

        fn enter(&self, _: &Id) {}

        fn exit(&self, _: &Id) {}
    }

    #[tokio::test]
    async fn a_fault_that_the_next_run_mends_is_no_error_in_the_log() {
        let busy = || Err(crate::Error::unavailable("the database is busy").transient());
        let broken = || Err(crate::Error::internal("told to fail"));
        let cases = [
            (vec![busy()], &[Level::WARN][..]),
            (vec![broken()], &[Level::ERROR]),
            // What goes on is one, whatever it began with.
            (vec![busy(), busy()], &[Level::WARN, Level::ERROR]),
            (vec![busy(), broken()], &[Level::WARN, Level::ERROR]),
            (vec![broken(), busy()], &[Level::ERROR, Level::ERROR]),
        ];
        // All at once, since a pause is real time.
        let cases = cases.into_iter().map(async |(mut runs, expected)| {
            runs.reverse();
            let levels = Levels::default();
            let supervised = Supervised::new(Arc::new(Told(Mutex::new(runs))));
            let run = supervised.run(CancellationToken::new());
            run.with_subscriber(levels.clone()).await;
            assert_eq!(*levels.0.lock(), expected);
        });
        futures::future::join_all(cases).await;
    }
}
