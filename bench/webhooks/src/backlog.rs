//! Whether a delivery costs the same with a thousand and with a million waiting.

use bench_rounds::median;
use svc_testing::Backend;

use crate::cpu::{self, Meter};
use crate::receiver::Receiver;
use crate::report::{Figure, Figures, Goal};
use crate::shop::Started;

/// Deliveries that are sent in one measurement.
const SENT: i64 = 10_000;

const DEEP: i64 = 1_000_000;

/// Ten endpoints, and a backlog shared evenly among them.
const ENDPOINTS: i64 = 10;

pub(crate) async fn measure(
    backend: Backend,
    receiver: &mut Receiver,
    rounds: usize,
    figures: &mut Figures,
) {
    let mut ratios = Vec::new();
    let (mut shallow, mut deep, mut resident) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        let (few, _) = cost(backend, receiver, 1_000).await;
        let (many, mib) = cost(backend, receiver, DEEP).await;
        ratios.push(many / few);
        shallow.push(few);
        deep.push(many);
        resident.push(mib);
    }
    let mut add = |name: &str, value: f64, unit: &'static str, goal: Option<Goal>| {
        figures.add(Figure::new(backend, "backlog", name, value, unit, goal));
    };
    add("CPU with 1,000 waiting", median(shallow), "ms/delivery", None);
    add("CPU with 1,000,000 waiting", median(deep), "ms/delivery", None);
    add("ratio", median(ratios), "", Some(Goal::Below(1.3)));
    add("resident with 1,000,000 waiting", median(resident), "MiB", None);
}

/// CPU milliseconds for each of the first deliveries of a backlog of this size, and the memory.
async fn cost(backend: Backend, receiver: &mut Receiver, waiting: i64) -> (f64, f64) {
    let started = Started::new(backend, receiver.port).await;
    started.endpoints(receiver, usize::try_from(ENDPOINTS).unwrap()).await;
    let meter = Meter::new(&started.app).await;
    // Enough turns of a short backlog to be worth a measurement.
    let turns = if waiting < SENT { SENT / waiting } else { 1 };
    let (mut seconds, mut sent) = (0.0, 0);
    started.fill(waiting).await;
    receiver.reset(false);
    let mut before = meter.read();
    started.app.app().start_workers();
    for turn in 0..turns {
        if turn > 0 {
            started.fill(waiting).await;
            receiver.reset(false);
            before = meter.read();
            started.wake();
        }
        let wanted = u64::try_from(waiting.min(SENT)).unwrap();
        sent += receiver.wait_for(wanted).await.count;
        seconds += meter.read().since(before).all();
    }
    let resident = cpu::resident_mib();
    started.stop().await;
    (seconds * 1_000.0 / sent as f64, resident)
}
