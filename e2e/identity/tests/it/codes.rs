//! The token endpoint.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use e2e_identity::{House, ISSUER, Program, claims_of, header_of};
use sha2::{Digest as _, Sha256};
use svc::data::Context;
use svc::database::{Backend, Database};
use svc::identity::clients::NewClient;
use svc::identity::sessions;
use svc_testing::{Answer, eventually, on_both_databases};
use tokio::sync::Notify;

use crate::support::{confidential, program, public};

on_both_databases! {
    async fn a_code_becomes_tokens(backend) {
        let house = House::open(backend).await;
        for program in [confidential(&house).await, public(&house).await] {
            let (mut browser, session) = house.browser_of(house.ada).await;
            let code = program.code(&mut browser, &[("scope", "openid profile email roles more")]).await;
            let answer = program.exchange(&code).await;
            let tokens = answer.expect(200);
            // RFC 6749, section 5.1.
            assert_eq!(answer.header("cache-control"), "no-store");
            assert_eq!(answer.header("pragma"), "no-cache");
            assert_eq!(tokens["token_type"], "Bearer");
            assert_eq!(tokens["expires_in"], 600);
            assert_eq!(tokens["scope"], "openid profile email roles");
            let now = house.app().clock().now().unix_timestamp();
            // OpenID Connect Core, section 2.
            let id_token = tokens["id_token"].as_str().unwrap();
            let claims = claims_of(id_token);
            assert_eq!(claims["iss"], ISSUER);
            assert_eq!(claims["sub"], house.ada.to_string());
            assert_eq!(claims["aud"], program.id);
            assert_eq!(claims["nonce"], "a nonce");
            assert_eq!((&claims["iat"], &claims["exp"]), (&now.into(), &(now + 600).into()));
            assert_eq!(claims["auth_time"], session.authenticated_at.unix_timestamp());
            assert_eq!(claims["amr"], serde_json::json!(["pwd"]));
            assert_eq!(claims["sid"], session.id.to_string());
            assert_eq!(claims["name"], "Administrator");
            assert_eq!(claims["email"], "ada@example.com");
            assert_eq!(claims["roles"], serde_json::json!(["Administrator"]));
            assert_eq!(header_of(id_token)["alg"], "RS256");
            // Section 3.1.3.6.
            let access_token = tokens["access_token"].as_str().unwrap();
            let half = &Sha256::digest(access_token)[..16];
            assert_eq!(claims["at_hash"], URL_SAFE_NO_PAD.encode(half));
            // 256 bits that nobody guesses (RFC 6749, section 10.10).
            assert_eq!(tokens["refresh_token"].as_str().unwrap().len(), 43);
            // RFC 9068, sections 2.1 and 2.2.
            let header = header_of(access_token);
            assert_eq!((&header["typ"], &header["alg"]), (&"at+jwt".into(), &"RS256".into()));
            let claims = claims_of(access_token);
            for name in ["iss", "exp", "aud", "sub", "client_id", "iat", "jti", "scope", "org", "sid"] {
                assert!(!claims[name].is_null(), "{name}");
            }
            assert_eq!((&claims["iss"], &claims["aud"]), (&ISSUER.into(), &ISSUER.into()));
            assert_eq!(claims["org"], house.organisation.to_string());
            let me = program.ask("/api/v1/me", access_token).await.expect(200);
            assert_eq!(me["identity"]["id"], house.ada.to_string());
        }
    }

    async fn a_code_is_used_once_and_a_second_use_ends_what_it_gave(backend) {
        let house = House::open(backend).await;
        let program = confidential(&house).await;
        let (mut browser, _) = house.browser_of(house.ada).await;
        let code = program.code(&mut browser, &[]).await;
        let tokens = program.exchange(&code).await.expect(200);
        let access_token = tokens["access_token"].as_str().unwrap();
        assert_eq!(program.ask("/api/v1/me", access_token).await.status, 200);
        // RFC 6749, section 4.1.2.
        assert_eq!(program.exchange(&code).await.expect(400)["error"], "invalid_grant");
        assert_eq!(program.ask("/api/v1/me", access_token).await.status, 401);
        let refreshed = program.refresh(tokens["refresh_token"].as_str().unwrap()).await;
        assert_eq!(refreshed.expect(400)["error"], "invalid_grant");
    }

    async fn of_two_that_come_at_once_one_gets_tokens(backend) {
        let house = House::open(backend).await;
        let other = house.another_node().await;
        let program = confidential(&house).await;
        let elsewhere = Program::new(
            other.node.anonymous(), &program.id, program.secret.as_deref(), &program.redirect_uri,
        );
        let elsewhere = Program { verifier: program.verifier.clone(), ..elsewhere };
        let (mut browser, _) = house.browser_of(house.ada).await;
        for _ in 0..5 {
            let code = program.code(&mut browser, &[]).await;
            let (one, two) = tokio::join!(program.exchange(&code), elsewhere.exchange(&code));
            let mut statuses = [one.status.as_u16(), two.status.as_u16()];
            statuses.sort_unstable();
            assert_eq!(statuses, [200, 400], "{} {}", one.text, two.text);
        }
    }

    async fn a_code_is_for_its_client_its_address_its_verifier_and_a_minute(backend) {
        let house = House::open(backend).await;
        let (program, other) = (confidential(&house).await, confidential(&house).await);
        let (mut browser, session) = house.browser_of(house.ada).await;
        let refused = |answer: svc_testing::Answer| {
            assert_eq!(answer.expect(400)["error"], "invalid_grant");
        };
        // Another client's (RFC 6749, section 4.1.3), which burns it.
        let code = program.code(&mut browser, &[]).await;
        refused(Program { verifier: program.verifier.clone(), ..other.clone() }.exchange(&code).await);
        refused(program.exchange(&code).await);
        // Another address (section 4.1.3).
        let code = program.code(&mut browser, &[]).await;
        let elsewhere = "https://app.example/elsewhere".to_owned();
        refused(Program { redirect_uri: elsewhere, ..program.clone() }.exchange(&code).await);
        // Another verifier (RFC 7636, section 4.6), or none.
        let code = program.code(&mut browser, &[]).await;
        refused(Program { verifier: other.verifier.clone(), ..program.clone() }.exchange(&code).await);
        let code = program.code(&mut browser, &[]).await;
        let form = [
            ("grant_type", "authorization_code"),
            ("code", code.as_str()),
            ("redirect_uri", program.redirect_uri.as_str()),
        ];
        assert_eq!(program.post("/connect/token", &form).await.expect(400)["error"], "invalid_request");
        // Too late.
        let code = program.code(&mut browser, &[]).await;
        house.advance(Duration::from_mins(1));
        refused(program.exchange(&code).await);
        // After its session.
        let code = program.code(&mut browser, &[]).await;
        sessions::end(house.app(), house.ada, session.id).await.unwrap();
        refused(program.exchange(&code).await);
        refused(program.exchange("nonsense").await);
    }

    async fn refresh_tokens_rotate_and_a_second_use_ends_all(backend) {
        let house = House::open(backend).await;
        for program in [confidential(&house).await, public(&house).await] {
            let (mut browser, _) = house.browser_of(house.ada).await;
            let first = program.sign_in(&mut browser, "openid").await;
            let old = first["refresh_token"].as_str().unwrap();
            house.advance(Duration::from_mins(10));
            assert_eq!(program.ask("/api/v1/me", first["access_token"].as_str().unwrap()).await.status, 401);
            let second = program.refresh(old).await.expect(200);
            let new = second["refresh_token"].as_str().unwrap();
            assert_ne!(old, new);
            let access_token = second["access_token"].as_str().unwrap();
            assert_eq!(program.ask("/api/v1/me", access_token).await.status, 200);
            // The same person, signed in at the same time (OpenID Connect Core, section 12.2).
            let (before, after) =
                (claims_of(first["id_token"].as_str().unwrap()), claims_of(second["id_token"].as_str().unwrap()));
            for name in ["iss", "sub", "aud", "auth_time", "sid"] {
                assert_eq!(before[name], after[name], "{name}");
            }
            assert_eq!(after["iat"].as_i64(), before["iat"].as_i64().map(|at| at + 600));
            assert!(after["nonce"].is_null());
            // RFC 9700, section 4.14.2.
            assert_eq!(program.refresh(old).await.expect(400)["error"], "invalid_grant");
            assert_eq!(program.refresh(new).await.expect(400)["error"], "invalid_grant");
            assert_eq!(program.ask("/api/v1/me", access_token).await.status, 401);
        }
    }

    async fn a_refresh_token_is_for_its_client_its_scope_and_its_time(backend) {
        let settings = [("Svc:OpenId:RefreshTokenLifetime", "01:00:00")];
        let house = House::open_with(backend, &settings).await;
        let (program, other) = (public(&house).await, public(&house).await);
        let (mut browser, _) = house.browser_of(house.ada).await;
        let tokens = program.sign_in(&mut browser, "openid").await;
        let token = tokens["refresh_token"].as_str().unwrap();
        // A client that has a secret brings it (RFC 6749, section 6).
        let portal = confidential(&house).await;
        let of_portal = portal.sign_in(&mut browser, "openid").await;
        let without = Program { secret: None, ..portal.clone() };
        let of_portal = of_portal["refresh_token"].as_str().unwrap();
        assert_eq!(without.refresh(of_portal).await.expect(401)["error"], "invalid_client");
        assert_eq!(portal.refresh(of_portal).await.status, 200);
        // Who isn't its client neither gets nor ends anything.
        assert_eq!(other.refresh(token).await.expect(400)["error"], "invalid_grant");
        // No more than was granted (RFC 6749, section 6).
        let more = [("grant_type", "refresh_token"), ("refresh_token", token), ("scope", "openid email")];
        let answer = program.post("/connect/token", &more).await;
        assert_eq!(answer.expect(400)["error"], "invalid_scope");
        let next = program.refresh(token).await.expect(200);
        // Who asks for less is told that it gets what was granted, now and later (RFC 6749, sections 3.3 and 6).
        let wide = program.sign_in(&mut browser, "openid email").await;
        let token = wide["refresh_token"].as_str().unwrap();
        let less = [("grant_type", "refresh_token"), ("refresh_token", token), ("scope", "openid")];
        let narrow = program.post("/connect/token", &less).await.expect(200);
        assert_eq!(narrow["scope"], "openid email");
        let wide = program.refresh(narrow["refresh_token"].as_str().unwrap()).await.expect(200);
        assert_eq!(wide["scope"], "openid email");
        house.advance(Duration::from_hours(1));
        let answer = program.refresh(next["refresh_token"].as_str().unwrap()).await;
        assert_eq!(answer.expect(400)["error"], "invalid_grant");
    }

    async fn what_is_granted_ends_with_the_session_unless_it_is_for_longer(backend) {
        let house = House::open(backend).await;
        let program = public(&house).await;
        let (mut browser, session) = house.browser_of(house.ada).await;
        let bound = program.sign_in(&mut browser, "openid").await;
        let offline = program.sign_in(&mut browser, "openid offline_access").await;
        sessions::end(house.app(), house.ada, session.id).await.unwrap();
        let text = |tokens: &serde_json::Value, name: &str| tokens[name].as_str().unwrap().to_owned();
        assert_eq!(program.ask("/api/v1/me", &text(&bound, "access_token")).await.status, 401);
        assert_eq!(program.refresh(&text(&bound, "refresh_token")).await.status, 400);
        assert_eq!(program.ask("/api/v1/me", &text(&offline, "access_token")).await.status, 200);
        assert_eq!(program.refresh(&text(&offline, "refresh_token")).await.status, 200);
        // Rows of what has ended are swept.
        assert!(house.node.drain().await > 0);
        house.advance(Duration::from_hours(24 * 91));
        house.node.drain().await;
        let database = house.app().service::<svc::database::Database>().unwrap();
        for table in ["identity_grants", "identity_codes", "identity_refresh_tokens"] {
            let sql = format!("SELECT 1 FROM {table}");
            assert!(database.rows(database.statement(&sql, [])).await.unwrap().is_empty(), "{table}");
        }
    }

    /// Who signs out holds the grant, and then deletes what hangs on it; a client that asks for tokens at this
    /// moment waits, holding nothing that the other needs.
    async fn who_asks_for_tokens_while_a_grant_ends_waits_and_is_refused(backend) {
        let house = House::open(backend).await;
        let program = confidential(&house).await;
        let (mut browser, _) = house.browser_of(house.ada).await;
        let tokens = program.sign_in(&mut browser, "openid").await;
        let refreshing = program.refresh(tokens["refresh_token"].as_str().unwrap());
        is_refused_while_the_grant_ends(&house, "identity_refresh_tokens", refreshing).await;
        let code = program.code(&mut browser, &[]).await;
        is_refused_while_the_grant_ends(&house, "identity_codes", program.exchange(&code)).await;
    }

    async fn a_changed_password_ends_what_outlives_a_session(backend) {
        let house = House::open(backend).await;
        let program = public(&house).await;
        let (grace, _) = house.person("Grace", &["Products.View"]).await;
        let (mut browser, _) = house.browser_of(grace).await;
        let tokens = program.sign_in(&mut browser, "openid offline_access").await;
        house.advance(Duration::from_mins(1));
        let database = house.app().service::<svc::database::Database>().unwrap();
        let sql = "INSERT INTO identity_passwords (user_id, password_hash, changed_at_us) \
                   VALUES (?, 'x', ?)";
        let values = [grace.0.into(), house.app().clock().now_us().into()];
        database.execute(database.statement(sql, values)).await.unwrap();
        // Another node has kept nothing of it.
        let elsewhere = house.another_node().await;
        let there = Program { client: elsewhere.node.anonymous(), ..program.clone() };
        let access_token = tokens["access_token"].as_str().unwrap();
        assert_eq!(there.ask("/odata/v1/Products", access_token).await.status, 401);
        let answer = program.refresh(tokens["refresh_token"].as_str().unwrap()).await;
        assert_eq!(answer.expect(400)["error"], "invalid_grant");
    }

    async fn a_client_proves_who_it_is(backend) {
        let house = House::open(backend).await;
        let program = confidential(&house).await;
        let (mut browser, _) = house.browser_of(house.ada).await;
        let code = program.code(&mut browser, &[]).await;
        // RFC 6749, section 5.2: 401, with a challenge where `Authorization` was used.
        let wrong = Program { secret: Some("wrong".to_owned()), ..program.clone() };
        let answer = wrong.exchange(&code).await;
        assert_eq!(answer.expect(401)["error"], "invalid_client");
        assert!(answer.header("www-authenticate").starts_with("Basic "));
        let without = Program { secret: None, ..program.clone() };
        assert_eq!(without.exchange(&code).await.expect(401)["error"], "invalid_client");
        let unknown = Program { id: "nobody".to_owned(), ..program.clone() };
        assert_eq!(unknown.exchange(&code).await.expect(401)["error"], "invalid_client");
        // In the form (section 2.3.1), and in one way alone.
        let secret = program.secret.clone().unwrap();
        assert_eq!(secret.len(), 43, "nobody guesses it (section 2.3.1)");
        let form = [
            ("grant_type", "authorization_code"),
            ("code", code.as_str()),
            ("redirect_uri", program.redirect_uri.as_str()),
            ("code_verifier", program.verifier.as_str()),
            ("client_secret", secret.as_str()),
        ];
        assert_eq!(program.post("/connect/token", &form).await.expect(400)["error"], "invalid_request");
        assert_eq!(without.post("/connect/token", &form).await.status, 200);
    }

    async fn a_program_acts_for_itself(backend) {
        let house = House::open(backend).await;
        let (robot, role) = house.person("Robot", &["Products.View"]).await;
        let new = NewClient { name: "Import".to_owned(), acts_as: Some(robot), ..NewClient::default() };
        let import = program(&house, new).await;
        let form = [("grant_type", "client_credentials")];
        let tokens = import.post("/connect/token", &form).await.expect(200);
        // RFC 6749, section 4.4.3.
        assert!(tokens["refresh_token"].is_null() && tokens["id_token"].is_null());
        let token = tokens["access_token"].as_str().unwrap();
        assert_eq!(import.ask("/odata/v1/Products", token).await.status, 200);
        assert_eq!(import.ask("/odata/v1/Orders", token).await.status, 403);
        // Its rights are those of the moment.
        let change = svc::identity::roles::RoleChange { permissions: Some([].into()), ..Default::default() };
        svc::identity::roles::change(&house.within(), role, change).await.unwrap();
        assert_eq!(import.ask("/odata/v1/Products", token).await.status, 403);
        for other in [confidential(&house).await, public(&house).await] {
            let answer = other.post("/connect/token", &form).await;
            assert_eq!(answer.expect(400)["error"], "unauthorized_client");
        }
        // A removed client's tokens open nothing.
        let id = svc::identity::ClientId(import.id.parse().unwrap());
        svc::identity::clients::remove(&house.within(), id).await.unwrap();
        assert_eq!(import.ask("/odata/v1/Products", token).await.status, 401);
        assert_eq!(import.post("/connect/token", &form).await.expect(401)["error"], "invalid_client");
    }

    async fn what_is_no_request_is_refused(backend) {
        let house = House::open(backend).await;
        let program = confidential(&house).await;
        for (form, error) in [
            (&[][..], "invalid_request"),
            (&[("grant_type", "password"), ("username", "ada"), ("password", "x")], "unsupported_grant_type"),
            (&[("grant_type", "implicit")], "unsupported_grant_type"),
            (&[("grant_type", "refresh_token")], "invalid_request"),
            (&[("grant_type", "refresh_token"), ("refresh_token", "x"), ("refresh_token", "y")], "invalid_request"),
        ] {
            let answer = program.post("/connect/token", form).await;
            assert_eq!(answer.expect(400)["error"], error, "{form:?}");
        }
        // What is said of it has no letters that may not be there (RFC 6749, section 5.2).
        let odd = "\"é\\\n";
        let refused = program.post("/connect/token", &[(odd, "1"), (odd, "2")]).await.expect(400);
        let said = refused["error_description"].as_str().unwrap();
        let is_permitted = |byte: u8| matches!(byte, 0x20..=0x21 | 0x23..=0x5B | 0x5D..=0x7E);
        assert!(!said.is_empty() && said.bytes().all(is_permitted), "{said}");
        let mut browser = house.browser();
        let json = [("content-type", "application/json")];
        let answer = browser.send(http::Method::POST, "/connect/token", &json, "{}").await;
        assert_eq!(answer.expect(400)["error"], "invalid_request");
        assert_eq!(browser.get("/connect/token?grant_type=authorization_code").await.status, 405);
    }
}

