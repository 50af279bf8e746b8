use std::sync::Arc;

use sea_orm::{QueryResult, Value};
use svc_core::{Error, Result, micros};
use svc_data::Context;
use svc_database::{Database, column};

use crate::counters::KindCounters;
use crate::errors;
use crate::job::{JobId, JobState};
use crate::registration::JobCatalogue;
use crate::status::{
    COLUMNS, Cancellation, JobCount, JobFilter, JobPage, JobStatus, ScheduleStatus, read_status,
};
use crate::store::Store;

/// Calls the nodes that run jobs.
pub(crate) const TOPIC: &str = "jobs";

/// Calls the nodes that run jobs to look who was cancelled.
pub(crate) const CANCEL_TOPIC: &str = "jobs.cancel";

/// The topic of wake-ups that is called when a job that stays in the queue may stand elsewhere: its progress was stored, or it
/// has ended or waits again. Whoever hears it looks where the jobs stand that it wants to know of.
pub const PROGRESS_TOPIC: &str = "jobs.progress";

/// Sees every job of the organisation.
pub const VIEW: &str = "Jobs.View";
/// Cancels, retries and discards every job of the organisation.
pub const MANAGE: &str = "Jobs.Manage";

/// Looks at jobs and steers them: `app.service::<Jobs>()`.
///
/// Calls take the caller's context, and go by its way to the database: a request's within the share
/// of its person, a unit of work's through its own connection. A caller reaches the jobs of its own
/// organisation; one of another is unknown. The system across organisations reaches all.
pub struct Jobs {
    store: Store,
    catalogue: JobCatalogue,
}

