//! Sending many deliveries in the background: what an endpoint missed (what was not queued while
//! it was switched off, and what failed for good and was not sent again since), or what a filter
//! selects.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use svc_core::{ErrorKind, OrganisationId, Result};
use svc_data::{Context, UnitOfWork};
use svc_jobs::{EnqueueJobs as _, Job, JobContext, JobError, JobId};
use time::OffsetDateTime;
use uuid::Uuid;

use super::Service;
use super::deliveries::{DeliveryFilter, read_redeliveries, redeliver_all};
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

/// Queues again what a filter selects.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RedeliverMany {
    endpoint: Option<Uuid>,
    /// The number of the status.
    status: i16,
    event_type: Option<String>,
    /// From this identifier on.
    from: Uuid,
    /// Up to this one.
    to: Uuid,
    /// Made when the job was: what was sent again since then was sent by the job.
    started: Uuid,
}

impl Job for RedeliverMany {
    const NAME: &'static str = "webhooks.redeliver";
}

/// Which deliveries to send again.
pub(crate) struct Selection {
    pub(crate) filter: DeliveryFilter,
    pub(crate) since: Option<OffsetDateTime>,
    pub(crate) until: Option<OffsetDateTime>,
}

impl Service {
    /// Begins to send deliveries again, in the background; answers with the job.
    pub(crate) async fn redeliver_many(&self, ctx: &Context, what: Selection) -> Result<JobId> {
        let bound = |time: OffsetDateTime| first_id_at(micros(time));
        ctx.transact(async |uow| {
            if let Some(endpoint) = what.filter.endpoint {
                self.find(uow.context(), endpoint).await?;
            }
            let started = ctx.clock().new_id();
            let job = RedeliverMany {
                endpoint: what.filter.endpoint,
                status: what.filter.status.unwrap_or(Status::Failed).code(),
                event_type: what.filter.event_type.clone(),
                from: what.since.map_or(Uuid::nil(), bound),
                to: what.until.map_or(started, bound).min(started),
                started,
            };
            Ok(uow.enqueue(job).watched().await?.id)
        })
        .await
    }
}

/// Runs a bulk redelivery. A run that was interrupted goes on with what it has not sent yet.
pub(crate) async fn redeliver_many(ctx: JobContext, job: RedeliverMany) -> Result<(), JobError> {
    let organisation = ctx.organisation()?;
    let mut queued = 0;
    loop {
        ctx.check_interruption()?;
        let step = async |uow: UnitOfWork| queue_selected(&uow, organisation, &job).await;
        let count = ctx.transact(step).await?;
        if count == 0 {
            return Ok(());
        }
        queued += count;
        ctx.progress_message(format!("{queued} deliveries queued"));
    }
}

async fn queue_selected(
    uow: &UnitOfWork,
    organisation: OrganisationId,
    job: &RedeliverMany,
) -> Result<u64> {
    let mut sql = "SELECT d.id, d.endpoint_id, d.message_id, d.lane FROM webhooks_deliveries d \
         JOIN webhooks_messages m ON m.id = d.message_id \
         JOIN webhooks_endpoints e ON e.id = d.endpoint_id \
         WHERE d.organisation_id = ? AND d.status = ? AND d.id >= ? AND d.id < ? \
         AND NOT EXISTS (SELECT 1 FROM webhooks_deliveries again \
         WHERE again.redelivery_of = d.id AND again.id > ?)"
        .to_owned();
    let mut values: Vec<sea_orm::Value> = vec![
        organisation.0.into(),
        job.status.into(),
        job.from.into(),
        job.to.into(),
        job.started.into(),
    ];
    if let Some(endpoint) = job.endpoint {
        sql.push_str(" AND d.endpoint_id = ?");
        values.push(endpoint.into());
    }
    if let Some(event_type) = &job.event_type {
        sql.push_str(" AND m.event_type = ?");
        values.push(event_type.as_str().into());
    }
    let _ = write!(sql, " ORDER BY d.id LIMIT {BATCH}");
    let rows = uow.rows(uow.context().database().statement(&sql, values)).await?;
    queue_again(uow, organisation, &rows).await
}

/// Queues rows of `id, endpoint_id, message_id, lane` again.
async fn queue_again(
    uow: &UnitOfWork,
    organisation: OrganisationId,
    rows: &[sea_orm::QueryResult],
) -> Result<u64> {
    let originals = read_redeliveries(rows)?;
    if originals.is_empty() {
        return Ok(0);
    }
    let new = redeliver_all(uow, organisation, &originals).await?;
    Ok(u64::try_from(new.len()).unwrap_or(u64::MAX))
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
         WHERE d.endpoint_id = ? AND d.organisation_id = ? AND d.status = ? AND d.lane <> 1 \
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
    queue_again(uow, organisation, &rows).await
}
