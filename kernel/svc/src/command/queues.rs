//! The commands for messages and jobs that have failed for good, in all organisations.

use std::fmt::Write as _;

use clap::Subcommand;
use svc_core::{App, Result};
use svc_data::Context;
use svc_events::{Outbox, Selection};
use svc_jobs::{JobFilter, JobState, Jobs};

/// How many are listed.
const LISTED: u32 = 100;

/// What to do with those that have failed for good.
#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// List the newest hundred
    List,
    /// Do them again
    Retry {
        /// Only those of this handler or kind of job
        name: Option<String>,
    },
    /// Remove them for good
    Discard {
        /// Those of this handler or kind of job; `all` for every one
        name: String,
    },
}

/// Carries out an action on the outbox, and says what was done.
pub(crate) async fn outbox(app: &App, action: &Action) -> Result<String> {
    let outbox = app.service::<Outbox>()?;
    let of = |handler: Option<String>| Selection { handler, ..Selection::default() };
    match action {
        Action::List => {
            let page = outbox.dead_letters(&of(None), None, LISTED).await?;
            let mut text = String::new();
            for letter in &page.letters {
                let _ = writeln!(
                    text,
                    "{}  {}  {}  {} attempts\n    {}",
                    letter.id, letter.handler, letter.name, letter.attempts, letter.error
                );
            }
            Ok(or_none(text, "no message has failed for good\n"))
        }
        Action::Retry { name } => {
            let count = outbox.retry(&of(name.clone())).await?;
            Ok(format!("{count} messages wait to be handled again\n"))
        }
        Action::Discard { name } => {
            let count = outbox.discard(&of(unless_all(name))).await?;
            Ok(format!("{count} messages were discarded\n"))
        }
    }
}

/// Carries out an action on background jobs, and says what was done.
pub(crate) async fn jobs(app: &App, action: &Action) -> Result<String> {
    let jobs = app.service::<Jobs>()?;
    let system = Context::system(app)?;
    match action {
        Action::List => {
            let dead = JobFilter {
                state: Some(JobState::Dead),
                take: Some(LISTED),
                ..JobFilter::default()
            };
            let mut text = String::new();
            for job in jobs.list(&system, &dead).await?.jobs {
                let error = job.last_error.as_deref().unwrap_or("no reason was recorded");
                let _ = writeln!(
                    text,
                    "{}  {}  {} attempts\n    {error}",
                    job.id, job.kind, job.attempts
                );
            }
            Ok(or_none(text, "no job has failed for good\n"))
        }
        Action::Retry { name } => {
            let count = jobs.retry_dead(&system, name.as_deref()).await?;
            Ok(format!("{count} jobs wait to run again\n"))
        }
        Action::Discard { name } => {
            let count = jobs.discard_dead(&system, unless_all(name).as_deref()).await?;
            Ok(format!("{count} jobs were discarded\n"))
        }
    }
}

fn unless_all(name: &str) -> Option<String> {
    (name != "all").then(|| name.to_owned())
}

fn or_none(text: String, none: &str) -> String {
    if text.is_empty() { none.to_owned() } else { text }
}
