//! Sending what an endpoint missed: what was not queued while it was switched off, and what
//! failed for good and was not sent again since.

use serde::{Deserialize, Serialize};
use svc_core::{ErrorKind, OrganisationId, Result};
use svc_data::{Context, UnitOfWork};
use svc_jobs::{EnqueueJobs as _, Job, JobContext, JobError, JobId};
use time::OffsetDateTime;
use uuid::Uuid;

use super::Service;
use super::deliveries::{read_redeliveries, redeliver_all};
use crate::WAKE_TOPIC;
use crate::model::{Status, endpoint};
use crate::store::{first_id_at, micros};

/// Deliveries that one unit of work queues.
const BATCH: u64 = 500;

/// Queues what an endpoint missed in a span of time.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RecoverDeliveries {
    endpoint: Uuid,
    /// From this identifier on.
    from: Uuid,
    /// Up to the identifiers of this time: what comes later is no longer missed.
    to: Uuid,
}

impl Job for RecoverDeliveries {
    const NAME: &'static str = "webhooks.recover";
}

impl Service {
    /// Begins a recovery in the background; answers with its job.
    pub(crate) async fn recover(
        &self,
        ctx: &Context,
        endpoint: Uuid,
        since: OffsetDateTime,
    ) -> Result<JobId> {
        ctx.transact(async |uow| {
            self.find(uow.context(), endpoint).await?;
            let job = RecoverDeliveries {
                endpoint,
                from: first_id_at(micros(since)),
                to: ctx.clock().new_id(),
            };
            // One at a time for an endpoint, so that nothing is queued twice.
            let enqueued = uow.enqueue(job).unique(endpoint.to_string()).watched().await?;
            Ok(enqueued.id)
        })
        .await
    }
}

/// Runs a recovery. Each step finds what is left, so a run that was interrupted goes on.
pub(crate) async fn recover_deliveries(
    ctx: JobContext,
    job: RecoverDeliveries,
) -> Result<(), JobError> {
    let organisation = ctx.organisation()?;
    let mut queued = 0;
    loop {
        ctx.check_interruption()?;
        let step = async |uow: UnitOfWork| {
            let found = uow.find::<endpoint::Entity>(job.endpoint).await;
            if found.as_ref().is_err_and(|error| error.kind() == ErrorKind::NotFound) {
                return Ok(0);
            }
            found?;
            match queue_missed(&uow, organisation, &job).await? {
                0 => queue_failed(&uow, organisation, &job).await,
                count => Ok(count),
            }
        };
        let count = ctx.transact(step).await?;
        if count == 0 {
            return Ok(());
        }
        queued += count;
        ctx.progress_message(format!("{queued} deliveries queued"));
    }
}

/// Queues what was never queued.
async fn queue_missed(
    uow: &UnitOfWork,
    organisation: OrganisationId,
    job: &RecoverDeliveries,
) -> Result<u64> {
    let sql = format!(
        "UPDATE webhooks_deliveries SET status = ?, due_us = ? WHERE id IN (\
         SELECT id FROM webhooks_deliveries WHERE endpoint_id = ? AND organisation_id = ? \
         AND status = ? AND id >= ? AND id < ? ORDER BY id LIMIT {BATCH})"
    );
    let values = [
        Status::Queued.code().into(),
        uow.context().clock().now_us().into(),
        job.endpoint.into(),
        organisation.0.into(),
        Status::Missed.code().into(),
        job.from.into(),
        job.to.into(),
    ];
    let count = uow.execute(uow.context().database().statement(&sql, values)).await?;
    if count > 0 {
        uow.wake_after_commit(WAKE_TOPIC);
    }
    Ok(count)
}

/// Queues what failed for good, and was neither sent again nor waits to be.
async fn queue_failed(
    uow: &UnitOfWork,
    organisation: OrganisationId,
    job: &RecoverDeliveries,
) -> Result<u64> {
    let sql = format!(
        "SELECT d.id, d.endpoint_id, d.message_id, d.lane FROM webhooks_deliveries d \
         WHERE d.endpoint_id = ? AND d.organisation_id = ? AND d.status = ? AND d.lane = 0 \
         AND d.id >= ? AND d.id < ? AND NOT EXISTS (SELECT 1 FROM webhooks_deliveries again \
         WHERE again.redelivery_of = d.id) ORDER BY d.id LIMIT {BATCH}"
    );
    let values = [
        job.endpoint.into(),
        organisation.0.into(),
        Status::Failed.code().into(),
        job.from.into(),
        job.to.into(),
    ];
    let rows = uow.rows(uow.context().database().statement(&sql, values)).await?;
    let originals = read_redeliveries(&rows)?;
    if originals.is_empty() {
        return Ok(0);
    }
    let new = redeliver_all(uow, organisation, &originals).await?;
    Ok(u64::try_from(new.len()).unwrap_or(u64::MAX))
}
