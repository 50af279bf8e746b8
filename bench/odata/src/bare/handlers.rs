//! The handlers, once for each database.

use axum::body::Bytes;
use axum::extract::{Path, Query, State as Shared};
use axum::http::header::{CONTENT_TYPE, ETAG, HOST, LOCATION};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, Row as _};
use time::OffsetDateTime;
use uuid::Uuid;

use super::answers::{Category, Line, NewProduct, Page, Product, Tag, Told, ToldBody};

const JSON: &str = "application/json;odata.metadata=minimal";

#[derive(Deserialize)]
pub(super) struct Wanted {
    price_below: f64,
}

fn context(headers: &HeaderMap, rest: &str) -> String {
    format!("http://{}/odata/v1/$metadata#{rest}", headers[HOST].to_str().unwrap())
}

fn json(body: &impl Serialize) -> Response {
    ([(CONTENT_TYPE, JSON)], serde_json::to_vec(body).unwrap()).into_response()
}

fn created(headers: &HeaderMap, id: Uuid, body: &impl Serialize) -> Response {
    let location = format!("http://{}/products/{id}", headers[HOST].to_str().unwrap());
    let headers =
        [(CONTENT_TYPE, JSON.to_owned()), (ETAG, "W/\"1\"".to_owned()), (LOCATION, location)];
    (StatusCode::CREATED, headers, serde_json::to_vec(body).unwrap()).into_response()
}

/// The columns of a product, with decimals as doubles.
macro_rules! columns {
    () => {
        "p.id, p.sku, p.name, p.category_id, CAST(p.price AS DOUBLE PRECISION), \
         CAST(p.cost_price AS DOUBLE PRECISION), p.stock, p.region, p.discontinued, p.created_at, \
         p.version"
    };
}

const FIND_KEY: &str = "SELECT organisation_id FROM identity_api_keys WHERE key_hash = $1";
const ONE: &str =
    concat!("SELECT ", columns!(), " FROM products p WHERE p.id = $1 AND p.organisation_id = $2");
const PAGE: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM products p WHERE p.organisation_id = $1 AND p.price < $2 AND NOT p.discontinued \
     ORDER BY p.name, p.id LIMIT 100"
);
const WITH_CATEGORY: &str = concat!(
    "SELECT ",
    columns!(),
    ", c.id, c.name, c.version FROM products p JOIN categories c ON c.id = p.category_id \
     AND c.organisation_id = p.organisation_id \
     WHERE p.organisation_id = $1 ORDER BY p.name, p.id LIMIT 100"
);
const PLAIN: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM products p WHERE p.organisation_id = $1 ORDER BY p.name, p.id LIMIT 100"
);
const INSERT: &str = "INSERT INTO products (id, organisation_id, sku, name, category_id, price, \
    cost_price, stock, region, discontinued, created_at, version) \
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 1)";
const INSERT_OUTBOX: &str = "INSERT INTO events_outbox (id, handler, name, organisation_id, \
    correlation, state, attempts, available_at_us, created_at_us, content) \
    VALUES ($1, $2, $3, $4, $5, 'ready', 0, $6, $7, $8)";