impl Jobs {
    pub(crate) fn new(database: Database, catalogue: JobCatalogue) -> Arc<Self> {
        Arc::new(Self { store: Store::new(database), catalogue })
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    pub(crate) fn catalogue(&self) -> &JobCatalogue {
        &self.catalogue
    }

    /// Where a job stands. Whoever enqueued it may ask, and who holds `Jobs.View`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotFound`](svc_core::ErrorKind::NotFound) for one that isn't there: unknown,
    /// of another organisation, or finished and not watched;
    /// [`ErrorKind::Forbidden`](svc_core::ErrorKind::Forbidden); a fault of the database.
    pub async fn status(&self, ctx: &Context, id: JobId) -> Result<JobStatus> {
        let status = self.find(ctx, id).await?;
        require_own(ctx, &status, VIEW)?;
        Ok(status)
    }

    /// Lists jobs, the newest first, for who holds `Jobs.View`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Forbidden`](svc_core::ErrorKind::Forbidden); a fault of the database.
    pub async fn list(&self, ctx: &Context, filter: &JobFilter) -> Result<JobPage> {
        ctx.require(VIEW)?;
        let take = filter.take.unwrap_or(50).clamp(1, 200) as usize;
        let mut conditions = Conditions::within(ctx);
        if let Some(state) = filter.state {
            conditions.add("state = ?", state.code());
            if state.has_ended() {
                // Says that the index of what has ended can be used.
                conditions.sql.push_str(" AND finished_at_us IS NOT NULL");
            }
        }
        if let Some(kind) = &filter.kind {
            conditions.add("kind = ?", kind.clone());
        }
        if let Some(after) = filter.after {
            conditions.add("id < ?", after.0);
        }
        let sql = format!(
            "SELECT {COLUMNS} FROM jobs_queue WHERE {} ORDER BY id DESC LIMIT {}",
            conditions.sql,
            take + 1
        );
        let rows = ctx.run(ctx.database().statement(&sql, conditions.values)).await?;
        let mut jobs: Vec<JobStatus> = rows.iter().map(read_status).collect::<Result<_>>()?;
        let more = jobs.len() > take;
        jobs.truncate(take);
        let after = jobs.last().map(|job| job.id).filter(|_| more);
        Ok(JobPage { jobs, after })
    }

    /// Cancels a job that waits, or asks one that runs to end. Whoever enqueued it may, and who
    /// holds `Jobs.Manage`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Conflict`](svc_core::ErrorKind::Conflict) when it has ended already;
    /// otherwise as [`Jobs::status`].
    pub async fn cancel(&self, ctx: &Context, id: JobId) -> Result<Cancellation> {
        let status = self.find(ctx, id).await?;
        require_own(ctx, &status, MANAGE)?;
        let now_us = ctx.clock().now_us();
        let cancel = self.store.database().statement(
            "UPDATE jobs_queue SET state = CASE WHEN state = 0 THEN 3 ELSE state END, \
             cancel_requested = (state = 1), \
             finished_at_us = CASE WHEN state = 0 THEN ? END \
             WHERE id = ? AND state IN (0, 1) RETURNING state",
            [now_us.into(), id.0.into()],
        );
        let state = ctx
            .transact(async |uow| {
                let rows = uow.rows(cancel).await?;
                let row = rows.first().ok_or_else(ended)?;
                uow.wake_after_commit(CANCEL_TOPIC);
                JobState::from_code(column(row, 0)?)
            })
            .await?;
        Ok(match state {
            JobState::Running => Cancellation::Requested,
            _ => Cancellation::Cancelled,
        })
    }

    /// Runs a dead or cancelled job again, now, with all its attempts. Needs `Jobs.Manage`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Conflict`](svc_core::ErrorKind::Conflict) when it isn't dead or cancelled, or
    /// another job took its unique key; otherwise as [`Jobs::status`].
    pub async fn retry(&self, ctx: &Context, id: JobId) -> Result<()> {
        ctx.require(MANAGE)?;
        let status = self.find(ctx, id).await?;
        if !matches!(status.state, JobState::Dead | JobState::Cancelled) {
            let state = status.state.as_str();
            let message = format!("the job is {state}, so it can't be retried");
            return Err(errors::NOT_RETRYABLE.error(message).with("state", state));
        }
        let retry = self.store.database().statement(
            "UPDATE jobs_queue SET state = 0, attempts = 0, run_at_us = ?, finished_at_us = NULL \
             WHERE id = ? AND state IN (2, 3) AND NOT EXISTS (SELECT 1 FROM jobs_queue AS twin \
             WHERE twin.kind = jobs_queue.kind AND twin.unique_key = jobs_queue.unique_key \
             AND twin.state IN (0, 1))",
            [ctx.clock().now_us().into(), id.0.into()],
        );
        ctx.transact(async |uow| {
            if uow.execute(retry).await? == 0 {
                return Err(errors::TWIN_WAITS.error(
                    "another job with the same unique key waits or runs; discard this one",
                ));
            }
            uow.wake_after_commit(TOPIC);
            Ok(())
        })
        .await
    }

    /// Retries every dead job of a kind, or of all kinds, and says how many. Those whose unique
    /// key another job took stay dead. Needs `Jobs.Manage`.
    ///
    /// # Errors
    ///
    /// As [`Jobs::retry`]; what was retried before stays so.
    pub async fn retry_dead(&self, ctx: &Context, kind: Option<&str>) -> Result<u64> {
        let mut count = 0;
        let mut filter = dead(kind);
        loop {
            let page = self.list(ctx, &filter).await?;
            for job in &page.jobs {
                match self.retry(ctx, job.id).await {
                    Ok(()) => count += 1,
                    Err(error) if error.kind() == svc_core::ErrorKind::Conflict => {}
                    Err(error) => return Err(error),
                }
            }
            match page.after {
                Some(after) => filter.after = Some(after),
                None => return Ok(count),
            }
        }
    }

    /// Deletes a job that has ended. Needs `Jobs.Manage`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Conflict`](svc_core::ErrorKind::Conflict) when it waits or runs (cancel it
    /// first); otherwise as [`Jobs::status`].
    pub async fn discard(&self, ctx: &Context, id: JobId) -> Result<()> {
        ctx.require(MANAGE)?;
        self.find(ctx, id).await?;
        let sql = "DELETE FROM jobs_queue WHERE id = ? AND state >= 2";
        let discard = self.store.database().statement(sql, [id.0.into()]);
        match ctx.transact(async |uow| uow.execute(discard).await).await? {
            0 => {
                Err(errors::NOT_ENDED
                    .error("the job waits or runs; cancel it before discarding it"))
            }
            _ => Ok(()),
        }
    }

    /// Deletes every dead job of a kind, or of all kinds, and says how many. Needs `Jobs.Manage`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Forbidden`](svc_core::ErrorKind::Forbidden); a fault of the database.
    pub async fn discard_dead(&self, ctx: &Context, kind: Option<&str>) -> Result<u64> {
        ctx.require(MANAGE)?;
        let mut conditions = Conditions::within(ctx);
        conditions.sql.push_str(" AND state = 2 AND finished_at_us IS NOT NULL");
        if let Some(kind) = kind {
            conditions.add("kind = ?", kind.to_owned());
        }
        let sql = format!(
            "DELETE FROM jobs_queue WHERE id IN (SELECT id FROM jobs_queue WHERE {} LIMIT 1000)",
            conditions.sql
        );
        let mut count = 0;
        loop {
            // In pieces, so that no transaction holds very many rows.
            let discard = self.store.database().statement(&sql, conditions.values.clone());
            match ctx.transact(async |uow| uow.execute(discard).await).await? {
                0 => return Ok(count),
                discarded => count += discarded,
            }
        }
    }

    /// How many jobs of each kind are in each state, across organisations. For metrics; reads the
    /// whole queue.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn statistics(&self) -> Result<Vec<JobCount>> {
        let sql = "SELECT kind, state, COUNT(*), MIN(run_at_us) FROM jobs_queue \
                   GROUP BY kind, state ORDER BY kind, state";
        let read = |row: &QueryResult| {
            let count: i64 = column(row, 2)?;
            Ok(JobCount {
                kind: column(row, 0)?,
                state: JobState::from_code(column(row, 1)?)?,
                count: count.unsigned_abs(),
                oldest_run_at: micros::to_time(column(row, 3)?),
            })
        };
        let database = self.store.database();
        database.rows(database.statement(sql, [])).await?.iter().map(read).collect()
    }

