//! Taking back what happened to one record.

use serde_json::{Value as Json, json};
use svc_testing::{Client, Person, on_both_databases, organisation};

use crate::fixture::World;

pub(crate) async fn preview(client: &Client, place: &str, entry: &Json, mode: &str) -> Json {
    let entry = entry["id"].as_str().unwrap();
    let path = format!("/api/v1/history/{place}/{entry}/preview?mode={mode}");
    client.get(&path).await.expect(200)
}

pub(crate) fn request(entry: &Json, seen: &Json, mode: &str) -> Json {
    json!({"entry": entry["id"], "version": seen["version"], "mode": mode})
}

/// Looks, and then takes back.
pub(crate) async fn restore(client: &Client, place: &str, entry: &Json, mode: &str) -> Json {
    let seen = preview(client, place, entry, mode).await;
    assert_eq!(seen["problem"], Json::Null, "{seen}");
    let path = format!("/api/v1/history/{place}/restore");
    client.post(&path, request(entry, &seen, mode)).await.expect(200)
}

pub(crate) fn field<'a>(seen: &'a Json, name: &str) -> &'a Json {
    let fields = seen["fields"].as_array().unwrap();
    fields.iter().find(|field| field["name"] == name).unwrap_or(&Json::Null)
}

on_both_databases! {
    async fn an_undo_takes_its_own_fields_back_and_leaves_later_changes(backend) {
        let world = World::new(backend).await;
        let id = world.product("A-1").await;
        let (bob, cy) = (Person::named("Bob"), Person::named("Cy"));
        world.change(&id, json!({"name": "Lantern"})).await;
        world.change_as(&bob, &id, json!({"price": 20, "name": "Torch"})).await;
        world.change_as(&cy, &id, json!({"name": "Candle", "region": "US"})).await;
        let place = format!("Products/{id}");
        let history = world.history("Products", &id).await;
        let bobs = &history[1];
        assert_eq!(bobs["by"]["displayName"], "Bob");
        let seen = preview(&world.client(), &place, bobs, "Undo").await;
        assert_eq!((&seen["version"], &seen["action"]), (&json!(4), &json!("change")));
        assert_eq!(
            *field(&seen, "price"),
            json!({"name": "price", "label": "price", "now": 20, "restored": 12.5, "changedLater": false, "problem": null, "code": null})
        );
        assert_eq!(field(&seen, "name")["changedLater"], true);
        assert_eq!(field(&seen, "region"), &Json::Null);
        let done = restore(&world.client(), &place, bobs, "Undo").await;
        assert_eq!(done, json!({"action": "change", "version": 5}));
        let now = world.client().get(&format!("/odata/v1/Products({id})")).await.expect(200);
        assert_eq!((&now["price"], &now["name"], &now["region"]), (&json!(12.5), &json!("Candle"), &json!("US")));
        let history = world.history("Products", &id).await;
        assert_eq!(history[0]["tookBack"], bobs["id"]);
        assert_eq!(history[0]["by"]["displayName"], "Ada");
        // What was changed later goes back where it is named.
        let seen = preview(&world.client(), &place, bobs, "Undo").await;
        let mut named = request(bobs, &seen, "Undo");
        named["fields"] = json!(["name"]);
        let _ = world.client().post(&format!("/api/v1/history/{place}/restore"), named).await.expect(200);
        let now = world.client().get(&format!("/odata/v1/Products({id})")).await.expect(200);
        assert_eq!(now["name"], "Lantern");
    }

    async fn a_record_goes_back_to_what_it_was(backend) {
        let world = World::new(backend).await;
        let id = world.product("A-1").await;
        for price in [1, 2, 3] {
            world.change(&id, json!({"price": price, "name": format!("Lamp {price}")})).await;
        }
        let place = format!("Products/{id}");
        let second = world.history("Products", &id).await[1].clone();
        restore(&world.client(), &place, &second, "After").await;
        let now = world.client().get(&format!("/odata/v1/Products({id})")).await.expect(200);
        assert_eq!((&now["price"], &now["name"]), (&json!(2), &json!("Lamp 2")));
        restore(&world.client(), &place, &second, "Before").await;
        let now = world.client().get(&format!("/odata/v1/Products({id})")).await.expect(200);
        assert_eq!((&now["price"], &now["name"]), (&json!(1), &json!("Lamp 1")));
        let entries = world.entries().await;
        let again = restore(&world.client(), &place, &second, "Before").await;
        assert_eq!(again["action"], "nothing");
        assert_eq!(world.entries().await, entries, "what changes nothing leaves nothing");
    }

    async fn a_deletion_is_undone_under_its_key_and_a_creation_by_deleting(backend) {
        let world = World::new(backend).await;
        let client = world.client();
        let id = world.product("A-1").await;
        world.change(&id, json!({"costPrice": 4, "contact": "Zoe"})).await;
        assert_eq!(client.delete(&format!("/odata/v1/Products({id})")).await.status, 204);
        let place = format!("Products/{id}");
        let deletion = world.history("Products", &id).await[0].clone();
        let done = restore(&client, &place, &deletion, "Undo").await;
        assert_eq!(done, json!({"action": "create", "version": 3}));
        let now = client.get(&format!("/odata/v1/Products({id})")).await.expect(200);
        assert_eq!((&now["costPrice"], &now["contact"]), (&json!(4), &json!("Zoe")));
        let history = world.history("Products", &id).await;
        assert_eq!((&history[0]["operation"], &history[0]["tookBack"]), (&json!("created"), &deletion["id"]));
        let done = restore(&client, &place, &history[0], "Undo").await;
        assert_eq!(done["action"], "delete");
        assert_eq!(client.get(&format!("/odata/v1/Products({id})")).await.status, 404);
        // Softly.
        let made = client.post("/odata/v1/Makers", json!({"name": "Alpha"})).await.expect(201);
        let id = made["id"].as_str().unwrap();
        let place = format!("Makers/{id}");
        assert_eq!(client.delete(&format!("/odata/v1/Makers({id})")).await.status, 204);
        let deletion = world.history("Makers", id).await[0].clone();
        let clerk = Person::named("Cy").who_may(&["History.View", "Makers.View", "Makers.Update"]);
        let seen = preview(&world.app.sign_in(&clerk), &place, &deletion, "Undo").await;
        assert_eq!(seen["problem"], "this needs the permission `Makers.Restore`");
        let done = restore(&client, &place, &deletion, "Undo").await;
        assert_eq!(done, json!({"action": "restore", "version": 3}));
        let restoring = world.history("Makers", id).await[0].clone();
        let done = restore(&client, &place, &restoring, "Undo").await;
        assert_eq!(done, json!({"action": "delete", "version": 4}));
    }

    async fn what_only_the_application_sets_comes_back_as_it_was_last(backend) {
        let world = World::new(backend).await;
        let id = world.product("A-1").await;
        world.remark(&id, "one").await;
        world.change(&id, json!({"price": 1})).await;
        world.remark(&id, "two").await;
        assert_eq!(world.client().delete(&format!("/odata/v1/Products({id})")).await.status, 204);
        let place = format!("Products/{id}");
        let history = world.history("Products", &id).await;
        let (deletion, repricing) = (&history[0], &history[1]);
        let may = ["History.View", "Products.View", "Products.Create"];
        let clerk = world.app.sign_in(&Person::named("Cy").who_may(&may));
        let seen = preview(&clerk, &place, repricing, "Before").await;
        assert_eq!(seen["problem"], "this needs the permission `Products.Update`");
        let seen = preview(&clerk, &place, deletion, "Undo").await;
        assert_eq!((&seen["problem"], &seen["action"]), (&Json::Null, &json!("create")));
        let done = restore(&world.client(), &place, repricing, "Before").await;
        assert_eq!(done["action"], "create");
        let now = world.client().get(&format!("/odata/v1/Products({id})")).await.expect(200);
        assert_eq!(now["price"], 12.5);
        assert_eq!(world.number("SELECT COUNT(*) FROM products WHERE remark = 'two'").await, 1);
    }

    async fn what_cannot_go_back_is_told_by_field(backend) {
        let world = World::new(backend).await;
        let client = world.client();
        let id = world.product("A-1").await;
        world.change(&id, json!({"sku": "A-2", "contact": "Zoe"})).await;
        world.change(&id, json!({"contact": "Yve"})).await;
        let other = world.product("A-1").await;
        let place = format!("Products/{id}");
        let path = format!("/api/v1/history/{place}/restore");
        let renaming = world.history("Products", &id).await[1].clone();
        let seen = preview(&client, &place, &renaming, "Undo").await;
        assert!(field(&seen, "sku")["problem"].as_str().unwrap().contains("taken"), "{seen}");
        assert_eq!((&field(&seen, "sku")["code"], &seen["code"]), (&json!("data.unique"), &json!("data.unique")));
        let entries = world.entries().await;
        let refused = client.post(&path, request(&renaming, &seen, "Undo")).await.expect(409);
        assert_eq!(refused["code"], "data.unique");
        assert!(refused["errors"]["sku"][0].is_string(), "{refused}");
        let mut named = request(&renaming, &seen, "Undo");
        named["fields"] = json!(["price", "lumps"]);
        let refused = client.post(&path, named).await.expect(422);
        assert_eq!(refused["code"], "history.cannot_go_back");
        assert_eq!(refused["errors"].as_object().unwrap().len(), 2, "{refused}");
        assert_eq!(world.entries().await, entries);
        // Of what is masked the values aren't told, and can't be set.
        let clerk = Person::named("Cy").who_may(&["History.View", "Products.View", "Products.Update"]);
        let clerk = world.app.sign_in(&clerk);
        let seen = preview(&clerk, &place, &renaming, "Before").await;
        assert!(!seen.to_string().contains("Zoe") && !seen.to_string().contains("Yve"), "{seen}");
        assert!(field(&seen, "contact")["problem"].as_str().unwrap().contains("changed form"));
        assert_eq!((&field(&seen, "contact")["code"], &field(&seen, "price")["code"]), (&json!("masked"), &Json::Null));
        assert_eq!(client.delete(&format!("/odata/v1/Products({other})")).await.status, 204);
        restore(&client, &place, &renaming, "Undo").await;
    }

    async fn a_record_that_was_changed_since_is_left_alone(backend) {
        let world = World::new(backend).await;
        let client = world.client();
        let id = world.product("A-1").await;
        world.change(&id, json!({"price": 1})).await;
        let place = format!("Products/{id}");
        let path = format!("/api/v1/history/{place}/restore");
        let entry = world.history("Products", &id).await[0].clone();
        let seen = preview(&client, &place, &entry, "Undo").await;
        world.change(&id, json!({"name": "Torch"})).await;
        let entries = world.entries().await;
        for body in [request(&entry, &seen, "Undo"), json!({"entry": entry["id"], "mode": "Undo"})] {
            let refused = client.post(&path, body).await.expect(409);
            assert_eq!(refused["code"], "history.changed_since");
        }
        assert_eq!(world.entries().await, entries);
    }

    async fn of_many_at_once_one_takes_it_back(backend) {
        let world = World::new(backend).await;
        let client = world.client();
        let id = world.product("A-1").await;
        world.change(&id, json!({"price": 1})).await;
        let place = format!("Products/{id}");
        let path = format!("/api/v1/history/{place}/restore");
        for _ in 0..5 {
            let entry = world.history("Products", &id).await[0].clone();
            let seen = preview(&client, &place, &entry, "Undo").await;
            let body = request(&entry, &seen, "Undo");
            let restoring = (0..4).map(|_| {
                let (client, path, body) = (client.clone(), path.clone(), body.clone());
                tokio::spawn(async move { client.post(&path, body).await })
            });
            let restoring: Vec<_> = restoring.collect();
            let mut statuses = Vec::new();
            for one in restoring {
                statuses.push(one.await.unwrap().status.as_u16());
            }
            statuses.sort_unstable();
            assert_eq!(statuses, [200, 409, 409, 409]);
        }
    }

    async fn a_restore_takes_the_permissions_of_the_set(backend) {
        let world = World::new(backend).await;
        let id = world.product("A-1").await;
        world.change(&id, json!({"price": 1})).await;
        let place = format!("Products/{id}");
        let entry = world.history("Products", &id).await[0].clone();
        let clerk = Person::named("Cy").who_may(&["History.View", "Products.View"]);
        let clerk = world.app.sign_in(&clerk);
        let seen = preview(&clerk, &place, &entry, "Undo").await;
        assert_eq!(seen["problem"], "this needs the permission `Products.Update`");
        let path = format!("/api/v1/history/{place}/restore");
        let refused = clerk.post(&path, request(&entry, &seen, "Undo")).await.expect(403);
        assert_eq!(refused["parameters"]["permission"], "Products.Update");
    }

    async fn bad_requests_are_refused_as_what_they_are(backend) {
        let world = World::new(backend).await;
        let client = world.client();
        let (id, other) = (world.product("A-1").await, world.product("A-2").await);
        let entry = world.history("Products", &id).await[0]["id"].clone();
        let foreign = world.history("Products", &other).await[0]["id"].clone();
        let path = format!("/api/v1/history/Products/{id}/restore");
        for (body, status) in [
            (json!({"entry": foreign, "version": 1, "mode": "Undo"}), 404),
            (json!({"entry": entry, "version": 1, "mode": "Sideways"}), 422),
            (json!({"entry": entry, "version": "one", "mode": "Undo"}), 422),
            (json!({"entry": "x", "version": 1, "mode": "Undo"}), 422),
            (json!([]), 422),
        ] {
            let answer = client.post(&path, body.clone()).await;
            let refused = answer.status.as_u16();
            assert!(refused == status || (status == 422 && refused == 400), "{body}: {}", answer.text);
        }
        for (path, status) in [
            (format!("{id}/{}/preview?mode=Undo", foreign.as_str().unwrap()), 404),
            (format!("{id}/x/preview?mode=Undo"), 404),
            (format!("{id}/{}/preview?mode=Sideways", entry.as_str().unwrap()), 400),
            (format!("{id}/{}/preview", entry.as_str().unwrap()), 400),
        ] {
            let answer = client.get(&format!("/api/v1/history/Products/{path}")).await;
            assert_eq!(answer.status.as_u16(), status, "{path}: {}", answer.text);
        }
        // A record of another organisation is none, whoever knows its key and its entry.
        let stranger = world.app.sign_in(&Person::named("Eve").of(organisation(2)));
        let entry_id = entry.as_str().unwrap();
        let seen = stranger.get(&format!("/api/v1/history/Products/{id}/{entry_id}/preview?mode=Undo")).await;
        assert_eq!(seen.status, 404, "{}", seen.text);
        let refused = stranger.post(&path, json!({"entry": entry, "version": 1, "mode": "Undo"})).await;
        assert_eq!(refused.status, 404, "{}", refused.text);
        assert_eq!(world.entries().await, 2);
    }
}
