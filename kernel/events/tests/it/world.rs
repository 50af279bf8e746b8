//! A small application on a throw-away database.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use sea_orm::Set;
use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use sqlx::{Connection as _, Executor as _};
use svc_core::settings::{LoadOptions, SettingsBuilder};
use svc_core::{App, Clock, Module, OrganisationId, Principal, Registry, Result, Worker};
use svc_core::{PermissionSet, UserId};
use svc_data::{Context, DataModule, DataRegistry as _, Prepared, UnitOfWork};
use svc_database::{Database, Migration};
use svc_events::{
    DeadLetter, EventsModule, EventsRegistry as _, Handler, Message, Outbox, Publish as _,
    Selection, Subscription, WhichSets,
};
use time::macros::datetime;
use tokio::sync::{Barrier, Notify};

#[expect(unreachable_pub, reason = "SeaORM's macro makes everything public")]
pub(crate) mod product {
    use sea_orm::entity::prelude::*;

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "products")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        pub organisation_id: Uuid,
        pub name: String,
        #[sea_orm(column_type = "Decimal(Some((12, 2)))")]
        pub price: Decimal,
        pub version: i64,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

#[expect(unreachable_pub, reason = "SeaORM's macro makes everything public")]
pub(crate) mod effect {
    use sea_orm::entity::prelude::*;

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "effects")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        pub organisation_id: Uuid,
        pub handler: String,
        pub message: Uuid,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StockLow {
    pub(crate) sku: String,
    pub(crate) quantity: u32,
}

#[derive(Serialize)]
pub(crate) struct WorkflowTransitioned {
    pub(crate) to: String,
}

/// How a handler ends with a message, after it has written its effect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum End {
    Well,
    Failing,
    Panicking,
    /// It publishes an event of its own.
    Publishing,
    Never,
}

/// A handler that writes one effect for each message, and then ends as it is told.
pub(crate) struct Scripted {
    end: Box<dyn Fn(&Message) -> End + Send + Sync>,
    pub(crate) seen: Mutex<Vec<Message>>,
    pub(crate) batches: Mutex<Vec<usize>>,
    pub(crate) entered: Notify,
    pub(crate) unwanted: Mutex<Vec<String>>,
    /// How many messages it takes at once.
    pub(crate) room: AtomicUsize,
    /// Of whom nothing is taken.
    pub(crate) held_back: Mutex<Option<OrganisationId>>,
    /// Where the handler waits for others in its first batch.
    pub(crate) meeting: Mutex<Option<Arc<Barrier>>>,
}

impl Scripted {
    pub(crate) fn new(end: impl Fn(&Message) -> End + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self {
            end: Box::new(end),
            seen: Mutex::default(),
            batches: Mutex::default(),
            entered: Notify::new(),
            unwanted: Mutex::default(),
            room: AtomicUsize::new(usize::MAX),
            held_back: Mutex::default(),
            meeting: Mutex::default(),
        })
    }

    pub(crate) fn well() -> Arc<Self> {
        Self::new(|_| End::Well)
    }

    pub(crate) fn seen(&self) -> Vec<Message> {
        self.seen.lock().clone()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.seen().into_iter().map(|message| message.name).collect()
    }
}

#[async_trait]
impl Handler for Scripted {
    async fn handle(&self, uow: &UnitOfWork, messages: &[Message]) -> Result<()> {
        self.batches.lock().push(messages.len());
        let meeting = self.meeting.lock().take();
        if let Some(meeting) = meeting {
            meeting.wait().await;
        }
        for message in messages {
            uow.insert(effect::ActiveModel {
                handler: Set(message.handler.clone()),
                message: Set(message.id),
                ..Default::default()
            })
            .await?;
            self.seen.lock().push(message.clone());
        }
        for message in messages {
            match (self.end)(message) {
                End::Well => {}
                End::Failing => return Err(svc_core::Error::internal("told to fail")),
                End::Publishing => {
                    uow.raise_domain(WorkflowTransitioned { to: sku(message) })?;
                }
                End::Panicking => panic!("told to panic"),
                End::Never => {
                    self.entered.notify_one();
                    std::future::pending::<()>().await;
                }
            }
        }
        Ok(())
    }

