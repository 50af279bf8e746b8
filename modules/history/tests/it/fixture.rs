//! A small shop whose history is kept.

use std::sync::Arc;

use async_trait::async_trait;
use sea_orm::entity::prelude::*;
use sea_orm::{ActiveValue::Set, Condition, IntoActiveModel as _, Value};
use serde_json::{Value as Json, json};
use svc_application::Application;
use svc_core::{Module, Registry};
use svc_data::{Captured, CommitHook, Context, DataRegistry as _, Sight, UnitOfWork};
use svc_database::Migration;
use svc_history::{History, HistoryRegistry as _, HistorySet as _};
use svc_http::ToolSet as _;
use svc_testing::{Backend, Client, Person, TestApp};

pub(crate) mod product {
    use sea_orm::entity::prelude::*;
    use time::OffsetDateTime;

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "products")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub(crate) id: Uuid,
        pub(crate) organisation_id: Uuid,
        #[sea_orm(column_type = "Text")]
        pub(crate) sku: String,
        #[sea_orm(column_type = "Text")]
        pub(crate) name: String,
        #[sea_orm(column_type = "Text")]
        pub(crate) region: String,
        #[sea_orm(column_type = "Decimal(Some((12, 2)))")]
        pub(crate) price: Decimal,
        #[sea_orm(column_type = "Decimal(Some((12, 2)))", nullable)]
        pub(crate) cost_price: Option<Decimal>,
        #[sea_orm(column_type = "Text", nullable)]
        pub(crate) contact: Option<String>,
        #[sea_orm(column_type = "Text", nullable)]
        pub(crate) remark: Option<String>,
        pub(crate) version: i64,
        pub(crate) created_at: OffsetDateTime,
        pub(crate) updated_at: OffsetDateTime,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

/// Deleted softly.
pub(crate) mod maker {
    use sea_orm::entity::prelude::*;
    use time::OffsetDateTime;

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "makers")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub(crate) id: Uuid,
        pub(crate) organisation_id: Uuid,
        #[sea_orm(column_type = "Text")]
        pub(crate) name: String,
        pub(crate) deleted_at: Option<OffsetDateTime>,
        pub(crate) version: i64,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

/// Whose history isn't kept.
pub(crate) mod note {
    use sea_orm::entity::prelude::*;

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "notes")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub(crate) id: Uuid,
        pub(crate) organisation_id: Uuid,
        #[sea_orm(column_type = "Text")]
        pub(crate) text: String,
        pub(crate) version: i64,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

/// Whose records belong to all organisations.
pub(crate) mod country {
    use sea_orm::entity::prelude::*;

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "countries")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub(crate) id: Uuid,
        #[sea_orm(column_type = "Text")]
        pub(crate) name: String,
        pub(crate) version: i64,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

/// No set: what the application keeps for itself.
pub(crate) mod terms {
    use sea_orm::entity::prelude::*;

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "shop_terms")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub(crate) id: Uuid,
        pub(crate) organisation_id: Uuid,
        pub(crate) days: i32,
        #[sea_orm(column_type = "Text")]
        pub(crate) token: String,
        pub(crate) version: i64,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

