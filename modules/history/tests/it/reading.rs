//! Who may read the history of what, and what of it.

use serde_json::json;
use svc_testing::{Person, on_both_databases, organisation};

use crate::fixture::World;

/// Somebody who may do little.
fn reader() -> Person {
    Person::named("Rita").who_may(&["History.View", "Products.View"])
}

on_both_databases! {
    async fn pages_lead_to_the_end(backend) {
        let world = World::new(backend).await;
        let id = world.product("A-1").await;
        for price in 1..=7 {
            world.change(&id, json!({"price": price})).await;
            // Of these Rita sees nothing.
            world.change(&id, json!({"costPrice": price})).await;
        }
        let rita = world.app.sign_in(&reader());
        let mut after = String::new();
        let mut prices = Vec::new();
        for _ in 0..20 {
            let page = rita.get(&format!("/api/v1/history/Products/{id}?take=2{after}")).await.expect(200);
            let items = page["items"].as_array().unwrap();
            assert!(items.len() <= 2);
            prices.extend(items.iter().map(|item| item["fields"][0]["after"].clone()));
            let Some(next) = page["next"].as_str() else { break };
            after = format!("&after={next}");
        }
        assert_eq!(prices[..7], [7, 6, 5, 4, 3, 2, 1].map(|price| json!(price)));
        assert_eq!(prices.len(), 8, "and the first entry");
        assert_eq!(world.history("Products", &id).await.len(), 15);
    }

    async fn rights_are_todays_on_yesterdays_values(backend) {
        let world = World::new(backend).await;
        let id = world.product("A-1").await;
        world.change(&id, json!({"price": 1, "costPrice": 0.5, "contact": "Zoe"})).await;
        world.change(&id, json!({"contact": "Yve"})).await;
        let rita = world.app.sign_in(&reader());
        let path = format!("/api/v1/history/Products/{id}");
        let seen = rita.get(&path).await.expect(200);
        let text = seen.to_string();
        assert!(!text.contains("costPrice") && !text.contains("Zoe") && !text.contains("Yve"), "{text}");
        let items = seen["items"].as_array().unwrap();
        assert_eq!(items.len(), 2, "a change from one masked value to another is not told: {text}");
        let all = world.client().get(&path).await.expect(200);
        assert_eq!(all["items"].as_array().unwrap().len(), 3);
        assert!(all.to_string().contains("Yve"));
    }

    async fn who_may_not_see_the_record_sees_no_history(backend) {
        let world = World::new(backend).await;
        let id = world.product("A-1").await;
        let path = format!("/api/v1/history/Products/{id}");
        let narrow = reader().with_claim("regions", &["EU"]);
        let _ = world.app.sign_in(&narrow).get(&path).await.expect(200);
        world.change(&id, json!({"region": "US"})).await;
        let unknown = "/api/v1/history/Products/01990000-0000-7000-8000-0000000000ee";
        let expected = world.app.sign_in(&narrow).get(unknown).await.expect(404)["detail"].clone();
        let hidden = world.app.sign_in(&narrow).get(&path).await.expect(404);
        assert_eq!(hidden["detail"], expected);
        let gone = world.client().delete(&format!("/odata/v1/Products({id})")).await;
        assert_eq!(gone.status, 204);
        let _ = world.app.sign_in(&narrow).get(&path).await.expect(404);
        let west = reader().with_claim("regions", &["US"]);
        let _ = world.app.sign_in(&west).get(&path).await.expect(200);
        let stranger = Person::named("Eve").of(organisation(2));
        let _ = world.app.sign_in(&stranger).get(&path).await.expect(404);
        let blind = Person::named("Bo").who_may(&["History.View"]);
        let refused = world.app.sign_in(&blind).get(&path).await.expect(403);
        assert_eq!(refused["parameters"]["permission"], "Products.View");
        let clerk = Person::named("Cy").who_may(&["Products.View"]);
        let refused = world.app.sign_in(&clerk).get(&path).await.expect(403);
        assert_eq!(refused["parameters"]["permission"], "History.View");
    }

    async fn bad_input_is_refused_as_what_it_is(backend) {
        let world = World::new(backend).await;
        let id = world.product("A-1").await;
        let client = world.client();
        for (path, status) in [
            ("Lumps/1".to_owned(), 404),
            ("DeletedMakers/01990000-0000-7000-8000-0000000000ee".to_owned(), 404),
            ("Products/no-id".to_owned(), 404),
            (format!("Products/{}", "9".repeat(5_000)), 404),
            (format!("Products/{id}?take=0"), 400),
            (format!("Products/{id}?after=x"), 400),
        ] {
            let _ = client.get(&format!("/api/v1/history/{path}")).await.expect(status);
        }
    }
}
