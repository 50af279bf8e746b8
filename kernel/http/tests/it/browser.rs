//! What modules add for browsers: layers, the page at `/`, files, times of routes.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use axum::Router;
use axum::extract::Request;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use http::header::{AUTHORIZATION, CONTENT_SECURITY_POLICY, COOKIE, SET_COOKIE};
use http::request::Parts;
use http::{HeaderValue, Method, StatusCode};
use svc_core::{
    App, Error, Module, OrganisationId, PermissionSet, Principal, Registry, Result, UserId,
};
use svc_http::{
    ApiResult, Authenticator, BrowserRegistry as _, ContentPolicy, CookieCredential, Ctx,
    HostLayer, HttpRegistry as _, HttpState, LayerPlace, NextLayer, ResponseHeaders, StaticFiles,
};
use svc_testing::{Answer, Application, Backend, Client, TestApp, on_both_databases};
use uuid::Uuid;

/// Turns the cookie `session` into a credential.
struct Sessions;

#[async_trait]
impl HostLayer for Sessions {
    fn name(&self) -> &'static str {
        "sessions"
    }

    fn place(&self) -> LayerPlace {
        LayerPlace::Session
    }

    async fn handle(
        &self,
        _: &HttpState,
        mut request: Request,
        next: NextLayer,
    ) -> ApiResult<Response> {
        if request.headers().contains_key(COOKIE) {
            request.headers_mut().insert(AUTHORIZATION, HeaderValue::from_static("Session"));
            request.extensions_mut().insert(CookieCredential);
        }
        Ok(next.run(request).await)
    }
}

/// Refuses what names a cookie of another kind, and signs every answer.
struct Door;

#[async_trait]
impl HostLayer for Door {
    fn name(&self) -> &'static str {
        "door"
    }

    fn place(&self) -> LayerPlace {
        LayerPlace::Guard
    }

    async fn handle(
        &self,
        _: &HttpState,
        request: Request,
        next: NextLayer,
    ) -> ApiResult<Response> {
        if request.headers().get(COOKIE).is_some_and(|cookie| cookie == "tossed=1") {
            return Err(Error::forbidden("this cookie is not ours").into());
        }
        // The session's layer comes later, also when its module comes first.
        assert!(!request.headers().contains_key(AUTHORIZATION));
        let mut response = next.run(request).await;
        response.headers_mut().insert("x-door", HeaderValue::from_static("closed"));
        Ok(response)
    }
}

/// Knows whom a layer has found, and renews the cookie on each answer.
struct Renewing;

#[async_trait]
impl Authenticator for Renewing {
    async fn authenticate(&self, _: &App, request: &Parts) -> Result<Option<Principal>> {
        if request.headers.get(AUTHORIZATION).is_none_or(|value| value != "Session") {
            return Ok(None);
        }
        let renewed = HeaderValue::from_static("session=2; HttpOnly");
        ResponseHeaders::of(request).append(SET_COOKIE, renewed.clone());
        ResponseHeaders::of(request).append(SET_COOKIE, HeaderValue::from_static("seen=1"));
        let id = Uuid::from_u128(1);
        let who = Principal::user(UserId(id), "Ada", OrganisationId(id), PermissionSet::default());
        Ok(Some(who))
    }
}

const FILES: StaticFilesOfTest = &[
    ("app-3F7A2B.js", b"let plain = 1"),
    ("app-3F7A2B.js.br", b"as brotli"),
    ("app-3F7A2B.js.gz", b"as gzip"),
    ("pictures/logo.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>"),
];

type StaticFilesOfTest = &'static [(&'static str, &'static [u8])];

struct Pages;