const TABLES: &str = "
CREATE TABLE products (
    id UUID PRIMARY KEY,
    organisation_id UUID NOT NULL,
    sku TEXT NOT NULL,
    name TEXT NOT NULL,
    region TEXT NOT NULL,
    price NUMERIC(12, 2) NOT NULL,
    cost_price NUMERIC(12, 2),
    contact TEXT,
    remark TEXT,
    version BIGINT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX products_sku ON products (organisation_id, sku);
CREATE TABLE makers (
    id UUID PRIMARY KEY,
    organisation_id UUID NOT NULL,
    name TEXT NOT NULL,
    deleted_at TIMESTAMPTZ,
    version BIGINT NOT NULL
);
CREATE TABLE countries (
    id UUID PRIMARY KEY,
    name TEXT NOT NULL,
    version BIGINT NOT NULL
);
CREATE TABLE shop_terms (
    id UUID PRIMARY KEY,
    organisation_id UUID NOT NULL,
    days INTEGER NOT NULL,
    token TEXT NOT NULL,
    version BIGINT NOT NULL
);
CREATE TABLE notes (
    id UUID PRIMARY KEY,
    organisation_id UUID NOT NULL,
    text TEXT NOT NULL,
    version BIGINT NOT NULL
);
";

/// Goes on changing products of one name, when they are about to be committed.
struct Rewrites;

/// The name by which a product asks for it.
pub(crate) const REWRITTEN: &str = "Rewrite me";

#[async_trait]
impl CommitHook for Rewrites {
    async fn before_commit(&self, uow: &UnitOfWork, captured: &Captured) -> svc_core::Result<()> {
        for change in &captured.changes {
            let Some(record) = change.after.as_ref() else { continue };
            let asks = record.values().contains(&REWRITTEN.into());
            let Value::Uuid(Some(id)) = record.key(&change.model) else { continue };
            if asks && change.model.table == "products" {
                let mut product = uow.find::<product::Entity>(*id).await?.into_active_model();
                product.name = Set("Rewritten".to_owned());
                uow.update(product).await?;
            }
        }
        Ok(())
    }
}

struct Shop;

impl Module for Shop {
    fn requires(&self) -> &'static [&'static str] {
        &["history"]
    }

    fn configure(&self, registry: &mut Registry) {
        registry.migrations([Migration::new("0001_shop", TABLES)]);
        registry.entity_set::<product::Entity>("Products", |set| {
            set.row_filter(|who| match who.claims("regions") {
                [] => Sight::All,
                regions => {
                    Sight::Where(Condition::all().add(product::Column::Region.is_in(regions)))
                }
            })
            .hidden(product::Column::CostPrice)
            .unless("Products.SeeCosts")
            .response_filter([product::Column::Contact], |_, [contact]| {
                [contact.as_str().map_or(Json::Null, |_| json!("***"))]
            })
            .unless("Products.SeeContacts")
            .internal(product::Column::Remark)
        });
        registry.entity_set::<maker::Entity>("Makers", |set| {
            set.soft_delete(maker::Column::DeletedAt).hidden_from_tools()
        });
        registry.commit_hook(Arc::new(Rewrites));
        registry.entity_set::<note::Entity>("Notes", |set| set.history(false));
        registry.entity_set::<country::Entity>("Countries", |set| {
            set.described("Where goods go").shared()
        });
        registry.permission("Terms.View", "read the terms");
        registry.entity::<terms::Entity>();
        registry.history_of::<terms::Entity>("Terms.View", [terms::Column::Days]);
    }
}

pub(crate) fn application() -> Application {
    Application::new("shop").module(History).module(Shop)
}

/// A started shop, and Ada, who may do everything.
pub(crate) struct World {
    pub(crate) app: TestApp,
    pub(crate) ada: Person,
}

impl World {
    pub(crate) async fn new(backend: Backend) -> Self {
        Self::with(&[], backend).await
    }

    /// With settings of its own.
    pub(crate) async fn with(settings: &[(&str, &str)], backend: Backend) -> Self {
        let builder = TestApp::builder(application);
        let builder = settings.iter().fold(builder, |it, (key, value)| it.setting(key, value));
        Self { app: builder.start(backend).await, ada: Person::named("Ada") }
    }

    pub(crate) fn client(&self) -> Client {
        self.app.sign_in(&self.ada)
    }

    pub(crate) fn context(&self) -> Context {
        self.app.context(&self.ada)
    }

    /// Makes a product; answers with its key.
    pub(crate) async fn product(&self, sku: &str) -> String {
        let body = json!({"sku": sku, "name": "Lamp", "region": "EU", "price": 12.5});
        let made = self.client().post("/odata/v1/Products", body).await.expect(201);
        made["id"].as_str().unwrap().to_owned()
    }

    /// Changes a product as Ada.
    pub(crate) async fn change(&self, id: &str, values: Json) {
        self.change_as(&self.ada, id, values).await;
    }

    pub(crate) async fn change_as(&self, who: &Person, id: &str, values: Json) {
        let path = format!("/odata/v1/Products({id})");
        let _ = self.app.sign_in(who).patch(&path, values).await.expect(200);
    }

    /// Changes the column that never leaves the application.
    pub(crate) async fn remark(&self, id: &str, remark: &str) {
        let key: Uuid = id.parse().unwrap();
        let work = async |uow: UnitOfWork| {
            let mut product = uow.find::<product::Entity>(key).await?.into_active_model();
            product.remark = Set(Some(remark.to_owned()));
            uow.update(product).await
        };
        self.context().transact(work).await.unwrap();
    }

    /// What happened to a record, as Ada reads it.
    pub(crate) async fn history(&self, set: &str, id: &str) -> Vec<Json> {
        let listed = self.client().get(&format!("/api/v1/history/{set}/{id}")).await.expect(200);
        listed["items"].as_array().unwrap().clone()
    }

    /// A number that the database tells.
    pub(crate) async fn number(&self, sql: &str) -> i64 {
        let database = self.context().database().clone();
        let rows = database.rows(database.statement(sql, [])).await.unwrap();
        rows[0].try_get_by_index(0).unwrap()
    }

    /// The entries that there are.
    pub(crate) async fn entries(&self) -> i64 {
        self.number("SELECT COUNT(*) FROM history_entries").await
    }
}
