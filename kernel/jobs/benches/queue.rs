//! How fast jobs are enqueued, run and started, beside a loop over a bare table.
//!
//! `cargo bench -p svc-jobs --bench queue [jobs]` measures SQLite, and PostgreSQL where
//! `SVC_TEST_POSTGRES` names a server. The bare loop does with sqlx what any queue in a table must:
//! insert, claim, spawn an empty task, delete; so the ratio says what everything else costs,
//! whatever the machine.
#![expect(clippy::unwrap_used, reason = "a benchmark that can't go on should say where")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use svc_core::settings::{LoadOptions, Settings};
use svc_core::{App, Clock, Module, OrganisationId, Registry, Result};
use svc_data::{Context, DataModule, Prepared};
use svc_database::Database;
use svc_jobs::{EnqueueJobs as _, Job, JobContext, JobsModule, JobsRegistry as _};
use tokio::sync::mpsc;
use uuid::Uuid;

#[path = "queue/bare.rs"]
mod bare;

/// Jobs that are enqueued in one transaction, by both sides.
const ENQUEUED_AT_ONCE: usize = 1_000;
/// Jobs that are claimed at once, by both sides.
const CLAIMED_AT_ONCE: usize = 100;
/// Rounds of which the median is told.
const ROUNDS: usize = 9;
/// Jobs whose latency is measured.
const LATENCIES: usize = 300;

#[derive(Serialize, Deserialize)]
struct Empty {
    number: usize,
}

impl Job for Empty {
    const NAME: &'static str = "bench.empty";
}

/// Notes when it starts.
#[derive(Serialize, Deserialize)]
struct Started {}

impl Job for Started {
    const NAME: &'static str = "bench.started";
}

struct Bench {
    done: Arc<AtomicUsize>,
    started: mpsc::UnboundedSender<Instant>,
}

impl Module for Bench {
    fn requires(&self) -> &'static [&'static str] {
        &["jobs"]
    }

    fn configure(&self, registry: &mut Registry) {
        let done = Arc::clone(&self.done);
        registry.job::<Empty>(move |_: JobContext, _: Empty| {
            done.fetch_add(1, Ordering::Relaxed);
            std::future::ready(Ok::<_, svc_core::Error>(()))
        });
        let started = self.started.clone();
        registry.job::<Started>(move |_: JobContext, _: Started| {
            // The receiver only goes away when the benchmark ends.
            let _ = started.send(Instant::now());
            std::future::ready(Ok::<_, svc_core::Error>(()))
        });
    }
}

struct Node {
    app: App,
    database: Database,
    done: Arc<AtomicUsize>,
    started: mpsc::UnboundedReceiver<Instant>,
}

impl Node {
    async fn start(url: &str) -> Result<Self> {
        let done = Arc::<AtomicUsize>::default();
        let (sender, started) = mpsc::unbounded_channel();
        let bench = Bench { done: Arc::clone(&done), started: sender };
        let modules: Vec<Box<dyn Module>> =
            vec![Box::new(DataModule), Box::new(JobsModule), Box::new(bench)];
        let mut assembly = Registry::assemble(modules).unwrap();
        let mut settings = Settings::load(&LoadOptions {
            arguments: vec![
                format!("--Svc:Database:Url={url}"),
                format!("--Svc:Jobs:Concurrency={}", 2 * CLAIMED_AT_ONCE),
            ],
            ..LoadOptions::default()
        });
        settings.declare_all(assembly.sections().iter().copied());
        let app = App::new("bench", Clock::system(), settings.finish().unwrap());
        let prepared = Prepared::from_assembly(&mut assembly);
        let database = prepared.connect(&app).await?;
        prepared.migrate(&app, &database).await?;
        prepared.provide(&app, database.clone());
        assembly.build(&app).await?;
        Ok(Self { app, database, done, started })
    }

    fn context(&self) -> Context {
        Context::system_in(&self.app, OrganisationId(Uuid::from_u128(1))).unwrap()
    }
}

/// What one side reaches, in jobs per second.
#[derive(Clone, Copy)]
struct Speed {
    enqueued: f64,
    run: f64,
}

impl Speed {
    fn of(jobs: usize, enqueuing: Duration, running: Duration) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "far fewer jobs than 2^52")]
        let jobs = jobs as f64;
        Self { enqueued: jobs / enqueuing.as_secs_f64(), run: jobs / running.as_secs_f64() }
    }

    fn both(self) -> f64 {
        1.0 / (1.0 / self.enqueued + 1.0 / self.run)
    }
}

fn median(figures: impl Iterator<Item = f64>) -> f64 {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_unstable_by(f64::total_cmp);
    figures[figures.len() / 2]
}

