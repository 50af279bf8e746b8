//! Deletes what is older than the log keeps, once a day.

use serde::{Deserialize, Serialize};
use svc_core::Result;
use svc_data::Context;
use svc_jobs::{Job, JobContext, JobError};

use crate::settings::WebhooksSettings;
use crate::store::first_id_at;

/// Rows that one transaction deletes: short enough that nothing waits for it.
const BATCH: u64 = 1_000;

/// An hour, in microseconds.
const HOUR_US: i64 = 60 * 60 * 1_000_000;

/// A day, in microseconds.
const DAY_US: i64 = 24 * HOUR_US;

/// Deletes deliveries, and the messages of them, that are older than the log keeps.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct DeleteOldDeliveries {}

impl Job for DeleteOldDeliveries {
    const NAME: &'static str = "webhooks.delete_old";
}

/// Runs the job. A message is as old as its deliveries, so both go by age alone; deliveries go
/// first, so that none is ever without its message.
pub(crate) async fn delete_old_deliveries(
    ctx: JobContext,
    _: DeleteOldDeliveries,
) -> Result<(), JobError> {
    let days = i64::from(ctx.app().settings::<WebhooksSettings>().log_retention_days);
    let before = first_id_at(ctx.clock().now_us() - days * DAY_US);
    let mut deleted = 0;
    // A message is made a moment before its deliveries, so it stays an hour longer.
    let messages_before = first_id_at(ctx.clock().now_us() - days * DAY_US - HOUR_US);
    for (table, before) in [("webhooks_deliveries", before), ("webhooks_messages", messages_before)]
    {
        loop {
            ctx.check_interruption()?;
            let count = delete_batch(&ctx, table, before).await?;
            if count == 0 {
                break;
            }
            deleted += count;
            ctx.progress_message(format!("{deleted} rows deleted"));
        }
    }
    Ok(())
}

async fn delete_batch(ctx: &Context, table: &str, before: uuid::Uuid) -> Result<u64> {
    let sql = format!(
        "DELETE FROM {table} WHERE id IN \
         (SELECT id FROM {table} WHERE id < ? ORDER BY id LIMIT {BATCH})"
    );
    let statement = ctx.database().statement(&sql, [before.into()]);
    ctx.transact(async |uow| uow.execute(statement).await).await
}
