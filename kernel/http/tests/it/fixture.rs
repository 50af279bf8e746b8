//! A tiny application with a route for everything that can go right or wrong.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use axum::body::Body;
use axum::response::IntoResponse;
use axum::routing::{get, post};
use axum::{Json, Router};
use http::request::Parts;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::BodyExt as _;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use svc_core::settings::{LoadOptions, Settings};
use svc_core::{
    App, Clock, Error, ErrorCode, Module, OrganisationId, Permission, PermissionSet, Principal,
    Registry, Result, UserId,
};
use svc_data::{Context, DataModule, DataRegistry as _};
use svc_database::{Backend, Database, Migration};
use svc_events::EventsModule;
use svc_http::{
    ApiJson, ApiPath, ApiQuery, ApiResult, Authenticator, BrowserRegistry as _, Ctx, Host,
    HttpModule, HttpRegistry as _, Listing, May, OpenApiRouter, Page, Paged, public_routes, routes,
};
use svc_messages::MessagesModule;
use svc_settings::{ApplicationSetting, SettingsModule, SettingsRegistry as _};
use svc_testing::ThrowAwayDatabase;
use time::macros::datetime;
use tokio::sync::Notify;
use tower::ServiceExt as _;
use utoipa::ToSchema;
use uuid::Uuid;

pub const ADA: &str = "Bearer token-of-ada";
/// Ada, with fewer rights.
pub const ADA_WITH_LESS: &str = "Bearer lesser-token-of-ada";
pub const BOB: &str = "Bearer token-of-bob";
pub const EVE: &str = "Bearer token-of-eve";

/// A key for secrets, of which these tests store none.
const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

/// What lets `/try/wait` go on, and tells that somebody waits there.
#[derive(Default)]
pub struct Gate {
    pub reached: Notify,
    pub open: Notify,
}

struct Shelf(Arc<Gate>);

impl Module for Shelf {
    fn requires(&self) -> &'static [&'static str] {
        &["http"]
    }

    fn configure(&self, registry: &mut Registry) {
        registry.authenticator(Arc::new(Tokens));
        registry.permission("Items.Create", "put items on the shelf");
        registry.errors([SHELF_FULL]);
        registry.migrations([Migration::new(
            "0001_marks",
            "CREATE TABLE marks (id UUID PRIMARY KEY, said TEXT NOT NULL);",
        )]);
        registry.application_setting(ApplicationSetting::integer(
            "Shelf.MaxItems",
            "How many items a shelf holds.",
            1..=100,
            20,
        ));
        registry.application_setting(ApplicationSetting::choice(
            "Shelf.Order",
            "How items are ordered.",
            &["name", "age"],
            "name",
        ));
        registry.routes(
            OpenApiRouter::default()
                .routes(routes!(list_items, create_item))
                .routes(routes!(get_item))
                .routes(public_routes!("it greets everybody"; greet))
                .routes(public_routes!("it hears everybody"; hear)),
        );
        registry.route_body_limit("/try/long-marks", 10_000);
        registry.mount("/odata/v1", Router::new().route("/Items", get(odata_items)));
        let gate = Arc::clone(&self.0);
        let held = move |ctx: Ctx, body: String| {
            let gate = Arc::clone(&gate);
            async move {
                gate.reached.notify_one();
                gate.open.notified().await;
                make_mark(ctx, body).await
            }
        };
        let gate = Arc::clone(&self.0);
        let wait = move || {
            let gate = Arc::clone(&gate);
            async move {
                gate.reached.notify_one();
                gate.open.notified().await;
                "waited"
            }
        };
        registry.mount(
            "/try",
            Router::new()
                .route("/held", post(held))
                .route("/search", get(search))
                .route("/paged", get(paged))
                .route("/who", get(who))
                .route("/trace", get(trace))
                .route("/panic", get(panics))
                .route("/fault", get(fault))
                .route("/busy", get(busy))
                .route("/full", get(full))
                .route("/foreign", get(foreign))
                .route("/stuck", get(std::future::pending::<StatusCode>))
                .route("/stay", get(async |Ctx(_): Ctx| std::future::pending::<StatusCode>().await))
                .route("/changed", post(change_and_stay))
                .route("/marks", post(make_mark))
                .route("/long-marks", post(make_mark))
                .route("/text", get(|| async { "a line of text\n".repeat(1_000) }))
                .route("/kept", get(kept))
                .route("/picture", get(picture))
                .route("/pieces", post(pieces))
                .route("/wait", get(wait)),
        );
    }
}

