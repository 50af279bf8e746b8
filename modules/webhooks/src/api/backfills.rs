use axum::Json;
use http::StatusCode;
use serde::{Deserialize, Serialize};
use svc_http::{ApiJson, ApiPath, ApiResult, Listing, May, Page};
use time::OffsetDateTime;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::model::BackfillState;
use crate::permissions::Manage;
use crate::service::Service;
use crate::store::backfills::Backfill;
use crate::store::moment;

/// Which records to tell.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = NewWebhookBackfill)]
pub(crate) struct NewBackfillBody {
    /// The set, by its name or as in its event types.
    set: String,
}

/// All records of a set, told to an endpoint.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebhookBackfill)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BackfillBody {
    /// Its id.
    id: Uuid,
    /// The name of the set.
    set: String,
    /// Whether it is under way, or how it ended.
    state: BackfillState,
    /// Records that were looked at.
    records: i64,
    /// Deliveries that were made of them: as many, unless the endpoint has a filter.
    queued: i64,
    /// Records that there were at the beginning, as far as the endpoint's owner sees them; none until they
    /// are counted.
    total: Option<i64>,
    /// Why it failed.
    error: Option<String>,
    /// When it was begun.
    #[serde(with = "time::serde::rfc3339")]
    started_at: OffsetDateTime,
    /// When it ended.
    #[serde(with = "time::serde::rfc3339::option")]
    ended_at: Option<OffsetDateTime>,
}

impl From<Backfill> for BackfillBody {
    fn from(stored: Backfill) -> Self {
        Self {
            id: stored.id,
            set: stored.set,
            state: stored.state,
            records: stored.records,
            queued: stored.queued,
            total: stored.total,
            error: stored.error,
            started_at: moment(stored.started_us),
            ended_at: stored.ended_us.map(moment),
        }
    }
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
        (status = 202, description = "The one that is under way.", body = BackfillBody),
        (status = 409, description = "The endpoint's owner is gone."),
    ),
)]
pub(crate) async fn backfill_webhook(
    May { ctx, .. }: May<Manage>,
    ApiPath(id): ApiPath<Uuid>,
    ApiJson(body): ApiJson<NewBackfillBody>,
) -> ApiResult<(StatusCode, Json<BackfillBody>)> {
    let begun = Service::of(&ctx)?.begin_backfill(&ctx, id, &body.set).await?;
    Ok((StatusCode::ACCEPTED, Json(begun.into())))
}

/// Lists the sets that the endpoint was told, or is, the newest first.
#[utoipa::path(
    get,
    path = "/webhooks/{id}/backfills",
    tag = "webhooks",
    params(("id" = Uuid, Path, description = "The endpoint."), Page),
    responses((status = 200, description = "How far each is.", body = Listing<BackfillBody>)),
)]
pub(crate) async fn list_webhook_backfills(
    May { ctx, .. }: May<Manage>,
    ApiPath(id): ApiPath<Uuid>,
    page: Page,
) -> ApiResult<Json<Listing<BackfillBody>>> {
    let found = Service::of(&ctx)?.backfills(&ctx, id, page.cursor()?, page.limit()).await?;
    let items = found.into_iter().map(BackfillBody::from).collect();
    Ok(Json(page.list(items, |one: &BackfillBody| one.id)))
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
        (status = 200, description = "How far it was.", body = BackfillBody),
        (status = 409, description = "It has ended."),
    ),
)]
pub(crate) async fn cancel_webhook_backfill(
    May { ctx, .. }: May<Manage>,
    ApiPath((id, backfill)): ApiPath<(Uuid, Uuid)>,
) -> ApiResult<Json<BackfillBody>> {
    Ok(Json(Service::of(&ctx)?.cancel_backfill(&ctx, id, backfill).await?.into()))
}
