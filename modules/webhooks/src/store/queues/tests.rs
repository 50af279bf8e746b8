//! What a look goes along, and what it passes by.

use svc_application::Application;
use svc_data::Context;
use svc_testing::{TestApp, on_both_databases, organisation};

use super::*;
use crate::Webhooks;

const HOUR_US: i64 = 3_600_000_000;

/// Endpoints of which something waits.
const WAITING: usize = 900;

struct Queues {
    app: TestApp,
    database: Database,
    now_us: i64,
}

impl Queues {
    /// An application whose endpoints have something waiting: of a third it is due in an hour, a third
    /// is switched off, and a third is claimed for another minute. All were touched.
    async fn new(backend: Backend) -> Self {
        let app =
            TestApp::builder(|| Application::new("queues").module(Webhooks)).start(backend).await;
        let database = Database::clone(&*app.app().service::<Database>().unwrap());
        let now_us = app.app().clock().now_us();
        let id = |kind: u8| match backend {
            Backend::Sqlite => format!("unhex(printf('{kind:02x}%030x', i))"),
            Backend::Postgres => {
                format!("CAST('{kind:02x}' || lpad(to_hex(i), 30, '0') AS uuid)")
            }
        };
        let own = match backend {
            Backend::Sqlite => format!("x'{}'", organisation(1).0.simple()),
            Backend::Postgres => format!("CAST('{}' AS uuid)", organisation(1).0),
        };
        let numbers = format!(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {WAITING})"
        );
        let (endpoint, delivery) = (id(1), id(2));
        let endpoints = format!(
            "{numbers} INSERT INTO webhooks_endpoints (id, organisation_id, url, description, events, \
             is_active, includes_changes, is_thin, format, is_ordered, owner_id, owner_name, secret, \
             consecutive_failures, version, created_at, updated_at) SELECT {endpoint}, {own}, \
             'https://example.com', '', '[]', i % 3 <> 1, false, false, 0, false, {own}, 'Ada', 's', 0, 1, \
             '2026-01-01 00:00:00+00:00', '2026-01-01 00:00:00+00:00' FROM n"
        );
        let deliveries = format!(
            "{numbers} INSERT INTO webhooks_deliveries (id, organisation_id, endpoint_id, message_id, \
             status, lane, attempts, due_us, claim, claimed_until_us) SELECT {delivery}, {own}, \
             {endpoint}, {delivery}, 1, 0, 1, \
             CASE WHEN i % 3 = 0 THEN {later} ELSE {now_us} END, \
             CASE WHEN i % 3 = 2 THEN {delivery} END, \
             CASE WHEN i % 3 = 2 THEN {claimed} END FROM n",
            later = now_us + HOUR_US,
            claimed = now_us + 60_000_000,
        );
        let queues = format!(
            "{numbers} INSERT INTO webhooks_queues (endpoint_id, look_us, touches) \
             SELECT {endpoint}, {now_us}, 1 FROM n"
        );
        for sql in [endpoints.as_str(), &deliveries, &queues, "ANALYZE"] {
            database.execute(database.statement(sql, [])).await.unwrap();
        }
        Self { app, database, now_us }
    }

    /// Has so many more deliveries wait for an endpoint.
    async fn have_waiting(&self, endpoint: Uuid, count: usize) {
        let id = match self.database.backend() {
            Backend::Sqlite => "unhex(printf('03%030x', i))",
            Backend::Postgres => "CAST('03' || lpad(to_hex(i), 30, '0') AS uuid)",
        };
        let sql = format!(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count}) \
             INSERT INTO webhooks_deliveries (id, organisation_id, endpoint_id, message_id, status, \
             lane, attempts, due_us) SELECT {id}, e.organisation_id, e.id, e.id, 0, 0, 0, {} \
             FROM n JOIN webhooks_endpoints e ON e.id = ?",
            self.now_us
        );
        self.database.execute(self.database.statement(&sql, [endpoint.into()])).await.unwrap();
    }

    /// Looks until the end as one who has no room does: nothing is claimed. Answers with the number of
    /// endpoints that were seen, and of those that had something due.
    async fn walk(&self, now_us: i64) -> (usize, usize) {
        let (mut place, mut seen, mut due) = (Place::START, 0, 0);
        loop {
            let look = look(&self.database, place, now_us).await.unwrap();
            seen += look.seen.len();
            let is_due = |one: &&Seen| one.waiting.iter().any(|waiting| waiting.is_due(now_us));
            due += look.seen.iter().filter(is_due).count();
            let passed: Vec<&Seen> = look.seen.iter().filter(|one| !is_due(one)).collect();
            let none = (BTreeSet::new(), BTreeMap::new());
            put_off(&self.database, now_us, &passed, &none.0, &none.1, &none.1).await.unwrap();
            let Some(next) = look.next else { return (seen, due) };
            place = next;
        }
    }

    async fn touch(&self, endpoint: Uuid, at_us: i64) {
        let context = Context::system(self.app.app()).unwrap();
        let touched = async |uow: UnitOfWork| touch(&uow, [(endpoint, at_us)]).await;
        context.transact(touched).await.unwrap();
    }

    async fn first(&self, now_us: i64) -> Seen {
        look(&self.database, Place::START, now_us).await.unwrap().seen.remove(0)
    }

    async fn next_us(&self) -> Option<i64> {
        next_us(&self.database, self.now_us).await.unwrap()
    }
}

