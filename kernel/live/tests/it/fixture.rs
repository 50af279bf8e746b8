//! A library that tells of its books, with people who hear of them.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use axum::body::{Body, BodyDataStream};
use futures::StreamExt as _;
use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait as _, Condition};
use serde_json::{Value, json};
use svc_core::{Module, Registry, Result};
use svc_data::{Context, DataRegistry as _, Sight};
use svc_database::Migration;
use svc_jobs::{Job, JobContext, JobError, JobsRegistry as _};
use svc_live::{Audience, LiveRegistry as _, LiveSet as _, LiveTopic, Tell as _};
use svc_testing::{Application, Backend, Client, Person, TestApp};
use uuid::Uuid;

pub(crate) mod book {
    use sea_orm::entity::prelude::*;

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "books")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        pub organisation_id: Uuid,
        #[sea_orm(column_type = "String(StringLen::N(50))")]
        pub title: String,
        #[sea_orm(column_type = "String(StringLen::N(20))")]
        pub shelf: String,
        pub version: i64,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

pub(crate) const LOANS: &str = "library.loans";

struct Library;

impl Module for Library {
    fn requires(&self) -> &'static [&'static str] {
        &["live"]
    }

    fn configure(&self, registry: &mut Registry) {
        registry.migrations([Migration::new(
            "0001_library",
            "CREATE TABLE books (id UUID PRIMARY KEY, organisation_id UUID NOT NULL, title TEXT NOT NULL, \
             shelf TEXT NOT NULL, version BIGINT NOT NULL);",
        )]);
        registry.entity_set::<book::Entity>("Books", |set| {
            set
                // Who has a shelf sees only what stands there.
                .row_filter(|who| match who.claims("shelf") {
                    [place, ..] => {
                        Sight::Where(Condition::all().add(book::Column::Shelf.eq(place)))
                    }
                    [] => Sight::All,
                })
                .hidden(book::Column::Title)
                .unless("Books.Read")
                .live()
        });
        let topic = LiveTopic::new(LOANS, "loans of a person").needs("Loans.View");
        registry.permission("Loans.View", "see loans");
        registry.live_topic(topic.heard_by(Arc::new(OwnLoans)));
        registry.job(sort);
    }
}

/// A person hears of what the person's name is the key of.
struct OwnLoans;

#[async_trait]
impl Audience for OwnLoans {
    async fn may_hear(&self, ctx: &Context, key: &str) -> Result<bool> {
        Ok(ctx.principal().display_name() == key)
    }
}

/// Sorts the books, which takes a while.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Sort;

impl Job for Sort {
    const NAME: &'static str = "library.sort";
}

async fn sort(ctx: JobContext, _: Sort) -> Result<(), JobError> {
    ctx.progress(40, "sorting");
    Ok(())
}

pub(crate) async fn start(backend: Backend) -> TestApp {
    with_settings(backend, &[]).await
}

pub(crate) async fn with_settings(backend: Backend, settings: &[(&str, &str)]) -> TestApp {
    let mut builder = TestApp::builder(|| Application::new("library").module(Library));
    for (key, value) in settings {
        builder = builder.setting(key, value);
    }
    builder.start(backend).await
}

/// Puts a book on a shelf; answers with its id.
pub(crate) async fn add_book(ctx: &Context, title: &str, shelf: &str) -> Uuid {
    let book = book::ActiveModel {
        title: Set(title.to_owned()),
        shelf: Set(shelf.to_owned()),
        ..Default::default()
    };
    ctx.transact(async |uow| uow.insert(book.clone()).await).await.unwrap().id
}

/// Tells of a loan.
pub(crate) async fn lend(ctx: &Context, key: &str) {
    ctx.transact(async |uow| uow.tell_live(LOANS, key, json!({ "lent": true }))).await.unwrap();
}

/// A stream that somebody hears.
pub(crate) struct Hearing {
    pieces: BodyDataStream,
    text: String,
}

/// An event as it was heard.
#[derive(Debug, PartialEq)]
pub(crate) struct Heard {
    pub(crate) id: Option<String>,
    pub(crate) event: String,
    pub(crate) data: Value,
}

impl Hearing {
    pub(crate) async fn begin(client: &Client, topics: &str, after: Option<&str>) -> Self {
        let path = format!("/api/v1/live?topics={topics}");
        let headers: Vec<(&str, &str)> =
            after.map(|id| ("last-event-id", id)).into_iter().collect();
        let response = client.begin(http::Method::GET, &path, &headers, Body::empty()).await;
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        let mut hearing =
            Self { pieces: response.into_body().into_data_stream(), text: String::new() };
        // The first piece says where the stream begins.
        assert!(hearing.block().await.unwrap().starts_with("retry: "));
        hearing
    }

    /// The next block; none at the end.
    pub(crate) async fn block(&mut self) -> Option<String> {
        loop {
            if let Some(end) = self.text.find("\n\n") {
                let block = self.text[..end].to_owned();
                self.text.drain(..end + 2);
                return Some(block);
            }
            let piece = tokio::time::timeout(Duration::from_secs(20), self.pieces.next());
            let piece = piece.await.expect("a stream that says something")?;
            self.text.push_str(std::str::from_utf8(&piece.unwrap()).unwrap());
        }
    }

    /// The next event; none at the end of the stream.
    pub(crate) async fn next(&mut self) -> Option<Heard> {
        loop {
            let block = self.block().await?;
            let field = |name: &str| {
                block
                    .lines()
                    .find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
                    .map(str::to_owned)
            };
            // A block without data only says how far the stream is.
            let Some(data) = field("data") else { continue };
            let data = serde_json::from_str(&data).unwrap();
            return Some(Heard { id: field("id"), event: field("event").unwrap(), data });
        }
    }

    pub(crate) async fn expect(&mut self, event: &str) -> Heard {
        let heard = self.next().await.unwrap();
        assert_eq!(heard.event, event, "{heard:?}");
        heard
    }
}

/// Somebody who may do everything.
pub(crate) fn ada() -> Person {
    Person::named("Ada")
}
