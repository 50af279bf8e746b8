//! What the page asks for when it begins, beside who is there.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use svc_http::{ApiResult, Ctx, HttpState};
use svc_live::tells_changes;
use svc_settings::ApplicationSettings;
use utoipa::ToSchema;

use crate::looks::{Looks, SetLook};

/// How long lists are read.
pub(crate) const PAGE_MODE: &str = "DataTable.DefaultPageMode";

/// What the page goes by.
#[derive(Serialize, ToSchema)]
#[schema(as = WebStart)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Start {
    /// The application's name.
    application: String,
    /// The setting `DataTable.DefaultPageMode`: `EndlessScroll` or `Pager`.
    page_mode: String,
    /// Whether `/docs` and `/openapi/v1.json` are served (`Svc:Http:Reference`).
    has_reference: bool,
    /// The sets whose changes can be heard of at `/api/v1/live`, of those that the caller may see.
    live_sets: Vec<String>,
    /// How the application wants the sets to look that the caller may see.
    looks: BTreeMap<String, SetLook>,
}

/// Tells the web client what it goes by.
#[utoipa::path(
    get,
    path = "/web/start",
    tag = "web",
    responses((status = 200, description = "What holds for the caller.", body = Start)),
)]
pub(crate) async fn begin(Ctx(ctx): Ctx, State(http): State<HttpState>) -> ApiResult<Json<Start>> {
    let settings = ctx.app().service::<ApplicationSettings>()?;
    let page_mode = settings.get(&ctx, PAGE_MODE).await?;
    let served = ctx.catalogue().sets().filter_map(|model| model.set.as_ref());
    let visible = served.filter(|set| ctx.principal().can(&set.permissions.view));
    let visible: Vec<_> = visible.collect();
    let looks = ctx.app().find_service::<Looks>();
    let look_of = |name: &str| looks.as_ref().and_then(|looks| looks.get(name).cloned());
    let heard = visible.iter().filter(|set| tells_changes(set)).map(|set| set.name.clone());
    let looks = visible.iter().filter_map(|set| Some((set.name.clone(), look_of(&set.name)?)));
    Ok(Json(Start {
        application: ctx.app().name().to_owned(),
        page_mode,
        has_reference: http.settings().reference,
        live_sets: heard.collect(),
        looks: looks.collect(),
    }))
}
