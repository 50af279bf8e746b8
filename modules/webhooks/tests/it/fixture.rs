//! A small shop whose products are sent to receivers on this machine.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use sea_orm::entity::prelude::*;
use sea_orm::{ActiveValue::Set, Condition, IntoActiveModel as _};
use serde::Serialize;
use serde_json::{Value as Json, json};
use svc_application::Application;
use svc_core::{Module, Registry};
use svc_data::{DataRegistry as _, Sight, UnitOfWork};
use svc_database::Migration;
use svc_events::{EventsRegistry as _, Handler, Message, Publish as _, Subscription};
use svc_http::schema_of;
use svc_testing::{Backend, Client, Person, Received, Receiver, TestApp, TestAppBuilder};
use svc_webhooks::{WebhookSet as _, Webhooks};
use utoipa::ToSchema;

/// A secret that tests register, so that they can verify.
pub(crate) const SECRET: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
/// Another one.
pub(crate) const OTHER_SECRET: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

pub(crate) mod product {
    use sea_orm::entity::prelude::*;
    use serde::Serialize;

    #[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum, Serialize)]
    #[sea_orm(rs_type = "i16", db_type = "SmallInteger")]
    #[serde(rename_all = "camelCase")]
    pub(crate) enum Grade {
        Good = 1,
        Better = 2,
    }

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "products")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub(crate) id: Uuid,
        pub(crate) organisation_id: Uuid,
        pub(crate) sku: String,
        pub(crate) region: String,
        #[sea_orm(column_type = "Decimal(Some((12, 2)))")]
        pub(crate) price: Decimal,
        #[sea_orm(column_type = "Decimal(Some((12, 2)))")]
        pub(crate) cost_price: Decimal,
        pub(crate) grade: Option<Grade>,
        pub(crate) version: i64,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

/// A set that nobody opted in.
pub(crate) mod note {
    use sea_orm::entity::prelude::*;

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "notes")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub(crate) id: Uuid,
        pub(crate) organisation_id: Uuid,
        pub(crate) version: i64,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

const TABLES: &str = "
CREATE TABLE products (
    id UUID PRIMARY KEY,
    organisation_id UUID NOT NULL,
    sku TEXT NOT NULL,
    region TEXT NOT NULL,
    price NUMERIC(12, 2) NOT NULL,
    cost_price NUMERIC(12, 2) NOT NULL,
    grade SMALLINT,
    version BIGINT NOT NULL
);
CREATE TABLE notes (id UUID PRIMARY KEY, organisation_id UUID NOT NULL, version BIGINT NOT NULL);
";

/// What the application publishes.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StockLow {
    pub(crate) sku: String,
    pub(crate) left: u32,
}

/// What the application says of something that no set has.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ShipLanded {
    pub(crate) entity_type: String,
    pub(crate) entity_id: String,
}

/// What not everybody is to know.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TillCounted {
    pub(crate) sum: u32,
}

/// What the workflow module would raise.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WorkflowTransitioned {
    pub(crate) entity_type: String,
    pub(crate) entity_id: Uuid,
    pub(crate) from: String,
    pub(crate) to: String,
}

/// A domain event that no setting maps.
#[derive(Serialize)]
pub(crate) struct Unmapped {}

/// A domain event of whatever form.
#[derive(Serialize)]
#[serde(transparent)]
pub(crate) struct Told(pub(crate) Json);

/// What domain events were heard, by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heard(Arc<Mutex<Vec<(String, Json)>>>);

impl Heard {
    pub(crate) fn take(&self) -> Vec<(String, Json)> {
        std::mem::take(&mut self.0.lock())
    }
}

#[async_trait]
impl Handler for Heard {
    async fn handle(&self, _: &UnitOfWork, messages: &[Message]) -> svc_core::Result<()> {
        for message in messages {
            self.0.lock().push((message.name.clone(), message.data()?));
        }
        Ok(())
    }
}

/// The sample application.
struct Shop(Heard);

