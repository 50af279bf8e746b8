//! What the log tells: who did what, and no secrets.

use std::io;
use std::sync::Once;

use axum::body::Body;
use http::Request;
use http_body_util::BodyExt as _;
use parking_lot::Mutex;
use serde_json::json;
use svc_identity::check_password;
use svc_testing::on_both_databases;
use tracing_subscriber::filter::LevelFilter;

use crate::browser::{EMAIL, hidden};
use crate::support::{PASSWORD, SET_UP, SETUP_KEY, TestApp, clock, database};

/// What this process has logged since the first test here began, of all tests that run beside it. A
/// subscriber of one thread alone would miss what is first logged by another thread.
static LOG: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static LISTENS: Once = Once::new();

fn listen() {
    LISTENS.call_once(|| {
        tracing_subscriber::fmt()
            .with_max_level(LevelFilter::TRACE)
            .with_ansi(false)
            .with_writer(|| Log)
            .init();
    });
}

struct Log;

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LOG.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn logged() -> String {
    String::from_utf8(LOG.lock().clone()).unwrap()
}

/// Asks for a link to a new password, at the page.
async fn forget_password(app: &TestApp) {
    let page = "/account/forgotten";
    let request = || Request::builder().uri(page).header("host", "127.0.0.1:5080");
    let shown = app.send(request().body(Body::empty()).unwrap()).await;
    let cookie = shown.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap();
    let cookie = cookie.to_owned();
    let shown = shown.into_body().collect().await.unwrap().to_bytes();
    let form = hidden(std::str::from_utf8(&shown).unwrap(), "form");
    let sent = request()
        .method("POST")
        .header("cookie", cookie)
        .header("sec-fetch-site", "same-origin")
        .header("content-type", "application/x-www-form-urlencoded")
        .body(serde_urlencoded::to_string([("form", &*form), ("email", EMAIL)]).unwrap().into());
    assert_eq!(app.send(sent.unwrap()).await.status(), 200);
    app.app.drain().await.unwrap();
}

on_both_databases! {
    async fn a_link_that_nobody_delivers_is_logged_in_development_and_nowhere_else(backend) {
        listen();
        for environment in [Some("development"), Some("production"), Some("Development"), None] {
            let database = database(backend).await;
            let app = TestApp::start_in(environment, &database, &clock(), &SET_UP).await.unwrap();
            let user = app.get("/me", SETUP_KEY).await.ok()["user"]["id"].clone();
            forget_password(&app).await;
            // The person is one of this database alone.
            let text = logged();
            let mark = format!("user.id={}", user.as_str().unwrap());
            let told = text.lines().filter(|line| line.contains(&mark));
            let told: Vec<_> = told.filter(|line| line.contains("no module delivers mail")).collect();
            assert_eq!(told.len(), 1, "{environment:?} {told:?}");
            let has_link = told[0].contains("/account/reset?code=");
            assert_eq!(has_link, environment == Some("development"), "{environment:?} {told:?}");
        }
    }

    async fn the_log_names_actions_and_no_secrets(backend) {
        listen();
        let (app, _database) = TestApp::set_up(backend).await;
        let key = app.post("/api-keys", SETUP_KEY, json!({ "name": "Any" })).await.ok();
        let key = key["key"].as_str().unwrap().to_owned();
        app.get("/me", &key).await.ok();
        app.get("/me", &format!("{key}x")).await.refused(401);
        app.get("/me", &format!("{key}y")).await.refused(401);
        app.app.drain().await.unwrap();
        let body = json!({
            "email": "grace@example.com",
            "displayName": "Grace",
        });
        app.post("/users", SETUP_KEY, body).await.ok();
        check_password(&app.app, "grace@example.com", "a ship at sea".into()).await.unwrap();
        check_password(&app.app, "ada@example.com", PASSWORD.into()).await.unwrap();

        let text = logged();
        for told in [
            "the first organisation was made from `Svc:Setup`",
            "an API key was made",
            "a person was made known",
            "an API key was refused reason=\"unknown\"",
            "further API keys were refused refused=1",
        ] {
            assert!(text.contains(told), "{told}");
        }
        // Mail addresses are no secrets, but they have no business in a log either.
        for secret in [
            SETUP_KEY,
            &key[13..],
            PASSWORD,
            "a ship at sea",
            "$argon2id$",
            "@example.com",
            "@Example.com",
        ] {
            let line = text.lines().find(|line| line.contains(secret));
            assert_eq!(line, None, "the log shows `{secret}`");
        }
    }
}
