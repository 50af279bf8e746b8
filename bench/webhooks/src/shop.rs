//! The application that is measured: products that are sent to webhooks, with a row filter and a
//! property that is hidden from the owner of the endpoints.

use std::sync::Arc;

use sea_orm::ActiveValue::Set;
use sea_orm::prelude::Decimal;
use sea_orm::{ColumnTrait as _, Condition};
use serde::Serialize;
use serde_json::json;
use svc_application::Application;
use svc_core::{Module, OrganisationId, Registry};
use svc_data::{Context, DataRegistry as _, Sight};
use svc_database::Migration;
use svc_events::{EventsRegistry as _, Publish as _};
use svc_testing::{Backend, Client, Person, TestApp, TestAppBuilder, organisation};
use svc_webhooks::{WebhookSet as _, Webhooks};

use crate::receiver::Receiver;

/// The secret of every endpoint.
pub(crate) const SECRET: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";

/// Bytes of the note: they make an envelope of about 500 bytes.
const NOTE_BYTES: usize = 159;

pub(crate) mod product {
    use sea_orm::entity::prelude::*;

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "products")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub(crate) id: Uuid,
        pub(crate) organisation_id: Uuid,
        pub(crate) sku: String,
        pub(crate) region: String,
        pub(crate) note: String,
        #[sea_orm(column_type = "Decimal(Some((12, 2)))")]
        pub(crate) price: Decimal,
        #[sea_orm(column_type = "Decimal(Some((12, 2)))")]
        pub(crate) cost_price: Decimal,
        pub(crate) version: i64,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

/// What only the endpoint that hangs listens to.
#[derive(Serialize)]
struct Burden {
    number: u32,
}

struct Shop;

impl Module for Shop {
    fn requires(&self) -> &'static [&'static str] {
        &["webhooks"]
    }

    fn configure(&self, registry: &mut Registry) {
        registry.migrations([Migration::new(
            "0001_products",
            "CREATE TABLE products (
                id UUID PRIMARY KEY,
                organisation_id UUID NOT NULL,
                sku TEXT NOT NULL,
                region TEXT NOT NULL,
                note TEXT NOT NULL,
                price NUMERIC(12, 2) NOT NULL,
                cost_price NUMERIC(12, 2) NOT NULL,
                version BIGINT NOT NULL
            );",
        )]);
        registry.entity_set::<product::Entity>("Products", |set| {
            set.row_filter(|who| match who.claims("regions") {
                [] => Sight::All,
                regions => {
                    Sight::Where(Condition::all().add(product::Column::Region.is_in(regions)))
                }
            })
            .hidden(product::Column::CostPrice)
            .unless("Products.SeeCosts")
            .webhooks()
        });
        registry
            .event::<Burden>("burden.laid", "Something for the endpoint that hangs", |event| event);
    }
}

/// The application with its endpoints; its workers don't run yet.
pub(crate) struct Started {
    pub(crate) app: Arc<TestApp>,
    producer: Context,
    owner: Person,
}

impl Started {
    pub(crate) async fn new(backend: Backend, port: u16) -> Self {
        Self::beside(backend, &[port]).await
    }

    /// One that may send to these ports.
    pub(crate) async fn beside(backend: Backend, ports: &[u16]) -> Self {
        let builder = TestApp::builder(|| Application::new("bench").module(Webhooks).module(Shop))
            .setting("Svc:Webhooks:RequireHttps", false)
            .setting("Svc:Webhooks:MaxEndpoints", 1_000_000)
            .setting("Svc:Webhooks:AllowedNetworks:0", "127.0.0.0/8")
            // Long logs are stored by one statement.
            .setting("Svc:Database:StatementTimeout", "01:00:00")
            .in_real_time();
        let allow = |builder: TestAppBuilder, (index, port): (usize, &u16)| {
            builder.setting(&format!("Svc:Webhooks:AllowedPorts:{index}"), port)
        };
        let app = ports.iter().enumerate().fold(builder, allow).start(backend).await;
        Self::of(Arc::new(app), organisation(1))
    }

    /// The same application, with a producer and an owner of another organisation.
    pub(crate) fn in_another_organisation(&self) -> Self {
        Self::of(Arc::clone(&self.app), organisation(2))
    }

    fn of(app: Arc<TestApp>, organisation: OrganisationId) -> Self {
        let producer = app.context(&Person::named("producer").of(organisation));
        let owner = Person::named("owner")
            .of(organisation)
            .who_may(&["Products.View", svc_webhooks::MANAGE])
            .with_claim("regions", &["EU", "CH"]);
        Self { app, producer, owner }
    }

