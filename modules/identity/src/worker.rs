//! What the module does beside requests: stores when keys and sessions were used, deletes sessions and
//! links that have ended, sends links to new passwords, and tells the log of keys that were refused.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use svc_core::{Clock, Result, WeakApp, Worker};
use tokio_util::sync::CancellationToken;

use crate::audit::RefusedSignIns;
use crate::pages::first_start;
use crate::refusals::Refusals;
use crate::resets::Resets;
use crate::service::{IdentityService, USE_INTERVAL};
use crate::sessions::Sessions;
use crate::{links, passkeys};

pub(crate) struct IdentityWorker {
    pub(crate) service: Arc<IdentityService>,
    pub(crate) refusals: Arc<Refusals>,
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) resets: Arc<Resets>,
    pub(crate) refused: Arc<RefusedSignIns>,
    pub(crate) clock: Clock,
    pub(crate) app: WeakApp,
    /// A worker that failed is started anew, and has said it already.
    pub(crate) is_announced: AtomicBool,
}

#[async_trait]
impl Worker for IdentityWorker {
    fn name(&self) -> &'static str {
        "identity"
    }

    async fn run(&self, stop: CancellationToken) -> Result<()> {
        self.announce()?;
        let mut due = self.clock.now() + USE_INTERVAL;
        loop {
            tokio::select! {
                () = stop.cancelled() => return self.end_minute().await.map(drop),
                () = self.resets.asked() => {
                    self.resets.send(&self.app.get()?).await;
                }
                () = self.clock.sleep_until(due) => {
                    due = self.clock.now() + USE_INTERVAL;
                    self.end_minute().await?;
                }
            }
        }
    }

    async fn drain(&self) -> Result<usize> {
        Ok(self.end_minute().await? + self.resets.send(&self.app.get()?).await)
    }
}

impl IdentityWorker {
    /// Says how to sign in, where this is a start in development. Only a program that serves runs workers.
    fn announce(&self) -> Result<()> {
        if self.is_announced.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        first_start::announce(&self.app.get()?)
    }

    /// Does what is due each minute, and says how much that was.
    async fn end_minute(&self) -> Result<usize> {
        self.refusals.end_minute();
        let uses = self.service.store_uses().await? + self.sessions.store_uses().await?;
        let links = links::sweep(self.service.database(), self.clock.now()).await?;
        let challenges = passkeys::sweep(self.service.database(), self.clock.now()).await?;
        let swept = self.sessions.sweep().await? + links + challenges;
        let told = self.refused.tell(&self.app.get()?).await?;
        Ok(uses + told + usize::try_from(swept).unwrap_or(usize::MAX))
    }
}
