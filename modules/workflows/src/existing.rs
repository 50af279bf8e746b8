//! Records that a workflow finds when it comes: those that were there before it, and those that are taken over from elsewhere.
//!
//! ```text
//! each node looks, when it has started and then every hour ──► has each record of the set its instance?
//!     yes ──► the set is complete to this node: pages by state are read from the instances
//!     no  ──► it isn't: pages by state ask for each record; a job, and a look in a minute
//! the job ──► a thousand records in a unit of work get the instance that they would begin with now
//! ```
//!
//! Until the job has come to a record, it is where records begin, and nobody waits for it. Nobody is known to have made it: whoever takes the
//! first step counts as that.
//!
//! A set that is complete stays so by what nodes with its workflow do, since the instance begins with its record. What takes no part in that
//! is mended by the next look: a node of a release without the workflow, and what bypasses units of work.
//! Nodes of two releases stand beside each other for some minutes, so looks come close behind a start, and then farther apart.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use svc_core::{App, Clock, Error, Result, WeakApp, Worker, micros};
use svc_data::{Context, UnitOfWork};
use svc_jobs::{EnqueueJobs as _, Job, JobContext, JobError};
use time::OffsetDateTime;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::deadlines::Deadlines;
use crate::engine::WorkflowEngine;
use crate::store::{self, Begun, Place, Stay};

/// How many records get their instance in a unit of work.
const AT_ONCE: u64 = 1_000;

/// How long after a look the next one comes, where there was something to mend or the node has just started; twice as long each time after that.
const FIRST_PAUSE: Duration = Duration::from_mins(1);

/// How long at most.
const LONGEST_PAUSE: Duration = Duration::from_hours(1);

/// The job that gives the records of a set their instances.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct BeginRecords {
    pub(crate) set: String,
}

impl Job for BeginRecords {
    const NAME: &'static str = "workflows.begin_records";
}

/// Looks for records without an instance.
pub(crate) struct LookForRecords {
    app: WeakApp,
    clock: Clock,
    pace: Mutex<Pace>,
}

/// When the next look comes.
#[derive(Clone, Copy)]
struct Pace {
    pause: Duration,
    at: Option<OffsetDateTime>,
}

impl LookForRecords {
    pub(crate) fn new(app: &App) -> Self {
        let pace = Pace { pause: FIRST_PAUSE, at: None };
        Self { app: app.downgrade(), clock: app.clock().clone(), pace: pace.into() }
    }

    fn pace(&self) -> Pace {
        *self.pace.lock()
    }

    /// Looks at each set with a workflow; answers with how many lack instances.
    async fn look(&self) -> Result<usize> {
        let app = self.app.get()?;
        let (ctx, engine) = (Context::system(&app)?, app.service::<WorkflowEngine>()?);
        let mut lacking = 0;
        for workflow in engine.workflows() {
            let set = workflow.set();
            let found = store::has_unbegun(&ctx, &workflow.model).await;
            workflow.is_complete.store(matches!(found, Ok(false)), Ordering::Relaxed);
            match found {
                Ok(false) => {}
                Ok(true) => {
                    lacking += 1;
                    let job = BeginRecords { set: set.to_owned() };
                    ctx.transact(async |uow| uow.enqueue(job).unique(set).await.map(drop)).await?;
                }
                // Such as one that takes longer than statements may. Pages do without.
                Err(error) => {
                    let error = error.report();
                    tracing::warn!(set, error, "nobody knows whether all records have an instance");
                }
            }
        }
        let mut pace = self.pace.lock();
        if lacking > 0 {
            pace.pause = FIRST_PAUSE;
        }
        pace.at = Some(self.clock.now() + pace.pause);
        pace.pause = (pace.pause * 2).min(LONGEST_PAUSE);
        Ok(lacking)
    }
}

