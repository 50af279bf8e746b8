//! What bounds sending: a pace per endpoint, the size of a body, the places of this node.

use std::time::Duration;

use serde_json::{Value as Json, json};
use svc_testing::{Receiver, TestAppBuilder, on_both_databases};

use crate::fixture::{World, path};
use crate::hanging::Hanging;

async fn paced(world: &World, max_per_second: u32) -> Json {
    let endpoint = world.endpoint(&["*"]).await;
    let change = json!({"maxPerSecond": max_per_second});
    world.client().put(&path(&endpoint, ""), change).await.expect(200)
}

on_both_databases! {
    async fn an_endpoint_gets_no_more_in_a_second_than_it_wants(backend) {
        let world = World::new(backend).await;
        let endpoint = paced(&world, 2).await;
        assert_eq!(endpoint["maxPerSecond"], 2);
        let free = world.endpoint(&["products.*"]).await;
        assert_eq!(free["maxPerSecond"], json!(null));
        world.publish_many(5).await;
        world.create("A-1").await;
        // One at once, the others every half of a second; the endpoint without a limit at once.
        assert_eq!(world.deliver().await.len(), 2);
        let (almost_half, rest) = (Duration::from_millis(499), Duration::from_millis(1));
        for _ in 0..4 {
            world.shop.advance(almost_half);
            assert_eq!(world.deliver().await.len(), 0);
            world.shop.advance(rest);
            assert_eq!(world.deliver().await.len(), 1);
        }
        let lift = json!({"maxPerSecond": null});
        let lifted = world.client().put(&path(&endpoint, ""), lift).await.expect(200);
        assert_eq!(lifted["maxPerSecond"], json!(null));
        assert_eq!(world.deliver().await.len(), 1, "what is left has no limit any more");
    }

    async fn a_pace_holds_over_all_nodes(backend) {
        let world = World::new(backend).await;
        let other = world.shop.another_node().await;
        paced(&world, 40).await;
        world.publish_many(20).await;
        let received = world.received_at_forty(&other).await;
        assert_eq!(received, 10);
    }

    async fn a_pace_holds_for_test_events_and_retries_too(backend) {
        let world = World::new(backend).await;
        let endpoint = paced(&world, 1).await;
        world.receiver.answer_with([500]);
        world.publish_many(2).await;
        assert_eq!(world.deliver().await.len(), 1);
        let _ = world.client().post(&path(&endpoint, "/test"), json!(null)).await.expect(202);
        assert_eq!(world.deliver().await.len(), 0);
        assert_eq!(world.after(1).await[0].json()["type"], "webhook.test");
        assert_eq!(world.after(28).await.len(), 1, "the second event");
        assert_eq!(world.after(1).await.len(), 1, "the first one again");
        assert_eq!(world.after(60).await.len(), 0);
    }

    async fn a_running_dispatcher_keeps_the_pace_without_polling(backend) {
        // As many places as its pace lets begin together, at least.
        let places = |builder: TestAppBuilder| builder.setting("Svc:Webhooks:ConcurrencyPerEndpoint", 64);
        let world = World::running(backend, &[], places).await;
        paced(&world, 1_000).await;
        // What is known to answer well gets as many at once as its pace lets begin.
        world.publish("first").await;
        world.arrive(1).await;
        world.until_count("webhooks_deliveries WHERE status = 2", 1).await;
        world.shop.advance(Duration::from_secs(1));
        world.publish_many(120).await;
        // The clock stands still: a twentieth of the limit begins at once, and nothing more.
        world.arrive(50).await;
        world.shop.advance(Duration::from_millis(60));
        world.arrive(50).await;
        world.shop.advance(Duration::from_secs(1));
        world.arrive(20).await;
        world.shop.app().stop().await;
        assert_eq!(world.count("webhooks_deliveries WHERE status = 2").await, 121);
    }

    async fn what_its_places_keep_back_follows_as_soon_as_one_is_free(backend) {
        let hanging = Hanging::start().await;
        let receiver = Receiver::start().await;
        let places = |builder: TestAppBuilder| {
            let builder = builder.setting("Svc:Webhooks:ConcurrencyPerEndpoint", 2);
            builder.setting("Svc:Webhooks:PollInterval", "00:10:00")
        };
        let world = World::beside(backend, receiver, &[hanging.port()], places).await;
        let endpoint = world.endpoint_at(hanging.port(), &["products.*"]).await;
        let _ = world.client().put(&path(&endpoint, ""), json!({"maxPerSecond": 1_000})).await.expect(200);
        world.endpoint(&["stock.low"]).await;
        world.publish_many(1).await;
        assert_eq!(world.deliver().await.len(), 1);
        world.fill(&endpoint, 0, 5).await;
        world.shop.app().start_workers();
        // Nothing is known of it, so it gets no more than it has places; its pace would let all begin.
        world.shop.advance(Duration::from_secs(3_601));
        hanging.reached(2).await;
        hanging.let_go.add_permits(100);
        world.until_count("webhooks_deliveries WHERE status = 2", 6).await;
        world.shop.app().stop().await;
    }

    async fn what_waited_for_a_place_keeps_the_pace_too(backend) {
        let hanging = Hanging::start().await;
        let receiver = Receiver::start().await;
        let world = World::beside(backend, receiver, &[hanging.port()], |builder| {
            builder.setting("Svc:Webhooks:Concurrency", 1)
        })
        .await;
        world.endpoint_at(hanging.port(), &["products.*"]).await;
        let slow = world.endpoint(&["stock.low"]).await;
        let pace = json!({"maxPerSecond": 2});
        let _ = world.client().put(&path(&slow, ""), pace).await.expect(200);
        world.shop.app().start_workers();
        world.create("A-1").await;
        hanging.reached(1).await;
        // The only place is taken, while its pace lets one begin every half second.
        world.publish_many(4).await;
        world.until_count("webhooks_deliveries WHERE status < 2", 5).await;
        for _ in 0..6 {
            world.shop.advance(Duration::from_millis(500));
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        hanging.let_go.add_permits(100);
        world.until_count("webhooks_deliveries WHERE status = 2", 2).await;
        assert_eq!(world.receiver.received().len(), 1, "those that waited don't begin together");
        for _ in 0..3 {
            world.shop.advance(Duration::from_millis(500));
            world.arrive(1).await;
        }
        world.shop.app().stop().await;
    }

    async fn an_organisation_has_so_many_endpoints_at_most(backend) {
        let world = World::with(backend, |builder| builder.setting("Svc:Webhooks:MaxEndpoints", 2)).await;
        let first = world.endpoint(&["*"]).await;
        world.endpoint(&["*"]).await;
        let new = json!({"url": world.receiver.url(), "events": ["*"]});
        let refused = world.client().post("/api/v1/webhooks", new.clone()).await.expect(409);
        assert_eq!((&refused["code"], &refused["parameters"]["most"]), (&json!("webhooks.too_many_endpoints"), &json!(2)));
        assert_eq!(world.count("webhooks_endpoints").await, 2);
        let _ = world.client().delete(&path(&first, "")).await.expect(204);
        let _ = world.client().post("/api/v1/webhooks", new).await.expect(201);
    }

    async fn a_limit_that_makes_no_sense_is_refused(backend) {
        let world = World::new(backend).await;
        let endpoint = world.endpoint(&["*"]).await;
        for wrong in [0, -1, 10_001] {
            let change = json!({"maxPerSecond": wrong});
            let refused = world.client().put(&path(&endpoint, ""), change).await.expect(422);
            assert!(refused["errors"]["maxPerSecond"][0].as_str().unwrap().contains("1 to 10000"));
            let new = json!({"url": world.receiver.url(), "events": ["*"], "maxPerSecond": wrong});
            let refused = world.client().post("/api/v1/webhooks", new).await.expect(422);
            assert!(refused["errors"]["maxPerSecond"].is_array());
        }
        let _ = world.client().delete(&path(&endpoint, "")).await.expect(204);
        assert_eq!(world.count("webhooks_paces").await, 0);
    }

    async fn a_body_that_is_too_large_is_not_sent_and_says_so(backend) {
        let world = World::with(backend, |builder| {
            builder
                .setting("Svc:Webhooks:MaxPayloadBytes", 2_000)
                .setting("Svc:Webhooks:DisableAfterFailures", 1)
        })
        .await;
        let endpoint = world.endpoint(&["*"]).await;
        world.publish(&"x".repeat(3_000)).await;
        world.publish("small").await;
        assert_eq!(world.deliver().await.len(), 1);
        let log = world.log().await;
        let large = log.iter().find(|delivery| delivery["status"] == "failed").unwrap();
        let error = large["error"].as_str().unwrap();
        assert!(error.contains("more than the `2000` of `Svc:Webhooks:MaxPayloadBytes`"), "{error}");
        assert_eq!((&large["attempts"], &large["statusCode"]), (&json!(1), &json!(null)));
        // Nothing is wrong with the endpoint, and no attempt would go better.
        let shown = world.show(&endpoint).await;
        assert_eq!((&shown["isActive"], &shown["consecutiveFailures"]), (&json!(true), &json!(0)));
        assert_eq!(world.after(100_000).await.len(), 0);
        let again = format!("/api/v1/webhooks/deliveries/{}/redeliver", large["id"].as_str().unwrap());
        let _ = world.client().post(&again, json!(null)).await.expect(202);
        assert_eq!(world.deliver().await.len(), 0, "the limit counts for redeliveries too");
        assert_eq!(world.log().await[0]["status"], "failed");
    }

    async fn new_deliveries_go_straight_to_the_dispatcher_and_lose_nothing(backend) {
        let world = World::running(backend, &[], |builder| builder).await;
        for _ in 0..3 {
            world.endpoint(&["*"]).await;
        }
        // The first go one by one, the others make a backlog that is looked for.
        for number in 0..5 {
            world.create(&format!("A-{number}")).await;
            world.arrive(3).await;
        }
        world.publish_many(500).await;
        world.arrive(1_500).await;
        world.create("B-1").await;
        world.arrive(3).await;
        world.shop.app().stop().await;
        let done = "webhooks_deliveries WHERE status = 2 AND claim IS NULL";
        assert_eq!(world.count(done).await, 3 * 506);
        assert_eq!(world.count("webhooks_hand_overs").await, 0);
        assert_eq!(world.receiver.received().len(), 0, "each was sent once");
    }

    async fn a_deep_queue_of_one_entity_holds_up_nobody(backend) {
        let world = World::new(backend).await;
        let endpoint = world.endpoint(&["products.*"]).await;
        let set = json!({"isOrdered": true});
        let _ = world.client().put(&path(&endpoint, ""), set).await.expect(200);
        let hot = world.create("hot").await;
        world.receiver.answer_with([500]);
        assert_eq!(world.deliver().await.len(), 1);
        for number in 0..30_u32 {
            world.change(hot, |product| product.sku = sea_orm::Set(format!("hot-{number}"))).await;
        }
        for number in 0..600 {
            world.create(&format!("cold-{number}")).await;
        }
        let received = world.deliver().await;
        assert_eq!(received.len(), 600, "more entities than one look steps along");
        assert_eq!(world.deliver().await.len(), 0);
        let received = world.after(30).await;
        let versions: Vec<String> = received
            .iter()
            .map(|one| one.json()["data"]["sku"].as_str().unwrap().to_owned())
            .collect();
        let expected: Vec<String> =
            std::iter::once("hot".to_owned()).chain((0..30).map(|n| format!("hot-{n}"))).collect();
        assert_eq!(versions, expected);
    }

    async fn what_failed_in_order_is_recovered_as_well(backend) {
        let world = World::with(backend, |builder| {
            builder.setting("Svc:Webhooks:MaxAttempts", 1)
        })
        .await;
        let endpoint = world.endpoint(&["products.*"]).await;
        let set = json!({"isOrdered": true});
        let _ = world.client().put(&path(&endpoint, ""), set).await.expect(200);
        world.receiver.answer_with([500]);
        world.create("A-1").await;
        assert_eq!(world.deliver().await.len(), 1);
        let since = json!({"since": "2026-11-20T00:00:00Z"});
        let _ = world.client().post(&path(&endpoint, "/recover"), since).await.expect(202);
        assert_eq!(world.deliver().await.len(), 1);
    }

    async fn what_waits_in_memory_is_held_when_the_endpoint_is_switched_off(backend) {
        let receiver = Receiver::start().await;
        let world = World::beside(backend, receiver, &[], |builder| {
            builder
                .setting("Svc:Webhooks:MaxAttempts", 1)
                .setting("Svc:Webhooks:DisableAfterFailures", 2)
                .setting("Svc:Webhooks:ConcurrencyPerEndpoint", 1)
        })
        .await;
        let endpoint = world.endpoint(&["*"]).await;
        // Well, so that some are taken on ahead; then it fails.
        world.publish("first").await;
        assert_eq!(world.deliver().await.len(), 1);
        world.receiver.answer_with([500; 2]);
        world.publish_many(9).await;
        assert_eq!(world.deliver().await.len(), 2);
        assert_eq!(world.show(&endpoint).await["isActive"], false);
        let held = "webhooks_deliveries WHERE status = 0 AND claim IS NULL";
        assert_eq!(world.count(held).await, 7);
        let _ = world.client().put(&path(&endpoint, ""), json!({"isActive": true})).await.expect(200);
        assert_eq!(world.deliver().await.len(), 7);
    }
}
