//! Deletes what is older than the log keeps, once a day, and what is left of deleted endpoints.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use svc_core::{Result, micros};
use svc_data::{Context, UnitOfWork};
use svc_jobs::{EnqueueJobs as _, Job, JobContext, JobError};
use uuid::Uuid;

use crate::settings::WebhooksSettings;
use crate::store::Place;
use crate::store::deletions::{self, Aged};

/// An hour, in microseconds.
const HOUR_US: i64 = 60 * 60 * 1_000_000;

/// A day, in microseconds.
const DAY_US: i64 = 24 * HOUR_US;

/// How long after a job that runs another one looks whether it left something.
const AGAIN: Duration = Duration::from_mins(1);

/// Deletes the deliveries of an organisation's endpoints that are gone, one endpoint after the other: all together
/// they hold up nobody longer than one step does.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct DeleteDeliveries {}

impl Job for DeleteDeliveries {
    const NAME: &'static str = "webhooks.delete_of_endpoint";
}

/// Enqueues the job where none waits or runs. One that runs may have looked for the last time, so another looks
/// later.
pub(crate) async fn enqueue_deletion(uow: &UnitOfWork) -> Result<()> {
    let first = uow.enqueue(DeleteDeliveries {}).unique("deletions").await?;
    if !first.is_new {
        let again = uow.enqueue(DeleteDeliveries {}).unique_while_waiting("deletions, again");
        let _ = again.run_in(AGAIN).await?;
    }
    Ok(())
}

/// Runs the job. One that was interrupted begins anew, and finds what is left.
pub(crate) async fn delete_deliveries(
    ctx: JobContext,
    _: DeleteDeliveries,
) -> Result<(), JobError> {
    let organisation = ctx.context().organisation()?;
    while let Some(endpoint) = deletions::next(ctx.context().database(), organisation).await? {
        sweep(&ctx, endpoint).await?;
        ctx.transact(async |uow| deletions::is_swept(&uow, endpoint).await).await?;
    }
    Ok(())
}

async fn sweep(ctx: &JobContext, endpoint: Uuid) -> Result<(), JobError> {
    let mut place = Some(Place::default());
    let mut deleted = 0;
    while let Some(at) = place {
        ctx.check_interruption()?;
        let step = ctx.transact(async |uow| deletions::step(&uow, endpoint, at).await).await?;
        deleted += step.0;
        place = step.1;
        ctx.progress_message(format!("{deleted} deliveries deleted"));
    }
    Ok(())
}

/// Sweeps behind deleted endpoints once more: work that had begun before the deletion may have stored
/// deliveries after it.
async fn sweep_all(ctx: &JobContext) -> Result<(), JobError> {
    for (endpoint, deleted_us) in deletions::all(ctx.context().database()).await? {
        sweep(ctx, endpoint).await?;
        if deleted_us < ctx.clock().now_us() - HOUR_US {
            ctx.transact(async |uow| deletions::forget(&uow, endpoint).await).await?;
        }
    }
    Ok(())
}

/// Deletes deliveries, the messages of them, and what is noted of backfills, that are older than the log keeps.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct DeleteOldDeliveries {}

impl Job for DeleteOldDeliveries {
    const NAME: &'static str = "webhooks.delete_old";
}

/// The first identifier that the log still keeps.
pub(crate) fn oldest(ctx: &Context) -> Uuid {
    micros::first_id(oldest_us(ctx))
}

fn oldest_us(ctx: &Context) -> i64 {
    let days = i64::from(ctx.app().settings::<WebhooksSettings>().log_retention_days);
    ctx.clock().now_us() - days * DAY_US
}

/// Runs the job. A message is as old as its deliveries, so both go by age alone; deliveries go
/// first, so that none is ever without its message.
pub(crate) async fn delete_old_deliveries(
    ctx: JobContext,
    _: DeleteOldDeliveries,
) -> Result<(), JobError> {
    sweep_all(&ctx).await?;
    let before = oldest(ctx.context());
    let mut deleted = 0;
    // A message is made a moment before its deliveries, so it stays an hour longer.
    let messages_before = micros::first_id(oldest_us(ctx.context()) - HOUR_US);
    for (what, before) in [
        (Aged::Attempts, before),
        (Aged::Deliveries, before),
        (Aged::Messages, messages_before),
        (Aged::Backfills, before),
    ] {
        loop {
            ctx.check_interruption()?;
            let step = ctx.transact(async |uow| deletions::aged(&uow, what, before).await);
            let count = step.await?;
            if count == 0 {
                break;
            }
            deleted += count;
            ctx.progress_message(format!("{deleted} rows deleted"));
        }
    }
    Ok(())
}
