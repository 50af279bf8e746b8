//! The tasks of one person among those of a million records.

use std::time::Duration;

use bench_rounds::millis;
use svc_testing::{Backend, Client};

use crate::orders::{clerk, fill, start};

const RECORDS: u64 = 1_000_000;

const ROUND: Duration = Duration::from_secs(3);

pub(crate) async fn measure(backend: Backend) {
    println!("{backend:?}: tasks among {RECORDS} instances");
    let app = start(backend).await;
    let me = clerk("Cy");
    fill(&app, &me, RECORDS).await;
    let one = me.clone().who_may(&["Orders.View", "Workflows.View", "Workflows.Act"]);
    let approver =
        me.who_may(&["Orders.View", "Orders.Approve", "Workflows.View", "Workflows.Act"]);
    for (name, who) in [("whom 250 name", one), ("whom 250,000 await", approver)] {
        let client = app.sign_in(&who);
        for (what, path) in [
            ("newest 50", "/api/v1/workflows/tasks"),
            ("most due 50", "/api/v1/workflows/tasks?order=due"),
            ("counts", "/api/v1/workflows/tasks/counts"),
        ] {
            let took = millis(ROUND, async || read(&client, path).await).await;
            println!("  {name:<20} {what:<12} {took:>8.2} ms, goal 10");
        }
    }
}

async fn read(client: &Client, path: &str) {
    let page = client.get(path).await.expect(200);
    assert!(page["items"].as_array().is_some_and(|items| !items.is_empty()), "{path}");
}
