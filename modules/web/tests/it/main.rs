//! The client as a browser gets it.

use std::sync::Arc;

use serde_json::json;
use svc_core::{Module, Registry};
use svc_http::{EmbeddedFile, FrameAncestors};
use svc_testing::{Application, Backend, Person, TestApp, on_both_databases};
use svc_web::WebClient;

const FILES: &[EmbeddedFile] = &[
    ("index.html", b"<!doctype html><script type=module src=/assets/main-A1B2.js></script>"),
    ("assets/main-A1B2.js", b"export {}"),
    ("assets/main-A1B2.js.br", b"as brotli"),
    ("icons/app.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>"),
    ("service-worker.js", b"self.addEventListener('fetch', () => {})"),
];

/// Lets one page show the client in a frame.
struct Framing;

impl Module for Framing {
    fn configure(&self, registry: &mut Registry) {
        registry.on_build(|app| async move {
            app.provide(Arc::new(FrameAncestors(vec!["https://portal.example".to_owned()])));
            Ok(())
        });
    }
}

async fn start(backend: Backend, files: &'static [EmbeddedFile]) -> TestApp {
    let make = move || Application::new("client").module(WebClient::of(files));
    TestApp::builder(make).start(backend).await
}

on_both_databases! {
    async fn the_page_is_never_kept_and_may_do_little(backend) {
        let app = start(backend, FILES).await;
        let page = app.anonymous().get("/").await;
        assert!(page.text.starts_with("<!doctype html>"), "{}", page.text);
        assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
        assert_eq!(page.header("cache-control"), "no-cache, no-store");
        let policy = page.header("content-security-policy");
        for part in [
            "default-src 'none'", "script-src 'self';", "style-src 'self';", "frame-ancestors 'none'",
            "require-trusted-types-for 'script'", "trusted-types lit-html svc-shell svc-web",
            "manifest-src 'self'", "worker-src 'self'",
        ] {
            assert!(policy.contains(part), "{part} in {policy}");
        }
        assert!(!policy.contains("unsafe"), "{policy}");
    }

    async fn what_the_page_needs_is_served(backend) {
        let app = start(backend, FILES).await;
        let client = app.anonymous();
        let code = client.send(http::Method::GET, "/assets/main-A1B2.js", &[("accept-encoding", "br")], "");
        let code = code.await;
        assert_eq!((code.status.as_u16(), code.text.as_str()), (200, "as brotli"));
        assert_eq!(code.header("cache-control"), "public, max-age=31536000, immutable");
        let icon = client.get("/icons/app.svg").await;
        assert_eq!((icon.status.as_u16(), icon.header("cache-control")), (200, "public, no-cache"));
        assert_eq!(client.get("/assets/index.html").await.status, 404);
    }

    async fn a_browser_may_install_the_application(backend) {
        let app = start(backend, FILES).await;
        let client = app.anonymous();
        let manifest = client.get("/manifest.webmanifest").await;
        assert_eq!(manifest.header("content-type"), "application/manifest+json");
        let manifest = manifest.json();
        assert_eq!((&manifest["name"], &manifest["scope"]), (&json!("Client"), &json!("/")));
        let worker = client.get("/service-worker.js").await;
        assert_eq!((worker.status.as_u16(), worker.header("cache-control")), (200, "no-cache"));
        assert_eq!(worker.header("content-type"), "text/javascript; charset=utf-8");
        assert!(worker.header("content-security-policy").contains("default-src 'none'"));
    }

    async fn the_page_is_told_what_it_goes_by(backend) {
        let app = start(backend, FILES).await;
        assert_eq!(app.anonymous().get("/api/v1/web/start").await.status, 401);
        let ada = Person::named("Ada").who_may(&["Settings.Manage"]);
        let client = app.sign_in(&ada);
        let before = client.get("/api/v1/web/start").await.json();
        assert_eq!(before, json!({ "application": "client", "pageMode": "EndlessScroll", "liveSets": [] }));
        let set = client.put("/api/v1/settings/DataTable.DefaultPageMode", json!({ "value": "Pager" })).await;
        assert!(set.status.is_success(), "{}", set.text);
        assert_eq!(client.get("/api/v1/web/start").await.json()["pageMode"], "Pager");
    }

    async fn a_module_says_who_may_show_the_page_in_a_frame(backend) {
        let make = || Application::new("client").module(WebClient::of(FILES)).module(Framing);
        let app = TestApp::builder(make).start(backend).await;
        let page = app.anonymous().get("/").await;
        let policy = page.header("content-security-policy");
        assert!(policy.contains("frame-ancestors https://portal.example;"), "{policy}");
    }

    async fn without_a_client_the_page_tells_what_the_application_is(backend) {
        let app = start(backend, &[]).await;
        let page = app.anonymous().get("/").await;
        assert!(page.text.contains("/docs"), "{}", page.text);
        assert_eq!(app.anonymous().get("/assets/main-A1B2.js").await.status, 404);
    }
}
