//! Records that a workflow finds when it comes: those that were there before it, and those that are taken over from elsewhere.
//!
//! ```text
//! the first version of a workflow is published ──► a job, in the same transaction, where the set has records
//! the job ──► a thousand records in a unit of work get the instance that they would begin with now
//! ```
//!
//! Until the job has come to a record, it is where records begin, and nobody waits for it. Nobody is known to have made it: whoever takes the
//! first step counts as that.

use std::collections::HashMap;

use svc_core::{Error, Result};
use svc_data::UnitOfWork;
use svc_jobs::{JobContext, JobError};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::deadlines::Deadlines;
use crate::engine::{BeginRecords, WorkflowEngine};
use crate::events::micros;
use crate::store::{self, Begun, Place, Stay};

/// How many records get their instance in a unit of work.
const AT_ONCE: u64 = 1_000;

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
                Error::invalid(format!("`{}` is no state of `{set}`", record.state))
            })?;
            begun.push(Begun {
                place: Place { organisation, set: workflow.set(), id: record.id },
                version,
                state: &state.name,
                created_by: None,
                since_us: Some(micros(record.since)),
            });
        }
        let count = u64::try_from(begun.len()).unwrap_or(u64::MAX);
        if store::begin(uow, &begun).await? != count {
            return Err(Error::conflict("a record that is taken over is in the workflow already"));
        }
        let is_left = |state: &str| definition.leaving(state).next().is_some();
        let open = records.iter().filter(|record| is_left(&record.state));
        let since: HashMap<Uuid, i64> =
            open.map(|record| (record.id, micros(record.since))).collect();
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
            let stay = Stay { steps: 0, since_us, due_us: deadlines.due_us };
            store::claim(uow, place, stay, &subject.claims()).await?;
        }
        Ok(())
    }
}
