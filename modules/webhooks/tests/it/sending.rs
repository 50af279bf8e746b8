//! The dispatcher: crashes, deletions in flight, endpoints that hang, several nodes.

use std::time::Duration;

use serde_json::json;
use svc_testing::{Receiver, on_both_databases};

use crate::fixture::{World, path};
use crate::support::hanging::Hanging;

async fn world(backend: svc_testing::Backend, hanging: &Hanging, timeout: &str) -> World {
    let receiver = Receiver::start().await;
    World::beside(backend, receiver, &[hanging.port()], |builder| {
        builder.setting("Svc:Webhooks:Timeout", timeout)
    })
    .await
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

    async fn events_of_one_entity_follow_each_other_where_that_is_wanted(backend) {
        let world = World::new(backend).await;
        let endpoint = world.endpoint(&["products.*"]).await;
        let set = json!({"isOrdered": true});
        let _ = world.client().put(&path(&endpoint, ""), set).await.expect(200);
        let first = world.create("A-1").await;
        world.change(first, |product| product.sku = sea_orm::Set("A-2".into())).await;
        world.change(first, |product| product.sku = sea_orm::Set("A-3".into())).await;
        world.create("B-1").await;
        let skus = |received: Vec<svc_testing::Received>| -> Vec<String> {
            received.iter().map(|one| one.json()["data"]["sku"].as_str().unwrap().into()).collect()
        };
        let all = skus(world.deliver().await);
        let of_first: Vec<&str> =
            all.iter().map(String::as_str).filter(|sku| sku.starts_with('A')).collect();
        assert_eq!((of_first, all.len()), (vec!["A-1", "A-2", "A-3"], 4));
        // One that fails holds up those of its entity until it is through, and nobody else.
        world.receiver.answer_with([500]);
        world.change(first, |product| product.sku = sea_orm::Set("A-4".into())).await;
        assert_eq!(world.deliver().await.len(), 1);
        world.change(first, |product| product.sku = sea_orm::Set("A-5".into())).await;
        world.create("B-2").await;
        assert_eq!(skus(world.deliver().await), ["B-2"]);
        assert_eq!(skus(world.after(30).await), ["A-4", "A-5"]);
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
}