    /// Registers endpoints of the owner.
    pub(crate) async fn endpoints(&self, receiver: &Receiver, count: usize) {
        for number in 0..count {
            self.endpoint(receiver, &format!("hook/{number}"), &["products.*"]).await;
        }
    }

    /// Answers with its identifier.
    pub(crate) async fn endpoint(
        &self,
        receiver: &Receiver,
        path: &str,
        events: &[&str],
    ) -> String {
        self.endpoint_at("127.0.0.1", receiver, path, events).await
    }

    /// The same at another address of this machine.
    pub(crate) async fn endpoint_at(
        &self,
        address: &str,
        receiver: &Receiver,
        path: &str,
        events: &[&str],
    ) -> String {
        let url = format!("http://{address}:{}/{path}", receiver.port);
        let body = json!({"url": url, "events": events, "secret": SECRET});
        let made = self.client().post("/api/v1/webhooks", body).await.expect(201);
        made["id"].as_str().unwrap().to_owned()
    }

    /// The owner as a caller.
    pub(crate) fn client(&self) -> Client {
        self.app.sign_in(&self.owner)
    }

    /// Commits changes: units of work that insert so many products each.
    pub(crate) async fn commit(&self, changes: usize, together: usize) {
        let mut left = changes;
        while left > 0 {
            let count = left.min(together);
            left -= count;
            self.producer
                .transact(async |uow| {
                    for _ in 0..count {
                        uow.insert(new_product()).await?;
                    }
                    Ok(())
                })
                .await
                .unwrap();
        }
    }

    /// Publishes events that only the endpoint that hangs wants.
    pub(crate) async fn burden(&self, count: u32) {
        let publish = async |uow: svc_data::UnitOfWork| {
            (0..count).try_for_each(|number| uow.publish(Burden { number }))
        };
        self.producer.transact(publish).await.unwrap();
    }

    /// Waits until nothing is left to do: outbox empty, nothing handed over, every outcome recorded.
    pub(crate) async fn settled(&self) {
        let sql = "SELECT (SELECT COUNT(*) FROM events_outbox) + \
                   (SELECT COUNT(*) FROM webhooks_hand_overs) + \
                   (SELECT COUNT(*) FROM webhooks_deliveries WHERE status < 2)";
        self.until_none(sql).await;
    }

    /// Waits until the outbox is empty: all deliveries stand in the queue.
    pub(crate) async fn fanned_out(&self) {
        self.until_none("SELECT COUNT(*) FROM events_outbox").await;
    }

