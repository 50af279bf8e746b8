//! One set, of products, in two organisations.

use std::sync::Arc;

use sea_orm::{ColumnTrait as _, Condition};
use svc_core::{App, Module, OrganisationId, PermissionSet, Principal, Registry, UserId};
use svc_data::{Context, DataRegistry as _, Sight};
use svc_database::{Backend, Migration};
use svc_testing::{Application, TestApp};
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

const MIGRATION: Migration = Migration::new(
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

struct Shop;

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
    }
}

pub struct Fixture(TestApp);

impl Fixture {
    pub async fn start(backend: Backend) -> Self {
        let application = || Application::new("shop").module(Shop);
        Self(TestApp::builder(application).start(backend).await)
    }

    pub fn app(&self) -> &App {
        self.0.app()
    }

    /// A person of the first or second organisation.
    pub fn in_organisation(&self, number: u128) -> Context {
        self.person("Ada", number, &["View"])
    }

    /// A person of the organisation who may do everything with products.
    pub fn manager(&self, number: u128) -> Context {
        self.person("Max", number, &["View", "Create", "Update", "Delete"])
    }

    fn person(&self, name: &str, organisation: u128, verbs: &[&str]) -> Context {
        let organisation = OrganisationId(Uuid::from_u128(organisation));
        let permissions = verbs.iter().map(|verb| format!("Products.{verb}"));
        let permissions: PermissionSet = permissions.collect();
        let user = UserId(Uuid::from_u128(7));
        let person = Principal::user(user, name, organisation, permissions);
        Context::new(self.app(), Arc::new(person), Uuid::from_u128(9)).unwrap()
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
