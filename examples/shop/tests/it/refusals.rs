//! Nobody gets past a route that isn't theirs, in the whole application.

use serde_json::json;
use shop::Shop;
use svc::application_parts::Application;
use svc::core::OrganisationId;
use svc::prelude::{Bff, History, Identity, Search, WebClient, Webhooks, Workflows};
use svc_testing::{Person, TestApp, on_both_databases, refuses_everybody};

const KEY: &str = "svck_chosen.by-the~operator_of+this/shop";

/// As `main.rs` puts it together.
fn application() -> Application {
    Application::new("shop")
        .module(Identity)
        .module(Bff)
        .module(WebClient::new())
        .module(Webhooks)
        .module(History)
        .module(Search)
        .module(Workflows)
        .module(Shop)
}

on_both_databases! {
    async fn every_route_refuses_whoever_may_not_call_it(backend) {
        let app = TestApp::builder(application)
            .setting("Svc:Sample:Data", true)
            .setting("Svc:Setup:Organisation", "Example Ltd")
            .setting("Svc:Setup:AdminEmail", "ada@example.com")
            .setting("Svc:Setup:AdminPassword", "correct horse battery")
            .setting("Svc:Setup:ApiKey", KEY)
            .start(backend)
            .await;
        let operator = app.anonymous().with_credential(&format!("Bearer {KEY}"));
        let shown = operator.get("/api/v1/identity/organisation").await.expect(200);
        let organisation: OrganisationId = serde_json::from_value(shown["id"].clone()).unwrap();
        let admin = app.sign_in(&Person::named("Admin").of(organisation));
        let endpoint = json!({"url": "https://example.com/hook", "events": ["*"]});
        let _ = admin.post("/api/v1/webhooks", endpoint).await.expect(201);
        let client = json!({"name": "Portal", "redirectUris": ["https://example.com/back"]});
        let _ = operator.post("/api/v1/identity/clients", client).await.expect(201);
        let untried = refuses_everybody(&app, organisation).await;
        insta::assert_debug_snapshot!("untried", untried);
    }
}
