//! Web apps: what a module puts on the desktop of whoever may use it.
//!
//! A module says with `registry.web_app(…)` what there is; `GET /api/v1/apps` answers with those of the person who calls, as a
//! manifest that the desktop loads (`Shell.loadRemote('/api/v1/apps')`), in the person's language and with the hashes of the
//! modules' scripts. What an app shows is protected by its routes; the manifest only leaves out what would be refused.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::future::join_all;
use http::header::{CACHE_CONTROL, VARY};
use serde::Serialize;
use sha2::{Digest as _, Sha384};
use svc_core::{Registry, Result};
use svc_data::Context;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;

use crate::authentication::Ctx;
use crate::files::StaticFiles;
use crate::kinds;
use crate::messages_api::InLanguage;
use crate::problem::ApiResult;
use crate::routes;
use crate::state::HttpState;

/// An app for the desktop in the browser.
///
/// ```
/// use svc_http::WebApp;
///
/// let app = WebApp::new("library.loans", "library-loans", "/library/app.js")
///     .icon("books.svg")
///     .group("library-title")
///     .needs("Loans.View");
/// # let _ = app;
/// ```
#[derive(Clone)]
pub struct WebApp {
    id: &'static str,
    title: &'static str,
    entry: &'static str,
    export: Option<&'static str>,
    icon: &'static str,
    group: Option<&'static str>,
    permissions: Vec<&'static str>,
    size: Option<(u16, u16)>,
    is_single: bool,
    badge: Option<Arc<dyn BadgeSource>>,
}

impl WebApp {
    /// An app by its id (`webhooks.endpoints`), the id of the text that is its title, and the address of the script that
    /// shows it. A script of `registry.static_files(…)` is listed with its hash.
    #[must_use]
    pub fn new(id: &'static str, title: &'static str, entry: &'static str) -> Self {
        Self {
            id,
            title,
            entry,
            export: None,
            icon: "app.svg",
            group: None,
            permissions: Vec::new(),
            size: None,
            is_single: false,
            badge: None,
        }
    }

    /// Sets the picture: a file among the desktop's icons, or an address.
    #[must_use]
    pub fn icon(self, icon: &'static str) -> Self {
        Self { icon, ..self }
    }

    /// Names what the script exports for this app, where one script shows several.
    #[must_use]
    pub fn export(self, name: &'static str) -> Self {
        Self { export: Some(name), ..self }
    }

    /// Sets the group in the start menu, by the id of a text.
    #[must_use]
    pub fn group(self, title: &'static str) -> Self {
        Self { group: Some(title), ..self }
    }

    /// Shows the app only to those who hold a permission; several are all needed.
    #[must_use]
    pub fn needs(mut self, permission: &'static str) -> Self {
        self.permissions.push(permission);
        self
    }

    /// Sets the size that the app's window has at first, in CSS pixels.
    #[must_use]
    pub fn size(self, width: u16, height: u16) -> Self {
        Self { size: Some((width, height)), ..self }
    }

    /// Lets the app have one window only.
    #[must_use]
    pub fn single(self) -> Self {
        Self { is_single: true, ..self }
    }

    /// Gives the app a badge, such as the number of what waits for the person.
    #[must_use]
    pub fn badge(self, source: Arc<dyn BadgeSource>) -> Self {
        Self { badge: Some(source), ..self }
    }

    /// Whether somebody may use it.
    fn is_for(&self, ctx: &Context) -> bool {
        self.permissions.iter().all(|permission| ctx.principal().can(permission))
    }
}

/// What the badge of an app says to a person.
#[async_trait]
pub trait BadgeSource: Send + Sync + 'static {
    /// The number; zero shows none.
    ///
    /// # Errors
    ///
    /// A fault, which is logged; the app then has no badge.
    async fn count(&self, ctx: &Context) -> Result<u64>;
}

/// What modules have registered.
#[derive(Default)]
pub(crate) struct WebApps {
    apps: Vec<WebApp>,
    /// The hashes of scripts that are part of the program, by their addresses.
    hashes: BTreeMap<&'static str, String>,
}

/// The word for web apps, in a module's `configure`.
pub trait WebAppRegistry {
    /// Adds an app to the desktop.
    fn web_app(&mut self, app: WebApp);
}

impl WebAppRegistry for Registry {
    fn web_app(&mut self, app: WebApp) {
        let detail = match &app.permissions[..] {
            [] => app.title.to_owned(),
            needed => format!("{} (needs {})", app.title, needed.join(", ")),
        };
        self.contribute(kinds::WEB_APP, app.id, detail);
        for permission in &app.permissions {
            self.asks_for_permission(permission, format!("the web app `{}`", app.id));
        }
        if !app.entry.starts_with('/') && !app.entry.starts_with("https://") {
            self.problem(format!(
                "the entry `{}` of the web app `{}` isn't an address; say `/…` or `https://…`",
                app.entry, app.id
            ));
        }
        self.part::<WebApps>().apps.push(app);
    }
}

