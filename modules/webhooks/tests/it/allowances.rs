//! What bounds an organisation: endpoints, requests in a second, bytes in a day.

use std::cell::Cell;
use std::time::Duration;

use serde_json::{Value as Json, json};
use svc_testing::{TestAppBuilder, on_both_databases};

use crate::fixture::{World, path, types, until};

async fn limits(world: &World) -> Json {
    world.client().get("/api/v1/webhooks/limits").await.expect(200)
}

async fn set(world: &World, name: &str, value: u64) {
    let setting = format!("/api/v1/settings/Webhooks.{name}");
    let answer = world.client().put(&setting, json!({"value": value})).await;
    assert!(answer.status.is_success(), "{}", answer.text);
}

/// What was heard of limits: which, and how much of it.
fn told(world: &World) -> Vec<(String, i64)> {
    let heard = world.heard.take().into_iter().filter(|(name, _)| name == "WebhookLimitReached");
    heard
        .map(|(_, event)| {
            (event["limit"].as_str().unwrap().to_owned(), event["percent"].as_i64().unwrap())
        })
        .collect()
}

fn two_in_a_second(builder: TestAppBuilder) -> TestAppBuilder {
    builder.setting("Svc:Webhooks:MaxPerSecond", 2)
}

on_both_databases! {
    async fn an_organisation_s_requests_keep_its_pace_over_all_endpoints(backend) {
        let world = World::with(backend, two_in_a_second).await;
        for _ in 0..3 {
            world.endpoint(&["*"]).await;
        }
        world.publish_many(2).await;
        let mut received = world.deliver().await.len();
        assert_eq!(received, 1, "one at once, the others every half of a second");
        for _ in 0..5 {
            world.shop.advance(Duration::from_millis(499));
            assert_eq!(world.deliver().await.len(), 0);
            world.shop.advance(Duration::from_millis(1));
            let next = world.deliver().await.len();
            assert_eq!(next, 1);
            received += next;
        }
        assert_eq!(received, 6, "nothing is lost");
        assert_eq!(told(&world), [("perSecond".to_owned(), 100)], "something had to wait; once");
        let told = limits(&world).await;
        assert_eq!((&told["perSecond"]["most"], &told["perSecond"]["percent"]), (&json!(2), &json!(100)));
        assert!(told["perSecond"]["reachedAt"].is_string());
        world.shop.advance(Duration::from_mins(2));
        assert_eq!(limits(&world).await["perSecond"]["percent"], 0);
    }

    async fn endpoints_of_an_organisation_take_turns_at_its_pace(backend) {
        let world = World::with(backend, two_in_a_second).await;
        let busy = world.endpoint(&["stock.low"]).await;
        world.publish_many(50).await;
        assert_eq!(world.deliver().await.len(), 1);
        let quiet = world.endpoint(&["products.*"]).await;
        world.create("A-1").await;
        let mut received = Vec::new();
        for _ in 0..3 {
            world.shop.advance(Duration::from_millis(500));
            received.extend(types(&world.deliver().await));
        }
        assert!(received.contains(&"products.created".to_owned()), "{received:?}");
        assert_eq!(received.len(), 3);
        let of = |endpoint: &Json| path(endpoint, "/health");
        let waits = world.client().get(&of(&busy)).await.expect(200);
        assert_eq!(waits["backlog"], 47);
        assert_eq!(world.client().get(&of(&quiet)).await.expect(200)["backlog"], 0);
    }

    async fn what_is_new_goes_before_what_is_sent_again_at_an_organisation_s_pace(backend) {
        let world = World::new(backend).await;
        let first = world.endpoint(&["stock.low"]).await;
        world.publish_many(5).await;
        assert_eq!(world.deliver().await.len(), 5);
        set(&world, "MaxPerSecond", 1).await;
        let again = json!({"subscriptionId": first["id"], "status": "delivered"});
        let _ = world.client().post("/api/v1/webhooks/deliveries/redeliver", again).await.expect(202);
        assert_eq!(world.deliver().await.len(), 1);
        world.endpoint(&["products.*"]).await;
        world.create("A-1").await;
        world.create("A-2").await;
        world.deliver().await;
        for _ in 0..2 {
            assert_eq!(types(&world.after(1).await), ["products.created"]);
        }
        assert_eq!(types(&world.after(1).await), ["stock.low"]);
    }

    async fn an_organisation_s_pace_holds_over_all_nodes_and_with_an_endpoint_s_own(backend) {
        let world = World::with(backend, |builder| builder.setting("Svc:Webhooks:MaxPerSecond", 40)).await;
        let other = world.shop.another_node().await;
        let slow = world.endpoint(&["stock.low"]).await;
        let _ = world.client().put(&path(&slow, ""), json!({"maxPerSecond": 1})).await.expect(200);
        world.endpoint(&["stock.low"]).await;
        world.publish_many(20).await;
        let received = world.received_at_forty(&other).await;
        assert!((9..=10).contains(&received), "{received}");
        let waits = world.client().get(&path(&slow, "/health")).await.expect(200);
        assert_eq!(waits["backlog"], 19, "its own pace holds besides");
    }

    async fn a_running_dispatcher_keeps_an_organisation_s_pace_without_polling(backend) {
        let world = World::running(backend, &[], |builder| {
            builder.setting("Svc:Webhooks:MaxPerSecond", 1_000)
        })
        .await;
        for _ in 0..4 {
            world.endpoint(&["*"]).await;
        }
        world.publish_many(30).await;
        let (elapsed_ms, received) = (Cell::new(0), Cell::new(0));
        until(async || {
            world.shop.advance(Duration::from_millis(5));
            elapsed_ms.set(elapsed_ms.get() + 5);
            received.set(received.get() + world.receiver.received().len());
            // A twentieth of the limit may begin at once.
            assert!(received.get() <= 50 + elapsed_ms.get(), "{received:?} after {elapsed_ms:?}");
            if received.get() == 120 { Ok(()) } else { Err(format!("{received:?} arrived")) }
        })
        .await;
        world.shop.app().stop().await;
        assert_eq!(world.count("webhooks_deliveries WHERE status = 2").await, 120);
        assert_eq!(world.count("webhooks_hand_overs").await, 0);
    }

    async fn more_bytes_than_a_day_s_wait_until_some_are_a_day_old(backend) {
        let world = World::with(backend, |builder| builder.setting("Svc:Webhooks:MaxBytesPerDay", 24_000)).await;
        world.endpoint(&["*"]).await;
        world.endpoint(&["limit.reached"]).await;
        world.publish(&"x".repeat(20_000)).await;
        assert_eq!(world.deliver().await.len(), 2, "the other endpoint is told, too");
        assert_eq!(told(&world), [("bytesPerDay".to_owned(), 80)]);
        let told_now = limits(&world).await;
        let used = told_now["bytesPerDay"]["used"].as_i64().unwrap();
        assert!((20_000..21_500).contains(&used), "{told_now}");
        assert!(told_now["bytesPerDay"]["reachedAt"].is_null());
        world.publish(&"x".repeat(4_000)).await;
        assert_eq!(types(&world.deliver().await), ["stock.low"], "the last one may be too much");
        assert_eq!(told(&world), [("bytesPerDay".to_owned(), 100)]);
        world.publish("A-1").await;
        assert_eq!(world.deliver().await.len(), 0);
        assert_eq!(limits(&world).await["bytesPerDay"]["percent"].as_i64().unwrap() / 10, 10);
        assert_eq!(world.after(10 * 60).await.len(), 0);
        // A thousand come back in an hour.
        let received = world.after(2 * 3_600).await;
        assert_eq!(received.len(), 2, "{:?}", types(&received));
        assert!(told(&world).is_empty());
        world.publish("A-2").await;
        assert_eq!(world.deliver().await.len(), 1, "and it goes on");
    }

    async fn a_limit_that_is_lifted_holds_nothing_for_longer_than_a_minute(backend) {
        let world = World::new(backend).await;
        world.endpoint(&["*"]).await;
        set(&world, "MaxBytesPerDay", 1_000).await;
        world.publish(&"x".repeat(2_000)).await;
        assert_eq!(world.deliver().await.len(), 1);
        world.publish("A-1").await;
        assert_eq!(world.deliver().await.len(), 0);
        assert_eq!(world.after(3_600).await.len(), 0);
        set(&world, "MaxBytesPerDay", 0).await;
        assert_eq!(world.after(60).await.len(), 1);
    }

    async fn an_organisation_may_have_less_than_the_application_allows_and_no_more(backend) {
        let world = World::with(backend, |builder| builder.setting("Svc:Webhooks:MaxEndpoints", 5)).await;
        let new = json!({"url": world.receiver.url(), "events": ["*"]});
        for _ in 0..3 {
            world.endpoint(&["*"]).await;
        }
        set(&world, "MaxEndpoints", 3).await;
        let refused = world.client().post("/api/v1/webhooks", new.clone()).await.expect(409);
        assert_eq!(refused["parameters"]["most"], 3);
        set(&world, "MaxEndpoints", 1_000).await;
        world.endpoint(&["*"]).await;
        world.deliver().await;
        assert_eq!(told(&world), [("endpoints".to_owned(), 80)]);
        world.endpoint(&["*"]).await;
        let refused = world.client().post("/api/v1/webhooks", new).await.expect(409);
        assert_eq!(refused["parameters"]["most"], 5);
        world.deliver().await;
        assert_eq!(told(&world), [("endpoints".to_owned(), 100)]);
        let told = limits(&world).await;
        assert_eq!(told["endpoints"]["used"], 5);
        assert_eq!(told["perSecond"], json!({
            "most": null, "used": null, "percent": null, "nearAt": null, "reachedAt": null,
        }));
        set(&world, "MaxPerSecond", 7).await;
        assert_eq!(limits(&world).await["perSecond"]["most"], 7);
    }
}
