//! An application with two sets: lamps and who makes them.

use std::fmt::Write as _;
use std::sync::Arc;

use sea_orm::{ColumnTrait as _, Condition};
use serde_json::json;
use svc_application::Application;
use svc_core::{Module, Registry};
use svc_data::{DataRegistry as _, Sight};
use svc_database::{Backend, Migration};
use svc_testing::{Client, Person, TestApp};

pub mod hooks;
mod operations;

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
        pub maker_id: Option<Uuid>,
        pub created_at: OffsetDateTime,
        pub version: i64,
        #[sea_orm(belongs_to, from = "maker_id", to = "id")]
        pub maker: BelongsTo<Option<super::maker::Entity>>,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

pub mod maker {
    use sea_orm::entity::prelude::*;

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "makers")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        pub organisation_id: Uuid,
        pub name: String,
        pub country: String,
        pub discount: Option<i32>,
        pub parent_id: Option<Uuid>,
        pub version: i64,
        #[sea_orm(has_many)]
        pub lamps: HasMany<super::lamp::Entity>,
        #[sea_orm(
            self_ref,
            relation_enum = "Parent",
            relation_reverse = "Children",
            from = "parent_id",
            to = "id"
        )]
        pub parent: BelongsTo<Option<Entity>>,
        #[sea_orm(self_ref, relation_enum = "Children", relation_reverse = "Parent")]
        pub children: HasMany<Entity>,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

struct Shop;

impl Module for Shop {
    fn configure(&self, registry: &mut Registry) {
        registry.migrations([Migration::new(
            "0001_lamps",
            "CREATE TABLE makers (
                id UUID PRIMARY KEY,
                organisation_id UUID NOT NULL,
                name TEXT NOT NULL,
                country TEXT NOT NULL,
                discount INTEGER,
                parent_id UUID,
                version BIGINT NOT NULL,
                UNIQUE (organisation_id, id),
                FOREIGN KEY (organisation_id, parent_id) REFERENCES makers (organisation_id, id)
            );
            CREATE TABLE lamps (
                id UUID PRIMARY KEY,
                organisation_id UUID NOT NULL,
                sku TEXT NOT NULL,
                price NUMERIC(12, 2) NOT NULL,
                cost_price NUMERIC(12, 2),
                watts INTEGER,
                sold_from TIMESTAMPTZ,
                region TEXT NOT NULL,
                maker_id UUID,
                created_at TIMESTAMPTZ NOT NULL,
                version BIGINT NOT NULL,
                UNIQUE (organisation_id, sku),
                FOREIGN KEY (organisation_id, maker_id) REFERENCES makers (organisation_id, id)
            );",
        )]);
        registry.entity_set::<lamp::Entity>("Lamps", |set| {
            set.described("What is sold.")
                .search([lamp::Column::Sku, lamp::Column::Region, lamp::Column::CostPrice])
                .row_filter(|who| match who.claims("regions") {
                    [] => Sight::All,
                    regions => {
                        Sight::Where(Condition::all().add(lamp::Column::Region.is_in(regions)))
                    }
                })
                .alternate_key([lamp::Column::Sku])
                .alternate_key([lamp::Column::Region, lamp::Column::Sku])
                .hidden(lamp::Column::CostPrice)
                .unless("Lamps.SeeCosts")
                .action("Reprice", |action| {
                    action.described("Changes what a lamp costs").on_each(operations::reprice)
                })
                .action("Withdraw", |action| action.on_each(operations::withdraw))
                .action("Raise", |action| {
                    action
                        .described("Raises all prices")
                        .needs("Lamps.Reprice")
                        .on_set(operations::raise)
                })
                .function("Quote", |function| {
                    function
                        .described("What some of a lamp cost")
                        .needs("Lamps.View")
                        .on_each(operations::quote)
                })
                .function("UpTo", |function| function.needs("Lamps.View").on_set(operations::up_to))
        });
        registry.entity_set::<maker::Entity>("Makers", |set| {
            set.described("Who makes what is sold.")
                .row_filter(|who| match who.claims("countries") {
                    [] => Sight::All,
                    countries => {
                        Sight::Where(Condition::all().add(maker::Column::Country.is_in(countries)))
                    }
                })
                .upsert()
                .hidden(maker::Column::Discount)
                .unless("Makers.SeeDiscounts")
                .function("Best", |function| {
                    function.needs("Makers.View").on_each(operations::best)
                })
        });
        registry.commit_hook(Arc::new(hooks::Dimmer));
        registry.action("CloseDay", |action| {
            action.described("Ends the day").runs(operations::close_day)
        });
        registry.function("Echo", |function| function.needs("Lamps.View").runs(operations::echo));
    }
}

