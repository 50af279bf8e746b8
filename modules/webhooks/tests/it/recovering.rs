//! Recovering what an endpoint missed.

use std::time::Duration;

use serde_json::json;
use svc_testing::on_both_databases;

use crate::fixture::{World, one_attempt_and_stays_on, path};

on_both_databases! {
    async fn deliveries_are_sent_again_by_filter(backend) {
        let world = World::with(backend, one_attempt_and_stays_on)
        .await;
        let endpoint = world.endpoint(&["*"]).await;
        world.endpoint(&["products.*"]).await;
        world.receiver.answer_with([500; 4]);
        world.publish_many(2).await;
        assert_eq!(world.deliver().await.len(), 2);
        world.create("A-1").await;
        assert_eq!(world.deliver().await.len(), 2);
        world.publish("delivered").await;
        assert_eq!(world.deliver().await.len(), 1);
        let again = async |body: serde_json::Value| {
            let path = "/api/v1/webhooks/deliveries/redeliver";
            let _ = world.client().post(path, body).await.expect(202);
            world.deliver().await.len()
        };
        assert_eq!(again(json!({"eventType": "stock.low"})).await, 2);
        assert_eq!(again(json!({"subscriptionId": endpoint["id"], "eventType": "products.created"})).await, 1);
        assert_eq!(again(json!({"until": "2026-11-20T12:00:00Z"})).await, 0);
        assert_eq!(again(json!({"since": "2026-11-20T12:00:00Z"})).await, 1, "what is left");
        let path = "/api/v1/webhooks/deliveries/redeliver";
        let unknown = json!({"subscriptionId": uuid::Uuid::nil()});
        let _ = world.client().post(path, unknown).await.expect(404);
        let _ = world.client().post(path, json!({"status": "missed"})).await.expect(422);
    }

    async fn what_was_sent_again_is_not_sent_again_by_filter(backend) {
        let world = World::with(backend, one_attempt_and_stays_on)
        .await;
        let endpoint = world.endpoint(&["*"]).await;
        let ask = async |body: &serde_json::Value| {
            let path = "/api/v1/webhooks/deliveries/redeliver";
            let _ = world.client().post(path, body.clone()).await.expect(202);
        };
        let again = async |body: serde_json::Value| {
            ask(&body).await;
            world.deliver().await.len()
        };
        world.publish_many(5).await;
        assert_eq!(world.deliver().await.len(), 5);
        assert_eq!(again(json!({"status": "delivered"})).await, 5);
        assert_eq!(again(json!({"status": "delivered"})).await, 0, "nor what sent them again");
        // What failed once more is sent once more, and what arrived then isn't.
        world.receiver.answer_with([500; 6]);
        world.publish_many(3).await;
        assert_eq!(world.deliver().await.len(), 3);
        for expected in [3, 3, 0] {
            assert_eq!(again(json!({})).await, expected);
        }
        // Two at once, of which one means what the other does.
        world.receiver.answer_with([500; 40]);
        world.publish_many(40).await;
        assert_eq!(world.deliver().await.len(), 40);
        ask(&json!({})).await;
        ask(&json!({"subscriptionId": endpoint["id"]})).await;
        ask(&json!({"eventType": "stock.low"})).await;
        let other = world.shop.another_node().await;
        tokio::join!(world.shop.drain(), other.drain());
        assert_eq!(world.deliver().await.len(), 40);
    }

    async fn what_was_missed_while_it_was_off_or_failed_is_sent_exactly_once(backend) {
        let world = World::with(backend, one_attempt_and_stays_on)
        .await;
        let endpoint = world.endpoint(&["*"]).await;
        let switch = async |on: bool| {
            world.client().put(&path(&endpoint, ""), json!({"isActive": on})).await.expect(200)
        };
        world.receiver.answer_with([500]);
        world.publish("before").await;
        assert_eq!(world.deliver().await.len(), 1);
        world.shop.advance(Duration::from_mins(1));
        let since = "2026-11-20T12:01:00Z";
        world.receiver.answer_with([500, 500]);
        world.publish_many(2).await;
        assert_eq!(world.deliver().await.len(), 2);
        let _ = switch(false).await;
        world.publish_many(750).await;
        assert_eq!(world.deliver().await.len(), 0);
        assert_eq!(world.log().await.len(), 3, "what was missed isn't a delivery yet");
        let _ = switch(true).await;
        assert_eq!(world.deliver().await.len(), 0, "switching on alone sends nothing that was missed");
        let body = json!({"since": since});
        let recover = path(&endpoint, "/recover");
        let started = world.client().post(&recover, body.clone()).await.expect(202);
        let job = format!("/api/v1/jobs/{}", started["jobId"].as_str().unwrap());
        assert_eq!(world.deliver().await.len(), 752);
        let ended = world.client().get(&job).await.expect(200);
        assert_eq!((&ended["state"], &ended["progress"]), (&json!("finished"), &json!(100)));
        assert_eq!(ended["message"], "752 deliveries queued");
        // A second recovery finds nothing that was not sent by now.
        let _ = world.client().post(&recover, body).await.expect(202);
        assert_eq!(world.deliver().await.len(), 0);
        let _ = world.client().post(&recover, json!({"since": "yesterday"})).await.expect(422);
        let _ = world.client().post(&recover, json!({})).await.expect(422);
    }

    async fn a_recovery_from_earlier_on_is_no_other_s_and_sends_nothing_twice(backend) {
        let world = World::new(backend).await;
        let endpoint = world.endpoint(&["*"]).await;
        let switch = async |on: bool| {
            world.client().put(&path(&endpoint, ""), json!({"isActive": on})).await.expect(200)
        };
        let _ = switch(false).await;
        world.publish("early").await;
        world.deliver().await;
        world.shop.advance(Duration::from_mins(1));
        world.publish("late").await;
        world.deliver().await;
        let _ = switch(true).await;
        let recover = path(&endpoint, "/recover");
        for since in ["2026-11-20T12:01:00Z", "2026-11-20T12:00:00Z", "2026-11-20T12:00:00Z"] {
            let _ = world.client().post(&recover, json!({"since": since})).await.expect(202);
        }
        assert_eq!(world.deliver().await.len(), 2);
    }

    async fn what_is_new_goes_before_what_is_sent_again(backend) {
        let world = World::with(backend, |builder| {
            builder.setting("Svc:Webhooks:ConcurrencyPerEndpoint", 1)
        })
        .await;
        let endpoint = world.endpoint(&["*"]).await;
        let switch = async |on: bool| {
            world.client().put(&path(&endpoint, ""), json!({"isActive": on})).await.expect(200)
        };
        let _ = switch(false).await;
        world.publish_many(20).await;
        world.deliver().await;
        let _ = switch(true).await;
        // Queued, and not sent yet: the job ends when nothing more is due of anything else.
        let since = json!({"since": "2026-11-20T12:00:00Z"});
        let _ = world.client().post(&path(&endpoint, "/recover"), since).await.expect(202);
        world.create("A-1").await;
        let received = world.deliver().await;
        assert_eq!(received.len(), 21);
        let place = received.iter().position(|one| one.json()["type"] == "products.created");
        assert!(place.unwrap() < 2, "{place:?}");
    }

    async fn what_is_new_waits_for_what_is_recovered_of_its_entity_alone(backend) {
        let world = World::with(backend, |builder| {
            builder.setting("Svc:Webhooks:ConcurrencyPerEndpoint", 1)
        })
        .await;
        let endpoint = world.endpoint(&["products.*"]).await;
        let set = async |said: serde_json::Value| {
            world.client().put(&path(&endpoint, ""), said).await.expect(200)
        };
        let _ = set(json!({"isOrdered": true, "isActive": false})).await;
        let mut missed = Vec::new();
        for number in 0..20 {
            missed.push(world.create(&format!("A-{number}")).await);
        }
        world.change(missed[9], |product| product.sku = sea_orm::Set("B-9".to_owned())).await;
        world.deliver().await;
        let _ = set(json!({"isActive": true})).await;
        let since = json!({"since": "2026-11-20T12:00:00Z"});
        let _ = world.client().post(&path(&endpoint, "/recover"), since).await.expect(202);
        world.change(missed[9], |product| product.sku = sea_orm::Set("C-9".to_owned())).await;
        let new = world.create("new").await;
        let received = world.deliver().await;
        assert_eq!(received.len(), 23);
        let skus = |id: uuid::Uuid| {
            let told = received.iter().map(svc_testing::Received::json).enumerate();
            let of_it = told.filter(move |(_, one)| one["data"]["id"] == id.to_string());
            of_it.map(|(place, one)| (one["data"]["sku"].clone(), place)).collect::<Vec<_>>()
        };
        let (changed, made) = (skus(missed[9]), skus(new));
        let order: Vec<&serde_json::Value> = changed.iter().map(|(sku, _)| sku).collect();
        assert_eq!(order, ["A-9", "B-9", "C-9"], "what is older goes first");
        let last = changed.iter().chain(&made).map(|(_, place)| *place).max();
        assert!(last.unwrap() < 6, "before what is recovered of others: {changed:?} {made:?}");
    }
}
