use serde_json::{Value as Json, json};
use svc_core::Directory;
use svc_identity::users;
use svc_testing::on_both_databases;

use crate::support::{SETUP_KEY, TestApp};

async fn admin_id(app: &TestApp) -> String {
    app.get("/me", SETUP_KEY).await.ok()["user"]["id"].as_str().unwrap().to_owned()
}

async fn administrator_role(app: &TestApp) -> Json {
    app.get("/roles", SETUP_KEY).await.ok()["items"][0]["id"].clone()
}

on_both_databases! {
    async fn a_person_is_made_known_changed_and_taken_out(backend) {
        let (app, _database) = TestApp::set_up(backend).await;
        let role = administrator_role(&app).await;
        let body = json!({
            "email": "grace@example.com",
            "displayName": "Grace",
            "roles": [role],
            "claims": { "regions": ["south", "north"] },
        });
        let answer = app.post("/users", SETUP_KEY, body).await;
        assert_eq!(answer.status, 201);
        let location = answer.headers["location"].to_str().unwrap().to_owned();
        let path = location.strip_prefix("/api/v1/identity").unwrap();
        let mut created = answer.ok();
        let link = created.as_object_mut().unwrap().remove("invitationLink").unwrap();
        assert!(link.as_str().unwrap().contains("/account/invitation?code="), "{link}");
        assert_eq!(created["roles"][0]["name"], "Administrator");
        assert_eq!(created["claims"], json!({ "regions": ["north", "south"] }));
        assert!(!created.to_string().contains("assword"), "{created}");
        assert_eq!(app.get(path, SETUP_KEY).await.ok(), created);

        let body = json!({ "displayName": "Grace H.", "roles": [], "claims": {} });
        let changed = app.put(path, SETUP_KEY, body).await.ok();
        assert_eq!(changed["displayName"], "Grace H.");
        assert_eq!((&changed["roles"], &changed["claims"]), (&json!([]), &json!({})));
        assert_eq!(changed["email"], "grace@example.com");
        let disabled = app.put(path, SETUP_KEY, json!({ "disabled": true })).await.ok();
        assert_eq!(disabled["disabledAt"], "2026-11-20T12:00:00Z");
        assert_eq!(disabled["displayName"], "Grace H.");

        assert_eq!(app.delete(path, SETUP_KEY).await.status, 204);
        app.get(path, SETUP_KEY).await.refused(404);
        app.delete(path, SETUP_KEY).await.refused(404);
        // The person is forgotten, so the address is free again.
        let body = json!({ "email": "Grace@Example.com", "displayName": "Grace" });
        app.post("/users", SETUP_KEY, body).await.ok();
    }

    async fn what_breaks_a_rule_is_named_by_field(backend) {
        let (app, _database) = TestApp::set_up(backend).await;
        let new = |change: Json| {
            let mut body = json!({ "email": "grace@example.com", "displayName": "Grace" });
            body.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
            app.post("/users", SETUP_KEY, body)
        };
        new(json!({ "email": "grace" })).await.field("email");
        new(json!({ "displayName": "a\nb" })).await.field("displayName");
        // Nobody but the person sets a password.
        new(json!({ "password": "a ship in a harbour" })).await.field("password");
        new(json!({ "roles": ["019ab000-0000-7000-8000-000000000000"] })).await.field("roles");
        new(json!({ "claims": { "svc.apiKey": ["x"] } })).await.field("claims.svc.apiKey");
        new(json!({ "isAdmin": true })).await.field("isAdmin");
        let answer = new(json!({ "email": "ADA@example.com" })).await;
        assert_eq!(answer.refused(409), "the mail address is in use already");
        let path = format!("/users/{}", admin_id(&app).await);
        app.put(&path, SETUP_KEY, json!({ "displayName": null })).await.field("displayName");
        app.put(&path, SETUP_KEY, json!({ "disabled": "yes" })).await.field("disabled");
        let list = app.get("/users", SETUP_KEY).await.ok();
        assert_eq!(list["items"].as_array().unwrap().len(), 1, "nothing was stored");
    }

    async fn an_organisation_keeps_an_administrator(backend) {
        let (app, _database) = TestApp::set_up(backend).await;
        let organisation = app.first_organisation().await;
        let path = format!("/users/{}", admin_id(&app).await);
        for body in [json!({ "disabled": true }), json!({ "roles": [] })] {
            let answer = app.put(&path, SETUP_KEY, body).await;
            assert!(answer.refused(409).contains("last administrator"), "{answer:?}");
        }
        assert!(app.delete(&path, SETUP_KEY).await.refused(409).contains("last administrator"));
        // A disabled administrator doesn't count.
        let other = app.administrator(organisation, "Grace").await;
        let other = format!("/users/{other}");
        app.put(&other, SETUP_KEY, json!({ "disabled": true })).await.ok();
        app.put(&path, SETUP_KEY, json!({ "roles": [] })).await.refused(409);
        app.put(&other, SETUP_KEY, json!({ "disabled": false })).await.ok();
        app.put(&path, SETUP_KEY, json!({ "roles": [] })).await.ok();
        app.get("/organisation", SETUP_KEY).await.refused(403);
    }

    async fn two_administrators_cannot_remove_each_other(backend) {
        let (app, _database) = TestApp::set_up(backend).await;
        let organisation = app.first_organisation().await;
        let first = svc_core::UserId(admin_id(&app).await.parse().unwrap());
        let second = app.administrator(organisation, "Grace").await;
        let ctx = app.within(organisation);
        let (one, two) = tokio::join!(users::remove(&ctx, first), users::remove(&ctx, second));
        assert_eq!([one.is_ok(), two.is_ok()].iter().filter(|done| **done).count(), 1);
    }

    async fn nobody_changes_or_makes_somebody_who_may_more(backend) {
        let (app, _database) = TestApp::set_up(backend).await;
        let organisation = app.first_organisation().await;
        let role = app.role(organisation, &["Identity.Manage", "Products.View"]).await;
        let manager = app.person(organisation, "Grace", &[role]).await;
        let key = app.key(organisation, manager, None).await;
        let admin = format!("/users/{}", admin_id(&app).await);
        for body in [json!({ "displayName": "Mine" }), json!({ "disabled": true })] {
            app.put(&admin, &key, body).await.refused(403);
        }
        app.delete(&admin, &key).await.refused(403);
        let role = administrator_role(&app).await;
        let body = json!({ "email": "eve@example.com", "displayName": "Eve", "roles": [role] });
        let answer = app.post("/users", &key, body).await;
        assert_eq!(answer.refused(403), "this needs the permission `Identity.ManageClaims`");
        let own = format!("/users/{manager}");
        app.put(&own, &key, json!({ "roles": [role] })).await.refused(403);
        // What the manager holds, the manager may give.
        let body = json!({ "email": "eve@example.com", "displayName": "Eve" });
        app.post("/users", &key, body).await.ok();
    }

    async fn a_person_of_two_organisations_belongs_to_neither_administrator(backend) {
        let (app, _database) = TestApp::set_up(backend).await;
        let organisation = app.first_organisation().await;
        let other = app.organisation("Other").await;
        let user = app.person(organisation, "Grace", &[]).await;
        let role = app.role(other, &["Products.View"]).await;
        users::add_member(&app.within(other), user, [role].into()).await.unwrap();
        let path = format!("/users/{user}");
        for body in [
            json!({ "email": "mine@example.com" }),
            json!({ "disabled": true }),
            json!({ "displayName": "Mine" }),
        ] {
            let answer = app.put(&path, SETUP_KEY, body).await;
            assert!(answer.refused(409).contains("another organisation"), "{answer:?}");
        }
        // Roles are of this organisation alone, and so is the way out.
        let role = app.role(organisation, &["Orders.View"]).await;
        let shown = app.put(&path, SETUP_KEY, json!({ "roles": [role] })).await.ok();
        assert_eq!(shown["roles"].as_array().unwrap().len(), 1);
        assert_eq!(app.delete(&path, SETUP_KEY).await.status, 204);
        let directory = app.app.service::<dyn Directory>().unwrap();
        assert!(directory.principal(user, organisation).await.unwrap().is_none());
        let left = directory.principal(user, other).await.unwrap().unwrap();
        assert!(left.can("Products.View") && !left.can("Orders.View"));
    }
}
