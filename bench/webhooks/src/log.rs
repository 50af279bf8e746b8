//! What pages of a long log cost, and a look beside many endpoints of which something waits for later.

use std::time::Duration;

use bench_rounds::median;
use svc_testing::{Backend, Client};
use tokio::time::Instant;

use crate::receiver::Receiver;
use crate::report::{Figure, Figures, Goal};
use crate::shop::Started;

/// How often each page is asked for.
const ASKED: usize = 20;

/// Fills the log with so many deliveries to so many endpoints, and asks for pages of it.
pub(crate) async fn measure(
    backend: Backend,
    receiver: &Receiver,
    deliveries: i64,
    endpoints: i64,
    figures: &mut Figures,
) {
    let started = Started::new(backend, receiver.port).await;
    let first = started.endpoint(receiver, "hook/0", &["products.*"]).await;
    let began = Instant::now();
    started.copy_endpoints(endpoints).await;
    started.fill_log(deliveries).await;
    println!("(filled in {:.0} s)", began.elapsed().as_secs_f64());
    let client = started.client();
    let some = started.some_delivery().await;
    let log = "/api/v1/webhooks/deliveries";
    let pages = [
        ("the newest", log.to_owned()),
        ("those that failed", format!("{log}?status=failed")),
        ("those that wait", format!("{log}?status=retrying")),
        ("of an endpoint", format!("{log}?subscriptionId={first}")),
        ("of an endpoint, failed", format!("{log}?subscriptionId={first}&status=failed")),
        ("with HTTP 503", format!("{log}?statusCode=503")),
        ("with HTTP 204", format!("{log}?statusCode=204")),
        ("of an event type", format!("{log}?eventType=products.deleted")),
        ("of an event", format!("{log}?eventId={}", some.event)),
        ("of an entity", format!("{log}?entityType=Products&entityId={}", some.entity)),
        ("of a minute", format!("{log}?since={}&until={}", some.since, some.until)),
        ("one, with what was sent", format!("{log}/{}", some.id)),
        ("health of an endpoint", format!("/api/v1/webhooks/{first}/health?hours=24")),
    ];
    for (name, path) in pages {
        let (half, longest) = ask(&client, &path).await;
        let mut add = |what: &str, value: f64, goal: Option<Goal>| {
            figures.add(Figure::new(backend, "log", &format!("{name}, {what}"), value, "ms", goal));
        };
        add("half of the pages", half, None);
        add("the longest", longest, Some(Goal::Below(50.0)));
    }
    let mut looks = Vec::with_capacity(ASKED);
    started.app.drain().await;
    for _ in 0..ASKED {
        let began = Instant::now();
        started.app.drain().await;
        looks.push(began.elapsed().as_secs_f64() * 1_000.0);
    }
    let name = "a look while every endpoint waits for later";
    figures.add(Figure::new(backend, "log", name, median(looks), "ms", Some(Goal::Below(50.0))));
    started.stop().await;
}

/// The median and the longest time in milliseconds. Once for nothing: caches are warm for whoever looks.
async fn ask(client: &Client, path: &str) -> (f64, f64) {
    let _ = client.get(path).await.expect(200);
    let mut times = Vec::with_capacity(ASKED);
    for _ in 0..ASKED {
        let began = Instant::now();
        let _ = client.get(path).await.expect(200);
        times.push(began.elapsed().as_secs_f64() * 1_000.0);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let longest = times.iter().copied().fold(0.0, f64::max);
    (median(times), longest)
}
