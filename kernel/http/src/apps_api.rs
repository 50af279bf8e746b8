//! `GET /api/v1/apps`: the apps of the desktop that a person may use, and their badges.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use futures::future::join_all;
use http::header::{CACHE_CONTROL, VARY};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;

use crate::apps::{BadgeSource, WebApp};
use crate::authentication::Ctx;
use crate::messages_api::InLanguage;
use crate::problem::ApiResult;
use crate::routes;
use crate::state::HttpState;

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
        integrity: apps.hash(app.entry),
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
