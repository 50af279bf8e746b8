//! The shop, in which somebody is signed in by every means.

use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use http::{HeaderMap, Method};
use serde_json::{Value, json};
use shop::{Shop, product};
use svc_application::Application;
use svc_bff::{Bff, BrowserHost};
use svc_core::{App, Module, OrganisationId, Registry, Result, UserId};
use svc_data::Context;
use svc_history::History;
use svc_http::{
    ApiResult, Ctx, HttpRegistry as _, HttpState, OpenApiRouter, public_routes, routes,
};
use svc_identity::Identity;
use svc_identity::clients::{self, NewClient};
use svc_identity::sessions::{self, Browser, NewSession};
use svc_openid::CodeVerifier;
use svc_search::Search;
use svc_testing::{Answer, Backend, TestApp};
use svc_webhooks::Webhooks;
use svc_workflows::Workflows;

/// The key of the set-up.
pub(crate) const API_KEY: &str = "svck_bench_0123456789abcdefghijklmnopqrstuvwxyzABCDEF";

/// The administrator of the set-up.
pub(crate) const EMAIL: &str = "bench@example.com";
pub(crate) const PASSWORD: &str = "correct horse battery";

/// Routes that ask who calls, and the same ones that don't: a number, and a page of products.
pub(crate) const KNOWN: &str = "/api/v1/bench/known";
pub(crate) const OPEN: &str = "/api/v1/bench/open";
pub(crate) const KNOWN_PRODUCTS: &str = "/api/v1/bench/known/products";
pub(crate) const OPEN_PRODUCTS: &str = "/api/v1/bench/open/products";

const REDIRECT: &str = "http://127.0.0.1/cb";

struct Doors;

impl Module for Doors {
    fn configure(&self, registry: &mut Registry) {
        let router: OpenApiRouter<HttpState> = OpenApiRouter::new();
        let router = router
            .routes(routes!(known))
            .routes(routes!(known_products))
            .routes(public_routes!("it is measured"; open))
            .routes(public_routes!("it is measured"; open_products));
        registry.routes(router);
    }
}

/// Whose products everybody may read.
struct Shelf(OrganisationId);

/// A small answer to whoever is known.
#[utoipa::path(
    get,
    path = "/bench/known",
    responses((status = 200, description = "A number.", body = u64)),
)]
async fn known(Ctx(_): Ctx) -> ApiResult<Json<u64>> {
    Ok(Json(42))
}

/// The same to everybody.
#[utoipa::path(
    get,
    path = "/bench/open",
    responses((status = 200, description = "A number.", body = u64)),
)]
async fn open() -> ApiResult<Json<u64>> {
    Ok(Json(42))
}

/// A page of products to whoever is known.
#[utoipa::path(
    get,
    path = "/bench/known/products",
    responses((status = 200, description = "Twenty products.", body = Value)),
)]
async fn known_products(Ctx(ctx): Ctx) -> ApiResult<Json<Value>> {
    Ok(Json(products(&ctx).await?))
}

/// The same to everybody.
#[utoipa::path(
    get,
    path = "/bench/open/products",
    responses((status = 200, description = "Twenty products.", body = Value)),
)]
async fn open_products(State(app): State<App>) -> ApiResult<Json<Value>> {
    let ctx = Context::system_in(&app, app.service::<Shelf>()?.0)?;
    Ok(Json(products(&ctx).await?))
}

async fn products(ctx: &Context) -> Result<Value> {
    let page = ctx.query::<product::Entity>().order_by(product::Column::Name).take(20);
    let found = page.all().await?;
    Ok(found.into_iter().map(|it| json!({ "name": it.name, "stock": it.stock })).collect())
}

/// What the application and the browser host before it know.
const SECRET: &str = "what a browser host proves itself with";

/// The application, a browser host before it, and what its person calls with.
pub(crate) struct House {
    pub(crate) app: TestApp,
    pub(crate) organisation: OrganisationId,
    /// Where the application is.
    pub(crate) address: SocketAddr,
    /// Where the browser host is, under whose address the application is the issuer.
    pub(crate) front: SocketAddr,
    pub(crate) access_token: String,
    /// The value of `Cookie` of a browser that signed in through the host in the application.
    pub(crate) cookie: String,
    /// The same for the host before it.
    pub(crate) front_cookie: String,
    _host: TestApp,
}

