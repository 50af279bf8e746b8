//! Apps of the desktop.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::json;
use svc_core::{Module, Registry, Result};
use svc_data::{Context, DataRegistry as _};
use svc_http::{BadgeSource, BrowserRegistry as _, StaticFiles, WebApp, WebAppRegistry as _};
use svc_messages::MessagesRegistry as _;
use svc_testing::{Application, Person, TestApp, on_both_databases};

struct Library;

impl Module for Library {
    fn requires(&self) -> &'static [&'static str] {
        &["http"]
    }

    fn configure(&self, registry: &mut Registry) {
        registry.messages([
            ("en", "library-title = Library\nlibrary-loans = Loans\nlibrary-shelves = Shelves"),
            (
                "de",
                "library-title = Bibliothek\nlibrary-loans = Ausleihen\nlibrary-shelves = Regale",
            ),
        ]);
        registry.permission("Loans.View", "see loans");
        registry.web_app(
            WebApp::new("library.loans", "library-loans", "/library/loans-3F7A.js")
                .icon("books.svg")
                .group("library-title")
                .needs("Loans.View")
                .export("loans")
                .size(800, 600)
                .single()
                .badge(Arc::new(Overdue)),
        );
        registry.web_app(WebApp::new("library.shelves", "library-shelves", "/shelves/app.js"));
        registry
            .static_files("/library", StaticFiles::embedded(&[("loans-3F7A.js", b"export {}")]));
    }
}

struct Overdue;

#[async_trait]
impl BadgeSource for Overdue {
    async fn count(&self, _: &Context) -> Result<u64> {
        Ok(3)
    }
}

/// `printf 'export {}' | openssl dgst -sha384 -binary | base64`
const HASH: &str = "sha384-VVxCXcxpOv0nZ/0YpxpNmvOMf1L1Hb6UQplg7as60Q+OX5995JTMkCby7S/OIk9s";

on_both_databases! {
    async fn a_person_gets_the_apps_that_the_person_may_use(backend) {
        let app = TestApp::builder(|| Application::new("library").module(Library)).start(backend).await;
        let shelves = json!({
            "id": "library.shelves", "title": "Regale", "icon": "app.svg", "entry": "/shelves/app.js",
        });
        let german = [("accept-language", "de")];
        let list = async |client: &svc_testing::Client| {
            client.send(http::Method::GET, "/api/v1/apps", &german, "").await.expect(200)
        };
        let ada = app.sign_in(&Person::named("Ada").who_may(&["Loans.View"]));
        let loans = json!({
            "id": "library.loans", "title": "Ausleihen", "icon": "books.svg",
            "entry": "/library/loans-3F7A.js", "exportName": "loans", "integrity": HASH,
            "group": "Bibliothek", "requiredPermissions": ["Loans.View"],
            "width": 800, "height": 600, "singleInstance": true,
        });
        assert_eq!(list(&ada).await, json!({ "apps": [loans, shelves] }));
        assert_eq!(ada.get("/api/v1/apps/badges").await.expect(200), json!({ "library.loans": 3 }));
        let bob = app.sign_in(&Person::named("Bob").who_may(&[]));
        assert_eq!(list(&bob).await, json!({ "apps": [shelves] }));
        assert_eq!(bob.get("/api/v1/apps/badges").await.expect(200), json!({}));
        let _ = app.anonymous().get("/api/v1/apps").await.expect(401);
        let _ = app.anonymous().get("/api/v1/apps/badges").await.expect(401);
    }
}