    async fn room(&self, organisation: Option<OrganisationId>) -> usize {
        if organisation.is_some() && organisation == *self.held_back.lock() {
            return 0;
        }
        self.room.load(Ordering::Relaxed)
    }

    fn wants(&self, name: &str) -> bool {
        !self.unwanted.lock().iter().any(|unwanted| unwanted == name)
    }
}

const TABLES: &str = "
CREATE TABLE products (
    id UUID NOT NULL PRIMARY KEY,
    organisation_id UUID NOT NULL,
    name TEXT NOT NULL,
    price NUMERIC(12, 2) NOT NULL,
    version BIGINT NOT NULL
);
CREATE TABLE effects (
    id UUID NOT NULL PRIMARY KEY,
    organisation_id UUID NOT NULL,
    handler TEXT NOT NULL,
    message UUID NOT NULL
);
";

struct Shop(Vec<(&'static str, Subscription, Arc<Scripted>)>);

impl Module for Shop {
    fn requires(&self) -> &'static [&'static str] {
        &["events"]
    }

    fn configure(&self, registry: &mut Registry) {
        registry.migrations([Migration::new("0001_tables", TABLES)]);
        registry.entity_set::<product::Entity>("Products", |set| set.mark("webhooks"));
        registry.entity::<effect::Entity>();
        registry.event::<StockLow>(
            "stock.low",
            "Stock of a product fell below its limit",
            |event| {
                event
                    .schema(serde_json::json!({"type": "object", "required": ["sku"]}))
                    .example(StockLow { sku: "A-7".into(), quantity: 3 })
            },
        );
        registry
            .domain_event::<WorkflowTransitioned>("A record moved in its workflow", |event| event);
        for (name, subscription, handler) in &self.0 {
            registry.handler(name, subscription.clone(), handler.clone());
        }
    }
}

/// A database that is gone after the test.
pub(crate) enum Place {
    Sqlite(tempfile::TempDir),
    Postgres { server: String, name: String },
}

impl Place {
    pub(crate) fn sqlite() -> Self {
        Self::Sqlite(tempfile::tempdir().unwrap())
    }

    pub(crate) async fn postgres() -> Self {
        let server = std::env::var("SVC_TEST_POSTGRES")
            .expect("set SVC_TEST_POSTGRES to the URL of a PostgreSQL server for tests");
        let name = format!(
            "events_{}",
            svc_core::random_array::<8>().map(|b| format!("{b:02x}")).concat()
        );
        let mut connection = sqlx::PgConnection::connect(&server).await.unwrap();
        let sql = sqlx::AssertSqlSafe(format!("CREATE DATABASE {name}"));
        connection.execute(sql).await.unwrap();
        Self::Postgres { server, name }
    }

    pub(crate) fn url(&self) -> String {
        match self {
            Self::Sqlite(folder) => format!("sqlite://{}/test.db", folder.path().display()),
            Self::Postgres { server, name } => {
                let (server, _) = server.rsplit_once('/').unwrap();
                format!("{server}/{name}")
            }
        }
    }

    /// Starts a node of the application, without its workers.
    pub(crate) async fn node(&self, handlers: Handlers) -> Node {
        self.node_with(handlers, &[]).await
    }

    pub(crate) async fn node_with(&self, handlers: Handlers, arguments: &[&str]) -> Node {
        let modules: Vec<Box<dyn Module>> =
            vec![Box::new(DataModule), Box::new(EventsModule), Box::new(Shop(handlers))];
        let mut assembly = Registry::assemble(modules).unwrap();
        let mut arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        arguments.push(format!("--Svc:Database:Url={}", self.url()));
        // Secrets need a key; without one, each start would look for a file.
        arguments.push(
            "--Svc:DataProtection:Keys:0=AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=".to_owned(),
        );
        let mut settings =
            SettingsBuilder::load(&LoadOptions { arguments, ..LoadOptions::default() });
        settings.declare_all(assembly.sections().iter().copied());
        let clock = Clock::manual(datetime!(2026-03-01 12:00 UTC));
        let app = App::new("test", clock, settings.finish().unwrap());
        let prepared = Prepared::from_assembly(&mut assembly);
        let database = prepared.connect(&app).await.unwrap();
        prepared.migrate(&app, &database).await.unwrap();
        prepared.provide(&app, database);
        assembly.build(&app).await.unwrap();
        Node { app }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Self::Postgres { server, name } = self else { return };
        let (server, name) = (server.clone(), name.clone());
        let drop_it = async move {
            let mut connection = sqlx::PgConnection::connect(&server).await?;
            let sql = sqlx::AssertSqlSafe(format!("DROP DATABASE {name} WITH (FORCE)"));
            connection.execute(sql).await
        };
        let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build();
        // A failed test must show its own failure, not that its database could not be dropped.
        let _ = std::thread::spawn(move || runtime().map(|r| r.block_on(drop_it).is_ok())).join();
    }
}

pub(crate) type Handlers = Vec<(&'static str, Subscription, Arc<Scripted>)>;

/// One handler that hears of everything.
pub(crate) fn one(handler: &Arc<Scripted>) -> Handlers {
    vec![("shop.hear", everything(), Arc::clone(handler))]
}

pub(crate) fn everything() -> Subscription {
    Subscription::new().changes(WhichSets::All).application_events().domain_events()
}

pub(crate) const ACME: OrganisationId = OrganisationId(Uuid::from_u128(0xac));
pub(crate) const ADA: UserId = UserId(Uuid::from_u128(0xada));

/// A node of the application.
pub(crate) struct Node {
    pub(crate) app: App,
}

impl Node {
    pub(crate) fn context(&self) -> Context {
        self.context_in(ACME)
    }

    pub(crate) fn context_in(&self, organisation: OrganisationId) -> Context {
        let person = Principal::user(ADA, "Ada", organisation, PermissionSet::everything());
        Context::new(&self.app, Arc::new(person), self.app.clock().new_id()).unwrap()
    }

    pub(crate) fn system(&self) -> Context {
        Context::system(&self.app).unwrap()
    }

    /// The newest dead letters.
    pub(crate) async fn dead_letters(&self, selection: &Selection) -> Vec<DeadLetter> {
        self.outbox().dead_letters(&self.system(), selection, None, 200).await.unwrap().letters
    }

    pub(crate) fn outbox(&self) -> Arc<Outbox> {
        self.app.service::<Outbox>().unwrap()
    }

    pub(crate) fn worker(&self, name: &str) -> Arc<dyn Worker> {
        self.app.workers().into_iter().find(|worker| worker.name() == name).unwrap()
    }

    /// Publishes events with these texts, in one unit of work.
    pub(crate) async fn publish(&self, skus: impl IntoIterator<Item = String>) {
        let skus: Vec<String> = skus.into_iter().collect();
        self.context()
            .transact(async |uow| {
                skus.into_iter().try_for_each(|sku| uow.publish(StockLow { sku, quantity: 1 }))
            })
            .await
            .unwrap();
    }

    /// The effects that were stored, by message.
    pub(crate) async fn effects(&self) -> HashMap<Uuid, usize> {
        let effects = self.context().query::<effect::Entity>().all().await.unwrap();
        effects.into_iter().fold(HashMap::new(), |mut counts, effect| {
            *counts.entry(effect.message).or_default() += 1;
            counts
        })
    }

    /// A number that the database answers a query with.
    pub(crate) async fn number(&self, sql: &str) -> i64 {
        let database = self.app.service::<Database>().unwrap();
        let rows = database.reader().query_all_raw(database.statement(sql, [])).await.unwrap();
        rows[0].try_get_by_index(0).unwrap()
    }

    /// The rows of the outbox.
    pub(crate) async fn waiting(&self) -> i64 {
        self.number("SELECT COUNT(*) FROM events_outbox").await
    }
}

pub(crate) fn sku(message: &Message) -> String {
    message.data::<StockLow>().map_or_else(|_| String::new(), |event| event.sku)
}

pub(crate) fn skus(count: usize) -> impl Iterator<Item = String> {
    (0..count).map(|number| format!("A-{number}"))
}

/// Waits for something that happens beyond a real boundary: another task's database connection.
pub(crate) async fn eventually(what: &str, condition: impl AsyncFn() -> bool) {
    for _ in 0..500 {
        if condition().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("{what}: not within ten seconds");
}
