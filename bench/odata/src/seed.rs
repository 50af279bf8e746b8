//! 100,000 products in 20 categories, with three order lines each.

use sea_orm::{DbBackend, Statement};
use svc_database::{Backend, Database};
use uuid::Uuid;

use crate::model;

pub(crate) const PRODUCTS: u64 = 100_000;

/// The identifier of a record of this kind and number.
pub(crate) fn id(kind: u8, number: u64) -> Uuid {
    Uuid::from_u128(
        0x0199_0000_0000_7000_8000_0000_0000_0000 | (u128::from(kind) << 48) | u128::from(number),
    )
}

/// The process that fills an empty database and ends.
pub(crate) async fn run(url: &str) {
    let running = model::start(url).await;
    let database = running.app().service::<Database>().unwrap();
    let organisation = organisation(&database).await;
    let statements = match database.backend() {
        Backend::Sqlite => sqlite(organisation),
        Backend::Postgres => postgres(organisation),
    };
    for sql in statements {
        database.execute(database.statement(&sql, [])).await.unwrap();
    }
    database.close().await;
}

/// The one organisation there is.
pub(crate) async fn organisation(database: &Database) -> Uuid {
    let backend = match database.backend() {
        Backend::Sqlite => DbBackend::Sqlite,
        Backend::Postgres => DbBackend::Postgres,
    };
    let sql = "SELECT id FROM identity_organisations";
    let rows = database.rows(Statement::from_string(backend, sql)).await.unwrap();
    rows[0].try_get_by_index(0).unwrap()
}

fn sqlite(organisation: Uuid) -> Vec<String> {
    let organisation = format!("x'{}'", organisation.simple());
    let id = |kind: u8, number: &str| {
        format!("unhex(printf('01990000000070008{kind:03x}%012x', {number}))")
    };
    statements(&organisation, id, |count| {
        format!(
            "(WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers \
             WHERE n + 1 < {count}) SELECT n FROM numbers)"
        )
    })
}

fn postgres(organisation: Uuid) -> Vec<String> {
    let organisation = format!("CAST('{organisation}' AS uuid)");
    let id = |kind: u8, number: &str| {
        let hex = format!("lpad(to_hex({number}), 12, '0')");
        format!("CAST('01990000000070008{kind:03x}' || {hex} AS uuid)")
    };
    let mut all = statements(&organisation, id, |count| {
        format!("(SELECT n FROM generate_series(0, {count} - 1) AS g(n)) AS numbers")
    });
    // As autovacuum does it after a while.
    all.push("VACUUM ANALYZE".to_owned());
    all
}

fn statements(
    organisation: &str,
    id: impl Fn(u8, &str) -> String,
    numbers: impl Fn(u64) -> String,
) -> Vec<String> {
    let pad = |number: &str| format!("substr(CAST(1000000 + {number} AS TEXT), 2)");
    vec![
        format!(
            "INSERT INTO categories SELECT {}, {organisation}, 'Category ' || {}, 1 FROM {}",
            id(1, "n"),
            pad("n"),
            numbers(20)
        ),
        format!(
            "INSERT INTO products SELECT {}, {organisation}, 'L-' || {}, \
             'Desk lamp ' || {} || ' with a long arm', {}, (n * 37 % 100000) / 100.0, \
             (n * 23 % 100000) / 100.0, n % 500, \
             CASE n % 4 WHEN 0 THEN 'EU' WHEN 1 THEN 'ASIA' WHEN 2 THEN 'AFRICA' END, n % 10 = 0, \
             '2026-11-20T12:00:00.000000Z', 1 FROM {}",
            id(2, "n"),
            pad("n"),
            pad("(n * 7919 % 100000)"),
            id(1, "(n % 20)"),
            numbers(PRODUCTS)
        ),
        format!(
            "INSERT INTO lines SELECT {}, {organisation}, {}, n % 9 + 1, (n * 37 % 100000) / 100.0, \
             1 FROM {}",
            id(3, "n"),
            id(2, "(n / 3)"),
            numbers(3 * PRODUCTS)
        ),
    ]
}
