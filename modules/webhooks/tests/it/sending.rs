//! The dispatcher: crashes, deletions in flight, endpoints that hang, several nodes.

use std::time::Duration;

use sea_orm::ConnectionTrait as _;
use sea_orm::prelude::Uuid;
use serde_json::json;
use svc_testing::{Received, Receiver, on_both_databases};

use crate::fixture::{World, path, until};
use crate::hanging::Hanging;

async fn world(backend: svc_testing::Backend, hanging: &Hanging, timeout: &str) -> World {
    let receiver = Receiver::start().await;
    World::beside(backend, receiver, &[hanging.port()], |builder| {
        builder.setting("Svc:Webhooks:Timeout", timeout)
    })
    .await
}

async fn wants_order(world: &World) {
    let endpoint = world.endpoint(&["products.*"]).await;
    let set = json!({"isOrdered": true});
    let _ = world.client().put(&path(&endpoint, ""), set).await.expect(200);
}

/// An endpoint that wants order has got the product.
async fn ordered(backend: svc_testing::Backend) -> (World, Uuid) {
    let world = World::new(backend).await;
    wants_order(&world).await;
    let product = world.create("A-1").await;
    assert_eq!(world.deliver().await.len(), 1);
    (world, product)
}

fn skus(received: &[Received]) -> Vec<String> {
    received.iter().map(|one| one.json()["data"]["sku"].as_str().unwrap().into()).collect()
}

