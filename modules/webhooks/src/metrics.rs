//! What operators measure: attempts as they end, and the backlog when somebody scrapes.

use std::sync::atomic::AtomicI64;
use std::time::Duration;

use async_trait::async_trait;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use svc_core::{App, Result};
use svc_database::Database;
use svc_http::MetricsSource;

use crate::model::Status;
use crate::store::queues;

/// The bounds of the histogram of durations, in seconds.
const BOUNDS: [f64; 11] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

/// The backlog is counted up to this number: a scrape never walks a long one.
const COUNTED: i64 = 100_000;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Outcome {
    outcome: &'static str,
}

/// The measurements of deliveries.
pub(crate) struct DeliveryMetrics {
    attempts: Family<Outcome, Counter>,
    failed: Counter,
    durations: Histogram,
    waiting: Gauge<i64, AtomicI64>,
    oldest: Gauge<i64, AtomicI64>,
}

impl Default for DeliveryMetrics {
    fn default() -> Self {
        Self {
            attempts: Family::default(),
            failed: Counter::default(),
            durations: Histogram::new(BOUNDS),
            waiting: Gauge::default(),
            oldest: Gauge::default(),
        }
    }
}

impl DeliveryMetrics {
    pub(crate) fn attempt(&self, outcome: &'static str, duration: Duration, status: Status) {
        self.attempts.get_or_create(&Outcome { outcome }).inc();
        self.durations.observe(duration.as_secs_f64());
        if status == Status::Failed {
            self.failed.inc();
        }
    }
}

#[async_trait]
impl MetricsSource for DeliveryMetrics {
    fn register(&self, registry: &mut Registry) {
        registry.register(
            "svc_webhooks_attempts",
            "Attempts at deliveries, by how they ended",
            self.attempts.clone(),
        );
        registry.register(
            "svc_webhooks_deliveries_failed",
            "Deliveries that failed for good",
            self.failed.clone(),
        );
        registry.register(
            "svc_webhooks_attempt_duration_seconds",
            "How long attempts took",
            self.durations.clone(),
        );
        registry.register(
            "svc_webhooks_deliveries_waiting",
            "Deliveries that wait or are being sent, held ones included, counted up to 100000",
            self.waiting.clone(),
        );
        registry.register(
            "svc_webhooks_oldest_due_seconds",
            "How long the delivery that is due longest has been due; those held don't count",
            self.oldest.clone(),
        );
    }

    async fn sample(&self, app: &App) -> Result<()> {
        let database = app.service::<Database>()?;
        let now = app.clock().now_us();
        self.waiting.set(queues::waiting(&database, COUNTED).await?);
        let oldest = queues::oldest_due(&database, now).await?;
        self.oldest.set(oldest.map_or(0, |due| (now - due).max(0) / 1_000_000));
        Ok(())
    }
}
