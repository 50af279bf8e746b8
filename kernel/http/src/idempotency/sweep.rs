//! Deletes answers that are older than they are kept.

use std::time::Duration;

use async_trait::async_trait;
use svc_core::{App, Clock, Result, WeakApp, Worker, micros};
use svc_database::Database;
use tokio_util::sync::CancellationToken;

use crate::settings::HttpSettings;

/// How often it looks.
const INTERVAL: Duration = Duration::from_hours(1);

/// Rows that one statement deletes: short enough that nothing waits for it.
const BATCH: u64 = 1_000;

/// Deletes answers that are older than they are kept.
pub(crate) struct Sweep {
    app: WeakApp,
    clock: Clock,
    retention: Duration,
}

impl Sweep {
    pub(crate) fn new(app: &App) -> Self {
        Self {
            app: app.downgrade(),
            clock: app.clock().clone(),
            retention: app.settings::<HttpSettings>().idempotency_retention,
        }
    }

    async fn sweep(&self) -> Result<usize> {
        let database = self.app.get()?.service::<Database>()?;
        let before = self.clock.now_us() - micros::of_span(self.retention);
        let mut deleted = 0;
        loop {
            let sql = format!(
                "DELETE FROM svc_idempotency_keys WHERE id IN (SELECT id FROM \
                 svc_idempotency_keys WHERE created_at_us <= ? \
                 ORDER BY created_at_us LIMIT {BATCH})"
            );
            let count = database.execute(database.statement(&sql, [before.into()])).await?;
            if count == 0 {
                return Ok(deleted);
            }
            deleted += usize::try_from(count).unwrap_or(usize::MAX);
        }
    }
}

#[async_trait]
impl Worker for Sweep {
    fn name(&self) -> &'static str {
        "idempotency"
    }

    async fn run(&self, stop: CancellationToken) -> Result<()> {
        loop {
            self.sweep().await?;
            tokio::select! {
                () = stop.cancelled() => return Ok(()),
                () = self.clock.sleep(INTERVAL) => {}
            }
        }
    }

    async fn drain(&self) -> Result<usize> {
        self.sweep().await
    }
}
