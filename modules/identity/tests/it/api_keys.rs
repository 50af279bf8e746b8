use std::time::Duration;

use serde_json::json;
use svc_data::Context;
use svc_http::Metrics;
use svc_identity::users::{self, UserChange};
use svc_testing::on_both_databases;

use crate::support::{SETUP_KEY, TestApp};

const INVALID: &str = "the API key is not valid; it may be mistyped, expired or revoked";

on_both_databases! {
    async fn a_key_is_shown_once_and_stored_as_a_hash(backend) {
        let (app, _database) = TestApp::set_up(backend).await;
        let body = json!({ "name": " Warehouse ", "permissions": ["Products.View"] });
        let answer = app.post("/api-keys", SETUP_KEY, body).await;
        assert_eq!(answer.status, 201);
        assert_eq!(answer.headers["cache-control"], "no-store");
        let location = answer.headers["location"].to_str().unwrap().to_owned();
        let created = answer.ok();
        let key = created["key"].as_str().unwrap().to_owned();
        assert_eq!(created["name"], "Warehouse");
        assert_eq!(created["prefix"], key[..13]);
        assert_eq!(created["createdAt"], "2026-11-20T12:00:00Z");
        let id = created["id"].as_str().unwrap();
        assert_eq!(location, format!("/api/v1/identity/api-keys/{id}"));

        let shown = app.get(&location["/api/v1/identity".len()..], SETUP_KEY).await.ok();
        assert!(!shown.to_string().contains(&key), "{shown}");
        let list = app.get("/api-keys", SETUP_KEY).await.ok();
        assert_eq!(list["items"][1], shown);
        assert!(!list.to_string().contains(&key), "{list}");
        let me = app.get("/me", &key).await.ok();
        assert_eq!(me["permissions"], json!(["Products.View"]));

        let database = Context::system(&app.app).unwrap().database().clone();
        let rows = database.statement("SELECT * FROM identity_api_keys", []);
        assert!(!format!("{:?}", database.rows(rows).await.unwrap()).contains(&key[13..]));
    }

    async fn a_key_that_does_not_hold_is_refused_with_the_same_words(backend) {
        let (app, _database) = TestApp::set_up(backend).await;
        let body = json!({ "name": "Short", "expiresAt": "2026-11-20T13:00:00+00:00" });
        let expiring = app.post("/api-keys", SETUP_KEY, body).await.ok();
        let revoked = app.post("/api-keys", SETUP_KEY, json!({ "name": "Revoked" })).await.ok();
        let text = |key: &serde_json::Value| key["key"].as_str().unwrap().to_owned();
        let path = format!("/api-keys/{}", revoked["id"].as_str().unwrap());
        app.get("/me", &text(&revoked)).await.ok();
        assert_eq!(app.delete(&path, SETUP_KEY).await.status, 204);
        assert_eq!(app.delete(&path, SETUP_KEY).await.status, 204);
        assert_eq!(app.get(&path, SETUP_KEY).await.ok()["revokedAt"], "2026-11-20T12:00:00Z");

        app.advance(Duration::from_secs(3_599));
        app.get("/me", &text(&expiring)).await.ok();
        // The cache still knows the key, and its last second is over.
        app.advance(Duration::from_secs(1));
        let mut typo = text(&expiring);
        typo.pop();
        typo.push('!');
        let unknown = format!("svck_{}", "unknown.".repeat(5));
        for key in [text(&expiring), text(&revoked), typo, unknown, "svck_".to_owned()] {
            let answer = app.get("/me", &key).await;
            assert_eq!(answer.refused(401), INVALID);
            assert!(answer.headers.contains_key("www-authenticate"), "{answer:?}");
            assert!(!answer.body.to_string().contains(&key[5..]) || key == "svck_");
        }
    }

    async fn refused_keys_are_counted_by_the_reason_that_callers_never_learn(backend) {
        let (app, _database) = TestApp::set_up(backend).await;
        let organisation = app.first_organisation().await;
        let made = async |name: &str| {
            let body = json!({ "name": name, "expiresAt": "2026-11-20T13:00:00Z" });
            app.post("/api-keys", SETUP_KEY, body).await.ok()["key"].as_str().unwrap().to_owned()
        };
        let short = made("Short").await;
        let role = app.role(organisation, &["Products.View"]).await;
        let clerk = app.person(organisation, "Clerk", &[role]).await;
        let of_clerk = app.key(organisation, clerk, None).await;
        app.get("/me", &of_clerk).await.ok();
        let off = UserChange { disabled: Some(true), ..UserChange::default() };
        users::change(&app.within(organisation), clerk, off).await.unwrap();
        app.advance(Duration::from_hours(1));
        let unknown = format!("svck_{}", "unknown.".repeat(5));
        for key in [&short, &short, &of_clerk, &unknown, &unknown, &unknown, "svck_"] {
            assert_eq!(app.get("/me", key).await.refused(401), INVALID);
        }
        let metrics = app.app.service::<Metrics>().unwrap().render(&app.app).await.unwrap();
        for (reason, count) in [("ended", 2), ("owner_gone", 1), ("unknown", 3), ("malformed", 1)] {
            let line = format!("svc_identity_keys_refused_total{{reason=\"{reason}\"}} {count}");
            assert!(metrics.lines().any(|known| known == line), "{line}: {metrics}");
        }
        assert!(!metrics.contains("svck_"), "{metrics}");
    }

    async fn a_key_never_does_more_than_its_scope_and_its_owner(backend) {
        let (app, _database) = TestApp::set_up(backend).await;
        let organisation = app.first_organisation().await;
        let role = app.role(organisation, &["Products.View", "Orders.View"]).await;
        let user = app.person(organisation, "Grace", &[role]).await;
        let wide = ["Products.View", "Products.Update"];
        let scoped = app.key(organisation, user, Some(&wide)).await;
        let full = app.key(organisation, user, None).await;
        let permissions = async |key: &str| app.get("/me", key).await.ok()["permissions"].clone();
        assert_eq!(permissions(&scoped).await, json!(["Products.View"]));
        assert_eq!(permissions(&full).await, json!(["Orders.View", "Products.View"]));
    }

    async fn a_key_makes_no_key_that_may_more_or_lasts_longer(backend) {
        let (app, _database) = TestApp::set_up(backend).await;
        let organisation = app.first_organisation().await;
        let role = app.role(organisation, &["Products.View", "Identity.Manage"]).await;
        let user = app.person(organisation, "Grace", &[role]).await;
        let full = app.key(organisation, user, None).await;
        let new = |body| app.post("/api-keys", &full, body);

        // With all of the owner's rights, within them.
        new(json!({ "name": "Same" })).await.ok();
        let answer = new(json!({ "name": "More", "permissions": ["Products.Update"] })).await;
        assert_eq!(answer.refused(403), "this needs the permission `Products.Update`");

        // A scope that doesn't name the management of access has no business with keys.
        let narrow = app.key(organisation, user, Some(&["Products.View"])).await;
        let answer = app.post("/api-keys", &narrow, json!({ "name": "Any" })).await;
        assert_eq!(answer.refused(403), "this needs the permission `Identity.Manage`");
        app.get("/api-keys", &narrow).await.refused(403);

        let managing = app.key(organisation, user, Some(&["Identity.Manage"])).await;
        let new = |body| app.post("/api-keys", &managing, body);
        let answer = new(json!({ "name": "All" })).await;
        assert!(answer.refused(403).contains("without"), "{answer:?}");
        let answer = new(json!({ "name": "Other", "permissions": ["Products.View"] })).await;
        assert_eq!(answer.refused(403), "this needs the permission `Products.View`");
        new(json!({ "name": "Same", "permissions": ["Identity.Manage"] })).await.ok();

        let body = json!({ "name": "Short", "expiresAt": "2026-11-21T12:00:00Z" });
        let short = app.post("/api-keys", &full, body).await.ok();
        let short = short["key"].as_str().unwrap();
        for end in [json!(null), json!("2026-11-21T12:00:01Z")] {
            let body = json!({ "name": "Longer", "expiresAt": end });
            let answer = app.post("/api-keys", short, body).await;
            assert!(answer.refused(403).contains("lasts longer"), "{answer:?}");
        }
        let body = json!({ "name": "As short", "expiresAt": "2026-11-21T13:00:00+01:00" });
        app.post("/api-keys", short, body).await.ok();
    }

    async fn a_key_that_ends_gives_nothing_that_does_not(backend) {
        let (app, _database) = TestApp::set_up(backend).await;
        let organisation = app.first_organisation().await;
        let body = json!({ "name": "Short", "expiresAt": "2026-11-21T12:00:00Z" });
        let short = app.post("/api-keys", SETUP_KEY, body).await.ok();
        let short = short["key"].as_str().unwrap();
        let role = app.role(organisation, &["Orders.View"]).await;
        let other = app.role(organisation, &[]).await;
        let grace = app.person(organisation, "Grace", &[role]).await;
        let user = format!("/users/{grace}");
        let machine = json!({ "displayName": "Robot", "isMachine": true });
        let invited = json!({ "displayName": "Eve", "email": "eve@example.com" });
        for (method, path, body) in [
            ("POST", "/users", machine),
            ("POST", "/users", invited),
            ("POST", &*format!("{user}/invitation"), json!({})),
            ("PUT", &user, json!({ "roles": [role, other] })),
            ("PUT", &user, json!({ "claims": { "regions": ["north"] } })),
            ("PUT", &*format!("/roles/{other}"), json!({ "permissions": ["Products.View"] })),
            ("POST", "/clients", json!({ "name": "Import", "actsAs": grace })),
            ("POST", "/clients", json!({ "name": "Portal" })),
        ] {
            let answer = app.call(method, path, Some(short), Some(body.clone())).await;
            answer.refused(403);
            assert_eq!(answer.body["code"], "identity.key_ends", "{path} {body}");
        }
        assert_eq!(app.get("/users", SETUP_KEY).await.ok()["items"].as_array().unwrap().len(), 2);
        assert_eq!(app.get("/clients", SETUP_KEY).await.ok()["items"], json!([]));
        // It reads, takes away, and makes what ends with it.
        app.get("/users", short).await.ok();
        app.put(&user, short, json!({ "displayName": "Grace Hopper", "roles": [] })).await.ok();
        let key = json!({ "name": "As short", "expiresAt": "2026-11-21T12:00:00Z" });
        app.post("/api-keys", short, key).await.ok();
        app.delete(&user, short).await.ok();
        // A key without an end may all of it.
        let body = json!({ "displayName": "Robot", "isMachine": true });
        app.post("/users", SETUP_KEY, body).await.ok();
    }

    async fn what_breaks_a_rule_is_named_by_field(backend) {
        let (app, _database) = TestApp::set_up(backend).await;
        let new = |body| app.post("/api-keys", SETUP_KEY, body);
        assert_eq!(new(json!({ "name": " " })).await.field("name"), "must not be empty");
        new(json!({ "name": "x".repeat(201) })).await.field("name");
        new(json!({})).await.field("name");
        let body = json!({ "name": "a", "permissions": ["Product.Veiw", "Nothing.LikeIt"] });
        let answer = new(body).await;
        let messages = &answer.body["errors"]["permissions"];
        assert_eq!(
            messages[1],
            "`Product.Veiw` is not a permission of this application; did you mean `Products.View`?"
        );
        assert_eq!(messages[0], "`Nothing.LikeIt` is not a permission of this application");
        new(json!({ "name": "a", "permissions": [] })).await.field("permissions");
        new(json!({ "name": "a", "expiresAt": "2026-11-20T12:00:00Z" })).await.field("expiresAt");
        new(json!({ "name": "a", "expiresAt": "tomorrow" })).await.field("expiresAt");
        new(json!({ "name": "a", "permisions": ["Products.View"] })).await.field("permisions");
        let list = app.get("/api-keys", SETUP_KEY).await.ok();
        assert_eq!(list["items"].as_array().unwrap().len(), 1, "nothing was stored");
    }

    async fn people_see_their_own_keys_and_managers_those_of_others(backend) {
        let (app, _database) = TestApp::set_up(backend).await;
        let organisation = app.first_organisation().await;
        let user = app.person(organisation, "Grace", &[]).await;
        let own = app.key(organisation, user, None).await;
        let admin = app.get("/me", SETUP_KEY).await.ok()["user"]["id"].as_str().unwrap().to_owned();
        let list = app.get("/api-keys", &own).await.ok();
        assert_eq!(list["items"].as_array().unwrap().len(), 1);
        app.get(&format!("/api-keys?userId={admin}"), &own).await.refused(403);
        let theirs = app.get("/api-keys", SETUP_KEY).await.ok()["items"][0]["id"].clone();
        let theirs = format!("/api-keys/{}", theirs.as_str().unwrap());
        app.get(&theirs, &own).await.refused(404);
        app.delete(&theirs, &own).await.refused(404);

        let list = app.get(&format!("/api-keys?userId={user}"), SETUP_KEY).await.ok();
        let id = list["items"][0]["id"].as_str().unwrap().to_owned();
        assert_eq!(app.delete(&format!("/api-keys/{id}"), SETUP_KEY).await.status, 204);
        app.get("/me", &own).await.refused(401);
    }

    async fn the_last_use_is_stored_at_most_once_a_minute(backend) {
        let (app, _database) = TestApp::set_up(backend).await;
        let last_use = async || {
            let list = app.get("/api-keys", SETUP_KEY).await.ok();
            list["items"][0]["lastUsedAt"].clone()
        };
        assert_eq!(last_use().await, json!(null));
        assert_eq!(app.app.drain().await.unwrap(), 1);
        assert_eq!(last_use().await, "2026-11-20T12:00:00Z");
        app.advance(Duration::from_secs(59));
        app.get("/me", SETUP_KEY).await.ok();
        app.app.drain().await.unwrap();
        assert_eq!(last_use().await, "2026-11-20T12:00:00Z");
        app.advance(Duration::from_secs(1));
        app.get("/me", SETUP_KEY).await.ok();
        app.app.drain().await.unwrap();
        assert_eq!(last_use().await, "2026-11-20T12:01:00Z");
    }

    async fn lists_are_read_page_by_page(backend) {
        let (app, _database) = TestApp::set_up(backend).await;
        for number in 0..4 {
            let body = json!({ "name": format!("Key {number}") });
            app.post("/api-keys", SETUP_KEY, body).await.ok();
        }
        let mut seen = Vec::new();
        let mut path = "/api-keys?take=2".to_owned();
        loop {
            let page = app.get(&path, SETUP_KEY).await.ok();
            let items = page["items"].as_array().unwrap();
            assert!(!items.is_empty() && items.len() <= 2);
            seen.extend(items.iter().map(|key| key["name"].as_str().unwrap().to_owned()));
            let Some(next) = page["next"].as_str() else { break };
            path = format!("/api-keys?take=2&after={next}");
        }
        assert_eq!(seen, ["Set-up", "Key 0", "Key 1", "Key 2", "Key 3"]);
        app.get("/api-keys?take=0", SETUP_KEY).await.refused(400);
        app.get("/api-keys?after=nonsense", SETUP_KEY).await.refused(400);
        app.get("/api-keys?owner=me", SETUP_KEY).await.refused(400);
    }
}
