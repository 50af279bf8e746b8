//! What the database holds of secrets, and what that opens.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use e2e_identity::{House, Program};
use sha2::{Digest as _, Sha256};
use svc::core::hex;
use svc::database::{Backend, Database};
use svc::identity::api_keys::{self, NewApiKey};
use svc::identity::invitations;
use svc_testing::on_both_databases;

use crate::support::{COOKIE, confidential};

const SESSION: &str = "__Host-svc-session";

/// All that the database holds, in small letters; bytes are hexadecimal.
async fn everything(house: &House) -> String {
    let database = house.app().service::<Database>().unwrap();
    let texts = async |sql: &str| {
        let rows = database.rows(database.statement(sql, [])).await.unwrap();
        rows.iter().map(|row| row.try_get_by_index(0).unwrap()).collect::<Vec<String>>()
    };
    let tables = match database.backend() {
        Backend::Sqlite => "SELECT name FROM sqlite_master WHERE type = 'table'",
        Backend::Postgres => "SELECT tablename::text FROM pg_tables WHERE schemaname = 'public'",
    };
    let mut all = String::new();
    for table in texts(tables).await {
        let row = match database.backend() {
            Backend::Sqlite => {
                let columns =
                    format!("SELECT 'quote(\"' || name || '\")' FROM pragma_table_info('{table}')");
                texts(&columns).await.join(" || ' ' || ")
            }
            Backend::Postgres => "t::text".to_owned(),
        };
        all.push_str(&texts(&format!("SELECT {row} FROM \"{table}\" t")).await.join("\n"));
    }
    all.to_lowercase()
}

on_both_databases! {
    async fn what_the_database_holds_of_secrets_opens_nothing(backend) {
        let house = House::open(backend).await;
        let portal = confidential(&house).await;
        let (grace, _) = house.person("Grace", &[]).await;
        let (mut browser, _) = house.client_of(house.ada).await;
        let tokens = portal.sign_in(&mut browser, "openid offline_access").await;
        let text = |name: &str| tokens[name].as_str().unwrap().to_owned();
        let code = portal.code(&mut browser, &[]).await;
        let new = NewApiKey { name: "Import".to_owned(), ..NewApiKey::default() };
        let (_, key) = api_keys::create(&house.within(), house.ada, new).await.unwrap();
        let link = invitations::send(&house.within(), grace).await.unwrap().unwrap();
        let (_, invitation) = link.expose().split_once("code=").unwrap();
        // What only has to be recognised is there as its SHA-256, each for itself.
        let recognised = [
            ("refresh token", text("refresh_token")),
            ("code", code.clone()),
            ("secret of a client", portal.secret.clone().unwrap()),
            ("session", browser.cookie(SESSION).unwrap().to_owned()),
            ("session of the browser host", browser.cookie(COOKIE).unwrap().to_owned()),
            ("API key", key.expose().to_owned()),
            ("invitation", invitation.to_owned()),
        ];
        let others = [
            ("access token", text("access_token")),
            ("ID token", text("id_token")),
            ("verifier", portal.verifier.as_str().to_owned()),
            ("password", "correct horse battery".to_owned()),
        ];
        let stored = everything(&house).await;
        assert!(stored.contains("ada@example.com") && stored.contains("role of grace"), "{stored}");
        for (what, secret) in recognised.iter().chain(&others) {
            assert!(!stored.contains(&secret.to_lowercase()), "{what}");
            assert!(!stored.contains(&hex(secret.as_bytes())), "{what}");
            // The bytes that the letters stand for.
            let bytes = URL_SAFE_NO_PAD.decode(secret).unwrap_or_default();
            assert!(bytes.is_empty() || !stored.contains(&hex(&bytes)), "{what}");
        }
        for (what, secret) in &recognised {
            let hash = Sha256::digest(secret);
            assert_eq!(stored.matches(&hex(&hash)).count(), 1, "{what}");
            // Whoever reads it there has nothing to present.
            for read in [hex(&hash), URL_SAFE_NO_PAD.encode(hash)] {
                assert_eq!(portal.refresh(&read).await.status, 400, "{what}");
                assert_eq!(portal.exchange(&read).await.status, 400, "{what}");
                assert_eq!(portal.ask("/api/v1/me", &read).await.status, 401, "{what}");
                assert_eq!(portal.ask("/api/v1/me", &format!("svck_{read}")).await.status, 401, "{what}");
                let thief = Program { secret: Some(read.clone()), ..portal.clone() };
                assert_eq!(thief.exchange("x").await.status, 401, "{what}");
                let mut thief = house.browser();
                thief.set_cookie(SESSION, &read);
                thief.set_cookie(COOKIE, &read);
                assert_eq!(thief.get("/account").await.status, 303, "{what}");
                assert_eq!(thief.ask("/bff/user").await.status, 401, "{what}");
                let page = thief.get(&format!("/account/invitation?code={read}")).await;
                assert_eq!(page.status, 404, "{what}");
            }
        }
        // All of them are as good as before.
        assert_eq!(portal.exchange(&code).await.status, 200);
        assert_eq!(portal.refresh(&text("refresh_token")).await.status, 200);
        assert_eq!(portal.ask("/api/v1/me", key.expose()).await.status, 200);
        assert_eq!(browser.ask("/bff/user").await.status, 200);
        assert_eq!(browser.get("/account").await.status, 200);
        let page = house.browser().get(&format!("/account/invitation?code={invitation}")).await;
        assert_eq!(page.status, 200);
    }

    async fn what_must_be_read_again_is_sealed_for_its_place(backend) {
        let house = House::open(backend).await;
        let (mut one, _) = house.client_of(house.ada).await;
        let (grace, _) = house.person("Grace", &[]).await;
        let (mut other, _) = house.client_of(grace).await;
        let name = |user: &serde_json::Value| user["identity"]["displayName"].clone();
        assert_eq!(name(&one.ask("/bff/user").await.expect(200)), "Administrator");
        assert_eq!(name(&other.ask("/bff/user").await.expect(200)), "Grace");
        // Who may write into the table, and has no key, gives nobody the tokens of somebody else.
        let database = house.app().service::<Database>().unwrap();
        let sql = "UPDATE bff_sessions SET tokens = (SELECT tokens FROM bff_sessions WHERE subject = ?) \
                   WHERE subject = ?";
        let values = [house.ada.to_string().into(), grace.to_string().into()];
        assert_eq!(database.execute(database.statement(sql, values)).await.unwrap(), 1);
        // What a node has at hand is forgotten after some seconds.
        house.advance(std::time::Duration::from_secs(6));
        let user = other.ask("/bff/user").await;
        assert!(!user.text.contains("Administrator"), "{} {}", user.status, user.text);
        assert_eq!(name(&one.ask("/bff/user").await.expect(200)), "Administrator");
    }
}
