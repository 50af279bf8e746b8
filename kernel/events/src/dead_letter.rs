//! Messages that were set aside, and which of them are meant.

use serde::Serialize;
use svc_core::{Error, OrganisationId, Result};
use svc_data::UnitOfWork;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::store::letters;

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

/// What a handler took off the outbox to do it step by step, and can't do after all.
#[derive(Clone, Copy, Debug)]
pub struct Undone<'a> {
    /// The event.
    pub id: Uuid,
    /// The handler.
    pub handler: &'a str,
    /// The message's name.
    pub name: &'a str,
    /// The [`Message`](crate::Message) as JSON. It is looked at again when it is handed over again, so it is kept
    /// though it can't be read.
    pub message: &'a str,
}

impl Undone<'_> {
    /// Sets the message aside in this unit of work, as a dead letter with the reason. Whoever has it tried again
    /// has it handed over from the beginning.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn set_aside(self, uow: &UnitOfWork, reason: &Error) -> Result<()> {
        let error = reason.report();
        let Self { id, handler, name, .. } = self;
        tracing::error!(message = %id, handler, name, error, "a message became a dead letter");
        letters::insert(uow, self, &told(&error)).await
    }
}

/// The longest error that is kept of a message, in characters.
const LONGEST_ERROR: usize = 2_000;

/// As much of an error as is kept; PostgreSQL refuses U+0000 in text.
pub(crate) fn told(error: &str) -> String {
    error.chars().filter(|letter| *letter != '\0').take(LONGEST_ERROR).collect()
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
