//! Clients of the OpenID provider, registered by administrators.

use serde_json::json;
use svc_testing::on_both_databases;

use crate::support::{SETUP_KEY, TestApp};

on_both_databases! {
    async fn a_client_is_registered_shown_and_removed(backend) {
        let (app, _database) = TestApp::set_up(backend).await;
        let new = json!({
            "name": "Portal",
            "redirectUris": ["https://portal.example/cb"],
            "signedOutUris": ["https://portal.example/"],
            "origins": ["https://portal.example"],
            "logoutUri": "https://portal.example/logout",
        });
        let created = app.post("/clients", SETUP_KEY, new.clone()).await;
        assert_eq!(created.headers["cache-control"], "no-store");
        let created = created.ok();
        assert_eq!(created["secret"].as_str().unwrap().len(), 43);
        let path = format!("/clients/{}", created["id"].as_str().unwrap());
        let shown = app.get(&path, SETUP_KEY).await.ok();
        for name in ["name", "redirectUris", "signedOutUris", "origins", "logoutUri"] {
            assert_eq!(shown[name], new[name], "{name}");
        }
        // The secret is shown once, and stored as a hash.
        assert!(shown["secret"].is_null());
        let public = json!({ "name": "Phone", "isPublic": true, "redirectUris": ["com.example.app:/cb"] });
        let public = app.post("/clients", SETUP_KEY, public).await.ok();
        assert!(public["secret"].is_null() && public["isPublic"] == true);
        let listed = app.get("/clients", SETUP_KEY).await.ok();
        assert_eq!(listed["items"].as_array().unwrap().len(), 2);
        app.delete(&path, SETUP_KEY).await.ok();
        app.get(&path, SETUP_KEY).await.refused(404);
    }

    async fn what_breaks_a_rule_is_refused_by_field(backend) {
        let (app, _database) = TestApp::set_up(backend).await;
        let nobody = app.app.clock().new_id();
        for (field, value) in [
            ("name", json!("")),
            ("redirectUris", json!(["http://portal.example/cb"])),
            ("redirectUris", json!(["https://portal.example/#cb"])),
            ("redirectUris", json!(vec!["https://portal.example/cb"; 21])),
            ("signedOutUris", json!(["javascript:alert(1)"])),
            ("origins", json!(["https://portal.example/path"])),
            ("logoutUri", json!("http://portal.example/logout")),
            ("actsAs", json!(nobody)),
        ] {
            let mut new = json!({ "name": "Portal" });
            new[field] = value.clone();
            let answer = app.post("/clients", SETUP_KEY, new).await;
            assert!(!answer.field(field).is_empty(), "{field} {value}");
        }
        let organisation = app.first_organisation().await;
        let robot = app.person(organisation, "Robot", &[]).await;
        let public = json!({ "name": "Portal", "isPublic": true, "actsAs": robot });
        app.post("/clients", SETUP_KEY, public).await.field("actsAs");
        assert_eq!(app.get("/clients", SETUP_KEY).await.ok()["items"], json!([]));
    }

    async fn nobody_registers_a_client_that_may_do_more_than_they(backend) {
        let (app, _database) = TestApp::set_up(backend).await;
        let organisation = app.first_organisation().await;
        let manager = app.role(organisation, &["Identity.Manage"]).await;
        let mia = app.person(organisation, "Mia", &[manager]).await;
        let key = app.key(organisation, mia, None).await;
        let seller = app.role(organisation, &["Orders.View"]).await;
        let robot = app.person(organisation, "Robot", &[seller]).await;
        let new = json!({ "name": "Import", "actsAs": robot });
        let refusal = app.post("/clients", &key, new.clone()).await;
        assert_eq!(refusal.refused(403), "this needs the permission `Orders.View`");
        app.post("/clients", SETUP_KEY, new).await.ok();
    }
}
