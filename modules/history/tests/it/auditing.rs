//! The audit log, and taking back all that one command did.

use sea_orm::entity::prelude::*;
use sea_orm::{ActiveValue::Set, IntoActiveModel as _};
use serde_json::{Value as Json, json};
use svc_testing::{Client, Person, on_both_databases, organisation};

use crate::fixture::{World, product};

/// Somebody who reads the log, and little beside it.
fn auditor() -> Person {
    Person::named("Rita").who_may(&["History.Audit", "Products.View"])
}

async fn log(client: &Client, query: &str) -> Vec<Json> {
    let path = format!("/api/v1/audit?{query}");
    client.get(&path).await.expect(200)["items"].as_array().unwrap().clone()
}

/// Changes the price of many products by one command.
async fn reprice(world: &World, ids: &[String], cents: i64) {
    let work = async |uow: svc_data::UnitOfWork| {
        for id in ids {
            let key: Uuid = id.parse().unwrap();
            let mut product = uow.find::<product::Entity>(key).await?.into_active_model();
            product.price = Set(Decimal::new(cents, 2));
            uow.update(product).await?;
        }
        Ok(())
    };
    world.context().transact(work).await.unwrap();
}

/// A product of its own number.
fn lamp(number: i32) -> product::ActiveModel {
    product::ActiveModel {
        sku: Set(format!("A-{number}")),
        name: Set("Lamp".to_owned()),
        region: Set("EU".to_owned()),
        price: Set(Decimal::ONE),
        ..Default::default()
    }
}

/// Makes so many products in one unit of work.
async fn make_lamps(world: &World, count: i32) {
    let many: Vec<_> = (0..count).map(lamp).collect();
    world.context().transact(async |uow| uow.insert_many(many).await).await.unwrap();
}

