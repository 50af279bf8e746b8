//! Sending many deliveries in the background: what an endpoint missed (what was not queued while
//! it was switched off, and what failed for good and was not sent again since), or what a filter
//! selects.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use svc_core::{Error, ErrorKind, OrganisationId, Result};
use svc_data::{Context, UnitOfWork};
use svc_jobs::{EnqueueJobs as _, Job, JobContext, JobError, JobId};
use time::OffsetDateTime;
use uuid::Uuid;

use super::deliveries::{DeliveryFilter, read_redeliveries, redeliver_all};
use super::{Service, owner};
use crate::WAKE_TOPIC;
use crate::model::{Status, endpoint};
use crate::store::{column, first_id_at, ids, is_one_of, micros, read_all};

/// Deliveries that one unit of work queues.
const BATCH: u64 = 500;

/// Deliveries that are counted at most, for the progress in percent.
const COUNTED: u64 = 1_000_000;

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
            let found = self.find(uow.context(), endpoint).await?;
            owner::require(&uow, found.owner_id).await?;
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
        if what.filter.event_type.as_ref().is_some_and(|name| name.contains('\0')) {
            // PostgreSQL refuses it in text, and the job could only fail.
            return Err(Error::invalid("the selection is not valid")
                .field("eventType", "must not contain the character U+0000"));
        }
        let bound = |time: OffsetDateTime| first_id_at(micros(time));
        ctx.transact(async |uow| {
            if let Some(endpoint) = what.filter.endpoint {
                let found = self.find(uow.context(), endpoint).await?;
                owner::require(&uow, found.owner_id).await?;
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

/// Rows of deliveries, as the part of a statement from `FROM` on, with the values of its marks.
struct Rows {
    sql: String,
    values: Vec<sea_orm::Value>,
}

impl Rows {
    /// What a bulk redelivery has not sent yet.
    async fn selected(
        uow: &UnitOfWork,
        organisation: OrganisationId,
        job: &RedeliverMany,
        from: Uuid,
    ) -> Result<Self> {
        let mut sql = "FROM webhooks_deliveries d \
             JOIN webhooks_messages m ON m.id = d.message_id \
             JOIN webhooks_endpoints e ON e.id = d.endpoint_id \
             WHERE d.organisation_id = ? AND d.status = ? AND d.id >= ? AND d.id < ? \
             AND NOT EXISTS (SELECT 1 FROM webhooks_deliveries again \
             WHERE again.redelivery_of = d.id AND again.id > ?)"
            .to_owned();
        let mut values: Vec<sea_orm::Value> = vec![
            organisation.0.into(),
            job.status.into(),
            from.into(),
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
        let abandoned = owner::abandoned(uow, organisation).await?;
        if !abandoned.is_empty() {
            let backend = uow.context().database().backend();
            let _ = write!(sql, " AND NOT ({})", is_one_of(backend, "d.endpoint_id"));
            values.push(ids(abandoned));
        }
        Ok(Self { sql, values })
    }

    /// What was never queued.
    fn missed(organisation: OrganisationId, job: &RecoverDeliveries, from: Uuid) -> Self {
        let sql = "FROM webhooks_deliveries d WHERE d.endpoint_id = ? AND d.organisation_id = ? \
                   AND d.status = ? AND d.id >= ? AND d.id < ?";
        Self { sql: sql.to_owned(), values: job.values(organisation, Status::Missed, from) }
    }

    /// What failed for good, and was neither sent again nor waits to be.
    fn failed(organisation: OrganisationId, job: &RecoverDeliveries, from: Uuid) -> Self {
        let sql = "FROM webhooks_deliveries d WHERE d.endpoint_id = ? AND d.organisation_id = ? \
                   AND d.status = ? AND d.id >= ? AND d.id < ? AND d.lane <> 1 \
                   AND NOT EXISTS (SELECT 1 FROM webhooks_deliveries again \
                   WHERE again.redelivery_of = d.id)";
        Self { sql: sql.to_owned(), values: job.values(organisation, Status::Failed, from) }
    }

    /// How many there are, [`COUNTED`] at most.
    async fn count(self, uow: &UnitOfWork) -> Result<u64> {
        let Self { sql, values } = self;
        let sql = format!("SELECT COUNT(*) FROM (SELECT 1 {sql} LIMIT {COUNTED}) AS counted");
        let rows = uow.rows(uow.context().database().statement(&sql, values)).await?;
        let count: i64 = rows.first().map_or(Ok(0), |row| column(row, 0))?;
        Ok(u64::try_from(count).unwrap_or(0))
    }

    /// Queues the first of them again, as new deliveries.
    async fn queue_again(self, uow: &UnitOfWork, organisation: OrganisationId) -> Result<Step> {
        let Self { sql, values } = self;
        let sql = format!(
            "SELECT d.id, d.endpoint_id, d.message_id, d.lane {sql} ORDER BY d.id LIMIT {BATCH}"
        );
        let rows = uow.rows(uow.context().database().statement(&sql, values)).await?;
        let originals = read_redeliveries(&rows)?;
        if !originals.is_empty() {
            redeliver_all(uow, organisation, &originals).await?;
        }
        Ok(Step::of(originals.iter().map(|original| original.id)))
    }

    /// Queues the first of them, which never were.
    async fn queue(self, uow: &UnitOfWork) -> Result<Step> {
        let Self { sql, values } = self;
        let sql = format!(
            "UPDATE webhooks_deliveries SET status = ?, due_us = ? \
             WHERE id IN (SELECT d.id {sql} ORDER BY d.id LIMIT {BATCH}) RETURNING id"
        );
        let now = uow.context().clock().now_us();
        let head = [Status::Queued.code().into(), now.into()];
        let values = head.into_iter().chain(values);
        let rows = uow.rows(uow.context().database().statement(&sql, values)).await?;
        let queued = read_all(&rows, |row| row.try_get_by_index::<Uuid>(0))?;
        if !queued.is_empty() {
            uow.wake_after_commit(WAKE_TOPIC);
        }
        Ok(Step::of(queued))
    }
}

/// What one unit of work queued.
#[derive(Clone, Copy)]
struct Step {
    count: u64,
    /// The last of it; none when there was nothing left.
    last: Option<Uuid>,
}

impl Step {
    const NOTHING: Self = Self { count: 0, last: None };

    fn of(queued: impl IntoIterator<Item = Uuid>) -> Self {
        let add = |step: Self, id| Self { count: step.count + 1, last: step.last.max(Some(id)) };
        queued.into_iter().fold(Self::NOTHING, add)
    }
}

/// Where a job goes on in its span: what lies before was queued already, and is not walked again
/// for each batch. At the end it begins anew, since something stored by work that took long to
/// commit may have come to lie before; a walk that finds nothing is the last.
struct Place {
    start: Uuid,
    next: Uuid,
}

impl Place {
    fn new(start: Uuid) -> Self {
        Self { start, next: start }
    }

    /// Goes on behind a step; false when all is done.
    fn pass(&mut self, step: Step) -> bool {
        let Some(last) = step.last else {
            return std::mem::replace(&mut self.next, self.start) != self.start;
        };
        self.next = Uuid::from_u128(last.as_u128().saturating_add(1));
        true
    }
}

impl RecoverDeliveries {
    fn values(
        &self,
        organisation: OrganisationId,
        status: Status,
        from: Uuid,
    ) -> Vec<sea_orm::Value> {
        vec![
            self.endpoint.into(),
            organisation.0.into(),
            status.code().into(),
            from.into(),
            self.to.into(),
        ]
    }
}

/// How far a job is.
struct Progress {
    total: u64,
    queued: u64,
}

impl Progress {
    fn new(total: u64) -> Self {
        Self { total, queued: 0 }
    }

    /// Notes deliveries that were queued.
    fn add(&mut self, ctx: &JobContext, count: u64) {
        self.queued += count;
        let percent = (self.queued * 100).checked_div(self.total).unwrap_or(100);
        // More may have come in between; the end is the end.
        self.tell(ctx, percent.min(99));
    }

    fn end(&self, ctx: &JobContext) {
        self.tell(ctx, 100);
    }

    fn tell(&self, ctx: &JobContext, percent: u64) {
        let message = format!("{} deliveries queued", self.queued);
        ctx.progress(u8::try_from(percent).unwrap_or(100), message);
    }
}

/// Runs a bulk redelivery. A run that was interrupted goes on with what it has not sent yet.
pub(crate) async fn redeliver_many(ctx: JobContext, job: RedeliverMany) -> Result<(), JobError> {
    let organisation = ctx.organisation()?;
    let count = async |uow: UnitOfWork| {
        Rows::selected(&uow, organisation, &job, job.from).await?.count(&uow).await
    };
    let mut progress = Progress::new(ctx.transact(count).await?);
    let mut place = Place::new(job.from);
    loop {
        ctx.check_interruption()?;
        let from = place.next;
        let step = async |uow: UnitOfWork| {
            let rows = Rows::selected(&uow, organisation, &job, from).await?;
            rows.queue_again(&uow, organisation).await
        };
        let step = ctx.transact(step).await?;
        progress.add(&ctx, step.count);
        if !place.pass(step) {
            progress.end(&ctx);
            return Ok(());
        }
    }
}

/// Runs a recovery. Each run finds what is left, so one that was interrupted goes on.
pub(crate) async fn recover_deliveries(
    ctx: JobContext,
    job: RecoverDeliveries,
) -> Result<(), JobError> {
    let organisation = ctx.organisation()?;
    let count = async |uow: UnitOfWork| {
        let missed = Rows::missed(organisation, &job, job.from).count(&uow).await?;
        Ok(missed + Rows::failed(organisation, &job, job.from).count(&uow).await?)
    };
    let mut progress = Progress::new(ctx.transact(count).await?);
    for status in [Status::Missed, Status::Failed] {
        let mut place = Place::new(job.from);
        loop {
            ctx.check_interruption()?;
            let from = place.next;
            let step = async |uow: UnitOfWork| {
                let found = uow.find::<endpoint::Entity>(job.endpoint).await;
                if found.as_ref().is_err_and(|error| error.kind() == ErrorKind::NotFound) {
                    return Ok(Step::NOTHING);
                }
                if owner::abandoned(&uow, organisation).await?.contains(&found?.id) {
                    return Ok(Step::NOTHING);
                }
                if status == Status::Missed {
                    return Rows::missed(organisation, &job, from).queue(&uow).await;
                }
                Rows::failed(organisation, &job, from).queue_again(&uow, organisation).await
            };
            let step = ctx.transact(step).await?;
            progress.add(&ctx, step.count);
            if !place.pass(step) {
                break;
            }
        }
    }
    progress.end(&ctx);
    Ok(())
}
