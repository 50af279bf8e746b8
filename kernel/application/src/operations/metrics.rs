use std::sync::atomic::AtomicU64;

use async_trait::async_trait;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use svc_core::{App, Result};
use svc_events::Outbox;
use svc_http::MetricsSource;
use svc_jobs::Jobs;

type Counts<L> = Family<L, Gauge<u64, AtomicU64>>;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct HandlerLabels {
    handler: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct JobLabels {
    kind: String,
    state: String,
}

/// How much waits, and how much has failed for good.
#[derive(Default)]
pub(super) struct QueueMetrics {
    outbox_ready: Counts<HandlerLabels>,
    outbox_dead: Counts<HandlerLabels>,
    jobs: Counts<JobLabels>,
}

#[async_trait]
impl MetricsSource for QueueMetrics {
    fn register(&self, registry: &mut Registry) {
        let ready = "Messages that wait for a handler";
        registry.register("svc_outbox_ready", ready, self.outbox_ready.clone());
        let dead = "Messages that a handler failed with for good";
        registry.register("svc_outbox_dead", dead, self.outbox_dead.clone());
        registry.register("svc_jobs", "Background jobs by kind and state", self.jobs.clone());
    }

    async fn sample(&self, app: &App) -> Result<()> {
        let outbox = app.service::<Outbox>()?.statistics().await?;
        for (handler, counts) in outbox.handlers {
            let labels = HandlerLabels { handler };
            self.outbox_ready.get_or_create(&labels).set(counts.ready);
            self.outbox_dead.get_or_create(&labels).set(counts.dead);
        }
        let jobs = app.service::<Jobs>()?.statistics().await?;
        // A kind that has none left is no longer reported, and would keep its last count.
        self.jobs.clear();
        for job in jobs {
            let labels = JobLabels { kind: job.kind, state: job.state.as_str().to_owned() };
            self.jobs.get_or_create(&labels).set(job.count);
        }
        Ok(())
    }
}
