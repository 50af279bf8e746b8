//! What a search over everything costs beside `contains`; how to run it stands in the README.
#![expect(clippy::unwrap_used, reason = "a benchmark that can't go on should say where")]

mod model;

use std::time::{Duration, Instant};

use http::Method;
use http_body_util::BodyExt as _;
use serde_json::json;
use svc_application::Application;
use svc_data::Context;
use svc_database::{Backend, Database};
use svc_search::Search;
use svc_testing::{Client, POSTGRES_VARIABLE, Person, TestApp};

use model::Shop;

/// What is typed, and the text that `contains` is asked for.
const QUERIES: [(&str, &str, &str); 7] = [
    ("a number", "4123", "4123"),
    ("a beginning", "zylindersch", "ylindersch"),
    ("a part", "klammer", "klammer"),
    ("a frequent word", "verzinkt", "verzinkt"),
    ("one letter", "m", "m"),
    ("three words", "schraube rostfrei holz", "olzschraube rostfrei"),
    ("a typo", "spanplattenleitse", "panplattenleiste"),
];

/// How often each is asked.
const TIMES: usize = 100;

#[tokio::main]
async fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let part: u64 = words.iter().find_map(|word| word.parse().ok()).unwrap_or(1).max(1);
    let says = |option: &str| words.iter().any(|word| word == option);
    if !says("--postgres") {
        measure(Backend::Sqlite, part).await;
    }
    if !says("--sqlite") && std::env::var(POSTGRES_VARIABLE).is_ok() {
        measure(Backend::Postgres, part).await;
    }
}

async fn measure(backend: Backend, part: u64) {
    let app = TestApp::builder(|| Application::new("bench").module(Shop).module(Search))
        .in_real_time()
        .setting("Svc:Search:ProviderBudget", "00:00:30")
        .start(backend)
        .await;
    let ctx = Context::system(app.app()).unwrap();
    for (table, count) in [("products", 100_000), ("customers", 20_000), ("order_lines", 300_000)] {
        for sql in model::fill(table, backend, count / part) {
            let statement = ctx.database().statement(&sql, []);
            ctx.transact(async |uow| uow.execute(statement).await).await.unwrap();
        }
    }
    let began = Instant::now();
    app.drain().await;
    println!("{backend:?}: {} records, built in {:.1?}", 420_000 / part, began.elapsed());
    println!("  index: {} MB", megabytes(ctx.database()).await);
    let client = app.sign_in(&Person::named("boss"));
    println!("  found after a commit: {:.1?}", delay(&app, &client).await);
    println!(
        "  {:<16} {:>21} {:>21} {:>12}",
        "", "first hit p50, p99", "all p50, p99", "`contains`"
    );
    for (name, typed, contained) in QUERIES {
        let mut times = Vec::with_capacity(TIMES);
        for _ in 0..TIMES {
            times.push(search(&client, typed).await);
        }
        let contains = contains(&client, contained).await;
        let first = quantiles(times.iter().map(|(first, _)| *first).collect());
        let all = quantiles(times.iter().map(|(_, all)| *all).collect());
        let ratio = contains.as_secs_f64() / all[0].as_secs_f64();
        println!(
            "  {name:<16} {:>10.2?} {:>10.2?} {:>10.2?} {:>10.2?} {ratio:>10.1} x",
            first[0], first[1], all[0], all[1]
        );
    }
}

/// The time to the first hit, and to the end.
async fn search(client: &Client, typed: &str) -> (Duration, Duration) {
    let path = format!("/api/v1/search/stream?q={}", typed.replace(' ', "+"));
    let began = Instant::now();
    let mut answer = client.begin(Method::GET, &path, &[], "").await;
    assert_eq!(answer.status(), 200);
    let mut first = None;
    while let Some(frame) = answer.frame().await {
        let line = frame.unwrap().into_data().unwrap();
        if first.is_none() && line.starts_with(b"{\"type\":\"hit\"") {
            first = Some(began.elapsed());
        }
        assert!(!line.windows(6).any(|text| text == b"\"late\"" || text == b"failed"));
    }
    (first.expect("each query finds something"), began.elapsed())
}

/// The time that `contains` takes over the same columns of the three sets, for as many.
async fn contains(client: &Client, text: &str) -> Duration {
    let text = text.replace(' ', "%20");
    let filter = format!("contains(name,'{text}')%20or%20contains(description,'{text}')");
    let began = Instant::now();
    for set in ["Products", "Customers", "OrderLines"] {
        let path = format!("/odata/v1/{set}?$filter={filter}&$orderby=name&$top=8");
        assert_eq!(client.get(&path).await.status, 200);
    }
    began.elapsed()
}

/// The time from a commit until a search finds it, when the outbox is called at once.
async fn delay(app: &TestApp, client: &Client) -> Duration {
    let product = json!({"id": 10_000_000, "name": "Neuheit", "description": ""});
    let _ = client.post("/odata/v1/Products", product).await.expect(201);
    let began = Instant::now();
    app.drain().await;
    search(client, "neuheit").await;
    began.elapsed()
}

async fn megabytes(database: &Database) -> u64 {
    let sql = match database.backend() {
        Backend::Sqlite => "SELECT sum(pgsize) FROM dbstat WHERE name LIKE 'search%'",
        Backend::Postgres => {
            "SELECT CAST(sum(pg_total_relation_size(oid)) AS BIGINT) FROM pg_class \
                              WHERE relkind = 'r' AND relname LIKE 'search%'"
        }
    };
    let bytes = database.row(database.statement(sql, [])).await;
    let bytes: Option<i64> =
        bytes.ok().flatten().and_then(|row| row.try_get_by_index::<i64>(0).ok());
    bytes.unwrap_or(0).unsigned_abs() / 1_000_000
}

/// The median and the 99th percentile.
fn quantiles(mut times: Vec<Duration>) -> [Duration; 2] {
    times.sort_unstable();
    let at = |percent: usize| times[(times.len() - 1) * percent / 100];
    [at(50), at(99)]
}
