//! What an audit log hears.

use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use serde_json::{Value as Json, json};
use svc_core::{Module, Registry, Result};
use svc_data::{Context, UnitOfWork};
use svc_events::{EventsRegistry as _, Handler, Message, Subscription};
use svc_identity::{api_keys, clients, roles, users};
use svc_testing::{Backend, TestApp, on_both_databases};

use crate::browser::{Browser, EMAIL, PASSWORD};
use crate::passkeys::{Key, ORIGIN, PRESENT, add, sign_in};
use crate::support::Shop;

/// Hears application events, with who did it.
#[derive(Clone, Default)]
struct Heard(Arc<Mutex<Vec<(String, Json)>>>);

#[async_trait]
impl Handler for Heard {
    async fn handle(&self, _: &UnitOfWork, messages: &[Message]) -> Result<()> {
        for message in messages {
            self.0.lock().push((message.name.clone(), message.data()?));
        }
        Ok(())
    }
}

impl Heard {
    async fn take(&self, app: &TestApp) -> Vec<(String, Json)> {
        app.drain().await;
        std::mem::take(&mut *self.0.lock())
    }
}

struct Audit(Heard);

impl Module for Audit {
    fn configure(&self, registry: &mut Registry) {
        let subscription = Subscription::new().application_events();
        registry.handler("audit.hear", subscription, Arc::new(self.0.clone()));
    }
}

async fn audited(backend: Backend) -> (TestApp, Heard) {
    let heard = Heard::default();
    let module = heard.clone();
    let make = move || {
        svc_testing::Application::new("library")
            .module(svc_identity::Identity)
            .module(Shop)
            .module(Audit(module.clone()))
    };
    let app = TestApp::builder(make)
        .setting("Svc:Http:PublicUrl", ORIGIN)
        .setting("Svc:Setup:Organisation", "Example Ltd")
        .setting("Svc:Setup:AdminEmail", EMAIL)
        .setting("Svc:Setup:AdminPassword", PASSWORD)
        .start(backend)
        .await;
    (app, heard)
}

/// The system in the organisation of the set-up.
async fn within(app: &TestApp) -> Context {
    let database = Context::system(app.app()).unwrap().database().clone();
    let first = database.statement("SELECT id FROM identity_organisations", []);
    let row = &database.rows(first).await.unwrap()[0];
    let organisation = svc_core::OrganisationId(row.try_get_by_index(0).unwrap());
    Context::system_in(app.app(), organisation).unwrap()
}

/// The reasons of the refusals that were told, in the order of their names.
fn reasons(told: &[(String, Json)]) -> Vec<&str> {
    let refused = told.iter().filter(|(name, _)| name == "identity.sign_in_refused");
    let mut reasons: Vec<_> = refused.map(|(_, data)| data["reason"].as_str().unwrap()).collect();
    reasons.sort_unstable();
    reasons
}

