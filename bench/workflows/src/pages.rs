//! Pages of 100 of 100,000 records, with their states and whose turn it is, beside the same of columns.

use std::time::Duration;

use bench_rounds::{ROUNDS, median, millis, ratio};
use svc_testing::{Backend, Client};

use crate::orders::{clerk, fill, named, start};

const RECORDS: u64 = 100_000;

const ROUND: Duration = Duration::from_millis(500);

/// A page of the set with the workflow, and one of the set whose columns say the same.
struct Case {
    name: &'static str,
    page: &'static str,
    plain: &'static str,
}

const CASES: [Case; 3] = [
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
];

/// The same of what awaits somebody, for one whom 25,000 await, and for one whom 25 do.
const AWAITING: [Case; 4] = [
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
        page: "$select=id,reference,total,workflowState,workflowAwaitsMe&$filter=workflowState in ('held','submitted') and workflowAwaitsMe&$orderby=total",
        plain: "$select=id,reference,total,state&$filter=state in ('held','submitted') and total ge 0&$orderby=total",
    },
    Case {
        name: "awaits me, by total",
        page: "$select=id,reference,total&$filter=workflowAwaitsMe&$orderby=total",
        plain: "$select=id,reference,total&$filter=state eq 'held'&$orderby=total",
    },
];

pub(crate) async fn measure(backend: Backend) {
    println!("{backend:?}: a page of 100 of {RECORDS} records, beside one by columns");
    let app = start(backend).await;
    let me = clerk("Cy");
    fill(&app, &me, RECORDS).await;
    let many = app.sign_in(&me);
    for case in CASES.iter().chain(&AWAITING) {
        beside(case, &many, 100).await;
    }
    // The same person with fewer rights from here on, for both clients.
    let few = app.sign_in(&named("Cy"));
    println!("  the same, for one whom 25 await");
    for case in &AWAITING {
        beside(case, &few, 25).await;
    }
}

/// Measures both pages of a case in turns; the one with the workflow has so many records.
async fn beside(case: &Case, client: &Client, count: usize) {
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let plain = async || read(client, ("PlainOrders", case.plain), 100).await;
        without.push(millis(ROUND, plain).await);
        with.push(millis(ROUND, async || read(client, ("Orders", case.page), count).await).await);
    }
    println!(
        "  {:<32} {:>8.2} ms beside {:>8.2} ms  {}, goal 1.3",
        case.name,
        median(with.clone()),
        median(without.clone()),
        ratio(&with, &without),
    );
}

async fn read(client: &Client, (set, query): (&str, &str), count: usize) {
    let path = format!("/odata/v1/{set}?{}&$top=100", query.replace(' ', "%20"));
    let page = client.get(&path).await.expect(200);
    assert_eq!(page["value"].as_array().map(Vec::len), Some(count), "{path}");
}
