//! An application with a property of every kind, and with keys that are texts and whole numbers.

use serde_json::Value;
use svc_application::Application;
use svc_core::{Module, Registry};
use svc_data::DataRegistry as _;
use svc_database::{Backend, Migration};
use svc_testing::{Answer, Client, TestApp};

pub mod sample {
    use sea_orm::entity::prelude::*;
    use time::{Date, OffsetDateTime, Time};

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "samples")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        pub organisation_id: Uuid,
        pub name: String,
        pub flag: Option<bool>,
        pub small: Option<i16>,
        pub whole: Option<i32>,
        pub large: Option<i64>,
        pub ratio: Option<f64>,
        #[sea_orm(column_type = "Decimal(Some((15, 4)))")]
        pub exact: Option<Decimal>,
        #[sea_orm(column_type = "String(StringLen::N(8))")]
        pub short: Option<String>,
        pub token: Option<Uuid>,
        pub seen_at: Option<OffsetDateTime>,
        pub day: Option<Date>,
        pub opens: Option<Time>,
        pub bytes: Option<Vec<u8>>,
        pub notes: Option<Json>,
        pub word_code: Option<String>,
        pub version: i64,
        #[sea_orm(belongs_to, from = "word_code", to = "code")]
        pub word: BelongsTo<Option<super::word::Entity>>,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

/// What is known by a text.
pub mod word {
    use sea_orm::entity::prelude::*;

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "words")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub code: String,
        pub organisation_id: Uuid,
        pub meaning: String,
        pub version: i64,
        #[sea_orm(has_many)]
        pub samples: HasMany<super::sample::Entity>,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

/// What is known by a number.
pub mod card {
    use sea_orm::entity::prelude::*;

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "cards")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub number: i64,
        pub organisation_id: Uuid,
        pub holder: String,
        pub version: i64,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

struct Kinds;

impl Module for Kinds {
    fn configure(&self, registry: &mut Registry) {
        registry.migrations([Migration::new(
            "0001_kinds",
            "CREATE TABLE words (
                code TEXT PRIMARY KEY,
                organisation_id UUID NOT NULL,
                meaning TEXT NOT NULL,
                version BIGINT NOT NULL,
                UNIQUE (organisation_id, code)
            );
            CREATE TABLE cards (
                number BIGINT PRIMARY KEY,
                organisation_id UUID NOT NULL,
                holder TEXT NOT NULL,
                version BIGINT NOT NULL
            );
            CREATE TABLE samples (
                id UUID PRIMARY KEY,
                organisation_id UUID NOT NULL,
                name TEXT NOT NULL,
                flag BOOLEAN,
                small SMALLINT,
                whole INTEGER,
                large BIGINT,
                ratio DOUBLE PRECISION,
                exact NUMERIC(15, 4),
                short TEXT,
                token UUID,
                seen_at TIMESTAMPTZ,
                day DATE,
                opens TIME,
                bytes BYTEA,
                notes JSONB,
                word_code TEXT,
                version BIGINT NOT NULL,
                FOREIGN KEY (organisation_id, word_code) REFERENCES words (organisation_id, code)
            );",
        )]);
        registry.entity_set::<sample::Entity>("Samples", |set| set.search([sample::Column::Name]));
        registry.entity_set::<word::Entity>("Words", |set| set.described("What is said").upsert());
        registry.entity_set::<card::Entity>("Cards", |set| set);
    }
}

/// The sets as a module.
pub fn module() -> impl Module {
    Kinds
}

pub async fn start(backend: Backend) -> TestApp {
    TestApp::builder(|| Application::new("kinds").module(Kinds)).start(backend).await
}

/// Sends a sample with one property, whose value is JSON as it is written.
pub async fn send(client: &Client, name: &str, property: &str, value: &str) -> Answer {
    let headers = [("content-type", "application/json")];
    let body = format!(r#"{{"name":"{name}","{property}":{value}}}"#);
    client.send(http::Method::POST, "/odata/v1/Samples", &headers, body).await
}

/// A text in which nothing means anything to a URL.
pub fn encoded(text: &str) -> String {
    let bytes = text.bytes().map(|byte| svc_core::hex(&[byte]));
    bytes.flat_map(|digits| ["%".to_owned(), digits]).collect()
}

/// The names of a page's samples.
pub fn names(page: &Value) -> String {
    let samples = page["value"].as_array().unwrap().iter();
    samples.map(|sample| sample["name"].as_str().unwrap()).collect::<Vec<_>>().join(" ")
}
