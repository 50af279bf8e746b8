//! What signing in costs: `cargo run --release -p bench-identity -- [requests|storm]…` prints a table of
//! each; without a name, both. PostgreSQL is measured where `SVC_TEST_POSTGRES` names a server.
#![expect(clippy::unwrap_used, reason = "a benchmark that can't go on should say where")]
#![expect(clippy::cast_precision_loss, reason = "counts are far below what a double keeps")]

mod house;
mod load;
mod requests;
mod storm;

use svc_testing::{Backend, POSTGRES_VARIABLE};

#[tokio::main]
async fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().is_some_and(|word| word == "load") {
        return load::run(&words[1..]).await;
    }
    let wanted = |name: &str| words.is_empty() || words.iter().any(|word| word == name);
    if wanted("requests") {
        println!("Requests that say who calls, beside those that don't");
        for backend in backends() {
            requests::measure(backend).await;
        }
    }
    if wanted("storm") {
        println!("\nSigning in alone, and a hundred at once");
        for backend in backends() {
            storm::measure(backend).await;
        }
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
