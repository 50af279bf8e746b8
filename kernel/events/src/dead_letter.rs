//! Messages that were set aside, and which of them are meant.

use serde::Serialize;
use svc_core::{Error, OrganisationId, Result};
use time::OffsetDateTime;
use uuid::Uuid;

/// Which dead letters are meant: those that match everything that is given, all by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Those of one event.
    pub id: Option<Uuid>,
    /// Those of one handler.
    pub handler: Option<String>,
    /// Those of one organisation.
    pub organisation: Option<OrganisationId>,
}

impl Selection {
    /// Refuses a name that PostgreSQL can't be asked for.
    pub(crate) fn check(&self) -> Result<()> {
        if self.handler.as_ref().is_some_and(|handler| handler.contains('\0')) {
            return Err(Error::invalid("the selection is not valid")
                .field("handler", "must not contain the character U+0000"));
        }
        Ok(())
    }
}

/// A message that its handler failed with at every attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DeadLetter {
    /// The event.
    pub id: Uuid,
    /// The handler that failed.
    pub handler: String,
    /// The message's name.
    pub name: String,
    /// The organisation it happened in.
    pub organisation: Option<OrganisationId>,
    /// How often it was tried.
    pub attempts: u32,
    /// When it happened.
    #[serde(with = "time::serde::rfc3339")]
    pub time: OffsetDateTime,
    /// When it was set aside.
    #[serde(with = "time::serde::rfc3339")]
    pub failed_at: OffsetDateTime,
    /// What went wrong at the last attempt, for operators: it may name tables and causes.
    pub error: String,
}

/// Some dead letters, the newest event first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DeadLetterPage {
    /// The letters.
    pub letters: Vec<DeadLetter>,
    /// Where the next page begins; none on the last.
    pub next: Option<String>,
}
