//! The application that is measured: one set, and one handler that wants to hear of its changes.

use std::sync::Arc;

use async_trait::async_trait;
use svc_application::Application;
use svc_core::{Module, Registry, Result};
use svc_data::{DataRegistry as _, UnitOfWork};
use svc_database::Migration;
use svc_events::{EventsRegistry as _, Handler, Message, Subscription, WhichSets};
use svc_identity::Identity;
use svc_testing::{Backend, TestApp};

/// The key that the set-up gives the administrator.
pub(crate) const API_KEY: &str = "svck_bench_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGH";

pub(crate) mod item {
    use sea_orm::entity::prelude::*;
    use time::OffsetDateTime;

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "items")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub(crate) id: Uuid,
        pub(crate) organisation_id: Uuid,
        pub(crate) sku: String,
        pub(crate) name: String,
        #[sea_orm(column_type = "Decimal(Some((12, 2)))")]
        pub(crate) price: Decimal,
        pub(crate) stock: i32,
        pub(crate) created_at: OffsetDateTime,
        pub(crate) version: i64,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

struct Items;

impl Module for Items {
    fn configure(&self, registry: &mut Registry) {
        registry.migrations([Migration::new(
            "0001_items",
            "CREATE TABLE items (
                id UUID PRIMARY KEY,
                organisation_id UUID NOT NULL,
                sku TEXT NOT NULL,
                name TEXT NOT NULL,
                price NUMERIC(12, 2) NOT NULL,
                stock INTEGER NOT NULL,
                created_at TIMESTAMPTZ NOT NULL,
                version BIGINT NOT NULL
            );",
        )]);
        registry.entity_set::<item::Entity>("Items", |set| set);
        registry.handler(
            "bench.listen",
            Subscription::new().changes(WhichSets::All),
            Arc::new(Listener),
        );
    }
}

struct Listener;

#[async_trait]
impl Handler for Listener {
    async fn handle(&self, _: &UnitOfWork, _: &[Message]) -> Result<()> {
        Ok(())
    }
}

/// Starts the application; nothing runs in its background.
pub(crate) async fn start(backend: Backend) -> TestApp {
    TestApp::builder(|| Application::new("bench").module(Identity).module(Items))
        .setting("Svc:Setup:Organisation", "Bench")
        .setting("Svc:Setup:AdminEmail", "bench@example.com")
        .setting("Svc:Setup:AdminPassword", "correct horse battery")
        .setting("Svc:Setup:ApiKey", API_KEY)
        .setting("Svc:Http:Listen", "127.0.0.1:0")
        .start(backend)
        .await
}
