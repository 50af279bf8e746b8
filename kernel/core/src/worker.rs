use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::FutureExt as _;
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
    /// Any error ends this run; the supervisor logs it and starts the worker again.
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

/// Runs a worker until `stop`, and starts it again when it fails or panics.
///
/// The pauses are real time: they protect the machine, and no state of the application hangs on
/// them.
pub async fn supervise(worker: Arc<dyn Worker>, stop: CancellationToken) {
    let pauses = Backoff { first: Duration::from_millis(250), cap: Duration::from_secs(30) };
    let mut failures = 0;
    while !stop.is_cancelled() {
        let started = tokio::time::Instant::now();
        match AssertUnwindSafe(worker.run(stop.clone())).catch_unwind().await {
            Ok(Ok(())) => return,
            Ok(Err(error)) => {
                tracing::error!(worker = worker.name(), error = error.report(), "a worker failed");
            }
            Err(_) => tracing::error!(worker = worker.name(), "a worker panicked"),
        }
        failures = if started.elapsed() > pauses.cap { 1 } else { failures + 1 };
        tokio::select! {
            () = tokio::time::sleep(pauses.delay(failures)) => {}
            () = stop.cancelled() => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_up_to_the_cap() {
        let backoff = Backoff { first: Duration::from_secs(30), cap: Duration::from_mins(5) };
        let delays: Vec<u64> = (1..=6).map(|n| backoff.delay(n).as_secs()).collect();
        assert_eq!(delays, [30, 60, 120, 240, 300, 300]);
        assert_eq!(backoff.delay(u32::MAX).as_secs(), 300);
    }
}
