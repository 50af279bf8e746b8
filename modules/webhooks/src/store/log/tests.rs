//! Which indexes the log is read by.

use svc_application::Application;
use svc_database::{Backend, Database};
use svc_testing::{TestApp, on_both_databases, organisation};
use uuid::Uuid;

use super::events::{self, About};
use super::*;
use crate::Webhooks;

/// Many deliveries of two endpoints: one in a hundred failed, some with a code of their own.
async fn filled(backend: Backend) -> (TestApp, Database) {
    let app = TestApp::builder(|| Application::new("log").module(Webhooks)).start(backend).await;
    let database = Database::clone(&*app.app().service::<Database>().unwrap());
    let id = |number: &str, kind: u8| match backend {
        Backend::Sqlite => format!("unhex(printf('{kind:02x}%030x', {number}))"),
        Backend::Postgres => {
            format!("CAST('{kind:02x}' || lpad(to_hex({number}), 30, '0') AS uuid)")
        }
    };
    let own = match backend {
        Backend::Sqlite => format!("x'{}'", organisation(1).0.simple()),
        Backend::Postgres => format!("CAST('{}' AS uuid)", organisation(1).0),
    };
    let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)";
    let key = "CAST(i / 4 AS TEXT)";
    let messages = format!(
        "{numbers} INSERT INTO webhooks_messages (id, organisation_id, event_id, event_type, time_us, \
         entity_type, entity_id, body) SELECT {}, {own}, {}, 'products.updated', i, 'Products', {key}, \
         '{{}}' FROM n",
        id("i", 1),
        id("i / 2", 2),
    );
    let deliveries = format!(
        "{numbers} INSERT INTO webhooks_deliveries (id, organisation_id, endpoint_id, message_id, status, \
         lane, attempts, due_us, status_code) SELECT {}, {own}, {}, {}, \
         CASE WHEN i % 100 = 0 THEN 3 ELSE 2 END, 0, 1, i, \
         CASE WHEN i % 500 = 0 THEN 503 WHEN i % 100 = 0 THEN 500 ELSE 204 END FROM n",
        id("i", 1),
        id("i % 2", 3),
        id("i", 1),
    );
    for sql in [&messages, &deliveries] {
        database.execute(database.statement(sql, [])).await.unwrap();
    }
    (app, database)
}

async fn plan(database: &Database, (sql, values): (String, Vec<Value>)) -> String {
    database.explain(database.statement(&sql, values)).await.unwrap().join("\n")
}

/// Holds every statement of the log to the index that is meant for it.
async fn check_plans(database: &Database) {
    let own = organisation(1).0;
    let id = |kind: u128, number: u128| Uuid::from_u128(kind << 120 | number);
    let endpoint = id(3, 1);
    let by = |filter: Filter| newest_statement(own, &filter, filter.before, 51);
    let of = |filter: Filter| by(Filter { endpoint: Some(endpoint), ..filter });
    let failed = Filter { status: Some(Status::Failed), ..Filter::default() };
    let code = Filter { status_code: Some(503), ..Filter::default() };
    let span =
        Filter { since: Some(id(1, 9_000)), before: Some(id(1, 9_100)), ..Filter::default() };
    let event = About::Event(id(2, 700));
    let entity = About::Entity(Entity { kind: "Products".to_owned(), id: "700".to_owned() });
    let messages = [id(1, 1), id(1, 2)];
    let everything = Filter::default();
    let found = (1..=50).map(|number| id(1, number * 100)).collect();
    let by_id = match database.backend() {
        Backend::Sqlite => "sqlite_autoindex_webhooks_deliveries_1",
        Backend::Postgres => "webhooks_deliveries_pkey",
    };
    for (statement, index) in [
        (by(failed.clone()), "webhooks_deliveries_log"),
        (of(failed), "webhooks_deliveries_log_of"),
        (by(span.clone()), "webhooks_deliveries_log"),
        (of(span), "webhooks_deliveries_log_of"),
        (by(code.clone()), "webhooks_deliveries_codes"),
        (of(code), "webhooks_deliveries_codes_of"),
        (details_statement(database.backend(), own, found), by_id),
        (
            events::messages_statement(own, (&event, &everything), None),
            "webhooks_messages_of_event",
        ),
        (
            events::messages_statement(own, (&entity, &everything), None),
            "webhooks_messages_of_entity",
        ),
        (
            events::deliveries_statement(database, &messages, &everything, None),
            "webhooks_deliveries_of_message",
        ),
    ] {
        let sql = statement.0.clone();
        let plan = plan(database, statement).await;
        let is_used = plan.split([' ', '\n', '(']).any(|word| word == index);
        assert!(is_used, "{index}: {sql}\n{plan}");
        let scans = ["Seq Scan on webhooks_d", "Seq Scan on webhooks_m", "SCAN d", "SCAN m"];
        assert!(scans.iter().all(|scan| !plan.contains(scan)), "{sql}\n{plan}");
    }
    let plan = plan(database, newest_of_statement(endpoint, id(1, 0), 5_000)).await;
    let covering = match database.backend() {
        Backend::Sqlite => "COVERING INDEX webhooks_deliveries_log_of",
        Backend::Postgres => "Index Only Scan Backward using webhooks_deliveries_log_of",
    };
    assert!(plan.contains(covering), "{plan}");
}

on_both_databases! {
    async fn every_filter_of_the_log_is_a_range_of_an_index(backend) {
        let (_app, database) = filled(backend).await;
        if backend == Backend::Sqlite {
            // It gathers statistics by the hour, and the log is read before.
            check_plans(&database).await;
        }
        let analyse = if backend == Backend::Sqlite { "ANALYZE" } else { "VACUUM ANALYZE" };
        database.execute(database.statement(analyse, [])).await.unwrap();
        check_plans(&database).await;
    }
}