#[async_trait]
impl Worker for LookForRecords {
    fn name(&self) -> &'static str {
        "workflows"
    }

    async fn run(&self, stop: CancellationToken) -> Result<()> {
        loop {
            if let Some(at) = self.pace().at {
                tokio::select! {
                    () = stop.cancelled() => return Ok(()),
                    () = self.clock.sleep_until(at) => {}
                }
            }
            self.look().await?;
        }
    }

    async fn drain(&self) -> Result<usize> {
        match self.pace().at {
            Some(at) if at > self.clock.now() => Ok(0),
            _ => self.look().await,
        }
    }
}

/// Runs the job. One that was interrupted begins anew, and finds what has an instance.
pub(crate) async fn begin_records(job: JobContext, work: BeginRecords) -> Result<(), JobError> {
    let engine = job.app().service::<WorkflowEngine>()?;
    let ctx = job.context();
    // A later release may have no workflow for the set.
    let Some(workflow) = engine.workflows().find(|workflow| workflow.set() == work.set) else {
        return Ok(());
    };
    let begins = (workflow.version, workflow.definition.begins_in());
    let mut after = Some(Uuid::nil());
    while let Some(place) = after {
        job.check_interruption()?;
        after = ctx
            .transact(async |uow| {
                store::begin_existing(&uow, &workflow.model, begins, place, AT_ONCE).await
            })
            .await?;
    }
    Ok(())
}

/// Where a record stands that has gone a part of its way elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenOver {
    /// The record's key.
    pub id: Uuid,
    /// The state that it is in.
    pub state: String,
    /// Since when.
    pub since: OffsetDateTime,
}

impl WorkflowEngine {
    /// Says where records stand that come from elsewhere and have gone a part of their way there, such as those of a system that this one
    /// replaces: in the unit of work that makes them, or later, as long as nobody has taken them on. They have no past here, and nobody is told.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Invalid`](svc_core::ErrorKind::Invalid) for a state that the workflow doesn't have, and
    /// [`ErrorKind::Conflict`](svc_core::ErrorKind::Conflict) where one of them has an instance.
    pub async fn take_over(
        &self,
        uow: &UnitOfWork,
        set: &str,
        records: &[TakenOver],
    ) -> Result<()> {
        let ctx = uow.context();
        let workflow = self.find(ctx, set)?;
        let organisation = ctx.organisation()?;
        let (version, definition) = self.current(ctx, workflow, organisation).await?;
        let mut begun = Vec::with_capacity(records.len());
        for record in records {
            let state = definition.find_state(&record.state).ok_or_else(|| {
                Error::invalid(format!("`{}` isn't a state of `{set}`", record.state))
            })?;
            begun.push(Begun {
                place: Place { organisation, set: workflow.set(), id: record.id },
                version,
                state: &state.name,
                created_by: None,
                since_us: Some(micros::of_time(record.since)),
            });
        }
        let count = u64::try_from(begun.len()).unwrap_or(u64::MAX);
        if store::begin(uow, &begun).await? != count {
            return Err(Error::conflict("a record that is taken over is in the workflow already"));
        }
        let is_left = |state: &str| definition.leaving(state).next().is_some();
        let open = records.iter().filter(|record| is_left(&record.state));
        let since: HashMap<Uuid, i64> =
            open.map(|record| (record.id, micros::of_time(record.since))).collect();
        let ids: Vec<Uuid> = since.keys().copied().collect();
        for subject in self.subjects(ctx, workflow, &ids).await? {
            let since_us = since.get(&subject.id).copied().unwrap_or_default();
            let state = subject.definition.find_state(&subject.instance.state);
            let deadlines = Deadlines::since(ctx, state, since_us).await?;
            let place = subject.place(ctx)?;
            if let Some(due_us) = deadlines.due_us {
                store::set_due(uow, place, due_us).await?;
            }
            store::set_timers(uow, place, &deadlines.timers).await?;
            let (state, due_us) = (subject.instance.state.as_str(), deadlines.due_us);
            let stay = Stay { state, steps: 0, since_us, due_us };
            store::claim(uow, place, stay, &subject.claims(), None).await?;
        }
        Ok(())
    }
}