    /// Waits until a statement counts nothing.
    async fn until_none(&self, sql: &str) {
        let database = self.app.app().service::<svc_database::Database>().unwrap();
        for _ in 0..6_000 {
            let rows = database.rows(database.statement(sql, [])).await.unwrap();
            if rows[0].try_get_by_index::<i64>(0).unwrap() == 0 {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        panic!("there is still work to do after two minutes");
    }

    pub(crate) async fn stop(self) {
        self.app.app().stop().await;
    }
}

fn new_product() -> product::ActiveModel {
    product::ActiveModel {
        sku: Set("L-1".to_owned()),
        region: Set("EU".to_owned()),
        note: Set("n".repeat(NOTE_BYTES)),
        price: Set(Decimal::new(1_990, 2)),
        cost_price: Set(Decimal::new(700, 2)),
        ..Default::default()
    }
}

/// Makes a backlog without the way through the outbox, which a million would take minutes for.
impl Started {
    /// Stores deliveries that are due, shared evenly among the endpoints, of a thousand messages.
    pub(crate) async fn fill(&self, count: i64) {
        let database = self.app.app().service::<svc_database::Database>().unwrap();
        let now = self.app.clock().now_us();
        let id = match self.app.database().backend() {
            Backend::Sqlite => "unhex(printf('%012x7000a000%012x', ?, n.n))",
            Backend::Postgres => {
                "CAST(lpad(to_hex(CAST(? AS bigint)), 12, '0') || '7000a000' \
                 || lpad(to_hex(n.n), 12, '0') AS uuid)"
            }
        };
        let numbers = "WITH RECURSIVE numbers (n) AS (SELECT CAST(0 AS bigint) UNION ALL \
                       SELECT n + 1 FROM numbers WHERE n + 1 < ?)";
        let body = format!(r#"{{"note":"{}"}}"#, "n".repeat(489));
        let messages = format!(
            "{numbers} INSERT INTO webhooks_messages (id, organisation_id, event_id, event_type, \
             time_us, body) SELECT {id}, e.organisation_id, {id}, 'products.created', ?, ? \
             FROM numbers AS n, (SELECT organisation_id FROM webhooks_endpoints LIMIT 1) AS e"
        );
        let milliseconds = now / 1_000;
        let values: Vec<sea_orm::Value> = vec![
            count.min(1_000).into(),
            milliseconds.into(),
            milliseconds.into(),
            now.into(),
            body.into(),
        ];
        self.run(&database, &messages, values).await;
        let deliveries = format!(
            "{numbers} INSERT INTO webhooks_deliveries (id, organisation_id, endpoint_id, \
             message_id, status, lane, attempts, due_us) \
             SELECT {id}, e.organisation_id, e.id, m.id, 0, 0, 0, ? + n.n \
             FROM numbers AS n \
             JOIN (SELECT id, organisation_id, ROW_NUMBER() OVER (ORDER BY id) - 1 AS place \
                   FROM webhooks_endpoints) AS e ON e.place = n.n % ? \
             JOIN (SELECT id, ROW_NUMBER() OVER (ORDER BY id DESC) - 1 AS place \
                   FROM webhooks_messages WHERE time_us = ?) AS m ON m.place = n.n % ?"
        );
        let endpoints = 10_i64;
        let values: Vec<sea_orm::Value> = vec![
            count.into(),
            milliseconds.into(),
            (now - count).into(),
            endpoints.into(),
            now.into(),
            count.min(1_000).into(),
        ];
        self.run(&database, &deliveries, values).await;
        let queues = "INSERT INTO webhooks_queues (endpoint_id, look_us, touches) \
                      SELECT DISTINCT d.endpoint_id, CAST(? AS bigint), 1 FROM webhooks_deliveries d \
                      WHERE d.status = 0 ON CONFLICT (endpoint_id) DO UPDATE SET \
                      look_us = excluded.look_us, touches = webhooks_queues.touches + 1";
        self.run(&database, queues, vec![(now - count).into()]).await;
        let analyse = match self.app.database().backend() {
            Backend::Postgres => "VACUUM ANALYZE webhooks_deliveries",
            Backend::Sqlite => "PRAGMA optimize",
        };
        self.run(&database, analyse, Vec::new()).await;
    }

    async fn run(&self, database: &svc_database::Database, sql: &str, values: Vec<sea_orm::Value>) {
        database.execute(database.statement(sql, values)).await.unwrap();
    }

    /// Tells the dispatcher to look.
    pub(crate) fn wake(&self) {
        self.app.app().wakes().call("webhooks");
    }
}

/// A delivery in the middle of the log, and what it is found by.
pub(crate) struct Sample {
    pub(crate) id: String,
    pub(crate) event: String,
    pub(crate) entity: String,
    pub(crate) since: String,
    pub(crate) until: String,
}

/// Makes a log without the way through the outbox, which ten million would take an hour for.
impl Started {
    fn is_sqlite(&self) -> bool {
        self.app.database().backend() == Backend::Sqlite
    }

    /// An identifier that tells a time in milliseconds, with the numbers of a kind and of a row.
    fn id(&self, milliseconds: &str, kind: u8, number: &str) -> String {
        if self.is_sqlite() {
            format!("unhex(printf('%012x70{kind:02x}a000%012x', {milliseconds}, {number}))")
        } else {
            format!(
                "CAST(lpad(to_hex(CAST({milliseconds} AS bigint)), 12, '0') || '70{kind:02x}a000' \
                 || lpad(to_hex(CAST({number} AS bigint)), 12, '0') AS uuid)"
            )
        }
    }

    fn numbers(count: i64) -> String {
        format!(
            "WITH RECURSIVE numbers (n) AS (SELECT CAST(0 AS bigint) UNION ALL \
             SELECT n + 1 FROM numbers WHERE n + 1 < {count})"
        )
    }

    /// Has so many endpoints like the first, each with a delivery that is tried again tomorrow.
    pub(crate) async fn copy_endpoints(&self, count: i64) {
        const COLUMNS: &str = "organisation_id, url, description, events, format, is_active, \
            includes_changes, is_thin, is_ordered, owner_id, owner_name, secret, \
            consecutive_failures, version, created_at, updated_at";
        let database = self.app.app().service::<svc_database::Database>().unwrap();
        let now_us = self.app.clock().now_us();
        let (milliseconds, tomorrow_us) = (now_us / 1_000, now_us + 86_400_000_000);
        let numbers = Self::numbers(count);
        let id = self.id(&milliseconds.to_string(), 1, "n");
        let from = "FROM numbers, (SELECT * FROM webhooks_endpoints LIMIT 1) AS e";
        let endpoints = format!(
            "{numbers} INSERT INTO webhooks_endpoints (id, {COLUMNS}) SELECT {id}, {COLUMNS} {from}"
        );
        let deliveries = format!(
            "{numbers} INSERT INTO webhooks_deliveries (id, organisation_id, endpoint_id, message_id, \
             status, lane, attempts, due_us) SELECT {}, e.organisation_id, {id}, {}, 1, 0, 1, \
             {tomorrow_us} {from}",
            self.id(&milliseconds.to_string(), 2, "n"),
            self.id(&milliseconds.to_string(), 3, "0"),
        );
        let queues = format!(
            "{numbers} INSERT INTO webhooks_queues (endpoint_id, look_us, touches) \
             SELECT {id}, {now_us}, 1 FROM numbers"
        );
        let messages = format!(
            "INSERT INTO webhooks_messages (id, organisation_id, event_id, event_type, time_us, body) \
             SELECT {}, e.organisation_id, e.id, 'products.created', {now_us}, '{{}}' \
             FROM webhooks_endpoints AS e LIMIT 1",
            self.id(&milliseconds.to_string(), 3, "0"),
        );
        for sql in [&messages, &endpoints, &deliveries, &queues] {
            self.run(&database, sql, Vec::new()).await;
        }
    }

    /// Stores deliveries of the last days to the first endpoints, of which one in a hundred failed and one
    /// in five was missed; ten for each message.
    pub(crate) async fn fill_log(&self, count: i64) {
        let database = self.app.app().service::<svc_database::Database>().unwrap();
        let begin_ms = self.app.clock().now_us() / 1_000 - count;
        let ten = "(n - n % 10)";
        let at = |number: &str| format!("({begin_ms} + {number})");
        let message = self.id(&at(ten), 4, ten);
        let messages = format!(
            "{} INSERT INTO webhooks_messages (id, organisation_id, event_id, event_type, time_us, \
             entity_type, entity_id, body) SELECT {message}, e.organisation_id, {}, \
             CASE WHEN n % 1000 = 0 THEN 'products.deleted' ELSE 'products.updated' END, \
             ({begin_ms} + n) * 1000, 'Products', CAST(n / 100 AS TEXT), '{{}}' FROM numbers, \
             (SELECT organisation_id FROM webhooks_endpoints LIMIT 1) AS e WHERE n % 10 = 0",
            Self::numbers(count),
            self.id(&at(ten), 5, ten),
        );
        let deliveries = format!(
            "{} INSERT INTO webhooks_deliveries (id, organisation_id, endpoint_id, message_id, status, \
             lane, attempts, due_us, status_code, duration_ms, finished_at_us) \
             SELECT {}, e.organisation_id, e.id, {message}, \
             CASE WHEN n % 100 = 0 THEN 3 WHEN n % 5 = 1 THEN 4 ELSE 2 END, 0, 1, \
             ({begin_ms} + n) * 1000, CASE WHEN n % 500 = 0 THEN 503 WHEN n % 100 = 0 THEN 500 \
             WHEN n % 5 = 1 THEN NULL ELSE 204 END, 12, ({begin_ms} + n) * 1000 FROM numbers \
             JOIN (SELECT id, organisation_id, ROW_NUMBER() OVER (ORDER BY id) - 1 AS place \
             FROM webhooks_endpoints) AS e ON e.place = n % 10",
            Self::numbers(count),
            self.id(&at("n"), 6, "n"),
        );
        let analyse = if self.is_sqlite() { "ANALYZE" } else { "VACUUM ANALYZE" };
        for sql in [messages.as_str(), &deliveries, analyse] {
            self.run(&database, sql, Vec::new()).await;
        }
    }

    /// A delivery in the middle of the log.
    pub(crate) async fn some_delivery(&self) -> Sample {
        let listed = self.client().get("/api/v1/webhooks/deliveries?status=failed&take=100").await;
        let listed = listed.expect(200);
        let one = listed["items"].as_array().unwrap().last().unwrap().clone();
        let text = |name: &str| one[name].as_str().unwrap().to_owned();
        let time = time::OffsetDateTime::parse(
            &text("time"),
            &time::format_description::well_known::Rfc3339,
        )
        .unwrap();
        let at = |time: time::OffsetDateTime| {
            time.format(&time::format_description::well_known::Rfc3339).unwrap()
        };
        Sample {
            id: text("id"),
            event: text("eventId"),
            entity: text("entityId"),
            since: at(time),
            until: at(time + time::Duration::minutes(1)),
        }
    }
}
