//! Deliveries per second from committed changes to the receiver, and what one costs.

use bench_rounds::median;
use svc_testing::Backend;

use crate::ceiling;
use crate::cpu::{self, Meter};
use crate::receiver::Receiver;
use crate::report::{Figure, Figures, Goal};
use crate::shop::Started;

/// Deliveries of one round, by the number of endpoints.
const SIZES: [(usize, usize); 3] = [(1, 15_000), (10, 40_000), (100, 40_000)];

/// What one round brought.
struct Round {
    ceiling: f64,
    /// Deliveries per second of changes that had been committed before.
    rate: f64,
    /// CPU milliseconds of application and database for each of them.
    cpu_ms: f64,
    application_ms: f64,
    /// Deliveries per second while the changes are being committed, and CPU for all of it.
    with_producer: f64,
    with_producer_cpu_ms: f64,
    resident_mib: f64,
}

pub(crate) async fn measure(
    backend: Backend,
    receiver: &mut Receiver,
    rounds: usize,
    endpoints: Option<usize>,
    figures: &mut Figures,
) {
    let (_, best) = ceiling::measure(receiver, &ceiling::CONNECTIONS).await;
    for (endpoints, deliveries) in
        SIZES.into_iter().filter(|(size, _)| endpoints.is_none_or(|wanted| wanted == *size))
    {
        let mut all = Vec::new();
        for _ in 0..rounds {
            all.push(round(backend, receiver, best, endpoints, deliveries).await);
        }
        record(backend, endpoints, &all, figures);
    }
}

async fn round(
    backend: Backend,
    receiver: &mut Receiver,
    connections: usize,
    endpoints: usize,
    deliveries: usize,
) -> Round {
    let (ceiling, _) = ceiling::measure(receiver, &[connections]).await;
    let started = Started::new(backend, receiver.port).await;
    started.endpoints(receiver, endpoints).await;
    let meter = Meter::new(&started.app).await;
    let changes = deliveries / endpoints;
    started.commit(changes, 50).await;
    let count = (changes * endpoints) as u64;
    receiver.reset(false);
    let before = meter.read();
    started.app.app().start_workers();
    let report = receiver.wait_for(count).await;
    started.settled().await;
    let spent = meter.read().since(before);
    let per_delivery = |seconds: f64| seconds * 1_000.0 / count as f64;

    let changes = changes / 2;
    let produced = (changes * endpoints) as u64;
    receiver.reset(false);
    let before = meter.read();
    started.commit(changes, 1).await;
    let second = receiver.wait_for(produced).await;
    started.settled().await;
    let with_producer = meter.read().since(before);
    let resident_mib = cpu::resident_mib();
    started.stop().await;
    Round {
        ceiling,
        rate: report.count as f64 / report.last_s,
        cpu_ms: per_delivery(spent.all()),
        application_ms: per_delivery(spent.application),
        with_producer: second.count as f64 / second.last_s,
        with_producer_cpu_ms: with_producer.all() * 1_000.0 / produced as f64,
        resident_mib,
    }
}

fn record(backend: Backend, endpoints: usize, rounds: &[Round], figures: &mut Figures) {
    let of = |pick: fn(&Round) -> f64| median(rounds.iter().map(pick).collect());
    let mut add = |name: &str, value: f64, unit: &'static str, goal: Option<Goal>| {
        let name = format!("{name}, {endpoints} endpoints");
        figures.add(Figure::new(backend, "throughput", &name, value, unit, goal));
    };
    let least = Goal::AtLeast(0.4);
    add("ceiling", of(|round| round.ceiling), "posts/s", None);
    add("committed to received", of(|round| round.rate), "deliveries/s", None);
    add("ratio to the ceiling", of(|round| round.rate / round.ceiling), "", Some(least));
    let cost = (endpoints == 10).then_some(Goal::Below(0.12));
    add("CPU of application and database", of(|round| round.cpu_ms), "ms/delivery", cost);
    add("of which application", of(|round| round.application_ms), "ms/delivery", None);
    add("with the producer beside", of(|round| round.with_producer), "deliveries/s", None);
    add("CPU with the producer", of(|round| round.with_producer_cpu_ms), "ms/delivery", None);
    add("resident", of(|round| round.resident_mib), "MiB", None);
}
