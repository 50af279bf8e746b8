//! Several nodes on one PostgreSQL database.

use serde_json::json;
use svc_testing::{Backend, Client};

use crate::fixture::{boss, make, search, start, titles};

/// The titles of all candles, by rank.
async fn candles(client: &Client) -> Vec<String> {
    let found = search(client, "candle", "&set=Articles&take=50").await;
    let hits = found["providers"][0]["hits"].as_array().unwrap();
    hits.iter().map(|hit| hit["title"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_nodes_keep_one_index() {
    let here = start(Backend::Postgres).await;
    let there = here.another_node().await;
    let clients = [boss(&here), boss(&there)];
    let mut ids = Vec::new();
    for number in 0..20 {
        let client = &clients[number % 2];
        ids.push(make(client, json!({"name": format!("Lamp {number}")})).await);
    }
    // Each record changes on the other node while both index.
    let changing = ids.iter().enumerate().map(|(number, id)| {
        let client = &clients[(number + 1) % 2];
        async move {
            for name in ["Torch", "Candle"] {
                let path = format!("/odata/v1/Articles({id})");
                let answer = client.patch(&path, json!({"name": format!("{name} {number}")})).await;
                assert_eq!(answer.status, 200, "{}", answer.text);
            }
        }
    });
    tokio::join!(futures::future::join_all(changing), here.drain(), there.drain());
    tokio::join!(here.drain(), there.drain());
    for client in &clients {
        assert_eq!(titles(client, "lamp").await, [""; 0]);
        assert_eq!(titles(client, "torch").await, [""; 0]);
        let mut found = candles(client).await;
        let mut expected: Vec<String> = (0..20).map(|number| format!("Candle {number}")).collect();
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected);
    }
    assert_eq!(candles(&clients[0]).await, candles(&clients[1]).await, "in the same order");
}
