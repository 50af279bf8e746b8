use http::Method;
use serde_json::{Value, json};
use svc_application::Application;
use svc_testing::{Client, Person, TestApp, on_both_databases};

use crate::fixture::{seller, shop, start, stock};

async fn batch(client: &Client, requests: Value, prefer: &str) -> Value {
    let headers = [("prefer", prefer)];
    let body = json!({"requests": requests});
    client.send_json(Method::POST, "/odata/v1/$batch", &headers, body).await.expect(200)["responses"].clone()
}

fn statuses(responses: &Value) -> Vec<(String, u64)> {
    let status = |response: &Value| {
        (response["id"].as_str().unwrap().to_owned(), response["status"].as_u64().unwrap())
    };
    responses.as_array().unwrap().iter().map(status).collect()
}

fn expect(expected: &[(&str, u64)]) -> Vec<(String, u64)> {
    expected.iter().map(|(id, status)| ((*id).to_owned(), *status)).collect()
}

fn lamp(sku: &str) -> Value {
    json!({"sku": sku, "price": 1, "region": "EU"})
}

on_both_databases! {
    async fn a_batch_is_served_request_by_request(backend) {
        let app = start(backend).await;
        let client = app.sign_in(&Person::named("boss"));
        stock(&client).await;
        let requests = json!([
            {"id": "1", "method": "get", "url": "Lamps?$filter=price%20gt%2010&$select=sku&$orderby=sku"},
            {"id": "2", "method": "post", "url": "/odata/v1/Makers", "body": {"name": "New", "country": "FR"}},
            {"id": "3", "method": "patch", "url": "$2", "body": {"name": "Newer"}, "dependsOn": ["2"]},
            {"id": "4", "method": "get", "url": "$2/name", "dependsOn": ["2"]},
            {"id": "5", "method": "get", "url": "Lamps/$count"},
        ]);
        let responses = batch(&client, requests, "").await;
        let expected = expect(&[("1", 200), ("2", 201), ("3", 200), ("4", 200), ("5", 200)]);
        assert_eq!(statuses(&responses), expected, "{responses}");
        assert_eq!(responses[0]["body"]["value"].as_array().unwrap().len(), 2);
        assert_eq!(responses[2]["headers"]["etag"], "W/\"2\"");
        assert_eq!(responses[3]["body"]["value"], "Newer");
        assert_eq!(responses[4]["body"], "5");
    }

    async fn what_modules_serve_below_sets_is_served_by_itself_alone(backend) {
        let app = start(backend).await;
        let client = app.sign_in(&Person::named("boss"));
        for url in ["Lamps/$export", "Lamps/%24export?format=csv", "/odata/v1/Makers/$export"] {
            let responses = batch(&client, json!([{"id": "1", "method": "get", "url": url}]), "").await;
            assert_eq!(statuses(&responses), expect(&[("1", 400)]), "{url}");
            let message = responses[0]["body"]["error"]["message"].as_str().unwrap();
            assert_eq!(message, "`$export` isn't served within a batch; ask for it by itself", "{url}");
        }
    }

    async fn addresses_in_a_batch_are_those_of_its_host(backend) {
        let app = start(backend).await;
        let client = app.sign_in(&Person::named("boss"));
        stock(&client).await;
        let requests = json!([
            {"id": "1", "method": "post", "url": "Lamps", "body": lamp("N-1")},
            {"id": "2", "method": "get", "url": "Lamps?$select=sku", "headers": {"prefer": "maxpagesize=1", "host": "elsewhere"}},
        ]);
        let send = async |content_type: &str| {
            let headers = [("host", "shop.example:8080"), ("content-type", content_type)];
            client.send(Method::POST, "/odata/v1/$batch", &headers, json!({"requests": requests}).to_string()).await
        };
        let responses = send("application/json; charset=utf-8").await.expect(200)["responses"].clone();
        for told in [
            &responses[0]["headers"]["location"],
            &responses[0]["body"]["@odata.context"],
            &responses[1]["body"]["@odata.context"],
            &responses[1]["body"]["@odata.nextLink"],
        ] {
            assert!(told.as_str().unwrap().starts_with("http://shop.example:8080/odata/v1/"), "{told}");
        }
        for (content_type, status) in [("APPLICATION/JSON", 200), ("application/jsonx", 415), ("application/json;charset=utf-16", 415)] {
            assert_eq!(send(content_type).await.status.as_u16(), status, "{content_type}");
        }
    }

    async fn addresses_are_below_the_public_url_whatever_host_was_asked(backend) {
        let app = TestApp::builder(|| Application::new("shop").module(shop()));
        let app = app.setting("Svc:Http:PublicUrl", "https://shop.example").start(backend).await;
        let client = app.sign_in(&Person::named("boss"));
        let host = [("host", "evil.example")];
        let made = client.send_json(Method::POST, "/odata/v1/Lamps", &host, lamp("N-1")).await;
        let told = (made.status.as_u16(), made.header("location"));
        assert!(told.0 == 201 && told.1.starts_with("https://shop.example/odata/v1/Lamps("), "{told:?}");
        let document = client.send_json(Method::GET, "/odata/v1/", &host, json!({})).await;
        assert!(!document.text.contains("evil") && document.text.contains("https://shop.example/"), "{}", document.text);
    }

    async fn a_group_stores_all_or_nothing(backend) {
        let app = start(backend).await;
        let client = app.sign_in(&seller());
        let of_group = |id: &str, sku: &str| {
            json!({"id": id, "atomicityGroup": "g", "method": "post", "url": "Lamps", "body": lamp(sku)})
        };
        let requests = json!([of_group("1", "A"), of_group("2", "B"), of_group("3", "A"),
            {"id": "4", "method": "get", "url": "Lamps", "dependsOn": ["g"]},
            {"id": "5", "method": "get", "url": "Lamps/$count"}]);
        let responses = batch(&client, requests, "odata.continue-on-error").await;
        let expected = expect(&[("1", 424), ("2", 424), ("3", 409), ("4", 424), ("5", 200)]);
        assert_eq!(statuses(&responses), expected, "{responses}");
        assert_eq!(responses[4]["body"], "0");
        let requests = json!([of_group("1", "A"), of_group("2", "B"),
            {"id": "3", "atomicityGroup": "g", "method": "patch", "url": "$1", "body": {"price": 7}, "dependsOn": ["1"]}]);
        let responses = batch(&client, requests, "").await;
        assert_eq!(statuses(&responses), expect(&[("1", 201), ("2", 201), ("3", 200)]), "{responses}");
        let prices = client.get("/odata/v1/Lamps?$orderby=sku&$select=price").await.expect(200);
        assert_eq!((&prices["value"][0]["price"], &prices["value"][1]["price"]), (&json!(7), &json!(1)));
    }

    async fn a_group_holds_changes_alone_and_a_part_has_no_key_of_its_own(backend) {
        let app = start(backend).await;
        let client = app.sign_in(&seller());
        let change = json!({"id": "1", "atomicityGroup": "g", "method": "post", "url": "Lamps", "body": lamp("A")});
        for read in [
            json!({"id": "2", "atomicityGroup": "g", "method": "get", "url": "Lamps"}),
            json!({"id": "2", "atomicityGroup": "g", "method": "post", "url": "Lamps/%24query", "headers": {"content-type": "text/plain"}, "body": "$top=1"}),
            json!({"id": "2", "atomicityGroup": "g", "method": "post", "url": "Lamps/$query", "headers": {"content-type": "text/plain"}, "body": "$top=1"}),
        ] {
            let responses = batch(&client, json!([change, read]), "").await;
            assert_eq!(statuses(&responses), expect(&[("1", 424), ("2", 400)]), "{responses}");
            let told = responses[1]["body"]["error"]["message"].as_str().unwrap();
            assert!(told.contains("changes alone"), "{told}");
        }
        let keyed = json!({"id": "1", "method": "post", "url": "Lamps", "headers": {"Idempotency-Key": "one"}, "body": lamp("A")});
        let responses = batch(&client, json!([keyed]), "").await;
        assert_eq!(statuses(&responses), expect(&[("1", 400)]));
        assert!(responses[0]["body"]["error"]["message"].as_str().unwrap().contains("the whole batch"));
        assert_eq!(client.get("/odata/v1/Lamps/$count").await.text, "0");
    }

    async fn the_first_failure_ends_a_batch_unless_it_shall_go_on(backend) {
        let app = start(backend).await;
        let client = app.sign_in(&seller());
        let requests = json!([
            {"id": "1", "method": "get", "url": "Lamps?$filter=nothing"},
            {"id": "2", "method": "post", "url": "Lamps", "body": lamp("A")},
        ]);
        let responses = batch(&client, requests.clone(), "").await;
        assert_eq!(statuses(&responses), expect(&[("1", 400)]));
        assert_eq!(client.get("/odata/v1/Lamps/$count").await.text, "0");
        let responses = batch(&client, requests, "continue-on-error").await;
        assert_eq!(statuses(&responses), expect(&[("1", 400), ("2", 201)]));
        let wrong = json!([
            {"id": "1", "method": "get", "url": "/api/v1/users"},
            {"id": "2", "method": "get", "url": "http://elsewhere/odata/v2/Lamps"},
            {"id": "3", "method": "post", "url": "$batch", "body": {"requests": []}},
            {"id": "4", "method": "get", "url": "$9/sku"},
            {"id": "5", "method": "delete", "url": "Lamps"},
        ]);
        let responses = batch(&client, wrong, "continue-on-error").await;
        let expected = expect(&[("1", 400), ("2", 400), ("3", 400), ("4", 400), ("5", 405)]);
        assert_eq!(statuses(&responses), expected, "{responses}");
        for body in [json!({}), json!({"requests": [{"id": "1"}]}), json!([])] {
            assert_eq!(client.post("/odata/v1/$batch", body).await.status.as_u16(), 400);
        }
        let plain = client.send(Method::POST, "/odata/v1/$batch", &[("content-type", "text/plain")], "x").await;
        assert_eq!(plain.status.as_u16(), 415);
        assert_eq!(app.anonymous().post("/odata/v1/$batch", json!({"requests": []})).await.status.as_u16(), 401);
    }

    async fn a_batch_may_be_multipart(backend) {
        let app = start(backend).await;
        let client = app.sign_in(&seller());
        let part = |method: &str, url: &str, id: &str, body: &str| {
            format!(
                "Content-Type: application/http\r\nContent-ID: {id}\r\n\r\n{method} {url} HTTP/1.1\r\n\
                 Content-Type: application/json\r\n\r\n{body}\r\n"
            )
        };
        let send = async |second: &str| {
            let first = part("POST", "Lamps", "1", &lamp("A").to_string());
            let second = part("POST", "Lamps", "2", &lamp(second).to_string());
            let count = part("GET", "Lamps/$count", "3", "");
            let body = format!(
                "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\n{first}--c\r\n{second}--c--\r\n\
                 --b\r\n{count}--b--\r\n"
            );
            let headers = [("content-type", "multipart/mixed; boundary=b"), ("prefer", "continue-on-error")];
            client.send(Method::POST, "/odata/v1/$batch", &headers, body).await
        };
        let failed = send("A").await;
        assert_eq!((failed.status.as_u16(), failed.header("content-type")), (200, "multipart/mixed;boundary=batchresponse"));
        assert_eq!(failed.text.matches("HTTP/1.1").count(), 2, "{}", failed.text);
        assert!(failed.text.contains("HTTP/1.1 409 Conflict") && failed.text.contains("\r\n\r\n0\r\n"), "{}", failed.text);
        let stored = send("B").await;
        assert_eq!(stored.text.matches("HTTP/1.1 201 Created").count(), 2, "{}", stored.text);
        assert!(stored.text.contains("\r\n\r\n2\r\n"), "{}", stored.text);
    }
}
