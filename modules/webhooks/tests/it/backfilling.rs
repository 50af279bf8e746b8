//! Telling an endpoint all records of a set.

use serde_json::{Value as Json, json};
use svc_testing::{Person, Received, TestAppBuilder, on_both_databases};

use crate::fixture::{SECRET, World, is_accepted, path, types, until};

async fn begin(world: &World, endpoint: &Json, set: &str) -> Json {
    let body = json!({"set": set});
    world.client().post(&path(endpoint, "/backfills"), body).await.expect(202)
}

/// How far those of an endpoint are, the newest first.
async fn told(world: &World, endpoint: &Json) -> Vec<Json> {
    let listed = world.client().get(&path(endpoint, "/backfills")).await.expect(200);
    listed["items"].as_array().unwrap().clone()
}

fn skus(received: &[Received]) -> Vec<String> {
    let mut skus: Vec<String> =
        received.iter().map(|one| one.json()["data"]["sku"].as_str().unwrap().to_owned()).collect();
    skus.sort();
    skus
}

fn slow(builder: TestAppBuilder) -> TestAppBuilder {
    builder.setting("Svc:Webhooks:ConcurrencyPerEndpoint", 1)
}

on_both_databases! {
    async fn all_records_of_a_set_are_told_once_as_snapshots(backend) {
        let world = World::new(backend).await;
        let mut expected = Vec::new();
        for number in 0..230 {
            expected.push(format!("A-{number:03}"));
            world.create(&expected[number]).await;
        }
        let endpoint = world.endpoint(&["stock.low"]).await;
        assert_eq!(world.deliver().await.len(), 0);
        let begun = begin(&world, &endpoint, "products").await;
        assert_eq!((&begun["set"], &begun["state"]), (&json!("Products"), &json!("underWay")));
        assert_eq!(begin(&world, &endpoint, "Products").await["id"], begun["id"], "one at a time");
        let received = world.deliver().await;
        assert_eq!(skus(&received), expected);
        assert!(received.iter().all(|one| is_accepted(one, SECRET)));
        assert!(types(&received).iter().all(|one| one == "products.snapshot"));
        let told = told(&world, &endpoint).await;
        assert_eq!(told.len(), 1);
        assert_eq!(told[0]["state"], "finished");
        let figures = ["records", "queued", "total"].map(|name| told[0][name].clone());
        assert_eq!(figures, [json!(230), json!(230), json!(230)]);
        let again = begin(&world, &endpoint, "Products").await;
        assert_ne!(again["id"], begun["id"]);
        assert_eq!(world.deliver().await.len(), 230);
    }

    async fn a_snapshot_is_what_an_event_would_tell_and_older_than_it(backend) {
        let world = World::new(backend).await;
        let endpoint = world.endpoint(&["products.*"]).await;
        let id = world.create("A-1").await;
        let created = world.deliver().await.remove(0).json();
        begin(&world, &endpoint, "Products").await;
        let snapshot = world.deliver().await.remove(0).json();
        assert_eq!(snapshot["data"], created["data"]);
        // A change that committed while it was read comes later, by its time as well.
        assert!(snapshot["time"].as_str() < created["time"].as_str());
        let thin = json!({"isThin": true, "format": "cloudEvents"});
        let _ = world.client().put(&path(&endpoint, ""), thin).await.expect(200);
        begin(&world, &endpoint, "Products").await;
        let snapshot = world.deliver().await.remove(0).json();
        assert_eq!((&snapshot["specversion"], &snapshot["subject"]), (&json!("1.0"), &json!(format!("Products/{id}"))));
        assert_eq!(snapshot["data"]["id"], json!(id));
        assert!(snapshot["data"]["url"].as_str().unwrap().contains(&id.to_string()));
        assert!(snapshot["data"]["sku"].is_null());
    }

    async fn a_snapshot_tells_what_the_owner_may_see(backend) {
        let world = World::new(backend).await;
        for (sku, region) in [("E-1", "EU"), ("E-2", "EU"), ("U-1", "US")] {
            world.create_in(sku, region).await;
        }
        let bob = Person::named("Bob")
            .who_may(&["Webhooks.Manage", "Products.View"])
            .with_claim("regions", &["EU"]);
        let endpoint = world.endpoint_of(&bob, &["stock.low"]).await;
        let filter = json!({"filter": "sku ne 'E-2'"});
        let _ = world.shop.sign_in(&bob).put(&path(&endpoint, ""), filter).await.expect(200);
        begin(&world, &endpoint, "Products").await;
        let received = world.deliver().await;
        assert_eq!(skus(&received), ["E-1"], "of his region, and as his filter wants");
        assert!(received[0].json()["data"].get("costPrice").is_none());
        let done = told(&world, &endpoint).await.remove(0);
        let figures = ["records", "queued", "total"].map(|name| done[name].clone());
        assert_eq!(figures, [json!(2), json!(1), json!(2)]);
        let carol = Person::named("Carol").who_may(&["Webhooks.Manage"]);
        let hers = world.endpoint_of(&carol, &["stock.low"]).await;
        let body = json!({"set": "Products"});
        let refused = world.client().post(&path(&hers, "/backfills"), body.clone()).await.expect(422);
        assert!(refused["errors"]["set"][0].as_str().unwrap().contains("may not see"));
        for wrong in ["Notes", "nothing"] {
            let body = json!({"set": wrong});
            let refused = world.client().post(&path(&endpoint, "/backfills"), body).await.expect(422);
            assert!(refused["errors"]["set"].is_array(), "{wrong}");
        }
        world.shop.dismiss(&bob);
        let gone = world.client().post(&path(&endpoint, "/backfills"), body).await.expect(409);
        assert_eq!(gone["code"], "webhooks.owner_gone");
    }

    async fn what_is_new_goes_before_snapshots(backend) {
        let world = World::with(backend, slow).await;
        for number in 0..20 {
            world.create(&format!("A-{number}")).await;
        }
        let endpoint = world.endpoint(&["stock.low"]).await;
        world.deliver().await;
        begin(&world, &endpoint, "Products").await;
        world.publish("new").await;
        let received = types(&world.deliver().await);
        assert_eq!(received.len(), 21);
        assert!(received.iter().position(|one| one == "stock.low").unwrap() < 2, "{received:?}");
    }

    async fn no_more_is_made_than_a_receiver_keeps_step_with(backend) {
        let world = World::new(backend).await;
        for number in 0..1_150 {
            world.create(&format!("A-{number}")).await;
        }
        let endpoint = world.endpoint(&["stock.low"]).await;
        let off = json!({"isActive": false});
        let _ = world.client().put(&path(&endpoint, ""), off).await.expect(200);
        world.deliver().await;
        begin(&world, &endpoint, "Products").await;
        assert_eq!(world.deliver().await.len(), 0);
        let waits = told(&world, &endpoint).await.remove(0);
        assert_eq!((&waits["state"], &waits["queued"], &waits["total"]), (&json!("underWay"), &json!(1_000), &json!(1_150)));
        assert_eq!(world.after(120).await.len(), 0);
        assert_eq!(told(&world, &endpoint).await[0]["queued"], 1_000);
        let _ = world.client().put(&path(&endpoint, ""), json!({"isActive": true})).await.expect(200);
        let mut received = world.deliver().await.len();
        received += world.after(120).await.len();
        assert_eq!(received, 1_150);
        assert_eq!(told(&world, &endpoint).await[0]["state"], "finished");
    }

    async fn one_that_is_cancelled_makes_no_more(backend) {
        let world = World::new(backend).await;
        for number in 0..1_050 {
            world.create(&format!("A-{number}")).await;
        }
        let endpoint = world.endpoint(&["stock.low"]).await;
        let _ = world.client().put(&path(&endpoint, ""), json!({"isActive": false})).await.expect(200);
        let begun = begin(&world, &endpoint, "Products").await;
        world.deliver().await;
        let cancel = path(&endpoint, &format!("/backfills/{}/cancel", begun["id"].as_str().unwrap()));
        let cancelled = world.client().post(&cancel, json!(null)).await.expect(200);
        assert_eq!((&cancelled["state"], &cancelled["queued"]), (&json!("cancelled"), &json!(1_000)));
        let refused = world.client().post(&cancel, json!(null)).await.expect(409);
        assert_eq!(refused["code"], "webhooks.not_under_way");
        let _ = world.client().put(&path(&endpoint, ""), json!({"isActive": true})).await.expect(200);
        let mut received = world.deliver().await.len();
        received += world.after(120).await.len();
        assert_eq!(received, 1_000, "those that waited");
        let _ = world.client().delete(&path(&endpoint, "")).await.expect(204);
        assert_eq!(world.count("webhooks_backfills").await, 0);
    }

    async fn one_that_is_interrupted_goes_on_behind_its_last_step(backend) {
        for dies in [true, false] {
            let world = World::new(backend).await;
            for number in 0..950 {
                world.create(&format!("A-{number}")).await;
            }
            let endpoint = world.endpoint(&["stock.low"]).await;
            let switch = async |on: bool| {
                world.client().put(&path(&endpoint, ""), json!({"isActive": on})).await.expect(200)
            };
            let _ = switch(false).await;
            world.deliver().await;
            begin(&world, &endpoint, "Products").await;
            let begun = until(async || {
                let queued = world.count("webhooks_deliveries").await;
                if queued >= 100 { Ok(()) } else { Err(format!("{queued} are queued")) }
            });
            let other = world.shop.another_node().await;
            if dies {
                // Its future is gone on the way: another node takes the job up when its lease has ended.
                tokio::select! {
                    _ = other.drain() => {}
                    () = begun => {}
                }
            } else {
                other.app().start_workers();
                begun.await;
                other.app().stop().await;
            }
            let _ = switch(true).await;
            let mut received = world.deliver().await;
            received.extend(world.after(3_600).await);
            assert_eq!(received.len(), 950);
            let mut all = skus(&received);
            all.dedup();
            assert_eq!(all.len(), 950, "each once");
            assert_eq!(told(&world, &endpoint).await[0]["state"], "finished");
        }
    }
}