on_both_databases! {
    async fn the_log_tells_all_sets_and_filters(backend) {
        let world = World::new(backend).await;
        let client = world.client();
        let id = world.product("A-1").await;
        let made = client.post("/odata/v1/Makers", json!({"name": "Alpha"})).await.expect(201);
        world.change_as(&Person::named("Bob"), &id, json!({"price": 1})).await;
        let all = log(&client, "").await;
        let sets: Vec<_> = all.iter().map(|entry| entry["set"].as_str().unwrap()).collect();
        assert_eq!(sets, ["Products", "Makers", "Products"]);
        assert_eq!(all[1]["record"], made["id"]);
        assert_eq!(all[0]["fields"][0]["after"], 1);
        let unit = all[0]["unitOfWork"].as_str().unwrap();
        let request = all[1]["requestId"].as_str().unwrap();
        let bob = Person::named("Bob").id();
        for (query, expected) in [
            ("set=Makers".to_owned(), 1),
            (format!("set=Products&record={id}"), 2),
            ("operation=updated".to_owned(), 1),
            (format!("user={bob}"), 1),
            (format!("unitOfWork={unit}"), 1),
            (format!("requestId={request}"), 1),
            ("since=2026-11-20T11:00:00Z".to_owned(), 3),
            ("until=2026-11-20T11:00:00Z".to_owned(), 0),
            ("event=x".to_owned(), 0),
        ] {
            assert_eq!(log(&client, &query).await.len(), expected, "{query}");
        }
        let page = client.get("/api/v1/audit?take=2").await.expect(200);
        let next = page["next"].as_str().unwrap();
        let rest = log(&client, &format!("take=2&after={next}")).await;
        assert_eq!((page["items"].as_array().unwrap().len(), rest.len()), (2, 1));
        let stranger = world.app.sign_in(&Person::named("Eve").of(organisation(2)));
        assert_eq!(log(&stranger, "").await.len(), 0);
        let clerk = Person::named("Cy").who_may(&["History.View", "Products.View"]);
        let _ = world.app.sign_in(&clerk).get("/api/v1/audit").await.expect(403);
        for bad in ["operation=x", "user=x", "since=x", "after=x", "take=0"] {
            let _ = client.get(&format!("/api/v1/audit?{bad}")).await.expect(400);
        }
    }

    async fn all_of_a_request_is_found(backend) {
        let world = World::new(backend).await;
        let client = world.client();
        let ids = [world.product("A-1").await, world.product("A-2").await, world.product("A-3").await];
        // The first two together, the last one in a unit of work of its own.
        let requests: Vec<Json> = ids.iter().enumerate().map(|(number, id)| {
            let mut request = json!({
                "id": number.to_string(), "method": "patch", "url": format!("Products({id})"), "body": {"price": 7},
            });
            if number < 2 {
                request["atomicityGroup"] = json!("together");
            }
            request
        }).collect();
        let batch = json!({"requests": requests});
        let _ = client.post("/odata/v1/$batch", batch).await.expect(200);
        // Another system's trace goes over several requests.
        let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        for price in [8, 9] {
            let path = format!("/odata/v1/Products({})", ids[0]);
            let headers = [("traceparent", trace)];
            let _ = client.send_json(http::Method::PATCH, &path, &headers, json!({"price": price})).await.expect(200);
        }
        let newest = log(&client, "take=5").await;
        let units: Vec<_> = newest.iter().map(|entry| &entry["unitOfWork"]).collect();
        assert!(units[2] != units[3] && units[3] == units[4], "{units:?}");
        for (entry, expected) in [(&newest[0], 2), (&newest[4], 3)] {
            let request = entry["requestId"].as_str().unwrap();
            let found = log(&client, &format!("requestId={request}")).await;
            assert_eq!(found.len(), expected, "{found:?}");
            assert!(found.iter().all(|one| one["requestId"] == request));
        }
    }

    async fn facets_count_what_their_reader_may_see(backend) {
        let world = World::new(backend).await;
        let (east, west) = (world.product("A-1").await, world.product("A-2").await);
        let bob = Person::named("Bob");
        world.change_as(&bob, &west, json!({"region": "US"})).await;
        world.change_as(&bob, &east, json!({"price": 2})).await;
        world.change_as(&bob, &east, json!({"costPrice": 3})).await;
        let _ = world.client().post("/api/v1/audit/export", json!({})).await;
        let facets = async |client: &Client, query: &str| {
            client.get(&format!("/api/v1/audit/facets?{query}")).await.expect(200)
        };
        let all = facets(&world.client(), "").await;
        assert_eq!((&all["entries"], &all["complete"]), (&json!(6), &json!(true)));
        assert_eq!(all["sets"], json!([{"value": "Products", "label": "Products", "count": 5}]));
        assert_eq!(all["events"][0]["value"], "AuditLogExported");
        let operations = json!([
            {"value": "updated", "count": 3}, {"value": "created", "count": 2}, {"value": "event", "count": 1},
        ]);
        assert_eq!(all["operations"], operations);
        let people: Vec<_> = all["people"].as_array().unwrap().iter()
            .map(|one| (one["label"].as_str().unwrap(), &one["count"])).collect();
        assert_eq!(people.len(), 2);
        assert!(people.contains(&("Ada", &json!(3))) && people.contains(&("Bob", &json!(3))), "{all}");
        assert_eq!(facets(&world.client(), &format!("user={}", bob.id())).await["entries"], 3);
        let rita = world.app.sign_in(&auditor().with_claim("regions", &["EU"]));
        let seen = facets(&rita, "set=Products").await;
        assert_eq!((&seen["entries"], &seen["operations"][0]["count"]), (&json!(2), &json!(1)));
        let clerk = Person::named("Cy").who_may(&["History.View", "Products.View"]);
        let _ = world.app.sign_in(&clerk).get("/api/v1/audit/facets").await.expect(403);
        let _ = world.client().get("/api/v1/audit/facets?operation=x").await.expect(400);
    }

    async fn the_log_shows_what_its_reader_may_see(backend) {
        let world = World::new(backend).await;
        let (east, west) = (world.product("A-1").await, world.product("A-2").await);
        world.change(&west, json!({"region": "US"})).await;
        world.change(&east, json!({"costPrice": 3})).await;
        world.change(&east, json!({"price": 2, "contact": "Zoe"})).await;
        let _ = world.client().post("/odata/v1/Makers", json!({"name": "Alpha"})).await.expect(201);
        let rita = world.app.sign_in(&auditor().with_claim("regions", &["EU"]));
        let seen = log(&rita, "").await;
        let text = Json::from(seen.clone()).to_string();
        assert_eq!(seen.len(), 2, "{text}");
        assert!(!text.contains(&west) && !text.contains("costPrice") && !text.contains("Zoe"), "{text}");
        // Of what is gone, as it was last.
        for id in [&east, &west] {
            let gone = world.client().delete(&format!("/odata/v1/Products({id})")).await;
            assert_eq!(gone.status, 204);
        }
        let seen = log(&rita, "").await;
        assert_eq!(seen.len(), 3);
        assert_eq!(seen[0]["operation"], "deleted");
    }

    async fn events_stand_in_the_log(backend) {
        let world = World::new(backend).await;
        let client = world.client();
        let exported = client.post("/api/v1/audit/export", json!({})).await;
        assert_eq!(exported.header("content-type"), "application/jsonl");
        let seen = log(&client, "event=AuditLogExported").await;
        assert_eq!(seen.len(), 1);
        assert_eq!((&seen[0]["operation"], &seen[0]["by"]["displayName"]), (&json!("event"), &json!("Ada")));
        world.product("A-1").await;
        let exported = client.post("/api/v1/audit/export?set=Products", json!({})).await;
        let lines: Vec<Json> =
            exported.text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.len(), 1);
        assert_eq!(lines[0], log(&client, "set=Products").await[0]);
    }

    async fn an_export_of_a_set_stands_in_the_log_without_what_it_asked_for(backend) {
        let world = World::new(backend).await;
        world.product("A-1").await;
        let bob = Person::named("Bob").who_may(&["Products.View"]);
        let bob = world.app.sign_in(&bob);
        let path = "/odata/v1/Products/$export?format=csv&columns=sku,name&$filter=name%20eq%20%27Lamp%27&@p=%27Zoe%27&$orderby=sku";
        assert!(bob.get(path).await.text.contains("A-1"));
        let seen = log(&world.client(), "event=SetExported").await;
        assert_eq!(seen.len(), 1, "{seen:?}");
        let expected = json!({"set": "Products", "format": "csv", "options": ["$filter", "$orderby", "columns"]});
        assert_eq!((&seen[0]["data"], &seen[0]["by"]["displayName"]), (&expected, &json!("Bob")));
        assert!(!seen[0].to_string().contains("Lamp"), "{}", seen[0]);
        // Who only asks how long it is, or is refused, takes nothing away.
        let asked = bob.send(http::Method::HEAD, path, &[], "").await;
        assert_eq!(asked.status, 200);
        for (client, path, status) in [
            (&bob, "/odata/v1/Makers/$export", 403),
            (&bob, "/odata/v1/Products/$export?format=pdf", 400),
            (&bob, "/odata/v1/Products/$export?columns=costPrice", 400),
            (&bob, "/odata/v1/Products/$export?$filter=prize%20eq%201", 400),
            (&bob, "/odata/v1/Nothing/$export", 404),
            (&world.app.anonymous(), "/odata/v1/Products/$export", 401),
        ] {
            assert_eq!(client.get(path).await.status.as_u16(), status, "{path}");
        }
        assert_eq!(log(&world.client(), "event=SetExported").await.len(), 1);
        // All of it in the usual form.
        assert_eq!(bob.get("/odata/v1/Products/$export").await.status, 200);
        let seen = log(&world.client(), "event=SetExported").await;
        assert_eq!(seen[0]["data"], json!({"set": "Products", "format": "json", "options": []}));
        let stranger = world.app.sign_in(&Person::named("Eve").of(organisation(2)));
        assert_eq!(log(&stranger, "").await.len(), 0);
    }

    async fn an_export_goes_on_over_many_pages(backend) {
        let world = World::new(backend).await;
        make_lamps(&world, 450).await;
        let exported = world.client().post("/api/v1/audit/export?operation=created", json!({})).await;
        assert_eq!(exported.text.lines().count(), 450);
    }

    async fn what_is_rare_is_found_a_part_of_the_log_at_a_time(backend) {
        let world = World::new(backend).await;
        let bob = Person::named("Bob");
        let first = world.app.context(&bob).transact(async |uow| uow.insert(lamp(0)).await).await.unwrap();
        for part in 0..6 {
            let many: Vec<_> = (1..=1_000).map(|number| lamp(part * 1_000 + number)).collect();
            world.context().transact(async |uow| uow.insert_many(many).await).await.unwrap();
        }
        let client = world.client();
        let user = format!("user={}", bob.id());
        let page = client.get(&format!("/api/v1/audit?{user}")).await.expect(200);
        assert_eq!(page["items"], json!([]), "not among the newest 5,000");
        let next = page["next"].as_str().unwrap();
        let page = client.get(&format!("/api/v1/audit?{user}&after={next}")).await.expect(200);
        assert_eq!((&page["items"][0]["record"], &page["next"]), (&json!(first.id), &Json::Null));
        let exported = client.post(&format!("/api/v1/audit/export?{user}"), json!({})).await;
        assert_eq!(exported.text.lines().count(), 1);
    }

    async fn a_command_is_taken_back_as_a_whole_or_not_at_all(backend) {
        let world = World::new(backend).await;
        let client = world.client();
        let mut ids = Vec::new();
        for number in 0..40 {
            ids.push(world.product(&format!("A-{number}")).await);
        }
        reprice(&world, &ids, 100).await;
        let unit = log(&client, "take=1").await[0]["unitOfWork"].as_str().unwrap().to_owned();
        let path = format!("/api/v1/audit/units/{unit}");
        let seen = client.get(&format!("{path}/preview")).await.expect(200);
        let records = seen["records"].as_array().unwrap();
        assert_eq!(records.len(), 40);
        assert!(records.iter().all(|one| one["action"] == "change" && one["problem"].is_null()), "{seen}");
        // One that was changed since keeps all of them as they are.
        world.change(&ids[7], json!({"price": 7})).await;
        let entries = world.entries().await;
        for version in [seen["version"].clone(), Json::Null] {
            let refused = client.post(&format!("{path}/undo"), json!({"version": version})).await.expect(409);
            assert_eq!(refused["code"], "history.changed_since");
        }
        // One that can't go back does so too.
        let gone = client.delete(&format!("/odata/v1/Products({})", ids[9])).await;
        assert_eq!(gone.status, 204);
        let seen = client.get(&format!("{path}/preview")).await.expect(200);
        let clerk = Person::named("Cy").who_may(&["History.Audit", "Products.View"]);
        let refused = world.app.sign_in(&clerk).post(&format!("{path}/undo"), json!({"version": seen["version"]})).await;
        assert_eq!(refused.expect(403)["parameters"]["permission"], "Products.Update");
        assert_eq!(world.entries().await, entries + 1);
        let done = client.post(&format!("{path}/undo"), json!({"version": seen["version"]})).await.expect(200);
        assert_eq!(done["records"], 38, "one was changed later, and one is gone");
        let prices = client.get("/odata/v1/Products?$filter=price%20eq%2012.5").await.expect(200);
        assert_eq!(prices["value"].as_array().unwrap().len(), 38);
        let taking_back = log(&client, "take=38").await;
        let units: std::collections::BTreeSet<_> =
            taking_back.iter().map(|entry| entry["unitOfWork"].to_string()).collect();
        assert_eq!(units.len(), 1);
        assert!(taking_back.iter().all(|entry| entry["tookBack"].is_string()));
        let unknown = format!("/api/v1/audit/units/{}/preview", Uuid::nil());
        let _ = client.get(&unknown).await.expect(404);
        let stranger = world.app.sign_in(&Person::named("Eve").of(organisation(2)));
        let _ = stranger.get(&format!("{path}/preview")).await.expect(404);
    }

    async fn what_changed_more_than_is_taken_back_at_once_is_refused(backend) {
        let world = World::new(backend).await;
        make_lamps(&world, 1_001).await;
        let client = world.client();
        let unit = log(&client, "take=1").await[0]["unitOfWork"].as_str().unwrap().to_owned();
        let path = format!("/api/v1/audit/units/{unit}");
        let refused = client.get(&format!("{path}/preview")).await.expect(422);
        assert_eq!(refused["code"], "history.too_many");
        let refused = client.post(&format!("{path}/undo"), json!({"version": "x"})).await.expect(422);
        assert_eq!(refused["code"], "history.too_many");
        assert_eq!(world.entries().await, 1_001);
    }
}
