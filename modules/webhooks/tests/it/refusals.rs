//! Who and what the management API refuses.

use serde_json::{Value as Json, json};
use svc_http::OpenApiDocument;
use svc_testing::{Backend, Client, Person, on_both_databases, organisation, refuses_everybody};
use uuid::Uuid;

use crate::fixture::{World, path};

/// A body that each operation would accept.
fn body_for(method: &str, route: &str, world: &World) -> Json {
    match (method, route) {
        ("post", "/api/v1/webhooks") => json!({"url": world.receiver.url(), "events": ["*"]}),
        ("post", "/api/v1/webhooks/{id}/recover") => json!({"since": "2026-01-01T00:00:00Z"}),
        ("post", route) if route.ends_with("/deliveries/redeliver") => json!({"status": "failed"}),
        ("post", route) if route.ends_with("/backfills") => json!({"set": "Products"}),
        _ => json!({}),
    }
}

async fn send(client: &Client, method: &str, route: &str, id: &str, world: &World) -> u16 {
    let path = route.replace("{id}", id).replace("{backfillId}", id);
    let body = body_for(method, route, world);
    let method = method.to_uppercase().parse().unwrap();
    client.send_json(method, &path, &[], body).await.status.as_u16()
}

/// Every operation of the module, from the document that describes them.
fn operations(world: &World) -> Vec<(String, String)> {
    let document = world.shop.app().service::<OpenApiDocument>().unwrap();
    let document: Json = serde_json::from_str(document.to_json()).unwrap();
    let paths = document["paths"].as_object().unwrap();
    let ours = paths.iter().filter(|(path, _)| path.starts_with("/api/v1/webhooks"));
    ours.flat_map(|(path, item)| {
        let methods = ["get", "post", "put", "delete", "patch"];
        let given = methods.into_iter().filter(|method| item.get(method).is_some());
        given.map(|method| (method.to_owned(), path.clone()))
    })
    .collect()
}

