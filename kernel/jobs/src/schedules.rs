//! The worker that enqueues jobs on their schedules, once across nodes.
//!
//! A schedule's row says when it comes next. Whichever node moves that time on, from exactly the
//! value it has read, enqueues the job in the same transaction; the others move nothing. There is
//! no leader that could hang, and a crash leaves either both or nothing.
//!
//! The job of a schedule for each organisation is enqueued in all that there are at that time, in the
//! same transaction: one that came later is there with the next tick.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use svc_core::{App, Directory, Error, Result, WeakApp, Worker, micros};
use svc_data::{Context, UnitOfWork};
use svc_database::column;
use time::OffsetDateTime;
use tokio_util::sync::CancellationToken;

use crate::enqueue::{enqueue_scheduled, enqueue_scheduled_in};
use crate::registration::RegisteredSchedule;
use crate::service::Jobs;

/// How often the rows are read again, in real time: another node may have moved them.
const POLL: Duration = Duration::from_mins(1);

/// How many organisations are asked for at once.
const ORGANISATIONS_AT_ONCE: u32 = 1_000;

/// Makes a schedule known. One that is new, or has another pattern now, comes next after now.
const DECLARE: &str = "INSERT INTO jobs_schedules (name, cron, time_zone, next_run_at_us) \
     VALUES (?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET cron = excluded.cron, \
     time_zone = excluded.time_zone, next_run_at_us = excluded.next_run_at_us \
     WHERE jobs_schedules.cron <> excluded.cron OR jobs_schedules.time_zone <> excluded.time_zone";

const MOVE_ON: &str = "UPDATE jobs_schedules SET next_run_at_us = ?, last_run_at_us = ? \
     WHERE name = ? AND next_run_at_us = ?";

/// Enqueues what the schedules say.
pub(crate) struct SchedulesWorker {
    app: WeakApp,
    jobs: Arc<Jobs>,
}

impl SchedulesWorker {
    pub(crate) fn new(app: WeakApp, jobs: Arc<Jobs>) -> Self {
        Self { app, jobs }
    }

    /// Enqueues what is due. Answers with how many jobs that were, and the next time to look.
    async fn tick(&self, app: &App) -> Result<(usize, Option<OffsetDateTime>)> {
        let mut enqueued = 0;
        let mut next_us: Option<i64> = None;
        let mut failure = None;
        for (schedule, planned_us) in self.planned().await? {
            let now_us = app.clock().now_us();
            let mut comes_us = planned_us;
            if planned_us <= now_us {
                comes_us = schedule.timetable.next_after(now_us).unwrap_or(i64::MAX);
                match fire(app, schedule, planned_us, comes_us).await {
                    Ok(new) => enqueued += new,
                    // One schedule that can't be enqueued must not hold up the others.
                    Err(error) => {
                        failure = Some(error.context(format!("schedule `{}`", schedule.name)));
                    }
                }
            }
            next_us = Some(next_us.map_or(comes_us, |next| next.min(comes_us)));
        }
        match failure {
            Some(error) => Err(error),
            None => Ok((enqueued, next_us.map(micros::to_time))),
        }
    }

    /// The registered schedules, with the times that are stored for them.
    async fn planned(&self) -> Result<Vec<(&RegisteredSchedule, i64)>> {
        let schedules = &self.jobs.catalogue().schedules;
        if schedules.is_empty() {
            return Ok(Vec::new());
        }
        let database = self.jobs.store().database();
        let sql = "SELECT name, next_run_at_us FROM jobs_schedules";
        let mut planned = Vec::with_capacity(schedules.len());
        for row in database.rows(database.statement(sql, [])).await? {
            let name: String = column(&row, 0)?;
            if let Some(schedule) = schedules.iter().find(|schedule| schedule.name == name) {
                planned.push((schedule, column(&row, 1)?));
            }
        }
        Ok(planned)
    }
}

/// Moves a schedule on and enqueues its job, unless another node did or the job of an earlier
/// tick still waits or runs. Answers with how many jobs are new.
async fn fire(
    app: &App,
    schedule: &RegisteredSchedule,
    planned_us: i64,
    next_us: i64,
) -> Result<usize> {
    let ctx = Context::system(app)?;
    ctx.transact(async |uow| {
        let name = schedule.name.as_str();
        let now_us = app.clock().now_us();
        let values = [next_us.into(), now_us.into(), name.into(), planned_us.into()];
        let move_on = ctx.database().statement(MOVE_ON, values);
        if uow.execute(move_on).await? == 0 {
            return Ok(0);
        }
        let payload = (schedule.make)()?;
        if schedule.in_each_organisation {
            return enqueue_in_each(app, &uow, schedule, &payload).await;
        }
        let enqueued = enqueue_scheduled(&uow, schedule.job, name, payload).await?;
        if !enqueued.is_new {
            tracing::warn!(
                schedule = name,
                job.id = %enqueued.id,
                "a tick was left out, because the job of an earlier one has not ended"
            );
        }
        Ok(usize::from(enqueued.is_new))
    })
    .await
}

/// Enqueues the job of a schedule in each organisation.
async fn enqueue_in_each(
    app: &App,
    uow: &UnitOfWork,
    schedule: &RegisteredSchedule,
    payload: &str,
) -> Result<usize> {
    let directory = app.find_service::<dyn Directory>().ok_or_else(|| {
        Error::internal(
            "nobody says which organisations there are; add a module that does (`Directory`), such as \
             `identity`",
        )
    })?;
    let (mut new, mut all, mut last) = (0, 0, None);
    loop {
        let some = directory.organisations(last, ORGANISATIONS_AT_ONCE).await?;
        let Some(end) = some.last() else { break };
        last = Some(*end);
        all += some.len();
        new += enqueue_scheduled_in(uow, schedule.job, &schedule.name, payload, &some).await?;
    }
    if new < all {
        tracing::warn!(
            schedule = schedule.name,
            organisations = all - new,
            "a tick was left out where the job of an earlier one has not ended"
        );
    }
    Ok(new)
}

/// Stores the schedules of this application that are new or have changed.
pub(crate) async fn declare(app: &App, jobs: &Jobs) -> Result<()> {
    let database = jobs.store().database();
    let now_us = app.clock().now_us();
    for RegisteredSchedule { name, timetable, .. } in &jobs.catalogue().schedules {
        let next_us = timetable.next_after(now_us).unwrap_or(i64::MAX);
        let statement = database.statement(
            DECLARE,
            [
                name.as_str().into(),
                timetable.pattern().into(),
                timetable.zone_name().into(),
                next_us.into(),
            ],
        );
        database.execute(statement).await?;
    }
    Ok(())
}

#[async_trait]
impl Worker for SchedulesWorker {
    fn name(&self) -> &'static str {
        "schedules"
    }

    async fn run(&self, stop: CancellationToken) -> Result<()> {
        let app = self.app.get()?;
        if self.jobs.catalogue().schedules.is_empty() {
            return Ok(());
        }
        while !stop.is_cancelled() {
            let (_, next) = self.tick(&app).await?;
            let next = next.unwrap_or(micros::to_time(i64::MAX));
            tokio::select! {
                () = app.clock().sleep_until(next) => {}
                () = tokio::time::sleep(POLL) => {}
                () = stop.cancelled() => {}
            }
        }
        Ok(())
    }

    async fn drain(&self) -> Result<usize> {
        Ok(self.tick(&self.app.get()?).await?.0)
    }
}
