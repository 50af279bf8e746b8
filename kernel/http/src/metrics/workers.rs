//! The workers: whether they fail, and how often they have.

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use svc_core::{WeakApp, WorkerState};

/// Tells how the workers are doing whenever somebody scrapes.
pub(super) struct Workers(WeakApp);

impl Workers {
    pub(super) fn new(app: WeakApp) -> Self {
        Self(app)
    }
}

impl std::fmt::Debug for Workers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Workers").finish_non_exhaustive()
    }
}

impl Collector for Workers {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let Ok(app) = self.0.get() else { return Ok(()) };
        let statuses = app.worker_statuses();
        let help = "Whether a worker fails, or has since it ran for half a minute.";
        let mut failing =
            encoder.encode_descriptor("svc_worker_failing", help, None, MetricType::Gauge)?;
        for worker in &statuses {
            let is_failing = i64::from(worker.state == WorkerState::Failing);
            let labels = [("worker", worker.name)];
            let family = failing.encode_family(&labels)?;
            ConstGauge::new(is_failing).encode(family)?;
        }
        let help = "Runs of a worker that failed or panicked.";
        let mut failures =
            encoder.encode_descriptor("svc_worker_failures", help, None, MetricType::Counter)?;
        for worker in &statuses {
            let labels = [("worker", worker.name)];
            let family = failures.encode_family(&labels)?;
            ConstCounter::new(worker.failures).encode(family)?;
        }
        Ok(())
    }
}
