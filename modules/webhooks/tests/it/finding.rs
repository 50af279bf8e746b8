//! Finding deliveries by event, by entity, by time and by the answer's code.

use std::time::Duration;

use serde_json::{Value as Json, json};
use svc_events::Publish as _;
use svc_testing::{Person, on_both_databases, organisation};
use uuid::Uuid;

use crate::fixture::{WorkflowTransitioned, World, path};

/// A page of the log.
async fn list(world: &World, query: &str) -> Json {
    world.client().get(&format!("/api/v1/webhooks/deliveries?{query}")).await.expect(200)
}

/// The log, page by page.
async fn walk(world: &World, query: &str, take: usize) -> Vec<Json> {
    let mut found = Vec::new();
    let mut page = list(world, &format!("{query}&take={take}")).await;
    loop {
        let items = page["items"].as_array().unwrap();
        assert!(items.len() <= take);
        found.extend(items.clone());
        let Some(next) = page["next"].as_str() else { return found };
        page = list(world, &format!("{query}&take={take}&after={next}")).await;
    }
}

fn texts(found: &[Json], name: &str) -> Vec<String> {
    found.iter().map(|one| one[name].as_str().unwrap_or("-").to_owned()).collect()
}

on_both_databases! {
    async fn deliveries_are_found_by_their_event_with_all_that_were_sent_again(backend) {
        let world = World::new(backend).await;
        world.endpoint(&["*"]).await;
        world.endpoint(&["stock.*"]).await;
        world.publish_many(3).await;
        world.deliver().await;
        let log = world.log().await;
        let event = log[0]["eventId"].as_str().unwrap();
        let query = format!("eventId={event}");
        assert_eq!(walk(&world, &query, 1).await.len(), 2, "one for each endpoint");
        let first = log[0]["id"].as_str().unwrap();
        let again = world
            .client()
            .post(&format!("/api/v1/webhooks/deliveries/{first}/redeliver"), json!({}))
            .await
            .expect(202);
        let found = walk(&world, &query, 1).await;
        assert_eq!(found.len(), 3);
        assert_eq!(found[0]["id"], again["id"], "the newest first");
        assert!(found.iter().all(|one| one["eventId"] == event));
        world.deliver().await;
        let endpoint = log[0]["subscriptionId"].as_str().unwrap();
        assert_eq!(walk(&world, &format!("{query}&subscriptionId={endpoint}"), 5).await.len(), 2);
        assert_eq!(walk(&world, &format!("{query}&status=delivered"), 5).await.len(), 3);
        assert_eq!(walk(&world, &format!("{query}&status=failed"), 5).await.len(), 0);
        assert_eq!(walk(&world, &format!("{query}&statusCode=204"), 5).await.len(), 3);
        assert_eq!(walk(&world, &format!("eventId={}", Uuid::nil()), 5).await.len(), 0);
        // What is another organisation's is found by nobody else.
        let stranger = Person::named("Eve").of(organisation(2));
        let theirs = world.shop.sign_in(&stranger);
        let found = theirs.get(&format!("/api/v1/webhooks/deliveries?{query}")).await.expect(200);
        assert_eq!(found["items"], json!([]));
    }

    async fn deliveries_are_found_by_the_entity_they_tell_of(backend) {
        let world = World::new(backend).await;
        world.endpoint(&["*"]).await;
        let bolt = world.create("Bolt").await;
        let nut = world.create("Nut").await;
        world.change(bolt, |one| one.sku = sea_orm::ActiveValue::Set("Bolt 2".to_owned())).await;
        let told = WorkflowTransitioned {
            entity_type: "Shop.Product".to_owned(),
            entity_id: bolt,
            from: "new".to_owned(),
            to: "sold".to_owned(),
        };
        let context = world.shop.context(&world.ada);
        context.transact(async move |uow| uow.raise_domain(told)).await.unwrap();
        world.delete(bolt).await;
        world.publish("about nothing").await;
        world.deliver().await;
        let all = ["products.deleted", "products.updated", "products.created"];
        let upper = bolt.to_string().to_uppercase();
        for (kind, id) in [("Products", bolt.to_string()), ("product", upper), ("PRODUCTS", bolt.simple().to_string())] {
            let found = walk(&world, &format!("entityType={kind}&entityId={id}"), 2).await;
            // The transition told of a record that nobody could see any more.
            let types: Vec<String> = texts(&found, "eventType")
                .into_iter()
                .filter(|one| one != "workflow.transitioned")
                .collect();
            assert_eq!(types, all, "{kind} {id}");
            assert!(texts(&found, "entityId").iter().all(|one| *one == bolt.to_string()));
            assert!(texts(&found, "entityType").iter().all(|one| one == "Products"));
        }
        assert_eq!(walk(&world, &format!("entityType=Products&entityId={nut}"), 5).await.len(), 1);
        assert_eq!(walk(&world, &format!("entityType=Notes&entityId={nut}"), 5).await.len(), 0);
        let shown = world.log().await;
        let nothing = shown.iter().find(|one| one["eventType"] == "stock.low").unwrap();
        assert_eq!((&nothing["entityType"], &nothing["entityId"]), (&Json::Null, &Json::Null));
    }

    async fn what_an_event_names_may_be_of_any_length_and_sort(backend) {
        let world = World::new(backend).await;
        let endpoint = world.endpoint(&["stock.low"]).await;
        let ordered = json!({"isOrdered": true, "events": ["*"]});
        let _ = world.client().put(&path(&endpoint, ""), ordered).await.expect(200);
        for id in ["7".repeat(5_000), "7\0".to_owned(), "7".to_owned()] {
            world.land("Ship", &id).await;
        }
        assert_eq!(world.deliver().await.len(), 3, "each is told");
        assert_eq!(walk(&world, "entityType=SHIP&entityId=7", 5).await.len(), 1);
    }

    async fn a_search_that_makes_no_sense_is_refused_by_its_field(backend) {
        let world = World::new(backend).await;
        let long = "7".repeat(201);
        for (query, field) in [
            ("eventId=1", "eventId"),
            ("entityType=Products", "entityType"),
            ("entityId=7", "entityId"),
            ("entityType=Products&entityId=", "entityId"),
            ("entityType=Products&entityId=a%00b", "entityId"),
            (&format!("entityType=Products&entityId={long}"), "entityId"),
            (&format!("entityType={long}&entityId=7"), "entityType"),
            (&format!("eventId={}&entityType=Products&entityId=7", Uuid::nil()), "eventId"),
        ] {
            let path = format!("/api/v1/webhooks/deliveries?{query}");
            let problem = world.client().get(&path).await.expect(400);
            assert!(problem["errors"].get(field).is_some(), "{query}: {problem}");
        }
        let after = "InRoaXMgaXMgbm90IGl0Ig";
        let path = format!("/api/v1/webhooks/deliveries?eventId={}&after={after}", Uuid::nil());
        let problem = world.client().get(&path).await.expect(400);
        assert!(problem["errors"].get("after").is_some(), "{problem}");
    }

    async fn a_span_of_time_narrows_an_entity_s_deliveries_too(backend) {
        let world = World::new(backend).await;
        world.endpoint(&["*"]).await;
        let bolt = world.create("Bolt").await;
        world.deliver().await;
        world.shop.advance(Duration::from_hours(2));
        world.change(bolt, |one| one.sku = sea_orm::ActiveValue::Set("Bolt 2".to_owned())).await;
        world.deliver().await;
        let entity = format!("entityType=Products&entityId={bolt}");
        let newest = walk(&world, &entity, 5).await;
        assert_eq!(newest.len(), 2);
        let at = newest[0]["time"].as_str().unwrap();
        let since = walk(&world, &format!("{entity}&since={at}"), 5).await;
        assert_eq!(texts(&since, "eventType"), ["products.updated"]);
        let until = walk(&world, &format!("{entity}&until={at}"), 5).await;
        assert_eq!(texts(&until, "eventType"), ["products.created"]);
    }

    async fn what_was_missed_is_found_by_its_entity_once_it_is_recovered(backend) {
        let world = World::new(backend).await;
        let endpoint = world.endpoint_of(&Person::named("Bob"), &["*"]).await;
        world.shop.dismiss(&Person::named("Bob"));
        let bolt = world.create("Bolt").await;
        assert_eq!(world.deliver().await.len(), 0);
        let entity = format!("entityType=Products&entityId={bolt}");
        assert_eq!(walk(&world, &entity, 5).await.len(), 0, "nothing shows what was missed");
        world.shop.advance(Duration::from_hours(3));
        let _ = world.client().put(&path(&endpoint, ""), json!({})).await.expect(200);
        let since = json!({"since": "2026-01-01T00:00:00Z"});
        let _ = world.client().post(&path(&endpoint, "/recover"), since).await.expect(202);
        assert_eq!(world.deliver().await.len(), 1);
        let found = walk(&world, &entity, 5).await;
        assert_eq!(texts(&found, "status"), ["delivered"]);
        let at = found[0]["time"].as_str().unwrap();
        assert_eq!(walk(&world, &format!("{entity}&since={at}"), 5).await.len(), 1);
    }

    async fn answers_are_found_by_their_code(backend) {
        let world = World::new(backend).await;
        let endpoint = world.endpoint(&["*"]).await;
        world.receiver.answer_with([500, 404, 204, 500]);
        world.publish_many(4).await;
        world.deliver().await;
        let id = endpoint["id"].as_str().unwrap();
        for (query, count) in [
            ("statusCode=500".to_owned(), 2),
            ("statusCode=404".to_owned(), 1),
            ("statusCode=204".to_owned(), 1),
            ("statusCode=503".to_owned(), 0),
            (format!("statusCode=500&subscriptionId={id}"), 2),
            ("statusCode=500&status=retrying".to_owned(), 2),
            ("statusCode=500&status=failed".to_owned(), 0),
            ("statusCode=500&eventType=products.created".to_owned(), 0),
        ] {
            assert_eq!(walk(&world, &query, 1).await.len(), count, "{query}");
        }
        for code in [-1, 99, 1_000] {
            let query = format!("/api/v1/webhooks/deliveries?statusCode={code}");
            let refused = world.client().get(&query).await.expect(400);
            assert!(refused["errors"].get("statusCode").is_some(), "{refused}");
        }
    }
}
