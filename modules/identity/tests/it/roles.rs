use serde_json::json;
use svc_testing::on_both_databases;

use crate::support::{SETUP_KEY, TestApp};

on_both_databases! {
    async fn a_role_is_made_changed_and_deleted(backend) {
        let (app, _database) = TestApp::set_up(backend).await;
        let body = json!({ "name": "Sales", "permissions": ["Products.View", "Orders.View"] });
        let answer = app.post("/roles", SETUP_KEY, body).await;
        assert_eq!(answer.status, 201);
        let created = answer.ok();
        assert_eq!(created["permissions"], json!(["Orders.View", "Products.View"]));
        assert_eq!(created["isAdministrator"], false);
        let path = format!("/roles/{}", created["id"].as_str().unwrap());
        assert_eq!(app.get(&path, SETUP_KEY).await.ok(), created);
        let permissions = ["Products.Update", "Orders.View"];
        let body = json!({ "description": "Sells", "permissions": permissions });
        let changed = app.put(&path, SETUP_KEY, body).await.ok();
        assert_eq!(changed["name"], "Sales");
        assert_eq!(changed["description"], "Sells");
        assert_eq!(changed["permissions"], json!(["Orders.View", "Products.Update"]));
        assert_eq!(app.delete(&path, SETUP_KEY).await.status, 204);
        app.get(&path, SETUP_KEY).await.refused(404);
    }

    async fn a_role_that_somebody_holds_stays(backend) {
        let (app, _database) = TestApp::set_up(backend).await;
        let organisation = app.first_organisation().await;
        let role = app.role(organisation, &["Products.View"]).await;
        let user = app.person(organisation, "Grace", &[role]).await;
        let path = format!("/roles/{role}");
        assert!(app.delete(&path, SETUP_KEY).await.refused(409).contains("1 people hold"));
        app.put(&format!("/users/{user}"), SETUP_KEY, json!({ "roles": [] })).await.ok();
        assert_eq!(app.delete(&path, SETUP_KEY).await.status, 204);
    }

    async fn the_administrator_role_always_holds_everything(backend) {
        let (app, _database) = TestApp::set_up(backend).await;
        let role = app.get("/roles", SETUP_KEY).await.ok()["items"][0].clone();
        assert_eq!(role["name"], "Administrator");
        assert_eq!(role["isAdministrator"], true);
        let known = app.get("/permissions", SETUP_KEY).await.ok();
        let known: Vec<_> = known.as_array().unwrap().iter().map(|p| p["name"].clone()).collect();
        assert_eq!(role["permissions"], json!(known));
        let path = format!("/roles/{}", role["id"].as_str().unwrap());
        app.put(&path, SETUP_KEY, json!({ "permissions": [] })).await.refused(409);
        app.put(&path, SETUP_KEY, json!({ "name": "Boss" })).await.refused(409);
        app.delete(&path, SETUP_KEY).await.refused(409);
    }

    async fn what_breaks_a_rule_is_refused(backend) {
        let (app, _database) = TestApp::set_up(backend).await;
        let new = |name: &str, permissions: &[&str]| {
            app.post("/roles", SETUP_KEY, json!({ "name": name, "permissions": permissions }))
        };
        new("", &[]).await.field("name");
        new("Sales", &["Products.Viev"]).await.field("permissions");
        new("Sales", &[]).await.ok();
        let answer = new("SALES", &[]).await;
        assert_eq!(answer.refused(409), "another role has this name already");
        new("administrator", &[]).await.refused(409);
    }

    async fn nobody_puts_into_a_role_what_they_lack(backend) {
        let (app, _database) = TestApp::set_up(backend).await;
        let organisation = app.first_organisation().await;
        let role = app.role(organisation, &["Identity.Manage", "Products.View"]).await;
        let user = app.person(organisation, "Grace", &[role]).await;
        let key = app.key(organisation, user, None).await;
        let body = json!({ "name": "More", "permissions": ["Products.Update"] });
        let answer = app.post("/roles", &key, body).await;
        assert_eq!(answer.refused(403), "this needs the permission `Products.Update`");
        let more = json!({ "permissions": ["Identity.Manage", "Products.View", "Orders.View"] });
        let path = format!("/roles/{role}");
        let answer = app.put(&path, &key, more).await;
        assert_eq!(answer.refused(403), "this needs the permission `Orders.View`");
        // A refused change leaves nothing behind.
        let shown = app.get(&path, SETUP_KEY).await.ok();
        assert_eq!(shown["permissions"], json!(["Identity.Manage", "Products.View"]));
    }

    async fn the_organisation_is_renamed(backend) {
        let (app, _database) = TestApp::set_up(backend).await;
        app.put("/organisation", SETUP_KEY, json!({ "name": "" })).await.field("name");
        app.put("/organisation", SETUP_KEY, json!({ "name": null })).await.field("name");
        let same = app.put("/organisation", SETUP_KEY, json!({})).await.ok();
        assert_eq!(same["name"], "Example Ltd");
        let changed = app.put("/organisation", SETUP_KEY, json!({ "name": "Example Inc" })).await;
        assert_eq!(changed.ok()["name"], "Example Inc");
        let me = app.get("/me", SETUP_KEY).await.ok();
        assert_eq!(me["organisation"]["name"], "Example Inc");
    }
}
