use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// What became of the attempts of one kind of job on this node since it started.
#[derive(Default)]
pub(crate) struct Counters {
    finished: AtomicU64,
    failed: AtomicU64,
    dead: AtomicU64,
    cancelled: AtomicU64,
    busy_us: AtomicU64,
}

/// What became of an attempt.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Counted {
    Finished,
    Failed,
    Dead,
    Cancelled,
}

impl Counters {
    pub(crate) fn count(&self, what: Counted, took: Duration) {
        let counter = match what {
            Counted::Finished => &self.finished,
            Counted::Failed => &self.failed,
            Counted::Dead => &self.dead,
            Counted::Cancelled => &self.cancelled,
        };
        counter.fetch_add(1, Ordering::Relaxed);
        let took_us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.busy_us.fetch_add(took_us, Ordering::Relaxed);
    }

    pub(crate) fn read(&self, kind: &'static str) -> KindCounters {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        KindCounters {
            kind,
            finished: read(&self.finished),
            failed: read(&self.failed),
            dead: read(&self.dead),
            cancelled: read(&self.cancelled),
            busy: Duration::from_micros(read(&self.busy_us)),
        }
    }
}

/// What became of the attempts of one kind of job on this node since it started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KindCounters {
    /// The kind.
    pub kind: &'static str,
    /// Attempts that finished the job.
    pub finished: u64,
    /// Attempts that failed and are made again.
    pub failed: u64,
    /// Attempts that failed for good.
    pub dead: u64,
    /// Attempts that ended because the job was cancelled.
    pub cancelled: u64,
    /// The time that all these attempts took together.
    pub busy: Duration,
}