on_both_databases! {
    async fn every_operation_needs_the_permission_and_stays_in_its_organisation(backend) {
        let world = World::new(backend).await;
        let endpoint = world.endpoint(&["*"]).await;
        world.publish("A-1").await;
        world.deliver().await;
        let delivery = world.log().await[0]["id"].as_str().unwrap().to_owned();
        let powerless = world.shop.sign_in(&Person::named("Clerk").who_may(&["Products.View"]));
        let other = world.shop.sign_in(&Person::named("Eve").of(organisation(2)));
        let operations = operations(&world);
        assert!(operations.len() >= 13, "{operations:?}");
        for (method, route) in operations {
            let id = if route.contains("/deliveries/") {
                delivery.as_str()
            } else {
                endpoint["id"].as_str().unwrap()
            };
            let status = send(&world.shop.anonymous(), &method, &route, id, &world).await;
            assert_eq!(status, 401, "{method} {route}");
            let status = send(&powerless, &method, &route, id, &world).await;
            assert_eq!(status, 403, "{method} {route}");
            if route.contains("{id}") {
                let status = send(&other, &method, &route, id, &world).await;
                assert_eq!(status, 404, "{method} {route}");
                let unknown = Uuid::from_u128(1).to_string();
                let status = send(&world.client(), &method, &route, &unknown, &world).await;
                assert_eq!(status, 404, "{method} {route}");
            }
        }
        let refusal = powerless.get("/api/v1/webhooks").await;
        assert!(refusal.text.contains("Webhooks.Manage"), "{}", refusal.text);
        let listed = other.get("/api/v1/webhooks").await.expect(200);
        assert_eq!(listed["items"], json!([]));
        let log = other.get("/api/v1/webhooks/deliveries").await.expect(200);
        assert_eq!(log["items"], json!([]));
        assert_eq!(world.show(&endpoint).await["events"], json!(["*"]), "nobody changed it");
    }

    async fn every_route_refuses_whoever_may_not_call_it(backend) {
        let world = World::new(backend).await;
        world.endpoint(&["*"]).await;
        world.publish("A-1").await;
        world.deliver().await;
        let untried = refuses_everybody(&world.shop, organisation(1)).await;
        let of_webhooks = |name: &&String| name.contains("/api/v1/webhooks");
        assert_eq!(untried.without_record.iter().find(of_webhooks), None);
        assert_eq!(untried.for_everybody_signed_in.iter().find(of_webhooks), None);
    }

    async fn what_is_wrong_is_named_by_its_field(backend) {
        let world = World::new(backend).await;
        let good = json!({"url": world.receiver.url(), "events": ["*"]});
        let endpoint = world.endpoint(&["*"]).await;
        for (field, value, named) in [
            ("url", json!("ftp://example.com/"), "url"),
            ("url", json!("https://user:password@example.com/"), "url"),
            ("url", json!("https://example.com:8443/"), "url"),
            ("url", json!("not a url"), "url"),
            ("url", json!(5), "url"),
            ("url", json!(null), "url"),
            ("events", json!([]), "events"),
            ("events", json!(["a.b", "*.created"]), "events[1]"),
            ("events", json!("products.*"), "events"),
            ("events", json!(null), "events"),
            ("secret", json!("whsec_c2hvcnQ="), "secret"),
            ("secret", json!("hunter2"), "secret"),
            ("description", json!("x".repeat(501)), "description"),
            ("isActive", json!("yes"), "isActive"),
            ("isActive", json!(null), "isActive"),
            ("headers", json!({"Webhook-Id": "1"}), "headers.Webhook-Id"),
            ("headers", json!({"Host": "evil"}), "headers.Host"),
            ("headers", json!({"X-Token": "a", "x-token": "b"}), "headers.x-token"),
            ("description", json!("a\0b"), "description"),
            ("unknown", json!(1), "unknown"),
        ] {
            let mut body = good.clone();
            body[field] = value.clone();
            let change = json!({field: value});
            for answer in [
                world.client().post("/api/v1/webhooks", body).await,
                world.client().put(&path(&endpoint, ""), change).await,
            ] {
                let problem = answer.expect(422);
                assert!(problem["errors"].get(named).is_some(), "{field}: {problem}");
                assert!(!answer.text.contains("hunter2"), "{}", answer.text);
            }
        }
        for missing in ["url", "events"] {
            let mut body = good.clone();
            body.as_object_mut().unwrap().remove(missing);
            let problem = world.client().post("/api/v1/webhooks", body).await.expect(422);
            assert!(problem["errors"].get(missing).is_some(), "{problem}");
        }
        let listed = world.client().get("/api/v1/webhooks").await.expect(200);
        assert_eq!(listed["items"].as_array().unwrap().len(), 1, "nothing was registered");
    }

    async fn a_filter_that_no_event_type_can_match_is_refused_before_the_database_is_asked(backend) {
        let world = World::new(backend).await;
        let listed = world.client().get("/api/v1/webhooks/deliveries?eventType=a%00b").await;
        assert!(listed.expect(400)["errors"].get("eventType").is_some(), "{}", listed.text);
        let body = json!({"eventType": "a\0b"});
        let sent = world.client().post("/api/v1/webhooks/deliveries/redeliver", body).await;
        assert!(sent.expect(422)["errors"].get("eventType").is_some(), "{}", sent.text);
    }

    async fn private_addresses_are_refused_at_save_and_at_send(backend) {
        let world = World::with(backend, |builder| {
            builder.setting("Svc:Webhooks:AllowPrivateNetworks", false)
        })
        .await;
        for url in [
            world.receiver.url(), "http://10.0.0.1/".into(), "http://[::1]/".into(),
            "http://169.254.169.254/latest/meta-data".into(), "http://2130706433/".into(),
        ] {
            let body = json!({"url": url, "events": ["*"]});
            let problem = world.client().post("/api/v1/webhooks", body).await.expect(422);
            assert!(problem["errors"]["url"].is_array(), "{url}: {problem}");
        }
        // A name is looked up when something is sent; this one leads to loopback everywhere.
        let url = format!("http://localhost:{}/", world.receiver.port());
        let body = json!({"url": url, "events": ["*"]});
        let saved = world.client().post("/api/v1/webhooks", body).await;
        if saved.status == 201 {
            world.publish("A-1").await;
            assert_eq!(world.deliver().await.len(), 0);
            assert_eq!(world.log().await[0]["status"], "retrying");
        } else {
            let _ = saved.expect(422);
        }
    }
}

#[tokio::test]
async fn an_endpoint_may_not_name_the_application_itself() {
    let world = World::with(Backend::Sqlite, |builder| {
        builder.setting("Svc:Http:PublicUrl", "https://shop.example.com/base")
    })
    .await;
    let body = json!({"url": "https://shop.example.com/hook", "events": ["*"]});
    let problem = world.client().post("/api/v1/webhooks", body).await.expect(422);
    assert!(problem["errors"]["url"].is_array(), "{problem}");
}

#[tokio::test]
async fn nothing_of_the_module_is_an_entity_set() {
    let world = World::new(Backend::Sqlite).await;
    let context = world.shop.context(&world.ada);
    let sets: Vec<&str> = context.catalogue().sets().map(|model| model.name()).collect();
    // What is no set is neither served over OData nor offered to AI tools.
    assert_eq!(sets, ["Products", "Notes"]);
    let metadata = world.client().get("/odata/v1/$metadata").await.text;
    for word in ["webhooks_", "Webhook", "secret"] {
        assert!(!metadata.contains(word), "`{word}` is in the metadata");
    }
}
