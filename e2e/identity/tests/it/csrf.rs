//! What pages of other sites make the browser of somebody send who is signed in.

use e2e_identity::{Browser, House};
use http::Method;
use serde_json::Value;
use svc::identity::api_keys::{self, NewApiKey};
use svc::identity::sessions;
use svc_testing::on_both_databases;

const OWN: [(&str, &str); 2] = [("x-csrf", "1"), ("sec-fetch-site", "same-origin")];

/// Headers with which a browser may come to the application, and how each is refused.
const FOREIGN: [(&[(&str, &str)], &str); 9] = [
    (&[], "bff.needs_header"),
    (&[("sec-fetch-site", "same-origin")], "bff.needs_header"),
    (&[("x-csrf-token", "1"), ("sec-fetch-site", "same-origin")], "bff.needs_header"),
    (
        &[("x-requested-with", "XMLHttpRequest"), ("sec-fetch-site", "same-origin")],
        "bff.needs_header",
    ),
    (&[("x-csrf", "1"), ("sec-fetch-site", "cross-site")], "bff.foreign_page"),
    (&[("x-csrf", "1"), ("sec-fetch-site", "same-site")], "bff.foreign_page"),
    (&[("x-csrf", "1"), ("sec-fetch-site", "none")], "bff.foreign_page"),
    (&[("x-csrf", "1"), ("sec-fetch-site", "SAME-ORIGIN")], "bff.foreign_page"),
    (&[("x-csrf", "1"), ("sec-fetch-site", "")], "bff.foreign_page"),
];