impl House {
    /// Starts it, and signs its administrator in.
    pub(crate) async fn open(backend: Backend) -> Self {
        let make = || {
            Application::new("shop")
                .module(Identity)
                .module(Bff)
                .module(Webhooks)
                .module(History)
                .module(Search)
                .module(Workflows)
                .module(Shop)
                .module(Doors)
        };
        let front = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let public_url = format!("http://{front}");
        let app = TestApp::builder(make)
            .setting("Svc:Setup:Organisation", "Bench")
            .setting("Svc:Setup:AdminEmail", EMAIL)
            .setting("Svc:Setup:AdminPassword", PASSWORD)
            .setting("Svc:Setup:ApiKey", API_KEY)
            .setting("Svc:Http:Listen", "127.0.0.1:0")
            .setting("Svc:Http:PublicUrl", &public_url)
            .setting("Svc:Auth:ClientAddressHeader", "X-Forwarded-For")
            .setting("Svc:OpenId:BrowserHostSecret", SECRET)
            .setting("Svc:Sample:Data", true)
            .in_real_time()
            .start(backend)
            .await;
        let address = app.listen().await;
        let host = || Application::new("shop-browser-host").module(BrowserHost);
        let host = TestApp::builder(host)
            .setting("Svc:Http:Listen", front)
            .setting("Svc:Http:PublicUrl", &public_url)
            .setting("Svc:BrowserHost:Api", format!("http://{address}"))
            .setting("Svc:BrowserHost:ClientSecret", SECRET)
            .in_real_time()
            .start(backend)
            .await;
        host.listen().await;
        let (organisation, user) = administrator(&app).await;
        let mut visitor = Visitor { app: &app, front, jar: BTreeMap::new() };
        let access_token = visitor.access_token_of(organisation, user).await;
        let cookie = visitor.sign_in().await;
        visitor.app = &host;
        let front_cookie = visitor.sign_in().await;
        app.app().provide(Arc::new(Shelf(organisation)));
        Self { app, organisation, address, front, access_token, cookie, front_cookie, _host: host }
    }
}

async fn administrator(app: &TestApp) -> (OrganisationId, UserId) {
    let me = app.anonymous().with_credential(&format!("Bearer {API_KEY}"));
    let me = me.get("/api/v1/identity/me").await.expect(200);
    let id = |value: &Value| value.as_str().unwrap().parse::<uuid::Uuid>().unwrap();
    (OrganisationId(id(&me["organisation"]["id"])), UserId(id(&me["user"]["id"])))
}

/// A browser that keeps cookies.
struct Visitor<'a> {
    app: &'a TestApp,
    front: SocketAddr,
    jar: BTreeMap<String, String>,
}

impl Visitor<'_> {
    /// An access token of somebody, who is signed in at the provider with it.
    async fn access_token_of(&mut self, organisation: OrganisationId, user: UserId) -> String {
        let headers: HeaderMap =
            [(http::header::HOST, self.front.to_string().parse().unwrap())].into_iter().collect();
        let new = NewSession {
            user,
            organisation,
            methods: vec![sessions::Method::Password],
            browser: Browser { headers: &headers, address: None },
        };
        let (_, cookie) = sessions::begin(self.app.app(), new).await.unwrap();
        self.keep(cookie.header().1.to_str().unwrap());

        let ctx = Context::system_in(self.app.app(), organisation).unwrap();
        let new = NewClient {
            name: "Bench".to_owned(),
            is_public: true,
            redirect_uris: vec![REDIRECT.to_owned()],
            ..NewClient::default()
        };
        let client = clients::create(&ctx, new).await.unwrap().0.to_string();
        self.access_token(&client).await
    }

    /// Signs in to a browser host: its cookie.
    async fn sign_in(&mut self) -> String {
        let mut address = "/bff/login".to_owned();
        for _ in 0..3 {
            let answer = self.send(Method::GET, &address, &[], String::new()).await;
            assert_eq!(answer.status, 303, "{}", answer.text);
            let to = answer.header("location");
            to.strip_prefix(&format!("http://{}", self.front))
                .unwrap_or(to)
                .clone_into(&mut address);
        }
        format!("svc-bff={}", self.jar["svc-bff"])
    }

    async fn access_token(&mut self, client: &str) -> String {
        let verifier = CodeVerifier::random();
        let query = form(&[
            ("client_id", client),
            ("redirect_uri", REDIRECT),
            ("response_type", "code"),
            ("scope", "openid"),
            ("code_challenge", verifier.challenge().as_str()),
            ("code_challenge_method", "S256"),
        ]);
        let path = format!("/connect/authorize?{query}");
        let answer = self.send(Method::GET, &path, &[], String::new()).await;
        let query = answer.header("location").split_once('?').unwrap().1.to_owned();
        let code = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "code");
        let body = form(&[
            ("grant_type", "authorization_code"),
            ("client_id", client),
            ("code", &code.unwrap().1),
            ("redirect_uri", REDIRECT),
            ("code_verifier", verifier.as_str()),
        ]);
        let media_type = [("content-type", "application/x-www-form-urlencoded")];
        let answer = self.send(Method::POST, "/connect/token", &media_type, body).await;
        answer.expect(200)["access_token"].as_str().unwrap().to_owned()
    }

    async fn send(
        &mut self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: String,
    ) -> Answer {
        let cookies: Vec<String> =
            self.jar.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let (host, cookies) = (self.front.to_string(), cookies.join("; "));
        let mut all = vec![("host", host.as_str()), ("cookie", &cookies)];
        all.extend(headers);
        let answer = self.app.anonymous().send(method, path, &all, body).await;
        for cookie in answer.headers.get_all(http::header::SET_COOKIE) {
            self.keep(cookie.to_str().unwrap());
        }
        answer
    }

    fn keep(&mut self, set_cookie: &str) {
        let (name, value) = set_cookie.split(';').next().unwrap().split_once('=').unwrap();
        self.jar.insert(name.to_owned(), value.to_owned());
    }
}

fn form(pairs: &[(&str, &str)]) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
}