/// The endpoint with a number.
fn endpoint(number: u128) -> Uuid {
    Uuid::from_u128(1 << 120 | number)
}

on_both_databases! {
    async fn what_waits_for_later_or_for_nobody_is_passed_by(backend) {
        let queues = Queues::new(backend).await;
        let now_us = queues.now_us;
        assert_eq!(queues.walk(now_us).await, (WAITING, 0), "each is asked once");
        assert_eq!(queues.walk(now_us).await, (0, 0), "and not again");
        assert_eq!(queues.next_us().await, Some(now_us + 60_000_000), "claims end");
        let later = now_us + 60_000_001;
        assert_eq!(queues.walk(later).await, (WAITING / 3, WAITING / 3), "what nobody has recorded");
        let last = now_us + HOUR_US;
        assert_eq!(queues.walk(last).await, (WAITING / 3 * 2, WAITING / 3 * 2));
        // It comes back, and is told of by whoever switches it on.
        queues.touch(endpoint(1), now_us).await;
        assert_eq!(queues.walk(now_us).await, (1, 0), "it is off");
        assert_eq!(queues.walk(now_us).await, (0, 0));
    }

    async fn what_is_touched_while_somebody_looks_stays_due(backend) {
        let queues = Queues::new(backend).await;
        let now_us = queues.now_us;
        queues.walk(now_us).await;
        queues.touch(endpoint(1), now_us).await;
        let seen = queues.first(now_us).await;
        // Whoever touches it has stored a delivery that the look hasn't seen.
        queues.touch(endpoint(1), now_us).await;
        let none = (BTreeSet::new(), BTreeMap::new());
        put_off(&queues.database, now_us, &[&seen], &none.0, &none.1, &none.1).await.unwrap();
        assert_eq!(queues.walk(now_us).await, (1, 0), "so it is asked again");
        // One that was claimed from is asked when the claim was made, and not before.
        queues.touch(endpoint(3), now_us).await;
        let seen = queues.first(now_us).await;
        let claimed = BTreeSet::from([endpoint(3)]);
        put_off(&queues.database, now_us, &[&seen], &claimed, &none.1, &none.1).await.unwrap();
        assert_eq!(queues.walk(now_us).await, (0, 0));
        queues.touch(endpoint(3), now_us + 5).await;
        queues.touch(endpoint(3), now_us + 9).await;
        assert_eq!(queues.next_us().await, Some(now_us + 5), "nobody puts it off by touching it");
    }

    async fn a_look_is_a_range_of_an_index(backend) {
        let queues = Queues::new(backend).await;
        queues.walk(queues.now_us).await;
        queues.touch(endpoint(3), queues.now_us).await;
        queues.have_waiting(endpoint(3), 3_000).await;
        queues.database.execute(queues.database.statement("ANALYZE", [])).await.unwrap();
        let (sql, values) = look_statement(backend, Place::START, queues.now_us);
        let statement = queues.database.statement(&sql, values);
        let plan = queues.database.explain(statement).await.unwrap().join("\n");
        assert!(plan.contains("webhooks_queues_due"), "{plan}");
        for table in ["webhooks_queues", "webhooks_deliveries", "webhooks_endpoints", "d", "e"] {
            let scans = [format!("Seq Scan on {table} "), format!("SCAN {table} ")];
            assert!(!scans.iter().any(|scan| plan.contains(scan)), "{plan}");
        }
        // Each queue's first is read, not all that waits sorted.
        assert!(plan.contains("webhooks_deliveries_waiting"), "{plan}");
        assert!(!plan.contains("webhooks_deliveries_log"), "{plan}");
    }
}
