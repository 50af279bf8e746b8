//! Cancelling what waits.

use std::time::Duration;

use serde_json::{Value as Json, json};
use svc_testing::{Receiver, on_both_databases};

use crate::fixture::{World, path, until};
use crate::hanging::Hanging;

async fn cancel(world: &World, delivery: &Json, expected: u16) -> Json {
    let id = delivery["id"].as_str().unwrap();
    let path = format!("/api/v1/webhooks/deliveries/{id}/cancel");
    world.client().post(&path, json!({})).await.expect(expected)
}

async fn cancel_all(world: &World, endpoint: &Json) {
    let started = world.client().post(&path(endpoint, "/cancel"), json!({})).await.expect(202);
    assert!(started["jobId"].is_string(), "{started}");
}

fn statuses(log: &[Json]) -> Vec<&str> {
    log.iter().map(|one| one["status"].as_str().unwrap()).collect()
}

on_both_databases! {
    async fn a_delivery_that_waits_is_cancelled_and_can_be_redelivered(backend) {
        let world = World::new(backend).await;
        let endpoint = world.endpoint(&["*"]).await;
        world.receiver.answer_with([500]);
        world.publish("A-1").await;
        assert_eq!(world.deliver().await.len(), 1);
        let cancelled = cancel(&world, &world.log().await[0], 200).await;
        assert_eq!((&cancelled["status"], &cancelled["statusCode"]), (&json!("cancelled"), &json!(500)));
        assert_eq!(cancelled["error"], "cancelled by Ada");
        assert_eq!(cancelled["nextAttemptAt"], Json::Null);
        assert_eq!(world.after(3_600).await.len(), 0);
        let listed = world.client().get("/api/v1/webhooks/deliveries?status=cancelled").await.expect(200);
        assert_eq!(listed["items"].as_array().unwrap().len(), 1);
        let health = world.client().get(&path(&endpoint, "/health")).await.expect(200);
        assert_eq!((&health["backlog"], &health["waiting"], &health["failed"]), (&json!(0), &json!(0), &json!(0)));
        let refused = cancel(&world, &cancelled, 409).await;
        assert_eq!(refused["code"], "webhooks.not_waiting");
        let id = cancelled["id"].as_str().unwrap();
        let again = format!("/api/v1/webhooks/deliveries/{id}/redeliver");
        let _ = world.client().post(&again, json!({})).await.expect(202);
        assert_eq!(world.deliver().await.len(), 1);
        assert_eq!(statuses(&world.log().await), ["delivered", "cancelled"]);
        let refused = cancel(&world, &world.log().await[0], 409).await;
        assert_eq!(refused["code"], "webhooks.not_waiting");
        let unknown = json!({"id": uuid::Uuid::nil()});
        let _ = cancel(&world, &unknown, 404).await;
    }

    async fn one_that_is_being_sent_is_cancelled_when_that_attempt_has_ended(backend) {
        let hanging = Hanging::start().await;
        let world = World::beside(backend, Receiver::start().await, &[hanging.port()], |it| it).await;
        world.endpoint_at(hanging.port(), &["*"]).await;
        world.publish("A-1").await;
        // The process dies while the request is in flight, so its claim stays until it ends by itself.
        tokio::select! {
            _ = world.shop.drain() => panic!("the receiver hangs"),
            () = hanging.reached(1) => {}
        }
        let delivery = &world.log().await[0];
        let refused = cancel(&world, delivery, 409).await;
        assert_eq!(refused["code"], "webhooks.being_sent");
        assert_eq!(statuses(&world.log().await), ["queued"], "a refusal changes nothing");
        world.shop.advance(Duration::from_secs(20));
        let cancelled = cancel(&world, delivery, 200).await;
        assert_eq!(cancelled["status"], "cancelled");
        world.shop.drain().await;
        assert_eq!(hanging.receiver.connections(), 1);
    }

    async fn all_that_waits_for_an_endpoint_is_cancelled_in_steps_and_nothing_else(backend) {
        let world = World::new(backend).await;
        let endpoint = world.endpoint(&["*"]).await;
        let other = world.endpoint(&["products.*"]).await;
        world.publish("A-1").await;
        assert_eq!(world.deliver().await.len(), 1);
        world.fill(&endpoint, 0, 1_200).await;
        world.fill(&endpoint, 1, 700).await;
        world.fill(&endpoint, 3, 10).await;
        world.fill(&other, 0, 10).await;
        let before = world.show(&endpoint).await;
        cancel_all(&world, &endpoint).await;
        let all = async |status: i16| world.count(&format!("webhooks_deliveries WHERE status = {status}")).await;
        assert_eq!(all(5).await, 0, "the answer waits for none of them");
        world.publish("A-2").await;
        assert_eq!(world.deliver().await.len(), 1, "what comes later is sent");
        assert_eq!((all(5).await, all(0).await, all(1).await, all(3).await), (1_900, 10, 0, 10));
        let shown = world.show(&endpoint).await;
        for name in ["owner", "isActive", "consecutiveFailures", "events"] {
            assert_eq!(shown[name], before[name], "{name}");
        }
        // What came back into the queue meanwhile is found by a second walk, once claims have ended.
        world.fill(&endpoint, 1, 720).await;
        world.shop.advance(Duration::from_secs(21));
        world.shop.drain().await;
        assert_eq!((all(5).await, all(1).await, all(0).await), (2_620, 0, 10));
        let deleted = world.client().delete(&path(&endpoint, "")).await;
        assert_eq!(deleted.status, 204);
        world.shop.drain().await;
        assert_eq!(all(5).await, 0, "they go with their endpoint");
    }

    async fn nothing_that_waits_in_memory_is_sent_after_all_was_cancelled(backend) {
        let hanging = Hanging::start().await;
        let world = World::running(backend, &[hanging.port()], |builder| {
            builder
                .setting("Svc:Webhooks:Concurrency", 2)
                .setting("Svc:Webhooks:PollInterval", "00:10:00")
        })
        .await;
        let endpoint = world.endpoint_at(hanging.port(), &["*"]).await;
        hanging.let_go.add_permits(1);
        world.publish("first").await;
        world.until_count("webhooks_deliveries WHERE status = 2", 1).await;
        // Two are in flight, and ten wait in memory: they have no rows that a job could find.
        world.publish_many(12).await;
        hanging.reached(2).await;
        cancel_all(&world, &endpoint).await;
        hanging.let_go.add_permits(100);
        world.until_count("webhooks_hand_overs", 0).await;
        world.until_count("webhooks_deliveries WHERE status < 2", 0).await;
        world.publish("next").await;
        until(async || {
            let log = world.log().await;
            if statuses(&log)[0] == "delivered" { Ok(()) } else { Err(format!("{log:?}")) }
        })
        .await;
        let cancelled = world.count("webhooks_deliveries WHERE status = 5").await;
        assert!((10..=12).contains(&cancelled), "{cancelled}");
        assert_eq!(hanging.answered(), 4, "the first, two that were in flight, and what came later");
        world.shop.app().stop().await;
    }

    async fn what_comes_back_after_all_was_cancelled_is_not_sent(backend) {
        let world = World::new(backend).await;
        let endpoint = world.endpoint(&["*"]).await;
        let events = json!({"isPolled": true, "events": ["*"]});
        let polled = world.client().post("/api/v1/webhooks", events).await.expect(201);
        world.receiver.answer_with([500]);
        world.publish("A-1").await;
        assert_eq!(world.deliver().await.len(), 1);
        for endpoint in [&endpoint, &polled] {
            cancel_all(&world, endpoint).await;
        }
        // No job has come by yet.
        let key = uuid::Uuid::from_u128(7);
        let receiver = world.shop.sign_in_by_key(&world.ada, key, &["Webhooks.Receive"]);
        let feed = receiver.get(&path(&polled, "/feed")).await.expect(200);
        assert_eq!(feed["items"], json!([]));
        world.shop.drain().await;
        // What the job found being recorded, or claimed by a process that died, comes back like this.
        let database = world.shop.app().service::<svc_database::Database>().unwrap();
        for sql in [
            "UPDATE webhooks_deliveries SET status = 1, error = 'timeout', finished_at_us = NULL",
            "UPDATE webhooks_queues SET look_us = 0, touches = touches + 1",
        ] {
            database.execute(database.statement(sql, [])).await.unwrap();
        }
        assert_eq!(world.after(60).await.len(), 0);
        assert_eq!(statuses(&world.log().await), ["cancelled", "cancelled"]);
        let log = world.log().await;
        let sent = log.iter().find(|one| one["subscriptionId"] == endpoint["id"]).unwrap();
        assert_eq!((&sent["error"], &sent["attempts"]), (&json!("cancelled by Ada"), &json!(1)));
        world.publish("A-2").await;
        assert_eq!(world.deliver().await.len(), 1);
    }

    async fn what_is_recovered_after_all_was_cancelled_is_sent(backend) {
        let world = World::new(backend).await;
        let endpoint = world.endpoint(&["*"]).await;
        let switch = async |is_active: bool| {
            let _ = world.client().put(&path(&endpoint, ""), json!({"isActive": is_active})).await.expect(200);
        };
        let since = world.shop.clock().now() - Duration::from_secs(1);
        switch(false).await;
        world.publish("A-1").await;
        assert_eq!(world.deliver().await.len(), 0);
        switch(true).await;
        cancel_all(&world, &endpoint).await;
        world.shop.advance(Duration::from_secs(1));
        let since = since.format(&time::format_description::well_known::Rfc3339).unwrap();
        let recover = path(&endpoint, "/recover");
        let _ = world.client().post(&recover, json!({"since": since})).await.expect(202);
        assert_eq!(world.deliver().await.len(), 1, "it didn't wait then");
    }

    async fn what_was_on_its_way_says_so_and_its_outcome_is_dropped(backend) {
        let hanging = Hanging::start().await;
        let world = World::running(backend, &[hanging.port()], |builder| builder).await;
        let endpoint = world.endpoint_at(hanging.port(), &["*"]).await;
        world.publish("A-1").await;
        hanging.reached(1).await;
        // It has a row of its own a second after it was handed over.
        world.until_count("webhooks_deliveries", 1).await;
        cancel_all(&world, &endpoint).await;
        world.until_count("webhooks_deliveries WHERE status = 5", 1).await;
        let log = world.log().await;
        assert_eq!(log[0]["error"], "cancelled by Ada while it was being sent; it may have arrived");
        hanging.let_go.add_permits(10);
        world.publish("A-2").await;
        until(async || {
            let log = world.log().await;
            let found = statuses(&log);
            if found == ["delivered", "cancelled"] { Ok(()) } else { Err(format!("{found:?}")) }
        })
        .await;
    }

    async fn the_next_of_an_entity_follows_one_that_was_cancelled(backend) {
        let world = World::new(backend).await;
        let endpoint = world.endpoint(&["products.*"]).await;
        let order = json!({"isOrdered": true});
        let _ = world.client().put(&path(&endpoint, ""), order).await.expect(200);
        world.receiver.answer_with([500]);
        let id = world.create("A-1").await;
        assert_eq!(world.deliver().await.len(), 1);
        world.change(id, |product| product.sku = sea_orm::ActiveValue::Set("A-2".into())).await;
        assert_eq!(world.deliver().await.len(), 0, "it waits behind the one before");
        let log = world.log().await;
        let _ = cancel(&world, &log[1], 200).await;
        assert_eq!(crate::fixture::types(&world.deliver().await), ["products.updated"]);
    }
}
