//! Transitions, beside plain changes of the same record.

use std::time::{Duration, Instant};

use bench_rounds::{ROUNDS, median, ratio};
use serde_json::json;
use svc_testing::Backend;

use crate::orders::{clerk, start, submitted, take};

const ROUND: Duration = Duration::from_millis(1_500);

pub(crate) async fn measure(backend: Backend) {
    println!("{backend:?}: transitions of a record, beside a PATCH of it");
    let app = start(backend).await;
    let client = app.sign_in(&clerk("Cy"));
    let (id, mut version) = submitted(&client).await;
    let (mut steps, mut changes) = (Vec::new(), Vec::new());
    let (mut total, mut is_held) = (0, false);
    for _ in 0..ROUNDS {
        let change = async || {
            total += 1;
            let path = format!("/odata/v1/Orders({id})");
            let _ = client.patch(&path, json!({"total": total})).await.expect(200);
        };
        changes.push(per_second(change).await);
        // A change of the record is one of its version.
        let seen = client.get(&format!("/api/v1/workflows/Orders/{id}")).await.expect(200);
        version.replace_range(.., seen["version"].as_str().unwrap());
        let step = async || {
            let name = if is_held { "release" } else { "hold" };
            version = take(&client, &id, name, &version).await;
            is_held = !is_held;
        };
        steps.push(per_second(step).await);
    }
    println!(
        "  {:>6.0}/s beside {:>6.0}/s  {}, goal 0.5",
        median(steps.clone()),
        median(changes.clone()),
        ratio(&steps, &changes),
    );
}

/// How often something is done in a second.
async fn per_second(mut work: impl AsyncFnMut()) -> f64 {
    let (began, mut count) = (Instant::now(), 0_u64);
    while began.elapsed() < ROUND {
        work().await;
        count += 1;
    }
    count as f64 / began.elapsed().as_secs_f64()
}
