//! What an endpoint wants of the events that it lists, and how they are written.

use sea_orm::ActiveValue::Set;
use serde_json::{Value as Json, json};
use svc_testing::{Person, on_both_databases};

use crate::fixture::{SECRET, World, path, types};

/// Registers an endpoint of Ada's with what is said.
async fn endpoint(world: &World, events: &[&str], said: Json) -> Json {
    let mut body = json!({"url": world.receiver.url(), "events": events, "secret": SECRET});
    body.as_object_mut().unwrap().extend(said.as_object().unwrap().clone());
    world.client().post("/api/v1/webhooks", body).await.expect(201)
}

async fn change(world: &World, endpoint: &Json, said: Json) -> Json {
    world.client().put(&path(endpoint, ""), said).await.expect(200)
}

on_both_databases! {
    async fn an_endpoint_gets_the_events_that_its_filter_lets_through(backend) {
        let world = World::new(backend).await;
        let wanted = "sku eq 'A-1' and price gt 10 and region in ('EU','CH')";
        let filtered = endpoint(&world, &["products.*"], json!({"filter": wanted})).await;
        assert_eq!(filtered["filter"], wanted);
        let first = world.create("A-1").await;
        let second = world.create("B-1").await;
        assert_eq!(types(&world.deliver().await), ["products.created"]);
        assert_eq!(world.count("webhooks_deliveries").await, 1, "nothing is stored of the other");
        world.change(second, |product| product.sku = Set("A-1".into())).await;
        world.change(first, |product| product.region = Set("US".into())).await;
        let received = world.deliver().await;
        assert_eq!((received.len(), &received[0].json()["data"]["id"]), (1, &json!(second)));
        // What is gone for good is told by its key alone, and judged by what it was.
        world.delete(first).await;
        world.delete(second).await;
        let received = world.deliver().await;
        assert_eq!(types(&received), ["products.deleted"]);
        assert_eq!(received[0].json()["data"], json!({"id": second}));
        let all = change(&world, &filtered, json!({"filter": null})).await;
        assert_eq!(all["filter"], json!(null));
        world.create("B-2").await;
        assert_eq!(world.deliver().await.len(), 1);
    }

    async fn a_filter_sees_what_the_owner_sees_and_no_more(backend) {
        let world = World::new(backend).await;
        let bob = Person::named("Bob").who_may(&["Webhooks.Manage", "Products.View"]);
        let body = json!({
            "url": world.receiver.url(), "events": ["products.*"], "filter": "costPrice gt 1",
        });
        let bobs = world.shop.sign_in(&bob).post("/api/v1/webhooks", body).await.expect(201);
        world.create("A-1").await;
        assert_eq!(world.deliver().await.len(), 0, "the price is hidden from Bob, so it is null");
        // Ada sees it, and thin events are judged by all that she sees.
        let change = json!({"isThin": true});
        let _ = world.client().put(&path(&bobs, ""), change).await.expect(200);
        world.create("A-2").await;
        let received = world.deliver().await;
        assert_eq!(received.len(), 1);
        assert!(received[0].json()["data"]["sku"].is_null(), "{}", received[0].json());
    }

    async fn a_filter_holds_for_application_events_and_for_what_was_missed(backend) {
        let world = World::new(backend).await;
        let low = endpoint(&world, &["stock.low"], json!({"filter": "left lt 3"})).await;
        world.publish_many(5).await;
        let received = world.deliver().await;
        assert_eq!(received.len(), 3);
        assert!(received.iter().all(|one| one.json()["data"]["left"].as_u64().unwrap() < 3));
        let _ = change(&world, &low, json!({"isActive": false})).await;
        world.publish_many(5).await;
        assert_eq!(world.deliver().await.len(), 0);
        assert_eq!(world.count("webhooks_deliveries WHERE status = 4").await, 3, "missed");
        let sent = world.client().post(&path(&low, "/test"), json!({})).await;
        assert_eq!(sent.status, 202);
        assert_eq!(types(&world.deliver().await), ["webhook.test"], "the test event always passes");
    }

    async fn what_nobody_owned_is_filtered_when_it_is_recovered(backend) {
        let world = World::new(backend).await;
        let carol = Person::named("Carol");
        let body = json!({
            "url": world.receiver.url(), "events": ["products.*"], "filter": "sku ne 'B'",
        });
        let hers = world.shop.sign_in(&carol).post("/api/v1/webhooks", body).await.expect(201);
        world.shop.dismiss(&carol);
        for sku in ["A", "B", "C"] {
            world.create(sku).await;
        }
        assert_eq!(world.deliver().await.len(), 0);
        let _ = change(&world, &hers, json!({})).await;
        let since = json!({"since": "2000-01-01T00:00:00Z"});
        let _ = world.client().post(&path(&hers, "/recover"), since).await.expect(202);
        let received = world.deliver().await;
        let skus: Vec<Json> = received.iter().map(|one| one.json()["data"]["sku"].clone()).collect();
        assert_eq!(skus, ["A", "C"]);
    }

    async fn wishes_that_make_no_sense_are_refused_by_their_field(backend) {
        let world = World::new(backend).await;
        let refused = async |events: &[&str], said: Json| {
            let mut body = json!({"url": world.receiver.url(), "events": events});
            body.as_object_mut().unwrap().extend(said.as_object().unwrap().clone());
            let answer = world.client().post("/api/v1/webhooks", body).await;
            assert_eq!(answer.status, 422, "{said}");
            answer.json()["errors"].clone()
        };
        let errors = refused(&["products.*"], json!({"filter": "prise gt 5"})).await;
        let message = errors["filter"][0].as_str().unwrap();
        assert!(message.contains("`prise`") && message.contains("`price`"), "{message}");
        let errors = refused(&["products.*"], json!({"filter": "price gt"})).await;
        assert!(errors["filter"][0].as_str().unwrap().starts_with("position 6"), "{errors}");
        let dear = vec!["contains(sku,'A')"; 21].join(" or ");
        let errors = refused(&["products.*"], json!({"filter": dear})).await;
        assert_eq!(errors["filter"][0], "calls 21 functions, and may call 20 at most");
        let both = json!({"format": "cloudEvents", "includesChanges": true});
        assert!(!refused(&["*"], both).await["includesChanges"][0].is_null());
        let long = json!({"metadata": {"team": "x".repeat(501)}});
        assert!(!refused(&["*"], long).await["metadata.team"][0].is_null());
        // Events of which it isn't known what they hold may hold anything.
        let any = endpoint(&world, &["*", "told"], json!({"filter": "left gt 1"})).await;
        let other = json!({"events": ["products.*"]});
        let answer = world.client().put(&path(&any, ""), other).await;
        assert_eq!(answer.status, 422, "the filter it has fits no event that it would list");
        let off = change(&world, &any, json!({"isActive": false})).await;
        assert_eq!(off["isActive"], false);
    }

    async fn events_are_written_as_cloud_events_on_demand(backend) {
        let world = World::new(backend).await;
        let cloud = endpoint(&world, &["products.*"], json!({"format": "cloudEvents"})).await;
        assert_eq!(cloud["format"], "cloudEvents");
        let id = world.create("A-1").await;
        let received = world.deliver().await;
        let body = received[0].json();
        assert_eq!(received[0].header("content-type"), "application/cloudevents+json; charset=utf-8");
        assert_eq!(body["specversion"], "1.0");
        assert_eq!(body["type"], "products.created");
        assert_eq!(body["subject"], format!("Products/{id}"));
        assert_eq!(body["id"], received[0].header("webhook-id"));
        assert_eq!(body["data"]["sku"], "A-1");
        assert!(crate::fixture::is_accepted(&received[0], SECRET));
        // Bodies stay as they were made, and say which they are.
        let _ = change(&world, &cloud, json!({"format": "standard"})).await;
        let log = world.log().await;
        let again = format!("/api/v1/webhooks/deliveries/{}/redeliver", log[0]["id"].as_str().unwrap());
        let _ = world.client().post(&again, json!({})).await.expect(202);
        let received = world.deliver().await;
        assert_eq!(received[0].header("content-type"), "application/cloudevents+json; charset=utf-8");
        let _ = world.client().post(&path(&cloud, "/test"), json!({})).await.expect(202);
        let received = world.deliver().await;
        assert_eq!(received[0].header("content-type"), "application/json; charset=utf-8");
    }

    async fn an_organisation_says_which_hosts_its_endpoints_may_be_at(backend) {
        let world = World::new(backend).await;
        let made = endpoint(&world, &["*"], json!({})).await;
        let allow = async |hosts: &str| {
            let setting = "/api/v1/settings/Webhooks.AllowedHosts";
            let answer = world.client().put(setting, json!({"value": hosts})).await;
            assert!(answer.status.is_success(), "{}", answer.text);
        };
        allow("hooks.example.com").await;
        // What was allowed before is not sent any more, and says why.
        world.publish("A-1").await;
        assert_eq!(world.deliver().await.len(), 0);
        let log = world.log().await;
        assert_eq!(log[0]["status"], "retrying");
        let error = log[0]["error"].as_str().unwrap();
        assert!(error.contains("`Webhooks.AllowedHosts`") && error.contains("`127.0.0.1`"), "{error}");
        let body = json!({"url": world.receiver.url(), "events": ["*"]});
        let refused = world.client().post("/api/v1/webhooks", body).await.expect(422);
        assert!(refused["errors"]["url"][0].as_str().unwrap().contains("allows no endpoints at"), "{refused}");
        let moved = json!({"url": format!("http://localhost:{}/", world.receiver.port())});
        assert_eq!(world.client().put(&path(&made, ""), moved).await.status, 422);
        let other = json!({"description": "x"});
        let _ = change(&world, &made, other).await;
        // It is another permission that says which.
        let manager = Person::named("Manager").who_may(&["Webhooks.Manage"]);
        let answer = world.shop.sign_in(&manager);
        let answer = answer.put("/api/v1/settings/Webhooks.AllowedHosts", json!({"value": ""})).await;
        assert_eq!(answer.status, 403);
        allow("127.0.0.1").await;
        assert_eq!(world.after(30).await.len(), 1);
    }

    async fn values_of_ones_own_are_kept_with_an_endpoint(backend) {
        let world = World::new(backend).await;
        let said = json!({"metadata": {"team": "sales", "ticket": "T-7"}});
        let made = endpoint(&world, &["*"], said.clone()).await;
        assert_eq!(made["metadata"], said["metadata"]);
        let _ = change(&world, &made, json!({"description": "x"})).await;
        assert_eq!(world.show(&made).await["metadata"], said["metadata"]);
        let _ = change(&world, &made, json!({"metadata": {}})).await;
        assert_eq!(world.show(&made).await["metadata"], json!({}));
    }
}
