//! An application with the module `identity` and a module that has permissions to give.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::BodyExt as _;
use serde_json::Value as Json;
use svc_client::ClientModule;
use svc_core::settings::{LoadOptions, SettingsBuilder};
use svc_core::{App, Clock, Module, OrganisationId, PermissionCatalogue, Registry, Result, UserId};
use svc_data::{Context, DataModule, DataRegistry as _};
use svc_database::{Backend, Database};
use svc_events::EventsModule;
use svc_http::{HttpModule, OpenApiDocument};
use svc_identity::users::NewUser;
use svc_identity::{Identity, RoleId, api_keys, organisations, roles, users};
use svc_jobs::JobsModule;
use svc_messages::MessagesModule;
use svc_settings::SettingsModule;
use svc_testing::ThrowAwayDatabase;
use time::macros::datetime;
use tower::ServiceExt as _;

/// The key of the set-up, as an operator chooses it.
pub(crate) const SETUP_KEY: &str = "svck_chosen.by-the~operator_of+this/shop";
pub(crate) const PASSWORD: &str = "correct horse battery";

/// The settings of a complete set-up.
pub(crate) const SET_UP: [&str; 4] = [
    "--Svc:Setup:Organisation=Example Ltd",
    "--Svc:Setup:AdminEmail=Ada@Example.com",
    "--Svc:Setup:AdminPassword=correct horse battery",
    "--Svc:Setup:ApiKey=svck_chosen.by-the~operator_of+this/shop",
];

/// Has permissions that roles can hold.
pub(crate) struct Shop;

impl Module for Shop {
    fn configure(&self, registry: &mut Registry) {
        registry.permission("Orders.View", "See orders");
        registry.permission("Products.Update", "Change products");
        registry.permission("Products.View", "See products");
    }
}

pub(crate) struct TestApp {
    pub(crate) app: App,
    router: Router,
}

/// An empty database with the schema of the application.
pub(crate) async fn database(backend: Backend) -> ThrowAwayDatabase {
    let clock = clock();
    let mut assembly = assemble();
    let prepared = svc_data::Prepared::from_assembly(&mut assembly);
    let fingerprint = prepared.migrations().fingerprint();
    let migrate = async |url: &str| {
        let database =
            Database::connect(url, &svc_database::DatabaseSettings::default()).await.unwrap();
        prepared.migrations().apply(&database, &clock).await.unwrap();
        database.close().await;
    };
    ThrowAwayDatabase::from_template(backend, &fingerprint, migrate).await
}

pub(crate) fn clock() -> Clock {
    Clock::manual(datetime!(2026-11-20 12:00 UTC))
}

fn assemble() -> svc_core::Assembly {
    let modules: Vec<Box<dyn Module>> = vec![
        Box::new(DataModule),
        Box::new(ClientModule),
        Box::new(EventsModule),
        Box::new(JobsModule),
        Box::new(SettingsModule),
        Box::new(MessagesModule),
        Box::new(HttpModule),
        Box::new(Identity),
        Box::new(Shop),
    ];
    Registry::assemble(modules).unwrap()
}

impl TestApp {
    /// A node on a database, which starts as a real one does.
    pub(crate) async fn start(
        database: &ThrowAwayDatabase,
        clock: &Clock,
        arguments: &[&str],
    ) -> Result<Self> {
        Self::start_in(None, database, clock, arguments).await
    }

    /// The same in an environment (`SVC_ENVIRONMENT`).
    pub(crate) async fn start_in(
        environment: Option<&str>,
        database: &ThrowAwayDatabase,
        clock: &Clock,
        arguments: &[&str],
    ) -> Result<Self> {
        let mut assembly = assemble();
        let url = format!("--Svc:Database:Url={}", database.url());
        // Secrets need a key; without one, each start would look for a file.
        let key =
            "--Svc:DataProtection:Keys:0=AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=".to_owned();
        let arguments = [url, key].into_iter().chain(arguments.iter().map(ToString::to_string));
        let options = LoadOptions {
            environment: environment.map(str::to_owned),
            arguments: arguments.collect(),
            ..LoadOptions::default()
        };
        let mut settings = SettingsBuilder::load(&options);
        settings.declare_all(assembly.sections().iter().copied());
        let settings = settings.finish();
        let settings = settings.map_err(|error| svc_core::Error::invalid(error.to_string()))?;
        let app = App::new("test", clock.clone(), settings);
        app.provide(Arc::new(PermissionCatalogue::of(&assembly)));
        let data = svc_data::Prepared::from_assembly(&mut assembly);
        let connected = data.connect(&app).await?;
        data.migrate(&app, &connected).await?;
        data.provide(&app, connected);
        let mut http = svc_http::PreparedHost::from_assembly(&mut assembly);
        http.provide(&app);
        assembly.build(&app).await?;
        let router = http.build(&app, "1.0.0")?.router();
        Ok(Self { app, router })
    }

    /// A node on an empty database.
    pub(crate) async fn empty(backend: Backend) -> (Self, ThrowAwayDatabase) {
        let database = database(backend).await;
        (Self::start(&database, &clock(), &[]).await.unwrap(), database)
    }