    /// What became of the attempts on this node since it started, for each registered kind.
    #[must_use]
    pub fn counters(&self) -> Vec<KindCounters> {
        self.catalogue.kinds.values().map(|kind| kind.counters.read(kind.name)).collect()
    }

    /// The schedules that this application has, by name. They are the same for everybody; whoever
    /// offers them to people checks a permission.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn schedules(&self, ctx: &Context) -> Result<Vec<ScheduleStatus>> {
        let sql = "SELECT name, cron, time_zone, next_run_at_us, last_run_at_us \
                   FROM jobs_schedules ORDER BY name";
        let mut schedules = Vec::new();
        for row in ctx.run(ctx.database().statement(sql, [])).await? {
            let name: String = column(&row, 0)?;
            // What another release registered is none of this application's.
            if self.catalogue.schedules.iter().any(|schedule| schedule.name == name) {
                schedules.push(ScheduleStatus {
                    name,
                    cron: column(&row, 1)?,
                    time_zone: column(&row, 2)?,
                    next_run_at: micros::to_time(column(&row, 3)?),
                    last_run_at: column::<Option<i64>>(&row, 4)?.map(micros::to_time),
                });
            }
        }
        Ok(schedules)
    }

    /// A job of the caller's organisation, whoever asks.
    async fn find(&self, ctx: &Context, id: JobId) -> Result<JobStatus> {
        let mut conditions = Conditions::within(ctx);
        conditions.add("id = ?", id.0);
        let sql = format!("SELECT {COLUMNS} FROM jobs_queue WHERE {}", conditions.sql);
        let found = ctx.run_one(ctx.database().statement(&sql, conditions.values)).await?;
        let row = found.ok_or_else(|| Error::not_found("there is no such job"))?;
        read_status(&row)
    }
}

/// Conditions that begin with the caller's organisation.
struct Conditions {
    sql: String,
    values: Vec<Value>,
}

impl Conditions {
    fn within(ctx: &Context) -> Self {
        let mut conditions = Self { sql: "1 = 1".to_owned(), values: Vec::new() };
        if let Some(organisation) = ctx.principal().organisation() {
            conditions.add("organisation_id = ?", organisation.0);
        }
        conditions
    }

    fn add(&mut self, condition: &str, value: impl Into<Value>) {
        self.sql.push_str(" AND ");
        self.sql.push_str(condition);
        self.values.push(value.into());
    }
}

/// Insists that the caller enqueued the job, or holds the permission.
fn require_own(ctx: &Context, status: &JobStatus, permission: &str) -> Result<()> {
    let caller = ctx.principal().user_id();
    if caller.is_some() && caller == status.enqueued_by.user {
        return Ok(());
    }
    ctx.require(permission)
}

fn ended() -> Error {
    errors::HAS_ENDED.error("the job has ended already")
}

fn dead(kind: Option<&str>) -> JobFilter {
    JobFilter {
        state: Some(JobState::Dead),
        kind: kind.map(str::to_owned),
        take: Some(200),
        ..JobFilter::default()
    }
}
