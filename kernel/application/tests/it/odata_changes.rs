use http::Method;
use serde_json::json;
use svc_testing::on_both_databases;

use crate::fixture::hooks::DIMMED;
use crate::fixture::{create, seller, start};

on_both_databases! {
    async fn what_is_created_is_answered_and_stored(backend) {
        let app = start(backend).await;
        let client = app.sign_in(&seller());
        let lamp = json!({"sku": "A-1", "price": 19.9, "watts": 40, "soldFrom": "2026-01-02T03:04:05+01:00", "region": "EU"});
        let answer = client.post("/odata/v1/Lamps", lamp).await;
        let location = answer.header("location").to_owned();
        assert_eq!(answer.header("etag"), "W/\"1\"");
        let created = answer.expect(201);
        assert_eq!(created["price"], 19.9);
        assert_eq!(created["soldFrom"], "2026-01-02T02:04:05Z");
        assert_eq!(created["createdAt"], "2026-11-20T12:00:00Z");
        assert_eq!(location, format!("/odata/v1/Lamps({})", created["id"].as_str().unwrap()));
        assert_eq!(client.get(&location).await.expect(200), created);
        let headers = [("prefer", "return=minimal")];
        let lamp = json!({"sku": "A-2", "price": 1, "region": "EU"});
        let minimal = client.send_json(Method::POST, "/odata/v1/Lamps", &headers, lamp).await;
        assert_eq!((minimal.status.as_u16(), minimal.text.as_str()), (204, ""));
        assert_eq!(minimal.header("preference-applied"), "return=minimal");
        let _ = client.get(minimal.header("odata-entityid")).await.expect(200);
    }

    async fn what_a_commit_hook_changes_is_part_of_the_answer(backend) {
        let app = start(backend).await;
        let client = app.sign_in(&seller());
        let lamp = json!({"sku": DIMMED, "price": 19.9, "watts": 40, "region": "EU"});
        let answer = client.post("/odata/v1/Lamps", lamp).await;
        let location = answer.header("location").to_owned();
        assert_eq!(answer.header("etag"), "W/\"2\"");
        let created = answer.expect(201);
        assert_eq!(created["watts"], 5);
        assert_eq!(client.get(&location).await.expect(200), created);
    }

    async fn patch_changes_what_it_names_and_put_all_the_rest_too(backend) {
        let app = start(backend).await;
        let client = app.sign_in(&seller());
        let lamp = json!({"sku": "A-1", "price": 5, "watts": 40, "region": "EU"});
        let created = client.post("/odata/v1/Lamps", lamp).await.expect(201);
        let address = format!("/odata/v1/Lamps({})", created["id"].as_str().unwrap());
        let changed = client.patch(&address, json!({"price": 6})).await;
        assert_eq!(changed.header("etag"), "W/\"2\"");
        let changed = changed.expect(200);
        assert_eq!((&changed["price"], &changed["watts"]), (&json!(6), &json!(40)));
        let put = json!({"sku": "A-1", "price": 7, "region": "EU"});
        let replaced = client.put(&address, put).await.expect(200);
        assert_eq!((&replaced["price"], &replaced["watts"]), (&json!(7), &json!(null)));
        assert_eq!(replaced["createdAt"], created["createdAt"]);
        let refusal = client.put(&address, json!({"sku": "A-1"})).await.expect(422);
        assert_eq!(refusal["error"]["details"].as_array().unwrap().len(), 2, "{refusal}");
    }

    async fn a_change_is_refused_for_a_version_that_is_gone(backend) {
        let app = start(backend).await;
        let client = app.sign_in(&seller());
        let address = &create(&client, &[("A-1", 5.0)]).await[0];
        let send = |method, tag| {
            let (client, address) = (client.clone(), address.clone());
            async move {
                let body = json!({"sku": "A-1", "price": 6, "region": "EU"});
                client.send_json(method, &address, &[("if-match", tag)], body).await.status.as_u16()
            }
        };
        assert_eq!(send(Method::PATCH, "W/\"1\"").await, 200);
        assert_eq!(send(Method::PATCH, "W/\"1\"").await, 412);
        assert_eq!(send(Method::PUT, "W/\"1\"").await, 412);
        assert_eq!(send(Method::DELETE, "W/\"1\"").await, 412);
        assert_eq!(send(Method::PATCH, "\"7\", W/\"2\"").await, 200);
        assert_eq!(send(Method::PATCH, "not a tag").await, 400);
        assert_eq!(send(Method::DELETE, "*").await, 204);
        assert_eq!(send(Method::DELETE, "*").await, 404);
    }
}