/// The sets as a module.
pub fn shop() -> impl Module {
    Shop
}

pub async fn start(backend: Backend) -> TestApp {
    TestApp::builder(|| Application::new("shop").module(Shop)).start(backend).await
}

/// Somebody who may do everything with lamps but see what they cost, and knows of no makers.
pub fn seller() -> Person {
    let verbs = ["Lamps.View", "Lamps.Create", "Lamps.Update", "Lamps.Delete"];
    Person::named("seller").who_may(&verbs)
}

/// Somebody who may read lamps and makers, but sees neither costs nor discounts.
pub fn reader() -> Person {
    Person::named("reader").who_may(&["Lamps.View", "Makers.View"])
}

/// Creates lamps by SKU and price in the region EU, and answers with their addresses.
pub async fn create(client: &Client, lamps: &[(&str, f64)]) -> Vec<String> {
    let mut addresses = Vec::new();
    for (sku, price) in lamps {
        let lamp = json!({"sku": sku, "price": price, "region": "EU"});
        let created = client.post("/odata/v1/Lamps", lamp).await.expect(201);
        addresses.push(format!("/odata/v1/Lamps({})", created["id"].as_str().unwrap()));
    }
    addresses
}

/// Creates two makers, the second of which belongs to the first, with two lamps each, and a lamp
/// of nobody; answers with the ids of the makers.
///
/// | SKU | price | watts | region | maker |
/// | --- | --- | --- | --- | --- |
/// | A-1 | 5 | 40 | EU | Alpha (DE, discount 10) |
/// | A-2 | 10.5 | | EU | Alpha |
/// | B-1 | 20 | 7 | ASIA | Beta (JP, discount 20, of Alpha) |
/// | B-2 | 7 | 60 | EU | Beta |
/// | C-1 | 1 | | EU | |
pub async fn stock(client: &Client) -> [String; 2] {
    let make = |maker| async move {
        let made = client.post("/odata/v1/Makers", maker).await.expect(201);
        made["id"].as_str().unwrap().to_owned()
    };
    let alpha = make(json!({"name": "Älpha", "country": "DE", "discount": 10})).await;
    let of_alpha = json!({"name": "Beta", "country": "JP", "discount": 20, "parentId": alpha});
    let beta = make(of_alpha).await;
    let lamps = [
        json!({"sku": "A-1", "price": 5, "costPrice": 2.5, "watts": 40, "region": "EU", "makerId": alpha,
            "soldFrom": "2026-01-02T03:04:05.678Z"}),
        json!({"sku": "A-2", "price": 10.5, "costPrice": 9, "region": "EU", "makerId": alpha}),
        json!({"sku": "B-1", "price": 20, "costPrice": 1, "watts": 7, "region": "ASIA", "makerId": beta,
            "soldFrom": "2025-12-31T23:59:59Z"}),
        json!({"sku": "B-2", "price": 7, "costPrice": 3, "watts": 60, "region": "EU", "makerId": beta}),
        json!({"sku": "C-1", "price": 1, "region": "EU"}),
    ];
    for lamp in lamps {
        let _ = client.post("/odata/v1/Lamps", lamp).await.expect(201);
    }
    [alpha, beta]
}

/// The path of a set with options, encoded as a URL wants them.
pub fn path(set: &str, options: &str) -> String {
    let mut encoded = "/odata/v1/".to_owned();
    for letter in format!("{set}?{options}").chars() {
        match letter {
            ' ' => encoded.push_str("%20"),
            '"' => encoded.push_str("%22"),
            letter if letter.is_ascii() => encoded.push(letter),
            letter => {
                let mut bytes = [0; 4];
                for byte in letter.encode_utf8(&mut bytes).bytes() {
                    let _ = write!(encoded, "%{byte:02X}");
                }
            }
        }
    }
    encoded
}
