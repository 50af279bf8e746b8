//! Makes the first key and the next ones, and deletes what has ended.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use svc_core::{App, Clock, Result, Worker};
use svc_database::Database;
use tokio_util::sync::CancellationToken;

use super::grants;
use super::signing_keys::SigningKeys;

pub(super) const NAME: &str = "openid";

/// How often it looks.
const INTERVAL: Duration = Duration::from_mins(10);

/// Rows that one statement deletes: short enough that nothing waits for it.
const BATCH: u64 = 1_000;

pub(super) struct ProviderWorker {
    database: Database,
    clock: Clock,
    keys: Arc<SigningKeys>,
}

impl ProviderWorker {
    pub(super) fn new(app: &App) -> Result<Self> {
        Ok(Self {
            database: app.service::<Database>()?.as_ref().clone(),
            clock: app.clock().clone(),
            keys: app.service()?,
        })
    }

    async fn work(&self) -> Result<usize> {
        let mut done = self.keys.rotate().await?;
        loop {
            let swept = grants::sweep(&self.database, self.clock.now_us(), BATCH).await?;
            if swept == 0 {
                return Ok(done);
            }
            done += usize::try_from(swept).unwrap_or(usize::MAX);
        }
    }
}

#[async_trait]
impl Worker for ProviderWorker {
    fn name(&self) -> &'static str {
        NAME
    }

    async fn run(&self, stop: CancellationToken) -> Result<()> {
        // Whoever signs in first would wait for the key otherwise, and a program that asks for its tokens
        // with a limit on time might give up.
        self.keys.keys().await?;
        loop {
            self.work().await?;
            tokio::select! {
                () = stop.cancelled() => return Ok(()),
                () = self.clock.sleep(INTERVAL) => {}
            }
        }
    }

    async fn drain(&self) -> Result<usize> {
        self.work().await
    }
}
