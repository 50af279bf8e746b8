//! How long a delivery takes from its commit, at a steady rate; and whether one endpoint that
//! hangs makes the others wait.

use std::time::Duration;

use bench_rounds::median;
use svc_testing::Backend;
use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::receiver::{Receiver, Report};
use crate::report::{Figure, Figures, Goal};
use crate::shop::Started;

/// How long changes are committed at the rate.
const TIME: Duration = Duration::from_secs(4);

/// The same beside an endpoint that hangs: its first requests run into their timeout meanwhile.
/// It is some two hundred commits, so that the slowest hundredth isn't a single one.
const TIME_BESIDE: Duration = Duration::from_secs(12);

/// Deliveries that wait for the endpoint that hangs.
const BURDEN: u32 = 1_000;

/// Commits single changes at a steady rate, and says how long their deliveries took.
pub(crate) async fn steady(
    started: &Started,
    receiver: &mut Receiver,
    endpoints: usize,
    rate: f64,
    time: Duration,
) -> Report {
    let commits_per_second = rate / endpoints as f64;
    let mut ticks = interval(Duration::from_secs_f64(1.0 / commits_per_second));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
    receiver.reset(true);
    let began = Instant::now();
    let mut commits = 0;
    while began.elapsed() < time {
        ticks.tick().await;
        started.commit(1, 1).await;
        commits += 1;
    }
    receiver.wait_for(commits * endpoints as u64).await
}

/// At a fifth of what ten endpoints get.
pub(crate) async fn latency(
    backend: Backend,
    receiver: &mut Receiver,
    full_rate: f64,
    figures: &mut Figures,
) {
    const ENDPOINTS: usize = 10;
    let started = Started::new(backend, receiver.port).await;
    started.endpoints(receiver, ENDPOINTS).await;
    started.app.app().start_workers();
    started.commit(20, 1).await;
    started.settled().await;
    let rate = full_rate / 5.0;
    let report = steady(&started, receiver, ENDPOINTS, rate, TIME).await;
    started.stop().await;
    let mut add = |name: &str, value: f64, unit: &'static str, goal: Option<Goal>| {
        figures.add(Figure::new(backend, "latency", name, value, unit, goal));
    };
    add("rate", report.count as f64 / report.last_s, "deliveries/s", None);
    add("p50 from commit to receipt", report.p50_ms, "ms", Some(Goal::Below(10.0)));
    add("p99 from commit to receipt", report.p99_ms, "ms", Some(Goal::Below(50.0)));
    add("longest", report.max_ms, "ms", None);
}

/// One of a hundred endpoints hangs, and a thousand deliveries wait for it.
pub(crate) async fn isolation(
    backend: Backend,
    receiver: &mut Receiver,
    full_rate: f64,
    rounds: usize,
    figures: &mut Figures,
) {
    const OTHERS: usize = 99;
    // Far from what the machine can do, or the percentiles tell of its load.
    let rate = full_rate / 10.0;
    let (mut free, mut burdened) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let started = Started::new(backend, receiver.port).await;
        started.endpoints(receiver, OTHERS).await;
        started.endpoint(receiver, "hang", &["burden.laid"]).await;
        started.app.app().start_workers();
        started.commit(20, 1).await;
        started.settled().await;
        // Writing to an empty log is cheaper, and only the first part would.
        let _ = steady(&started, receiver, OTHERS, rate, TIME_BESIDE).await;
        free.push(steady(&started, receiver, OTHERS, rate, TIME_BESIDE).await);
        started.burden(BURDEN).await;
        // The backlog is what may delay others, not that it is being laid.
        started.fanned_out().await;
        let until = Instant::now() + Duration::from_secs(10);
        while receiver.report().hanging == 0 {
            assert!(Instant::now() < until, "nothing came to the endpoint that hangs");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        burdened.push(steady(&started, receiver, OTHERS, rate, TIME_BESIDE).await);
        started.stop().await;
    }
    let p99 = |reports: &[Report]| median(reports.iter().map(|report| report.p99_ms).collect());
    let (before, after) = (p99(&free), p99(&burdened));
    let mut add = |name: &str, value: f64, unit: &'static str, goal: Option<Goal>| {
        figures.add(Figure::new(backend, "isolation", name, value, unit, goal));
    };
    add("p99 of 99 endpoints, nobody hangs", before, "ms", None);
    add("p99 of 99 endpoints, another hangs", after, "ms", None);
    add("ratio", after / before, "", Some(Goal::Below(1.2)));
}
