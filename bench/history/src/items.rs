//! The application that is measured: two sets that are alike, of which one keeps its history.

use serde_json::{Value as Json, json};
use svc_application::Application;
use svc_core::{Module, Registry};
use svc_data::DataRegistry as _;
use svc_database::Migration;
use svc_history::{History, HistorySet as _};
use svc_testing::{Backend, Client, Person, TestApp};

macro_rules! entity {
    ($module:ident, $table:literal) => {
        pub(crate) mod $module {
            use sea_orm::entity::prelude::*;
            use time::OffsetDateTime;

            #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
            #[sea_orm(table_name = $table)]
            pub(crate) struct Model {
                #[sea_orm(primary_key, auto_increment = false)]
                pub(crate) id: Uuid,
                pub(crate) organisation_id: Uuid,
                #[sea_orm(column_type = "Text")]
                pub(crate) sku: String,
                #[sea_orm(column_type = "Text")]
                pub(crate) name: String,
                #[sea_orm(column_type = "Decimal(Some((12, 2)))")]
                pub(crate) price: Decimal,
                pub(crate) stock: i32,
                pub(crate) updated_at: OffsetDateTime,
                pub(crate) version: i64,
            }

            #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
            pub(crate) enum Relation {}

            impl ActiveModelBehavior for ActiveModel {}
        }
    };
}

entity!(kept, "kept_items");
entity!(plain, "plain_items");

const TABLE: &str = "(
    id UUID PRIMARY KEY, organisation_id UUID NOT NULL, sku TEXT NOT NULL, name TEXT NOT NULL,
    price NUMERIC(12, 2) NOT NULL, stock INTEGER NOT NULL, updated_at TIMESTAMPTZ NOT NULL,
    version BIGINT NOT NULL)";

struct Items;

impl Module for Items {
    fn requires(&self) -> &'static [&'static str] {
        &["history"]
    }

    fn configure(&self, registry: &mut Registry) {
        let sql = format!("CREATE TABLE kept_items {TABLE}; CREATE TABLE plain_items {TABLE};");
        registry.migrations([Migration::new("0001_items", sql.leak())]);
        registry.entity_set::<kept::Entity>("KeptItems", |set| set);
        registry.entity_set::<plain::Entity>("PlainItems", |set| set.history(false));
    }
}

/// Starts the application, and signs somebody in who may do everything.
pub(crate) async fn start(backend: Backend) -> (TestApp, Client) {
    let builder = TestApp::builder(|| Application::new("bench").module(History).module(Items));
    let app = builder.in_real_time().start(backend).await;
    let client = app.sign_in(&Person::named("boss"));
    (app, client)
}

/// Makes an item; answers with its key.
pub(crate) async fn make(client: &Client, set: &str) -> String {
    let item = json!({"sku": "L-1", "name": "Desk lamp", "price": 19.9, "stock": 10});
    let made = client.post(&format!("/odata/v1/{set}"), item).await.expect(201);
    made["id"].as_str().unwrap().to_owned()
}

/// Changes one.
pub(crate) async fn change(client: &Client, set: &str, id: &str, stock: u32) -> Json {
    client.patch(&format!("/odata/v1/{set}({id})"), json!({"stock": stock})).await.expect(200)
}
