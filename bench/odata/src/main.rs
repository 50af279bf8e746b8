//! What the entity sets cost beside bare handlers on the same machine, in the same run.
//!
//! `cargo run --release -p bench-odata -- [one|page|expand|create|rules|memory|plans]…` prints a
//! table of each; without a name, all of them. `--sqlite` and `--postgres` leave the other database
//! out, which is left out too where `SVC_TEST_POSTGRES` names no server.
//!
//! | Process | What it does |
//! | --- | --- |
//! | this one | starts the other, sends requests, prints |
//! | `serve` | answers them: the application, and beside it the bare handlers |
#![expect(clippy::unwrap_used, reason = "a benchmark that can't go on should say where")]
#![expect(clippy::cast_precision_loss, reason = "counts are far below what a double keeps")]

mod bare;
mod cases;
mod load;
mod memory;
mod model;
mod plans;
mod report;
mod seed;
mod serve;

use std::sync::Arc;

use svc_testing::{Backend, POSTGRES_VARIABLE, ThrowAwayDatabase};

use crate::serve::Serving;

const PARTS: [&str; 7] = ["one", "page", "expand", "create", "rules", "memory", "plans"];

#[tokio::main]
async fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.first().map(String::as_str) {
        Some("serve") => return serve::run(&words[1]).await,
        Some("seed") => return seed::run(&words[1]).await,
        _ => {}
    }
    let (options, parts): (Vec<&str>, Vec<&str>) =
        words.iter().map(String::as_str).partition(|word| word.starts_with("--"));
    if let Some(unknown) = parts.iter().find(|part| !PARTS.contains(part)) {
        eprintln!("there is no part `{unknown}`; there are {}", PARTS.join(", "));
        std::process::exit(2);
    }
    let wanted = |part: &str| parts.is_empty() || parts.contains(&part);
    for backend in backends(&options) {
        println!("{backend:?}");
        let database = ThrowAwayDatabase::empty(backend).await;
        serve::seed(database.url());
        if wanted("memory") {
            // A fresh process, so that what others left behind is not counted.
            memory::measure(&Arc::new(Serving::start(database.url()))).await;
        }
        let serving = Serving::start(database.url());
        cases::measure(&serving, &wanted).await;
        if wanted("plans") {
            plans::print(&serving, database.url()).await;
        }
    }
}

fn backends(options: &[&str]) -> Vec<Backend> {
    let has_postgres = std::env::var(POSTGRES_VARIABLE).is_ok();
    if !has_postgres {
        println!("({POSTGRES_VARIABLE} is not set: PostgreSQL is left out)");
    }
    let all =
        [(Backend::Sqlite, "--postgres", true), (Backend::Postgres, "--sqlite", has_postgres)];
    let taken = all.into_iter().filter(|(_, other, there)| *there && !options.contains(other));
    taken.map(|(backend, ..)| backend).collect()
}
