//! Large answers, which are sent while they are read.

use std::time::Duration;

use axum::body::{Body, Bytes};
use http::{HeaderMap, Request, Response};
use http_body_util::BodyExt as _;
use sea_orm::ActiveValue::Set;
use sea_orm::ColumnTrait as _;
use serde_json::{Value, json};
use svc_application::Application;
use svc_core::{Module, Registry};
use svc_data::DataRegistry as _;
use svc_database::{Backend, Migration};
use svc_testing::{Person, TestApp, on_both_databases, organisation};
use tower::ServiceExt as _;

/// More than one statement returns, and enough for a score of pieces.
const PARTS: i32 = 2_500;

/// A row for each part, which `$apply` makes.
const AGGREGATED: &str = "/odata/v1/Parts?$apply=groupby((number,name))&$orderby=number";

mod part {
    use sea_orm::entity::prelude::*;

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "parts")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        pub organisation_id: Uuid,
        pub number: i32,
        pub name: String,
        pub note: Option<String>,
        pub whole_id: Option<Uuid>,
        pub version: i64,
        #[sea_orm(
            self_ref,
            relation_enum = "Whole",
            relation_reverse = "Parts",
            from = "whole_id",
            to = "id"
        )]
        pub whole: BelongsTo<Option<Entity>>,
        #[sea_orm(self_ref, relation_enum = "Parts", relation_reverse = "Whole")]
        pub parts: HasMany<Entity>,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

struct Parts;

impl Module for Parts {
    fn configure(&self, registry: &mut Registry) {
        registry.migrations([Migration::new(
            "0001_parts",
            "CREATE TABLE parts (
                id UUID PRIMARY KEY,
                organisation_id UUID NOT NULL,
                number INTEGER NOT NULL,
                name TEXT NOT NULL,
                note TEXT,
                whole_id UUID,
                version BIGINT NOT NULL,
                UNIQUE (organisation_id, id),
                FOREIGN KEY (organisation_id, whole_id) REFERENCES parts (organisation_id, id)
            );
            CREATE INDEX parts_number ON parts (organisation_id, number, id);",
        )]);
        registry.entity_set::<part::Entity>("Parts", |set| {
            set.response_filter([part::Column::Note], |_, [note]| [censored(note)])
                .unless("Parts.SeeNotes")
        });
    }
}

/// A filter with a fault: it makes a number of one note.
fn censored(note: Value) -> Value {
    if note == "of 2000" { json!(2_000) } else { note }
}

/// Parts by number, each but the first a part of the one before.
async fn start(backend: Backend) -> TestApp {
    start_with(backend, &[("Svc:Database:MaxConnections", "1")]).await
}

async fn start_with(backend: Backend, settings: &[(&str, &str)]) -> TestApp {
    let mut builder = TestApp::builder(|| Application::new("parts").module(Parts));
    for (key, value) in settings {
        builder = builder.setting(key, value);
    }
    let app = builder.start(backend).await;
    let ctx = app.context(&Person::named("boss"));
    let ids: Vec<_> = (0..PARTS).map(|_| ctx.clock().new_id()).collect();
    let part = |number: i32| {
        let place = usize::try_from(number).unwrap();
        part::ActiveModel {
            id: Set(ids[place]),
            number: Set(number),
            name: Set(format!(
                "\"{number}\" with a name that takes some room: {}",
                "x".repeat(300)
            )),
            note: Set(Some(format!("of {number}"))),
            whole_id: Set(place.checked_sub(1).map(|before| ids[before])),
            ..Default::default()
        }
    };
    let parts: Vec<_> = (0..PARTS).map(part).collect();
    ctx.transact(async |uow| uow.insert_many(parts).await).await.unwrap();
    app
}