impl Module for Pages {
    fn requires(&self) -> &'static [&'static str] {
        &["http"]
    }

    fn configure(&self, registry: &mut Registry) {
        registry.layer(Arc::new(Sessions));
        registry.layer(Arc::new(Door));
        registry.authenticator(Arc::new(Renewing));
        let files = StaticFiles::embedded(FILES).hashed(|path| path.starts_with("app-"));
        registry.static_files(
            "/assets",
            files.from_folder(concat!(env!("CARGO_MANIFEST_DIR"), "/src")),
        );
        registry.home_page(get(async || {
            let policy = ContentPolicy::closed().scripts("'self'").header();
            ([(CONTENT_SECURITY_POLICY, policy)], "<!doctype html>home").into_response()
        }));
        registry.mount(
            "/try",
            Router::new()
                .route("/who", get(async |Ctx(ctx): Ctx| ctx.principal().display_name().to_owned()))
                .route("/change", post(async |Ctx(_): Ctx| StatusCode::NO_CONTENT))
                .route(
                    "/full",
                    get(async |Ctx(_): Ctx| ApiResult::<()>::Err(Error::conflict("full").into())),
                )
                .route("/slow", get(slow))
                .route("/endless", get(std::future::pending::<&'static str>)),
        );
        registry.route_timeout("/try/slow", Duration::from_secs(30));
    }
}

/// Longer than requests may take that have no time of their own.
async fn slow() -> &'static str {
    tokio::time::sleep(Duration::from_millis(300)).await;
    "done"
}

async fn start(backend: Backend) -> TestApp {
    let make = || Application::new("pages").module(Pages);
    TestApp::builder(make).start(backend).await
}

async fn send(client: &Client, method: Method, path: &str, headers: &[(&str, &str)]) -> Answer {
    client.send(method, path, headers, "").await
}

const SESSION: (&str, &str) = ("cookie", "session=1");