/// Knows three people by their tokens, and refuses a token that was revoked.
struct Tokens;

#[async_trait]
impl Authenticator for Tokens {
    async fn authenticate(&self, _: &App, request: &Parts) -> Result<Option<Principal>> {
        let header = request.headers.get("authorization");
        let token = header.and_then(|value| value.to_str().ok()).unwrap_or_default();
        let person = |number, name: &'static str, organisation, permissions: &[&str]| {
            Some(Principal::user(
                UserId(Uuid::from_u128(number)),
                name,
                OrganisationId(Uuid::from_u128(organisation)),
                permissions.iter().copied().collect::<PermissionSet>(),
            ))
        };
        match token {
            ADA => Ok(person(1, "Ada", 1, &["Settings.Manage", "Items.Create"])),
            ADA_WITH_LESS => Ok(person(1, "Ada", 1, &["Items.Create"])),
            BOB => Ok(person(2, "Bob", 2, &["Settings.Manage"])),
            EVE => Ok(person(3, "Eve", 1, &[])),
            "Bearer revoked" => Err(Error::unauthenticated("the token was revoked")),
            _ => Ok(None),
        }
    }
}

/// What is put on a shelf.
#[derive(Debug, Deserialize, Serialize, ToSchema)]
pub struct NewItem {
    /// The name.
    name: String,
    /// How many there are.
    count: u32,
    /// Where it came from.
    origin: Option<Origin>,
}

/// Where an item came from.
#[derive(Debug, Deserialize, Serialize, ToSchema)]
struct Origin {
    /// The country.
    country: String,
}

/// An item on a shelf.
#[derive(Serialize, ToSchema)]
struct Item {
    /// The key.
    id: Uuid,
    /// The name.
    name: String,
}

/// Lists items.
///
/// In the order of their keys.
#[utoipa::path(
    get,
    path = "/items",
    params(Page),
    responses((status = 200, description = "The items.", body = Listing<Item>))
)]
async fn list_items(Ctx(_): Ctx, page: Page) -> ApiResult<Json<Listing<Item>>> {
    let after = page.cursor::<u128>()?.unwrap_or_default();
    let numbers = (after + 1..=5).take(usize::try_from(page.limit()).unwrap());
    let item = |number| Item { id: Uuid::from_u128(number), name: format!("Item {number}") };
    Ok(Json(page.list(numbers.map(item).collect(), |item| item.id.as_u128())))
}

struct CreateItems;

impl Permission for CreateItems {
    const NAME: &'static str = "Items.Create";
}

/// Puts an item on the shelf.
#[utoipa::path(
    post,
    path = "/items",
    request_body = NewItem,
    responses((status = 201, description = "The item.", body = NewItem))
)]
async fn create_item(
    _: May<CreateItems>,
    ApiJson(item): ApiJson<NewItem>,
) -> ApiResult<(StatusCode, Json<NewItem>)> {
    Ok((StatusCode::CREATED, Json(item)))
}

/// Reads an item.
#[utoipa::path(
    get,
    path = "/items/{id}",
    params(("id" = Uuid, Path, description = "The key.")),
    responses((status = 200, description = "The item.", body = Item))
)]
async fn get_item(Ctx(_): Ctx, ApiPath(id): ApiPath<Uuid>) -> Json<Item> {
    Json(Item { id, name: "Item".to_owned() })
}

/// Greets everybody.
#[utoipa::path(
    get,
    path = "/greeting",
    tag = "greetings",
    responses((status = 200, description = "A greeting.", body = String)),
)]
async fn greet() -> &'static str {
    "good day"
}

/// Hears what anybody says.
#[utoipa::path(
    post,
    path = "/heard",
    tag = "greetings",
    request_body(content = String, content_type = "text/plain"),
    responses((status = 200, description = "What was heard.", body = String)),
)]
async fn hear(said: String) -> String {
    said
}

#[derive(Debug, Deserialize, Serialize)]
struct Search {
    text: String,
    limit: Option<u8>,
    exact: Option<bool>,
}

async fn search(ApiQuery(search): ApiQuery<Search>) -> Json<Search> {
    Json(search)
}

#[derive(Debug, Deserialize, Serialize)]
struct Filter {
    state: Option<String>,
}

