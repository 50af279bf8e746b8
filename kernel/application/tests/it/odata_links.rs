//! What leads from one answer to the next: links of pages, addresses within a batch, and what comes with what is written.

use http::Method;
use serde_json::{Value, json};
use svc_testing::{Client, Person, on_both_databases};

use crate::fixture::{create, path, start, stock};

/// The SKUs on all pages of one, by the links that each page tells.
async fn walked(client: &Client, first: &str) -> Vec<String> {
    let (mut link, mut seen) = (first.to_owned(), Vec::new());
    loop {
        let answer = client.send(Method::GET, &link, &[("prefer", "maxpagesize=1")], "").await;
        assert_eq!(answer.status.as_u16(), 200, "{link}: {}", answer.text);
        let page = answer.json();
        seen.extend(
            page["value"]
                .as_array()
                .unwrap()
                .iter()
                .map(|lamp| lamp["sku"].as_str().unwrap().to_owned()),
        );
        match page["@odata.nextLink"].as_str() {
            Some(next) => next.clone_into(&mut link),
            None => return seen,
        }
    }
}

on_both_databases! {
    async fn pages_of_a_query_go_on_in_whatever_way_it_was_written(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        // Names of several lengths, so that tokens have several, too.
        let skus = ["A", "AB", "ABC", "ABCD", "B c+d"];
        create(&boss, &skus.map(|sku| (sku, 5.0))).await;
        for query in [
            // As OData writes it, as browsers, Python and curl do, and bare.
            "$filter=price%20eq%205&$orderby=sku",
            "%24filter=price+eq+5&%24orderby=sku",
            "$filter=price+eq+5&$orderby=sku",
            "filter=price%20eq%205&orderby=sku%20asc&",
            "$orderby=sku&&$filter=price%20eq%20@p&@p=5&mine=1",
            "$orderby=sku&$count=true&$skip=0&$top=9",
        ] {
            assert_eq!(walked(&boss, &format!("/odata/v1/Lamps?{query}")).await, skus, "{query}");
        }
        for query in ["$filter=sku%20eq%20'B%20c%2Bd'", "%24filter=sku+eq+%27B+c%2Bd%27", "$filter=sku%20eq%20'B%20c+d'"] {
            assert_eq!(walked(&boss, &format!("/odata/v1/Lamps?{query}")).await, ["B c+d"], "{query}");
        }
    }

    async fn a_page_counts_and_ends_where_it_was_told_to(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        stock(&boss).await;
        let page = async |options: &str, prefer: &str| {
            let answer = boss.send(Method::GET, &path("Lamps", options), &[("prefer", prefer)], "").await.expect(200);
            let skus = answer["value"].as_array().unwrap().iter().map(|lamp| lamp["sku"].as_str().unwrap()).collect::<Vec<_>>().join(" ");
            (skus, answer["@odata.count"].clone(), answer.get("@odata.nextLink").is_some())
        };
        for (options, prefer, skus, count, goes_on) in [
            ("$orderby=sku&$top=0", "", "", Value::Null, false),
            ("$orderby=sku&$top=0&$count=true", "maxpagesize=1", "", json!(5), false),
            ("$orderby=sku&$top=2&$count=true", "", "A-1 A-2", json!(5), false),
            ("$orderby=sku&$top=2", "maxpagesize=2", "A-1 A-2", Value::Null, false),
            ("$orderby=sku&$top=3", "maxpagesize=2", "A-1 A-2", Value::Null, true),
            ("$orderby=sku", "maxpagesize=5", "A-1 A-2 B-1 B-2 C-1", Value::Null, false),
            ("$orderby=sku", "maxpagesize=4", "A-1 A-2 B-1 B-2", Value::Null, true),
            ("$orderby=sku&$skip=4", "maxpagesize=1", "C-1", Value::Null, false),
            ("$orderby=sku&$skip=5&$count=true", "", "", json!(5), false),
            ("$orderby=sku&$skip=9223372036854775807", "", "", Value::Null, false),
            ("$orderby=sku&$skip=1&$top=1&$count=true&$filter=price gt 5", "", "B-1", json!(3), false),
            ("$orderby=sku&$top=1&$count=true&$search=b-", "", "B-1", json!(2), false),
        ] {
            assert_eq!(page(options, prefer).await, (skus.to_owned(), count, goes_on), "{options} {prefer}");
        }
        // A count is of all that match, whatever page is asked for.
        for (options, count) in [("$top=1", "5"), ("$skip=4", "5"), ("$filter=price gt 5&$top=1", "3"), ("$search=asia", "1"), ("$apply=groupby((region))&$top=1", "2")] {
            assert_eq!(boss.get(&path("Lamps/$count", options)).await.text, count, "{options}");
        }
    }

    async fn a_request_of_a_batch_stands_for_its_entity_and_not_for_its_question(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        stock(&boss).await;
        let requests = json!({"requests": [
            {"id": "read", "method": "get", "url": "Lamps(sku='A-1')?$select=sku"},
            {"id": "change", "method": "patch", "url": "Lamps(sku='A-2')?$select=sku", "body": {"price": 11}},
            {"id": "make", "method": "post", "url": "Makers?$select=name", "body": {"name": "New", "country": "FR"}},
            {"id": "1", "method": "get", "url": "$read/price", "dependsOn": ["read"]},
            {"id": "2", "method": "get", "url": "$change/price", "dependsOn": ["change"]},
            {"id": "3", "method": "get", "url": "$change?$select=price", "dependsOn": ["change"]},
            {"id": "4", "method": "post", "url": "$make/lamps?$select=sku", "dependsOn": ["make"], "body": {"sku": "N", "price": 1, "region": "EU"}},
            {"id": "5", "method": "get", "url": "/$make/lamps/$count", "dependsOn": ["4"]},
            {"id": "6", "method": "get", "url": "$4/maker/name", "dependsOn": ["4"]},
        ]});
        let answered = boss.post("/odata/v1/$batch", requests).await.expect(200);
        let responses = answered["responses"].as_array().unwrap();
        let statuses: Vec<u64> = responses.iter().map(|response| response["status"].as_u64().unwrap()).collect();
        assert_eq!(statuses, [200, 200, 201, 200, 200, 200, 201, 200, 200], "{answered}");
        assert_eq!((&responses[3]["body"]["value"], &responses[4]["body"]["value"], &responses[5]["body"]["price"]), (&json!(5), &json!(11), &json!(11)));
        assert_eq!((&responses[7]["body"], &responses[8]["body"]["value"]), (&json!("1"), &json!("New")));
    }

    async fn the_answer_to_a_deep_create_holds_all_that_was_created(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        let lamp = |sku: &str| json!({"sku": sku, "price": 1, "region": "EU"});
        let maker = json!({"name": "Root", "country": "FR", "children": [
            {"name": "Left", "country": "FR", "lamps": [lamp("L-1"), lamp("L-2")]},
            {"name": "Right", "country": "FR", "children": [{"name": "Leaf", "country": "FR", "lamps": [lamp("R-1")]}]},
            {"name": "Bare", "country": "FR"},
        ]});
        let made = boss.post("/odata/v1/Makers", maker).await.expect(201);
        let children = made["children"].as_array().unwrap();
        let child = |name: &str| children.iter().find(|child| child["name"] == name).unwrap();
        assert_eq!(children.len(), 3);
        assert_eq!(child("Left")["lamps"].as_array().map(Vec::len), Some(2), "{made}");
        let leaf = &child("Right")["children"][0];
        assert_eq!((&leaf["name"], &leaf["lamps"][0]["sku"]), (&json!("Leaf"), &json!("R-1")), "{made}");
        assert_eq!((&child("Bare")["lamps"], &child("Bare")["children"]), (&json!([]), &json!([])));
        assert_eq!(boss.get("/odata/v1/Lamps/$count").await.text, "3");
        // What is asked for is answered instead.
        let one = json!({"name": "One", "country": "FR", "lamps": [lamp("O-1")], "children": [{"name": "Two", "country": "FR"}]});
        let asked = boss.post(&path("Makers", "$select=name&$expand=lamps($select=sku)"), one).await.expect(201);
        assert_eq!((&asked["lamps"][0]["sku"], asked.get("children"), asked["lamps"][0].get("price")), (&json!("O-1"), None, None));
    }

    async fn what_is_too_deep_to_answer_is_refused_before_anything_is_made(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        let nested = |levels: usize| (1..levels).fold(json!({"name": "M", "country": "DE"}), |inner, _| json!({"name": "M", "country": "DE", "children": [inner]}));
        // As deep as an answer may be expanded.
        let made = boss.post("/odata/v1/Makers", nested(6)).await.expect(201);
        let mut deepest = &made;
        while let Some(child) = deepest["children"].get(0) {
            deepest = child;
        }
        assert_eq!(deepest["name"], "M");
        assert_eq!(boss.get("/odata/v1/Makers/$count").await.text, "6");
        let refused = boss.post("/odata/v1/Makers", nested(7)).await;
        assert_eq!(refused.status.as_u16(), 400, "{}", refused.text);
        assert_eq!(boss.get("/odata/v1/Makers/$count").await.text, "6");
    }

    async fn one_entity_takes_no_options_of_many(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        let lamp = create(&boss, &[("A-1", 5.0)]).await.remove(0);
        for (option, target) in [
            ("$filter=price gt 1", "$filter"), ("$orderby=price", "$orderby"), ("$top=1", "$top"), ("$skip=0", "$skip"), ("$count=true", "$count"),
            ("$search=a", "$search"), ("$apply=aggregate($count as n)", "$apply"), ("$skiptoken=x", "$skiptoken"),
        ] {
            for address in [lamp.clone(), format!("{lamp}/$ref")] {
                let set = address.strip_prefix("/odata/v1/").unwrap();
                let refused = boss.get(&path(set, option)).await;
                assert_eq!(refused.status.as_u16(), 400, "{address} {option}: {}", refused.text);
            }
            let refused = boss.get(&path(lamp.strip_prefix("/odata/v1/").unwrap(), option)).await.json();
            assert_eq!(refused["error"]["target"], target, "{refused}");
            for part in ["price", "price/$value"] {
                let refused = boss.get(&path(&format!("{}/{part}", lamp.strip_prefix("/odata/v1/").unwrap()), option)).await;
                assert_eq!(refused.status.as_u16(), 400, "{part} {option}: {}", refused.text);
            }
        }
        // A change shows what was changed, and takes no others either; nothing is changed then.
        let changed = boss.patch(&format!("{lamp}?$filter=price%20gt%201"), json!({"price": 9})).await;
        assert_eq!(changed.status.as_u16(), 400);
        assert_eq!(boss.get(&format!("{lamp}/price")).await.expect(200)["value"], 5);
        for address in ["Lamps/$ref?$select=sku", "Lamps/$ref?$expand=maker", "Lamps/$ref?$apply=groupby((sku))"] {
            assert_eq!(boss.get(&format!("/odata/v1/{address}")).await.status.as_u16(), 400, "{address}");
        }
    }
}
