use http::Method;
use serde_json::json;
use svc_testing::{Person, on_both_databases};

use crate::fixture::{create, path, reader, seller, start, stock};

on_both_databases! {
    async fn an_action_is_a_unit_of_work_on_a_locked_record(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        let lamp = &create(&boss, &[("A-1", 5.0)]).await[0];
        let action = format!("{lamp}/Shop.Reprice");
        let answer = boss.post(&action, json!({"price": 6.5})).await;
        assert_eq!(answer.header("etag"), "W/\"2\"");
        let repriced = answer.expect(200);
        assert_eq!((&repriced["price"], &repriced["region"]), (&json!(6.5), &json!("EU")));
        assert!(repriced["@odata.context"].as_str().unwrap().ends_with("/$metadata#Lamps/$entity"));
        // Without its namespace too, and with options for what is returned.
        let short = format!("{lamp}/Reprice?$select=region");
        let short = boss.post(&short, json!({"price": 7, "reason": "dear"})).await.expect(200);
        assert_eq!((&short["region"], short.get("price")), (&json!("dear"), None));
        // What fails in the end has changed nothing.
        let refused = boss.post(&action, json!({"price": 0})).await.expect(422);
        assert_eq!(refused["error"]["details"][0]["target"], "price");
        assert_eq!(boss.get(lamp).await.expect(200)["price"], 7);
        let wrong = boss.post(&action, json!({"price": "much", "prize": 1})).await.expect(400);
        assert_eq!(wrong["error"]["details"].as_array().unwrap().len(), 2, "{wrong}");
        let missing = boss.post(&action, json!({})).await.expect(422);
        assert_eq!(missing["error"]["details"][0]["message"], "is required");
        let stale = boss.send_json(Method::POST, &action, &[("if-match", "W/\"1\"")], json!({"price": 9})).await;
        assert_eq!(stale.status.as_u16(), 412);
        let minimal = boss.send_json(Method::POST, &action, &[("prefer", "return=minimal")], json!({"price": 9})).await;
        assert_eq!((minimal.status.as_u16(), minimal.header("preference-applied")), (204, "return=minimal"));
        assert_eq!(boss.get(&action).await.status.as_u16(), 405);
        let _ = boss.post(&format!("{lamp}/Shop.Withdraw"), json!({})).await.expect(204);
        assert_eq!(boss.post(&action, json!({"price": 1})).await.status.as_u16(), 404);
    }

    async fn operations_of_a_set_return_what_their_caller_may_see(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        let [_, beta] = stock(&boss).await;
        let raise = json!({"by": 1, "only": ["A-1", "B-1"]});
        let raised = boss.post(&path("Lamps/Shop.Raise", "$orderby=price desc&$select=sku,price"), raise).await.expect(200);
        let first = &raised["value"][0];
        assert_eq!((&first["sku"], &first["price"]), (&json!("B-1"), &json!(21)));
        assert_eq!(raised["value"].as_array().unwrap().len(), 2);
        let narrow = app.sign_in(&reader().with_claim("regions", &["EU"]));
        let found = narrow.get(&path("Lamps/UpTo(price=@p)", "@p=100&$filter=price gt 5&$orderby=sku&$count=true&$select=sku")).await.expect(200);
        assert_eq!(found["@odata.count"], 3);
        let skus: Vec<_> = found["value"].as_array().unwrap().iter().map(|lamp| &lamp["sku"]).collect();
        assert_eq!(skus, ["A-1", "A-2", "B-2"]);
        // A page of what a function returns goes on where it ended.
        let size = [("prefer", "odata.maxpagesize=2")];
        let page = narrow.send(Method::GET, &path("Lamps/Shop.UpTo(price=100)", "$orderby=sku"), &size, "").await.expect(200);
        let next = narrow.get(page["@odata.nextLink"].as_str().unwrap()).await.expect(200);
        assert_eq!((&page["value"][1]["sku"], &next["value"][0]["sku"]), (&json!("A-2"), &json!("B-2")));
        // The best lamp of Beta is one of Asia, which is none to who sees Europe alone.
        let best = format!("/odata/v1/Makers({beta})/Shop.Best()");
        assert_eq!(boss.get(&best).await.expect(200)["sku"], "B-1");
        assert_eq!(narrow.get(&best).await.status.as_u16(), 204);
        let part = narrow.get(&path("Lamps/$filter(price gt 5)/Shop.UpTo(price=1)", "")).await;
        assert_eq!(part.status.as_u16(), 501, "{}", part.text);
        let behind = narrow.get(&path("Lamps/Shop.UpTo(price=1)/$count", "")).await;
        assert_eq!(behind.status.as_u16(), 501, "{}", behind.text);
    }

    async fn functions_take_parameters_of_every_type(backend) {
        let app = start(backend).await;
        let client = app.sign_in(&seller());
        let lamp = &create(&client, &[("A-1", 5.25)]).await[0];
        let quote = client.get(&format!("{lamp}/Shop.Quote(quantity=3)")).await.expect(200);
        assert_eq!(quote["value"], 15.75);
        assert!(quote["@odata.context"].as_str().unwrap().ends_with("$metadata#Edm.Decimal"), "{quote}");
        let dated = client.get(&format!("{lamp}/Quote(quantity=@q,onDay=@d)?@q=2&@d=2026-11-20")).await.expect(200);
        assert_eq!(dated["value"], 21);
        let implicit = client.get(&format!("{lamp}/Quote?quantity=2")).await;
        assert_eq!(implicit.status.as_u16(), 400, "an implicit alias needs its sign: {}", implicit.text);
        assert_eq!(client.get(&format!("{lamp}/Quote?@quantity=2")).await.expect(200)["value"], 10.5);
        assert_eq!(client.get(&format!("{lamp}/Quote(quantity=0)")).await.status.as_u16(), 204);
        for wrong in ["Quote(quantity='3')", "Quote()", "Quote(quantity=1,many=2)", "Quote(3)"] {
            let answer = client.get(&format!("{lamp}/{wrong}")).await;
            assert_eq!(answer.status.as_u16(), 400, "{wrong}: {}", answer.text);
        }
        assert_eq!(client.post(&format!("{lamp}/Quote(quantity=1)"), json!({})).await.status.as_u16(), 405);
        let id = "01990000-0000-7000-8000-00000000000a";
        let options = "@n=[1,-2,9007199254740993]&@t='it''s / so'&@w=2026-01-02T03:04:05%2B01:00";
        let echo = format!("Echo(text=@t,yes=true,id={id},at=@w,numbers=@n,half=0.5)");
        let echo = client.get(&path(&echo, options)).await.expect(200);
        let expected = json!(["it's / so", format!("Some(true) Some(\"{id}\") Some(0.5)"),
            "Some(1767319445) [1, -2, 9007199254740993]"]);
        assert_eq!(echo["value"], expected);
        assert!(echo["@odata.context"].as_str().unwrap().ends_with("#Collection(Edm.String)"), "{echo}");
    }

    async fn operations_can_be_called_in_batches_and_groups(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        let lamp = json!({"sku": "A-1", "price": 5, "region": "EU"});
        let requests = json!({"requests": [
            {"id": "1", "atomicityGroup": "g", "method": "post", "url": "Lamps", "body": lamp},
            {"id": "2", "atomicityGroup": "g", "method": "post", "url": "$1/Shop.Reprice", "body": {"price": 8}},
            {"id": "3", "atomicityGroup": "g", "method": "post", "url": "$1/Shop.Reprice", "body": {"price": 0}},
        ]});
        let failed = boss.post("/odata/v1/$batch", requests.clone()).await.expect(200);
        assert_eq!(failed["responses"][2]["status"], 422, "{failed}");
        assert_eq!(boss.get("/odata/v1/Lamps/$count").await.text, "0");
        let mut requests = requests;
        requests["requests"][2] = json!({"id": "3", "method": "get", "url": "$1/Quote(quantity=2)", "dependsOn": ["g"]});
        let stored = boss.post("/odata/v1/$batch", requests).await.expect(200);
        assert_eq!(stored["responses"][2]["body"]["value"], 16, "{stored}");
        let closed = boss.post("/odata/v1/CloseDay", json!({})).await.expect(200);
        assert_eq!(closed["value"], 1);
    }

    async fn an_operation_takes_its_permission_and_a_record_that_is_seen(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        stock(&boss).await;
        let asian = boss.get(&path("Lamps", "$filter=sku eq 'B-1'")).await.expect(200);
        let asian = asian["value"][0]["id"].as_str().unwrap().to_owned();
        let action = format!("/odata/v1/Lamps({asian})/Shop.Reprice");
        let seller = app.sign_in(&seller());
        let refused = seller.post(&action, json!({"price": 1})).await.expect(403);
        assert!(refused["error"]["message"].as_str().unwrap().contains("Lamps.Reprice"), "{refused}");
        let narrow = Person::named("narrow").who_may(&["Lamps.View", "Lamps.Reprice"]).with_claim("regions", &["EU"]);
        let narrow = app.sign_in(&narrow);
        let unknown = "/odata/v1/Lamps(01990000-0000-7000-8000-0000000000ee)/Shop.Reprice";
        for address in [action.as_str(), unknown] {
            let hidden = narrow.post(address, json!({"price": 1})).await.expect(404);
            assert_eq!(hidden["error"]["message"], "there is no such entity");
        }
        assert_eq!(narrow.get(&action.replace("Reprice", "Quote(quantity=1)")).await.status.as_u16(), 404);
        // Who may act but not read is told nothing of the record.
        let blind = app.sign_in(&Person::named("blind").who_may(&["Lamps.Reprice"]));
        assert_eq!(blind.post(&action, json!({"price": 3})).await.status.as_u16(), 204);
        assert_eq!(boss.get(&format!("/odata/v1/Lamps({asian})/price")).await.expect(200)["value"], 3);
    }

    async fn operations_are_described_to_who_may_call_them(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        let xml = boss.get("/odata/v1/$metadata").await.text;
        let part: Vec<&str> = xml.lines().filter(|line| line.contains("Action") || line.contains("Function ") || line.contains("Parameter") || line.contains("FunctionImport") || line.contains("ReturnType")).map(str::trim).collect();
        insta::allow_duplicates! { insta::assert_snapshot!("operations", part.join("\n")) };
        let json = boss.get("/odata/v1/$metadata?$format=json").await.expect(200);
        let action = &json["Shop"]["Reprice"][0];
        assert_eq!((&action["$Kind"], &action["$IsBound"]), (&json!("Action"), &json!(true)));
        let seller = app.sign_in(&seller()).get("/odata/v1/$metadata").await.text;
        assert!(seller.contains("Quote") && !seller.contains("Reprice") && !seller.contains("Best") && !seller.contains("CloseDay"), "{seller}");
        let document = app.anonymous().get("/openapi/v1.json").await.expect(200);
        let reprice = &document["paths"]["/odata/v1/Lamps({key})/Shop.Reprice"]["post"];
        assert_eq!(reprice["security"][0]["bearer"][0], "Lamps.Reprice");
        let schema = &reprice["requestBody"]["content"]["application/json"]["schema"];
        assert_eq!(schema["required"], json!(["price"]));
        let quote = &document["paths"]["/odata/v1/Lamps({key})/Shop.Quote(quantity={quantity},onDay={onDay})"]["get"];
        assert_eq!(quote["parameters"][0]["name"], "quantity", "{document}");
        assert!(document["paths"]["/odata/v1/CloseDay"]["post"].is_object());
    }
}