on_both_databases! {
    async fn a_layer_makes_a_credential_of_a_cookie(backend) {
        let app = start(backend).await;
        let browser = app.anonymous();
        let who = send(&browser, Method::GET, "/try/who", &[SESSION]).await;
        assert_eq!((who.status, who.text.as_str()), (StatusCode::OK, "Ada"));
        let _ = send(&browser, Method::GET, "/try/who", &[]).await.expect(401);
        // What a browser sends by itself changes nothing unless a page of ours asked for it.
        let forged = send(&browser, Method::POST, "/try/change", &[SESSION]).await;
        assert_eq!(forged.expect(403)["code"], "forbidden");
        let ours = [SESSION, ("x-csrf", "1"), ("sec-fetch-site", "same-origin")];
        let _ = send(&browser, Method::POST, "/try/change", &ours).await.expect(204);
    }

    async fn what_is_meant_for_another_organisation_changes_nothing(backend) {
        let app = start(backend).await;
        let browser = app.anonymous();
        let own = Uuid::from_u128(1).to_string();
        let asks = async |method: Method, path, organisation: &str| {
            let headers = [
                SESSION,
                ("x-csrf", "1"),
                ("sec-fetch-site", "same-origin"),
                ("svc-organisation", organisation),
            ];
            send(&browser, method, path, &headers).await
        };
        let _ = asks(Method::POST, "/try/change", &own).await.expect(204);
        for other in [&Uuid::from_u128(77).to_string(), "", "mine"] {
            for (method, path) in [(Method::GET, "/try/who"), (Method::POST, "/try/change")] {
                let refused = asks(method, path, other).await;
                assert_eq!(refused.expect(409)["code"], "http.other_organisation", "{other:?}");
            }
        }
    }

    async fn a_layer_refuses_and_adds_to_answers(backend) {
        let app = start(backend).await;
        let tossed = [("cookie", "tossed=1")];
        let refused = send(&app.anonymous(), Method::GET, "/try/who", &tossed).await;
        assert_eq!(refused.header("content-type"), "application/problem+json");
        assert_eq!(refused.expect(403)["detail"], "this cookie is not ours");
        for path in ["/", "/try/who", "/nowhere", "/health/live"] {
            let answer = app.anonymous().get(path).await;
            assert_eq!(answer.header("x-door"), "closed", "{path}");
        }
    }

    async fn an_authenticator_sets_headers_of_any_answer(backend) {
        let app = start(backend).await;
        for (path, status) in [("/try/who", 200), ("/try/full", 409)] {
            let answer = send(&app.anonymous(), Method::GET, path, &[SESSION]).await;
            assert_eq!(answer.status, status);
            let cookies: Vec<_> = answer.headers.get_all(SET_COOKIE).iter().collect();
            assert_eq!(cookies, ["session=2; HttpOnly", "seen=1"]);
        }
        assert!(app.anonymous().get("/try/who").await.headers.get(SET_COOKIE).is_none());
    }

    async fn a_module_owns_the_page_at_the_root(backend) {
        let app = start(backend).await;
        let home = app.anonymous().get("/").await;
        assert_eq!(home.text, "<!doctype html>home");
        assert!(home.header("content-security-policy").contains("script-src 'self'"));
        assert_eq!(app.anonymous().get("/home.css").await.status, 404);
    }

    async fn files_are_sent_as_the_client_takes_them(backend) {
        let app = start(backend).await;
        let client = app.anonymous();
        let script = "/assets/app-3F7A2B.js";
        for (accepted, expected, coding) in [
            ("gzip, deflate, br;q=0.1", "as brotli", "br"),
            ("br;q=0, gzip", "as gzip", "gzip"),
            ("identity", "let plain = 1", ""),
        ] {
            let answer = send(&client, Method::GET, script, &[("accept-encoding", accepted)]).await;
            assert_eq!((answer.text.as_str(), answer.header("content-encoding")), (expected, coding));
            assert_eq!(answer.header("cache-control"), "public, max-age=31536000, immutable");
            assert_eq!(answer.header("content-type"), "text/javascript; charset=utf-8");
            assert_eq!(answer.header("vary"), "accept-encoding");
            let tag = answer.header("etag").to_owned();
            assert_eq!(tag.contains('-'), !coding.is_empty(), "other bytes need another tag: {tag}");
            let known = [("accept-encoding", accepted), ("if-none-match", &tag)];
            assert_eq!(send(&client, Method::GET, script, &known).await.status, 304);
        }
        let head = send(&client, Method::HEAD, script, &[]).await;
        assert_eq!((head.status.as_u16(), head.header("content-length"), head.text.as_str()), (200, "13", ""));
    }

    async fn only_files_of_the_folder_are_sent(backend) {
        let app = start(backend).await;
        let client = app.anonymous();
        let picture = client.get("/assets/pictures/logo.svg").await;
        assert_eq!(picture.header("content-type"), "image/svg+xml");
        assert_eq!(picture.header("cache-control"), "public, no-cache");
        for path in ["app-3F7A2B.js.br", "", "pictures", "lib.rs", "../Cargo.toml", "..%2fCargo.toml"] {
            let answer = client.get(&format!("/assets/{path}")).await;
            assert_eq!(answer.status, 404, "{path}");
        }
    }

    async fn files_are_read_from_the_disk_where_a_setting_says_so(backend) {
        let make = || Application::new("pages").module(Pages);
        let app = TestApp::builder(make).setting("Svc:Http:FilesFromDisk", true).start(backend).await;
        let client = app.anonymous();
        let file = client.get("/assets/extract/json.rs").await;
        assert_eq!(file.status, 200);
        assert_eq!(file.header("cache-control"), "no-store");
        for path in ["app-3F7A2B.js", "../Cargo.toml", "..%2fCargo.toml", "%2e%2e/Cargo.toml", "/etc/hosts"] {
            let answer = client.get(&format!("/assets/{path}")).await;
            assert_eq!(answer.status, 404, "{path}");
        }
    }

    async fn a_route_may_take_its_own_time(backend) {
        let make = || Application::new("pages").module(Pages);
        let short = TestApp::builder(make).setting("Svc:Http:RequestTimeout", "00:00:00.1");
        let app = short.start(backend).await;
        let _ = app.anonymous().get("/try/endless").await.expect(503);
        assert_eq!(app.anonymous().get("/try/slow").await.text, "done");
    }
}

struct Careless;

impl Module for Careless {
    fn requires(&self) -> &'static [&'static str] {
        &["pages"]
    }

    fn configure(&self, registry: &mut Registry) {
        registry.home_page(get(async || "mine"));
        registry.route_timeout("/api/v1/nothing", Duration::from_secs(1));
    }
}

#[test]
fn two_pages_at_the_root_and_times_of_no_route_are_refused() {
    let problems = Application::new("pages").module(Pages).module(Careless).assemble().err();
    let problems = problems.map(|problems| problems.to_string()).unwrap_or_default();
    for expected in [
        "module `careless`: the page at `/` is that of module `pages`",
        "module `careless`: no module serves the route `/api/v1/nothing`",
    ] {
        assert!(problems.contains(expected), "{problems}");
    }
}
