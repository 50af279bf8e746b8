//! Changes through paths: of related entities, of what is related, and of single properties.

use http::Method;
use serde_json::{Value, json};
use svc_testing::{Client, Person, on_both_databases};

use crate::fixture::{path, start, stock};

async fn send(client: &Client, method: Method, path: &str, body: Value) -> u16 {
    client.send_json(method, path, &[], body).await.status.as_u16()
}

async fn skus_of(client: &Client, maker: &str) -> Vec<String> {
    let path = path(&format!("Makers({maker})/lamps"), "$orderby=sku&$select=sku");
    let lamps = client.get(&path).await.expect(200);
    let lamps = lamps["value"].as_array().unwrap().iter();
    lamps.map(|lamp| lamp["sku"].as_str().unwrap().to_owned()).collect()
}

on_both_databases! {
    async fn entities_are_created_and_changed_through_what_they_are_related_to(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        let [alpha, beta] = stock(&boss).await;
        let lamps = format!("/odata/v1/Makers({alpha})/lamps");
        let made = boss.post(&lamps, json!({"sku": "A-9", "price": 1, "region": "EU"})).await;
        let location = made.header("location").to_owned();
        let made = made.expect(201);
        assert_eq!(made["makerId"], json!(alpha));
        let _ = boss.get(&location).await.expect(200);
        let other = json!({"sku": "A-8", "price": 1, "region": "EU", "makerId": beta});
        assert_eq!(boss.post(&lamps, other).await.status.as_u16(), 422);
        let nobody = "/odata/v1/Makers(01990000-0000-7000-8000-0000000000ee)/lamps";
        assert_eq!(boss.post(nobody, json!({"sku": "A-8", "price": 1, "region": "EU"})).await.status.as_u16(), 404);
        let behind = format!("{lamps}({})", made["id"].as_str().unwrap());
        assert_eq!(boss.patch(&behind, json!({"price": 2})).await.expect(200)["price"], 2);
        assert_eq!(boss.patch(&behind.replace(&alpha, &beta), json!({"price": 3})).await.status.as_u16(), 404);
        let maker = boss.patch(&format!("{location}/maker"), json!({"name": "Omega"})).await.expect(200);
        assert_eq!((&maker["id"], &maker["name"]), (&json!(alpha), &json!("Omega")));
        assert_eq!(send(&boss, Method::DELETE, &behind, json!({})).await, 204);
        assert_eq!(boss.get(&location).await.status.as_u16(), 404);
        assert_eq!(boss.patch("/odata/v1/Lamps(sku='C-1')/maker", json!({"name": "X"})).await.status.as_u16(), 404);
    }

    async fn references_are_added_changed_and_taken_away(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        let [alpha, beta] = stock(&boss).await;
        let refs = format!("/odata/v1/Makers({alpha})/lamps/$ref");
        assert_eq!(send(&boss, Method::POST, &refs, json!({"@odata.id": "Lamps(sku='C-1')"})).await, 204);
        assert_eq!(skus_of(&boss, &alpha).await, ["A-1", "A-2", "C-1"]);
        assert_eq!(send(&boss, Method::DELETE, &format!("{refs}?$id=Lamps(sku='C-1')"), json!({})).await, 204);
        assert_eq!(send(&boss, Method::DELETE, &format!("{refs}?$id=Lamps(sku='C-1')"), json!({})).await, 404);
        let keyed = format!("/odata/v1/Makers({alpha})/lamps(sku='A-2')/$ref");
        assert_eq!(send(&boss, Method::DELETE, &keyed, json!({})).await, 204);
        assert_eq!(skus_of(&boss, &alpha).await, ["A-1"]);
        let to_one = "/odata/v1/Lamps(sku='A-2')/maker/$ref";
        assert_eq!(send(&boss, Method::PUT, to_one, json!({"@id": format!("Makers({beta})")})).await, 204);
        assert_eq!(skus_of(&boss, &beta).await, ["A-2", "B-1", "B-2"]);
        assert_eq!(send(&boss, Method::DELETE, to_one, json!({})).await, 204);
        assert_eq!(boss.get("/odata/v1/Lamps(sku='A-2')/maker").await.status.as_u16(), 204);
        for (method, address, body, status) in [
            (Method::POST, refs.as_str(), json!({}), 400),
            (Method::POST, refs.as_str(), json!({"@id": "Makers"}), 400),
            (Method::POST, refs.as_str(), json!({"@id": format!("Makers({alpha})")}), 422),
            (Method::POST, refs.as_str(), json!({"@id": "Lamps(sku='none')"}), 422),
            (Method::DELETE, refs.as_str(), json!({}), 400),
            (Method::PUT, refs.as_str(), json!({}), 400),
            (Method::POST, to_one, json!({}), 405),
            (Method::PUT, "/odata/v1/Lamps(sku='A-2')/$ref", json!({}), 405),
        ] {
            assert_eq!(send(&boss, method.clone(), address, body).await, status, "{method} {address}");
        }
        // Each takes the permission to change what is changed, and shows nothing that is hidden.
        let views = ["Lamps.View", "Makers.View", "Makers.Update"];
        let looker = app.sign_in(&Person::named("looker").who_may(&views));
        assert_eq!(send(&looker, Method::POST, &refs, json!({"@id": "Lamps(sku='A-2')"})).await, 403);
        assert_eq!(send(&looker, Method::DELETE, to_one, json!({})).await, 403);
        let narrow = Person::named("narrow").who_may(&["Lamps.View", "Makers.View", "Lamps.Update"]).with_claim("regions", &["EU"]);
        let narrow = app.sign_in(&narrow);
        for hidden in ["B-1", "none"] {
            assert_eq!(send(&narrow, Method::POST, &refs, json!({"@id": format!("Lamps(sku='{hidden}')")})).await, 422);
            let keyed = format!("/odata/v1/Makers({beta})/lamps(sku='{hidden}')/$ref");
            assert_eq!(send(&narrow, Method::DELETE, &keyed, json!({})).await, 404);
        }
        assert_eq!(skus_of(&boss, &beta).await, ["B-1", "B-2"]);
    }

    async fn a_reference_changes_in_the_version_that_was_named(backend) {
        for required in [false, true] {
            let application = || svc_application::Application::new("shop").module(crate::fixture::shop());
            let app = svc_testing::TestApp::builder(application).setting("Svc:OData:RequireIfMatch", required);
            let app = app.start(backend).await;
            let boss = app.sign_in(&Person::named("boss"));
            let [alpha, beta] = stock(&boss).await;
            let change = async |method: &Method, address: &str, tag: Option<(&str, &str)>, body: &Value| {
                let headers: Vec<_> = tag.into_iter().collect();
                boss.send_json(method.clone(), address, &headers, body.clone()).await.status.as_u16()
            };
            // What refers is lamp A-2, from wherever it is asked for; neither maker has ever changed.
            let lamp = json!({"@odata.id": "Lamps(sku='A-2')"});
            let one = json!({"@odata.id": format!("Makers({alpha})")});
            for (method, address, body, ends_at) in [
                (Method::POST, format!("Makers({beta})/lamps/$ref"), &lamp, beta.as_str()),
                (Method::DELETE, format!("Makers({beta})/lamps(sku='A-2')/$ref"), &Value::Null, ""),
                (Method::PUT, "Lamps(sku='A-2')/maker/$ref".to_owned(), &one, alpha.as_str()),
                (Method::DELETE, format!("Makers({alpha})/lamps/$ref?$id=Lamps(sku='A-2')"), &Value::Null, ""),
            ] {
                let address = format!("/odata/v1/{address}");
                let before = boss.get("/odata/v1/Lamps(sku='A-2')").await.expect(200);
                let tag = before["@odata.etag"].as_str().unwrap();
                for (name, other) in [("if-match", "W/\"77\""), ("if-match", "W/\"77\", W/\"78\""), ("if-none-match", tag), ("if-none-match", "*")] {
                    assert_eq!(change(&method, &address, Some((name, other)), body).await, 412, "{method} {address} {name}: {other}");
                }
                if required {
                    assert_eq!(change(&method, &address, None, body).await, 428, "{method} {address}");
                }
                assert_eq!(boss.get("/odata/v1/Lamps(sku='A-2')").await.expect(200), before, "{method} {address}");
                assert_eq!(change(&method, &address, Some(("if-match", tag)), body).await, 204, "{method} {address}");
                let after = boss.get("/odata/v1/Lamps(sku='A-2')").await.expect(200);
                assert_eq!(after["makerId"].as_str().unwrap_or_default(), ends_at, "{method} {address}");
                assert_ne!(after["@odata.etag"], before["@odata.etag"]);
            }
            // All of them together have no version.
            let (all, none) = (format!("/odata/v1/Makers({beta})/lamps/$ref"), json!({"value": []}));
            let maker = boss.get(&format!("/odata/v1/Makers({beta})")).await.expect(200);
            for tag in [("if-match", maker["@odata.etag"].as_str().unwrap()), ("if-none-match", "*")] {
                assert_eq!(change(&Method::PUT, &all, Some(tag), &none).await, 412);
            }
            if required {
                assert_eq!(change(&Method::PUT, &all, None, &none).await, 428);
            }
            assert_eq!(skus_of(&boss, &beta).await, ["B-1", "B-2"]);
            assert_eq!(change(&Method::PUT, &all, Some(("if-match", "*")), &none).await, 204);
            assert_eq!(skus_of(&boss, &beta).await, [""; 0]);
        }
    }

    async fn the_references_of_a_collection_are_replaced_as_a_whole(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        let [alpha, beta] = stock(&boss).await;
        let refs = format!("/odata/v1/Makers({alpha})/lamps/$ref");
        let to = |skus: &[&str]| {
            let of = |sku: &&str| json!({"@odata.id": format!("Lamps(sku='{sku}')")});
            json!({"value": skus.iter().map(of).collect::<Vec<_>>()})
        };
        assert_eq!(send(&boss, Method::PUT, &refs, to(&["A-2", "B-2", "C-1", "C-1"])).await, 204);
        assert_eq!(skus_of(&boss, &alpha).await, ["A-2", "B-2", "C-1"]);
        assert_eq!(skus_of(&boss, &beta).await, ["B-1"]);
        assert_eq!(boss.get("/odata/v1/Lamps(sku='A-1')/maker").await.status.as_u16(), 204);
        // What was related stays as it was: not even its version is counted on.
        let kept = boss.get("/odata/v1/Lamps(sku='A-2')").await.expect(200);
        assert_eq!(kept["@odata.etag"], "W/\"1\"");
        for (body, status) in [
            (to(&["A-1", "none"]), 422), (json!({"value": [{"@id": format!("Makers({alpha})")}]}), 422),
            (json!({"value": [{"@id": "Lamps"}]}), 400), (json!({"@id": "Lamps(sku='A-1')"}), 400),
        ] {
            assert_eq!(send(&boss, Method::PUT, &refs, body.clone()).await, status, "{body}");
        }
        assert_eq!(skus_of(&boss, &alpha).await, ["A-2", "B-2", "C-1"], "all or nothing");
        // It takes the permission to change those that move, and leaves alone what is hidden.
        let looker = app.sign_in(&Person::named("looker").who_may(&["Lamps.View", "Makers.View", "Makers.Update"]));
        assert_eq!(send(&looker, Method::PUT, &refs, to(&[])).await, 403);
        let of_beta = refs.replace(&alpha, &beta);
        let narrow = Person::named("narrow").who_may(&["Lamps.View", "Makers.View", "Lamps.Update"]).with_claim("regions", &["EU"]);
        let narrow = app.sign_in(&narrow);
        assert_eq!(send(&narrow, Method::PUT, &of_beta, to(&["B-1"])).await, 422);
        assert_eq!(send(&narrow, Method::PUT, &of_beta, to(&["A-1"])).await, 204);
        assert_eq!(skus_of(&boss, &beta).await, ["A-1", "B-1"]);
        assert_eq!(send(&narrow, Method::PUT, &of_beta, to(&[])).await, 204);
        assert_eq!(skus_of(&boss, &beta).await, ["B-1"]);
        let stranger = app.sign_in(&Person::named("other").of(svc_testing::organisation(2)));
        assert_eq!(send(&stranger, Method::PUT, &refs, to(&[])).await, 404);
        assert_eq!(send(&boss, Method::PUT, &refs, to(&[])).await, 204);
        assert_eq!(skus_of(&boss, &alpha).await, [""; 0]);
    }

    async fn single_properties_are_set_and_emptied(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        stock(&boss).await;
        let lamp = "/odata/v1/Lamps(sku='A-1')";
        assert_eq!(send(&boss, Method::PUT, &format!("{lamp}/watts"), json!({"value": 25})).await, 204);
        assert_eq!(boss.get(&format!("{lamp}/watts/$value")).await.text, "25");
        assert_eq!(send(&boss, Method::DELETE, &format!("{lamp}/watts"), json!({})).await, 204);
        assert_eq!(boss.get(&format!("{lamp}/watts")).await.status.as_u16(), 204);
        for (method, property, body, status) in [
            (Method::DELETE, "price", json!({}), 422),
            (Method::PUT, "price", json!({"value": "dear"}), 422),
            (Method::PUT, "price", json!({"price": 1}), 400),
            (Method::PUT, "createdAt", json!({"value": "2026-01-01T00:00:00Z"}), 422),
            (Method::PUT, "id", json!({"value": "01990000-0000-7000-8000-0000000000ee"}), 422),
            (Method::POST, "watts", json!({"value": 1}), 405),
            (Method::PUT, "wats", json!({"value": 1}), 404),
        ] {
            let path = format!("{lamp}/{property}");
            assert_eq!(send(&boss, method.clone(), &path, body).await, status, "{method} {property}");
        }
        let stale = boss.send_json(Method::PUT, &format!("{lamp}/watts"), &[("if-match", "W/\"1\"")], json!({"value": 1})).await;
        assert_eq!(stale.status.as_u16(), 412);
        let narrow = Person::named("narrow").who_may(&["Lamps.View", "Lamps.Update"]);
        let hidden = send(&app.sign_in(&narrow), Method::PUT, &format!("{lamp}/costPrice"), json!({"value": 1})).await;
        assert_eq!(hidden, 404);
    }
}
