//! The worker that runs jobs.

use std::sync::Arc;

use async_trait::async_trait;
use svc_core::{Result, WeakApp, Worker};
use tokio_util::sync::CancellationToken;

use crate::service::Jobs;

mod attempt;
mod places;
mod runner;
mod settlement;
mod turns;

use runner::Runner;

/// Runs the jobs of the queue on this node.
pub(crate) struct JobsWorker {
    app: WeakApp,
    jobs: Arc<Jobs>,
}

impl JobsWorker {
    pub(crate) fn new(app: WeakApp, jobs: Arc<Jobs>) -> Self {
        Self { app, jobs }
    }

    fn runner(&self) -> Result<Runner> {
        Ok(Runner::new(self.app.get()?, Arc::clone(&self.jobs)))
    }
}

#[async_trait]
impl Worker for JobsWorker {
    fn name(&self) -> &'static str {
        "jobs"
    }

    async fn run(&self, stop: CancellationToken) -> Result<()> {
        self.runner()?.serve(stop).await;
        Ok(())
    }

    async fn drain(&self) -> Result<usize> {
        self.runner()?.drain().await
    }
}
