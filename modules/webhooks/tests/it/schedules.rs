//! Times of an endpoint's own: for an attempt, between attempts, and until a delivery is given up.

use serde_json::{Value as Json, json};
use svc_testing::{Receiver, on_both_databases};

use crate::fixture::{World, path};
use crate::hanging::Hanging;

async fn set(world: &World, endpoint: &Json, change: Json) -> Json {
    world.client().put(&path(endpoint, ""), change).await.expect(200)
}

on_both_databases! {
    async fn an_endpoint_s_own_delays_take_the_place_of_the_settings(backend) {
        let world = World::new(backend).await;
        let endpoint = world.endpoint(&["*"]).await;
        let saved = set(&world, &endpoint, json!({"retryDelaysSeconds": [5, 600]})).await;
        assert_eq!(saved["retryDelaysSeconds"], json!([5, 600]));
        world.receiver.answer_with([500, 500, 500]);
        world.publish("A-1").await;
        assert_eq!(world.deliver().await.len(), 1);
        let log = world.log().await;
        assert_eq!((&log[0]["status"], &log[0]["maxAttempts"]), (&json!("retrying"), &json!(3)));
        assert_eq!(world.after(4).await.len(), 0);
        assert_eq!(world.after(1).await.len(), 1);
        assert_eq!(world.after(599).await.len(), 0);
        assert_eq!(world.after(1).await.len(), 1);
        let log = world.log().await;
        assert_eq!((&log[0]["status"], &log[0]["attempts"]), (&json!("failed"), &json!(3)));
        assert_eq!(world.show(&endpoint).await["consecutiveFailures"], 1);

        // An empty list is a single attempt; null is what the settings say.
        let _ = set(&world, &endpoint, json!({"retryDelaysSeconds": []})).await;
        world.receiver.answer_with([500, 500]);
        world.publish("A-2").await;
        assert_eq!(world.deliver().await.len(), 1);
        assert_eq!(world.log().await[0]["status"], "failed");
        let plain = set(&world, &endpoint, json!({"retryDelaysSeconds": null})).await;
        assert_eq!(plain["retryDelaysSeconds"], Json::Null);
        world.publish("A-3").await;
        assert_eq!(world.deliver().await.len(), 1);
        assert_eq!(world.log().await[0]["maxAttempts"], 6);
        assert_eq!(world.after(30).await.len(), 1);
    }

    async fn an_endpoint_s_own_time_ends_an_attempt(backend) {
        let hanging = Hanging::start().await;
        let world = World::beside(backend, Receiver::start().await, &[hanging.port()], |it| it).await;
        let endpoint = world.endpoint_at(hanging.port(), &["*"]).await;
        let _ = set(&world, &endpoint, json!({"timeoutSeconds": 1})).await;
        world.publish("A-1").await;
        world.shop.drain().await;
        let log = world.log().await;
        assert_eq!(log[0]["status"], "retrying");
        assert!(log[0]["error"].as_str().unwrap().contains("`1` seconds of the endpoint"), "{}", log[0]);
        assert_eq!(log[0]["durationMs"], 1_000);
    }

    async fn a_delivery_that_is_too_old_is_given_up_whether_attempted_or_not(backend) {
        let world = World::new(backend).await;
        let endpoint = world.endpoint(&["*"]).await;
        let _ = set(&world, &endpoint, json!({"expiresAfterSeconds": 100})).await;
        world.receiver.answer_with([500, 500, 500]);
        world.publish("A-1").await;
        assert_eq!(world.deliver().await.len(), 1);
        assert_eq!(world.after(30).await.len(), 1);
        // The next attempt would be made after 90 seconds, and the one after that too late.
        assert_eq!(world.log().await[0]["status"], "retrying");
        assert_eq!(world.after(60).await.len(), 1);
        let log = world.log().await;
        assert_eq!((&log[0]["status"], &log[0]["attempts"]), (&json!("failed"), &json!(3)));
        assert_eq!(world.show(&endpoint).await["consecutiveFailures"], 1, "it did fail");

        // One that is held until it is too old says nothing of the receiver.
        world.receiver.answer_with([500]);
        world.publish("A-2").await;
        assert_eq!(world.deliver().await.len(), 1);
        let _ = set(&world, &endpoint, json!({"isActive": false})).await;
        assert_eq!(world.after(200).await.len(), 0);
        let _ = set(&world, &endpoint, json!({"isActive": true})).await;
        assert_eq!(world.deliver().await.len(), 0);
        let log = world.log().await;
        assert_eq!(log[0]["status"], "failed");
        assert!(log[0]["error"].as_str().unwrap().contains("time for it had passed"), "{}", log[0]);
        assert_eq!(world.show(&endpoint).await["consecutiveFailures"], 0);

        // What is sent again begins anew.
        let id = log[0]["id"].as_str().unwrap();
        let again = format!("/api/v1/webhooks/deliveries/{id}/redeliver");
        let _ = world.client().post(&again, json!({})).await.expect(202);
        assert_eq!(world.deliver().await.len(), 1);
    }

    async fn what_is_recovered_expires_from_then_on(backend) {
        let world = World::new(backend).await;
        let endpoint = world.endpoint(&["*"]).await;
        let off = json!({"expiresAfterSeconds": 100, "isActive": false});
        let _ = set(&world, &endpoint, off).await;
        world.publish("A-1").await;
        assert_eq!(world.deliver().await.len(), 0);
        assert_eq!(world.after(3_600).await.len(), 0);
        let _ = set(&world, &endpoint, json!({"isActive": true})).await;
        let since = json!({"since": "2026-01-01T00:00:00Z"});
        let _ = world.client().post(&path(&endpoint, "/recover"), since).await.expect(202);
        assert_eq!(world.deliver().await.len(), 1);
        assert_eq!(world.log().await[0]["status"], "delivered");
    }

    async fn times_out_of_their_bounds_are_refused_by_their_field(backend) {
        let world = World::new(backend).await;
        let endpoint = world.endpoint(&["*"]).await;
        for (change, field) in [
            (json!({"timeoutSeconds": 0}), "timeoutSeconds"),
            (json!({"timeoutSeconds": 11}), "timeoutSeconds"),
            (json!({"timeoutSeconds": "1"}), "timeoutSeconds"),
            (json!({"expiresAfterSeconds": 59}), "expiresAfterSeconds"),
            (json!({"expiresAfterSeconds": 2_592_001}), "expiresAfterSeconds"),
            (json!({"retryDelaysSeconds": [5, 0]}), "retryDelaysSeconds[1]"),
            (json!({"retryDelaysSeconds": [21_601]}), "retryDelaysSeconds[0]"),
            (json!({"retryDelaysSeconds": vec![5; 31]}), "retryDelaysSeconds"),
        ] {
            let problem = world.client().put(&path(&endpoint, ""), change.clone()).await.expect(422);
            assert!(problem["errors"].get(field).is_some(), "{change}: {problem}");
            let mut new = json!({"url": world.receiver.url(), "events": ["*"]});
            new.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
            let problem = world.client().post("/api/v1/webhooks", new).await.expect(422);
            assert!(problem["errors"].get(field).is_some(), "{change}: {problem}");
        }
        let shown = world.show(&endpoint).await;
        for name in ["timeoutSeconds", "expiresAfterSeconds", "retryDelaysSeconds"] {
            assert_eq!(shown[name], Json::Null, "a refusal changes nothing");
        }
    }
}
