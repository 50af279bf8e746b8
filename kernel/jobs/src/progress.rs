use std::sync::Arc;

use parking_lot::Mutex;
use serde::Serialize;
use tokio::sync::Notify;

/// How far a job is, as it says itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Progress {
    /// From 0 to 100; none where the job can't tell.
    pub percent: Option<u8>,
    /// What the job is doing, for a person.
    pub message: Option<String>,
}

/// What a handler last said of its progress, until the runner stores it.
///
/// A handler may say it within a unit of work, when on SQLite it holds the only connection that
/// writes, so saying it must never wait for the database.
#[derive(Clone)]
pub(crate) struct ProgressCell {
    latest: Arc<Mutex<Option<Progress>>>,
    told: Arc<Notify>,
}

impl ProgressCell {
    pub(crate) fn new(told: Arc<Notify>) -> Self {
        Self { latest: Arc::default(), told }
    }

    pub(crate) fn tell(&self, progress: Progress) {
        *self.latest.lock() = Some(progress);
        self.told.notify_one();
    }

    /// What has been said since this was last asked.
    pub(crate) fn take(&self) -> Option<Progress> {
        self.latest.lock().take()
    }
}
