//! Stores when keys were used, and tells the log of those that were refused.

use std::sync::Arc;

use async_trait::async_trait;
use svc_core::{Clock, Result, Worker};
use tokio_util::sync::CancellationToken;

use crate::refusals::Refusals;
use crate::service::{IdentityService, USE_INTERVAL};

pub(crate) struct IdentityWorker {
    pub(crate) service: Arc<IdentityService>,
    pub(crate) refusals: Arc<Refusals>,
    pub(crate) clock: Clock,
}

#[async_trait]
impl Worker for IdentityWorker {
    fn name(&self) -> &'static str {
        "identity"
    }

    async fn run(&self, stop: CancellationToken) -> Result<()> {
        let mut due = self.clock.now() + USE_INTERVAL;
        loop {
            tokio::select! {
                () = stop.cancelled() => {
                    self.refusals.end_minute();
                    return self.service.store_uses().await.map(drop);
                }
                () = self.clock.sleep_until(due) => {
                    due = self.clock.now() + USE_INTERVAL;
                    self.refusals.end_minute();
                    self.service.store_uses().await?;
                }
            }
        }
    }

    async fn drain(&self) -> Result<usize> {
        self.refusals.end_minute();
        self.service.store_uses().await
    }
}
