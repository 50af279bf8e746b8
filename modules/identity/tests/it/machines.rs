//! Machine users, and keys that somebody else makes.

use serde_json::json;
use svc_core::UserId;
use svc_testing::on_both_databases;

use crate::support::{SETUP_KEY, TestApp};

on_both_databases! {
    async fn a_machine_user_acts_by_keys_alone(backend) {
        let (app, _database) = TestApp::set_up(backend).await;
        let organisation = app.first_organisation().await;
        let role = app.role(organisation, &["Products.View"]).await;
        let new = json!({ "displayName": "Import", "isMachine": true, "roles": [role] });
        let machine = app.post("/users", SETUP_KEY, new.clone()).await.ok();
        // Another one is no clash of addresses.
        let other = app.post("/users", SETUP_KEY, new).await.ok();
        assert_eq!((&machine["email"], &machine["isMachine"]), (&json!(""), &json!(true)));
        assert!(machine["invitationLink"].is_null() && other["id"] != machine["id"]);
        let id = machine["id"].as_str().unwrap();

        let key = json!({ "name": "Nightly", "userId": id });
        let key = app.post("/api-keys", SETUP_KEY, key).await.ok();
        assert_eq!((&key["userId"], &key["permissions"]), (&machine["id"], &json!(null)));
        let me = app.get("/me", key["key"].as_str().unwrap()).await.ok();
        assert_eq!((&me["user"]["displayName"], &me["permissions"]), (&json!("Import"), &json!(["Products.View"])));
        let listed = app.get(&format!("/api-keys?userId={id}"), SETUP_KEY).await.ok();
        assert_eq!(listed["items"][0]["id"], key["id"]);
        app.delete(&format!("/api-keys/{}", key["id"].as_str().unwrap()), SETUP_KEY).await.ok();
        app.get("/me", key["key"].as_str().unwrap()).await.refused(401);

        let path = format!("/users/{id}");
        app.post(&format!("{path}/invitation"), SETUP_KEY, json!({})).await.refused(409);
        let address = json!({ "email": "import@example.com" });
        let answer = app.put(&path, SETUP_KEY, address).await;
        answer.refused(409);
        assert_eq!(answer.body["code"], "identity.is_machine");
        let both = json!({ "displayName": "Both", "isMachine": true, "email": "both@example.com" });
        app.post("/users", SETUP_KEY, both).await.field("email");
        app.post("/users", SETUP_KEY, json!({ "displayName": "Nobody" })).await.field("email");
        app.put(&path, SETUP_KEY, json!({ "displayName": "Export" })).await.ok();
        app.delete(&path, SETUP_KEY).await.ok();
    }

    async fn a_machine_is_no_last_administrator(backend) {
        let (app, _database) = TestApp::set_up(backend).await;
        let organisation = app.first_organisation().await;
        let role = svc_identity::roles::administrator(&app.within(organisation)).await.unwrap();
        let new = json!({ "displayName": "Robot", "isMachine": true, "roles": [role] });
        app.post("/users", SETUP_KEY, new).await.ok();
        let me = app.get("/me", SETUP_KEY).await.ok();
        let path = format!("/users/{}", me["user"]["id"].as_str().unwrap());
        let answer = app.put(&path, SETUP_KEY, json!({ "roles": [] })).await;
        assert_eq!(answer.body["code"], "identity.last_administrator", "{answer:?}");
    }

    async fn a_key_for_somebody_else_takes_a_permission_and_names_what_it_may(backend) {
        let (app, _database) = TestApp::set_up(backend).await;
        let organisation = app.first_organisation().await;
        let seller = app.role(organisation, &["Orders.View"]).await;
        let sam = app.person(organisation, "Sam", &[seller]).await;
        let key_of = async |name: &str, permissions: &[&str]| {
            let role = app.role(organisation, permissions).await;
            let person = app.person(organisation, name, &[role]).await;
            app.key(organisation, person, None).await
        };
        let wish = |owner: UserId, permissions: &[&str]| {
            json!({ "name": "For Sam", "userId": owner, "permissions": permissions })
        };
        // By `Identity.Manage` alone keys are seen and revoked, and not made.
        let mia = key_of("Mia", &["Identity.Manage", "Orders.View"]).await;
        let refusal = app.post("/api-keys", &mia, wish(sam, &["Orders.View"])).await;
        assert_eq!(refusal.refused(403), "this needs the permission `Identity.ManageKeys`");
        // Nobody makes a key for who may do more.
        let kim = key_of("Kim", &["Identity.ManageKeys"]).await;
        let refusal = app.post("/api-keys", &kim, wish(sam, &["Orders.View"])).await;
        assert_eq!(refusal.refused(403), "this needs the permission `Orders.View`");
        let lea = key_of("Lea", &["Identity.ManageKeys", "Orders.View"]).await;
        let unlimited = json!({ "name": "For Sam", "userId": sam });
        app.post("/api-keys", &lea, unlimited).await.field("permissions");
        let made = app.post("/api-keys", &lea, wish(sam, &["Orders.View"])).await.ok();
        let me = app.get("/me", made["key"].as_str().unwrap()).await.ok();
        assert_eq!(me["user"]["displayName"], "Sam");
        // Seen, and revoked, by who made it.
        let path = format!("/api-keys/{}", made["id"].as_str().unwrap());
        app.get(&path, &lea).await.ok();
        app.delete(&path, &lea).await.ok();
        app.get("/me", made["key"].as_str().unwrap()).await.refused(401);
        // Who is elsewhere isn't found.
        let elsewhere = app.organisation("Other Ltd").await;
        let stranger = app.person(elsewhere, "Stranger", &[]).await;
        app.post("/api-keys", &lea, wish(stranger, &["Orders.View"])).await.refused(404);
    }
}
