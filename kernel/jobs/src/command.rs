//! The command `jobs`: background jobs that have failed for good, in all organisations, and jobs
//! that an operator wants to run now.

use std::fmt::Write as _;

use clap::Subcommand;
use svc_core::{App, OneOf, OrganisationId, Result};
use svc_data::Context;
use uuid::Uuid;

use crate::job::JobState;
use crate::service::Jobs;
use crate::status::JobFilter;

/// How many are listed.
const LISTED: u32 = 100;

/// What to do with background jobs.
#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// List the newest hundred that have failed for good
    List,
    /// Run those again that have failed for good
    Retry {
        /// Only those of this kind
        kind: Option<String>,
    },
    /// Remove those for good that have failed for good
    Discard {
        /// Those of this kind; `all` for every one
        kind: String,
    },
    /// Enqueue a job now; an application that runs jobs takes it
    Run {
        /// A schedule, whose job is enqueued as it would be at its time, or a kind of job
        name: String,
        /// The job's data as JSON; a schedule has its own
        #[arg(long)]
        data: Option<String>,
        /// The organisation to run it in; without it, the system's own work across organisations
        #[arg(long)]
        organisation: Option<Uuid>,
    },
}

/// Carries out an action, and says what was done.
pub(crate) async fn run(app: App, OneOf { action }: OneOf<Action>) -> Result<String> {
    let jobs = app.service::<Jobs>()?;
    let system = Context::system(&app)?;
    match action {
        Action::List => list(&jobs, &system).await,
        Action::Retry { kind } => {
            let count = jobs.retry_dead(&system, kind.as_deref()).await?;
            Ok(format!("{count} jobs wait to run again\n"))
        }
        Action::Discard { kind } => {
            let kind = (kind != "all").then_some(kind);
            let count = jobs.discard_dead(&system, kind.as_deref()).await?;
            Ok(format!("{count} jobs were discarded\n"))
        }
        Action::Run { name, data, organisation } => {
            let ctx = match organisation {
                Some(id) => Context::system_in(&app, OrganisationId(id))?,
                None => system,
            };
            let enqueued = jobs.run_now(&ctx, &name, data).await?;
            let id = enqueued.id;
            Ok(if enqueued.is_new {
                format!("job {id} waits to run\n")
            } else {
                format!("job {id} of this schedule waits or runs already\n")
            })
        }
    }
}

async fn list(jobs: &Jobs, system: &Context) -> Result<String> {
    let dead =
        JobFilter { state: Some(JobState::Dead), take: Some(LISTED), ..JobFilter::default() };
    let page = jobs.list(system, &dead).await?;
    if page.jobs.is_empty() {
        return Ok("no job has failed for good\n".to_owned());
    }
    let mut text = String::new();
    for job in page.jobs {
        let error = job.last_error.as_deref().unwrap_or("no reason was recorded");
        let _ = writeln!(text, "{}  {}  {} attempts\n    {error}", job.id, job.kind, job.attempts);
    }
    Ok(text)
}