impl WebApps {
    /// Looks up the hashes of those scripts that are among files of the program. One that is read from the disk may change
    /// at any time, and has none.
    pub(crate) fn with_hashes(mut self, folders: &[(&'static str, StaticFiles)]) -> Self {
        for app in &self.apps {
            let file = folders.iter().find_map(|(prefix, files)| {
                files.content(app.entry.strip_prefix(prefix)?.strip_prefix('/')?)
            });
            if let Some(content) = file {
                let hash = format!("sha384-{}", STANDARD.encode(Sha384::digest(content)));
                self.hashes.insert(app.entry, hash);
            }
        }
        self
    }

    fn of<'a>(&'a self, ctx: &'a Context) -> impl Iterator<Item = &'a WebApp> {
        self.apps.iter().filter(|app| app.is_for(ctx))
    }
}

pub(crate) fn routes() -> OpenApiRouter<HttpState> {
    OpenApiRouter::default().routes(routes!(list_apps)).routes(routes!(list_badges))
}

/// The apps of a person, as the desktop loads them.
#[derive(Serialize, ToSchema)]
struct Manifest<'a> {
    /// The apps that the person may use, in the order of the modules.
    apps: Vec<ManifestApp<'a>>,
}

/// An app of a person.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ManifestApp<'a> {
    /// Its id.
    id: &'static str,
    /// Its title, in the person's language.
    title: String,
    /// A file among the desktop's icons, or an address.
    icon: &'static str,
    /// The address of its script.
    entry: &'a str,
    /// What the script exports for it; absent for what it exports by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    export_name: Option<&'static str>,
    /// The hash of the script.
    #[serde(skip_serializing_if = "Option::is_none")]
    integrity: Option<&'a str>,
    /// Its group in the start menu, in the person's language.
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<String>,
    /// The permissions that it needs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    required_permissions: Vec<&'static str>,
    /// The width of its window at first.
    #[serde(skip_serializing_if = "Option::is_none")]
    width: Option<u16>,
    /// The height of its window at first.
    #[serde(skip_serializing_if = "Option::is_none")]
    height: Option<u16>,
    /// Whether it has one window only.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    single_instance: bool,
}

/// Lists the apps of the desktop that the caller may use.
///
/// The answer is a manifest for the desktop.
#[utoipa::path(
    get,
    path = "/apps",
    tag = "apps",
    responses((status = 200, description = "The apps, in the caller's language.", body = Manifest)),
)]
async fn list_apps(
    Ctx(ctx): Ctx,
    InLanguage(texts): InLanguage,
    State(state): State<HttpState>,
) -> ApiResult<Response> {
    let apps = state.web_apps();
    let listed = |app: &WebApp| ManifestApp {
        id: app.id,
        title: texts.text(app.title),
        icon: app.icon,
        entry: app.entry,
        export_name: app.export,
        integrity: apps.hashes.get(app.entry).map(String::as_str),
        group: app.group.map(|group| texts.text(group)),
        required_permissions: app.permissions.clone(),
        width: app.size.map(|(width, _)| width),
        height: app.size.map(|(_, height)| height),
        single_instance: app.is_single,
    };
    let manifest = Manifest { apps: apps.of(&ctx).map(listed).collect() };
    let headers =
        [(CACHE_CONTROL, "private, no-cache"), (VARY, "accept-language, authorization, cookie")];
    Ok((headers, Json(manifest)).into_response())
}

/// Tells what the badges of the caller's apps say.
///
/// Apps that have none, or show none, are left out.
#[utoipa::path(
    get,
    path = "/apps/badges",
    tag = "apps",
    responses((status = 200, description = "The numbers by the ids of the apps.", body = BTreeMap<String, u64>)),
)]
async fn list_badges(
    Ctx(ctx): Ctx,
    State(state): State<HttpState>,
) -> ApiResult<Json<BTreeMap<&'static str, u64>>> {
    let apps = state.web_apps().of(&ctx);
    let badges = apps.filter_map(|app| Some((app.id, Arc::clone(app.badge.as_ref()?))));
    let count = async |(id, source): (&'static str, Arc<dyn BadgeSource>)| match source
        .count(&ctx)
        .await
    {
        Ok(count) => Some((id, count)),
        Err(error) => {
            tracing::error!(app = id, error = error.report(), "the badge of an app is not known");
            None
        }
    };
    let counts = join_all(badges.map(count)).await;
    Ok(Json(counts.into_iter().flatten().filter(|(_, count)| *count > 0).collect()))
}
