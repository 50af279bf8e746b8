use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::json;
use svc_core::{Error, Result, Worker};
use svc_testing::on_both_databases;
use tokio_util::sync::CancellationToken;

use crate::fixture::Fixture;

struct Broken;

#[async_trait]
impl Worker for Broken {
    fn name(&self) -> &'static str {
        "broken"
    }

    async fn run(&self, _stop: CancellationToken) -> Result<()> {
        Err(Error::internal("the mail server can't be reached"))
    }
}

on_both_databases! {
    async fn a_worker_that_fails_is_told_and_takes_no_node_out_of_the_balancer(backend) {
        let fixture = Fixture::start(backend).await;
        let before = fixture.get("/health/workers").await.expect(200);
        assert_eq!(before.json(), json!({"status": "ok", "workers": []}), "none was started");
        fixture.app.add_worker(Arc::new(Broken));
        fixture.app.start_workers();
        let failed = tokio::time::timeout(Duration::from_secs(10), async {
            loop {
                let answer = fixture.get("/health/workers").await;
                if answer.status == 503 {
                    return answer;
                }
                tokio::task::yield_now().await;
            }
        });
        let failed = failed.await.expect("the worker fails at once");
        assert_eq!(failed.header("cache-control"), "no-store");
        let report = failed.json();
        assert_eq!(report["status"], "failed");
        let workers = report["workers"].as_array().unwrap();
        let broken = workers.iter().find(|worker| worker["name"] == "broken").unwrap();
        assert_eq!(broken["status"], "failing");
        assert!(broken["failures"].as_u64().unwrap() >= 1);
        let others = workers.iter().filter(|worker| worker["name"] != "broken");
        assert!(others.clone().count() >= 1, "{report}");
        assert!(others.into_iter().all(|worker| worker["status"] == "running"), "{report}");
        assert!(!failed.text().contains("mail"), "why is for the log");

        fixture.get("/health/ready").await.expect(200);
        let metrics = fixture.get("/metrics").await.expect(200).text();
        let has = |line: &str| metrics.lines().any(|known| known.starts_with(line));
        assert!(has("svc_worker_failing{worker=\"broken\"} 1"), "{metrics}");
        assert!(has("svc_worker_failing{worker=\"outbox\"} 0"), "{metrics}");
        assert!(has("svc_worker_failures_total{worker=\"broken\"} "), "{metrics}");
        fixture.app.stop().await;
    }

    async fn a_host_is_ready_while_its_database_is_there(backend) {
        let fixture = Fixture::start(backend).await;
        let ready = fixture.get("/health/ready").await.expect(200);
        let checks = json!([
            {"name": "database", "status": "ok"},
            {"name": "migrations", "status": "ok"},
        ]);
        assert_eq!(ready.json(), json!({"status": "ok", "checks": checks}));
        fixture.database.close().await;
        // Who asks within a second hears what was found before.
        assert_eq!(fixture.get("/health/ready").await.expect(200).json(), ready.json());
        tokio::time::sleep(Duration::from_millis(1_050)).await;
        let failed = fixture.get("/health/ready").await.expect(503);
        assert_eq!(failed.json()["status"], "failed");
        assert_eq!(failed.json()["checks"][0], json!({"name": "database", "status": "failed"}));
        // The process is alive all the same; a restart would not bring the database back.
        assert_eq!(fixture.get("/health/live").await.expect(200).json(), json!({"status": "ok"}));
    }

    async fn a_database_of_an_older_state_is_not_ready(backend) {
        let fixture = Fixture::start(backend).await;
        let forget = fixture.database.statement("DELETE FROM svc_migrations WHERE module = ?", [
            "settings".into(),
        ]);
        fixture.database.execute(forget).await.unwrap();
        let failed = fixture.get("/health/ready").await.expect(503);
        assert_eq!(failed.json()["checks"][1], json!({"name": "migrations", "status": "failed"}));
    }

    async fn a_host_that_stops_is_not_ready(backend) {
        let fixture = Fixture::start(backend).await;
        fixture.app.stop().await;
        let draining = fixture.get("/health/ready").await.expect(503);
        assert_eq!(draining.json(), json!({"status": "draining"}));
        fixture.get("/health/live").await.expect(200);
    }
}
