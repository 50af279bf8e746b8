//! An application with one set.

use sea_orm::{ColumnTrait as _, Condition};
use svc_application::Application;
use svc_core::{Module, Registry};
use svc_data::{Backend, DataRegistry as _, Migration};
use svc_testing::{Client, Person, TestApp};

pub mod lamp {
    use sea_orm::entity::prelude::*;
    use time::OffsetDateTime;

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "lamps")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        pub organisation_id: Uuid,
        #[sea_orm(column_type = "String(StringLen::N(20))")]
        pub sku: String,
        #[sea_orm(column_type = "Decimal(Some((12, 2)))")]
        pub price: Decimal,
        #[sea_orm(column_type = "Decimal(Some((12, 2)))")]
        pub cost_price: Option<Decimal>,
        pub watts: Option<i32>,
        pub sold_from: Option<OffsetDateTime>,
        pub region: String,
        pub created_at: OffsetDateTime,
        pub version: i64,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

struct Shop;

impl Module for Shop {
    fn configure(&self, registry: &mut Registry) {
        registry.migrations([Migration::new(
            "0001_lamps",
            "CREATE TABLE lamps (
                id UUID PRIMARY KEY,
                organisation_id UUID NOT NULL,
                sku TEXT NOT NULL,
                price NUMERIC(12, 2) NOT NULL,
                cost_price NUMERIC(12, 2),
                watts INTEGER,
                sold_from TIMESTAMPTZ,
                region TEXT NOT NULL,
                created_at TIMESTAMPTZ NOT NULL,
                version BIGINT NOT NULL,
                UNIQUE (organisation_id, sku)
            );",
        )]);
        registry
            .entity_set::<lamp::Entity>("Lamps")
            .described("What is sold.")
            .row_filter(|who| match who.claims("regions") {
                [] => Condition::all(),
                regions => Condition::all().add(lamp::Column::Region.is_in(regions)),
            })
            .hidden(lamp::Column::CostPrice)
            .unless("Lamps.SeeCosts");
    }
}

pub async fn start(backend: Backend) -> TestApp {
    TestApp::builder(|| Application::new("shop").module(Shop)).start(backend).await
}

/// Somebody who may do everything with lamps but see what they cost.
pub fn seller() -> Person {
    let verbs = ["Lamps.View", "Lamps.Create", "Lamps.Update", "Lamps.Delete"];
    Person::named("seller").who_may(&verbs)
}

/// Creates lamps by SKU and price in the region EU, and answers with their addresses.
pub async fn create(client: &Client, lamps: &[(&str, f64)]) -> Vec<String> {
    let mut addresses = Vec::new();
    for (sku, price) in lamps {
        let lamp = serde_json::json!({"sku": sku, "price": price, "region": "EU"});
        let created = client.post("/odata/v1/Lamps", lamp).await.expect(201);
        addresses.push(format!("/odata/v1/Lamps({})", created["id"].as_str().unwrap()));
    }
    addresses
}
