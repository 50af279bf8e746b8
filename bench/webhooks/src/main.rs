//! What outgoing webhooks cost, beside a bare HTTP client that posts the same to the same receiver.
//!
//! `cargo run --release -p bench-webhooks` prints a table and draws a plot; `--only` and
//! `--database` measure a part. PostgreSQL is measured where `SVC_TEST_POSTGRES` names a server.
#![expect(clippy::unwrap_used, reason = "a benchmark that can't go on should say where")]
#![expect(clippy::cast_precision_loss, reason = "counts are far below what a double keeps")]

mod backlog;
mod burst;
mod ceiling;
mod cpu;
mod hanging;
mod latency;
mod log;
mod plot;
mod receiver;
mod report;
mod shop;
mod throughput;

use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use svc_testing::{Backend, POSTGRES_VARIABLE};

use receiver::Receiver;
use report::Figures;

/// Measures webhooks from committed change to received POST.
#[derive(Parser)]
struct Options {
    /// The part to measure; all without it.
    #[arg(long, value_enum)]
    only: Vec<Part>,
    /// The database to measure; both without it.
    #[arg(long, value_enum)]
    database: Option<DatabaseName>,
    /// The number of endpoints to measure the throughput of: 1, 10 or 100; all without it.
    #[arg(long)]
    endpoints: Option<usize>,
    /// Rounds of each measurement; the median counts.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Deliveries in the log that is measured.
    #[arg(long, default_value_t = 10_000_000)]
    rows: i64,
    /// Endpoints beside that log.
    #[arg(long, default_value_t = 100_000)]
    log_endpoints: i64,
    /// Keep the run in `results.json` and `results.svg`, for later ones to be compared with.
    #[arg(long)]
    record: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    Throughput,
    Latency,
    Isolation,
    Hanging,
    Burst,
    Backlog,
    /// Only where it is named: it fills a database for minutes.
    Log,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DatabaseName {
    Sqlite,
    Postgres,
}

fn main() {
    if std::env::args().nth(1).is_some_and(|word| word == "receiver") {
        return receiver::run();
    }
    let options = Options::parse();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(measure(&options));
}

async fn measure(options: &Options) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let recorded = folder.join("results.json");
    let mut figures = Figures::new(&recorded);
    println!("{}, commit {}", figures.machine, figures.commit);
    let mut receiver = Receiver::start();
    for backend in backends(options) {
        let wanted = |part| options.only.is_empty() || options.only.contains(&part);
        if wanted(Part::Throughput) {
            let (rounds, endpoints) = (options.rounds, options.endpoints);
            throughput::measure(backend, &mut receiver, rounds, endpoints, &mut figures).await;
        }
        let name = "committed to received, 10 endpoints";
        let database = format!("{backend:?}");
        // Where the throughput isn't measured, a rate that this kind of machine reaches.
        let rate = figures.value(&database, "throughput", name).unwrap_or(15_000.0);
        if wanted(Part::Latency) {
            latency::latency(backend, &mut receiver, rate, &mut figures).await;
        }
        if wanted(Part::Isolation) {
            let rounds = options.rounds;
            latency::isolation(backend, &mut receiver, rate, rounds, &mut figures).await;
        }
        if wanted(Part::Hanging) {
            let rounds = options.rounds;
            hanging::measure(backend, &mut receiver, rate, rounds, &mut figures).await;
        }
        if wanted(Part::Burst) {
            burst::measure(backend, &mut receiver, options.rounds, &mut figures).await;
        }
        if options.only.contains(&Part::Log) {
            let (rows, endpoints) = (options.rows, options.log_endpoints);
            log::measure(backend, &receiver, rows, endpoints, &mut figures).await;
        }
        if wanted(Part::Backlog) {
            backlog::measure(backend, &mut receiver, 1, &mut figures).await;
        }
    }
    if options.record {
        plot::draw(&figures, &folder.join("results.svg"));
        figures.record(&recorded);
    }
}

fn backends(options: &Options) -> Vec<Backend> {
    let has_postgres = std::env::var(POSTGRES_VARIABLE).is_ok();
    let wanted = |name| options.database.is_none_or(|database| database == name);
    let mut backends = Vec::new();
    if wanted(DatabaseName::Sqlite) {
        backends.push(Backend::Sqlite);
    }
    if wanted(DatabaseName::Postgres) && has_postgres {
        backends.push(Backend::Postgres);
    } else if wanted(DatabaseName::Postgres) {
        println!("({POSTGRES_VARIABLE} is not set: PostgreSQL is left out)");
    }
    backends
}
