//! Two worlds that differ only in what somebody may not see answer that person alike.

use serde_json::json;
use svc_testing::{Backend, Person, numbered, on_both_databases};

use crate::fixture::World;

/// Everything that Rita is answered in a world in which what she may not see is made of `secret`.
async fn answers(backend: Backend, secret: u32) -> Vec<String> {
    let world = World::new(backend).await;
    let id = world.product("A-1").await;
    world
        .change(&id, json!({"price": 2, "costPrice": secret, "contact": format!("Zoe {secret}")}))
        .await;
    world.change(&id, json!({"costPrice": secret + 1})).await;
    world.change(&id, json!({"contact": format!("Yve {secret}")})).await;
    world.remark(&id, &format!("remark {secret}")).await;
    world.change(&id, json!({"name": "Torch"})).await;
    // What lies elsewhere is hidden as a whole, however much it is.
    for number in 0..secret {
        let other = world.product(&format!("B-{number}")).await;
        world.change(&other, json!({"region": "US", "price": secret})).await;
    }
    let gone = world.product("C-1").await;
    world.change(&gone, json!({"costPrice": secret})).await;
    let deleted = world.client().delete(&format!("/odata/v1/Products({gone})")).await;
    assert_eq!(deleted.status, 204);
    let rita = Person::named("Rita").with_claim("regions", &["EU"]).who_may(&[
        "History.View",
        "History.Audit",
        "Products.View",
        "Products.Update",
        "Products.Create",
    ]);
    let rita = world.app.sign_in(&rita);
    let mut paths = vec!["/api/v1/history".to_owned(), "/api/v1/audit".to_owned()];
    paths.extend(
        ["take=1", "take=2", "operation=updated", "set=Products"]
            .map(|query| format!("/api/v1/audit?{query}")),
    );
    paths.extend(["", "operation=updated"].map(|query| format!("/api/v1/audit/facets?{query}")));
    for record in [&id, &gone] {
        paths.push(format!("/api/v1/history/Products/{record}"));
        paths.push(format!("/api/v1/history/Products/{record}?take=1"));
        // All entries, also those that she isn't told of.
        for entry in world.history("Products", record).await {
            let (entry, unit) =
                (entry["id"].as_str().unwrap(), entry["unitOfWork"].as_str().unwrap());
            for mode in ["After", "Before", "Undo"] {
                paths
                    .push(format!("/api/v1/history/Products/{record}/{entry}/preview?mode={mode}"));
            }
            paths.push(format!("/api/v1/audit/units/{unit}/preview"));
            paths.push(format!("/api/v1/audit?unitOfWork={unit}"));
        }
    }
    paths.push("/api/v1/audit/export".to_owned());
    let mut answers = Vec::new();
    for path in paths {
        let answer = if path.ends_with("/export") {
            rita.post(&path, json!({})).await
        } else {
            rita.get(&path).await
        };
        let text = answer.text.clone();
        let text = match text.find("\"next\":\"") {
            Some(place) => text[..place].to_owned() + "\"next\": more",
            None => text,
        };
        // The version of a preview of many is made of identifiers.
        let digest = match text.split_once(",\"records\"") {
            Some((_, records)) => records.to_owned(),
            None => text,
        };
        answers.push(numbered(&format!("{} {}: {digest}", path, answer.status)));
    }
    answers
}

on_both_databases! {
    async fn worlds_that_differ_in_what_is_hidden_answer_alike(backend) {
        let (one, other) = (answers(backend, 3).await, answers(backend, 8).await);
        assert_eq!(one.len(), other.len());
        assert!(one.len() > 40, "{} answers", one.len());
        for (one, other) in one.iter().zip(&other) {
            assert_eq!(one, other);
        }
    }
}