macro_rules! handlers {
    ($module:ident, $pool:ty, $row:ty, $begin:literal, $price:expr, $lines:expr) => {
        pub(super) mod $module {
            use super::*;

            type State = crate::bare::State<$pool>;

            async fn organisation(state: &State, headers: &HeaderMap) -> Uuid {
                let read = state.read.clone();
                let look_up = |hash: Vec<u8>| async move {
                    let query = sqlx::query_scalar(FIND_KEY).bind(hash);
                    query.fetch_one(&read).await.unwrap()
                };
                state.keys.organisation(headers, look_up).await
            }

            fn product(row: &$row) -> Product<'_> {
                Product {
                    context: None,
                    version: Tag(row.get(10)),
                    id: row.get(0),
                    sku: row.get(1),
                    name: row.get(2),
                    category_id: row.get(3),
                    price: row.get(4),
                    cost_price: row.get(5),
                    stock: row.get(6),
                    region: row.get(7),
                    discontinued: row.get(8),
                    created_at: row.get(9),
                    category: None,
                    lines: None,
                }
            }

            pub(in super::super) async fn one(
                Shared(state): Shared<State>,
                Path(id): Path<Uuid>,
                headers: HeaderMap,
            ) -> Response {
                let organisation = organisation(&state, &headers).await;
                let row = sqlx::query(ONE).bind(id).bind(organisation).fetch_one(&state.read);
                let row = row.await.unwrap();
                let context = Some(context(&headers, "Products/$entity"));
                let product = Product { context, ..product(&row) };
                let tag = format!("W/\"{}\"", product.version.0);
                let headers = [(CONTENT_TYPE, JSON.to_owned()), (ETAG, tag)];
                (headers, serde_json::to_vec(&product).unwrap()).into_response()
            }

            pub(in super::super) async fn page(
                Shared(state): Shared<State>,
                Query(wanted): Query<Wanted>,
                headers: HeaderMap,
            ) -> Response {
                let organisation = organisation(&state, &headers).await;
                let rows = sqlx::query(PAGE).bind(organisation).bind($price(wanted.price_below));
                let rows = rows.fetch_all(&state.read).await.unwrap();
                let value: Vec<_> = rows.iter().map(product).collect();
                json(&Page { context: context(&headers, "Products"), value: &value })
            }

            pub(in super::super) async fn with_category(
                Shared(state): Shared<State>,
                headers: HeaderMap,
            ) -> Response {
                let organisation = organisation(&state, &headers).await;
                let rows = sqlx::query(WITH_CATEGORY).bind(organisation);
                let rows = rows.fetch_all(&state.read).await.unwrap();
                let with_category = |row| {
                    let version = Tag(<$row>::get(row, 13));
                    let category = Category { version, id: row.get(11), name: row.get(12) };
                    Product { category: Some(category), ..product(row) }
                };
                let value: Vec<_> = rows.iter().map(with_category).collect();
                json(&Page { context: context(&headers, "Products(category())"), value: &value })
            }

            pub(in super::super) async fn with_lines(
                Shared(state): Shared<State>,
                headers: HeaderMap,
            ) -> Response {
                let organisation = organisation(&state, &headers).await;
                let rows = sqlx::query(PLAIN).bind(organisation);
                let rows = rows.fetch_all(&state.read).await.unwrap();
                let mut value: Vec<_> = rows.iter().map(product).collect();
                let ids: Vec<Uuid> = value.iter().map(|product| product.id).collect();
                let mut lines = std::collections::HashMap::<Uuid, Vec<Line>>::new();
                for row in $lines(&state.read, organisation, &ids).await {
                    let line = Line {
                        version: Tag(row.get(4)),
                        id: row.get(0),
                        product_id: row.get(1),
                        quantity: row.get(2),
                        price: row.get(3),
                    };
                    lines.entry(line.product_id).or_default().push(line);
                }
                for product in &mut value {
                    product.lines = Some(lines.remove(&product.id).unwrap_or_default());
                }
                json(&Page { context: context(&headers, "Products(lines())"), value: &value })
            }

            pub(in super::super) async fn create(
                Shared(state): Shared<State>,
                headers: HeaderMap,
                body: Bytes,
            ) -> Response {
                let organisation = organisation(&state, &headers).await;
                let new: NewProduct = serde_json::from_slice(&body).unwrap();
                let now = now();
                let id = id();
                let mut connection = state.write.acquire().await.unwrap();
                let mut transaction = connection.begin_with($begin).await.unwrap();
                let insert = sqlx::query(INSERT)
                    .bind(id)
                    .bind(organisation)
                    .bind(&new.sku)
                    .bind(&new.name)
                    .bind(new.category_id)
                    .bind($price(new.price))
                    .bind(new.cost_price.map($price))
                    .bind(new.stock)
                    .bind(&new.region)
                    .bind(new.discontinued)
                    .bind(now);
                transaction.execute(insert).await.unwrap();
                let mut product = new_product(&new, id, now);
                let micros = i64::try_from(now.unix_timestamp_nanos() / 1_000).unwrap();
                let outbox = sqlx::query(INSERT_OUTBOX)
                    .bind(id)
                    .bind("bench.listen")
                    .bind("products.created")
                    .bind(organisation)
                    .bind(id)
                    .bind(micros)
                    .bind(micros)
                    .bind(told(&product));
                transaction.execute(outbox).await.unwrap();
                transaction.commit().await.unwrap();
                product.context = Some(context(&headers, "Products/$entity"));
                created(&headers, id, &product)
            }
        }
    };
}

handlers!(
    sqlite,
    sqlx::SqlitePool,
    sqlx::sqlite::SqliteRow,
    "BEGIN IMMEDIATE",
    std::convert::identity::<f64>,
    sqlite_lines
);
handlers!(postgres, sqlx::PgPool, sqlx::postgres::PgRow, "BEGIN", decimal, postgres_lines);

fn decimal(price: f64) -> sea_orm::prelude::Decimal {
    sea_orm::prelude::Decimal::try_from(price).unwrap()
}

const LINES: &str = "SELECT id, product_id, quantity, CAST(price AS DOUBLE PRECISION), version \
    FROM lines WHERE organisation_id = $1 AND product_id";

async fn sqlite_lines(
    pool: &sqlx::SqlitePool,
    organisation: Uuid,
    products: &[Uuid],
) -> Vec<sqlx::sqlite::SqliteRow> {
    let marks: Vec<String> = (2..).take(products.len()).map(|place| format!("${place}")).collect();
    let sql = format!("{LINES} IN ({}) ORDER BY id", marks.join(", "));
    let query = sqlx::query(AssertSqlSafe(sql)).bind(organisation);
    let query = products.iter().fold(query, |query, product| query.bind(*product));
    query.fetch_all(pool).await.unwrap()
}

async fn postgres_lines(
    pool: &sqlx::PgPool,
    organisation: Uuid,
    products: &[Uuid],
) -> Vec<sqlx::postgres::PgRow> {
    let sql = format!("{LINES} = ANY($2) ORDER BY id");
    let query = sqlx::query(AssertSqlSafe(sql)).bind(organisation).bind(products);
    query.fetch_all(pool).await.unwrap()
}

#[expect(clippy::disallowed_methods, reason = "a bare handler has no clock of its own")]
fn now() -> OffsetDateTime {
    let now = OffsetDateTime::now_utc();
    now.replace_microsecond(now.microsecond()).unwrap()
}

/// An identifier that follows the time, as ours do.
#[expect(clippy::disallowed_methods, reason = "a bare handler has no clock of its own")]
fn id() -> Uuid {
    Uuid::now_v7()
}

fn new_product(new: &NewProduct, id: Uuid, now: OffsetDateTime) -> Product<'_> {
    Product {
        context: None,
        version: Tag(1),
        id,
        sku: &new.sku,
        name: &new.name,
        category_id: new.category_id,
        price: new.price,
        cost_price: new.cost_price,
        stock: new.stock,
        region: new.region.as_deref(),
        discontinued: new.discontinued,
        created_at: now,
        category: None,
        lines: None,
    }
}

fn told(product: &Product<'_>) -> String {
    let actor = serde_json::json!({"user": product.id, "displayName": "Bench"});
    let body = ToldBody { kind: "created", set: "Products", key: product.id, after: product };
    serde_json::to_string(&Told { actor, body }).unwrap()
}
