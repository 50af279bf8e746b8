//! Bounds of what one request may ask for, and what there is beyond them.

use std::fmt::Write as _;

use http::Method;
use serde_json::{Value, json};
use svc_application::Application;
use svc_testing::{Backend, Client, Person, TestApp, on_both_databases};

use crate::fixture::{create, path, shop, start, stock};

async fn limited(backend: Backend, settings: &[&str]) -> TestApp {
    let app = TestApp::builder(|| Application::new("shop").module(shop()));
    let apply = |app: svc_testing::TestAppBuilder, setting: &&str| {
        let (key, value) = setting.split_once('=').unwrap();
        app.setting(key, value)
    };
    settings.iter().fold(app, apply).start(backend).await
}

async fn status(client: &Client, options: &str) -> (u16, String) {
    let answer = client.get(&path("Lamps", options)).await;
    (
        answer.status.as_u16(),
        answer.json()["error"]["message"].as_str().unwrap_or_default().to_owned(),
    )
}

fn skus(lamps: &Value) -> Vec<String> {
    let lamps = lamps.as_array().unwrap().iter();
    lamps.map(|lamp| lamp["sku"].as_str().unwrap().to_owned()).collect()
}

on_both_databases! {
    async fn what_is_too_much_is_refused_with_its_limit(backend) {
        let settings = ["Svc:OData:MaxNodes=12", "Svc:OData:MaxExpandDepth=2", "Svc:OData:MaxSelectItems=2",
            "Svc:OData:MaxOrderByItems=1", "Svc:OData:MaxUrlLength=256", "Svc:OData:MaxBatchRequests=1",
            "Svc:OData:MaxExpands=2"];
        let app = limited(backend, &settings).await;
        let boss = app.sign_in(&Person::named("boss"));
        create(&boss, &[("A-1", 5.0)]).await;
        for (fits, exceeds, named) in [
            ("$filter=price gt 1", "$filter=price gt 1 and price gt 2 and price gt 3 and price gt 4 and price gt 5", "12"),
            ("$select=sku,price", "$select=sku,price,region", "2"),
            ("$orderby=price", "$orderby=price,sku", "1"),
            ("$expand=maker($expand=lamps)", "$expand=maker($expand=lamps($expand=maker))", "2"),
            ("$expand=maker($expand=parent)", "$expand=maker($expand=parent,lamps)", "2"),
        ] {
            assert_eq!(status(&boss, fits).await.0, 200, "{fits}");
            let (status, message) = status(&boss, exceeds).await;
            assert_eq!(status, 400, "{exceeds}");
            assert!(message.contains(named), "{exceeds}: {message}");
        }
        let mut long = "$filter=sku eq '".to_owned();
        let _ = write!(long, "{:x<300}'", "");
        let (status, message) = status(&boss, &long).await;
        assert_eq!(status, 414);
        assert!(message.contains("256") && message.contains("$query"), "{message}");
        // The same query fits into a body.
        let plain = [("content-type", "text/plain")];
        let body = path("", &long).split_once('?').unwrap().1.to_owned();
        let posted = boss.send(Method::POST, "/odata/v1/Lamps/$query?$count=true", &plain, body).await.expect(200);
        assert_eq!((&posted["@odata.count"], &posted["value"]), (&json!(0), &json!([])));
        let json = boss.post("/odata/v1/Lamps/$query", json!({})).await;
        assert_eq!(json.status.as_u16(), 415);
        let two = json!({"requests": [{"id": "1", "method": "get", "url": "Lamps"}, {"id": "2", "method": "get", "url": "Lamps"}]});
        let batch = boss.post("/odata/v1/$batch", two).await.expect(400);
        assert!(batch["error"]["message"].as_str().unwrap().contains('1'), "{batch}");
    }

    async fn no_nesting_and_no_size_makes_the_server_fail(backend) {
        let app = limited(backend, &["Svc:OData:MaxNodes=100000", "Svc:OData:MaxSelectItems=10000"]).await;
        let boss = app.sign_in(&Person::named("boss"));
        let ask = async |query: String| {
            let query = path("", &query).split_once('?').unwrap().1.to_owned();
            boss.send(Method::POST, "/odata/v1/Lamps/$query", &[("content-type", "text/plain")], query).await
        };
        // Each alias is short, and all of them together are one expression.
        let chain = |length: usize| {
            let links = (0..length).map(|link| format!("@a{link}=not (@a{})", link + 1));
            format!("$filter=@a0&{}&@a{length}=price gt 1", links.collect::<Vec<_>>().join("&"))
        };
        assert_eq!(ask(chain(40)).await.status.as_u16(), 200);
        let refused = ask(chain(1_500)).await.expect(400);
        assert_eq!(refused["error"]["message"], "the expressions are nested deeper than 100; ask for less at once (`Svc:OData:MaxDepth`)");
        for (open, close) in [("(", ")"), ("(", " eq true and true or false)"), ("not (", ")"), ("case(true:", ")")] {
            for depth in [40, 98, 1_000] {
                let answer = ask(format!("$filter={}price gt 1{}", open.repeat(depth), close.repeat(depth))).await;
                assert!([200, 400].contains(&answer.status.as_u16()), "{depth} × {open}: {}", answer.text);
            }
        }
        // More columns than a statement of either database holds.
        let names = |what: fn(usize) -> String| (0..2_100).map(what).collect::<Vec<_>>().join(",");
        let wide = format!("$compute={}&$select={}", names(|n| format!("price as c{n}")), names(|n| format!("c{n}")));
        let refused = ask(wide).await.expect(400);
        assert!(refused["error"]["message"].as_str().unwrap().contains("ask for less at once"), "{refused}");
        let long = ask(format!("$filter=sku eq '{}'", "x".repeat(70_000))).await.expect(413);
        assert_eq!(long["error"]["message"], "the query has 70021 bytes, at most 65000 are served");
    }

    async fn page_sizes_are_bounded_and_told(backend) {
        let app = limited(backend, &["Svc:OData:PageSize=2", "Svc:OData:MaxPageSize=3"]).await;
        let boss = app.sign_in(&Person::named("boss"));
        stock(&boss).await;
        let size = async |prefer: &'static str| {
            let answer = boss.send(Method::GET, "/odata/v1/Lamps", &[("prefer", prefer)], "").await;
            let applied = answer.header("preference-applied").to_owned();
            (answer.expect(200)["value"].as_array().unwrap().len(), applied)
        };
        assert_eq!(size("").await, (2, String::new()));
        assert_eq!(size("maxpagesize=1").await, (1, "odata.maxpagesize=1".to_owned()));
        assert_eq!(size("odata.maxpagesize=1000").await, (3, "odata.maxpagesize=3".to_owned()));
        assert_eq!(size("odata.maxpagesize=0").await, (2, String::new()));
    }

    async fn expanded_collections_go_on_at_their_own_address(backend) {
        let app = limited(backend, &["Svc:OData:ExpandPageSize=2"]).await;
        let boss = app.sign_in(&Person::named("boss"));
        let [alpha, beta] = stock(&boss).await;
        for (sku, price) in [("A-3", 3), ("A-4", 4), ("A-5", 9)] {
            let lamp = json!({"sku": sku, "price": price, "region": "EU", "makerId": alpha});
            let _ = boss.post("/odata/v1/Lamps", lamp).await.expect(201);
        }
        let options = "$orderby=name desc&@p=3&$expand=lamps($filter=price gt @p;$orderby=price desc;$select=sku;$count=true;$expand=maker($select=name))";
        let page = boss.get(&path("Makers", options)).await.expect(200);
        let of_alpha = page["value"].as_array().unwrap().iter().find(|maker| maker["id"] == json!(alpha)).unwrap();
        assert_eq!((skus(&of_alpha["lamps"]), &of_alpha["lamps@odata.count"]), (vec!["A-2".to_owned(), "A-5".to_owned()], &json!(4)));
        let link = of_alpha["lamps@odata.nextLink"].as_str().unwrap();
        assert!(link.contains(&format!("/odata/v1/Makers({alpha})/lamps?")), "{link}");
        let next = boss.get(link).await.expect(200);
        assert_eq!((skus(&next["value"]), &next["value"][0]["maker"]["name"]), (vec!["A-1".to_owned(), "A-4".to_owned()], &json!("Älpha")));
        assert_eq!(next.get("@odata.nextLink"), None);
        let of_beta = page["value"].as_array().unwrap().iter().find(|maker| maker["id"] == json!(beta)).unwrap();
        assert_eq!((of_beta["lamps"].as_array().unwrap().len(), of_beta.get("lamps@odata.nextLink")), (2, None));
        // With a top the page ends there, or goes on up to there.
        let top = boss.get(&path(&format!("Makers({alpha})"), "$expand=lamps($orderby=sku;$top=3;$skip=1)")).await.expect(200);
        assert_eq!(skus(&top["lamps"]), ["A-2", "A-3"]);
        let rest = boss.get(top["lamps@odata.nextLink"].as_str().unwrap()).await.expect(200);
        assert_eq!((skus(&rest["value"]), rest.get("@odata.nextLink")), (vec!["A-4".to_owned()], None));
        let two = boss.get(&path(&format!("Makers({alpha})"), "$expand=lamps($orderby=sku;$top=2)")).await.expect(200);
        assert_eq!((skus(&two["lamps"]), two.get("lamps@odata.nextLink")), (vec!["A-1".to_owned(), "A-2".to_owned()], None));
        let refs = boss.get(&path(&format!("Makers({alpha})"), "$expand=lamps/$ref($orderby=sku)")).await.expect(200);
        let link = refs["lamps@odata.nextLink"].as_str().unwrap();
        assert_eq!(boss.get(link).await.expect(200)["value"].as_array().unwrap().len(), 3, "{link}");
        // The link is for who got it, and nobody else.
        let other = app.sign_in(&Person::named("other").who_may(&["Lamps.View", "Makers.View"]));
        assert_eq!(other.get(link).await.status.as_u16(), 400);
    }

    async fn levels_go_on_at_their_own_address(backend) {
        let app = limited(backend, &["Svc:OData:ExpandPageSize=1"]).await;
        let boss = app.sign_in(&Person::named("boss"));
        let child = |name: &str, children: Vec<Value>| json!({"name": name, "country": "DE", "children": children});
        let root = child("R", vec![child("A", vec![child("AA", vec![])]), child("B", vec![child("BA", vec![]), child("BB", vec![])])]);
        let made = boss.post("/odata/v1/Makers", root).await.expect(201);
        let address = format!("Makers({})", made["id"].as_str().unwrap());
        let read = boss.get(&path(&address, "$expand=children($levels=2;$orderby=name)")).await.expect(200);
        assert_eq!(read["children"][0]["children"][0]["name"], "AA");
        let next = boss.get(read["children@odata.nextLink"].as_str().unwrap()).await.expect(200);
        let b = &next["value"][0];
        assert_eq!((&b["name"], &b["children"][0]["name"]), (&json!("B"), &json!("BA")));
        let last = boss.get(b["children@odata.nextLink"].as_str().unwrap()).await.expect(200);
        assert_eq!(last["value"][0]["name"], "BB");
    }

    async fn an_address_says_which_methods_it_takes(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        let lamp = create(&boss, &[("A-1", 5.0)]).await.remove(0);
        for (address, allowed) in [
            ("/odata/v1/Lamps".to_owned(), "GET, HEAD, OPTIONS, POST"),
            (lamp.clone(), "GET, HEAD, OPTIONS, PATCH, PUT, DELETE"),
            (format!("{lamp}/Shop.Reprice"), "OPTIONS, POST"),
            (format!("{lamp}/Quote(quantity=1)"), "GET, HEAD, OPTIONS"),
            (format!("{lamp}/sku"), "DELETE, GET, HEAD, OPTIONS, PUT"),
            (format!("{lamp}/maker/$ref"), "DELETE, GET, HEAD, OPTIONS, PUT"),
            (format!("{lamp}/sku/$value"), "GET, HEAD, OPTIONS"),
            ("/odata/v1/$batch".to_owned(), "OPTIONS, POST"),
        ] {
            let options = boss.send(Method::OPTIONS, &address, &[], "").await;
            assert_eq!((options.status.as_u16(), options.header("allow")), (204, allowed), "{address}");
            let trace = boss.send(Method::TRACE, &address, &[], "").await;
            assert_eq!((trace.status.as_u16(), trace.header("allow")), (405, allowed), "{address}");
        }
        let head = boss.send(Method::HEAD, &lamp, &[], "").await;
        let read = boss.get(&lamp).await;
        assert_eq!((head.status.as_u16(), head.header("etag"), head.header("odata-version")), (200, read.header("etag"), "4.01"));
    }
}
