//! How much there may be, and how long it may be: just within, and just beyond.

use serde_json::{Value as Json, json};
use svc_core::{OrganisationId, UserId};
use svc_data::Context;
use svc_testing::on_both_databases;

use crate::support::{SETUP_KEY, TestApp};

/// A letter that takes several bytes: people count letters.
const LETTER: &str = "\u{1f6a2}";

/// Stores rows of a table that differ in their ids, with SQL for the values of its other columns.
async fn fill(app: &TestApp, table: &str, columns: &str, values: &str, count: usize) {
    let ctx = Context::system(&app.app).unwrap();
    let rows = vec![format!("(?, {values})"); count].join(", ");
    let sql = format!("INSERT INTO {table} (id, {columns}) VALUES {rows}");
    let ids = (0..count).map(|_| app.app.clock().new_id().into());
    let statement = ctx.database().statement(&sql, ids);
    assert_eq!(ctx.database().execute(statement).await.unwrap(), u64::try_from(count).unwrap());
}

fn sql_id(app: &TestApp, id: uuid::Uuid) -> String {
    let ctx = Context::system(&app.app).unwrap();
    match ctx.database().backend() {
        svc_database::Backend::Sqlite => format!("X'{}'", id.simple()),
        svc_database::Backend::Postgres => format!("'{id}'::uuid"),
    }
}

async fn ids(app: &TestApp) -> (OrganisationId, UserId) {
    let me = app.get("/me", SETUP_KEY).await.ok();
    let id = |json: &Json| json["id"].as_str().unwrap().parse().unwrap();
    (OrganisationId(id(&me["organisation"])), UserId(id(&me["user"])))
}

