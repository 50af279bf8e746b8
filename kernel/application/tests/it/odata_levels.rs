//! How much control information answers carry, and numbers as texts.

use http::Method;
use serde_json::{Value, json};
use svc_testing::{Client, Person, on_both_databases};

use crate::fixture::{path, reader, start, stock};

async fn asked(client: &Client, path: &str, parameters: &str) -> (String, Value) {
    let accept = format!("application/json;{parameters}");
    let answer = client.send(Method::GET, path, &[("accept", &accept)], "").await;
    (answer.header("content-type").to_owned(), answer.expect(200))
}

on_both_databases! {
    async fn full_metadata_says_all_that_could_be_computed(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        let [_, beta] = stock(&boss).await;
        let options = "$filter=sku eq 'B-1'&$expand=maker($select=name;$expand=children)";
        let (content_type, page) = asked(&boss, &path("Lamps", options), "odata.metadata=full").await;
        assert_eq!(content_type, "application/json;odata.metadata=full");
        let lamp = &page["value"][0];
        let address = format!("Lamps({})", lamp["id"].as_str().unwrap());
        assert_eq!((&lamp["@odata.type"], &lamp["@odata.etag"]), (&json!("#Shop.Lamp"), &json!("W/\"1\"")));
        assert_eq!((&lamp["@odata.id"], &lamp["@odata.editLink"]), (&json!(address), &json!(address)));
        assert_eq!(lamp["maker@odata.navigationLink"], format!("{address}/maker"));
        assert_eq!(lamp["maker@odata.associationLink"], format!("{address}/maker/$ref"));
        assert_eq!((&lamp["price@odata.type"], &lamp["watts@odata.type"]), (&json!("#Decimal"), &json!("#Int32")));
        assert_eq!((&lamp["id@odata.type"], &lamp["soldFrom@odata.type"]), (&json!("#Guid"), &json!("#DateTimeOffset")));
        assert_eq!((lamp.get("sku@odata.type"), &lamp["sku"]), (None, &json!("B-1")));
        assert_eq!(lamp["#Shop.Reprice"], json!({"title": "Reprice", "target": format!("{address}/Shop.Reprice")}));
        assert_eq!(page["#Shop.UpTo"]["target"], "Lamps/Shop.UpTo");
        // The key that nobody selected is in the address alone.
        let maker = &lamp["maker"];
        assert_eq!((&maker["@odata.id"], &maker["name"], maker.get("id")), (&json!(format!("Makers({beta})")), &json!("Beta"), None));
        assert_eq!((maker.get("#Shop.Best"), &maker["children"]), (None, &json!([])));
        for address in [lamp["@odata.id"].as_str().unwrap(), lamp["maker@odata.navigationLink"].as_str().unwrap()] {
            let _ = boss.get(&format!("/odata/v1/{address}")).await.expect(200);
        }
        let (_, one) = asked(&boss, &format!("/odata/v1/{address}?$select=price"), "odata.metadata=full").await;
        assert_eq!((&one["@odata.id"], one.get("id"), one.get("maker@odata.navigationLink")), (&json!(address), None, None));
        let (_, price) = asked(&boss, &format!("/odata/v1/{address}/price"), "odata.metadata=full").await;
        assert_eq!((&price["@odata.type"], &price["value"]), (&json!("#Decimal"), &json!(20)));
        let made = json!({"sku": "N", "price": 1, "region": "EU"});
        let accept = [("accept", "application/json;odata.metadata=full")];
        let made = boss.send_json(Method::POST, "/odata/v1/Lamps", &accept, made).await.expect(201);
        assert_eq!(made["@odata.type"], "#Shop.Lamp");
    }

    async fn full_metadata_names_nothing_that_is_hidden(backend) {
        let app = start(backend).await;
        stock(&app.sign_in(&Person::named("boss"))).await;
        let narrow = app.sign_in(&Person::named("narrow").who_may(&["Lamps.View"]));
        let (_, page) = asked(&narrow, "/odata/v1/Lamps", "odata.metadata=full").await;
        let text = page.to_string();
        assert!(text.contains("Shop.Quote") && !text.contains("Reprice") && !text.contains("maker@"), "{text}");
        assert!(!text.contains("costPrice"), "{text}");
        let reader = app.sign_in(&reader());
        let (_, page) = asked(&reader, "/odata/v1/Lamps?$apply=groupby((region),aggregate($count%20as%20n))", "odata.metadata=full").await;
        assert!(!page.to_string().contains("@odata.id"), "{page}");
    }

    async fn minimal_and_none_are_smaller(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        stock(&boss).await;
        let options = path("Lamps", "$expand=maker&$top=2&$count=true");
        let (content_type, none) = asked(&boss, &options, "odata.metadata=none").await;
        assert_eq!(content_type, "application/json;odata.metadata=none");
        let text = none.to_string();
        assert_eq!(none["@odata.count"], 5);
        assert_eq!(text.matches("@odata").count(), 1, "{text}");
        let (_, minimal) = asked(&boss, &options, "odata.metadata=minimal").await;
        assert_eq!(minimal.to_string().matches("@odata.etag").count(), 4, "{minimal}");
        assert!(!minimal.to_string().contains("@odata.id"), "{minimal}");
        let strange = boss.send(Method::GET, &options, &[("accept", "application/json;odata.metadata=much")], "").await;
        assert_eq!(strange.status.as_u16(), 406);
    }

    async fn wide_numbers_are_texts_for_who_reads_them_as_doubles(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        stock(&boss).await;
        let options = path("Lamps", "$orderby=sku&$select=price,watts&$count=true&$compute=price mul 2 as twice");
        let (content_type, page) = asked(&boss, &options, "IEEE754Compatible=true").await;
        assert_eq!(content_type, "application/json;odata.metadata=minimal;IEEE754Compatible=true");
        let lamp = &page["value"][1];
        assert_eq!((&page["@odata.count"], &lamp["price"], &lamp["watts"]), (&json!("5"), &json!("10.5"), &json!(null)));
        assert_eq!(page["value"][0]["watts"], 40);
        let (_, price) = asked(&boss, "/odata/v1/Lamps(sku='A-2')/price", "IEEE754Compatible=true").await;
        assert_eq!(price["value"], "10.5");
        let (_, quote) = asked(&boss, "/odata/v1/Lamps(sku='A-2')/Quote(quantity=1)", "IEEE754Compatible=true").await;
        assert_eq!(quote["value"], "10.5");
        let headers = [("content-type", "application/json;IEEE754Compatible=true")];
        let change = boss.send(Method::PATCH, "/odata/v1/Lamps(sku='A-2')", &headers, r#"{"price": "11.5"}"#).await;
        assert_eq!(change.expect(200)["price"], 11.5);
    }
}
