//! Entities that are written with what they are related to.

use http::Method;
use serde_json::{Value, json};
use svc_testing::{Person, on_both_databases};

use crate::fixture::{path, start, stock};

fn skus(maker: &Value) -> Vec<&str> {
    maker["lamps"].as_array().unwrap().iter().map(|lamp| lamp["sku"].as_str().unwrap()).collect()
}

on_both_databases! {
    async fn an_entity_is_created_with_what_it_is_related_to(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        let lamp = |sku: &str| json!({"sku": sku, "price": 1, "region": "EU"});
        let maker = json!({"name": "Gamma", "country": "FR", "lamps": [lamp("G-1"), lamp("G-2")],
            "parent": {"name": "Group", "country": "FR", "lamps": [lamp("P-1")]}});
        let answer = boss.post("/odata/v1/Makers", maker).await;
        let location = answer.header("location").to_owned();
        let made = answer.expect(201);
        let mut found = skus(&made);
        found.sort_unstable();
        assert_eq!(found, ["G-1", "G-2"]);
        assert_eq!((&made["parent"]["name"], &made["parent"]["lamps"][0]["sku"]), (&json!("Group"), &json!("P-1")));
        assert_eq!(made["parentId"], made["parent"]["id"]);
        assert_eq!(made["lamps"][0]["makerId"], made["id"]);
        assert_eq!(boss.get(&location).await.expect(200)["parentId"], made["parentId"]);
        // A to-one that is new, from the other side; and the answer as it is asked for.
        let lamp = json!({"sku": "N-1", "price": 1, "region": "EU", "maker": {"name": "Nu", "country": "GR"}});
        let made = boss.post(&path("Lamps", "$select=sku&$expand=maker($select=name)"), lamp).await.expect(201);
        assert_eq!((&made["maker"]["name"], made.get("price")), (&json!("Nu"), None));
        let lamp = json!({"sku": "N-2", "price": 1, "region": "EU", "maker": {"name": "Xi", "country": "GR"}});
        let minimal = boss.send_json(Method::POST, "/odata/v1/Lamps", &[("prefer", "return=minimal")], lamp).await;
        assert_eq!((minimal.status.as_u16(), minimal.text.as_str()), (204, ""));
    }

    async fn what_fails_within_leaves_nothing_behind(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        let twice = json!({"sku": "T-1", "price": 1, "region": "EU"});
        let maker = json!({"name": "Tau", "country": "GR", "lamps": [twice, twice]});
        assert_eq!(boss.post("/odata/v1/Makers", maker).await.status.as_u16(), 409);
        assert_eq!(boss.get("/odata/v1/Makers/$count").await.text, "0");
        assert_eq!(boss.get("/odata/v1/Lamps/$count").await.text, "0");
        let wrong = json!({"name": "Tau", "country": "GR", "lamps": [{"sku": "T-1", "price": "x", "region": "EU"}]});
        let refused = boss.post("/odata/v1/Makers", wrong).await.expect(422);
        assert_eq!(refused["error"]["details"][0]["target"], "lamps/0/price");
        let mut deep = json!({"name": "M", "country": "GR"});
        for _ in 0..12 {
            deep = json!({"name": "M", "country": "GR", "parent": deep});
        }
        assert_eq!(boss.post("/odata/v1/Makers", deep).await.status.as_u16(), 400);
    }

    async fn references_bind_what_exists(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        let [alpha, beta] = stock(&boss).await;
        let lamp = json!({"sku": "D-1", "price": 1, "region": "EU", "maker@odata.bind": format!("Makers({alpha})")});
        let made = boss.post("/odata/v1/Lamps", lamp).await;
        let address = made.header("location").to_owned();
        assert_eq!(made.expect(201)["makerId"], json!(alpha));
        let to_beta = json!({"maker": {"@id": format!("/odata/v1/Makers({beta})")}});
        assert_eq!(boss.patch(&address, to_beta).await.expect(200)["makerId"], json!(beta));
        let to_alpha = json!({"maker@bind": format!("http://shop.example/odata/v1/Makers/{alpha}")});
        let host = [("host", "shop.example")];
        assert_eq!(boss.send_json(Method::PATCH, &address, &host, to_alpha).await.expect(200)["makerId"], json!(alpha));
        let nowhere = json!({"maker": null});
        assert_eq!(boss.patch(&address, nowhere).await.expect(200)["makerId"], json!(null));
        // From the side of many, those that exist are moved.
        let id = address.split(['(', ')']).nth(1).unwrap();
        let maker = json!({"name": "Rho", "country": "GR", "lamps@odata.bind": [format!("Lamps({id})")]});
        let made = boss.post(&path("Makers", "$expand=lamps"), maker).await.expect(201);
        assert_eq!(skus(&made), ["D-1"]);
        let moved = json!({"lamps@odata.bind": [format!("Lamps({id})")]});
        let moved = boss.patch(&path(&format!("Makers({alpha})"), "$expand=lamps($orderby=sku)"), moved).await.expect(200);
        assert_eq!(skus(&moved), ["A-1", "A-2", "D-1"]);
        let unknown = "01990000-0000-7000-8000-0000000000ee";
        for (reference, status) in [
            (format!("Makers({unknown})"), 422), (format!("Lamps({id})"), 422), ("Makers".to_owned(), 400),
            ("/elsewhere/Makers(1)".to_owned(), 400), ("Makers(nothing)".to_owned(), 400), ("Nobody(1)".to_owned(), 404),
        ] {
            let answer = boss.patch(&address, json!({"maker@odata.bind": reference})).await;
            assert_eq!(answer.status.as_u16(), status, "{reference}: {}", answer.text);
        }
        let both = json!({"makerId": alpha, "maker@odata.bind": format!("Makers({beta})")});
        let refused = boss.patch(&address, both).await.expect(422);
        assert_eq!(refused["error"]["details"][0]["target"], "maker");
        let nested = boss.patch(&address, json!({"maker": {"name": "Nu", "country": "GR"}})).await;
        assert_eq!(nested.status.as_u16(), 501, "{}", nested.text);
    }

    async fn each_nested_entity_takes_the_rules_of_its_own_set(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        let [alpha, beta] = stock(&boss).await;
        let lamp = |region: &str| json!({"sku": format!("R-{region}"), "price": 1, "region": region});
        let maker = |nested: Value| json!({"name": "M", "country": "DE", "lamps": [nested]});
        let both = ["Lamps.View", "Lamps.Update", "Makers.View", "Makers.Create"];
        let who = |more: &[&str]| Person::named("who").who_may(&[&both[..], more].concat()).with_claim("regions", &["EU"]).with_claim("countries", &["DE"]);
        let cannot = app.sign_in(&who(&[]));
        let refused = cannot.post("/odata/v1/Makers", maker(lamp("EU"))).await.expect(403);
        assert!(refused["error"]["message"].as_str().unwrap().contains("Lamps.Create"), "{refused}");
        let can = app.sign_in(&who(&["Lamps.Create"]));
        let _ = can.post("/odata/v1/Makers", maker(lamp("EU"))).await.expect(201);
        // Out of one's own sight nothing is made, nor is what is hidden bound or moved.
        assert_eq!(can.post("/odata/v1/Makers", maker(lamp("ASIA"))).await.status.as_u16(), 403);
        let hidden = can.post("/odata/v1/Lamps", json!({"sku": "H", "price": 1, "region": "EU", "maker@odata.bind": format!("Makers({beta})")})).await;
        let unknown = can.post("/odata/v1/Lamps", json!({"sku": "H", "price": 1, "region": "EU", "maker@odata.bind": "Makers(01990000-0000-7000-8000-0000000000ee)"})).await;
        let told = |answer: Value| answer["error"]["details"].clone();
        assert_eq!(told(hidden.expect(422)), told(unknown.expect(422)));
        let asian = boss.get(&path("Lamps", "$filter=sku eq 'B-1'")).await.expect(200)["value"][0]["id"].clone();
        let bind = json!({"name": "M", "country": "DE", "lamps@odata.bind": [format!("Lamps({})", asian.as_str().unwrap())]});
        assert_eq!(can.post("/odata/v1/Makers", bind).await.status.as_u16(), 422);
        // A hidden property stays unknown in what is nested.
        let cost = json!({"sku": "C", "price": 1, "region": "EU", "costPrice": 1});
        assert_eq!(can.post("/odata/v1/Makers", maker(cost)).await.status.as_u16(), 400);
        // Who doesn't see a set doesn't see ways to it.
        let blind = app.sign_in(&Person::named("blind").who_may(&["Lamps.View", "Lamps.Create"]));
        let bound = json!({"sku": "B", "price": 1, "region": "EU", "maker@odata.bind": format!("Makers({alpha})")});
        assert_eq!(blind.post("/odata/v1/Lamps", bound).await.status.as_u16(), 400);
        assert_eq!(boss.get(&path("Lamps/$count", "$filter=startswith(sku,'R-')")).await.text, "1");
        let other = app.sign_in(&Person::named("other").of(svc_testing::organisation(2)));
        let foreign = json!({"sku": "F", "price": 1, "region": "EU", "maker@odata.bind": format!("Makers({alpha})")});
        assert_eq!(other.post("/odata/v1/Lamps", foreign).await.status.as_u16(), 422);
    }
}