    /// A node on a database that its start has set up.
    pub(crate) async fn set_up(backend: Backend) -> (Self, ThrowAwayDatabase) {
        let database = database(backend).await;
        (Self::start(&database, &clock(), &SET_UP).await.unwrap(), database)
    }

    pub(crate) fn advance(&self, by: Duration) {
        self.app.clock().advance(by);
    }

    pub(crate) fn document(&self) -> Json {
        let document = self.app.service::<OpenApiDocument>().unwrap();
        serde_json::from_str(document.to_json()).unwrap()
    }

    /// Another organisation, without people.
    pub(crate) async fn organisation(&self, name: &str) -> OrganisationId {
        organisations::create(&Context::system(&self.app).unwrap(), name).await.unwrap()
    }

    /// The organisation that the set-up made.
    pub(crate) async fn first_organisation(&self) -> OrganisationId {
        let me = self.get("/me", SETUP_KEY).await.ok();
        OrganisationId(me["organisation"]["id"].as_str().unwrap().parse().unwrap())
    }

    pub(crate) fn within(&self, organisation: OrganisationId) -> Context {
        Context::system_in(&self.app, organisation).unwrap()
    }

    /// A role with these permissions.
    pub(crate) async fn role(&self, organisation: OrganisationId, permissions: &[&str]) -> RoleId {
        let new = roles::NewRole {
            name: format!("Role of {}", permissions.join(" ")),
            description: String::new(),
            permissions: names(permissions),
        };
        roles::create(&self.within(organisation), new).await.unwrap()
    }

    /// A person with these roles, without a password.
    pub(crate) async fn person(
        &self,
        organisation: OrganisationId,
        name: &str,
        roles: &[RoleId],
    ) -> UserId {
        let new = NewUser {
            email: format!("{}@example.com", name.to_lowercase()),
            display_name: name.to_owned(),
            roles: roles.iter().copied().collect(),
            ..NewUser::default()
        };
        users::create(&self.within(organisation), new).await.unwrap()
    }

    /// A key of a person, limited to `scope` where there is one.
    pub(crate) async fn key(
        &self,
        organisation: OrganisationId,
        user: UserId,
        scope: Option<&[&str]>,
    ) -> String {
        let new = api_keys::NewApiKey {
            name: "Test".to_owned(),
            scope: scope.map(names),
            expires_at: None,
        };
        let created = api_keys::create(&self.within(organisation), user, new).await.unwrap();
        created.1.expose().to_owned()
    }

    pub(crate) async fn administrator(&self, organisation: OrganisationId, name: &str) -> UserId {
        let role = roles::administrator(&self.within(organisation)).await.unwrap();
        self.person(organisation, name, &[role]).await
    }

    pub(crate) async fn get(&self, path: &str, key: &str) -> Answer {
        self.call("GET", path, Some(key), None).await
    }

    pub(crate) async fn post(&self, path: &str, key: &str, body: Json) -> Answer {
        self.call("POST", path, Some(key), Some(body)).await
    }

    pub(crate) async fn put(&self, path: &str, key: &str, body: Json) -> Answer {
        self.call("PUT", path, Some(key), Some(body)).await
    }

    pub(crate) async fn delete(&self, path: &str, key: &str) -> Answer {
        self.call("DELETE", path, Some(key), None).await
    }

    /// Sends a request as it is.
    pub(crate) async fn send(&self, request: Request<Body>) -> Response<Body> {
        self.router.clone().oneshot(request).await.unwrap()
    }

    /// Calls a route below `/api/v1/identity`, or one whose whole address begins with `/api/`.
    pub(crate) async fn call(
        &self,
        method: &str,
        path: &str,
        key: Option<&str>,
        body: Option<Json>,
    ) -> Answer {
        let prefix = if path.starts_with("/api/") { "" } else { "/api/v1/identity" };
        let mut request = Request::builder().method(method).uri(format!("{prefix}{path}"));
        if let Some(key) = key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        let body = match body {
            Some(json) => {
                request = request.header("content-type", "application/json");
                Body::from(json.to_string())
            }
            None => Body::empty(),
        };
        let response = self.send(request.body(body).unwrap()).await;
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        let body =
            if bytes.is_empty() { Json::Null } else { serde_json::from_slice(&bytes).unwrap() };
        Answer { status: parts.status, headers: parts.headers, body }
    }
}

/// An answer with its body, null where it has none.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Json,
}

impl Answer {
    /// The body of an answer that must be a success.
    #[track_caller]
    pub(crate) fn ok(self) -> Json {
        assert!(self.status.is_success(), "{self:?}");
        self.body
    }

    /// The detail of an answer that must have this status.
    #[track_caller]
    pub(crate) fn refused(&self, status: u16) -> &str {
        assert_eq!(self.status.as_u16(), status, "{self:?}");
        self.body["detail"].as_str().unwrap()
    }

    /// The message about a field of a body that must be invalid.
    #[track_caller]
    pub(crate) fn field(&self, field: &str) -> &str {
        self.refused(422);
        self.body["errors"][field][0].as_str().unwrap_or_else(|| panic!("{self:?}"))
    }
}

pub(crate) fn names(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(ToString::to_string).collect()
}
