//! Bad input is refused with the status that names what is wrong with it.

use http::Method;
use serde_json::{Value, json};
use svc_testing::{Backend, on_both_databases};

use crate::fixture::{ADA, Call, EVE, Fixture};

fn create(body: impl Into<Vec<u8>>) -> Call {
    Call::post("/api/v1/items", body).by(ADA)
}

on_both_databases! {
    async fn a_body_is_read_strictly(backend) {
        let fixture = Fixture::start(backend).await;
        let good = fixture.send(create(r#"{"name":"a","count":1}"#)).await.expect(201);
        assert_eq!(good.json(), json!({"name": "a", "count": 1, "origin": null}));
        for (body, status, detail) in [
            ("", 400, "the request has no body; send JSON"),
            (r#"{"name":"a","count":1"#, 400, "not valid JSON"),
            (r#"{"name":"a","count":1}x"#, 400, "trailing characters"),
            (r#"{"name":"a","count":1,"count":2}"#, 400, "the key `count` comes twice"),
            (r#"{"name":"a","count":1,"origin":{"country":"x","country":"y"}}"#, 400, "`country`"),
            ("\u{feff}{}", 400, "not valid JSON"),
        ] {
            let (text, errors) = fixture.send(create(body)).await.problem(status);
            assert!(text.contains(detail), "{body}: {text}");
            assert_eq!(errors, Value::Null);
        }
    }

    async fn an_invalid_value_is_named_by_its_field(backend) {
        let fixture = Fixture::start(backend).await;
        let count = "expected a whole number from 0 to 4294967295";
        for (body, errors) in [
            (r#"{"count":1}"#, json!({"name": ["is missing"]})),
            (r#"{"name":null,"count":1}"#, json!({"name": ["expected a string"]})),
            (r#"{"name":7,"count":1}"#, json!({"name": ["expected a string"]})),
            (r#"{"name":"a","count":"1"}"#, json!({"count": [count]})),
            (r#"{"name":"a","count":-1}"#, json!({"count": [count]})),
            (r#"{"name":"a","count":1.5}"#, json!({"count": [count]})),
            (
                r#"{"name":"a","count":1,"admin":true,"origin":{"country":"x","town":{}}}"#,
                json!({"admin": ["is not known here"], "origin.town": ["is not known here"]}),
            ),
            (r#"{"name":"a","count":1,"origin":{}}"#, json!({"origin.country": ["is missing"]})),
            (r#""text""#, json!({"": ["expected an object"]})),
            (r#"["a",1,null]"#, json!({"": ["expected an object"]})),
        ] {
            let (detail, found) = fixture.send(create(body)).await.problem(422);
            assert_eq!((detail.as_str(), found), ("the request is not valid", errors), "{body}");
        }
    }

    async fn a_body_has_a_media_type_and_a_limit(backend) {
        let settings = ["--Svc:Http:MaxBodySize=2048"];
        let fixture = Fixture::with_settings(backend, &settings).await;
        let text = Call::new(Method::POST, "/api/v1/items").by(ADA);
        fixture.send(text.header("content-type", "text/plain")).await.problem(415);
        fixture.send(Call::new(Method::POST, "/api/v1/items").by(ADA)).await.problem(415);
        let body = |length| format!(r#"{{"count":1,"name":"{}"}}"#, "x".repeat(length));
        fixture.send(create(body(1_900))).await.expect(201);
        let (detail, _) = fixture.send(create(body(3_000))).await.problem(413);
        assert_eq!(detail, "the body is larger than allowed");
    }

    async fn a_query_is_read_strictly(backend) {
        let fixture = Fixture::start(backend).await;
        let found = fixture.get("/try/search?text=a%20b&limit=3&exact=true").await.expect(200);
        assert_eq!(found.json(), json!({"text": "a b", "limit": 3, "exact": true}));
        for (query, parameter, message) in [
            ("", "text", "is missing"),
            ("text=a%00b", "text", "must not contain the character U+0000"),
            ("text=a&limt=3", "limt", "is not known here"),
            ("text=a&limit=x", "limit", "expected a whole number in range"),
            ("text=a&limit=300", "limit", "expected a whole number in range"),
            ("text=a&exact=yes", "exact", "expected `true` or `false`"),
            ("text=a&text=b", "text", "comes twice"),
        ] {
            let answer = fixture.get(&format!("/try/search?{query}")).await;
            let (detail, errors) = answer.problem(400);
            assert_eq!(errors, json!({parameter: [message]}), "{query}");
            assert_eq!(detail, format!("the query parameter `{parameter}`: {message}"));
        }
    }

    async fn what_is_not_there_is_a_problem_too(backend) {
        let fixture = Fixture::start(backend).await;
        for path in ["/nope", "/api/v1/nope", "/api/v1/items/", "/api/v1/items/1/2", "/docs/x.js"] {
            let (detail, _) = fixture.get(path).await.problem(404);
            assert_eq!(detail, "there is nothing at this address", "{path}");
        }
        let malformed = Call::get("/api/v1/items/7").by(ADA);
        let (detail, _) = fixture.send(malformed).await.problem(404);
        assert_eq!(detail, "there is no such record");
        let wrong = fixture.send(Call::new(Method::DELETE, "/api/v1/items").by(ADA)).await;
        wrong.problem(405);
        let mut allowed: Vec<&str> = wrong.header("allow").split(',').collect();
        allowed.sort_unstable();
        assert_eq!(allowed, ["GET", "HEAD", "POST"]);
    }

    async fn who_calls_is_asked_before_what_is_sent(backend) {
        let fixture = Fixture::start(backend).await;
        let anonymous = fixture.send(Call::post("/api/v1/items", "{")).await;
        anonymous.problem(401);
        assert_eq!(anonymous.header("www-authenticate"), "Bearer");
        let lacks = Call::post("/api/v1/items", r#"{"name":"a","count":1}"#).by(EVE);
        let (detail, _) = fixture.send(lacks).await.problem(403);
        assert_eq!(detail, "this needs the permission `Items.Create`");
    }
}

#[tokio::test]
async fn a_fault_shows_nothing_of_itself() {
    let fixture = Fixture::start(Backend::Sqlite).await;
    for path in ["/try/panic", "/try/fault"] {
        let answer = fixture.get(path).await;
        let (detail, errors) = answer.problem(500);
        assert_eq!((detail.as_str(), errors), ("something went wrong on the server", Value::Null));
        for secret in ["hunter2", "secrets", "could not read"] {
            assert!(!answer.text().contains(secret), "{path}: {}", answer.text());
        }
        assert_eq!(answer.header("cache-control"), "no-store");
    }
    // The server goes on.
    fixture.get("/api/v1/greeting").await.expect(200);
}

#[tokio::test]
async fn a_code_has_parameters_and_a_page() {
    let fixture = Fixture::start(Backend::Sqlite).await;
    let full = fixture.get("/try/full").await;
    full.problem(409);
    let body = full.json();
    assert_eq!(body["code"], "shelf.full");
    assert_eq!(body["type"], "/docs/errors#shelf.full");
    assert_eq!(body["parameters"], json!({"most": 20}));
    let forbidden = fixture.get("/api/v1/settings").await.json();
    assert_eq!(
        (&forbidden["code"], &forbidden["parameters"]),
        (&json!("unauthenticated"), &Value::Null)
    );
    let page = fixture.get("/docs/errors").await.expect(200);
    assert!(page.header("content-security-policy").contains("default-src 'none'"));
    for told in [
        "<tr id=\"shelf.full\">",
        "as fit (<code>most</code>), &lt;b&gt;none&lt;/b&gt; more",
        "<tr id=\"not_found\"><th scope=\"row\"><code>not_found</code></th><td>404</td>",
    ] {
        assert!(page.text().contains(told), "{told} in {}", page.text());
    }
    fixture.get("/docs/errors.css").await.expect(200);
    let description = fixture.get("/openapi/v1.json").await.json();
    let codes = &description["components"]["schemas"]["Problem"]["properties"]["code"]["examples"];
    assert!(codes.as_array().unwrap().contains(&json!("shelf.full")), "{codes}");
}

#[tokio::test]
async fn an_answer_that_must_wait_says_how_long() {
    let fixture = Fixture::start(Backend::Sqlite).await;
    let busy = fixture.get("/try/busy").await;
    assert_eq!(busy.problem(503).0, "come back later");
    assert_eq!(busy.header("retry-after"), "2");
}

#[tokio::test]
async fn a_request_that_takes_too_long_is_answered() {
    let settings = ["--Svc:Http:RequestTimeout=00:00:00.100"];
    let fixture = Fixture::with_settings(Backend::Sqlite, &settings).await;
    let late = fixture.get("/try/stuck").await;
    assert_eq!(late.problem(503).0, "the request took too long");
    assert_eq!(late.header("retry-after"), "1");
}

#[tokio::test]
async fn the_plain_text_of_a_foreign_extractor_becomes_a_problem() {
    let fixture = Fixture::start(Backend::Sqlite).await;
    let (detail, _) = fixture.get("/try/foreign").await.problem(400);
    assert_eq!(detail, "the request can't be read");
}

#[tokio::test]
async fn below_odata_errors_have_its_format() {
    let fixture = Fixture::start(Backend::Sqlite).await;
    let invalid = fixture.get("/odata/v1/Items").await.expect(422);
    assert_eq!(invalid.header("content-type"), "application/json");
    assert_eq!(invalid.header("odata-version"), "4.01");
    let mut body = invalid.json();
    let trace = body["error"]["innererror"]["traceId"].take();
    assert_eq!(trace.as_str().unwrap().len(), 32);
    assert_eq!(
        body,
        json!({"error": {
            "code": "invalid",
            "message": "the item is not valid: `name` must not be empty",
            "target": "Items",
            "details": [{"code": "invalid", "target": "name", "message": "must not be empty"}],
            "innererror": {"traceId": null},
        }})
    );
    let older = Call::get("/odata/v1/Nope").header("odata-maxversion", "4.0");
    let missing = fixture.send(older).await.expect(404);
    assert_eq!(missing.header("odata-version"), "4.0");
    assert_eq!(missing.json()["error"]["code"], "not_found");
    let wrong = fixture.send(Call::new(Method::PUT, "/odata/v1/Items")).await.expect(405);
    assert_eq!(wrong.json()["error"]["code"], "method_not_allowed");
}

#[tokio::test]
async fn a_body_that_does_not_say_what_it_is_is_refused() {
    let fixture = Fixture::start(Backend::Sqlite).await;
    // A browser sends a form's data, or a blob without a type, for any page.
    let mut bare = Call::post("/try/marks", "{}");
    bare = bare.by(crate::fixture::ADA).without("content-type");
    let (detail, _) = fixture.send(bare).await.problem(415);
    assert!(detail.contains("`Content-Type`"), "{detail}");
}