async fn throughput(node: &Node, jobs: usize) -> Result<Speed> {
    let context = node.context();
    node.done.store(0, Ordering::Relaxed);
    let began = Instant::now();
    for batch in 0..jobs / ENQUEUED_AT_ONCE {
        let numbers = (0..ENQUEUED_AT_ONCE).map(|place| batch * ENQUEUED_AT_ONCE + place);
        let batch: Vec<Empty> = numbers.map(|number| Empty { number }).collect();
        context.transact(async |uow| uow.enqueue_many(batch).await).await?;
    }
    let enqueuing = began.elapsed();
    let began = Instant::now();
    node.app.drain().await?;
    assert_eq!(node.done.load(Ordering::Relaxed), jobs);
    Ok(Speed::of(jobs, enqueuing, began.elapsed()))
}

/// From before the unit of work begins to the first line of the handler, on an idle node.
async fn latencies(node: &mut Node) -> Result<Vec<Duration>> {
    let context = node.context();
    node.app.start_workers();
    let mut latencies = Vec::with_capacity(LATENCIES);
    for number in 0..LATENCIES {
        tokio::time::sleep(Duration::from_millis(20 + (number % 11) as u64)).await;
        let began = Instant::now();
        context.transact(async |uow| uow.enqueue(Started {}).await).await?;
        latencies.push(node.started.recv().await.unwrap() - began);
    }
    node.app.stop().await;
    latencies.sort_unstable();
    Ok(latencies)
}

async fn measure(name: &str, url: &str, jobs: usize) -> Result<()> {
    let mut node = Node::start(url).await?;
    let mut bare = bare::Queue::create(&node.database, url).await;
    // The first round warms both up.
    throughput(&node, ENQUEUED_AT_ONCE).await?;
    bare.throughput(ENQUEUED_AT_ONCE).await;
    let mut rounds = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        // Turn and turn about, so that both sides suffer the same from what else goes on.
        rounds.push((throughput(&node, jobs).await?, bare.throughput(jobs).await));
    }
    println!(
        "| {name} | {:.0} | {:.0} | {:.0} | {:.0} | {:.2} |",
        median(rounds.iter().map(|(ours, _)| ours.enqueued)),
        median(rounds.iter().map(|(ours, _)| ours.run)),
        median(rounds.iter().map(|(ours, _)| ours.both())),
        median(rounds.iter().map(|(_, bare)| bare.both())),
        median(rounds.iter().map(|(ours, bare)| ours.both() / bare.both())),
    );
    let latencies = latencies(&mut node).await?;
    let at = |percent: usize| latencies[latencies.len() * percent / 100].as_secs_f64() * 1e3;
    println!("| {name} | start latency, idle | p50 {:.2} ms | p99 {:.2} ms | | |", at(50), at(99));
    Ok(())
}

/// A database on the server that the benchmark may fill.
async fn postgres_database(server: &str) -> Option<String> {
    use sqlx::{ConnectOptions as _, Connection as _, Executor as _};
    let options: sqlx::postgres::PgConnectOptions = server.parse().ok()?;
    let mut connection = sqlx::PgConnection::connect_with(&options).await.ok()?;
    connection.execute("DROP DATABASE IF EXISTS svc_bench_jobs WITH (FORCE)").await.ok()?;
    connection.execute("CREATE DATABASE svc_bench_jobs").await.ok()?;
    Some(options.database("svc_bench_jobs").to_url_lossy().to_string())
}

#[tokio::main]
async fn main() -> Result<()> {
    let number = std::env::args().skip(1).find_map(|argument| argument.parse().ok());
    let jobs: usize = number.unwrap_or(20_000).max(ENQUEUED_AT_ONCE);
    println!(
        "{jobs} empty jobs, {ENQUEUED_AT_ONCE} enqueued and {CLAIMED_AT_ONCE} claimed at once"
    );
    println!("| database | enqueued/s | run/s | both/s | bare table, both/s | ratio |");
    println!("|---|---|---|---|---|---|");
    let folder = tempfile::tempdir().unwrap();
    let file = format!("sqlite://{}", folder.path().join("bench.db").display());
    measure("SQLite", &file, jobs).await?;
    match std::env::var("SVC_TEST_POSTGRES") {
        Ok(server) => match postgres_database(&server).await {
            Some(url) => measure("PostgreSQL", &url, jobs).await?,
            None => println!("| PostgreSQL | can't be reached at `SVC_TEST_POSTGRES` | | | | |"),
        },
        Err(_) => println!("| PostgreSQL | set `SVC_TEST_POSTGRES` to measure it | | | | |"),
    }
    Ok(())
}
