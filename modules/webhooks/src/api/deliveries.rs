use axum::Json;
use http::StatusCode;
use svc_http::{ApiJson, ApiPath, ApiResult, Listing, May, Page, Paged};
use uuid::Uuid;

use super::job_started::JobStartedBody;
use crate::model::delivery::{Delivery, DeliveryDetail};
use crate::permissions::Manage;
use crate::service::Service;
use crate::service::deliveries::DeliveryFilter;
use crate::service::recovery::Selection;

/// Lists deliveries, the newest first.
///
/// With `eventType`, a `statusCode` below 300, or several of `status`, `statusCode`, `eventId` and
/// `entityId` a page looks among 10000 deliveries: it may hold fewer than were asked for, or none,
/// while `next` leads to more. With `eventId` or `entityId` deliveries come by event, the newest first.
#[utoipa::path(
    get,
    path = "/webhooks/deliveries",
    tag = "webhooks",
    params(Page, DeliveryFilter),
    responses(
        (status = 200, description = "The deliveries.", body = Listing<Delivery>),
        (status = 404, description = "There is no such endpoint."),
    ),
)]
pub(crate) async fn list_webhook_deliveries(
    May { ctx, .. }: May<Manage>,
    Paged(page, filter): Paged<DeliveryFilter>,
) -> ApiResult<Json<Listing<Delivery>>> {
    Ok(Json(Service::of(&ctx)?.deliveries(&ctx, &page, filter).await?))
}

/// Reads a delivery with its request and response.
#[utoipa::path(
    get,
    path = "/webhooks/deliveries/{id}",
    tag = "webhooks",
    params(("id" = Uuid, Path, description = "The delivery.")),
    responses((status = 200, description = "The delivery.", body = DeliveryDetail)),
)]
pub(crate) async fn get_webhook_delivery(
    May { ctx, .. }: May<Manage>,
    ApiPath(id): ApiPath<Uuid>,
) -> ApiResult<Json<DeliveryDetail>> {
    Ok(Json(Service::of(&ctx)?.delivery(&ctx, id).await?))
}

/// Sends many deliveries again, each as a new one.
///
/// A background job queues them. What was sent again already is left out, and so is what was made to send another
/// again, unless it failed or was cancelled.
#[utoipa::path(
    post,
    path = "/webhooks/deliveries/redeliver",
    tag = "webhooks",
    request_body = Selection,
    responses(
        (status = 202, description = "The job.", body = JobStartedBody),
        (status = 404, description = "There is no such endpoint."),
        (status = 409, description = "The endpoint's owner is gone."),
    ),
)]
pub(crate) async fn redeliver_webhook_deliveries(
    May { ctx, .. }: May<Manage>,
    ApiJson(what): ApiJson<Selection>,
) -> ApiResult<(StatusCode, Json<JobStartedBody>)> {
    let job = Service::of(&ctx)?.redeliver_many(&ctx, what).await?;
    Ok((StatusCode::ACCEPTED, Json(JobStartedBody::new(job))))
}

/// Sends a delivery again.
///
/// The same body goes out under the same event id, as a new delivery.
#[utoipa::path(
    post,
    path = "/webhooks/deliveries/{id}/redeliver",
    tag = "webhooks",
    params(("id" = Uuid, Path, description = "The delivery.")),
    responses(
        (status = 202, description = "The new delivery.", body = DeliveryDetail),
        (status = 409, description = "The endpoint's owner is gone."),
    ),
)]
pub(crate) async fn redeliver_webhook_delivery(
    May { ctx, .. }: May<Manage>,
    ApiPath(id): ApiPath<Uuid>,
) -> ApiResult<(StatusCode, Json<DeliveryDetail>)> {
    Ok((StatusCode::ACCEPTED, Json(Service::of(&ctx)?.redeliver(&ctx, id).await?)))
}

/// Cancels a delivery that waits.
///
/// It stays in the log, and can be redelivered.
#[utoipa::path(
    post,
    path = "/webhooks/deliveries/{id}/cancel",
    tag = "webhooks",
    params(("id" = Uuid, Path, description = "The delivery.")),
    responses(
        (status = 200, description = "The delivery.", body = DeliveryDetail),
        (status = 409, description = "It has ended, or is being sent at the moment."),
    ),
)]
pub(crate) async fn cancel_webhook_delivery(
    May { ctx, .. }: May<Manage>,
    ApiPath(id): ApiPath<Uuid>,
) -> ApiResult<Json<DeliveryDetail>> {
    Ok(Json(Service::of(&ctx)?.cancel(&ctx, id).await?))
}
