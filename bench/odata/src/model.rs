//! The application that is measured: products with a category and order lines.

use std::sync::Arc;

use async_trait::async_trait;
use sea_orm::{ColumnTrait as _, Condition};
use svc_application::Application;
use svc_core::settings::LoadOptions;
use svc_core::{Clock, Module, Registry, Result};
use svc_data::{DataRegistry as _, Sight, UnitOfWork, Viewer};
use svc_database::Migration;
use svc_events::{EventsRegistry as _, Handler, Message, Subscription, WhichSets};
use svc_identity::Identity;

/// The key that the set-up gives the administrator, who sees everything.
pub(crate) const API_KEY: &str = "svck_bench_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGH";

/// A key for secrets: 32 bytes in base64. A benchmark protects nothing that matters.
const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

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
        #[sea_orm(column_type = "String(StringLen::N(20))")]
        pub(crate) sku: String,
        #[sea_orm(column_type = "String(StringLen::N(100))")]
        pub(crate) name: String,
        pub(crate) category_id: Uuid,
        #[sea_orm(column_type = "Decimal(Some((12, 2)))")]
        pub(crate) price: Decimal,
        #[sea_orm(column_type = "Decimal(Some((12, 2)))", nullable)]
        pub(crate) cost_price: Option<Decimal>,
        pub(crate) stock: i32,
        pub(crate) region: Option<String>,
        pub(crate) discontinued: bool,
        pub(crate) created_at: OffsetDateTime,
        pub(crate) version: i64,
        #[sea_orm(belongs_to, from = "category_id", to = "id")]
        pub(crate) category: BelongsTo<super::category::Entity>,
        #[sea_orm(has_many)]
        pub(crate) lines: HasMany<super::line::Entity>,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

pub(crate) mod category {
    use sea_orm::entity::prelude::*;

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "categories")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub(crate) id: Uuid,
        pub(crate) organisation_id: Uuid,
        pub(crate) name: String,
        pub(crate) version: i64,
        #[sea_orm(has_many)]
        pub(crate) products: HasMany<super::product::Entity>,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

pub(crate) mod line {
    use sea_orm::entity::prelude::*;

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "lines")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub(crate) id: Uuid,
        pub(crate) organisation_id: Uuid,
        pub(crate) product_id: Uuid,
        pub(crate) quantity: i32,
        #[sea_orm(column_type = "Decimal(Some((12, 2)))")]
        pub(crate) price: Decimal,
        pub(crate) version: i64,
        #[sea_orm(belongs_to, from = "product_id", to = "id")]
        pub(crate) product: BelongsTo<super::product::Entity>,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

struct Shop;

impl Module for Shop {
    fn configure(&self, registry: &mut Registry) {
        registry
            .migrations([Migration::new("0001_shop", include_str!("../migrations/0001_shop.sql"))]);
        registry.entity_set::<product::Entity>("Products", |set| {
            set.row_filter(visible_to)
                .hidden(product::Column::CostPrice)
                .unless("Products.SeeCosts")
        });
        registry.entity_set::<category::Entity>("Categories", |set| set);
        registry.entity_set::<line::Entity>("Lines", |set| set);
        registry.permission("Products.SeeAllRegions", "see the products of all regions");
        registry.handler(
            "bench.listen",
            Subscription::new().changes(WhichSets::All),
            Arc::new(Listener),
        );
    }
}

/// Those of two regions, and those without one, for somebody who may not see all.
fn visible_to(who: &Viewer<'_>) -> Sight {
    if who.can("Products.SeeAllRegions") {
        return Sight::All;
    }
    let region = product::Column::Region;
    Condition::any().add(region.is_null()).add(region.is_in(["EU", "ASIA"])).into()
}

struct Listener;

#[async_trait]
impl Handler for Listener {
    async fn handle(&self, _: &UnitOfWork, _: &[Message]) -> Result<()> {
        Ok(())
    }
}

/// Starts the application on a database; nothing runs in its background.
pub(crate) async fn start(url: &str) -> svc_application::Running {
    let settings = [
        ("Svc:Database:Url", url),
        ("Svc:DataProtection:Keys:0", KEY),
        ("Svc:Setup:Organisation", "Bench"),
        ("Svc:Setup:AdminEmail", "bench@example.com"),
        ("Svc:Setup:AdminPassword", "correct horse battery"),
        ("Svc:Setup:ApiKey", API_KEY),
        ("Svc:Http:Listen", "127.0.0.1:0"),
        ("Svc:OData:MaxPageSize", "100000"),
    ];
    let arguments = settings.map(|(key, value)| format!("--{key}={value}")).to_vec();
    let options = LoadOptions { arguments, ..LoadOptions::default() };
    let application = Application::new("bench").module(Identity).module(Shop);
    let assembled = application.assemble().unwrap();
    let connected =
        assembled.configure(&options, Clock::system()).unwrap().connect().await.unwrap();
    connected.start().await.unwrap()
}
