//! What the kernel costs beside a bare baseline on the same machine, in the same run.
//!
//! `cargo run --release -p bench-kernel -- [commits|reads|start]…` prints a table of each; without
//! a name, all of them. PostgreSQL is measured where `SVC_TEST_POSTGRES` names a server. Both sides
//! of a ratio take turns, and the ratio is the median of the rounds, so that it holds on a machine
//! whose speed drifts.
#![expect(clippy::unwrap_used, reason = "a benchmark that can't go on should say where")]
#![expect(clippy::cast_precision_loss, reason = "counts are far below what a double keeps")]

mod commits;
mod items;
mod load;
mod reads;
mod start;

use svc_testing::{Backend, POSTGRES_VARIABLE};

#[tokio::main]
async fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().is_some_and(|word| word == "load") {
        return load::run(&words[1..]).await;
    }
    let wanted = |name: &str| words.is_empty() || words.iter().any(|word| word == name);
    if wanted("commits") {
        println!(
            "Units of work with one change and its outbox row, beside the same two inserts by sqlx"
        );
        for backend in backends() {
            commits::measure(backend).await;
        }
    }
    if wanted("reads") {
        println!(
            "\nGET of one entity over OData, beside a bare axum + sqlx handler of the same bytes"
        );
        for backend in backends() {
            reads::measure(backend).await;
        }
    }
    if wanted("start") {
        println!("\nThe shop on an existing SQLite file");
        start::measure();
    }
}

fn backends() -> Vec<Backend> {
    let mut backends = vec![Backend::Sqlite];
    if std::env::var(POSTGRES_VARIABLE).is_ok() {
        backends.push(Backend::Postgres);
    } else {
        println!("({POSTGRES_VARIABLE} is not set: PostgreSQL is left out)");
    }
    backends
}
