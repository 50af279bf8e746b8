//! Whether a burst of one organisation that has many endpoints makes another wait.

use std::time::Duration;

use bench_rounds::median;
use svc_testing::Backend;

use crate::latency::steady;
use crate::receiver::{Receiver, Report};
use crate::report::{Figure, Figures, Goal};
use crate::shop::Started;

/// How long the other organisation's changes are committed.
const TIME: Duration = Duration::from_secs(12);

/// Its changes in a second, each for one endpoint.
const RATE: f64 = 20.0;

/// Endpoints of the organisation that has the burst.
const ENDPOINTS: usize = 300;

/// Changes of the burst.
const CHANGES: usize = 200;

pub(crate) async fn measure(
    backend: Backend,
    receiver: &mut Receiver,
    rounds: usize,
    figures: &mut Figures,
) {
    let (mut alone, mut beside) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let many = Receiver::start();
        let started = Started::beside(backend, &[receiver.port, many.port]).await;
        started.endpoints(&many, ENDPOINTS).await;
        let other = started.in_another_organisation();
        other.endpoints(receiver, 1).await;
        started.app.app().start_workers();
        other.commit(20, 1).await;
        started.commit(20, 1).await;
        started.settled().await;
        alone.push(steady(&other, receiver, 1, RATE, TIME).await);
        let bursts = async {
            tokio::time::sleep(TIME / 10).await;
            started.commit(CHANGES, 100).await;
        };
        let (report, ()) = tokio::join!(steady(&other, receiver, 1, RATE, TIME), bursts);
        beside.push(report);
        started.settled().await;
        started.stop().await;
    }
    let of = |reports: &[Report], figure: fn(&Report) -> f64| {
        median(reports.iter().map(figure).collect())
    };
    let mut add = |name: &str, value: f64, goal: Option<Goal>| {
        figures.add(Figure::new(backend, "burst", name, value, "ms", goal));
    };
    add("p50, nobody else", of(&alone, |report| report.p50_ms), None);
    add("longest, nobody else", of(&alone, |report| report.max_ms), None);
    add("p50 beside the burst", of(&beside, |report| report.p50_ms), None);
    add("p99 beside the burst", of(&beside, |report| report.p99_ms), None);
    add(
        "longest beside the burst",
        of(&beside, |report| report.max_ms),
        Some(Goal::Below(1_000.0)),
    );
}
