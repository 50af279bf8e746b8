//! People who manage endpoints at the same moment.

use serde_json::{Value as Json, json};
use svc_testing::{Person, on_both_databases};

use crate::fixture::{SECRET, World, is_accepted, path};

/// How often a race is run: each time, another may come first.
const ROUNDS: usize = 4;

on_both_databases! {
    async fn two_who_save_at_once_both_have_what_they_said(backend) {
        let world = World::new(backend).await;
        let bob = world.shop.sign_in(&Person::named("Bob"));
        let endpoint = world.endpoint(&["*"]).await;
        for round in 0..ROUNDS {
            let (description, pace) = (format!("round {round}"), 10 + round);
            let (ada, at) = (world.client(), path(&endpoint, ""));
            let (one, other) = tokio::join!(
                ada.put(&at, json!({"description": description})),
                bob.put(&at, json!({"maxPerSecond": pace, "events": ["stock.low"]})),
            );
            assert_eq!((one.status.as_u16(), other.status.as_u16()), (200, 200), "{} {}", one.text, other.text);
            let shown = world.show(&endpoint).await;
            assert_eq!((&shown["description"], &shown["maxPerSecond"]), (&json!(description), &json!(pace)));
            assert_eq!(shown["events"], json!(["stock.low"]));
            // The owner is one of them, and the one whose answer says so last.
            let owner = shown["owner"]["displayName"].as_str().unwrap();
            assert!(["Ada", "Bob"].contains(&owner), "{owner}");
        }
        assert_eq!(world.count("webhooks_subscriptions").await, 1);
    }

    async fn two_rotations_at_once_keep_every_promise(backend) {
        let world = World::new(backend).await;
        let endpoint = world.endpoint(&["*"]).await;
        let rotate = async || {
            let rotated = world.client().post(&path(&endpoint, "/secret/rotate"), json!(null)).await;
            rotated.expect(200)["secret"].as_str().unwrap().to_owned()
        };
        let (one, other) = tokio::join!(rotate(), rotate());
        assert_ne!(one, other);
        let shown = world.client().get(&path(&endpoint, "/secret")).await.expect(200);
        let current = shown["secret"].as_str().unwrap();
        assert!([&one, &other].contains(&&current.to_owned()));
        world.publish("A-1").await;
        let delivery = world.deliver().await.remove(0);
        for secret in [SECRET, &one, &other] {
            assert!(is_accepted(&delivery, secret));
        }
        assert_eq!(delivery.header("webhook-signature").split(' ').count(), 3);
        assert!(delivery.header("webhook-signature").starts_with("v1,"));
    }

    async fn a_rotation_changes_no_owner_and_a_change_of_the_owner_no_secret(backend) {
        let world = World::new(backend).await;
        let clerk = Person::named("Clerk").who_may(&["Webhooks.Manage"]);
        let endpoint = world.endpoint(&["products.*"]).await;
        let by_clerk = world.shop.sign_in(&clerk);
        let rotated = by_clerk.post(&path(&endpoint, "/secret/rotate"), json!(null)).await.expect(200);
        assert_eq!(rotated["owner"]["displayName"], "Ada");
        world.create("A-1").await;
        let received = world.deliver().await;
        assert_eq!(received[0].json()["data"]["costPrice"], 7, "read as Ada, still");
        // Neither do tests and redeliveries by somebody else.
        assert_eq!(by_clerk.post(&path(&endpoint, "/test"), json!(null)).await.status, 202);
        let _ = world.deliver().await;
        let saved = by_clerk.put(&path(&endpoint, ""), json!({})).await.expect(200);
        assert_eq!(saved["owner"]["displayName"], "Clerk");
        world.create("A-2").await;
        assert_eq!(world.deliver().await.len(), 0, "the clerk may not see products");
        let shown = world.client().get(&path(&endpoint, "/secret")).await.expect(200);
        assert_eq!(shown["secret"], rotated["secret"]);
    }

    async fn an_endpoint_that_is_deleted_and_changed_at_once_is_gone(backend) {
        let world = World::new(backend).await;
        for _ in 0..ROUNDS {
            let endpoint = world.endpoint(&["products.*", "stock.low"]).await;
            let (client, at) = (world.client(), path(&endpoint, ""));
            let [test, rotate] = ["/test", "/secret/rotate"].map(|rest| path(&endpoint, rest));
            let (deleted, changed, rotated, tested) = tokio::join!(
                client.delete(&at),
                client.put(&at, json!({"events": ["*", "told"], "maxPerSecond": 5})),
                client.post(&rotate, json!(null)),
                client.post(&test, json!(null)),
            );
            assert_eq!(deleted.status, 204, "{}", deleted.text);
            for (answer, done) in [(changed, 200), (rotated, 200), (tested, 202)] {
                let status = answer.status.as_u16();
                assert!([done, 404].contains(&status), "{status} {}", answer.text);
            }
            let _ = client.get(&at).await.expect(404);
        }
        world.publish("A-1").await;
        assert_eq!(world.deliver().await.len(), 0);
        // The job of the night sweeps once more behind what was under way.
        world.shop.advance(std::time::Duration::from_hours(24));
        world.shop.drain().await;
        for table in ["endpoints", "subscriptions", "paces", "deliveries", "queues", "deletions"] {
            assert_eq!(world.count(&format!("webhooks_{table}")).await, 0, "{table}");
        }
    }

    async fn of_many_that_are_registered_at_once_as_many_are_as_may_be(backend) {
        let world = World::with(backend, |builder| builder.setting("Svc:Webhooks:MaxEndpoints", 3)).await;
        let new = async || {
            let body = json!({"url": world.receiver.url(), "events": ["*"]});
            world.client().post("/api/v1/webhooks", body).await.status.as_u16()
        };
        let mut statuses = futures::future::join_all((0..6).map(|_| new())).await;
        statuses.sort_unstable();
        assert_eq!(statuses, [201, 201, 201, 409, 409, 409]);
        assert_eq!(world.count("webhooks_endpoints").await, 3);
    }

    async fn of_two_who_send_again_each_gets_a_delivery_of_its_own(backend) {
        let world = World::new(backend).await;
        world.endpoint(&["*"]).await;
        world.publish("A-1").await;
        let first = world.deliver().await.remove(0);
        let original = world.log().await.remove(0);
        let again = format!("/api/v1/webhooks/deliveries/{}/redeliver", original["id"].as_str().unwrap());
        let client = world.client();
        let (one, other) = tokio::join!(client.post(&again, json!(null)), client.post(&again, json!(null)));
        let (one, other): (Json, Json) = (one.expect(202), other.expect(202));
        assert_ne!(one["id"], other["id"]);
        for new in [&one, &other] {
            assert_eq!((&new["redeliveryOf"], &new["eventId"]), (&original["id"], &original["eventId"]));
        }
        let received = world.deliver().await;
        assert_eq!(received.len(), 2);
        for copy in received {
            assert_eq!(copy.body, first.body);
            assert_eq!(copy.header("webhook-id"), first.header("webhook-id"));
        }
    }
}
