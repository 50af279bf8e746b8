//! Creates and changes with history, beside without it.

use std::time::Duration;

use bench_rounds::{ROUNDS, line, per_second};
use svc_data::Context;
use svc_testing::{Backend, Person, TestApp};

use crate::items::{change, make, start};

pub(crate) async fn measure(backend: Backend, round: Duration) {
    println!("{backend:?}: changes over OData with history, beside without it");
    let (app, client) = start(backend).await;
    let (mut kept, mut plain) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        plain.push(per_second(round, async || drop(make(&client, "PlainItems").await)).await);
        kept.push(per_second(round, async || drop(make(&client, "KeptItems").await)).await);
    }
    println!("{}", line("create", &kept, &plain, 0.85));
    bytes(&app, "create").await;
    let (one, other) = (make(&client, "KeptItems").await, make(&client, "PlainItems").await);
    let (mut kept, mut plain) = (Vec::new(), Vec::new());
    let mut stock = 0;
    for _ in 0..ROUNDS {
        let work = async || {
            stock += 1;
            drop(change(&client, "PlainItems", &other, stock).await);
        };
        plain.push(per_second(round, work).await);
        let work = async || {
            stock += 1;
            drop(change(&client, "KeptItems", &one, stock).await);
        };
        kept.push(per_second(round, work).await);
    }
    println!("{}", line("update", &kept, &plain, 0.85));
    bytes(&app, "update").await;
}

/// Says what the entries of an operation take, without what the database adds to a row.
async fn bytes(app: &TestApp, operation: &str) {
    let ctx: Context = app.context(&Person::named("boss"));
    let code = if operation == "create" { 1 } else { 2 };
    let length = |column: &str| format!("COALESCE(LENGTH({column}), 0)");
    let texts = ["set_name", "record_key", "user_name", "row_after", "row_before", "protected"];
    // Six identifiers of 16 bytes, and three numbers.
    let sql = format!(
        "SELECT CAST(AVG({} + 6 * 16 + 12) AS BIGINT) FROM history_entries WHERE operation = {code}",
        texts.map(length).join(" + ")
    );
    let rows = ctx.run(ctx.database().statement(&sql, [])).await.unwrap();
    let bytes: i64 = rows[0].try_get_by_index(0).unwrap();
    println!("  {operation:<34} {bytes:>8} bytes stored for each, indexes aside");
}