async fn paged(Paged(page, filter): Paged<Filter>) -> Json<(u32, Option<String>)> {
    Json((page.take, filter.state))
}

async fn who(caller: Option<Ctx>) -> String {
    caller.map_or("nobody".to_owned(), |Ctx(ctx)| ctx.principal().display_name().to_owned())
}

async fn trace(Ctx(ctx): Ctx) -> String {
    ctx.correlation().simple().to_string()
}

async fn odata_items() -> ApiResult<()> {
    let error = Error::invalid("the item is not valid").target("Items");
    Err(error.field("name", "must not be empty").into())
}

async fn panics() {
    panic!("the password is hunter2");
}

async fn fault() -> ApiResult<()> {
    let cause = std::io::Error::other("table secrets is locked");
    Err(Error::internal("could not read").field("secret", "x").caused_by(cause).into())
}

/// What a module of its own refuses.
const SHELF_FULL: ErrorCode = ErrorCode::new(
    "shelf.full",
    svc_core::ErrorKind::Conflict,
    "The shelf holds as many items as fit (`most`), <b>none</b> more",
);

async fn full() -> ApiResult<()> {
    Err(SHELF_FULL.error("20 items are on the shelf already").with("most", 20).into())
}

async fn busy() -> ApiResult<()> {
    let error = Error::unavailable("come back later");
    Err(error.retry_after(Duration::from_millis(1_500)).into())
}

/// Uses an extractor that isn't ours and answers in plain text.
async fn foreign(_: axum::extract::Query<Search>) {}

/// Stores what is said, and answers with its key. Whoever says `wrong` is refused afterwards, and who
/// says `much` gets a long answer.
async fn make_mark(Ctx(ctx): Ctx, said: String) -> ApiResult<impl IntoResponse> {
    let id = ctx.clock().new_id();
    let sql = "INSERT INTO marks (id, said) VALUES (?, ?)";
    let insert = ctx.database().statement(sql, [id.into(), said.clone().into()]);
    ctx.transact(async |uow| uow.execute(insert).await).await?;
    if said == "wrong" {
        return Err(Error::conflict("that is wrong").into());
    }
    let filler = if said == "much" { "x".repeat(100_000) } else { String::new() };
    let location = [("location", format!("/try/marks/{id}")), ("set-cookie", "a=b".to_owned())];
    Ok((StatusCode::CREATED, location, format!("{id}{filler}")))
}

/// A text that nobody may encode.
async fn kept() -> impl IntoResponse {
    ([("cache-control", "no-store, no-transform")], "a line of text\n".repeat(1_000))
}

/// Stores something, and takes too long for its answer.
async fn change_and_stay(ctx: Ctx) -> ApiResult<StatusCode> {
    make_mark(ctx, "late".to_owned()).await?;
    std::future::pending().await
}

async fn picture() -> impl IntoResponse {
    ([("content-type", "image/png")], vec![7_u8; 20_000])
}

/// How long `/try/pieces` takes between its two pieces.
pub const PAUSE: Duration = Duration::from_millis(50);

async fn pieces() -> Body {
    let pieces = futures::stream::unfold(0, async |number| {
        if number == 1 {
            tokio::time::sleep(PAUSE).await;
        }
        (number < 2).then(|| (Ok::<_, std::io::Error>("a piece"), number + 1))
    });
    Body::from_stream(pieces)
}

/// The application, with its router.
pub struct Fixture {
    pub app: App,
    pub clock: Clock,
    pub database: Database,
    pub host: Host,
    pub gate: Arc<Gate>,
    _throw_away: ThrowAwayDatabase,
}

impl Fixture {
    pub async fn start(backend: Backend) -> Self {
        Self::with_settings(backend, &[]).await
    }

    /// The application with settings such as `--Svc:Http:Compression=false`, on any free port.
    pub async fn with_settings(backend: Backend, arguments: &[&str]) -> Self {
        let mut arguments = arguments.to_vec();
        arguments.push("--Svc:Http:Listen=127.0.0.1:0");
        Self::with_arguments(backend, &arguments).await
    }