on_both_databases! {
    async fn a_crash_while_sending_sends_again_when_the_claim_has_ended(backend) {
        let hanging = Hanging::start().await;
        let world = world(backend, &hanging, "00:00:20").await;
        world.endpoint_at(hanging.port(), &["*"]).await;
        world.publish("A-1").await;
        // The process dies while the request is in flight: its future is gone, nothing recorded.
        tokio::select! {
            _ = world.shop.drain() => panic!("the receiver hangs"),
            () = hanging.reached(1) => {}
        }
        hanging.let_go.add_permits(10);
        assert_eq!(world.log().await[0]["status"], "queued");
        world.shop.drain().await;
        assert_eq!(hanging.receiver.connections(), 1, "somebody may still be sending it");
        world.shop.advance(Duration::from_secs(29));
        world.shop.drain().await;
        assert_eq!(hanging.receiver.connections(), 1);
        world.shop.advance(Duration::from_secs(1));
        world.shop.drain().await;
        assert_eq!(hanging.receiver.connections(), 2);
        let log = world.log().await;
        assert_eq!((&log[0]["status"], &log[0]["attempts"]), (&json!("delivered"), &json!(1)));
    }

    async fn an_endpoint_can_be_deleted_while_it_is_sent_to(backend) {
        let hanging = Hanging::start().await;
        let world = world(backend, &hanging, "00:00:20").await;
        let endpoint = world.endpoint_at(hanging.port(), &["*"]).await;
        world.publish("A-1").await;
        let deletion = async {
            hanging.reached(1).await;
            let _ = world.client().delete(&path(&endpoint, "")).await.expect(204);
            hanging.let_go.add_permits(10);
        };
        tokio::join!(world.shop.drain(), deletion);
        world.shop.drain().await;
        assert_eq!(world.log().await.len(), 0);
        assert_eq!(world.count("webhooks_deliveries").await, 0);
    }

    async fn an_answer_that_never_comes_is_recorded_at_the_timeout(backend) {
        let hanging = Hanging::start().await;
        let world = world(backend, &hanging, "00:00:00.300").await;
        world.endpoint_at(hanging.port(), &["*"]).await;
        world.publish("A-1").await;
        world.shop.drain().await;
        let log = world.log().await;
        assert_eq!(log[0]["status"], "retrying");
        assert!(log[0]["error"].as_str().unwrap().contains("timeout"), "{}", log[0]);
        assert!(log[0]["durationMs"].as_i64().unwrap() >= 290);
    }

    async fn an_endpoint_that_hangs_with_a_backlog_does_not_delay_others(backend) {
        let hanging = Hanging::start().await;
        let world = world(backend, &hanging, "00:01:00").await;
        world.endpoint_at(hanging.port(), &["stock.low"]).await;
        world.endpoint(&["products.*"]).await;
        world.publish_many(1_000).await;
        world.shop.app().start_workers();
        // Its places are taken, and 984 deliveries wait for one.
        hanging.reached(16).await;
        for number in 0..20 {
            world.create(&format!("A-{number}")).await;
        }
        let mut arrived = 0;
        for _ in 0..1_000 {
            arrived += world.receiver.received().len();
            if arrived == 20 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(arrived, 20, "within ten seconds");
        assert_eq!(hanging.receiver.connections(), 16, "an endpoint has its places and no more");
        hanging.let_go.add_permits(2_000);
        world.shop.app().stop().await;
    }

    async fn origins_that_hang_leave_the_others_their_room_however_many_they_are(backend) {
        let hanging = Hanging::everywhere().await;
        let receiver = Receiver::start().await;
        let world = World::beside(backend, receiver, &[hanging.port()], |builder| {
            builder
                .setting("Svc:Webhooks:Timeout", "00:01:00")
                .setting("Svc:Webhooks:Concurrency", 32)
                .setting("Svc:Webhooks:ConcurrencyPerEndpoint", 4)
        })
        .await;
        world.endpoint(&["*"]).await;
        world.shop.app().start_workers();
        world.publish("first").await;
        world.arrive(1).await;
        // Four deliveries of each would be more than what an organisation may have in memory.
        for number in 1..=60 {
            let url = format!("http://127.1.0.{number}:{}/hook", hanging.port());
            let body = json!({"url": url, "events": ["*"]});
            let _ = world.client().post("/api/v1/webhooks", body).await.expect(201);
        }
        for number in 0..10 {
            world.publish(&format!("A-{number}")).await;
            // At once, while all the others wait for their first answer.
            world.arrive(1).await;
        }
        assert_eq!(hanging.receiver.connections(), 8, "a quarter of what one organisation may have");
        hanging.let_go.add_permits(2_000);
        world.shop.app().stop().await;
    }

    async fn origins_that_hang_take_turns(backend) {
        let hanging = Hanging::everywhere().await;
        let receiver = Receiver::start().await;
        let world = World::beside(backend, receiver, &[hanging.port()], |builder| {
            builder
                .setting("Svc:Webhooks:Timeout", "00:00:00.200")
                .setting("Svc:Webhooks:Concurrency", 8)
                .setting("Svc:Webhooks:ConcurrencyPerEndpoint", 1)
                .in_real_time()
        })
        .await;
        for number in 1..=3 {
            let url = format!("http://127.1.1.{number}:{}/hook", hanging.port());
            let body = json!({"url": url, "events": ["*"]});
            let _ = world.client().post("/api/v1/webhooks", body).await.expect(201);
        }
        world.publish_many(20).await;
        world.shop.app().start_workers();
        // Once all have hung, there is one place for the three, and what fails waits for half a minute. Without
        // turns the first would be asked for all of its twenty before another is asked again.
        let attempts = async |least: u32| {
            let attempted = "webhooks_deliveries WHERE attempts > 0 GROUP BY endpoint_id";
            let each = format!("(SELECT 1 FROM {attempted} HAVING COUNT(*) >= {least}) AS each_one");
            world.count(&each).await
        };
        until(async || match attempts(2).await {
            3 => Ok(()),
            asked => Err(format!("{asked} were asked twice")),
        })
        .await;
        assert_eq!(attempts(16).await, 0, "nobody was asked for all before");
        world.shop.app().stop().await;
    }

    async fn what_waits_in_memory_goes_back_when_its_origin_falls_silent(backend) {
        let hanging = Hanging::start().await;
        let receiver = Receiver::start().await;
        let world = World::beside(backend, receiver, &[hanging.port()], |builder| {
            builder
                .setting("Svc:Webhooks:Timeout", "00:01:00")
                .setting("Svc:Webhooks:Concurrency", 32)
                .setting("Svc:Webhooks:ConcurrencyPerEndpoint", 4)
        })
        .await;
        world.endpoint_at(hanging.port(), &["*"]).await;
        hanging.let_go.add_permits(1);
        world.shop.app().start_workers();
        world.publish("first").await;
        world.until_count("webhooks_deliveries WHERE status = 2", 1).await;
        // It answers well, so a burst is taken on at once; then it hangs.
        world.publish_many(100).await;
        hanging.reached(4).await;
        world.until_count("webhooks_deliveries WHERE claim IS NOT NULL", 8).await;
        world.until_count("webhooks_deliveries WHERE status = 0 AND claim IS NULL", 92).await;
        hanging.let_go.add_permits(2_000);
        world.until_count("webhooks_deliveries WHERE status = 2", 101).await;
        world.shop.app().stop().await;
    }

    async fn events_of_one_entity_follow_each_other_where_that_is_wanted(backend) {
        let world = World::new(backend).await;
        wants_order(&world).await;
        let first = world.create("A-1").await;
        world.change(first, |product| product.sku = sea_orm::Set("A-2".into())).await;
        world.change(first, |product| product.sku = sea_orm::Set("A-3".into())).await;
        world.create("B-1").await;
        let all = skus(&world.deliver().await);
        let of_first: Vec<&str> =
            all.iter().map(String::as_str).filter(|sku| sku.starts_with('A')).collect();
        assert_eq!((of_first, all.len()), (vec!["A-1", "A-2", "A-3"], 4));
        // One that fails holds up those of its entity until it is through, and nobody else.
        world.receiver.answer_with([500]);
        world.change(first, |product| product.sku = sea_orm::Set("A-4".into())).await;
        assert_eq!(world.deliver().await.len(), 1);
        world.change(first, |product| product.sku = sea_orm::Set("A-5".into())).await;
        world.create("B-2").await;
        assert_eq!(skus(&world.deliver().await), ["B-2"]);
        assert_eq!(skus(&world.after(30).await), ["A-4", "A-5"]);
    }

    async fn an_event_that_another_node_still_tells_is_waited_for(backend) {
        if backend == svc_testing::Backend::Sqlite {
            // There is no other.
            return;
        }
        let (world, product) = ordered(backend).await;
        world.change(product, |product| product.sku = sea_orm::Set("A-2".into())).await;
        let database = world.shop.app().service::<svc_database::Database>().unwrap();
        let other = database.begin().await.unwrap();
        let take = database.statement("SELECT id FROM events_outbox FOR UPDATE", []);
        assert_eq!(other.query_all_raw(take).await.unwrap().len(), 1);
        world.change(product, |product| product.sku = sea_orm::Set("A-3".into())).await;
        assert_eq!(world.deliver().await.len(), 0);
        other.rollback().await.unwrap();
        assert_eq!(skus(&world.deliver().await), ["A-2", "A-3"]);
    }

    async fn an_event_that_a_process_ended_over_is_waited_for(backend) {
        let (world, product) = ordered(backend).await;
        world.change(product, |product| product.sku = sea_orm::Set("A-2".into())).await;
        let database = world.shop.app().service::<svc_database::Database>().unwrap();
        let begun = "UPDATE events_outbox SET attempts = 1, available_at_us = available_at_us + 5000000, \
            last_error = 'the process ended while it handled the message'";
        database.execute(database.statement(begun, [])).await.unwrap();
        world.change(product, |product| product.sku = sea_orm::Set("A-3".into())).await;
        assert_eq!(world.deliver().await.len(), 0);
        assert_eq!(skus(&world.after(5).await), ["A-2", "A-3"]);
    }

    async fn a_running_dispatcher_empties_every_queue_without_polling(backend) {
        let receiver = Receiver::start().await;
        let world = World::beside(backend, receiver, &[], |builder| {
            builder
                .setting("Svc:Webhooks:PollInterval", "00:10:00")
                .setting("Svc:Webhooks:ConcurrencyPerEndpoint", 4)
        })
        .await;
        world.endpoint(&["stock.low"]).await;
        let ordered = world.endpoint(&["products.*"]).await;
        let _ = world.client().put(&path(&ordered, ""), json!({"isOrdered": true})).await.expect(200);
        world.shop.app().start_workers();
        world.publish_many(100).await;
        let id = world.create("A-1").await;
        for number in 0..10_u32 {
            world.change(id, |product| product.sku = sea_orm::Set(format!("B-{number}"))).await;
        }
        world.arrive(111).await;
        world.shop.app().stop().await;
    }

    async fn a_stop_gives_back_what_it_could_not_finish(backend) {
        let hanging = Hanging::start().await;
        let world = world(backend, &hanging, "00:01:00").await;
        world.endpoint_at(hanging.port(), &["*"]).await;
        world.publish("A-1").await;
        world.shop.app().start_workers();
        hanging.reached(1).await;
        world.shop.app().stop().await;
        assert_eq!(world.count("webhooks_deliveries WHERE claim IS NOT NULL").await, 0);
        assert_eq!(world.count("webhooks_hand_overs").await, 0);
        hanging.let_go.add_permits(10);
        let next = world.shop.another_node().await;
        next.drain().await;
        assert_eq!(world.log().await[0]["status"], "delivered");
    }

    async fn two_nodes_share_the_work_and_send_each_delivery_once(backend) {
        let world = World::new(backend).await;
        let other = world.shop.another_node().await;
        world.endpoint(&["*"]).await;
        world.endpoint(&["*"]).await;
        world.publish_many(150).await;
        tokio::join!(world.shop.drain(), other.drain());
        let received = world.receiver.received();
        assert_eq!(received.len(), 300);
    }

    async fn nothing_more_goes_where_it_was_switched_off_moved_or_deleted(backend) {
        for (change, elsewhere) in [(json!({"isActive": false}), 0), (json!({"url": null}), 8), (json!(null), 0)] {
            let hanging = Hanging::start().await;
            let receiver = Receiver::start().await;
            let world = World::beside(backend, receiver, &[hanging.port()], |builder| {
                builder
                    .setting("Svc:Webhooks:Concurrency", 2)
                    .setting("Svc:Webhooks:PollInterval", "00:10:00")
            })
            .await;
            let endpoint = world.endpoint_at(hanging.port(), &["*"]).await;
            hanging.let_go.add_permits(1);
            // Once it is known where it is, more is taken on than may be in flight; then it hangs.
            world.publish("first").await;
            world.shop.app().start_workers();
            world.until_count("webhooks_deliveries WHERE status = 2", 1).await;
            world.publish_many(10).await;
            hanging.reached(2).await;
            world.until_count("webhooks_deliveries WHERE claim IS NOT NULL", 10).await;
            let client = world.client();
            let _ = match change.as_object() {
                Some(fields) if fields.contains_key("url") => {
                    let body = json!({"url": world.receiver.url()});
                    client.put(&path(&endpoint, ""), body).await.expect(200)
                }
                Some(_) => client.put(&path(&endpoint, ""), change.clone()).await.expect(200),
                None => client.delete(&path(&endpoint, "")).await.expect(204),
            };
            hanging.let_go.add_permits(100);
            world.until_count("webhooks_deliveries WHERE claim IS NOT NULL", 0).await;
            world.arrive(elsewhere).await;
            world.shop.app().stop().await;
            assert_eq!(hanging.answered(), 3, "the first, and those in flight: {change}");
        }
    }

    async fn a_change_on_one_node_is_heard_on_the_others(backend) {
        if backend == svc_testing::Backend::Sqlite {
            // There are no others.
            return;
        }
        let hanging = Hanging::start().await;
        let receiver = Receiver::start().await;
        let world = World::beside(backend, receiver, &[hanging.port()], |builder| {
            builder
                .setting("Svc:Webhooks:Concurrency", 2)
                .setting("Svc:Webhooks:PollInterval", "00:10:00")
        })
        .await;
        let other = world.shop.another_node().await;
        let heard = other.app().wakes().count("webhooks.endpoints");
        let endpoint = world.endpoint_at(hanging.port(), &["*"]).await;
        hanging.let_go.add_permits(1);
        world.publish("first").await;
        other.app().start_workers();
        world.until_count("webhooks_deliveries WHERE status = 2", 1).await;
        world.publish_many(10).await;
        world.until_count("webhooks_deliveries WHERE claim IS NOT NULL", 10).await;
        // A node that begins to listen wakes all that is its own.
        until(async || if heard.now() > 0 { Ok(()) } else { Err("it doesn't listen".into()) }).await;
        let before = heard.now();
        // A node whose workers run tells the others.
        world.shop.app().start_workers();
        let off = json!({"isActive": false});
        let _ = world.client().put(&path(&endpoint, ""), off).await.expect(200);
        until(async || if heard.now() > before { Ok(()) } else { Err("it hears nothing".into()) }).await;
        // A request that ends brings the next one's turn, while the other node looks what was changed.
        while world.count("webhooks_deliveries WHERE claim IS NOT NULL").await > 0 {
            hanging.let_go.add_permits(1);
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        other.app().stop().await;
        world.shop.app().stop().await;
        assert!(hanging.answered() < 11, "not all of them were sent");
    }

    async fn a_large_body_is_read_when_its_request_begins(backend) {
        let hanging = Hanging::start().await;
        let receiver = Receiver::start().await;
        let world = World::beside(backend, receiver, &[hanging.port()], |builder| {
            builder.setting("Svc:Webhooks:Concurrency", 1)
        })
        .await;
        world.endpoint_at(hanging.port(), &["products.*"]).await;
        world.endpoint(&["stock.low"]).await;
        world.shop.app().start_workers();
        world.create("A-1").await;
        hanging.reached(1).await;
        // The only place is taken, so this one waits, without its body.
        world.publish(&"x".repeat(100_000)).await;
        world.until_count("webhooks_deliveries WHERE claim IS NOT NULL", 2).await;
        let database = world.shop.app().service::<svc_database::Database>().unwrap();
        let other = "UPDATE webhooks_messages SET body = '{}' WHERE event_type = 'stock.low'";
        database.execute(database.statement(other, [])).await.unwrap();
        hanging.let_go.add_permits(1);
        world.until_count("webhooks_deliveries WHERE status = 2", 2).await;
        assert_eq!(world.receiver.received()[0].body, "{}");
        world.shop.app().stop().await;
    }

    async fn endpoints_of_one_origin_that_hang_leave_the_others_their_places(backend) {
        let hanging = Hanging::start().await;
        let receiver = Receiver::start().await;
        let world = World::beside(backend, receiver, &[hanging.port()], |builder| {
            builder
                .setting("Svc:Webhooks:Timeout", "00:01:00")
                .setting("Svc:Webhooks:Concurrency", 16)
                .setting("Svc:Webhooks:ConcurrencyPerEndpoint", 4)
        })
        .await;
        // Twice as many as there are places on the node, and each wants all of its own.
        for _ in 0..32 {
            world.endpoint_at(hanging.port(), &["stock.low"]).await;
        }
        world.endpoint(&["products.*"]).await;
        world.shop.app().start_workers();
        world.publish_many(4).await;
        hanging.reached(4).await;
        for number in 0..20 {
            world.create(&format!("A-{number}")).await;
        }
        world.arrive(20).await;
        assert_eq!(hanging.receiver.connections(), 4, "an origin that answers nothing has a part");
        hanging.let_go.add_permits(2_000);
        world.shop.app().stop().await;
    }
}
