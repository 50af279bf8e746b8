use serde_json::{Value, json};
use svc_testing::{Client, Person, on_both_databases, organisation};

use crate::fixture::{create, seller, start};

async fn skus(client: &Client, query: &str) -> Vec<String> {
    let page = client.get(&format!("/odata/v1/Lamps?{query}")).await.expect(200);
    let sku = |lamp: &Value| lamp["sku"].as_str().unwrap().to_owned();
    page["value"].as_array().unwrap().iter().map(sku).collect()
}

on_both_databases! {
    async fn a_set_is_filtered_sorted_paged_and_counted(backend) {
        let app = start(backend).await;
        let client = app.sign_in(&seller());
        create(&client, &[("A-1", 5.0), ("A-2", 10.5), ("B-1", 20.0), ("B-2", 7.0)]).await;
        assert_eq!(skus(&client, "$filter=price%20gt%206%20and%20startswith(sku,'B')&$orderby=price").await, ["B-2", "B-1"]);
        assert_eq!(skus(&client, "filter=not%20(price%20lt%207.5)&orderby=sku%20desc&top=1").await, ["B-1"]);
        let page = client.get("/odata/v1/Lamps?$count=true&$top=1&$skip=1&$orderby=sku&$select=sku,price").await;
        let page = page.expect(200);
        assert_eq!(page["@odata.count"], 4);
        assert_eq!(page["@odata.context"], "/odata/v1/$metadata#Lamps(sku,price)");
        assert_eq!(page["value"], json!([{"@odata.etag": "W/\"1\"", "sku": "A-2", "price": 10.5}]));
        assert_eq!(page.get("@odata.nextLink"), None);
        let count = client.get("/odata/v1/Lamps/$count?$filter=price%20lt%208").await;
        assert_eq!((count.status.as_u16(), count.text.as_str()), (200, "2"));
    }

    async fn a_page_that_is_not_the_last_links_to_the_next(backend) {
        let app = start(backend).await;
        let client = app.sign_in(&seller());
        create(&client, &[("A-1", 1.0), ("A-2", 2.0), ("A-3", 3.0), ("A-4", 4.0), ("A-5", 5.0)]).await;
        let (mut path, mut seen) = ("/odata/v1/Lamps?$orderby=sku&$top=5".to_owned(), Vec::new());
        loop {
            let headers = [("prefer", "odata.maxpagesize=2")];
            let page = client.send(http::Method::GET, &path, &headers, "").await.expect(200);
            let lamps = page["value"].as_array().unwrap().clone();
            assert!(lamps.len() <= 2);
            seen.extend(lamps.iter().map(|lamp| lamp["sku"].as_str().unwrap().to_owned()));
            match page.get("@odata.nextLink") {
                Some(link) => link.as_str().unwrap().clone_into(&mut path),
                None => break,
            }
        }
        assert_eq!(seen, ["A-1", "A-2", "A-3", "A-4", "A-5"]);
    }

    async fn one_entity_comes_with_its_version(backend) {
        let app = start(backend).await;
        let client = app.sign_in(&seller());
        let addresses = create(&client, &[("A-1", 5.0)]).await;
        let answer = client.get(&addresses[0]).await;
        let tag = answer.header("etag").to_owned();
        assert!(tag.starts_with("W/\"1.") && answer.header("cache-control") == "private, no-cache", "{:?}", answer.headers);
        assert_eq!(answer.header("odata-version"), "4.01");
        assert_eq!(answer.header("content-type"), "application/json;odata.metadata=minimal");
        let lamp = answer.expect(200);
        assert_eq!(lamp["@odata.context"], "/odata/v1/$metadata#Lamps/$entity");
        let members: Vec<&String> = lamp.as_object().unwrap().keys().collect();
        assert_eq!(
            members,
            ["@odata.context", "@odata.etag", "id", "sku", "price", "watts", "soldFrom", "region", "makerId", "createdAt"]
        );
        assert_eq!(lamp["@odata.etag"], "W/\"1\"");
        let known = [("if-none-match", tag.as_str())];
        let unchanged = client.send(http::Method::GET, &addresses[0], &known, "").await;
        assert_eq!((unchanged.status.as_u16(), unchanged.text.as_str(), unchanged.header("etag")), (304, "", tag.as_str()));
        // Another question, and whoever sees more or less, has another answer of the same version.
        let other = client.send(http::Method::GET, &format!("{}?$select=id,sku,price", addresses[0]), &known, "").await;
        assert_eq!(other.status.as_u16(), 200);
        let boss = app.sign_in(&Person::named("boss"));
        let more = boss.send(http::Method::GET, &addresses[0], &known, "").await;
        assert!(more.status.as_u16() == 200 && more.json().get("costPrice").is_some(), "{}", more.text);
        // A change may name what was read.
        let change = [("if-match", tag.as_str())];
        let _ = client.send_json(http::Method::PATCH, &addresses[0], &change, json!({"price": 5.0})).await.expect(200);
        let headers = [("odata-maxversion", "4.0"), ("accept", "application/json;odata.metadata=none")];
        let plain = client.send(http::Method::GET, &addresses[0], &headers, "").await;
        assert_eq!(plain.header("odata-version"), "4.0");
        assert_eq!(plain.expect(200).as_object().unwrap().keys().next().unwrap(), "id");
    }

    async fn another_organisation_and_a_row_filter_hide_alike(backend) {
        let app = start(backend).await;
        let client = app.sign_in(&seller());
        let addresses = create(&client, &[("A-1", 5.0)]).await;
        let theirs = app.sign_in(&seller().of(organisation(2)));
        let asia = app.sign_in(&Person::named("asia").with_claim("regions", &["ASIA"]));
        let unknown = "/odata/v1/Lamps(01990000-0000-7000-8000-00000000dead)";
        let mut bodies = Vec::new();
        for (client, address) in [(&theirs, &addresses[0]), (&asia, &addresses[0]), (&client, &unknown.to_owned())] {
            let mut body = client.get(address).await.expect(404);
            body["error"]["innererror"] = Value::Null;
            bodies.push(body);
            for method in [http::Method::PATCH, http::Method::PUT] {
                let lamp = json!({"sku": "X", "price": 1, "region": "ASIA"});
                let answer = client.send_json(method, address, &[], lamp).await;
                assert_eq!(answer.status.as_u16(), 404, "{}", answer.text);
            }
            assert_eq!(client.delete(address).await.status.as_u16(), 404);
        }
        assert!(bodies.windows(2).all(|pair| pair[0] == pair[1]), "{bodies:?}");
        assert_eq!(skus(&asia, "$count=true").await, [""; 0]);
        assert_eq!(skus(&client, "").await, ["A-1"]);
    }

    async fn a_hidden_property_is_unknown_to_who_may_not_see_it(backend) {
        let app = start(backend).await;
        let (client, boss) = (app.sign_in(&seller()), app.sign_in(&Person::named("boss")));
        let lamp = json!({"sku": "A-1", "price": 5, "costPrice": 2.5, "region": "EU"});
        let created = boss.post("/odata/v1/Lamps", lamp.clone()).await.expect(201);
        let address = format!("/odata/v1/Lamps({})", created["id"].as_str().unwrap());
        assert_eq!(boss.get(&address).await.expect(200)["costPrice"], 2.5);
        assert_eq!(client.get(&address).await.expect(200).get("costPrice"), None);
        for option in ["$filter=NAME%20gt%202", "$orderby=NAME", "$select=NAME", "$select=sku,NAME"] {
            let of = |name| {
                let (client, path) = (client.clone(), format!("/odata/v1/Lamps?{}", option.replace("NAME", name)));
                async move { client.get(&path).await.expect(400)["error"]["message"].to_string() }
            };
            let (hidden, misspelt) = (of("costPrice").await, of("costPrize").await);
            assert_eq!(hidden, misspelt.replace("costPrize", "costPrice"), "{option}");
        }
        let refusal = client.patch(&address, json!({"costPrice": 1})).await.expect(400);
        assert!(refusal.to_string().contains("is not a property of"), "{refusal}");
        let metadata = client.get("/odata/v1/$metadata").await;
        assert!(!metadata.text.contains("costPrice") && metadata.text.contains("Name=\"sku\""));
        assert!(boss.get("/odata/v1/$metadata").await.text.contains("costPrice"));
    }
}
