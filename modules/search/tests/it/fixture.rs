//! A small shop with two searched sets, and providers that misbehave.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use async_trait::async_trait;
use http::Method;
use sea_orm::{ColumnTrait as _, Condition};
use serde_json::{Value as Json, json};
use svc_application::Application;
use svc_core::{Error, Module, Registry, Result};
use svc_data::{Context, DataRegistry as _, Sight};
use svc_database::Migration;
use svc_search::Search;
use svc_sets::search::{
    HitSink, MatchClass, SearchHit, SearchProvider, SearchQuery, SearchRegistry as _, Searched,
};
use svc_testing::{Backend, Client, Person, TestApp, TestAppBuilder};

pub(crate) mod article {
    use sea_orm::entity::prelude::*;
    use sea_orm::prelude::TimeDateTimeWithTimeZone as OffsetDateTime;

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "articles")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub(crate) id: Uuid,
        pub(crate) organisation_id: Uuid,
        pub(crate) name: String,
        pub(crate) sku: Option<String>,
        pub(crate) description: Option<String>,
        pub(crate) secret: Option<String>,
        pub(crate) contact: Option<String>,
        pub(crate) region: String,
        pub(crate) deleted_at: Option<OffsetDateTime>,
        pub(crate) version: i64,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

pub(crate) mod partner {
    use sea_orm::entity::prelude::*;

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "partners")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub(crate) number: i32,
        pub(crate) organisation_id: Uuid,
        pub(crate) name: String,
        pub(crate) version: i64,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

const TABLES: &str = "
CREATE TABLE articles (
    id UUID PRIMARY KEY,
    organisation_id UUID NOT NULL,
    name TEXT NOT NULL,
    sku TEXT,
    description TEXT,
    secret TEXT,
    contact TEXT,
    region TEXT NOT NULL,
    deleted_at TIMESTAMPTZ,
    version BIGINT NOT NULL
);
CREATE TABLE partners (
    number INTEGER PRIMARY KEY,
    organisation_id UUID NOT NULL,
    name TEXT NOT NULL,
    version BIGINT NOT NULL
);
";

/// The sets; the second time with another column that is searched.
struct Shop {
    more: bool,
}

impl Module for Shop {
    fn configure(&self, registry: &mut Registry) {
        use article::Column as A;
        registry.migrations([Migration::new("0001_shop", TABLES)]);
        let searched = [A::Name, A::Sku, A::Description, A::Secret, A::Contact];
        let searched = searched.into_iter().chain(self.more.then_some(A::Region));
        registry.entity_set::<article::Entity>("Articles", |set| {
            set.row_filter(|who| match who.claims("regions") {
                [] => Sight::All,
                regions => Sight::Where(Condition::all().add(A::Region.is_in(regions))),
            })
            .hidden(A::Secret)
            .unless("Articles.SeeSecrets")
            .response_filter([A::Contact], |_, [contact]| {
                [if contact.is_null() { contact } else { "bob…".into() }]
            })
            .unless("Articles.SeeContacts")
            .soft_delete(A::DeletedAt)
            .search(searched)
        });
        registry
            .entity_set::<partner::Entity>("Partners", |set| set.search([partner::Column::Name]));
    }
}

/// A provider that does as its name says.
struct Odd(&'static str, Arc<AtomicUsize>);

/// Tells when it is dropped.
struct Dropped(Arc<AtomicUsize>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[async_trait]
impl SearchProvider for Odd {
    fn id(&self) -> &str {
        self.0
    }

    fn permission(&self) -> Option<&str> {
        (self.0 == "guarded").then_some("Articles.View")
    }

    async fn search(
        &self,
        _: &Context,
        query: &SearchQuery,
        take: usize,
        hits: &HitSink,
    ) -> Result<Searched> {
        let hit = SearchHit {
            set: None,
            key: None,
            address: format!("/odd/{}", query.words[0]),
            title: self.0.to_owned(),
            title_matches: Vec::new(),
            excerpt: None,
            class: MatchClass::Words,
        };
        match self.0 {
            "hanging" => {
                let _dropped = Dropped(Arc::clone(&self.1));
                hits.hit(hit).await?;
                std::future::pending().await
            }
            "broken" => Err(Error::internal("the provider is broken")),
            "panicking" => panic!("the provider panics"),
            "greedy" => {
                for _ in 0..=take {
                    hits.hit(hit.clone()).await?;
                }
                Ok(Searched { more: false, complete: true })
            }
            _ => {
                hits.hit(hit).await?;
                Ok(Searched { more: false, complete: true })
            }
        }
    }
}

struct Odds(Vec<&'static str>, Arc<AtomicUsize>);

impl Module for Odds {
    fn configure(&self, registry: &mut Registry) {
        for name in &self.0 {
            registry.search_provider(Odd(name, Arc::clone(&self.1)));
        }
    }
}

pub(crate) fn builder() -> TestAppBuilder {
    TestApp::builder(|| Application::new("shop").module(Shop { more: false }).module(Search))
}

pub(crate) async fn start(backend: Backend) -> TestApp {
    let app = builder().start(backend).await;
    app.drain().await;
    app
}

/// Where another column is searched from the start on after the flag was set.
pub(crate) fn with_more_later() -> (TestAppBuilder, Arc<AtomicBool>) {
    let more = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&more);
    let make = move || {
        let shop = Shop { more: flag.load(Ordering::SeqCst) };
        Application::new("shop").module(shop).module(Search)
    };
    (TestApp::builder(make), more)
}

/// With providers that do as their names say; counts those that were dropped while they hung.
pub(crate) fn with_odd(names: &[&'static str]) -> (TestAppBuilder, Arc<AtomicUsize>) {
    let (names, dropped) = (names.to_vec(), Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&dropped);
    let builder = TestApp::builder(move || {
        let shop = Application::new("shop").module(Shop { more: false }).module(Search);
        shop.module(Odds(names.clone(), Arc::clone(&counted)))
    });
    (builder, dropped)
}

pub(crate) fn boss(app: &TestApp) -> Client {
    app.sign_in(&Person::named("boss"))
}

/// Makes an article and answers with its id.
pub(crate) async fn make(client: &Client, article: Json) -> String {
    let mut whole = json!({"region": "EU"});
    whole.as_object_mut().unwrap().extend(article.as_object().unwrap().clone());
    let made = client.post("/odata/v1/Articles", whole).await.expect(201);
    made["id"].as_str().unwrap().to_owned()
}

/// What is put into a query, encoded.
pub(crate) fn encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        write!(encoded, "%{byte:02X}").unwrap();
    }
    encoded
}

/// The answer to a search.
pub(crate) async fn search(client: &Client, text: &str, more: &str) -> Json {
    client.get(&format!("/api/v1/search?q={}{more}", encoded(text))).await.expect(200)
}

/// The titles that are found in a set, the best first.
pub(crate) async fn titles(client: &Client, text: &str) -> Vec<String> {
    let found = search(client, text, "&set=Articles").await;
    let hits = found["providers"][0]["hits"].as_array().unwrap();
    hits.iter().map(|hit| hit["title"].as_str().unwrap().to_owned()).collect()
}

/// The lines of a stream.
pub(crate) async fn lines(client: &Client, text: &str, more: &str) -> Vec<Json> {
    let path = format!("/api/v1/search/stream?q={}{more}", encoded(text));
    let answer = client.send(Method::GET, &path, &[], "").await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert_eq!(answer.header("content-type"), "application/x-ndjson");
    answer.text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
