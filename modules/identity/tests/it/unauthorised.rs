//! Every route of the module, tried by those who may not.

use std::collections::BTreeSet;

use serde_json::{Value as Json, json};
use svc_identity::Identity;
use svc_testing::{Application, TestApp as Whole, on_both_databases, refuses_everybody};

use crate::support::{SET_UP, SETUP_KEY, TestApp};

const LACKS: &str = "this needs the permission `Identity.Manage`";

/// What a route asks of its caller.
#[derive(Clone, Copy, PartialEq)]
enum Needs {
    /// To be signed in.
    SignedIn,
    /// To be signed in, and not with a key that has a scope.
    NoScope,
    /// The permission `Identity.Manage`.
    Manage,
}

/// Each route with a body that would do; `{user}` and so on stand for ids.
fn routes() -> Vec<(&'static str, &'static str, Option<Json>, Needs)> {
    let user = json!({ "email": "eve@example.com", "displayName": "Eve" });
    let role = json!({ "name": "Eve's", "permissions": [] });
    let name = json!({ "name": "Eve's" });
    vec![
        ("GET", "/me", None, Needs::SignedIn),
        ("GET", "/organisation", None, Needs::Manage),
        ("PUT", "/organisation", Some(name.clone()), Needs::Manage),
        ("GET", "/permissions", None, Needs::Manage),
        ("GET", "/users", None, Needs::Manage),
        ("POST", "/users", Some(user), Needs::Manage),
        ("GET", "/users/{user}", None, Needs::Manage),
        ("PUT", "/users/{user}", Some(json!({ "displayName": "Eve" })), Needs::Manage),
        ("DELETE", "/users/{user}", None, Needs::Manage),
        ("POST", "/users/{user}/invitation", None, Needs::Manage),
        ("GET", "/users/{user}/sessions", None, Needs::Manage),
        ("DELETE", "/users/{user}/sessions", None, Needs::Manage),
        ("DELETE", "/users/{user}/sessions/{session}", None, Needs::Manage),
        ("GET", "/roles", None, Needs::Manage),
        ("POST", "/roles", Some(role), Needs::Manage),
        ("GET", "/roles/{role}", None, Needs::Manage),
        ("PUT", "/roles/{role}", Some(name.clone()), Needs::Manage),
        ("DELETE", "/roles/{role}", None, Needs::Manage),
        ("GET", "/api-keys", None, Needs::NoScope),
        ("POST", "/api-keys", Some(name), Needs::NoScope),
        ("GET", "/api-keys/{key}", None, Needs::NoScope),
        ("DELETE", "/api-keys/{key}", None, Needs::NoScope),
        ("GET", "/clients", None, Needs::Manage),
        ("POST", "/clients", Some(json!({ "name": "Portal" })), Needs::Manage),
        ("GET", "/clients/{client}", None, Needs::Manage),
        ("DELETE", "/clients/{client}", None, Needs::Manage),
    ]
}

/// Puts ids in the places of a path.
fn filled(path: &str, user: &str, role: &str, key: &str) -> String {
    let path = path.replace("{user}", user).replace("{role}", role).replace("{key}", key);
    // Nobody but an administrator of the organisation gets as far as to look for it.
    path.replace("{client}", role).replace("{session}", role)
}

/// The module alone, in an application with all that belongs to one.
fn alone() -> Application {
    Application::new("people").module(Identity)
}

