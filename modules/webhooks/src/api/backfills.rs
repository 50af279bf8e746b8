use axum::Json;
use http::StatusCode;
use serde::Deserialize;
use svc_http::{ApiJson, ApiPath, ApiResult, Listing, May, Page};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::model::backfill::Backfill;
use crate::permissions::Manage;
use crate::service::Service;

/// Which records to tell.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = NewWebhookBackfill)]
pub(crate) struct NewBackfillBody {
    /// The set, by its name or as in its event types.
    set: String,
}

/// Tells the endpoint all records of a set as they are, each as `<set>.snapshot`.
///
/// A background job queues them as the endpoint's owner sees them, whether the endpoint lists the type or
/// not, behind what is new. Where it is under way for the set already, that one is answered with.
#[utoipa::path(
    post,
    path = "/webhooks/{id}/backfills",
    tag = "webhooks",
    params(("id" = Uuid, Path, description = "The endpoint.")),
    request_body = NewBackfillBody,
    responses(
        (status = 202, description = "The one that is under way.", body = Backfill),
        (status = 409, description = "The endpoint's owner is gone."),
    ),
)]
pub(crate) async fn backfill_webhook(
    May { ctx, .. }: May<Manage>,
    ApiPath(id): ApiPath<Uuid>,
    ApiJson(body): ApiJson<NewBackfillBody>,
) -> ApiResult<(StatusCode, Json<Backfill>)> {
    let begun = Service::of(&ctx)?.begin_backfill(&ctx, id, &body.set).await?;
    Ok((StatusCode::ACCEPTED, Json(begun)))
}

/// Lists the sets that the endpoint was told, or is, the newest first.
#[utoipa::path(
    get,
    path = "/webhooks/{id}/backfills",
    tag = "webhooks",
    params(("id" = Uuid, Path, description = "The endpoint."), Page),
    responses((status = 200, description = "How far each is.", body = Listing<Backfill>)),
)]
pub(crate) async fn list_webhook_backfills(
    May { ctx, .. }: May<Manage>,
    ApiPath(id): ApiPath<Uuid>,
    page: Page,
) -> ApiResult<Json<Listing<Backfill>>> {
    let found = Service::of(&ctx)?.backfills(&ctx, id, page.cursor()?, page.limit()).await?;
    Ok(Json(page.list(found, |one| one.id)))
}

/// Tells no more records of it.
///
/// What waits already is sent; `POST /webhooks/{id}/cancel` cancels that, too.
#[utoipa::path(
    post,
    path = "/webhooks/{id}/backfills/{backfillId}/cancel",
    tag = "webhooks",
    params(
        ("id" = Uuid, Path, description = "The endpoint."),
        ("backfillId" = Uuid, Path, description = "What is told."),
    ),
    responses(
        (status = 200, description = "How far it was.", body = Backfill),
        (status = 409, description = "It has ended."),
    ),
)]
pub(crate) async fn cancel_webhook_backfill(
    May { ctx, .. }: May<Manage>,
    ApiPath((id, backfill)): ApiPath<(Uuid, Uuid)>,
) -> ApiResult<Json<Backfill>> {
    Ok(Json(Service::of(&ctx)?.cancel_backfill(&ctx, id, backfill).await?))
}
