//! A small application: products and their prices, in two organisations.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use sea_orm::{ColumnTrait as _, Condition};
use svc_core::settings::{LoadOptions, Settings};
use svc_core::{
    App, Clock, Module, OrganisationId, PermissionSet, Principal, Registry, Result, UserId,
};
use svc_data::{
    Author, Captured, ChangeKind, CommitHook, Context, DataModule, DataRegistry as _, Prepared,
    Sight, UnitOfWork,
};
use svc_database::{Backend, Database, Migration};
use svc_testing::ThrowAwayDatabase;
use time::macros::datetime;
use uuid::Uuid;

pub mod product {
    use sea_orm::entity::prelude::*;
    use time::OffsetDateTime;

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "products")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        pub organisation_id: Uuid,
        #[sea_orm(column_type = "String(StringLen::N(20))")]
        pub sku: String,
        #[sea_orm(column_type = "Decimal(Some((12, 2)))")]
        pub price: Decimal,
        pub available_from: Option<OffsetDateTime>,
        pub version: i64,
        pub updated_at: OffsetDateTime,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

pub const MIGRATION: Migration = Migration::new(
    "0001_products",
    "CREATE TABLE products (
        id UUID PRIMARY KEY,
        organisation_id UUID NOT NULL,
        sku TEXT NOT NULL,
        price NUMERIC(12, 2) NOT NULL,
        available_from TIMESTAMPTZ,
        version BIGINT NOT NULL,
        updated_at TIMESTAMPTZ NOT NULL,
        UNIQUE (organisation_id, sku)
    );",
);

/// A key for secrets: 32 bytes.
pub const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

/// What the last commit captured, as text.
#[derive(Default)]
pub struct Recorder(Mutex<Vec<String>>, Mutex<Vec<(Author, Uuid)>>);

#[async_trait]
impl CommitHook for Recorder {
    async fn before_commit(&self, _: &UnitOfWork, captured: &Captured) -> Result<()> {
        let authors = captured.changes.iter().map(|it| (it.author.clone(), it.unit_of_work));
        self.1.lock().extend(authors);
        let mut lines = self.0.lock();
        for change in &captured.changes {
            let columns: Vec<&str> = change.changed_columns().collect();
            let kind = change.kind.as_str();
            assert_eq!(change.before.is_none(), change.kind == ChangeKind::Created);
            lines.push(format!("{}.{kind} {columns:?}", change.model.name()));
        }
        lines.extend(captured.events.iter().map(|event| format!("{} {}", event.name, event.data)));
        Ok(())
    }
}

struct Shop(Arc<Recorder>);

impl Module for Shop {
    fn configure(&self, registry: &mut Registry) {
        registry.migrations([MIGRATION]);
        registry.entity_set::<product::Entity>("Products", |set| {
            set.described("what is sold")
                // Who has the claim sees only the products whose SKU begins with it.
                .row_filter(|who| match who.claims("prefix") {
                    [prefix, ..] => {
                        Sight::Where(Condition::all().add(product::Column::Sku.starts_with(prefix)))
                    }
                    [] => Sight::All,
                })
        });
        registry.commit_hook(Arc::clone(&self.0) as Arc<dyn CommitHook>);
    }
}

pub struct Fixture {
    pub app: App,
    pub clock: Clock,
    pub database: Database,
    recorder: Arc<Recorder>,
    throw_away: ThrowAwayDatabase,
}

impl Fixture {
    pub async fn start(backend: Backend) -> Self {
        Self::start_with_key(ThrowAwayDatabase::empty(backend).await, KEY).await.unwrap()
    }

    pub async fn start_with_key(throw_away: ThrowAwayDatabase, key: &str) -> Result<Self> {
        let recorder = Arc::<Recorder>::default();
        let mut assembly =
            Registry::assemble(vec![Box::new(DataModule), Box::new(Shop(Arc::clone(&recorder)))])
                .unwrap();
        let mut settings = Settings::load(&LoadOptions {
            arguments: vec![
                format!("--Svc:Database:Url={}", throw_away.url()),
                format!("--Svc:DataProtection:Keys:0={key}"),
            ],
            ..LoadOptions::default()
        });
        settings.declare_all(assembly.sections().iter().copied());
        let clock = Clock::manual(datetime!(2026-11-20 12:00 UTC));
        let app = App::new("shop", clock.clone(), settings.finish().unwrap());
        let prepared = Prepared::from_assembly(&mut assembly);
        let database = prepared.connect(&app).await.unwrap();
        prepared.migrate(&app, &database).await.unwrap();
        prepared.provide(&app, database.clone());
        assembly.build(&app).await?;
        Ok(Self { app, clock, database, recorder, throw_away })
    }

    /// Stops the application and starts another on its database, with this key.
    pub async fn restart_with_key(self, key: &str) -> Result<Self> {
        self.database.close().await;
        Self::start_with_key(self.throw_away, key).await
    }

    /// A person of the first or second organisation.
    pub fn in_organisation(&self, number: u128) -> Context {
        let organisation = OrganisationId(Uuid::from_u128(number));
        let permissions = PermissionSet::from_iter(["Products.View"]);
        let person = Principal::user(UserId(Uuid::from_u128(7)), "Ada", organisation, permissions);
        Context::new(&self.app, Arc::new(person), Uuid::from_u128(9)).unwrap()
    }

    /// A person of the organisation who may do everything with products.
    pub fn manager(&self, number: u128) -> Context {
        let organisation = OrganisationId(Uuid::from_u128(number));
        let verbs = ["View", "Create", "Update", "Delete"].map(|verb| format!("Products.{verb}"));
        let user = UserId(Uuid::from_u128(8));
        let person = Principal::user(user, "Max", organisation, PermissionSet::from_iter(verbs));
        Context::new(&self.app, Arc::new(person), Uuid::from_u128(9)).unwrap()
    }

    pub fn captured(&self) -> Vec<String> {
        std::mem::take(&mut self.recorder.0.lock())
    }

    /// Who made the changes that were captured, each in which unit of work.
    pub fn authors(&self) -> Vec<(Author, Uuid)> {
        std::mem::take(&mut self.recorder.1.lock())
    }

    pub fn advance(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
    }
}

/// A new product.
pub fn lamp(sku: &str) -> product::ActiveModel {
    use sea_orm::ActiveValue::Set;
    product::ActiveModel {
        sku: Set(sku.to_owned()),
        price: Set("19.90".parse().unwrap()),
        ..<product::ActiveModel as sea_orm::ActiveModelTrait>::default()
    }
}
