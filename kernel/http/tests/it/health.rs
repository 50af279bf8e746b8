use serde_json::json;
use svc_testing::on_both_databases;

use crate::fixture::Fixture;

on_both_databases! {
    async fn a_host_is_ready_while_its_database_is_there(backend) {
        let fixture = Fixture::start(backend).await;
        let ready = fixture.get("/health/ready").await.expect(200);
        let checks = json!([
            {"name": "database", "status": "ok"},
            {"name": "migrations", "status": "ok"},
        ]);
        assert_eq!(ready.json(), json!({"status": "ok", "checks": checks}));
        fixture.database.close().await;
        let failed = fixture.get("/health/ready").await.expect(503);
        assert_eq!(failed.json()["status"], "failed");
        assert_eq!(failed.json()["checks"][0], json!({"name": "database", "status": "failed"}));
        // The process is alive all the same; a restart would not bring the database back.
        assert_eq!(fixture.get("/health/live").await.expect(200).json(), json!({"status": "ok"}));
    }

    async fn a_database_of_an_older_state_is_not_ready(backend) {
        let fixture = Fixture::start(backend).await;
        let forget = fixture.database.statement("DELETE FROM svc_migrations WHERE module = ?", [
            "http".into(),
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
