//! The table of states, row by row.

use serde_json::{Value as Json, json};
use svc_testing::{Asked, Receiver, Site, TestAppBuilder, on_both_databases};

use crate::fixture::{SECRET, World, is_accepted, one_attempt, one_attempt_and_stays_on, path};

fn member<'a>(log: &'a [Json], name: &str) -> Vec<&'a Json> {
    log.iter().map(|delivery| &delivery[name]).collect()
}

on_both_databases! {
    async fn six_attempts_walk_the_delays_of_the_specification(backend) {
        let world = World::new(backend).await;
        let endpoint = world.endpoint(&["*"]).await;
        world.receiver.answer_with([500; 6]);
        world.publish("A-1").await;
        let first = world.deliver().await;
        assert_eq!(first.len(), 1);
        for (made, delay) in [(1, 30), (2, 60), (3, 120), (4, 240), (5, 480)] {
            let log = world.log().await;
            assert_eq!(log[0]["status"], "retrying");
            assert_eq!(log[0]["attempts"], made);
            assert_eq!(log[0]["statusCode"], 500);
            assert!(log[0]["nextAttemptAt"].is_string());
            assert_eq!(world.after(delay - 1).await.len(), 0, "attempt {made} + 1 comes early");
            let again = world.after(1).await;
            assert_eq!(again.len(), 1, "attempt {made} + 1 is late");
            assert_eq!(again[0].body, first[0].body);
            assert_eq!(again[0].header("webhook-id"), first[0].header("webhook-id"));
            assert_ne!(again[0].header("webhook-timestamp"), first[0].header("webhook-timestamp"));
            assert!(is_accepted(&again[0], SECRET));
        }
        let log = world.log().await;
        assert_eq!(log[0]["status"], "failed");
        assert_eq!(log[0]["attempts"], 6);
        assert_eq!(log[0]["nextAttemptAt"], json!(null));
        assert_eq!(log[0]["error"], "the receiver answered `500`");
        assert_eq!(world.show(&endpoint).await["consecutiveFailures"], 1);
        assert_eq!(world.after(1_000_000).await.len(), 0, "failed for good means for good");
    }

    async fn a_success_on_the_way_ends_the_attempts_and_resets_the_counter(backend) {
        let world = World::new(backend).await;
        let endpoint = world.endpoint(&["*"]).await;
        world.receiver.answer_with([500, 503, 200]);
        world.publish("A-1").await;
        assert_eq!(world.deliver().await.len(), 1);
        assert_eq!(world.after(30).await.len(), 1);
        assert_eq!(world.after(60).await.len(), 1);
        let log = world.log().await;
        assert_eq!((&log[0]["status"], &log[0]["attempts"]), (&json!("delivered"), &json!(3)));
        assert_eq!(world.show(&endpoint).await["consecutiveFailures"], 0);
        assert_eq!(world.after(100_000).await.len(), 0);
    }

    async fn delays_stop_growing_at_the_longest_one(backend) {
        let world = World::with(backend, |builder| {
            builder
                .setting("Svc:Webhooks:MaxRetryDelay", "00:01:30")
                .setting("Svc:Webhooks:MaxAttempts", 5)
        })
        .await;
        world.endpoint(&["*"]).await;
        world.receiver.answer_with([500; 5]);
        world.publish("A-1").await;
        assert_eq!(world.deliver().await.len(), 1);
        for delay in [30, 60, 90, 90] {
            assert_eq!(world.after(delay - 1).await.len(), 0);
            assert_eq!(world.after(1).await.len(), 1);
        }
    }

    async fn every_answer_but_2xx_fails_and_no_redirect_is_followed(backend) {
        let world = World::new(backend).await;
        let redirect = |_: &Asked| {
            let answer = http::Response::builder().status(302).header("location", "/elsewhere");
            answer.body(String::new()).unwrap()
        };
        let (redirecting, inbox) = Site::http("127.0.0.1:0", redirect).await;
        drop(world);
        let receiver = Receiver::start().await;
        let world =
            World::beside(backend, receiver, &[redirecting.port(), 1], |builder| builder).await;
        world.endpoint_at(redirecting.port(), &["*"]).await;
        world.endpoint_at(1, &["*"]).await;
        world.endpoint(&["*"]).await;
        world.receiver.answer_with([404]);
        world.publish("A-1").await;
        world.shop.drain().await;
        assert_eq!(inbox.count(), 1, "the redirect was followed");
        let log = world.log().await;
        assert_eq!(member(&log, "status"), ["retrying"; 3]);
        let mut codes: Vec<Option<i64>> =
            log.iter().map(|delivery| delivery["statusCode"].as_i64()).collect();
        codes.sort_unstable();
        assert_eq!(codes, [None, Some(302), Some(404)]);
        let refused = log.iter().find(|delivery| delivery["statusCode"].is_null()).unwrap();
        assert!(refused["error"].as_str().unwrap().starts_with("no connection"), "{refused}");
    }

    async fn an_endpoint_that_fails_is_warned_of_and_switched_off(backend) {
        let world = World::with(backend, one_attempt).await;
        let endpoint = world.endpoint(&["*"]).await;
        world.receiver.answer_with([500; 5]);
        for failures in 1..=5 {
            world.publish("A-1").await;
            assert_eq!(world.deliver().await.len(), 1);
            let shown = world.show(&endpoint).await;
            assert_eq!(shown["consecutiveFailures"], failures);
            assert_eq!(shown["isActive"], failures < 5);
            let heard = world.heard.take();
            match failures {
                3 => {
                    assert_eq!(heard[0].0, "WebhookEndpointFailing");
                    assert_eq!(heard[0].1["endpointId"], endpoint["id"]);
                    assert_eq!(heard[0].1["ownerId"], world.ada.id().0.to_string());
                    assert_eq!(heard[0].1["lastError"], "the receiver answered `500`");
                }
                5 => {
                    assert_eq!(heard[0].0, "WebhookEndpointDisabled");
                    assert_eq!(heard[0].1["permission"], "Webhooks.Manage");
                    assert_eq!(heard[0].1["host"], "127.0.0.1");
                }
                _ => assert_eq!(heard, []),
            }
        }
        let off = world.show(&endpoint).await;
        assert!(off["disabledAt"].is_string());
        assert!(off["disabledReason"].as_str().unwrap().starts_with("5 deliveries in a row failed"));
        world.publish("A-2").await;
        assert_eq!(world.deliver().await.len(), 0, "nothing is queued while it is off");
        assert_eq!(world.log().await.len(), 5);
        let on = world.client().put(&path(&endpoint, ""), json!({"isActive": true})).await;
        let on = on.expect(200);
        assert_eq!((&on["consecutiveFailures"], &on["disabledAt"]), (&json!(0), &json!(null)));
        assert_eq!(on["disabledReason"], json!(null));
        world.publish("A-3").await;
        assert_eq!(world.deliver().await.len(), 1);
    }

    async fn the_other_endpoints_are_told_of_one_that_fails(backend) {
        let failing = Receiver::start().await;
        let settings = |builder: TestAppBuilder| {
            builder
                .setting("Svc:Webhooks:MaxAttempts", 1)
                .setting("Svc:Webhooks:DisableAfterFailures", 2)
        };
        let receiver = Receiver::start().await;
        let world = World::beside(backend, receiver, &[failing.port()], settings).await;
        world.endpoint(&["endpoint.*"]).await;
        world.endpoint(&["*"]).await;
        let fails = world.endpoint_at(failing.port(), &["stock.low", "endpoint.*"]).await;
        failing.answer_with([500, 500]);
        for sku in ["A-1", "A-2"] {
            world.publish(sku).await;
        }
        let told: Vec<Json> = world
            .deliver()
            .await
            .iter()
            .map(svc_testing::Received::json)
            .filter(|one| one["type"] != "stock.low")
            .collect();
        let mut types: Vec<&str> = told.iter().map(|one| one["type"].as_str().unwrap()).collect();
        types.sort_unstable();
        assert_eq!(types, ["endpoint.disabled", "endpoint.failing"], "who lists everything isn't");
        for one in &told {
            assert_eq!(one["data"]["endpointId"], fails["id"]);
        }
        assert_eq!(failing.received().len(), 2, "nor is the one that fails");
    }

    async fn a_success_between_failures_keeps_an_endpoint_on(backend) {
        let world = World::with(backend, one_attempt).await;
        let endpoint = world.endpoint(&["*"]).await;
        world.receiver.answer_with([500, 500, 500, 500, 204, 500]);
        for _ in 0..6 {
            world.publish("A-1").await;
            world.deliver().await;
        }
        let shown = world.show(&endpoint).await;
        assert_eq!((&shown["consecutiveFailures"], &shown["isActive"]), (&json!(1), &json!(true)));
    }

    async fn deliveries_that_wait_are_held_while_the_endpoint_is_off(backend) {
        let world = World::new(backend).await;
        let endpoint = world.endpoint(&["*"]).await;
        world.receiver.answer_with([500]);
        world.publish("A-1").await;
        assert_eq!(world.deliver().await.len(), 1);
        let switch = async |on: bool| {
            world.client().put(&path(&endpoint, ""), json!({"isActive": on})).await.expect(200)
        };
        let _ = switch(false).await;
        assert_eq!(world.after(3_600).await.len(), 0);
        let held = world.log().await;
        assert_eq!(held[0]["status"], "retrying");
        assert_eq!(held[0]["nextAttemptAt"], json!(null), "a held delivery has no next time");
        let _ = switch(true).await;
        assert_eq!(world.deliver().await.len(), 1);
        assert_eq!(world.log().await[0]["status"], "delivered");
    }

    async fn redelivery_sends_the_same_bytes_as_a_new_delivery(backend) {
        let world = World::with(backend, one_attempt).await;
        world.endpoint(&["*"]).await;
        world.receiver.answer_with([500]);
        world.create("A-1").await;
        let first = world.deliver().await;
        let original = world.log().await.remove(0);
        let path = format!(
            "/api/v1/webhooks/deliveries/{}/redeliver",
            original["id"].as_str().unwrap()
        );
        world.shop.advance(std::time::Duration::from_hours(2));
        let new = world.client().post(&path, json!(null)).await.expect(202);
        assert_eq!(new["redeliveryOf"], original["id"]);
        assert_eq!((&new["status"], &new["attempts"]), (&json!("queued"), &json!(0)));
        let again = world.deliver().await;
        assert_eq!(again.len(), 1);
        assert_eq!(again[0].body, first[0].body);
        assert_eq!(again[0].header("webhook-id"), first[0].header("webhook-id"));
        assert!(is_accepted(&again[0], SECRET));
        let log = world.log().await;
        assert_eq!(member(&log, "status"), ["delivered", "failed"]);
        assert_eq!(log[0]["eventId"], original["eventId"]);
        // A delivery that succeeded can be sent again as well.
        let path = format!("/api/v1/webhooks/deliveries/{}/redeliver", log[0]["id"].as_str().unwrap());
        let _ = world.client().post(&path, json!(null)).await.expect(202);
        assert_eq!(world.deliver().await[0].body, first[0].body);
    }

    async fn a_receiver_may_ask_for_more_time_but_not_for_less(backend) {
        let asking = |asked: &Asked| {
            let after = asked.head.uri.query().unwrap_or_default().to_owned();
            let answer = http::Response::builder().status(503).header("retry-after", after);
            answer.body(String::new()).unwrap()
        };
        let (asked, inbox) = Site::http("127.0.0.1:0", asking).await;
        let receiver = Receiver::start().await;
        let world = World::beside(backend, receiver, &[asked.port()], |builder| builder).await;
        for seconds in ["5", "100", "999999"] {
            let url = format!("http://127.0.0.1:{}/hook?{seconds}", asked.port());
            let body = json!({"url": url, "events": ["*"]});
            let _ = world.client().post("/api/v1/webhooks", body).await.expect(201);
        }
        world.publish("A-1").await;
        world.shop.drain().await;
        assert_eq!(inbox.count(), 3);
        world.after(29).await;
        assert_eq!(inbox.count(), 3);
        world.after(1).await;
        assert_eq!(inbox.count(), 4, "`5` does not shorten 30 seconds");
        world.after(69).await;
        let asked_for_100 = inbox.all().iter().filter(|one| one.head.uri.query() == Some("100")).count();
        assert_eq!(asked_for_100, 1);
        world.after(1).await;
        let asked_for_100 = inbox.all().iter().filter(|one| one.head.uri.query() == Some("100")).count();
        assert_eq!(asked_for_100, 2);
        world.after(6 * 3_600 - 101).await;
        let of_much = || inbox.all().iter().filter(|one| one.head.uri.query() == Some("999999")).count();
        assert_eq!(of_much(), 1);
        world.after(1).await;
        assert_eq!(of_much(), 2, "`MaxRetryDelay` bounds what a receiver asks for");
    }

    async fn gone_is_any_failure_unless_it_is_set_otherwise(backend) {
        for (is_set, status) in [(false, "retrying"), (true, "failed")] {
            let world = World::with(backend, |builder| {
                builder.setting("Svc:Webhooks:DisableOnGone", is_set)
            })
            .await;
            let endpoint = world.endpoint(&["*"]).await;
            world.receiver.answer_with([410]);
            world.publish("A-1").await;
            world.deliver().await;
            assert_eq!(world.log().await[0]["status"], status);
            assert_eq!(world.show(&endpoint).await["isActive"], !is_set);
            assert_eq!(world.heard.take().len(), usize::from(is_set));
        }
    }

    async fn zero_never_switches_an_endpoint_off_and_warns_of_nothing(backend) {
        let world = World::with(backend, one_attempt_and_stays_on)
        .await;
        let endpoint = world.endpoint(&["*"]).await;
        world.receiver.answer_with([500; 12]);
        for _ in 0..12 {
            world.publish("A-1").await;
            assert_eq!(world.deliver().await.len(), 1);
        }
        let shown = world.show(&endpoint).await;
        assert_eq!((&shown["isActive"], &shown["consecutiveFailures"]), (&json!(true), &json!(12)));
        assert_eq!(world.heard.take(), []);
    }

    async fn one_failure_switches_off_where_one_is_enough_and_says_so_once(backend) {
        let world = World::with(backend, |builder| {
            one_attempt(builder).setting("Svc:Webhooks:DisableAfterFailures", 1)
        })
        .await;
        let endpoint = world.endpoint(&["*"]).await;
        // Several that fail together are one switch.
        world.receiver.answer_with([500; 4]);
        world.publish_many(4).await;
        world.deliver().await;
        let heard = world.heard.take();
        let names: Vec<&str> = heard.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["WebhookEndpointDisabled"]);
        let off = world.show(&endpoint).await;
        assert_eq!(off["isActive"], false);
        // What is off is tested, and told of no more however the test ends.
        world.shop.advance(std::time::Duration::from_hours(1));
        world.receiver.answer_with([500]);
        let _ = world.client().post(&path(&endpoint, "/test"), json!(null)).await.expect(202);
        assert_eq!(world.deliver().await.len(), 1);
        assert_eq!(world.heard.take(), []);
        let tested = world.show(&endpoint).await;
        for name in ["isActive", "disabledAt", "disabledReason"] {
            assert_eq!(tested[name], off[name], "{name}");
        }
        // A test that arrives doesn't switch it on.
        let _ = world.client().post(&path(&endpoint, "/test"), json!(null)).await.expect(202);
        assert_eq!(world.deliver().await.len(), 1);
        assert_eq!(world.show(&endpoint).await["isActive"], false);
        world.publish("A-1").await;
        assert_eq!(world.deliver().await.len(), 0);
    }

    async fn any_delivery_is_redelivered_whatever_became_of_it(backend) {
        let world = World::new(backend).await;
        let endpoint = world.endpoint(&["*"]).await;
        let redeliver = async |id: &Json| {
            let path = format!("/api/v1/webhooks/deliveries/{}/redeliver", id.as_str().unwrap());
            world.client().post(&path, json!(null)).await
        };
        // One that waits for its next attempt goes on with it, beside its copy.
        world.receiver.answer_with([500]);
        world.publish("A-1").await;
        let first = world.deliver().await.remove(0);
        let waiting = world.log().await.remove(0);
        assert_eq!(waiting["status"], "retrying");
        let _ = redeliver(&waiting["id"]).await.expect(202);
        assert_eq!(world.deliver().await[0].body, first.body);
        assert_eq!(world.after(30).await[0].body, first.body);
        assert_eq!(member(&world.log().await, "status"), ["delivered", "delivered"]);
        // A copy of a copy names what it was made of.
        let copy = world.log().await.remove(0);
        let again = redeliver(&copy["id"]).await.expect(202);
        assert_eq!((&again["redeliveryOf"], &again["eventId"]), (&copy["id"], &waiting["eventId"]));
        assert_eq!(world.deliver().await[0].body, first.body);
        // Of one that is off it waits until that is on, and is sent once then.
        let switch = async |on: bool| {
            world.client().put(&path(&endpoint, ""), json!({"isActive": on})).await.expect(200)
        };
        let _ = switch(false).await;
        let held = redeliver(&waiting["id"]).await.expect(202);
        assert_eq!((&held["status"], &held["nextAttemptAt"]), (&json!("queued"), &json!(null)));
        world.publish("missed").await;
        assert_eq!(world.after(3_600).await.len(), 0);
        let _ = switch(true).await;
        assert_eq!(world.deliver().await.len(), 1);
        assert_eq!(world.after(3_600).await.len(), 0);
        // What was missed meanwhile is no delivery, and a recovery makes it one.
        let database = world.shop.app().service::<svc_database::Database>().unwrap();
        let missed = database.statement("SELECT id FROM webhooks_deliveries WHERE status = 4", []);
        let missed: uuid::Uuid = database.rows(missed).await.unwrap()[0].try_get_by_index(0).unwrap();
        let _ = redeliver(&json!(missed)).await.expect(404);
        let _ = redeliver(&json!(uuid::Uuid::from_u128(1))).await.expect(404);
        let _ = redeliver(&json!("nothing")).await.expect(404);
        // With its endpoint everything of it goes.
        let _ = world.client().delete(&path(&endpoint, "")).await.expect(204);
        let _ = redeliver(&waiting["id"]).await.expect(404);
        assert_eq!(world.deliver().await.len(), 0);
    }

    async fn what_changes_nothing_is_no_event(backend) {
        let world = World::new(backend).await;
        world.endpoint(&["*"]).await;
        let id = world.create("A-1").await;
        assert_eq!(world.deliver().await.len(), 1);
        world.change(id, |_| {}).await;
        world.change(id, |product| product.sku = sea_orm::Set("A-1".to_owned())).await;
        assert_eq!(world.deliver().await.len(), 0);
        world.change(id, |product| product.sku = sea_orm::Set("A-2".to_owned())).await;
        let received = world.deliver().await;
        assert_eq!((received.len(), &received[0].json()["data"]["sku"]), (1, &json!("A-2")));
    }
}
