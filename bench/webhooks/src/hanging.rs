//! Whether endpoints that go black make the others wait, those of one provider and such as have an origin each:
//! ten, a hundred, three hundred of them, at once and one after the other.

use std::ops::Range;
use std::time::Duration;

use bench_rounds::median;
use svc_testing::Backend;
use tokio::time::Instant;

use crate::latency::steady;
use crate::receiver::{Receiver, Report};
use crate::report::{Figure, Figures, Goal};
use crate::shop::Started;

/// How long changes are committed at the rate beside each.
const TIME: Duration = Duration::from_secs(12);

/// How long before, so that the application is warm.
const BEFORE: Duration = Duration::from_secs(4);

/// How often something comes that the endpoints that hang want.
const BURDENS_PER_SECOND: u32 = 2;

/// Where the endpoints are that hang.
#[derive(Clone, Copy)]
enum Place {
    /// At one origin.
    Together,
    /// Each at an origin of its own.
    Apart,
}

const PLACES: [Place; 2] = [Place::Together, Place::Apart];

/// The endpoints that are well.
const OTHERS: usize = 99;

pub(crate) async fn measure(
    backend: Backend,
    receiver: &mut Receiver,
    full_rate: f64,
    rounds: usize,
    figures: &mut Figures,
) {
    // Far from what the machine can do, or the percentiles tell of its load.
    let rate = full_rate / 10.0;
    for count in [10, 100, 300] {
        let (mut free, mut well) = (Vec::new(), Vec::new());
        let mut hanging = [const { (Vec::new(), Vec::new()) }; PLACES.len()];
        for _ in 0..rounds {
            let provider = Receiver::start();
            let started = begin(backend, receiver, &provider, rate).await;
            free.push(steady(&started, receiver, OTHERS, rate, TIME).await);
            // What as many cost that answer.
            subscribe(&started, &provider, Place::Together, "well", 0..count).await;
            well.push(beside(&started, receiver, rate).await);
            started.stop().await;
            for (place, (at_once, in_turn)) in PLACES.into_iter().zip(&mut hanging) {
                let provider = Receiver::start();
                let started = begin(backend, receiver, &provider, rate).await;
                subscribe(&started, &provider, place, "hang", 0..count).await;
                at_once.push(beside(&started, receiver, rate).await);
                started.stop().await;
                // They begin one after the other, each as its first event comes.
                let provider = Receiver::start();
                let started = begin(backend, receiver, &provider, rate).await;
                let adds = async {
                    for number in 0..count {
                        subscribe(&started, &provider, place, "hang", number..number + 1).await;
                        tokio::time::sleep(TIME / u32::try_from(count).unwrap()).await;
                    }
                };
                let (report, ()) = tokio::join!(beside(&started, receiver, rate), adds);
                in_turn.push(report);
                started.stop().await;
            }
        }
        let p99 = |reports: &[Report]| median(reports.iter().map(|report| report.p99_ms).collect());
        let before = p99(&free);
        let mut add = |name: String, value: f64, unit: &'static str, goal: Option<Goal>| {
            figures.add(Figure::new(backend, "hanging", &name, value, unit, goal));
        };
        add(format!("p99 of the others, nobody hangs ({count})"), before, "ms", None);
        let beside_well = p99(&well);
        add(format!("p99 of the others, {count} more are well"), beside_well, "ms", None);
        let hung = PLACES.into_iter().zip(&hanging).flat_map(|(place, (at_once, in_turn))| {
            [("at once", at_once), ("in turn", in_turn)].map(|(how, reports)| match place {
                Place::Together => (how.to_owned(), reports),
                Place::Apart => (format!("{how}, an origin each"), reports),
            })
        });
        for (how, reports) in hung {
            let after = p99(reports);
            add(format!("p99 of the others, {count} hang {how}"), after, "ms", None);
            let goal = Some(Goal::Below(1.2));
            add(format!("ratio, {count} hang {how}"), after / before, "", goal);
            add(
                format!("ratio, {count} hang {how}, to as many that are well"),
                after / beside_well,
                "",
                None,
            );
        }
    }
}

/// An application with the others, beside a provider of its own: another origin.
async fn begin(
    backend: Backend,
    receiver: &mut Receiver,
    provider: &Receiver,
    rate: f64,
) -> Started {
    let started = Started::beside(backend, &[receiver.port, provider.port]).await;
    started.endpoints(receiver, OTHERS).await;
    started.app.app().start_workers();
    started.commit(20, 1).await;
    started.settled().await;
    let _ = steady(&started, receiver, OTHERS, rate, BEFORE).await;
    started
}

/// Adds endpoints of the provider.
async fn subscribe(
    started: &Started,
    provider: &Receiver,
    place: Place,
    path: &str,
    numbers: Range<usize>,
) {
    for number in numbers {
        let address = match place {
            Place::Together => "127.0.0.1".to_owned(),
            Place::Apart => format!("127.1.{}.{}", number / 200, number % 200 + 1),
        };
        let path = format!("{path}/{number}");
        started.endpoint_at(&address, provider, &path, &["burden.laid"]).await;
    }
}

/// The others' times while something comes all the time for those of the provider, from its first second on.
async fn beside(started: &Started, receiver: &mut Receiver, rate: f64) -> Report {
    let lays = async {
        let until = Instant::now() + TIME;
        while Instant::now() < until {
            started.burden(1).await;
            tokio::time::sleep(Duration::from_secs(1) / BURDENS_PER_SECOND).await;
        }
    };
    tokio::join!(steady(started, receiver, OTHERS, rate, TIME), lays).0
}
