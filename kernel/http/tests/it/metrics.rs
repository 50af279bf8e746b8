use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use async_trait::async_trait;
use http::Method;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use svc_core::{App, Error, Result};
use svc_http::{Metrics, MetricsSource};
use svc_testing::Backend;

use crate::fixture::{ADA, Call, Fixture};

async fn scrape(fixture: &Fixture) -> String {
    let answer = fixture.get("/metrics").await.expect(200);
    assert!(answer.header("content-type").starts_with("application/openmetrics-text"));
    answer.text()
}

#[track_caller]
fn has(text: &str, line: &str) {
    assert!(text.lines().any(|known| known == line), "`{line}` is not in:\n{text}");
}

#[tokio::test]
async fn requests_are_counted_by_method_route_and_status() {
    let fixture = Fixture::start(Backend::Sqlite).await;
    for id in ["00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002"] {
        fixture.send(Call::get(&format!("/api/v1/items/{id}")).by(ADA)).await.expect(200);
    }
    fixture.get("/one/that/is/not/there").await.expect(404);
    fixture.get("/another").await.expect(404);
    let invented = Method::from_bytes(b"INVENTED").unwrap();
    fixture.send(Call::new(invented, "/api/v1/items")).await.expect(405);
    let text = scrape(&fixture).await;
    let requests = |labels: &str| format!("svc_http_requests_total{{{labels}}}");
    let item = r#"method="GET",route="/api/v1/items/{id}",status="200""#;
    has(&text, &format!("{} 2", requests(item)));
    let missing = r#"method="GET",route="unmatched",status="404""#;
    has(&text, &format!("{} 2", requests(missing)));
    let invented = r#"method="other",route="/api/v1/items",status="405""#;
    has(&text, &format!("{} 1", requests(invented)));
    let duration = "svc_http_request_duration_seconds_count";
    has(&text, &format!("{duration}{{method=\"GET\",route=\"/api/v1/items/{{id}}\"}} 2"));
    // The scrape itself is the one request that is being served.
    has(&text, "svc_http_requests_in_flight 1");
    assert!(text.contains("process_start_time_seconds 1795176000\n"), "{text}");
    assert!(text.contains("process_resident_memory_bytes "), "{text}");
    assert!(text.ends_with("# EOF\n"));
}

#[tokio::test]
async fn a_client_that_goes_away_is_counted_and_leaves_nothing_behind() {
    let fixture = Fixture::start(Backend::Sqlite).await;
    {
        let waiting = fixture.get("/try/wait");
        tokio::pin!(waiting);
        tokio::select! {
            _ = &mut waiting => panic!("nobody opened the gate"),
            () = fixture.gate.reached.notified() => {}
        }
    }
    let text = scrape(&fixture).await;
    let gone = r#"svc_http_requests_total{method="GET",route="/try/wait",status="499"} 1"#;
    has(&text, gone);
    has(&text, "svc_http_requests_in_flight 1");
}

/// A source whose store may be out of reach.
#[derive(Default)]
struct Backlog {
    waiting: Gauge<i64, AtomicI64>,
    fails: AtomicBool,
}

#[async_trait]
impl MetricsSource for Backlog {
    fn register(&self, registry: &mut Registry) {
        registry.register("svc_backlog", "What waits", self.waiting.clone());
    }

    async fn sample(&self, _: &App) -> Result<()> {
        if self.fails.load(Ordering::Relaxed) {
            return Err(Error::unavailable("the store is out of reach"));
        }
        self.waiting.set(3);
        Ok(())
    }
}

#[tokio::test]
async fn a_source_is_asked_when_somebody_scrapes() {
    let fixture = Fixture::start(Backend::Sqlite).await;
    let metrics = fixture.app.service::<Metrics>().unwrap();
    metrics.add_source(Arc::new(Backlog::default()));
    let text = scrape(&fixture).await;
    has(&text, "svc_backlog 3");
    has(&text, "svc_metrics_failures_total 0");
}

#[tokio::test]
async fn a_source_that_fails_does_not_hide_the_others() {
    let fixture = Fixture::start(Backend::Sqlite).await;
    let metrics = fixture.app.service::<Metrics>().unwrap();
    let broken = Backlog { fails: true.into(), ..Backlog::default() };
    metrics.add_source(Arc::new(broken));
    let text = scrape(&fixture).await;
    has(&text, "svc_backlog 0");
    has(&text, "svc_metrics_failures_total 1");
}

#[tokio::test]
async fn a_token_keeps_measurements_from_strangers() {
    let settings = ["--Svc:Http:MetricsToken=0123456789abcdef"];
    let fixture = Fixture::with_settings(Backend::Sqlite, &settings).await;
    fixture.get("/metrics").await.problem(401);
    for token in ["Bearer 0123456789abcdeg", "Bearer ", "0123456789abcdef"] {
        fixture.send(Call::get("/metrics").by(token)).await.problem(401);
    }
    fixture.send(Call::get("/metrics").by("Bearer 0123456789abcdef")).await.expect(200);
}
