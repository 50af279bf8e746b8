//! Pages of 100 of 100,000 records, with their states and whose turn it is, beside the same of columns.

use std::time::Duration;

use svc_testing::{Backend, Client};

use crate::orders::{clerk, fill, start};
use crate::rounds::{ROUNDS, median, millis, ratio};

const RECORDS: u64 = 100_000;

const ROUND: Duration = Duration::from_millis(500);

/// A page of the set with the workflow, and one of the set whose columns say the same.
struct Case {
    name: &'static str,
    page: &'static str,
    plain: &'static str,
}

const CASES: [Case; 6] = [
    Case {
        name: "both shown",
        page: "$select=id,reference,total,workflowState,workflowAwaitsMe",
        plain: "$select=id,reference,total,state,approverId",
    },
    Case {
        name: "filtered by state",
        page: "$select=id,reference,total,workflowState&$filter=workflowState eq 'submitted'",
        plain: "$select=id,reference,total,state&$filter=state eq 'submitted'",
    },
    Case {
        name: "sorted by state",
        page: "$select=id,reference,total,workflowState&$orderby=workflowState",
        plain: "$select=id,reference,total,state&$orderby=state",
    },
    Case {
        name: "awaits me",
        page: "$select=id,reference,total,workflowAwaitsMe&$filter=workflowAwaitsMe",
        plain: "$select=id,reference,total,state&$filter=state eq 'held'",
    },
    Case {
        name: "awaits me, sorted by state",
        page: "$select=id,reference,total,workflowState,workflowAwaitsMe&$filter=workflowAwaitsMe&$orderby=workflowState",
        plain: "$select=id,reference,total,state&$filter=state eq 'held'&$orderby=state",
    },
    Case {
        name: "state and awaits me, by total",
        page: "$select=id,reference,total,workflowState,workflowAwaitsMe&$filter=workflowState eq 'held' and workflowAwaitsMe&$orderby=total",
        plain: "$select=id,reference,total,state&$filter=state eq 'held' and total ge 0&$orderby=total",
    },
];

pub(crate) async fn measure(backend: Backend) {
    println!("{backend:?}: a page of 100 of {RECORDS} records, beside one by columns");
    let app = start(backend).await;
    let me = clerk("Cy");
    fill(&app, &me, RECORDS).await;
    let client = app.sign_in(&me);
    for case in CASES {
        let (mut with, mut without) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            without
                .push(millis(ROUND, async || read(&client, "PlainOrders", case.plain).await).await);
            with.push(millis(ROUND, async || read(&client, "Orders", case.page).await).await);
        }
        println!(
            "  {:<32} {:>8.2} ms beside {:>8.2} ms  {}, goal 1.3",
            case.name,
            median(with.clone()),
            median(without.clone()),
            ratio(&with, &without),
        );
    }
}

async fn read(client: &Client, set: &str, query: &str) {
    let path = format!("/odata/v1/{set}?{}&$top=100", query.replace(' ', "%20"));
    let page = client.get(&path).await.expect(200);
    assert_eq!(page["value"].as_array().map(Vec::len), Some(100), "{path}");
}