impl Module for Shop {
    fn requires(&self) -> &'static [&'static str] {
        &["webhooks"]
    }

    fn configure(&self, registry: &mut Registry) {
        registry.migrations([Migration::new("0001_shop", TABLES)]);
        registry.entity_set::<product::Entity>("Products", |set| {
            set.enumeration::<product::Grade>(product::Column::Grade)
                .row_filter(|who| match who.claims("regions") {
                    [] => Sight::All,
                    regions => {
                        Sight::Where(Condition::all().add(product::Column::Region.is_in(regions)))
                    }
                })
                .hidden(product::Column::CostPrice)
                .unless("Products.SeeCosts")
                .webhooks()
        });
        registry.entity_set::<note::Entity>("Notes", |set| set);
        registry.event::<StockLow>(
            "stock.low",
            "Stock of a product fell below its limit",
            |event| {
                event
                    .schema(schema_of::<StockLow>())
                    .example(StockLow { sku: "A-7".to_owned(), left: 3 })
            },
        );
        registry.event::<ShipLanded>("ship.landed", "A ship is in the harbour", |event| {
            event
                .schema(schema_of::<ShipLanded>())
                .example(ShipLanded { entity_type: "Ship".to_owned(), entity_id: "7".to_owned() })
        });
        registry.event::<TillCounted>("till.counted", "A till was counted", |event| {
            event
                .schema(schema_of::<TillCounted>())
                .example(TillCounted { sum: 7 })
                .permission("Tills.Count")
        });
        registry.permission("Tills.Count", "count tills");
        registry.domain_event::<WorkflowTransitioned>("An entity moved in its workflow", |event| {
            event.schema(schema_of::<WorkflowTransitioned>()).example(WorkflowTransitioned {
                entity_type: "Product".to_owned(),
                entity_id: Uuid::from_u128(7),
                from: "new".to_owned(),
                to: "sold".to_owned(),
            })
        });
        registry.domain_event::<Unmapped>("Nothing that leaves", |event| event);
        registry.domain_event::<Told>("Whatever a test tells", |event| event);
        let wanted = Subscription::new()
            .event("WebhookEndpointFailing")
            .event("WebhookEndpointDisabled")
            .event("WebhookEndpointOwnerGone")
            .event("WebhookLimitReached");
        registry.handler("shop.hear", wanted, Arc::new(self.0.clone()));
    }
}

/// A started shop with one receiver, and Ada, who may do everything.
pub(crate) struct World {
    pub(crate) shop: TestApp,
    pub(crate) receiver: Receiver,
    pub(crate) ada: Person,
    pub(crate) heard: Heard,
}

/// The application under test.
pub(crate) fn application(heard: &Heard) -> Application {
    Application::new("shop").module(Webhooks).module(Shop(heard.clone()))
}

/// A shop that may send to the ports.
fn builder(heard: Heard, ports: &[u16]) -> TestAppBuilder {
    let builder = TestApp::builder(move || application(&heard))
        .setting("Svc:Webhooks:RequireHttps", false)
        .setting("Svc:Webhooks:AllowPrivateNetworks", true);
    ports.iter().enumerate().fold(builder, |builder, (index, port)| {
        builder.setting(&format!("Svc:Webhooks:AllowedPorts:{index}"), port)
    })
}

impl World {
    pub(crate) async fn new(backend: Backend) -> Self {
        Self::with(backend, |builder| builder).await
    }

    pub(crate) async fn with(
        backend: Backend,
        settings: impl FnOnce(TestAppBuilder) -> TestAppBuilder,
    ) -> Self {
        let receiver = Receiver::start().await;
        Self::beside(backend, receiver, &[], settings).await
    }

    /// A shop that may send to further ports too.
    pub(crate) async fn beside(
        backend: Backend,
        receiver: Receiver,
        ports: &[u16],
        settings: impl FnOnce(TestAppBuilder) -> TestAppBuilder,
    ) -> Self {
        let heard = Heard::default();
        let ports: Vec<u16> = ports.iter().copied().chain([receiver.port()]).collect();
        let shop = settings(builder(heard.clone(), &ports)).start(backend).await;
        Self { shop, receiver, ada: Person::named("Ada"), heard }
    }

    /// A shop whose dispatcher runs, and isn't told by its slow poll.
    pub(crate) async fn running(
        backend: Backend,
        ports: &[u16],
        settings: impl FnOnce(TestAppBuilder) -> TestAppBuilder,
    ) -> Self {
        let receiver = Receiver::start().await;
        let world = Self::beside(backend, receiver, ports, |builder| {
            settings(builder.setting("Svc:Webhooks:PollInterval", "00:10:00"))
        })
        .await;
        world.shop.app().start_workers();
        world
    }

