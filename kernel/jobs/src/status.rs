use sea_orm::QueryResult;
use serde::Serialize;
use svc_core::{Actor, OrganisationId, Result, micros};
use svc_database::column;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::job::{JobId, JobState};
use crate::progress::Progress;
use crate::store::{count, read_enqueuer};

/// The columns of a [`JobStatus`].
pub(crate) const COLUMNS: &str = "id, organisation_id, kind, state, run_at_us, attempts, \
     max_attempts, cancel_requested, progress_percent, progress_message, last_error, \
     created_at_us, finished_at_us, correlation, actor_user_id, actor_name, actor_scope";

/// What there is to know of a job. Its data is not shown, since it may hold what the viewer may
/// not see.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct JobStatus {
    /// The job.
    pub id: JobId,
    /// The organisation it belongs to; none for a job of the system across organisations.
    pub organisation: Option<OrganisationId>,
    /// Its name, such as `webhooks.deliver`.
    pub kind: String,
    /// Where it stands.
    pub state: JobState,
    /// Whether it was cancelled while it ran and hasn't ended yet.
    pub cancel_requested: bool,
    /// When it runs next, or was to run last.
    #[serde(with = "time::serde::rfc3339")]
    pub run_at: OffsetDateTime,
    /// Attempts so far, the running one included.
    pub attempts: u32,
    /// Attempts at most.
    pub max_attempts: u32,
    /// How far it is, as it says itself.
    pub progress: Progress,
    /// Why the last attempt failed, in the words that a caller may read; the log has more under
    /// the same correlation.
    pub last_error: Option<String>,
    /// When it was enqueued.
    #[serde(with = "time::serde::rfc3339")]
    pub created_at: OffsetDateTime,
    /// When it ended.
    #[serde(with = "time::serde::rfc3339::option")]
    pub finished_at: Option<OffsetDateTime>,
    /// Who enqueued it.
    pub enqueued_by: Actor,
    /// What tells the request that enqueued it apart in logs.
    pub correlation: Uuid,
}

/// Which jobs to list.
#[derive(Clone, Debug, Default)]
pub struct JobFilter {
    /// Only those in this state.
    pub state: Option<JobState>,
    /// Only those of this kind.
    pub kind: Option<String>,
    /// Only those that were enqueued before this one: the last of the page before.
    pub after: Option<JobId>,
    /// How many, 50 by default, at most 200.
    pub take: Option<u32>,
}

/// A page of jobs, the newest first.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct JobPage {
    /// The jobs.
    pub jobs: Vec<JobStatus>,
    /// Where the next page begins; none when this is the last.
    pub after: Option<JobId>,
}

/// What became of a wish to cancel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Cancellation {
    /// The job waited, and won't run.
    Cancelled,
    /// The job runs, and has been asked to end.
    Requested,
}

/// How many jobs of a kind are in a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobCount {
    /// The kind.
    pub kind: String,
    /// The state.
    pub state: JobState,
    /// How many.
    pub count: u64,
    /// The earliest time among them at which one was or is to run.
    pub oldest_run_at: OffsetDateTime,
}

/// What there is to know of a schedule.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ScheduleStatus {
    /// Its name, such as `webhooks.retention`.
    pub name: String,
    /// The cron pattern.
    pub cron: String,
    /// The zone in whose time the pattern is meant.
    pub time_zone: String,
    /// When it comes next.
    #[serde(with = "time::serde::rfc3339")]
    pub next_run_at: OffsetDateTime,
    /// When it came last.
    #[serde(with = "time::serde::rfc3339::option")]
    pub last_run_at: Option<OffsetDateTime>,
}

pub(crate) fn read_status(row: &QueryResult) -> Result<JobStatus> {
    let percent: Option<i16> = column(row, 8)?;
    Ok(JobStatus {
        id: JobId(column(row, 0)?),
        organisation: OrganisationId::unless_nil(column(row, 1)?),
        kind: column(row, 2)?,
        state: JobState::from_code(column(row, 3)?)?,
        run_at: micros::to_time(column(row, 4)?),
        attempts: count(row, 5)?,
        max_attempts: count(row, 6)?,
        cancel_requested: column(row, 7)?,
        progress: Progress {
            percent: percent.and_then(|percent| percent.try_into().ok()),
            message: column(row, 9)?,
        },
        last_error: column(row, 10)?,
        created_at: micros::to_time(column(row, 11)?),
        finished_at: column::<Option<i64>>(row, 12)?.map(micros::to_time),
        correlation: column(row, 13)?,
        enqueued_by: read_enqueuer(row, 14)?.actor,
    })
}
