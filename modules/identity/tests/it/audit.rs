//! What an audit log hears.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde_json::{Value as Json, json};
use svc_core::{Module, Registry, Result};
use svc_data::{Context, UnitOfWork};
use svc_events::{EventsRegistry as _, Handler, Message, Subscription};
use svc_identity::{api_keys, roles, users};
use svc_testing::{TestApp, on_both_databases};

use crate::browser::{Browser, EMAIL, PASSWORD};
use crate::support::Shop;

/// Hears application events, with who did it.
#[derive(Clone, Default)]
struct Heard(Arc<Mutex<Vec<(String, Json)>>>);

#[async_trait]
impl Handler for Heard {
    async fn handle(&self, _: &UnitOfWork, messages: &[Message]) -> Result<()> {
        for message in messages {
            self.0.lock().unwrap().push((message.name.clone(), message.data()?));
        }
        Ok(())
    }
}

impl Heard {
    async fn take(&self, app: &TestApp) -> Vec<(String, Json)> {
        app.drain().await;
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

struct Audit(Heard);

impl Module for Audit {
    fn configure(&self, registry: &mut Registry) {
        let subscription = Subscription::new().application_events();
        registry.handler("audit.hear", subscription, Arc::new(self.0.clone()));
    }
}

on_both_databases! {
    async fn sign_ins_refusals_and_changed_rights_are_told(backend) {
        let heard = Heard::default();
        let module = heard.clone();
        let make = move || {
            svc_testing::Application::new("library")
                .module(svc_identity::Identity)
                .module(Shop)
                .module(Audit(module.clone()))
        };
        let app = TestApp::builder(make)
            .setting("Svc:Setup:Organisation", "Example Ltd")
            .setting("Svc:Setup:AdminEmail", EMAIL)
            .setting("Svc:Setup:AdminPassword", PASSWORD)
            .start(backend)
            .await;
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

        let database = Context::system(app.app()).unwrap().database().clone();
        let first = database.statement("SELECT id FROM identity_organisations", []);
        let row = &database.rows(first).await.unwrap()[0];
        let organisation = svc_core::OrganisationId(row.try_get_by_index(0).unwrap());
        let ctx = Context::system_in(app.app(), organisation).unwrap();
        let new = roles::NewRole { name: "Sales".to_owned(), ..roles::NewRole::default() };
        let role = roles::create(&ctx, new).await.unwrap();
        let ada = svc_core::UserId(ada.as_str().unwrap().parse().unwrap());
        users::grant(&ctx, ada, role).await.unwrap();
        let mut told = heard.take(&app).await;
        told.sort_by_key(|(_, data)| data["change"].to_string());
        let changed = |user: Json, role: Json, change: &str| {
            let data = json!({ "userId": user, "roleId": role, "change": change });
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
}