    /// Waits until the receiver got so many more requests, and no more.
    pub(crate) async fn arrive(&self, expected: usize) {
        let mut arrived = 0;
        for _ in 0..2_000 {
            arrived += self.receiver.received().len();
            if arrived >= expected {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(arrived, expected, "within twenty seconds");
    }

    /// The rows of a table; none while the database can't be asked.
    pub(crate) async fn try_count(&self, table: &str) -> Option<i64> {
        let database = self.shop.app().service::<svc_database::Database>().unwrap();
        let sql = format!("SELECT COUNT(*) FROM {table}");
        let rows = database.rows(database.statement(&sql, [])).await.ok()?;
        Some(rows[0].try_get_by_index(0).unwrap())
    }

    /// The rows of a table.
    pub(crate) async fn count(&self, table: &str) -> i64 {
        self.try_count(table).await.unwrap()
    }

    /// Waits until a table has so many rows.
    pub(crate) async fn until_count(&self, table: &str, expected: i64) {
        until(async || {
            let count = self.count(table).await;
            if count == expected { Ok(()) } else { Err(format!("`{table}` has {count} rows")) }
        })
        .await;
    }

    /// Stores deliveries to an endpoint of a status, from an hour ago on, a millisecond after each other, of
    /// the event of the first message that there is. Those that wait are due in an hour.
    pub(crate) async fn fill(&self, endpoint: &Json, status: i16, count: u64) {
        let database = self.shop.app().service::<svc_database::Database>().unwrap();
        let rows = database.statement("SELECT id FROM webhooks_messages LIMIT 1", []);
        let message: Uuid = database.rows(rows).await.unwrap()[0].try_get_by_index(0).unwrap();
        let organisation = svc_testing::organisation(1).0;
        let endpoint: Uuid = endpoint["id"].as_str().unwrap().parse().unwrap();
        let now_us = self.shop.app().clock().now_us();
        let (due_us, begin) = (now_us + 3_600_000_000, now_us / 1_000 - 60 * 60 * 1_000);
        let begin = u128::try_from(begin).unwrap();
        let salt = endpoint.as_u128() & u128::from(u64::MAX)
            ^ u128::from(count) << 8
            ^ u128::from(status.unsigned_abs());
        let ids: Vec<u128> = (0..u128::from(count)).map(|n| (begin + n) << 80 | salt).collect();
        for part in ids.chunks(500) {
            let values: Vec<String> = part
                .iter()
                .map(|own| {
                    let text = |id: Uuid| match database.backend() {
                        Backend::Postgres => format!("'{id}'"),
                        Backend::Sqlite => format!("x'{}'", id.simple()),
                    };
                    let [own, organisation, endpoint, message] =
                        [Uuid::from_u128(*own), organisation, endpoint, message].map(text);
                    format!(
                        "({own}, {organisation}, {endpoint}, {message}, {status}, 0, 6, {due_us})"
                    )
                })
                .collect();
            let sql = format!(
                "INSERT INTO webhooks_deliveries (id, organisation_id, endpoint_id, message_id, \
                 status, lane, attempts, due_us) VALUES {}",
                values.join(", ")
            );
            database.execute(database.statement(&sql, [])).await.unwrap();
        }
        let sql = "INSERT INTO webhooks_queues (endpoint_id, look_us, touches) VALUES (?, ?, 1) \
                   ON CONFLICT (endpoint_id) DO UPDATE SET look_us = excluded.look_us";
        let values = [endpoint.into(), due_us.into()];
        database.execute(database.statement(sql, values)).await.unwrap();
    }

    pub(crate) fn client(&self) -> Client {
        self.shop.sign_in(&self.ada)
    }

    /// Registers an endpoint of Ada's on the receiver; answers with its JSON.
    pub(crate) async fn endpoint(&self, events: &[&str]) -> Json {
        self.endpoint_of(&self.ada, events).await
    }

    pub(crate) async fn endpoint_of(&self, person: &Person, events: &[&str]) -> Json {
        let body = json!({"url": self.receiver.url(), "events": events, "secret": SECRET});
        self.shop.sign_in(person).post("/api/v1/webhooks", body).await.expect(201)
    }

    /// Registers an endpoint of Ada's at another port.
    pub(crate) async fn endpoint_at(&self, port: u16, events: &[&str]) -> Json {
        let url = format!("http://127.0.0.1:{port}/hook");
        let body = json!({"url": url, "events": events, "secret": SECRET});
        self.client().post("/api/v1/webhooks", body).await.expect(201)
    }

    /// Publishes events, in one unit of work.
    pub(crate) async fn publish_many(&self, count: u32) {
        let context = self.shop.context(&self.ada);
        let publish = async |uow: UnitOfWork| {
            (0..count).try_for_each(|left| uow.publish(StockLow { sku: format!("A-{left}"), left }))
        };
        context.transact(publish).await.unwrap();
    }

    /// Stores a product; answers with its key.
    pub(crate) async fn create(&self, sku: &str) -> Uuid {
        self.create_in(sku, "EU").await
    }

    pub(crate) async fn create_in(&self, sku: &str, region: &str) -> Uuid {
        let context = self.shop.context(&self.ada);
        let new = product::ActiveModel {
            sku: Set(sku.to_owned()),
            region: Set(region.to_owned()),
            price: Set(Decimal::new(1999, 2)),
            cost_price: Set(Decimal::new(700, 2)),
            grade: Set(Some(product::Grade::Better)),
            ..Default::default()
        };
        context.transact(async |uow| uow.insert(new).await).await.unwrap().id
    }

    pub(crate) async fn change(&self, id: Uuid, change: impl FnOnce(&mut product::ActiveModel)) {
        let context = self.shop.context(&self.ada);
        let work = async |uow: svc_data::UnitOfWork| {
            let mut product = uow.find::<product::Entity>(id).await?.into_active_model();
            change(&mut product);
            uow.update(product).await
        };
        context.transact(work).await.unwrap();
    }

    pub(crate) async fn delete(&self, id: Uuid) {
        let context = self.shop.context(&self.ada);
        context.transact(async |uow| uow.delete::<product::Entity>(id).await).await.unwrap();
    }

    /// Publishes that something of no set has landed.
    pub(crate) async fn land(&self, entity_type: &str, entity_id: &str) {
        let landed =
            ShipLanded { entity_type: entity_type.to_owned(), entity_id: entity_id.to_owned() };
        let context = self.shop.context(&self.ada);
        context.transact(async move |uow| uow.publish(landed)).await.unwrap();
    }

    pub(crate) async fn publish(&self, sku: &str) {
        let event = StockLow { sku: sku.to_owned(), left: 2 };
        let context = self.shop.context(&self.ada);
        context.transact(async move |uow| uow.publish(event)).await.unwrap();
    }

    pub(crate) async fn count_till(&self) {
        let context = self.shop.context(&self.ada);
        context.transact(async |uow| uow.publish(TillCounted { sum: 7 })).await.unwrap();
    }

    /// Does what is due, and takes what the receiver got.
    pub(crate) async fn deliver(&self) -> Vec<Received> {
        self.shop.drain().await;
        self.receiver.received()
    }

    pub(crate) async fn after(&self, seconds: u64) -> Vec<Received> {
        self.shop.advance(Duration::from_secs(seconds));
        self.deliver().await
    }

    /// How many deliveries arrive in a bit more than a quarter of a second, once two began together: with a limit of forty a second and two
    /// nodes.
    pub(crate) async fn received_at_forty(&self, other: &TestApp) -> usize {
        let drain = async || tokio::join!(self.shop.drain(), other.drain());
        drain().await;
        assert_eq!(self.receiver.received().len(), 2);
        let mut received = 0;
        for _ in 0..10 {
            self.shop.advance(Duration::from_millis(26));
            drain().await;
            received += self.receiver.received().len();
        }
        received
    }

    /// The log, the newest first.
    pub(crate) async fn log(&self) -> Vec<Json> {
        let listed = self.client().get("/api/v1/webhooks/deliveries").await.expect(200);
        listed["items"].as_array().unwrap().clone()
    }

    pub(crate) async fn show(&self, endpoint: &Json) -> Json {
        self.client().get(&path(endpoint, "")).await.expect(200)
    }
}

/// Settings under which the first failed attempt is the last one.
pub(crate) fn one_attempt(builder: TestAppBuilder) -> TestAppBuilder {
    builder.setting("Svc:Webhooks:MaxAttempts", 1)
}

/// The same, and no endpoint is switched off for that.
pub(crate) fn one_attempt_and_stays_on(builder: TestAppBuilder) -> TestAppBuilder {
    one_attempt(builder).setting("Svc:Webhooks:DisableAfterFailures", 0)
}

/// Waits until something holds; what is asked says what there is instead.
pub(crate) async fn until(holds: impl AsyncFn() -> Result<(), String>) {
    let mut instead = String::new();
    for _ in 0..2_000 {
        match holds().await {
            Ok(()) => return,
            Err(found) => instead = found,
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("after twenty seconds {instead}");
}

/// A path below an endpoint.
pub(crate) fn path(endpoint: &Json, rest: &str) -> String {
    format!("/api/v1/webhooks/{}{rest}", endpoint["id"].as_str().unwrap())
}

/// Whether a request carries the signature that the library of receivers makes of it.
pub(crate) fn is_accepted(received: &Received, secret: &str) -> bool {
    received.is_signed_with(secret)
}

/// The types of what came, in the order it came.
pub(crate) fn types(received: &[Received]) -> Vec<String> {
    received.iter().map(|one| one.json()["type"].as_str().unwrap().to_owned()).collect()
}