on_both_databases! {
    async fn texts_are_counted_in_letters(backend) {
        let (app, _database) = TestApp::set_up(backend).await;
        let mut number = 0;
        let mut email = || {
            number += 1;
            format!("{number}@example.com")
        };
        let text = |count: usize| LETTER.repeat(count);
        for (field, most, method, path) in [
            ("displayName", 200, "POST", "/users"),
            ("name", 200, "POST", "/roles"),
            ("description", 1_000, "POST", "/roles"),
            ("name", 200, "PUT", "/organisation"),
            ("name", 200, "POST", "/api-keys"),
            ("name", 200, "POST", "/clients"),
        ] {
            for count in [1, most, most + 1, 10 * most] {
                let mut body = match path {
                    "/users" => json!({ "email": email() }),
                    "/roles" => json!({ "name": email(), "permissions": [] }),
                    _ => json!({}),
                };
                body[field] = text(count).into();
                let answer = app.call(method, path, Some(SETUP_KEY), Some(body.clone())).await;
                if count > most {
                    assert_eq!(answer.field(field), format!("must have at most {most} characters"));
                } else {
                    // Spaces around a name don't count.
                    if path == "/users" {
                        body["email"] = email().into();
                    } else {
                        body["name"] = email().into();
                    }
                    let around = if field == "description" { "" } else { " \u{3000}" };
                    body[field] = format!("{around}{}{around}", text(count)).into();
                    assert!(answer.status.is_success(), "{field} {path} {count}: {answer:?}");
                    // The same name is no news to a role alone.
                    let again = app.call(method, path, Some(SETUP_KEY), Some(body)).await;
                    let expected = if (path, field) == ("/roles", "name") { 409 } else { answer.status.as_u16() };
                    assert_eq!(again.status.as_u16(), expected, "{field} {path} {count}: {again:?}");
                }
            }
        }
        // The end of a mail address is what counts of it (RFC 5321, section 4.5.3.1.3).
        let address = |count: usize| format!("{}@example.com", "a".repeat(count - 12));
        let new = |email: String| json!({ "displayName": "Grace", "email": email });
        app.post("/users", SETUP_KEY, new(address(254))).await.ok();
        app.post("/users", SETUP_KEY, new(address(255))).await.field("email");
    }

    async fn claims_have_bounds_and_come_once(backend) {
        let (app, _database) = TestApp::set_up(backend).await;
        let (organisation, _) = ids(&app).await;
        let grace = app.person(organisation, "Grace", &[]).await;
        let path = format!("/users/{grace}");
        let put = async |claims: Json| app.put(&path, SETUP_KEY, json!({ "claims": claims })).await;
        let long = |count: usize| LETTER.repeat(count);
        let many = |count: usize| (0..count).map(|number| format!("{number}")).collect::<Vec<_>>();
        for sound in [
            json!({ long(100): [long(200)] }),
            json!({ "regions": many(1_000) }),
            json!({ "regions": [] }),
            json!({}),
            json!({ "svc": ["a"], "Svc.x": ["b"] }),
        ] {
            put(sound).await.ok();
        }
        let kept = put(json!({ "regions": ["north", "north", "south"] })).await.ok();
        assert_eq!(kept["claims"], json!({ "regions": ["north", "south"] }));
        for (name, values) in [
            (String::new(), json!(["a"])),
            (long(101), json!(["a"])),
            ("svc.kind".to_owned(), json!(["a"])),
            ("regions".to_owned(), json!([long(201)])),
            ("regions".to_owned(), json!(many(1_001))),
        ] {
            let answer = put(json!({ name.clone(): values, "other": ["b"] })).await;
            assert!(!answer.field(&format!("claims.{name}")).is_empty(), "{name}");
        }
        let shown = app.get(&path, SETUP_KEY).await.ok();
        assert_eq!(shown["claims"], json!({ "regions": ["north", "south"] }), "nothing was changed");
    }

    async fn what_no_database_takes_is_refused_and_nothing_of_it_kept(backend) {
        let (app, _database) = TestApp::set_up(backend).await;
        let (organisation, _) = ids(&app).await;
        let grace = app.person(organisation, "Grace", &[]).await;
        let role = app.role(organisation, &["Orders.View"]).await;
        let (user, role) = (format!("/users/{grace}"), format!("/roles/{role}"));
        let before = async || {
            let mut all = Vec::new();
            for path in ["/users", "/roles", "/organisation", "/api-keys", "/clients"] {
                all.push(app.get(path, SETUP_KEY).await.ok());
            }
            all
        };
        let known = before().await;
        for (method, path, body) in [
            ("POST", "/users", json!({ "displayName": "E\0ve", "email": "eve@example.com" })),
            ("POST", "/users", json!({ "displayName": "Eve", "email": "e\0ve@example.com" })),
            ("POST", "/users", json!({ "displayName": "Eve", "email": "eve@example.com", "claims": { "a": ["b\0"] } })),
            ("POST", "/users", json!({ "displayName": "Eve", "email": "eve@example.com", "claims": { "a\0": ["b"] } })),
            ("PUT", &*user, json!({ "displayName": "\0" })),
            ("PUT", &*user, json!({ "email": "grace\0@example.com" })),
            ("PUT", &*user, json!({ "displayName": "Other", "claims": { "a": ["b", "\0"] } })),
            ("POST", "/roles", json!({ "name": "a\0", "permissions": [] })),
            ("POST", "/roles", json!({ "name": "a", "description": "b\0", "permissions": [] })),
            ("POST", "/roles", json!({ "name": "a", "permissions": ["Orders.View\0"] })),
            ("PUT", &*role, json!({ "name": "Other", "description": "\0" })),
            ("PUT", "/organisation", json!({ "name": "Example\0" })),
            ("POST", "/api-keys", json!({ "name": "\0a" })),
            ("POST", "/api-keys", json!({ "name": "a", "permissions": ["\0"] })),
            ("POST", "/clients", json!({ "name": "a\0b" })),
            ("POST", "/clients", json!({ "name": "a", "redirectUris": ["https://a.example/\0"] })),
            ("POST", "/clients", json!({ "name": "a", "redirectUris": ["https://a.example/\nhttps://evil.example/"] })),
            ("POST", "/clients", json!({ "name": "a", "signedOutUris": ["https://a.example/\r"] })),
            ("POST", "/clients", json!({ "name": "a", "origins": ["https://a.example\0"] })),
            ("POST", "/clients", json!({ "name": "a", "logoutUri": "https://a.example/\0" })),
        ] {
            let answer = app.call(method, path, Some(SETUP_KEY), Some(body.clone())).await;
            answer.refused(422);
            assert!(answer.body["errors"].as_object().is_some_and(|it| !it.is_empty()), "{body}: {answer:?}");
        }
        assert_eq!(before().await, known);
    }

    async fn an_organisation_has_200_clients_and_no_more_however_many_are_made_at_once(backend) {
        let (app, _database) = TestApp::set_up(backend).await;
        let (organisation, _) = ids(&app).await;
        let columns = "organisation_id, name, redirect_uris, signed_out_uris, origins, version, created_at, updated_at";
        let values = format!("{}, 'C', '', '', '', 1, CURRENT_TIMESTAMP, CURRENT_TIMESTAMP", sql_id(&app, organisation.0));
        fill(&app, "identity_clients", columns, &values, 199).await;
        let new = || app.post("/clients", SETUP_KEY, json!({ "name": "Portal" }));
        let (one, other) = tokio::join!(new(), new());
        let (made, refused) = if one.status == 201 { (one, other) } else { (other, one) };
        let made = made.ok();
        refused.refused(409);
        assert_eq!(refused.body["code"], "identity.too_many_clients");
        assert_eq!(refused.body["parameters"]["most"], 200);
        new().await.refused(409);
        // Another organisation has its own.
        let other = app.organisation("Other Ltd").await;
        let boss = app.administrator(other, "Boss").await;
        let key = app.key(other, boss, None).await;
        app.post("/clients", &key, json!({ "name": "Portal" })).await.ok();
        app.delete(&format!("/clients/{}", made["id"].as_str().unwrap()), SETUP_KEY).await.ok();
        new().await.ok();
    }

    async fn somebody_has_1000_keys_of_which_revoked_ones_are_none(backend) {
        let (app, _database) = TestApp::set_up(backend).await;
        let (organisation, ada) = ids(&app).await;
        let columns = "organisation_id, user_id, name, prefix, created_at, key_hash";
        let hash = match backend {
            svc_testing::Backend::Sqlite => "randomblob(32)",
            svc_testing::Backend::Postgres => "sha256(gen_random_uuid()::text::bytea)",
        };
        let values = format!(
            "{}, {}, 'Key', 'svck_', CURRENT_TIMESTAMP, {hash}", sql_id(&app, organisation.0), sql_id(&app, ada.0)
        );
        // One is there from the set-up.
        fill(&app, "identity_api_keys", columns, &values, 998).await;
        let new = |name: &str| app.post("/api-keys", SETUP_KEY, json!({ "name": name }));
        let (one, other) = tokio::join!(new("One"), new("Other"));
        let (made, refused) = if one.status == 201 { (one, other) } else { (other, one) };
        let made = made.ok();
        refused.refused(409);
        assert_eq!(refused.body["code"], "identity.too_many_keys");
        assert_eq!(refused.body["parameters"]["most"], 1_000);
        assert_eq!(app.delete(&format!("/api-keys/{}", made["id"].as_str().unwrap()), SETUP_KEY).await.status, 204);
        new("Further").await.ok();
        new("Too many").await.refused(409);
        // Those of somebody else are counted apart.
        let grace = app.person(organisation, "Grace", &[]).await;
        app.key(organisation, grace, None).await;
    }
}
