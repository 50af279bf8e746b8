//! `/api/v1/web/views`: views of lists that are shared.

use axum::Json;
use http::StatusCode;
use serde::Serialize;
use serde_json::{Map, Value};
use svc_core::Permission;
use svc_http::{ApiJson, ApiPath, ApiResult, Ctx, May};
use utoipa::ToSchema;

use crate::views::{self, SHARE_VIEWS};

/// [`SHARE_VIEWS`] as a type.
pub(crate) struct ShareViews;

impl Permission for ShareViews {
    const NAME: &'static str = SHARE_VIEWS;
}

/// A view that is shared.
#[derive(Serialize, ToSchema)]
#[schema(as = WebSharedView)]
pub(crate) struct ViewBody {
    /// What people call it.
    name: String,
    /// The state of the list, as whoever shared it saw it.
    state: Value,
}

/// The views of a list.
#[derive(Serialize, ToSchema)]
#[schema(as = WebSharedViews)]
pub(crate) struct ViewsBody {
    /// By name, 100 at most.
    views: Vec<ViewBody>,
}

/// Lists the views of an entity set's list that are shared in the organisation.
#[utoipa::path(
    get,
    path = "/web/views/{set}",
    tag = "web",
    params(("set" = String, Path, description = "The entity set.")),
    responses(
        (status = 200, description = "The views.", body = ViewsBody),
        (status = 404, description = "The caller sees no such set."),
    ),
)]
pub(crate) async fn list_views(
    Ctx(ctx): Ctx,
    ApiPath(set): ApiPath<String>,
) -> ApiResult<Json<ViewsBody>> {
    let views = views::list(&ctx, &set).await?.into_iter();
    let views = views.map(|view| ViewBody { name: view.name, state: view.state }).collect();
    Ok(Json(ViewsBody { views }))
}

/// Shares a view with all who may see the set; one of the same name is replaced.
#[utoipa::path(
    put,
    path = "/web/views/{set}/{name}",
    tag = "web",
    params(
        ("set" = String, Path, description = "The entity set."),
        ("name" = String, Path, description = "What people call the view, up to 80 characters."),
    ),
    request_body = serde_json::Map<String, Value>,
    responses(
        (status = 204, description = "It is shared."),
        (status = 404, description = "The caller sees no such set."),
        (status = 409, description = "As many views of the set are shared as may be."),
        (status = 413, description = "The view is too large."),
    ),
)]
pub(crate) async fn share_view(
    May { ctx, .. }: May<ShareViews>,
    ApiPath((set, name)): ApiPath<(String, String)>,
    ApiJson(state): ApiJson<Map<String, Value>>,
) -> ApiResult<StatusCode> {
    views::share(&ctx, &set, &name, &Value::Object(state)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Stops sharing a view; what people keep for themselves stays.
#[utoipa::path(
    delete,
    path = "/web/views/{set}/{name}",
    tag = "web",
    params(
        ("set" = String, Path, description = "The entity set."),
        ("name" = String, Path, description = "What people call the view."),
    ),
    responses(
        (status = 204, description = "It is shared no more."),
        (status = 404, description = "There is none of this name, or the caller sees no such set."),
    ),
)]
pub(crate) async fn forget_view(
    May { ctx, .. }: May<ShareViews>,
    ApiPath((set, name)): ApiPath<(String, String)>,
) -> ApiResult<StatusCode> {
    views::forget(&ctx, &set, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}
