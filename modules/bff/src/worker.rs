//! Stores when sign-ins were used, and deletes those that are over.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use svc_core::{App, Clock, Result, Worker};
use tokio_util::sync::CancellationToken;

use crate::names::NAME;
use crate::service::Host;

/// How often it works.
const INTERVAL: Duration = Duration::from_mins(1);

pub(crate) struct BffWorker {
    host: Arc<Host>,
    clock: Clock,
}

impl BffWorker {
    pub(crate) fn new(app: &App) -> Result<Self> {
        Ok(Self { host: Host::of(app)?, clock: app.clock().clone() })
    }

    async fn work(&self) -> Result<usize> {
        let uses = self.host.store_uses().await?;
        let swept = self.host.sweep().await?;
        Ok(uses + usize::try_from(swept).unwrap_or(usize::MAX))
    }
}

#[async_trait]
impl Worker for BffWorker {
    fn name(&self) -> &'static str {
        NAME
    }

    async fn run(&self, stop: CancellationToken) -> Result<()> {
        loop {
            tokio::select! {
                () = stop.cancelled() => return self.work().await.map(drop),
                () = self.clock.sleep(INTERVAL) => self.work().await.map(drop)?,
            }
        }
    }

    async fn drain(&self) -> Result<usize> {
        self.work().await
    }
}
