//! From a change to a signed request, and into the log.

use serde_json::json;
use svc_testing::on_both_databases;
use uuid::Uuid;

use crate::fixture::{SECRET, World, is_accepted, path, types};

on_both_databases! {
    async fn a_change_is_sent_signed_and_recorded(backend) {
        let world = World::new(backend).await;
        let endpoint = world.endpoint(&["products.*"]).await;
        let id = world.create("A-1").await;
        let received = world.deliver().await;
        assert_eq!(types(&received), ["products.created"]);
        let request = &received[0];
        assert!(is_accepted(request, SECRET));
        assert_eq!(request.header("content-type"), "application/json; charset=utf-8");
        let envelope = request.json();
        assert_eq!(request.header("webhook-id"), envelope["id"].as_str().unwrap());
        assert_eq!(
            request.header("webhook-timestamp"),
            world.shop.clock().now().unix_timestamp().to_string()
        );
        assert_eq!(envelope["time"], "2026-11-20T12:00:00.000000+00:00");
        assert_eq!(envelope["tenant"], svc_testing::organisation(1).0.to_string());
        let data = json!({
            "id": id, "sku": "A-1", "region": "EU", "price": 19.99, "costPrice": 7, "grade": "better",
        });
        assert_eq!(envelope["data"], data);
        let members: Vec<&String> = envelope.as_object().unwrap().keys().collect();
        assert_eq!(members, ["id", "type", "time", "tenant", "data"]);

        let log = world.log().await;
        assert_eq!(log.len(), 1);
        assert_eq!(log[0]["status"], "delivered");
        assert_eq!(log[0]["statusCode"], 204);
        assert_eq!(log[0]["attempts"], 1);
        assert_eq!(log[0]["maxAttempts"], 6);
        assert_eq!(log[0]["eventType"], "products.created");
        assert_eq!(log[0]["eventId"], envelope["id"]);
        assert_eq!(log[0]["subscriptionId"], endpoint["id"]);
        assert_eq!(log[0]["url"], world.receiver.url());
        assert_eq!(log[0]["error"], json!(null));
        assert_eq!(world.deliver().await.len(), 0, "it is sent once");
    }

    async fn updates_tell_the_new_state_and_deletes_the_key_alone(backend) {
        let world = World::new(backend).await;
        world.endpoint(&["products.updated", "products.deleted"]).await;
        let id = world.create("A-1").await;
        world.change(id, |product| product.sku = sea_orm::Set("A-2".into())).await;
        let received = world.deliver().await;
        assert_eq!(types(&received), ["products.updated"]);
        assert_eq!(received[0].json()["data"]["sku"], "A-2");
        world.delete(id).await;
        let received = world.deliver().await;
        assert_eq!(types(&received), ["products.deleted"]);
        assert_eq!(received[0].json()["data"], json!({"id": id}));
    }

    async fn a_rolled_back_command_sends_nothing(backend) {
        let world = World::new(backend).await;
        world.endpoint(&["*"]).await;
        let context = world.shop.context(&world.ada);
        let outcome: svc_core::Result<()> = context
            .transact(async |uow| {
                use svc_events::Publish as _;
                uow.publish(crate::fixture::StockLow { sku: "A-1".into(), left: 1 })?;
                Err(svc_core::Error::conflict("no"))
            })
            .await;
        assert!(outcome.is_err());
        assert_eq!(world.deliver().await.len(), 0);
    }

    async fn application_events_arrive_exactly_as_passed(backend) {
        let world = World::new(backend).await;
        world.endpoint(&["stock.low"]).await;
        world.publish("A-1").await;
        world.create("not subscribed").await;
        let received = world.deliver().await;
        assert_eq!(types(&received), ["stock.low"]);
        assert_eq!(received[0].json()["data"], json!({"sku": "A-1", "left": 2}));
    }

    async fn subscriptions_are_exact_by_set_or_everything(backend) {
        let world = World::new(backend).await;
        for events in [vec!["products.created"], vec!["products.*"], vec!["*"], vec!["stock.low"]] {
            world.endpoint(&events).await;
        }
        world.create("A-1").await;
        assert_eq!(world.deliver().await.len(), 3);
        world.publish("A-1").await;
        assert_eq!(world.deliver().await.len(), 2);
        // Several patterns that match make one delivery.
        world.endpoint(&["*", "products.*", "products.created"]).await;
        world.create("A-2").await;
        let received = world.deliver().await;
        assert_eq!(received.len(), 4);
        let ids: Vec<&str> = received.iter().map(|one| one.header("webhook-id")).collect();
        assert!(ids.iter().all(|id| *id == ids[0]), "one event has one id: {ids:?}");
    }

    async fn sets_that_did_not_opt_in_send_nothing(backend) {
        let world = World::new(backend).await;
        world.endpoint(&["*"]).await;
        let context = world.shop.context(&world.ada);
        let note = crate::fixture::note::ActiveModel::default();
        context.transact(async |uow| uow.insert(note).await).await.unwrap();
        assert_eq!(world.deliver().await.len(), 0);
    }

    async fn a_test_event_is_sent_also_when_the_endpoint_is_off(backend) {
        let world = World::new(backend).await;
        let endpoint = world.endpoint(&["stock.low"]).await;
        let off = world.client().put(&path(&endpoint, ""), json!({"isActive": false})).await;
        assert_eq!(off.expect(200)["disabledReason"], "switched off by Ada");
        world.publish("A-1").await;
        assert_eq!(world.deliver().await.len(), 0);
        let queued = world.client().post(&path(&endpoint, "/test"), json!(null)).await.expect(202);
        assert_eq!(queued["status"], "queued");
        let received = world.deliver().await;
        assert_eq!(types(&received), ["webhook.test"]);
        assert!(is_accepted(&received[0], SECRET));
        let data = &received[0].json()["data"];
        assert_eq!(data["endpointId"], endpoint["id"]);
        assert!(data["message"].is_string());
    }

    async fn the_log_shows_request_and_response_with_the_signature_masked(backend) {
        let world = World::new(backend).await;
        world.endpoint(&["*"]).await;
        world.publish("A-1").await;
        let body = world.deliver().await.remove(0).body;
        let id = world.log().await[0]["id"].as_str().unwrap().to_owned();
        let path = format!("/api/v1/webhooks/deliveries/{id}");
        let shown = world.client().get(&path).await.expect(200);
        assert_eq!(shown["request"]["body"], std::str::from_utf8(&body).unwrap());
        let header = |name: &str| {
            let headers = shown["request"]["headers"].as_array().unwrap();
            headers.iter().find(|header| header["name"] == name).unwrap()["value"].clone()
        };
        assert_eq!(header("webhook-signature"), "v1,***");
        assert_eq!(header("content-type"), "application/json; charset=utf-8");
        assert!(header("user-agent").as_str().unwrap().starts_with("Svc-Webhooks/"));
        assert!(shown["response"]["headers"].is_array());
        let other = svc_testing::Person::named("Eve").of(svc_testing::organisation(2));
        let _ = world.shop.sign_in(&other).get(&path).await.expect(404);
        let unknown = format!("/api/v1/webhooks/deliveries/{}", Uuid::nil());
        let _ = world.client().get(&unknown).await.expect(404);
    }
}
