//! A start where entities and tables differ: all that does is told at once, with what to do.

use svc_application::Application;
use svc_core::settings::LoadOptions;
use svc_core::{Clock, ErrorKind, Module, Registry};
use svc_data::DataRegistry as _;
use svc_database::Migration;
use svc_testing::{ThrowAwayDatabase, on_both_databases};

mod shelf {
    use sea_orm::entity::prelude::*;

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "shelves")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        pub organisation_id: Uuid,
        #[sea_orm(default_value = "oak")]
        pub wood: String,
        pub version: i64,
        #[sea_orm(has_many)]
        pub books: HasMany<super::book::Entity>,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

mod book {
    use sea_orm::entity::prelude::*;
    use time::OffsetDateTime;

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "books")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        pub organisation_id: Uuid,
        pub isbn: String,
        pub title: String,
        pub subtitle: Option<String>,
        pub pages: i32,
        #[sea_orm(column_type = "Decimal(Some((12, 2)))")]
        pub price: Decimal,
        pub shelf_id: Uuid,
        pub lent_at: Option<OffsetDateTime>,
        pub version: i64,
        #[sea_orm(belongs_to, from = "shelf_id", to = "id")]
        pub shelf: BelongsTo<super::shelf::Entity>,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

/// What is kept in less than its field needs, where a database tells it apart.
mod gauge {
    use sea_orm::entity::prelude::*;
    use time::OffsetDateTime;

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "gauges")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        pub organisation_id: Uuid,
        pub level: f64,
        pub read_at: OffsetDateTime,
        pub version: i64,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

struct Gauges;

impl Module for Gauges {
    fn configure(&self, registry: &mut Registry) {
        registry.migrations([Migration::new(
            "0001_gauges",
            "CREATE TABLE gauges (id UUID PRIMARY KEY, organisation_id UUID NOT NULL, level REAL NOT NULL, \
             read_at TEXT NOT NULL, version BIGINT NOT NULL);",
        )]);
        registry.entity_set::<gauge::Entity>("Gauges", |set| set);
    }
}

/// The tables as the draft writes them.
const RIGHT: &str = "CREATE TABLE shelves (
    id UUID PRIMARY KEY,
    organisation_id UUID NOT NULL,
    wood TEXT NOT NULL DEFAULT 'oak',
    version BIGINT NOT NULL,
    UNIQUE (organisation_id, id)
);
CREATE TABLE books (
    id UUID PRIMARY KEY,
    organisation_id UUID NOT NULL,
    isbn TEXT NOT NULL,
    title TEXT NOT NULL,
    subtitle TEXT,
    pages INTEGER NOT NULL,
    price NUMERIC(12, 2) NOT NULL,
    shelf_id UUID NOT NULL,
    lent_at TIMESTAMPTZ,
    version BIGINT NOT NULL,
    UNIQUE (organisation_id, id),
    UNIQUE (organisation_id, isbn),
    FOREIGN KEY (organisation_id, shelf_id) REFERENCES shelves (organisation_id, id)
);
CREATE INDEX books_shelf_id ON books (organisation_id, shelf_id);
";

const MORE: &str = "ALTER TABLE books ADD COLUMN weight INTEGER;
CREATE TABLE chairs (id UUID PRIMARY KEY);
";

const WRONG: &str = "CREATE TABLE shelves (id UUID PRIMARY KEY, organisation_id UUID NOT NULL, \
     wood TEXT NOT NULL, version BIGINT NOT NULL);
CREATE TABLE books (id UUID PRIMARY KEY, organisation_id UUID NOT NULL, isbn TEXT NOT NULL, title TEXT, \
     subtitle TEXT NOT NULL, pages TEXT NOT NULL, price NUMERIC(12, 2) NOT NULL DEFAULT 0, \
     shelf_id UUID NOT NULL REFERENCES shelves (id), version BIGINT NOT NULL);
";