/// Sends a request, and answers before the body was read.
pub async fn begin(
    app: &TestApp,
    person: &Person,
    path: &str,
    headers: &[(&str, &str)],
) -> Response<Body> {
    // Makes the person known.
    let _ = app.sign_in(person);
    let credential = format!("Bearer test-{}.{}", person.id(), organisation(1));
    let mut request = Request::get(path)
        .header("authorization", credential)
        .header("prefer", "odata.maxpagesize=100000");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Body::empty()).unwrap();
    app.running().host().router().oneshot(request).await.unwrap()
}

/// The data of a body up to its end, and what it ends with: trailers, or an error.
pub async fn read(body: &mut Body) -> (String, Result<HeaderMap, String>) {
    let (mut data, mut trailers) = (Vec::new(), HeaderMap::new());
    let end = loop {
        match body.frame().await {
            None => break Ok(trailers),
            Some(Err(error)) => break Err(error.to_string()),
            Some(Ok(frame)) => match frame.into_data() {
                Ok(piece) => data.extend_from_slice(&piece),
                Err(frame) => trailers = frame.into_trailers().unwrap(),
            },
        }
    };
    (String::from_utf8(data).unwrap(), end)
}

async fn whole(response: Response<Body>) -> Value {
    assert_eq!(response.status().as_u16(), 200);
    let (text, end) = read(&mut response.into_body()).await;
    assert_eq!(end, Ok(HeaderMap::new()));
    serde_json::from_str(&text).unwrap()
}

/// An answer whose beginning was taken, to its end.
async fn rest(beginning: Bytes, mut body: Body) -> Value {
    let (text, end) = read(&mut body).await;
    assert_eq!(end, Ok(HeaderMap::new()));
    let text = String::from_utf8(beginning.to_vec()).unwrap() + &text;
    serde_json::from_str(&text).unwrap()
}

fn numbers(page: &Value) -> Vec<i64> {
    let number = |part: &Value| part["number"].as_i64().unwrap();
    page["value"].as_array().unwrap().iter().map(number).collect()
}

