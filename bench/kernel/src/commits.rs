//! Commits per second of a unit of work with one change and its outbox row.

use std::time::{Duration, Instant};

use bench_rounds::line;
use sea_orm::ActiveValue::Set;
use sqlx::{Connection as _, Executor as _, PgPool, SqlitePool};
use svc_data::Context;
use svc_testing::{Backend, Person, TestApp, organisation, sqlite_writer};
use uuid::Uuid;

use crate::items::{item, start};

const ROUNDS: usize = 7;
const ROUND: Duration = Duration::from_millis(1_500);

/// A message of the size that the outbox stores for one item.
const CONTENT: &str = r#"{"actor":{"user":"01980000-0000-7000-8000-0000626f7373","displayName":"boss"},"kind":"change","time":"2026-11-20T12:00:00Z","payload":{"set":"Items","kind":"created","key":"01a1f8d3-ea00-7320-8804-70fbb53144fc","after":{"id":"01a1f8d3-ea00-7320-8804-70fbb53144fc","organisation_id":"01990000-0000-7000-8000-000000000001","sku":"L-1","name":"Desk lamp","price":19.9,"stock":10,"created_at":"2026-11-20T12:00:00Z","version":1},"changed":[]}}"#;

pub(crate) async fn measure(backend: Backend) {
    let app = start(backend).await;
    let by_hand = Side::by_hand(&app.context(&Person::named("boss"))).await;
    for tasks in [1, 4] {
        let (mut ours, mut bare) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            bare.push(per_second(tasks, &app, &by_hand).await);
            ours.push(per_second(tasks, &app, &Side::Ours).await);
        }
        println!("{}", line(&format!("{backend:?}, {tasks} at a time"), &ours, &bare, 0.7));
    }
}

/// Who commits.
#[derive(Clone)]
enum Side {
    Ours,
    BareSqlite(SqlitePool),
    BarePostgres(PgPool),
}

impl Side {
    async fn by_hand(ctx: &Context) -> Self {
        match ctx.database().postgres() {
            Some(pool) => Self::BarePostgres(pool.clone()),
            None => Self::BareSqlite(sqlite_writer(ctx.database()).await),
        }
    }
}

async fn per_second(tasks: usize, app: &TestApp, side: &Side) -> f64 {
    let ctx = app.context(&Person::named("boss"));
    let began = Instant::now();
    let workers = (0..tasks).map(|_| {
        let (ctx, side) = (ctx.clone(), side.clone());
        tokio::spawn(async move {
            let mut commits = 0_u64;
            while began.elapsed() < ROUND {
                match &side {
                    Side::Ours => unit_of_work(&ctx).await,
                    Side::BareSqlite(pool) => bare_sqlite(&ctx, pool).await,
                    Side::BarePostgres(pool) => bare_postgres(&ctx, pool).await,
                }
                commits += 1;
            }
            commits
        })
    });
    let workers: Vec<_> = workers.collect();
    let mut commits = 0;
    for worker in workers {
        commits += worker.await.unwrap();
    }
    commits as f64 / began.elapsed().as_secs_f64()
}

async fn unit_of_work(ctx: &Context) {
    let item = item::ActiveModel {
        sku: Set("L-1".to_owned()),
        name: Set("Desk lamp".to_owned()),
        price: Set("19.90".parse().unwrap()),
        stock: Set(10),
        ..Default::default()
    };
    ctx.transact(async |uow| uow.insert(item).await).await.unwrap();
}

const INSERT_OUTBOX: &str = "INSERT INTO events_outbox (id, handler, name, organisation_id, \
    correlation, state, attempts, available_at_us, created_at_us, content) \
    VALUES ($1, $2, $3, $4, $5, 'ready', 0, $6, $7, $8)";

const INSERT_ITEM: &str = "INSERT INTO items (id, organisation_id, sku, name, price, stock, \
    created_at, version) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";

macro_rules! bare_inserts {
    ($transaction:expr, $ctx:expr, $price:expr) => {{
        let (id, organisation, now): (Uuid, Uuid, _) =
            ($ctx.clock().new_id(), organisation(1).0, $ctx.clock().now());
        $transaction
            .execute(
                sqlx::query(INSERT_ITEM)
                    .bind(id)
                    .bind(organisation)
                    .bind("L-1")
                    .bind("Desk lamp")
                    .bind($price)
                    .bind(10_i32)
                    .bind(now)
                    .bind(1_i64),
            )
            .await
            .unwrap();
        let now_us = $ctx.clock().now_us();
        $transaction
            .execute(
                sqlx::query(INSERT_OUTBOX)
                    .bind(id)
                    .bind("bench.listen")
                    .bind("items.created")
                    .bind(organisation)
                    .bind(id)
                    .bind(now_us)
                    .bind(now_us)
                    .bind(CONTENT),
            )
            .await
            .unwrap();
    }};
}

async fn bare_sqlite(ctx: &Context, pool: &SqlitePool) {
    let mut connection = pool.acquire().await.unwrap();
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await.unwrap();
    bare_inserts!(transaction, ctx, 19.9_f64);
    transaction.commit().await.unwrap();
}

async fn bare_postgres(ctx: &Context, pool: &PgPool) {
    let mut transaction = pool.begin().await.unwrap();
    bare_inserts!(transaction, ctx, sea_orm::prelude::Decimal::new(1_990, 2));
    transaction.commit().await.unwrap();
}
