//! Several nodes on one PostgreSQL database.

use std::time::Duration;

use serde_json::json;
use svc_testing::Backend;

use crate::fixture::World;

/// Changes of each node, all at the same moment.
const CHANGES: usize = 25;

#[tokio::test(flavor = "multi_thread")]
async fn changes_of_two_nodes_are_told_in_their_order_and_sealed_once() {
    let world = World::new(Backend::Postgres).await;
    let there = world.app.another_node().await;
    let id = world.product("A-1").await;
    let path = format!("/odata/v1/Products({id})");
    let clients = [world.client(), there.sign_in(&world.ada)];
    let changing = clients.clone().map(|client| {
        let path = path.clone();
        tokio::spawn(async move {
            for number in 0..CHANGES {
                let _ = client.patch(&path, json!({"price": number + 1})).await.expect(200);
                let _ = client
                    .patch(&path, json!({"name": format!("Lamp {number}")}))
                    .await
                    .expect(200);
            }
        })
    });
    for one in changing {
        one.await.unwrap();
    }
    let [here, _] = &clients;
    let listed = here.get(&format!("/api/v1/history/Products/{id}?take=200")).await.expect(200);
    let entries = listed["items"].as_array().unwrap();
    let versions: Vec<u64> =
        entries.iter().map(|entry| entry["version"].as_u64().unwrap()).collect();
    let expected: Vec<u64> = (1..=versions[0]).rev().collect();
    assert_eq!(versions, expected, "each version once, the newest first");
    // What one field was before is what it was after the entry before it, whichever node made that.
    let mut price = json!(12.5);
    for entry in entries.iter().rev().skip(1) {
        let fields = entry["fields"].as_array().unwrap();
        for field in fields.iter().filter(|field| field["name"] == "price") {
            assert_eq!(field["before"], price);
            price = field["after"].clone();
        }
    }
    // One node looked at a change that is taken back on the other.
    let newest = entries[0]["id"].as_str().unwrap();
    let seen =
        clients[0].get(&format!("/api/v1/history/Products/{id}/{newest}/preview?mode=Undo")).await;
    let body = json!({"entry": newest, "mode": "Undo", "version": seen.expect(200)["version"]});
    let restore = format!("/api/v1/history/Products/{id}/restore");
    let (one, other) =
        tokio::join!(clients[0].post(&restore, body.clone()), clients[1].post(&restore, body));
    let mut statuses = [one.status.as_u16(), other.status.as_u16()];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409]);
    // Both nodes seal at the same time; each entry is sealed once, in one chain.
    world.app.advance(Duration::from_mins(10));
    tokio::join!(world.app.drain(), there.drain());
    let said = world.command(&["check"]).await.unwrap();
    assert!(said.contains(&format!("{} entries", versions.len() + 1)), "{said}");
}
