//! What the module tells others.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use uuid::Uuid;

/// A record was taken back to what an entry of its history says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HistoryRestored {
    /// The set of the record.
    pub set: String,
    /// The record's key, as text.
    pub key: String,
    /// The entry that was taken back, or gone back to.
    pub entry: Uuid,
}

impl HistoryRestored {
    /// The name under which it is raised.
    pub(crate) const NAME: &str = "HistoryRestored";

    pub(crate) fn read(data: &Json) -> Option<Self> {
        Self::deserialize(data).ok()
    }
}

/// Somebody exported the audit log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditLogExported {}

/// What somebody blanks.
#[derive(Clone, Debug)]
pub(crate) enum Blanking {
    /// The name of a person.
    Person(Uuid),
    /// The values of a record: its set and its key.
    Record(String, String),
}

/// Something was blanked in the history, by a step of the command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HistoryBlanked {
    /// The person whose name it was; none where it was a record.
    pub user: Option<Uuid>,
    /// The set of the record.
    pub set: Option<String>,
    /// The record's key.
    pub record: Option<String>,
    /// The entries that this step blanked.
    pub entries: usize,
}

impl HistoryBlanked {
    pub(crate) fn of(what: &Blanking, entries: usize) -> Self {
        match what {
            Blanking::Person(user) => Self { user: Some(*user), set: None, record: None, entries },
            Blanking::Record(set, record) => {
                Self { user: None, set: Some(set.clone()), record: Some(record.clone()), entries }
            }
        }
    }
}
