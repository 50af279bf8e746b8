//! Requests per second for one entity, over real sockets, from a process of its own.

use axum::Router;
use axum::extract::{Path, State};
use axum::http::header::{CONTENT_TYPE, ETAG};
use axum::response::IntoResponse;
use axum::routing::get;
use bench_rounds::line;
use sea_orm::ActiveValue::Set;
use sea_orm::DatabaseConnection;
use sqlx::Row as _;
use svc_data::Context;
use svc_database::Database;
use svc_testing::{Backend, TestApp};
use tokio::net::TcpListener;
use uuid::Uuid;

use crate::items::{API_KEY, item, start};
use crate::load::{Load, measure_from_another_process};

const ROUNDS: usize = 7;

pub(crate) async fn measure(backend: Backend) {
    let app = start(backend).await;
    let (ctx, id) = (administrator(&app).await, Uuid::nil());
    let id = store_item(&ctx).await.unwrap_or(id);
    let server = app.running().bind().await.unwrap();
    let ours_at = server.local_addr();
    tokio::spawn(server.serve(std::future::pending()));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let bare_at = listener.local_addr().unwrap();
    let bare = bare_router(ctx.database(), ctx.organisation().unwrap().0);
    tokio::spawn(async move { axum::serve(listener, bare).await });

    let ours_load = Load::new(ours_at, format!("/odata/v1/Items({id})"), API_KEY);
    let bare_load = Load::new(bare_at, format!("/items/{id}"), API_KEY);
    assert_eq!(
        without_host(&ours_load.body().await, ours_at.port()),
        without_host(&bare_load.body().await, bare_at.port()),
        "both must answer the same bytes"
    );
    for connections in [1, 16] {
        let (mut ours, mut bare) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            bare.push(measure_from_another_process(&bare_load, connections));
            ours.push(measure_from_another_process(&ours_load, connections));
        }
        println!("{}", line(&format!("{backend:?}, {connections} connections"), &ours, &bare, 0.6));
    }
}

fn without_host(body: &str, port: u16) -> String {
    body.replace(&format!(":{port}/"), ":0/")
}

/// The context of the administrator that the set-up made.
async fn administrator(app: &TestApp) -> Context {
    let client = app.anonymous().with_credential(&format!("Bearer {API_KEY}"));
    let me = client.get("/api/v1/identity/me").await.expect(200);
    let organisation = me["organisation"]["id"].as_str().unwrap().parse::<Uuid>().unwrap();
    Context::system_in(app.app(), organisation.into()).unwrap()
}

async fn store_item(ctx: &Context) -> svc_core::Result<Uuid> {
    let item = item::ActiveModel {
        sku: Set("L-1".to_owned()),
        name: Set("Desk lamp with a long arm and a shade of brushed steel".to_owned()),
        price: Set("19.90".parse().unwrap()),
        stock: Set(10),
        ..Default::default()
    };
    Ok(ctx.transact(async |uow| uow.insert(item).await).await?.id)
}

#[derive(Clone)]
struct Bare {
    database: DatabaseConnection,
    is_sqlite: bool,
    organisation: Uuid,
}

const SELECT: &str = "SELECT id, sku, name, price, stock, created_at, version FROM items \
    WHERE id = $1 AND organisation_id = $2";

fn bare_router(database: &Database, organisation: Uuid) -> Router {
    let is_sqlite = database.backend() == Backend::Sqlite;
    let state = Bare { database: database.reader().clone(), is_sqlite, organisation };
    Router::new().route("/items/{id}", get(bare_item)).with_state(state)
}

macro_rules! bare_body {
    ($row:expr, $price:ty, $host:expr) => {{
        let (row, price): (_, $price) = ($row, $row.get(3));
        let version: i64 = row.get(6);
        let created: time::OffsetDateTime = row.get(5);
        let created = created.format(&time::format_description::well_known::Rfc3339).unwrap();
        let body = format!(
            "{{\"@odata.context\":\"http://{}/odata/v1/$metadata#Items/$entity\",\
             \"@odata.etag\":\"W/\\\"{version}\\\"\",\"id\":\"{}\",\"sku\":\"{}\",\"name\":\"{}\",\
             \"price\":{price},\"stock\":{},\"createdAt\":\"{created}\"}}",
            $host,
            row.get::<Uuid, _>(0),
            row.get::<&str, _>(1),
            row.get::<&str, _>(2),
            row.get::<i32, _>(4),
        );
        (version, body)
    }};
}

async fn bare_item(
    State(state): State<Bare>,
    Path(id): Path<Uuid>,
    headers: axum::http::HeaderMap,
) -> impl IntoResponse {
    let host = headers["host"].to_str().unwrap();
    let (version, body) = if state.is_sqlite {
        let pool = state.database.get_sqlite_connection_pool();
        let row = sqlx::query(SELECT).bind(id).bind(state.organisation).fetch_one(pool).await;
        let row = row.unwrap();
        bare_body!(&row, f64, host)
    } else {
        let pool = state.database.get_postgres_connection_pool();
        let row = sqlx::query(SELECT).bind(id).bind(state.organisation).fetch_one(pool).await;
        let row = row.unwrap();
        let (version, body) = bare_body!(&row, sea_orm::prelude::Decimal, host);
        (version, body.replace("19.90", "19.9"))
    };
    let content_type = "application/json;odata.metadata=minimal";
    ([(CONTENT_TYPE, content_type.to_owned()), (ETAG, format!("W/\"{version}\""))], body)
}
