//! Forgets the last versions of single records that were removed long ago, so that they don't become ever more.
//!
//! Each step is a transaction: it deletes some, and keeps the highest version of each table in `svc_forgotten_versions`.
//! A crash leaves what is left for the next sweep, and two nodes at once forget different ones.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use svc_core::{App, Clock, Result, WeakApp, Worker, micros};
use svc_database::column;
use tokio_util::sync::CancellationToken;

use crate::context::Context;
use crate::settings::DataSettings;

/// How often it looks.
const INTERVAL: Duration = Duration::from_hours(1);

/// How many are forgotten in one step: short enough that nothing waits for it.
const AT_ONCE: usize = 1_000;

const KEEP_HIGHEST: &str = "INSERT INTO svc_forgotten_versions (entity, highest) VALUES (?, ?) \
     ON CONFLICT (entity) DO UPDATE SET highest = excluded.highest \
     WHERE svc_forgotten_versions.highest < excluded.highest";

/// Forgets what was removed longer ago than it is kept.
pub(crate) struct Forgetting {
    app: WeakApp,
    clock: Clock,
    retention: Duration,
}

impl Forgetting {
    pub(crate) fn new(app: &App) -> Self {
        let retention = app.settings::<DataSettings>().removed_versions_retention;
        Self { app: app.downgrade(), clock: app.clock().clone(), retention }
    }

    async fn sweep(&self, stop: &CancellationToken) -> Result<usize> {
        let ctx = Context::system(&self.app.get()?)?;
        let retention_us = micros::of_span(self.retention);
        let before_us = self.clock.now_us().saturating_sub(retention_us);
        let mut forgotten = 0;
        loop {
            let some = forget_some(&ctx, before_us).await?;
            forgotten += some;
            if some < AT_ONCE || stop.is_cancelled() {
                return Ok(forgotten);
            }
        }
    }
}

/// Forgets some, and says how many.
async fn forget_some(ctx: &Context, before_us: i64) -> Result<usize> {
    let database = ctx.database();
    let skip = database.backend().locking(" FOR UPDATE SKIP LOCKED");
    let delete = format!(
        "DELETE FROM svc_removed_versions WHERE (entity, key) IN (SELECT entity, key FROM svc_removed_versions \
         WHERE removed_at_us < ? ORDER BY removed_at_us LIMIT {AT_ONCE}{skip}) RETURNING entity, version"
    );
    ctx.transact(async |uow| {
        let rows = uow.rows(database.statement(&delete, [before_us.into()])).await?;
        let mut highest: BTreeMap<String, i64> = BTreeMap::new();
        for row in &rows {
            let version: i64 = column(row, 1)?;
            let known = highest.entry(column(row, 0)?).or_default();
            *known = version.max(*known);
        }
        for (entity, version) in highest {
            let keep = database.statement(KEEP_HIGHEST, [entity.into(), version.into()]);
            uow.execute(keep).await?;
        }
        Ok(rows.len())
    })
    .await
}

#[async_trait]
impl Worker for Forgetting {
    fn name(&self) -> &'static str {
        "removed versions"
    }

    async fn run(&self, stop: CancellationToken) -> Result<()> {
        loop {
            self.sweep(&stop).await?;
            tokio::select! {
                () = stop.cancelled() => return Ok(()),
                () = self.clock.sleep(INTERVAL) => {}
            }
        }
    }

    async fn drain(&self) -> Result<usize> {
        self.sweep(&CancellationToken::new()).await
    }
}