on_both_databases! {
    async fn a_large_answer_holds_what_its_pages_hold(backend) {
        let app = start(backend).await;
        let boss = Person::named("boss");
        let all: Vec<i64> = (0..PARTS.into()).collect();
        let first = begin(&app, &boss, "/odata/v1/Parts?$orderby=number&$count=true", &[]).await;
        assert_eq!(first.headers().get("content-length"), None);
        let page = whole(first).await;
        assert_eq!((numbers(&page), &page["@odata.count"]), (all.clone(), &json!(PARTS)));
        assert_eq!(page.get("@odata.nextLink"), None);
        let down = whole(begin(&app, &boss, "/odata/v1/Parts?$orderby=number%20desc", &[]).await).await;
        assert_eq!(numbers(&down), all.iter().rev().copied().collect::<Vec<_>>());
        // Without a cursor: related entities are read in between.
        let path = "/odata/v1/Parts?$orderby=name&$expand=whole($select=number),parts($select=number)";
        let related = whole(begin(&app, &boss, path, &[]).await).await;
        let mut found = numbers(&related);
        found.sort_unstable();
        assert_eq!(found, all);
        for part in related["value"].as_array().unwrap() {
            let number = part["number"].as_i64().unwrap();
            let (whole, parts) = (&part["whole"]["number"], part["parts"].as_array().unwrap());
            assert_eq!(whole.as_i64(), (number > 0).then_some(number - 1));
            let next = (number + 1 < PARTS.into()).then_some(number + 1);
            assert_eq!(parts.first().and_then(|part| part["number"].as_i64()), next);
        }
    }

    async fn a_large_page_says_where_it_ends(backend) {
        let app = start(backend).await;
        let boss = Person::named("boss");
        for options in ["$orderby=number", "$orderby=number&$expand=whole($select=number)"] {
            let mut path = format!("/odata/v1/Parts?{options}&$skip=1&$top=2400");
            let mut seen = Vec::new();
            for size in [1_200, 1_100, 200] {
                let size = format!("odata.maxpagesize={size}");
                let client = app.sign_in(&boss);
                let prefer = [("prefer", size.as_str())];
                let page = client.send(http::Method::GET, &path, &prefer, "").await.expect(200);
                seen.extend(numbers(&page));
                page["@odata.nextLink"].as_str().unwrap_or_default().clone_into(&mut path);
            }
            assert_eq!((seen, path.as_str()), ((1..=2_400).collect(), ""), "{options}");
        }
    }

    async fn an_answer_that_fails_halfway_is_no_whole_one(backend) {
        let app = start(backend).await;
        let clerk = Person::named("clerk").who_may(&["Parts.View"]);
        let path = "/odata/v1/Parts?$orderby=number";
        let response = begin(&app, &clerk, path, &[]).await;
        assert_eq!(response.status().as_u16(), 200);
        let (text, end) = read(&mut response.into_body()).await;
        assert!(text.contains("\"number\":1500,") && !text.contains("\"number\":2000,"));
        assert!(serde_json::from_str::<Value>(&text).is_err() && end.is_err());
        // A client that takes trailers is told why.
        let response = begin(&app, &clerk, path, &[("te", "trailers")]).await;
        assert_eq!(response.headers()["trailer"], "OData-Error");
        let (text, end) = read(&mut response.into_body()).await;
        assert!(serde_json::from_str::<Value>(&text).is_err());
        let told: Value = serde_json::from_str(end.unwrap()["odata-error"].to_str().unwrap()).unwrap();
        assert!(told["error"]["code"].is_string() && told["error"]["message"].is_string(), "{told}");
        // What fails within the first piece is an error like any other.
        let begin_late = "/odata/v1/Parts?$orderby=number&$filter=number%20ge%201999";
        assert_eq!(begin(&app, &clerk, begin_late, &[]).await.status().as_u16(), 500);
    }

    async fn nobody_waits_for_a_client_that_is_slow_or_gone(backend) {
        let app = start(backend).await;
        let boss = Person::named("boss");
        for path in ["/odata/v1/Parts?$orderby=number", AGGREGATED] {
            // The one connection that reads belongs to an answer that nobody takes, for a while.
            let mut slow = begin(&app, &boss, path, &[]).await.into_body();
            let beginning = slow.frame().await.unwrap().unwrap().into_data().unwrap();
            let other = app.sign_in(&boss).get("/odata/v1/Parts?$top=1").await.expect(200);
            assert_eq!(numbers(&other).len(), 1);
            // It lost its connection, but not its place.
            let page = rest(beginning, slow).await;
            assert!(numbers(&page).into_iter().eq(0..PARTS.into()), "{path}");
            // A client that is gone leaves nothing behind.
            for _ in 0..3 {
                drop(begin(&app, &boss, path, &[]).await);
            }
            let _ = app.sign_in(&boss).get("/odata/v1/Parts?$top=1").await.expect(200);
        }
    }

    async fn a_cursor_over_aggregated_rows_that_is_too_old_makes_way_for_another(backend) {
        // A cursor lives for a quarter of what a statement may take.
        let app = start_with(backend, &[("Svc:Database:StatementTimeout", "00:00:02")]).await;
        let boss = Person::named("boss");
        let mut body = begin(&app, &boss, AGGREGATED, &[]).await.into_body();
        let beginning = body.frame().await.unwrap().unwrap().into_data().unwrap();
        let ctx = app.context(&boss);
        let last = ctx.query::<part::Entity>().filter(part::Column::Number.eq(PARTS - 1)).all().await.unwrap();
        ctx.transact(async |uow| uow.delete::<part::Entity>(last[0].id).await).await.unwrap();
        tokio::time::sleep(Duration::from_millis(700)).await;
        // The other one begins behind what was sent, and knows what became of the rest meanwhile.
        let page = rest(beginning, body).await;
        assert!(numbers(&page).into_iter().eq(0..i64::from(PARTS) - 1));
    }
}