/// A module whose tables are made by these steps.
struct Library(&'static [Migration]);

impl Module for Library {
    fn configure(&self, registry: &mut Registry) {
        registry.migrations(self.0.iter().copied());
        registry.entity_set::<book::Entity>("Books", |set| set.alternate_key([book::Column::Isbn]));
        registry.entity_set::<shelf::Entity>("Shelves", |set| set);
    }
}

async fn connect(
    steps: &'static [Migration],
    database: &ThrowAwayDatabase,
) -> svc_application::Connected {
    let assembled = Application::new("library").module(Library(steps)).assemble().unwrap();
    let arguments = vec![format!("--Svc:Database:Url={}", database.url())];
    let options = LoadOptions { arguments, ..LoadOptions::default() };
    assembled.configure(&options, Clock::system()).unwrap().connect().await.unwrap()
}

on_both_databases! {
    async fn tables_that_are_right_or_more_are_fine(backend) {
        const STEPS: [Migration; 2] =
            [Migration::new("0001_library", RIGHT), Migration::new("0002_more", MORE)];
        let database = ThrowAwayDatabase::empty(backend).await;
        let running = connect(&STEPS, &database).await.start().await.unwrap();
        running.stop().await;
        assert_eq!(connect(&STEPS, &database).await.draft_migration().await.unwrap(), "");
    }

    async fn the_draft_is_what_the_migration_is(backend) {
        let database = ThrowAwayDatabase::empty(backend).await;
        let connected = connect(&[], &database).await;
        connected.migrate().await.unwrap();
        assert_eq!(connected.draft_migration().await.unwrap(), RIGHT);
    }

    async fn everything_that_differs_is_told_at_once(backend) {
        const STEPS: [Migration; 1] = [Migration::new("0001_library", WRONG)];
        let database = ThrowAwayDatabase::empty(backend).await;
        let refusal = connect(&STEPS, &database).await.start().await.err().unwrap();
        assert_eq!(refusal.kind(), ErrorKind::Conflict);
        insta::allow_duplicates! {
            insta::assert_snapshot!("differing", refusal.to_string());
        }
        let drafted = connect(&STEPS, &database).await.draft_migration().await.unwrap();
        insta::allow_duplicates! {
            insta::assert_snapshot!("drafted", drafted);
        }
    }

    async fn a_column_that_a_database_reads_as_another_type_is_told(backend) {
        let database = ThrowAwayDatabase::empty(backend).await;
        let assembled = Application::new("gauges").module(Gauges).assemble().unwrap();
        let arguments = vec![format!("--Svc:Database:Url={}", database.url())];
        let options = LoadOptions { arguments, ..LoadOptions::default() };
        let connected = assembled.configure(&options, Clock::system()).unwrap().connect().await.unwrap();
        let started = connected.start().await;
        if backend == svc_testing::Backend::Sqlite {
            // It has one width of numbers, and keeps times as text.
            started.unwrap().stop().await;
            return;
        }
        let refusal = started.err().unwrap().to_string();
        for (column, found, needed) in [("level", "real", "DOUBLE PRECISION"), ("read_at", "text", "TIMESTAMPTZ")] {
            let told = format!("`gauges.{column}` is `{found}` in the table, but the field needs `{needed}`");
            assert!(refusal.contains(&told), "{told}: {refusal}");
        }
    }

    async fn a_missing_table_is_told(backend) {
        let database = ThrowAwayDatabase::empty(backend).await;
        let refusal = connect(&[], &database).await.start().await.err().unwrap();
        let told = "there is no table `books` for its entity; add a migration that creates it";
        assert!(refusal.to_string().contains(told), "{refusal}");
    }
}

/// A set that is searched where nobody reads what is kept.
struct Numbers;

impl Module for Numbers {
    fn configure(&self, registry: &mut Registry) {
        registry.entity_set::<book::Entity>("Books", |set| set.search([book::Column::ShelfId]));
    }
}

#[test]
fn what_nobody_reads_is_not_searched() {
    let refusal = Application::new("library").module(Numbers).assemble().err().unwrap();
    insta::assert_snapshot!(refusal.to_string(), @"module `numbers`: `Books` can't be searched in `shelf_id`: `$search` looks at texts and numbers that people may read; leave the column out");
}
