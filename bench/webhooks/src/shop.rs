//! The application that is measured: products that are sent to webhooks, with a row filter and a
//! property that is hidden from the owner of the endpoints.

use sea_orm::ActiveValue::Set;
use sea_orm::prelude::Decimal;
use sea_orm::{ColumnTrait as _, Condition};
use serde::Serialize;
use serde_json::json;
use svc_application::Application;
use svc_core::{Module, Registry};
use svc_data::{Context, DataRegistry as _};
use svc_database::Migration;
use svc_events::{EventsRegistry as _, Publish as _};
use svc_testing::{Backend, Person, TestApp};
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
        registry
            .entity_set::<product::Entity>("Products")
            .row_filter(|who| match who.claims("regions") {
                [] => Condition::all(),
                regions => Condition::all().add(product::Column::Region.is_in(regions)),
            })
            .hidden(product::Column::CostPrice)
            .unless("Products.SeeCosts")
            .webhooks();
        registry.event::<Burden>("burden.laid", "Something for the endpoint that hangs");
    }
}

/// The application with its endpoints; its workers don't run yet.
pub(crate) struct Started {
    pub(crate) app: TestApp,
    producer: Context,
    owner: Person,
}

impl Started {
    pub(crate) async fn new(backend: Backend, port: u16) -> Self {
        let app = TestApp::builder(|| Application::new("bench").module(Webhooks).module(Shop))
            .setting("Svc:Webhooks:RequireHttps", false)
            .setting("Svc:Webhooks:MaxEndpoints", 1_000_000)
            .setting("Svc:Webhooks:AllowedNetworks:0", "127.0.0.0/8")
            .setting("Svc:Webhooks:AllowedPorts:0", port)
            .in_real_time()
            .start(backend)
            .await;
        let producer = app.context(&Person::named("producer"));
        let owner = Person::named("owner")
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

    pub(crate) async fn endpoint(&self, receiver: &Receiver, path: &str, events: &[&str]) {
        let url = format!("http://127.0.0.1:{}/{path}", receiver.port);
        let body = json!({"url": url, "events": events, "secret": SECRET});
        let client = self.app.sign_in(&self.owner);
        let _ = client.post("/api/v1/webhooks", body).await.expect(201);
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