on_both_databases! {
    async fn every_route_refuses_whoever_may_not_call_it(backend) {
        let mut whole = Whole::builder(alone);
        for argument in SET_UP {
            let (name, value) = argument.trim_start_matches('-').split_once('=').unwrap();
            whole = whole.setting(name, value);
        }
        let whole = whole.start(backend).await;
        let operator = whole.anonymous().with_credential(&format!("Bearer {SETUP_KEY}"));
        let shown = operator.get("/api/v1/identity/organisation").await.expect(200);
        let client = json!({"name": "Portal", "redirectUris": ["https://example.com/back"]});
        let _ = operator.post("/api/v1/identity/clients", client).await.expect(201);
        let organisation = serde_json::from_value(shown["id"].clone()).unwrap();
        refuses_everybody(&whole, organisation).await;
    }

    async fn the_table_names_every_route_and_what_it_needs(backend) {
        let (app, _database) = TestApp::empty(backend).await;
        let document = app.document();
        let mut described = BTreeSet::new();
        for (path, item) in document["paths"].as_object().unwrap() {
            let Some(path) = path.strip_prefix("/api/v1/identity") else { continue };
            for (method, operation) in item.as_object().unwrap() {
                let needs = operation["security"][0]["bearer"].as_array().unwrap();
                let manages = needs.iter().any(|name| name == "Identity.Manage");
                let path = path.replace("{session}", "{id}");
                described.insert((method.to_uppercase(), path, manages));
            }
        }
        let tried = routes().into_iter().map(|(method, path, _, needs)| {
            (method.to_owned(), filled(path, "{id}", "{id}", "{id}"), needs == Needs::Manage)
        });
        assert_eq!(described, tried.collect());
    }

    async fn nobody_gets_past_a_route_that_isn_t_theirs(backend) {
        let (app, _database) = TestApp::set_up(backend).await;
        let organisation = app.first_organisation().await;
        let role = app.role(organisation, &["Products.View"]).await;
        let user = app.person(organisation, "Grace", &[role]).await;
        let own = app.key(organisation, user, None).await;
        let scoped = app.key(organisation, user, Some(&["Products.View"])).await;
        let id = app.get("/api-keys", &own).await.ok()["items"][0]["id"].clone();
        let before = snapshot(&app).await;
        for (method, path, body, needs) in routes() {
            let path = filled(path, &user.to_string(), &role.to_string(), id.as_str().unwrap());
            let call = |key| app.call(method, &path, key, body.clone());
            call(None).await.refused(401);
            call(Some("svck_nothing-that-anybody-has-ever-made-up")).await.refused(401);
            let of_scope = call(Some(&scoped)).await;
            match needs {
                Needs::SignedIn => assert_eq!(of_scope.status, 200),
                Needs::NoScope | Needs::Manage => assert_eq!(of_scope.refused(403), LACKS),
            }
            if needs == Needs::Manage {
                let answer = call(Some(&own)).await;
                assert_eq!(answer.refused(403), LACKS);
            }
        }
        assert_eq!(snapshot(&app).await, before, "a refused call changed something");
    }

    async fn what_is_of_another_organisation_is_not_there(backend) {
        let (app, _database) = TestApp::set_up(backend).await;
        let organisation = app.first_organisation().await;
        let role = app.role(organisation, &["Products.View"]).await;
        let user = app.person(organisation, "Grace", &[role]).await;
        app.key(organisation, user, None).await;
        let list = app.get(&format!("/api-keys?userId={user}"), SETUP_KEY).await.ok();
        let key = list["items"][0]["id"].as_str().unwrap().to_owned();
        let other = app.organisation("Other").await;
        let admin = app.administrator(other, "Eve").await;
        let foreign = app.key(other, admin, None).await;
        let before = snapshot(&app).await;
        for (method, path, body, _) in routes().into_iter().filter(|route| route.1.contains('{')) {
            let theirs = filled(path, &user.to_string(), &role.to_string(), &key);
            let answer = app.call(method, &theirs, Some(&foreign), body.clone()).await;
            let nobody = app.app.clock().new_id().to_string();
            let unknown = filled(path, &nobody, &nobody, &nobody);
            let expected = app.call(method, &unknown, Some(&foreign), body).await;
            assert_eq!(answer.refused(404), expected.refused(404), "{method} {path}");
        }
        // Lists show only what is of the caller's organisation, also when asked for others.
        let list = app.get("/users", &foreign).await.ok();
        assert_eq!(list["items"].as_array().unwrap().len(), 1);
        assert_eq!(app.get("/roles", &foreign).await.ok()["items"].as_array().unwrap().len(), 1);
        let keys = app.get(&format!("/api-keys?userId={user}"), &foreign).await.ok();
        assert_eq!(keys["items"], json!([]));
        // Roles of another organisation can't be given.
        let body = json!({ "roles": [role] });
        app.put(&format!("/users/{admin}"), &foreign, body).await.field("roles");
        assert_eq!(snapshot(&app).await, before, "a refused call changed something");
    }
}

/// What an administrator sees of the first organisation.
async fn snapshot(app: &TestApp) -> Json {
    let mut all = Vec::new();
    for path in ["/organisation", "/users", "/roles", "/api-keys", "/clients"] {
        all.push(app.get(path, SETUP_KEY).await.ok());
    }
    json!(all)
}
