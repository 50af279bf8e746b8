//! What the log tells: who did what, and no secrets.

use std::io;
use std::sync::{Mutex, Once};

use serde_json::json;
use svc_identity::check_password;
use svc_testing::on_both_databases;
use tracing_subscriber::filter::LevelFilter;

use crate::support::{PASSWORD, SETUP_KEY, TestApp};

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
        LOG.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

on_both_databases! {
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

        let text = String::from_utf8(LOG.lock().unwrap().clone()).unwrap();
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
