//! The process dies, or a receiver is away: nothing that was committed is lost.

use std::collections::HashMap;
use std::time::Duration;

use e2e_main_job::{Language, Receiver};
use serde_json::json;
use svc_testing::{ReservedPort, on_both_databases};

use crate::changes::{SECRET, new_product, receivers, shop_with};

/// How long a receiver waits for an event, and for it to come again.
const FIRST: Duration = Duration::from_secs(30);
const AGAIN: Duration = Duration::from_millis(500);

on_both_databases! {
    async fn what_was_committed_before_a_kill_is_delivered_after_the_next_start(backend) {
        let receivers = receivers();
        let mut shop = shop_with(backend, &receivers).await;
        // What each receiver got, by the identifier of the delivery.
        let mut got = vec![HashMap::new(); receivers.len()];
        for round in 0..5 {
            let product = new_product(&shop, &format!("L-{round}"));
            let created = shop.expect(201, "POST", "/odata/v1/Products", Some(&product));
            shop.kill();
            shop.start_again();
            for (receiver, got) in receivers.iter().zip(&mut got) {
                // The kill may have come before or after the delivery was recorded: a receiver
                // gets the event at least once, always under the same id, and that of an earlier round
                // may come again late.
                let mut has_come = false;
                while let Some(received) = receiver.next_within(if has_come { AGAIN } else { FIRST }) {
                    assert!(received.accepted);
                    let id = received.header("webhook-id").to_owned();
                    if let Some(before) = got.insert(id, received.body.clone()) {
                        assert_eq!(before, received.body);
                        continue;
                    }
                    assert!(!has_come, "the event came under two ids");
                    assert_eq!(received.envelope()["data"]["id"], created["id"]);
                    has_come = true;
                }
                assert!(has_come, "a receiver got nothing");
            }
        }
    }

    async fn a_receiver_that_was_away_gets_what_it_missed(backend) {
        let port = ReservedPort::take();
        let start = || Receiver::start(Language::Node, port.number(), &[SECRET]);
        let receiver = [start()];
        let shop = shop_with(backend, &receiver).await;
        drop(receiver);
        let path = "/api/v1/webhooks/deliveries?take=10";
        let product = new_product(&shop, "L-1");
        let created = shop.expect(201, "POST", "/odata/v1/Products", Some(&product));
        // Nobody listens: the first attempt fails.
        let mut failed = json!(null);
        for _ in 0..100 {
            let listed = shop.expect(200, "GET", path, None);
            let items = listed["items"].as_array().expect("a list").clone();
            if let Some(found) = items.iter().find(|item| item["status"] == "retrying") {
                failed = found.clone();
                break;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        assert_eq!(failed["eventType"], "products.created", "no attempt failed in 10 s");
        let received = start().next();
        assert!(received.accepted);
        assert_eq!(received.envelope()["data"]["id"], created["id"]);
    }
}
