//! Bad input: a status and a reason, and nothing stored.

use http::Method;
use serde_json::json;
use svc_testing::{Person, on_both_databases};

use crate::fixture::{create, seller, start};

on_both_databases! {
    async fn a_body_that_is_wrong_is_refused_and_stores_nothing(backend) {
        let app = start(backend).await;
        let client = app.sign_in(&seller());
        create(&client, &[("TAKEN", 5.0)]).await;
        let long = format!(r#"{{"sku":"{}","price":1,"region":"EU"}}"#, "x".repeat(21));
        let huge = format!(r#"{{"sku":"{}"}}"#, "x".repeat(5 * 1024 * 1024));
        let cases: [(&str, u16); 14] = [
            ("{", 400),
            ("", 400),
            ("[]", 400),
            ("\"lamp\"", 400),
            (r#"{"sku":"A","sku":"B","price":1,"region":"EU"}"#, 400),
            (r#"{"sku":"A","price":1,"region":"EU","colour":"red"}"#, 400),
            (r#"{"sku":"A","price":"1","region":"EU"}"#, 422),
            (r#"{"sku":7,"price":1,"region":"EU"}"#, 422),
            (r#"{"sku":"A","price":1.005,"region":"EU"}"#, 422),
            (r#"{"sku":"A","price":12345678901,"region":"EU"}"#, 422),
            (r#"{"sku":"A","region":"EU"}"#, 422),
            (r#"{"sku":"A\u0000","price":1,"region":"EU"}"#, 422),
            (r#"{"sku":"TAKEN","price":1,"region":"EU"}"#, 409),
            (&long, 422),
        ];
        for (body, status) in cases {
            let headers = [("content-type", "application/json")];
            let answer = client.send(Method::POST, "/odata/v1/Lamps", &headers, body.to_owned()).await;
            assert_eq!(answer.status.as_u16(), status, "{body}: {}", answer.text);
            let error = &answer.json()["error"];
            assert!(!error["message"].as_str().unwrap().is_empty(), "{body}: {}", answer.text);
        }
        let headers = [("content-type", "application/json")];
        let answer = client.send(Method::POST, "/odata/v1/Lamps", &headers, huge).await;
        assert_eq!(answer.status.as_u16(), 413);
        let headers = [("content-type", "text/xml")];
        let answer = client.send(Method::POST, "/odata/v1/Lamps", &headers, "<a/>").await;
        assert_eq!(answer.status.as_u16(), 415);
        assert_eq!(client.get("/odata/v1/Lamps/$count").await.text, "1");
    }

    async fn a_request_that_is_wrong_is_refused(backend) {
        let app = start(backend).await;
        let client = app.sign_in(&seller());
        let address = &create(&client, &[("A-1", 5.0)]).await[0];
        let cases = [
            ("Lamps?$filter=colour%20eq%20'red'", 400),
            ("Lamps?$filter=price%20gt%20'5'", 400),
            ("Lamps?$filter=price%20gt", 400),
            ("Lamps?$orderby=colour", 400),
            ("Lamps?$select=colour", 400),
            ("Lamps?$top=-1", 400),
            ("Lamps?$top=x", 400),
            ("Lamps?$top=1&$top=2", 400),
            ("Lamps?$colour=red", 400),
            ("Lamps?$filter=%zz", 400),
            ("Lamps?$expand=supplier", 400),
            ("Lamps?$search=", 400),
            ("Lamps?$deltatoken=x", 501),
            ("Lamps?$filter=matchespattern(sku,'A')", 501),
            ("Lamps(7)", 400),
            ("Lamps('A-1')", 400),
            ("Chairs", 404),
            ("$batch", 405),
        ];
        for (path, status) in cases {
            let answer = client.get(&format!("/odata/v1/{path}")).await;
            assert_eq!(answer.status.as_u16(), status, "{path}: {}", answer.text);
            assert!(answer.json()["error"]["message"].is_string(), "{path}: {}", answer.text);
        }
        let wrong = client.send(Method::DELETE, "/odata/v1/Lamps", &[], "").await;
        assert_eq!(wrong.status.as_u16(), 405);
        let answer = client.send(Method::GET, address, &[("odata-maxversion", "3.0")], "").await;
        assert_eq!(answer.status.as_u16(), 400);
        let answer = client.send(Method::GET, address, &[("accept", "image/png")], "").await;
        assert_eq!(answer.status.as_u16(), 406);
    }

    async fn who_may_not_is_told_which_permission_is_missing(backend) {
        let app = start(backend).await;
        let address = &create(&app.sign_in(&seller()), &[("A-1", 5.0)]).await[0];
        assert_eq!(app.anonymous().get(address).await.status.as_u16(), 401);
        let nobody = app.sign_in(&Person::named("nobody").who_may(&[]));
        let lamp = json!({"sku": "A-2", "price": 1, "region": "EU"});
        let cases = [
            (Method::GET, address.as_str(), "Lamps.View"),
            (Method::GET, "/odata/v1/Lamps", "Lamps.View"),
            (Method::GET, "/odata/v1/Lamps/$count", "Lamps.View"),
            (Method::POST, "/odata/v1/Lamps", "Lamps.Create"),
            (Method::PATCH, address.as_str(), "Lamps.Update"),
            (Method::PUT, address.as_str(), "Lamps.Update"),
            (Method::DELETE, address.as_str(), "Lamps.Delete"),
        ];
        for (method, path, permission) in cases {
            let refusal = nobody.send_json(method.clone(), path, &[], lamp.clone()).await.expect(403);
            let message = refusal["error"]["message"].as_str().unwrap().to_owned();
            assert_eq!(message, format!("this needs the permission `{permission}`"), "{method} {path}");
        }
        let service = nobody.get("/odata/v1/").await.expect(200);
        assert_eq!(service["value"], json!([]));
    }
}