/// A category that a script of the application has made, by its address.
async fn category(browser: &mut Browser) -> String {
    let made = browser.post("/odata/v1/Categories", r#"{"name":"Tools"}"#).await.expect(201);
    format!("/odata/v1/Categories({})", made["id"].as_str().unwrap())
}

fn code_of(answer: &svc_testing::Answer) -> Value {
    let json = answer.json();
    if json["error"].is_object() { json["error"]["code"].clone() } else { json["code"].clone() }
}

on_both_databases! {
    async fn a_cookie_alone_does_nothing_whatever_the_method(backend) {
        let house = House::open(backend).await;
        let (mut browser, _) = house.client_of(house.ada).await;
        let category = category(&mut browser).await;
        let before = browser.ask(&category).await.expect(200);
        let batch = r#"{"requests":[{"id":"1","method":"DELETE","url":"Categories"}]}"#;
        for (method, address, body) in [
            (Method::PATCH, category.as_str(), r#"{"name":"Forged"}"#),
            (Method::PUT, &category, r#"{"name":"Forged"}"#),
            (Method::DELETE, &category, ""),
            (Method::POST, "/odata/v1/Categories", r#"{"name":"Forged"}"#),
            (Method::POST, "/odata/v1/$batch", batch),
            (Method::PUT, "/api/v1/me", r#"{"displayName":"Forged"}"#),
            (Method::POST, "/api/v1/identity/api-keys", r#"{"name":"Forged"}"#),
            (Method::GET, &category, ""),
            (Method::GET, "/api/v1/identity/me", ""),
        ] {
            for (headers, code) in FOREIGN {
                for media_type in ["application/json", "text/plain", "application/x-www-form-urlencoded"] {
                    let more = [("content-type", media_type), ("origin", "https://evil.example")];
                    let all = [headers, &more[..]].concat();
                    let answer = browser.send(method.clone(), address, &all, body).await;
                    assert_eq!(answer.status, 403, "{method} {address} {all:?}: {}", answer.text);
                    assert_eq!(code_of(&answer), code, "{method} {address} {all:?}");
                    assert!(!answer.text.contains("Tools"), "{}", answer.text);
                    // No page of another site reads it, or is told that it might ask.
                    assert_eq!(answer.header("access-control-allow-origin"), "", "{address}");
                }
            }
            let asks = [("origin", "https://evil.example"), ("access-control-request-headers", "x-csrf")];
            let answer = browser.send(Method::OPTIONS, address, &asks, "").await;
            assert_eq!(answer.header("access-control-allow-origin"), "", "{address}");
            assert_eq!(answer.header("access-control-allow-headers"), "", "{address}");
        }
        assert_eq!(browser.ask(&category).await.expect(200), before);
        let keys = browser.ask("/api/v1/identity/api-keys").await.expect(200);
        assert_eq!(keys["items"], serde_json::json!([]));
        let me = browser.ask("/api/v1/me").await.expect(200);
        assert_eq!(me["identity"]["displayName"], "Administrator");
        // A page of the application may, with any value.
        for value in ["1", "0", "false"] {
            let own = [("x-csrf", value), ("sec-fetch-site", "same-origin")];
            assert_eq!(browser.send(Method::GET, &category, &own, "").await.status, 200, "{value}");
        }
        // A browser that is too old to say where a page is from sends the header all the same.
        assert_eq!(browser.send(Method::GET, &category, &[("x-csrf", "1")], "").await.status, 200);
    }

    async fn who_is_not_signed_in_is_told_that_first(backend) {
        let house = House::open(backend).await;
        let (mut browser, session) = house.client_of(house.ada).await;
        assert_eq!(browser.get("/api/v1/me").await.status, 403);
        sessions::end(house.app(), house.ada, session.id).await.unwrap();
        // Of a cookie that opens nothing, nobody learns more by another header.
        for headers in [&[][..], &OWN, &[("x-csrf", "1"), ("sec-fetch-site", "cross-site")]] {
            for address in ["/api/v1/me", "/odata/v1/Products"] {
                let answer = browser.send(Method::GET, address, headers, "").await;
                assert_eq!(answer.status, 401, "{address} {headers:?}: {}", answer.text);
            }
        }
        assert_eq!(house.browser().get("/bff/user").await.status, 401);
    }

    async fn a_credential_in_a_header_is_no_cookie(backend) {
        let house = House::open(backend).await;
        let (grace, _) = house.person("Grace", &["Products.View"]).await;
        let new = NewApiKey { name: "Import".to_owned(), ..NewApiKey::default() };
        let (_, key) = api_keys::create(&house.within(), grace, new).await.unwrap();
        let bearer = format!("Bearer {}", key.expose());
        let (mut browser, _) = house.client_of(house.ada).await;
        // No page of another site can send it, so nothing else is asked of it; and the cookie beside it is nobody's.
        let headers = [("authorization", bearer.as_str()), ("sec-fetch-site", "cross-site")];
        let me = browser.send(Method::GET, "/api/v1/me", &headers, "").await.expect(200);
        assert_eq!(me["identity"]["id"], grace.to_string());
        let body = r#"{"name":"Tools"}"#;
        let headers = [&headers[..], &[("content-type", "application/json")][..]].concat();
        let refused = browser.send(Method::POST, "/odata/v1/Categories", &headers, body).await;
        assert_eq!(refused.status, 403, "{}", refused.text);
        assert!(!refused.text.contains("bff."), "{}", refused.text);
        // What isn't one doesn't fall back to the cookie, either, with whatever header.
        for wrong in ["Bearer", "Bearer ", "Basic", "Negotiate x", "svck_", ""] {
            let headers = [&OWN[..], &[("authorization", wrong)][..]].concat();
            let answer = browser.send(Method::GET, "/api/v1/me", &headers, "").await;
            assert_eq!(answer.status, 401, "{wrong:?}: {}", answer.text);
        }
    }

    async fn who_is_led_to_a_sign_out_keeps_the_session(backend) {
        let house = House::open(backend).await;
        let (mut browser, _) = house.client_of(house.ada).await;
        // By a link, a picture or a form of another site.
        for (method, address) in [
            (Method::GET, "/bff/logout"),
            (Method::POST, "/bff/logout"),
            (Method::GET, "/connect/logout"),
            (Method::POST, "/connect/logout"),
            (Method::GET, "/account/sign-out"),
            (Method::POST, "/account/sign-out"),
            (Method::POST, "/account/sessions"),
            (Method::POST, "/account/password"),
            (Method::POST, "/account/organisation"),
        ] {
            let headers = [
                ("sec-fetch-site", "cross-site"),
                ("origin", "https://evil.example"),
                ("content-type", "application/x-www-form-urlencoded"),
            ];
            let form = "session=others&organisation=x&current=x&password=y&repeated=y";
            let answer = browser.send(method.clone(), address, &headers, form).await;
            assert!(answer.status.as_u16() < 500, "{method} {address}: {}", answer.text);
            assert_eq!(browser.ask("/bff/user").await.status, 200, "{method} {address}");
            assert_eq!(browser.get("/account").await.status, 200, "{method} {address}");
        }
    }
}