    /// The application with exactly these settings.
    pub async fn with_arguments(backend: Backend, arguments: &[&str]) -> Self {
        let throw_away = ThrowAwayDatabase::empty(backend).await;
        let gate = Arc::<Gate>::default();
        let mut assembly = Registry::assemble(vec![
            Box::new(DataModule),
            Box::new(EventsModule),
            Box::new(SettingsModule),
            Box::new(MessagesModule),
            Box::new(HttpModule),
            Box::new(Shelf(Arc::clone(&gate))),
        ])
        .unwrap();
        let url = format!("--Svc:Database:Url={}", throw_away.url());
        let key = format!("--Svc:DataProtection:Keys:0={KEY}");
        let arguments = arguments.iter().map(ToString::to_string).chain([url, key]).collect();
        let mut settings = Settings::load(&LoadOptions { arguments, ..LoadOptions::default() });
        settings.declare_all(assembly.sections().iter().copied());
        let clock = Clock::manual(datetime!(2026-11-20 12:00 UTC));
        let app = App::new("shelf", clock.clone(), settings.finish().unwrap());
        let data = svc_data::Prepared::from_assembly(&mut assembly);
        let mut http = svc_http::PreparedHost::from_assembly(&mut assembly);
        let database = data.connect(&app).await.unwrap();
        data.migrate(&app, &database).await.unwrap();
        data.provide(&app, database.clone());
        http.provide(&app);
        assembly.build(&app).await.unwrap();
        let host = http.build(&app, "1.2.3").unwrap();
        Self { app, clock, database, host, gate, _throw_away: throw_away }
    }

    /// How many marks were made.
    pub async fn marks(&self) -> usize {
        let all = self.database.statement("SELECT id FROM marks", []);
        self.database.rows(all).await.unwrap().len()
    }

    /// A person of an organisation, for what is asked without HTTP.
    pub fn person(&self, organisation: u128) -> Context {
        let organisation = OrganisationId(Uuid::from_u128(organisation));
        let user = UserId(Uuid::from_u128(9));
        let person = Principal::user(user, "Max", organisation, PermissionSet::default());
        Context::new(&self.app, Arc::new(person), Uuid::from_u128(9)).unwrap()
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(Call::get(path)).await
    }

    /// Sends a request, and answers before the body was read.
    pub async fn begin(&self, call: Call) -> Response<Body> {
        self.host.router().oneshot(call.request()).await.unwrap()
    }

    pub async fn send(&self, call: Call) -> Answer {
        let response = self.begin(call).await;
        let (parts, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Answer { status: parts.status.as_u16(), headers: parts.headers, body: body.into() }
    }
}

/// A request.
pub struct Call {
    method: Method,
    path: String,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
}

impl Call {
    pub fn new(method: Method, path: &str) -> Self {
        Self { method, path: path.to_owned(), headers: Vec::new(), body: Vec::new() }
    }

    pub fn get(path: &str) -> Self {
        Self::new(Method::GET, path)
    }

    /// A POST of a text as JSON.
    pub fn post(path: &str, body: impl Into<Vec<u8>>) -> Self {
        Self::new(Method::POST, path).json(body)
    }

    pub fn json(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self.header("content-type", "application/json")
    }

    pub fn text(mut self, body: &str) -> Self {
        self.body = body.into();
        self.header("content-type", "text/plain")
    }

    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| *known != name);
        self
    }

    /// Signs the caller in.
    pub fn by(self, token: &str) -> Self {
        self.header("authorization", token)
    }

    fn request(self) -> Request<Body> {
        let mut request = Request::builder().method(self.method).uri(self.path);
        for (name, value) in self.headers {
            request = request.header(name, value);
        }
        request.body(Body::from(self.body)).unwrap()
    }
}

/// An answer, read to its end.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Answer {
    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.text());
        self
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// Insists on a problem of a status, and gives its `detail` and `errors`.
    #[track_caller]
    pub fn problem(&self, status: u16) -> (String, Value) {
        assert_eq!(self.status, status, "{}", self.text());
        assert_eq!(self.header("content-type"), "application/problem+json");
        let body = self.json();
        assert_eq!(body["status"], status);
        let code = body["code"].as_str().unwrap();
        assert_eq!(body["type"], format!("/docs/errors#{code}"));
        assert!(!body["title"].as_str().unwrap().is_empty());
        assert_eq!(body["traceId"].as_str().unwrap().len(), 32);
        assert!(body["instance"].as_str().unwrap().starts_with('/'));
        (body["detail"].as_str().unwrap().to_owned(), body["errors"].clone())
    }
}
