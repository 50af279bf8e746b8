use std::fmt;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use svc_core::{Backoff, Error, Result};
use uuid::Uuid;

/// A piece of background work: what it is called, and the data that it needs.
///
/// The data is stored as JSON and may be read by a newer release than the one that wrote it, so
/// it should be small and change as carefully as an API: identifiers rather than records.
///
/// ```
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize)]
/// struct DeliverReport {
///     month: String,
/// }
///
/// impl svc_jobs::Job for DeliverReport {
///     const NAME: &'static str = "reports.deliver";
/// }
/// ```
pub trait Job: Serialize + DeserializeOwned + Send + 'static {
    /// The stored name: the module, a dot, and the verb, in lower case. It must stay the same as
    /// long as such a job may wait in the queue of anybody.
    const NAME: &'static str;

    /// Attempts in all, the first included: 1 to 1,000.
    const MAX_ATTEMPTS: u32 = 10;

    /// The delays between attempts.
    const BACKOFF: Backoff =
        Backoff { first: Duration::from_secs(15), cap: Duration::from_hours(1) };

    /// How long one attempt may take, in real time; then it is broken off and has failed. None lets it
    /// take as long as it likes: one that hangs then keeps its place for ever.
    const TIMEOUT: Option<Duration> = Some(Duration::from_hours(1));
}

/// The identifier of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JobId(pub Uuid);

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<Uuid> for JobId {
    fn from(id: Uuid) -> Self {
        Self(id)
    }
}

/// Where a job stands. [The crate's documentation](crate#states) tells who moves it.
///
/// Jobs are stored by SQL alone and have no entity of SeaORM's, so no derive of it writes the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum JobState {
    /// Runs when its time comes; after a failure, when the back-off is over.
    Waiting,
    /// Runs on some node.
    Running,
    /// Has failed for good, and waits for a person to retry or discard it.
    Dead,
    /// Was cancelled before it finished.
    Cancelled,
    /// Has finished. Only a watched job is kept in this state, the others are deleted.
    Finished,
}

impl JobState {
    /// Every state.
    pub const ALL: [Self; 5] =
        [Self::Waiting, Self::Running, Self::Dead, Self::Cancelled, Self::Finished];

    /// The number under which the state is stored.
    pub(crate) const fn code(self) -> i16 {
        self as i16
    }

    pub(crate) fn from_code(code: i16) -> Result<Self> {
        let known = Self::ALL.into_iter().find(|state| state.code() == code);
        known.ok_or_else(|| Error::internal(format!("`{code}` isn't a state of a job")))
    }

    /// Whether nothing more happens to the job by itself.
    #[must_use]
    pub fn has_ended(self) -> bool {
        matches!(self, Self::Dead | Self::Cancelled | Self::Finished)
    }

    /// The name, as in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Dead => "dead",
            Self::Cancelled => "cancelled",
            Self::Finished => "finished",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stored_numbers_of_states_never_change() {
        let codes = JobState::ALL.map(JobState::code);
        assert_eq!(codes, [0, 1, 2, 3, 4]);
        for state in JobState::ALL {
            assert_eq!(JobState::from_code(state.code()).unwrap(), state);
        }
        assert!(JobState::from_code(5).is_err());
    }
}
