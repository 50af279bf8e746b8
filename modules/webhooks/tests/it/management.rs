//! The management API: endpoints, lists and event types.

use serde_json::{Value as Json, json};
use svc_testing::on_both_databases;

use crate::fixture::{SECRET, World, path};

fn names(listed: &Json) -> Vec<&str> {
    listed["items"].as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap()).collect()
}

on_both_databases! {
    async fn an_endpoint_is_registered_listed_changed_and_deleted(backend) {
        let world = World::new(backend).await;
        let body = json!({
            "url": world.receiver.url(),
            "events": ["products.*", "stock.low"],
            "description": "the warehouse",
            "isActive": false,
            "secret": SECRET,
        });
        let created = world.client().post("/api/v1/webhooks", body).await;
        let endpoint = created.expect(201);
        assert_eq!(created.header("location"), path(&endpoint, ""));
        assert_eq!(created.header("cache-control"), "no-store");
        let id = endpoint["id"].as_str().unwrap();
        assert_eq!(
            endpoint,
            json!({
                "id": id,
                "url": world.receiver.url(),
                "description": "the warehouse",
                "events": ["products.*", "stock.low"],
                "filter": null,
                "format": "standard",
                "metadata": {},
                "isActive": false,
                "includesChanges": false,
                "isThin": false,
                "isOrdered": false,
                "isPolled": false,
                "receiverId": null,
                "receiverKeyId": null,
                "maxPerSecond": null,
                "timeoutSeconds": null,
                "retryDelaysSeconds": null,
                "expiresAfterSeconds": null,
                "publicKey": null,
                "headerNames": [],
                "oauth2": null,
                "clientCertificate": null,
                "owner": {
                    "id": world.ada.id().0,
                    "displayName": "Ada",
                    "apiKeyId": null,
                    "standing": "here",
                },
                "consecutiveFailures": 0,
                "lastError": null,
                "disabledAt": "2026-11-20T12:00:00Z",
                "disabledReason": "switched off by Ada",
                "previousSecretExpiresAt": null,
                "previousKeyPairExpiresAt": null,
                "createdAt": "2026-11-20T12:00:00Z",
                "updatedAt": "2026-11-20T12:00:00Z",
                "secret": SECRET,
            })
        );
        let listed = world.client().get("/api/v1/webhooks").await.expect(200);
        let mut expected = endpoint.clone();
        expected.as_object_mut().unwrap().remove("secret");
        assert_eq!(listed, json!({"items": [expected.clone()], "next": null}));
        assert_eq!(world.show(&endpoint).await, expected);

        let change = json!({"description": "another warehouse"});
        let changed = world.client().put(&path(&endpoint, ""), change).await.expect(200);
        expected["description"] = json!("another warehouse");
        assert_eq!(changed, expected, "only what is sent changes");
        let _ = world.client().delete(&path(&endpoint, "")).await.expect(204);
        let listed = world.client().get("/api/v1/webhooks").await.expect(200);
        assert_eq!(listed["items"], json!([]));
        let _ = world.client().delete(&path(&endpoint, "")).await.expect(404);
    }

    async fn changed_events_and_addresses_count_at_once(backend) {
        let world = World::new(backend).await;
        let endpoint = world.endpoint(&["products.*"]).await;
        world.create("A-1").await;
        assert_eq!(world.deliver().await.len(), 1);
        let change = json!({"events": ["stock.low"], "url": format!("{}?moved", world.receiver.url())});
        let _ = world.client().put(&path(&endpoint, ""), change).await.expect(200);
        world.create("A-2").await;
        assert_eq!(world.deliver().await.len(), 0);
        world.publish("A-3").await;
        assert_eq!(world.deliver().await.len(), 1);
        assert!(world.log().await[0]["url"].as_str().unwrap().ends_with("?moved"));
    }

    async fn lists_page(backend) {
        let world = World::new(backend).await;
        for _ in 0..3 {
            world.endpoint(&["*"]).await;
        }
        let first = world.client().get("/api/v1/webhooks?take=2").await.expect(200);
        assert_eq!(first["items"].as_array().unwrap().len(), 2);
        let next = first["next"].as_str().unwrap();
        let path = format!("/api/v1/webhooks?take=2&after={next}");
        let second = world.client().get(&path).await.expect(200);
        assert_eq!(second["items"].as_array().unwrap().len(), 1);
        assert_eq!(second["next"], json!(null));
    }

    async fn event_types_are_those_of_sets_events_and_the_module(backend) {
        let world = World::new(backend).await;
        let listed = world.client().get("/api/v1/webhooks/event-types").await.expect(200);
        assert_eq!(
            names(&listed),
            [
                "endpoint.disabled", "endpoint.failing", "endpoint.owner_gone", "limit.reached",
                "products.created", "products.deleted", "products.snapshot", "products.updated", "ship.landed", "stock.low",
                "till.counted", "webhook.test", "workflow.transitioned",
            ]
        );
        let stock_low = &listed["items"][9];
        assert_eq!(stock_low["description"], "Stock of a product fell below its limit");
        assert_eq!(listed["items"][4].get("schema"), None);
        let detailed =
            world.client().get("/api/v1/webhooks/event-types?details=true").await.expect(200);
        let schema = &detailed["items"][4]["schema"];
        assert_eq!(schema["required"], json!(["id", "sku", "region", "price", "grade"]));
        assert_eq!(schema["properties"]["id"], json!({"type": "string", "format": "uuid"}));
        assert_eq!(
            schema["properties"]["costPrice"],
            json!({"type": "number", "format": "decimal"})
        );
        assert_eq!(
            detailed["items"][5]["schema"]["properties"],
            json!({"id": {"type": "string", "format": "uuid"}})
        );
    }

    async fn the_health_of_an_endpoint_is_told_by_the_hour(backend) {
        let world = World::with(backend, |builder| {
            builder.setting("Svc:Webhooks:MaxAttempts", 2)
        })
        .await;
        let endpoint = world.endpoint(&["*"]).await;
        world.publish_many(3).await;
        world.deliver().await;
        world.shop.advance(std::time::Duration::from_hours(1));
        world.receiver.answer_with([500, 500]);
        world.publish("A-1").await;
        world.deliver().await;
        let health = async |query: &str| {
            world.client().get(&path(&endpoint, &format!("/health{query}"))).await.expect(200)
        };
        let during = health("").await;
        assert_eq!((&during["backlog"], &during["waiting"]), (&json!(1), &json!(1)));
        assert_eq!(during["successRate"], 1.0);
        world.after(30).await;
        let after = health("").await;
        assert_eq!((&after["delivered"], &after["failed"]), (&json!(3), &json!(1)));
        assert_eq!((&after["successRate"], &after["backlog"]), (&json!(0.75), &json!(0)));
        assert_eq!(after["lastSuccessAt"], "2026-11-20T12:00:00Z");
        assert!(after["p50Ms"].is_i64() && after["p99Ms"].is_i64());
        let hours = after["hours"].as_array().unwrap();
        assert_eq!(hours.len(), 2);
        assert_eq!(hours[0]["from"], "2026-11-20T12:00:00Z");
        assert_eq!((&hours[0]["delivered"], &hours[1]["failed"]), (&json!(3), &json!(1)));
        assert_eq!(health("?hours=1").await["delivered"], 0);
        let _ = world.client().get(&path(&endpoint, "/health?hours=0")).await.expect(400);
    }

    async fn measurements_tell_attempts_and_the_backlog(backend) {
        let world = World::new(backend).await;
        world.endpoint(&["*"]).await;
        world.receiver.answer_with([204, 500]);
        world.publish_many(2).await;
        world.deliver().await;
        let metrics = world.shop.anonymous().get("/metrics").await.text;
        for line in [
            "svc_webhooks_attempts_total{outcome=\"delivered\"} 1",
            "svc_webhooks_attempts_total{outcome=\"status\"} 1",
            "svc_webhooks_deliveries_failed_total 0",
            "svc_webhooks_deliveries_waiting 1",
        ] {
            assert!(metrics.lines().any(|one| one == line), "`{line}` is not in\n{metrics}");
        }
    }

    async fn what_is_held_is_not_overdue(backend) {
        let world = World::new(backend).await;
        let endpoint = world.endpoint(&["*"]).await;
        world.receiver.answer_with([500]);
        world.publish("A-1").await;
        world.deliver().await;
        // A node's samples serve its further scrapes for a while.
        let oldest = async |node: &svc_testing::TestApp| {
            let metrics = node.anonymous().get("/metrics").await.text;
            let value = metrics.lines().find_map(|line| {
                line.strip_prefix("svc_webhooks_oldest_due_seconds ").map(str::to_owned)
            });
            value.unwrap()
        };
        let switch = async |on: bool| {
            world.client().put(&path(&endpoint, ""), json!({"isActive": on})).await.expect(200)
        };
        let _ = switch(false).await;
        world.shop.advance(std::time::Duration::from_hours(1));
        assert_eq!(oldest(&world.shop).await, "0");
        let _ = switch(true).await;
        let other = world.shop.another_node().await;
        assert_eq!(oldest(&other).await, "3570");
    }
}
