//! What several files need.

use e2e_identity::{Browser, House, Program};
use http::Method;
use serde_json::json;
use svc::core::App;
use svc::database::Database;
use svc::identity::clients::{self, NewClient};

/// The cookie of a browser host.
pub(crate) const COOKIE: &str = "__Host-svc-bff";

/// Where the programs of the tests want their codes.
pub(crate) const CALLBACK: &str = "https://app.example/cb";

/// A registered program with a secret.
pub(crate) async fn confidential(house: &House) -> Program {
    program(house, NewClient { name: "Portal".to_owned(), ..NewClient::default() }).await
}

/// A registered program without one.
pub(crate) async fn public(house: &House) -> Program {
    let new = NewClient {
        name: "Phone".to_owned(),
        is_public: true,
        origins: vec!["https://app.example".to_owned()],
        ..NewClient::default()
    };
    program(house, new).await
}

pub(crate) async fn program(house: &House, new: NewClient) -> Program {
    let new = NewClient {
        redirect_uris: vec![CALLBACK.to_owned()],
        signed_out_uris: vec!["https://app.example/bye".to_owned()],
        ..new
    };
    let (id, secret) = clients::create(&house.within(), new).await.unwrap();
    let secret = secret.as_ref().map(svc::core::settings::Secret::expose);
    Program::new(house.node.anonymous(), &id.to_string(), secret, CALLBACK)
}

/// Whoever comes without a sign-in is asked for one.
pub(crate) async fn is_asked_who_it_is(nobody: &mut Browser) {
    let begun = nobody.get("/bff/login?returnUrl=%2Forders%3Fa%3D1").await;
    let asked = nobody.get(begun.header("location")).await;
    assert!(asked.header("location").starts_with("/account/sign-in?return="), "{}", asked.text);
    let page = nobody.get(asked.header("location")).await;
    assert!(page.text.contains("<form"), "{}", page.text);
    assert_eq!(nobody.ask("/bff/user").await.status, 401);
    assert_eq!(nobody.ask("/api/v1/me").await.status, 401);
}

/// The administrator, who is signed in, uses the API, and has nothing in the browser that is a token.
pub(crate) async fn uses_the_api(browser: &mut Browser, house: &House) {
    let user = browser.ask("/bff/user").await.expect(200);
    assert_eq!(user["identity"]["id"], house.ada.to_string());
    assert_eq!(user["identity"]["displayName"], "Administrator");
    assert_eq!(user["organisationId"], house.organisation.to_string());
    assert_eq!(user["appUrl"], "/");
    assert_eq!(user["roles"], json!(["Administrator"]));
    assert!(user["permissions"].as_array().unwrap().contains(&"Products.View".into()));
    let me = browser.ask("/api/v1/me").await.expect(200);
    assert_eq!(me["identity"]["id"], house.ada.to_string());
    let products = browser.ask("/odata/v1/Products?$top=1&$count=true").await.expect(200);
    assert_eq!(products["@odata.count"], 0);
    let created = browser.post("/odata/v1/Categories", r#"{"name":"Tools"}"#).await;
    assert_eq!(created.status, 201, "{}", created.text);
    let names: Vec<&str> = browser.cookie_names().collect();
    assert_eq!(names, [COOKIE, "__Host-svc-session"]);
    assert_eq!(browser.cookie(COOKIE).unwrap().len(), 43);
}

/// What any page could make the browser of somebody send who is signed in is refused.
pub(crate) async fn refuses_what_any_page_could_send(browser: &mut Browser) {
    let json = ("content-type", "application/json");
    for (address, method) in [
        ("/api/v1/me", Method::GET),
        ("/odata/v1/Products", Method::GET),
        ("/odata/v1/Categories", Method::POST),
        ("/bff/user", Method::GET),
        ("/bff/logout", Method::POST),
    ] {
        for headers in [
            &[json][..],
            &[json, ("sec-fetch-site", "same-origin")],
            &[json, ("x-csrf", "1"), ("sec-fetch-site", "same-site")],
            &[json, ("x-csrf", "1"), ("sec-fetch-site", "cross-site")],
            &[json, ("x-csrf", "1"), ("sec-fetch-site", "none")],
        ] {
            let body = if method == Method::POST { r#"{"name":"Forged"}"# } else { "" };
            let answer = browser.send(method.clone(), address, headers, body).await;
            assert_eq!(answer.status, 403, "{address} {headers:?} {}", answer.text);
        }
    }
    let left = browser.ask("/odata/v1/Categories?$count=true&$top=0").await.expect(200);
    assert_eq!(left["@odata.count"], 0);
}

/// Somebody signs out, here and at the provider; whoever kept the cookie has nothing of it.
pub(crate) async fn signs_out(browser: &mut Browser) {
    let mut before = browser.clone();
    let url = browser.post("/bff/logout", "").await.expect(200)["url"].clone();
    assert_eq!(browser.cookie(COOKIE), None);
    assert_eq!(before.ask("/bff/user").await.status, 401);
    let back = browser.get(url.as_str().unwrap()).await;
    assert_eq!((back.status.as_u16(), back.header("location")), (303, "https://shop.example/"));
    assert_eq!(browser.cookie("__Host-svc-session"), None);
    let asked = before.get("/bff/login").await;
    let asked = before.get(asked.header("location")).await;
    assert!(asked.header("location").starts_with("/account/sign-in"));
}

/// Ten requests at once, by each of these tabs in turn, are all answered.
pub(crate) async fn ask_at_once(tabs: [&Browser; 2]) {
    let mut asked = Vec::new();
    for number in 0..10 {
        let mut tab = tabs[number % 2].clone();
        asked.push(tokio::spawn(async move { tab.ask("/api/v1/me").await.status }));
    }
    for status in asked {
        assert_eq!(status.await.unwrap(), 200);
    }
}

/// How many rows a table has.
pub(crate) async fn rows(house: &House, table: &str) -> usize {
    let database = house.app().service::<Database>().unwrap();
    let statement = database.statement(&format!("SELECT 1 FROM {table}"), []);
    database.rows(statement).await.unwrap().len()
}

/// How often the tokens of the one session of a browser host were renewed.
pub(crate) async fn renewals(app: &App) -> i64 {
    let database = app.service::<Database>().unwrap();
    let statement = database.statement("SELECT generation FROM bff_sessions", []);
    let rows = database.rows(statement).await.unwrap();
    assert_eq!(rows.len(), 1);
    rows[0].try_get_by_index(0).unwrap()
}