on_both_databases! {
    async fn sign_ins_refusals_and_changed_rights_are_told(backend) {
        let (app, heard) = audited(backend).await;
        let told = heard.take(&app).await;
        assert_eq!(told[0].0, "identity.rights_changed");
        assert_eq!(told[0].1["change"], "added");
        let ada = told[0].1["userId"].clone();

        Browser::signed_in(&app).await;
        let told = heard.take(&app).await;
        assert_eq!(told.len(), 1, "{told:?}");
        assert_eq!(told[0].0, "identity.signed_in");
        assert_eq!((&told[0].1["userId"], &told[0].1["methods"]), (&ada, &json!(["password"])));

        Browser::new(&app).sign_in(EMAIL, "wrong").await;
        Browser::new(&app).sign_in("nobody@example.com", "wrong").await;
        let told = heard.take(&app).await;
        let refused = json!({ "userId": ada, "reason": "wrongPassword", "address": null });
        assert_eq!(told, [("identity.sign_in_refused".to_owned(), refused)]);

        let ctx = within(&app).await;
        let new = roles::NewRole { name: "Sales".to_owned(), ..roles::NewRole::default() };
        let role = roles::create(&ctx, new).await.unwrap();
        let ada = svc_core::UserId(ada.as_str().unwrap().parse().unwrap());
        users::grant(&ctx, ada, role).await.unwrap();
        let mut told = heard.take(&app).await;
        told.sort_by_key(|(_, data)| data["change"].to_string());
        let changed = |user: Json, role: Json, change: &str| {
            let data =
                json!({ "userId": user, "roleId": role, "clientId": null, "change": change });
            ("identity.rights_changed".to_owned(), data)
        };
        let expected = [
            changed(json!(null), json!(role), "added"),
            changed(json!(ada), json!(null), "changed"),
        ];
        assert_eq!(told, expected);
        assert!(!format!("{told:?}").contains('@'));

        let new = api_keys::NewApiKey { name: "Till".to_owned(), ..api_keys::NewApiKey::default() };
        let (key, _) = api_keys::create(&ctx, ada, new).await.unwrap();
        api_keys::revoke(&ctx, key).await.unwrap();
        api_keys::revoke(&ctx, key).await.unwrap();
        let changes = ["made", "revoked"].map(|change| {
            let data = json!({ "keyId": key, "userId": ada, "change": change });
            ("identity.api_key_changed".to_owned(), data)
        });
        let mut told = heard.take(&app).await;
        told.sort_by_key(|(_, data)| data["change"].to_string());
        assert_eq!(told, changes);
    }

    async fn who_is_signed_out_by_others_is_told(backend) {
        let (app, heard) = audited(backend).await;
        Browser::signed_in(&app).await;
        let told = heard.take(&app).await;
        let signed_in = &told.iter().find(|(name, _)| name == "identity.signed_in").unwrap().1;
        let ada = svc_core::UserId(signed_in["userId"].as_str().unwrap().parse().unwrap());
        let ctx = within(&app).await;
        assert_eq!(users::sign_out_everywhere(&ctx, ada, None).await.unwrap(), 1);
        // Where nothing is ended, nothing is told.
        assert_eq!(users::sign_out_everywhere(&ctx, ada, None).await.unwrap(), 0);
        let data = json!({ "userId": ada, "sessionIds": [signed_in["sessionId"]] });
        assert_eq!(heard.take(&app).await, [("identity.signed_out".to_owned(), data)]);
    }

    async fn each_reason_of_a_refusal_is_told(backend) {
        let (app, heard) = audited(backend).await;
        let mut key = Key::new(b"key");
        add(&Browser::signed_in(&app).await, &mut key, "Key").await;
        heard.take(&app).await;

        key.flags = PRESENT;
        assert_eq!(sign_in(&app, &key).await.1.status, 422);
        assert_eq!(reasons(&heard.take(&app).await), ["wrongPasskey"]);

        // The second step: wrong ten times, and then not looked at.
        let browser = Browser::new(&app);
        browser.sign_in(EMAIL, PASSWORD).await;
        let (page, action) = ("/account/second-factor?recovery=1", "/account/second-factor");
        for _ in 0..11 {
            browser.fill(page, action, &[("recovery", "1"), ("code", "0000")]).await;
        }
        let told = heard.take(&app).await;
        assert_eq!(reasons(&told), [&["tooManyAttempts"][..], &["wrongCode"; 10]].concat());

        // The first one likewise, and of an account that nobody has nothing is told.
        let stranger = Browser::new(&app);
        for email in [EMAIL, "nobody@example.com"] {
            for _ in 0..11 {
                stranger.sign_in(email, "wrong").await;
            }
        }
        let told = heard.take(&app).await;
        assert_eq!(reasons(&told), [&["tooManyAttempts"][..], &["wrongPassword"; 10]].concat());
        assert!(!format!("{told:?}").contains('@'));
    }

    async fn rights_that_a_client_has_or_that_end_are_told(backend) {
        let (app, heard) = audited(backend).await;
        let ctx = within(&app).await;
        let new = roles::NewRole { name: "Sales".to_owned(), ..roles::NewRole::default() };
        let role = roles::create(&ctx, new).await.unwrap();
        let robot = users::NewUser {
            display_name: "Robot".to_owned(),
            is_machine: true,
            ..users::NewUser::default()
        };
        let robot = users::create(&ctx, robot).await.unwrap();
        heard.take(&app).await;

        // A client that signs people in has no rights of its own.
        let acting = [None, Some(robot)].map(|acts_as| clients::NewClient {
            name: "Import".to_owned(),
            acts_as,
            ..clients::NewClient::default()
        });
        for new in acting {
            let acts_as = new.acts_as;
            let (client, _) = clients::create(&ctx, new).await.unwrap();
            clients::remove(&ctx, client).await.unwrap();
            let mut told = heard.take(&app).await;
            told.sort_by_key(|(_, data)| data["change"].to_string());
            let changes = ["added", "removed"].map(|change| {
                let data = json!({
                    "userId": robot, "roleId": null, "clientId": client, "change": change,
                });
                ("identity.rights_changed".to_owned(), data)
            });
            assert_eq!(told, if acts_as.is_some() { changes.to_vec() } else { Vec::new() });
        }

        roles::delete(&ctx, role).await.unwrap();
        users::remove(&ctx, robot).await.unwrap();
        let told = heard.take(&app).await;
        let of = |name: &str| told.iter().map(|(_, data)| data[name].clone()).collect::<Vec<_>>();
        assert_eq!(of("change"), ["removed", "removed"]);
        assert!(of("roleId").contains(&json!(role)) && of("userId").contains(&json!(robot)));
    }
}
