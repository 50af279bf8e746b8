//! What keeping the history costs, beside the same set without it, in the same run.
//!
//! `cargo run --release -p bench-history -- [writes|reads] [seconds of a round]`; without a name, both.
#![expect(clippy::unwrap_used, reason = "a benchmark that can't go on should say where")]

mod items;
mod reads;
mod writes;

use std::time::Duration;

use svc_testing::{Backend, POSTGRES_VARIABLE};

#[tokio::main]
async fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let seconds = words.iter().find_map(|word| word.parse().ok()).unwrap_or(1.5);
    let round = Duration::from_secs_f64(seconds);
    let names: Vec<&String> = words.iter().filter(|word| word.parse::<f64>().is_err()).collect();
    let wanted = |name: &str| names.is_empty() || names.iter().any(|word| *word == name);
    let mut backends = vec![Backend::Sqlite];
    if std::env::var(POSTGRES_VARIABLE).is_ok() {
        backends.push(Backend::Postgres);
    } else {
        println!("({POSTGRES_VARIABLE} is not set: PostgreSQL is left out)");
    }
    for backend in backends {
        if wanted("writes") {
            writes::measure(backend, round).await;
        }
        if wanted("reads") {
            reads::measure(backend, round).await;
        }
    }
}
