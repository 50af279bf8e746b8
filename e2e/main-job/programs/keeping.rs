//! The shop with a set more, which deletes softly: the shop itself has none.

use std::process::ExitCode;

use shop::Shop;
use svc::prelude::*;

mod note {
    use svc::prelude::*;

    /// What somebody wrote down.
    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "notes")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub(crate) id: Uuid,
        pub(crate) organisation_id: Uuid,
        pub(crate) name: String,
        pub(crate) description: Option<String>,
        pub(crate) deleted_at: Option<OffsetDateTime>,
        pub(crate) version: i64,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

const TABLE: &str = "CREATE TABLE notes (
    id UUID PRIMARY KEY,
    organisation_id UUID NOT NULL,
    name TEXT NOT NULL,
    description TEXT,
    deleted_at TIMESTAMPTZ,
    version BIGINT NOT NULL
);";

struct Notes;

impl Module for Notes {
    fn configure(&self, registry: &mut Registry) {
        registry.migrations([Migration::new("0001_notes", TABLE)]);
        registry
            .entity_set::<note::Entity>("Notes", |set| set.soft_delete(note::Column::DeletedAt));
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    svc::application("keeping")
        .module(Identity)
        .module(Webhooks)
        .module(History)
        .module(Search)
        .module(Workflows)
        .module(Shop)
        .module(Notes)
        .main()
        .await
}
