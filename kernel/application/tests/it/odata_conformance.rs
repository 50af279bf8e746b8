//! What the standard's conformance levels ask of a server, where no other test shows it.

use http::Method;
use serde_json::json;
use svc_testing::{Person, on_both_databases};

use crate::fixture::{create, path, start, stock};

on_both_databases! {
    async fn versions_are_named_and_refused(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        for (headers, status, version) in [
            (vec![], 200, "4.01"),
            (vec![("odata-maxversion", "4.0")], 200, "4.0"),
            (vec![("odata-maxversion", "4.01")], 200, "4.01"),
            (vec![("odata-maxversion", "5.0")], 200, "4.01"),
            (vec![("odata-version", "4.0")], 200, "4.0"),
            (vec![("odata-maxversion", "3.0")], 400, "4.01"),
            (vec![("odata-version", "3.0")], 400, "4.01"),
            (vec![("odata-version", "x")], 400, "4.01"),
        ] {
            let answer = boss.send(Method::GET, "/odata/v1/Lamps", &headers, "").await;
            assert_eq!((answer.status.as_u16(), answer.header("odata-version")), (status, version), "{headers:?}");
        }
        let xml = boss.send(Method::GET, "/odata/v1/$metadata", &[("odata-maxversion", "4.0")], "").await;
        assert!(xml.text.contains("Version=\"4.0\""), "{}", xml.text);
        for accept in ["application/xml", "text/html;q=1", "image/png"] {
            let answer = boss.send(Method::GET, "/odata/v1/Lamps", &[("accept", accept)], "").await;
            assert_eq!(answer.status.as_u16(), 406, "{accept}");
        }
        // The schema has one version, which has no name.
        for address in ["", "$metadata", "Lamps", "Lamps/$count", "Lamps/$export", "Makers"] {
            let answer = async |version: &str| boss.get(&format!("/odata/v1/{address}?schemaversion={version}")).await;
            assert_eq!(answer("*").await.status.as_u16(), 200, "{address}");
            let refused = answer("1.0").await.expect(404);
            assert_eq!(refused["error"]["target"], "$schemaversion", "{address}: {refused}");
        }
    }

    async fn a_batch_is_refused_whole_by_a_version_that_is_not_there(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        let body = json!({"requests": [
            {"id": "1", "method": "post", "url": "Makers", "body": {"name": "New", "country": "FR"}},
        ]});
        let send = async |options: &str| boss.post(&format!("/odata/v1/$batch?{options}"), body.clone()).await;
        for options in ["$schemaversion=1.0", "schemaversion=1.0", "%24schemaversion=1.0&mine=1"] {
            let refused = send(options).await.expect(404);
            assert_eq!(refused["error"]["target"], "$schemaversion", "{options}: {refused}");
        }
        for options in ["$top=1", "$filter=true", "$schemaversion=*&$schemaversion=*"] {
            assert_eq!(send(options).await.status.as_u16(), 400, "{options}");
        }
        let made = async || boss.get("/odata/v1/Makers/$count?$filter=name%20eq%20'New'").await.text;
        assert_eq!(made().await, "0");
        let served = send("$schemaversion=*&$format=json&mine=1").await.expect(200);
        assert_eq!(served["responses"][0]["status"], 201, "{served}");
        assert_eq!(made().await, "1");
        // A part names a version for itself.
        let parts = json!({"requests": [
            {"id": "1", "method": "get", "url": "Makers?$schemaversion=1.0"},
            {"id": "2", "method": "get", "url": "Makers?$schemaversion=*"},
        ]});
        let headers = [("prefer", "continue-on-error")];
        let served = boss.send_json(Method::POST, "/odata/v1/$batch?$schemaversion=*", &headers, parts).await.expect(200);
        assert_eq!((&served["responses"][0]["status"], &served["responses"][1]["status"]), (&json!(404), &json!(200)));
    }

    async fn conditions_hold_for_reads_and_changes_alike(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        let lamp = create(&boss, &[("A-1", 5.0)]).await.remove(0);
        let send = async |method: Method, headers: &[(&str, &str)]| {
            let body = if method == Method::PATCH { json!({"price": 5}).to_string() } else { String::new() };
            let headers = [headers, &[("content-type", "application/json")]].concat();
            boss.send(method, &lamp, &headers, body).await.status.as_u16()
        };
        let read = boss.get(&lamp).await.header("etag").to_owned();
        // A tag is compared as text, in each line that holds one.
        for (tags, read, changed) in [
            (&[("if-match", "W/\"1\"")][..], 200, 200),
            (&[("if-match", "*")], 200, 200),
            (&[("if-match", "W/\"2\"")], 412, 412),
            (&[("if-match", "W/\"01\"")], 412, 412),
            (&[("if-match", "W/\"+1\"")], 412, 412),
            (&[("if-match", "W/\"2\""), ("if-match", "W/\"1\"")], 200, 200),
            (&[("if-match", "W/\"2\", W/\"3\"")], 412, 412),
            (&[("if-none-match", "W/\"2\""), ("if-none-match", &read)], 304, 412),
            (&[("if-match", &read)], 200, 200),
            (&[("if-none-match", "W/\"2\"")], 200, 200),
            (&[("if-match", "1")], 400, 400),
        ] {
            assert_eq!((send(Method::GET, tags).await, send(Method::PATCH, tags).await), (read, changed), "{tags:?}");
        }
        // Other headers are one list, too; what answers depend on is said.
        let lines = [("prefer", "respond-async"), ("prefer", "maxpagesize=1"), ("accept", "text/html"), ("accept", "application/json")];
        let page = boss.send(Method::GET, "/odata/v1/Lamps", &lines, "").await;
        assert_eq!((page.status.as_u16(), page.header("preference-applied")), (200, "odata.maxpagesize=1"));
        assert_eq!(page.header("vary"), "Accept, Authorization, Cookie, OData-MaxVersion, OData-Version, Prefer");
        assert_eq!(page.header("cache-control"), "private, no-cache");
        for address in ["", "$metadata"] {
            let answer = async |options: &str| boss.get(&format!("/odata/v1/{address}?{options}")).await.status.as_u16();
            assert_eq!(answer("$schemaversion=*&$format=json&mine=1").await, 200, "{address}");
            assert_eq!((answer("$filter=true").await, answer("$top=1").await), (400, 400), "{address}");
        }
    }

    async fn options_and_functions_are_known_in_any_case_and_without_their_sign(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        stock(&boss).await;
        for options in [
            "$filter=startswith(sku,'A') and price gt 5&$orderby=sku desc&$select=sku&$count=true",
            "filter=StartsWith(sku,'A') AND price GT 5&orderby=sku DESC&select=sku&count=true",
            "$FILTER=STARTSWITH(sku,'A') And price Gt 5&$OrderBy=sku Desc&$Select=sku&$Count=True",
            "%24filter=startswith%28sku%2C%27A%27%29+and+price+gt+5&%24orderby=sku+desc&%24select=sku&%24count=true",
        ] {
            let page = boss.get(&path("Lamps", options)).await;
            assert_eq!(page.status.as_u16(), 200, "{options}: {}", page.text);
            assert_eq!((&page.json()["@odata.count"], &page.json()["value"][0]["sku"]), (&json!(1), &json!("A-2")), "{options}");
        }
        for unknown in ["$fitler=price gt 1", "$filter=price gt 1&filter=price gt 2", "$top=-1", "$top=x", "$skip=-1", "$count=maybe"] {
            assert_eq!(boss.get(&path("Lamps", unknown)).await.status.as_u16(), 400, "{unknown}");
        }
        // Options of the application's own, and annotations that nobody here knows, are let be.
        assert_eq!(boss.get(&path("Lamps", "mine=1&$top=1")).await.status.as_u16(), 200);
        let lamp = json!({"sku": "X", "price": 1, "region": "EU", "@some.annotation": 1, "sku@other.term": {}});
        assert_eq!(boss.post("/odata/v1/Lamps", lamp).await.status.as_u16(), 201);
    }

    async fn what_is_not_served_is_named(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        create(&boss, &[("A-1", 5.0)]).await;
        for (request, feature) in [
            ("Lamps/$each", "$each"),
            ("$all", "$all"),
            ("$crossjoin(Lamps,Makers)", "$crossjoin"),
            ("$entity?$id=Lamps(1)", "$entity"),
            ("Lamps?$deltatoken=x", "$deltatoken"),
            ("Lamps?$index=1", "$index"),
            ("Lamps?$apply=ancestors($root/Lamps,h,id,filter(price gt 1))", "ancestors"),
            ("Makers?$expand=lamps($apply=aggregate($count as n))", "$apply"),
            ("Lamps?$filter=isof(sku,Edm.String)", "isof"),
        ] {
            let answer = boss.get(&format!("/odata/v1/{}", request.replace(' ', "%20"))).await;
            assert_eq!(answer.status.as_u16(), 501, "{request}: {}", answer.text);
            assert!(answer.text.contains(feature), "{request}: {}", answer.text);
        }
    }

    async fn changes_answer_as_their_caller_prefers(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        let lamp = |sku: &str| json!({"sku": sku, "price": 1, "region": "EU"});
        let address = create(&boss, &[("A-1", 5.0)]).await.remove(0);
        for (method, path, body) in [
            (Method::POST, "/odata/v1/Lamps", lamp("A-2")),
            (Method::PATCH, address.as_str(), json!({"price": 2})),
            (Method::PUT, address.as_str(), lamp("A-1")),
        ] {
            let created = method == Method::POST;
            let minimal = boss.send_json(method.clone(), path, &[("prefer", "return=minimal")], body.clone()).await;
            assert_eq!((minimal.status.as_u16(), minimal.header("preference-applied")), (204, "return=minimal"));
            assert!(minimal.header("odata-entityid").contains("/odata/v1/Lamps("), "{:?}", minimal.headers);
            assert_eq!(minimal.header("location").is_empty(), !created);
            let address = minimal.header("odata-entityid");
            let address = &address[address.find("/odata").unwrap()..];
            assert_eq!(minimal.header("etag"), boss.get(address).await.expect(200)["@odata.etag"]);
            let body = if created { lamp("A-3") } else { body };
            let whole = boss.send_json(method.clone(), path, &[("prefer", "return=representation")], body).await;
            assert_eq!((whole.status.as_u16(), whole.header("preference-applied")), (if created { 201 } else { 200 }, "return=representation"));
            assert!(whole.json()["sku"].is_string() && !whole.header("etag").is_empty());
        }
        let chosen = boss.send_json(Method::PATCH, &format!("{address}?$select=sku"), &[], json!({"price": 3})).await.expect(200);
        assert_eq!((&chosen["sku"], chosen.get("price")), (&json!("A-1"), None));
        // What couldn't be answered is refused before anything is changed.
        let accept = [("accept", "image/png")];
        for (method, path, body) in [
            (Method::PATCH, address.clone(), json!({"price": 9})),
            (Method::POST, "/odata/v1/Lamps".to_owned(), lamp("A-9")),
            (Method::POST, format!("{address}/Shop.Reprice"), json!({"price": 9})),
        ] {
            let refused = boss.send_json(method, &path, &accept, body).await;
            assert_eq!(refused.status.as_u16(), 406, "{path}");
        }
        let action = format!("{address}/Shop.Reprice?$select=nothing");
        assert_eq!(boss.post(&action, json!({"price": 9})).await.status.as_u16(), 400);
        assert_eq!(boss.get("/odata/v1/Lamps/$count").await.text, "3");
        let senseless = boss.send_json(Method::PATCH, &format!("{address}?$top=1"), &[], json!({"price": 4})).await;
        assert_eq!(senseless.status.as_u16(), 400);
        assert_eq!(boss.get(&format!("{address}/price")).await.expect(200)["value"], 3);
    }
}
