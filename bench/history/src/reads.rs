//! The history of a record with many entries, beside that of one with few.

use std::time::Duration;

use bench_rounds::{ROUNDS, line, per_second};
use svc_testing::{Backend, Client};

use crate::items::{change, make, start};

/// Entries of the record that has many.
const MANY: u32 = 10_000;

pub(crate) async fn measure(backend: Backend, round: Duration) {
    println!("{backend:?}: a record with {MANY} entries, beside one with ten");
    let (_app, client) = start(backend).await;
    let (many, few) = (with_entries(&client, MANY).await, with_entries(&client, 10).await);
    let (mut pages, mut other_pages) = (Vec::new(), Vec::new());
    let (mut previews, mut other_previews) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        for (id, pages, previews) in
            [(&many, &mut pages, &mut previews), (&few, &mut other_pages, &mut other_previews)]
        {
            let path = format!("/api/v1/history/KeptItems/{id}");
            let page = async || drop(client.get(&format!("{path}?take=10")).await.expect(200));
            pages.push(per_second(round, page).await);
            // One in the middle of the page.
            let listed = client.get(&format!("{path}?take=10")).await.expect(200);
            let entry = listed["items"][5]["id"].as_str().unwrap();
            let preview = format!("{path}/{entry}/preview?mode=Before");
            let look = async || drop(client.get(&preview).await.expect(200));
            previews.push(per_second(round, look).await);
        }
    }
    println!("{}", line("first page", &pages, &other_pages, 0.67));
    println!("{}", line("preview", &previews, &other_previews, 0.67));
}

async fn with_entries(client: &Client, count: u32) -> String {
    let id = make(client, "KeptItems").await;
    for stock in 1..count {
        drop(change(client, "KeptItems", &id, stock + 100).await);
    }
    id
}