async fn is_refused_while_the_grant_ends(
    house: &House,
    hanging: &str,
    asking: impl Future<Output = Answer>,
) {
    let ctx = Context::system(house.app()).unwrap();
    let held = Notify::new();
    let ending = ctx.transact(async |uow| {
        let database = uow.context().database();
        let lock = database.backend().locking(" FOR UPDATE");
        let grants = format!("SELECT 1 FROM identity_grants{lock}");
        assert_eq!(uow.rows(database.statement(&grants, [])).await?.len(), 1);
        held.notify_one();
        eventually("somebody waits", async || waits(database).await).await;
        for table in [hanging, "identity_grants"] {
            uow.execute(database.statement(&format!("DELETE FROM {table}"), [])).await?;
        }
        Ok(())
    });
    let asking = async {
        held.notified().await;
        asking.await
    };
    let (answer, ended) = tokio::join!(asking, ending);
    ended.unwrap();
    assert_eq!(answer.expect(400)["error"], "invalid_grant");
}

/// Whether somebody waits for a row; on SQLite for the one that writes, which nothing shows.
async fn waits(database: &Database) -> bool {
    let sql = "SELECT 1 FROM pg_stat_activity \
               WHERE datname = current_database() AND wait_event_type = 'Lock'";
    database.backend() == Backend::Sqlite
        || !database.rows(database.statement(sql, [])).await.unwrap().is_empty()
}
