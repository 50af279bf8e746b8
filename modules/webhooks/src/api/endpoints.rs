use axum::Json;
use axum::response::IntoResponse;
use http::StatusCode;
use http::header::{CACHE_CONTROL, LOCATION};
use serde::{Deserialize, Serialize};
use svc_http::{ApiJson, ApiPath, ApiQuery, ApiResult, Listing, May, Page};
use time::OffsetDateTime;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::job_started::JobStartedBody;
use crate::input::{EndpointChange, NewEndpoint};
use crate::model::delivery::DeliveryDetail;
use crate::permissions::Manage;
use crate::service::Service;
use crate::service::shown::EndpointShown;

/// An endpoint with its secret.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebhookEndpointWithSecret)]
pub(crate) struct EndpointWithSecretBody {
    #[serde(flatten)]
    endpoint: EndpointShown,
    /// What signs deliveries: `whsec_` and base64.
    secret: String,
}

/// A signing secret.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebhookSecret)]
pub(crate) struct SecretBody {
    /// What signs deliveries: `whsec_` and base64.
    secret: String,
}

/// From when on to recover.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = WebhookRecovery)]
pub(crate) struct RecoveryBody {
    /// What was missed from this time on is sent, as far back as the log goes.
    #[serde(with = "time::serde::rfc3339")]
    since: OffsetDateTime,
}

/// Lists the endpoints of the organisation.
#[utoipa::path(
    get,
    path = "/webhooks",
    tag = "webhooks",
    params(Page),
    responses((status = 200, description = "The endpoints.", body = Listing<EndpointShown>)),
)]
pub(crate) async fn list_webhooks(
    May { ctx, .. }: May<Manage>,
    page: Page,
) -> ApiResult<Json<Listing<EndpointShown>>> {
    Ok(Json(Service::of(&ctx)?.list(&ctx, &page).await?))
}

/// Registers an endpoint.
///
/// The answer carries the secret; later it can be read with `GET /webhooks/{id}/secret`.
#[utoipa::path(
    post,
    path = "/webhooks",
    tag = "webhooks",
    request_body = NewEndpoint,
    responses((
        status = 201,
        description = "The endpoint with its secret.",
        body = EndpointWithSecretBody,
        headers(("location" = String, description = "Where the endpoint is.")),
    )),
)]
pub(crate) async fn create_webhook(
    May { ctx, .. }: May<Manage>,
    ApiJson(new): ApiJson<NewEndpoint>,
) -> ApiResult<impl IntoResponse> {
    let (endpoint, secret) = Service::of(&ctx)?.create(&ctx, new).await?;
    let location = format!("/api/v1/webhooks/{}", endpoint.id);
    let answer = EndpointWithSecretBody { endpoint, secret: secret.to_string() };
    let headers = [(LOCATION, location), (CACHE_CONTROL, "no-store".to_owned())];
    Ok((StatusCode::CREATED, headers, Json(answer)))
}

/// Reads an endpoint.
#[utoipa::path(
    get,
    path = "/webhooks/{id}",
    tag = "webhooks",
    params(("id" = Uuid, Path, description = "The endpoint.")),
    responses((status = 200, description = "The endpoint.", body = EndpointShown)),
)]
pub(crate) async fn get_webhook(
    May { ctx, .. }: May<Manage>,
    ApiPath(id): ApiPath<Uuid>,
) -> ApiResult<Json<EndpointShown>> {
    Ok(Json(Service::of(&ctx)?.endpoint(&ctx, id).await?))
}

/// Changes an endpoint.
///
/// Only the fields that are sent change. Whoever changes an endpoint is its owner from then on.
#[utoipa::path(
    put,
    path = "/webhooks/{id}",
    tag = "webhooks",
    params(("id" = Uuid, Path, description = "The endpoint.")),
    request_body = EndpointChange,
    responses((status = 200, description = "The endpoint.", body = EndpointShown)),
)]
pub(crate) async fn change_webhook(
    May { ctx, .. }: May<Manage>,
    ApiPath(id): ApiPath<Uuid>,
    ApiJson(change): ApiJson<EndpointChange>,
) -> ApiResult<Json<EndpointShown>> {
    Ok(Json(Service::of(&ctx)?.change(&ctx, id, change).await?))
}

/// Deletes an endpoint with its deliveries.
#[utoipa::path(
    delete,
    path = "/webhooks/{id}",
    tag = "webhooks",
    params(("id" = Uuid, Path, description = "The endpoint.")),
    responses((status = 204, description = "It is gone.")),
)]
pub(crate) async fn delete_webhook(
    May { ctx, .. }: May<Manage>,
    ApiPath(id): ApiPath<Uuid>,
) -> ApiResult<StatusCode> {
    Service::of(&ctx)?.delete(&ctx, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Reads the signing secret.
#[utoipa::path(
    get,
    path = "/webhooks/{id}/secret",
    tag = "webhooks",
    params(("id" = Uuid, Path, description = "The endpoint.")),
    responses((status = 200, description = "The secret.", body = SecretBody)),
)]
pub(crate) async fn get_webhook_secret(
    May { ctx, .. }: May<Manage>,
    ApiPath(id): ApiPath<Uuid>,
) -> ApiResult<impl IntoResponse> {
    let secret = Service::of(&ctx)?.secret(&ctx, id).await?;
    Ok(([(CACHE_CONTROL, "no-store")], Json(SecretBody { secret: secret.to_string() })))
}

/// Makes a new signing secret.
///
/// For `Svc:Webhooks:SecretGracePeriod` deliveries carry a signature of each of both secrets, and of
/// more where it is made anew again meanwhile.
#[utoipa::path(
    post,
    path = "/webhooks/{id}/secret/rotate",
    tag = "webhooks",
    params(("id" = Uuid, Path, description = "The endpoint.")),
    responses((
        status = 200,
        description = "The endpoint with its new secret.",
        body = EndpointWithSecretBody,
    )),
)]
pub(crate) async fn rotate_webhook_secret(
    May { ctx, .. }: May<Manage>,
    ApiPath(id): ApiPath<Uuid>,
) -> ApiResult<impl IntoResponse> {
    let (endpoint, secret) = Service::of(&ctx)?.rotate_secret(&ctx, id).await?;
    let answer = EndpointWithSecretBody { endpoint, secret: secret.to_string() };
    Ok(([(CACHE_CONTROL, "no-store")], Json(answer)))
}

/// Makes a new Ed25519 key pair.
///
/// For `Svc:Webhooks:SecretGracePeriod` deliveries carry a signature of the old one, too.
#[utoipa::path(
    post,
    path = "/webhooks/{id}/key-pair/rotate",
    tag = "webhooks",
    params(("id" = Uuid, Path, description = "The endpoint.")),
    responses(
        (status = 200, description = "The endpoint with its new public key.", body = EndpointShown),
        (status = 409, description = "It has no key pair, or too many that were replaced still sign."),
    ),
)]
pub(crate) async fn rotate_webhook_key_pair(
    May { ctx, .. }: May<Manage>,
    ApiPath(id): ApiPath<Uuid>,
) -> ApiResult<Json<EndpointShown>> {
    Ok(Json(Service::of(&ctx)?.rotate_key_pair(&ctx, id).await?))
}

/// What to send.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct TestQuery {
    /// The event type whose example is sent; without it a `webhook.test`.
    event_type: Option<String>,
}

/// Queues a test event, also when the endpoint is switched off.
///
/// The example of an event type is sent whether the endpoint lists the type or not.
#[utoipa::path(
    post,
    path = "/webhooks/{id}/test",
    tag = "webhooks",
    params(("id" = Uuid, Path, description = "The endpoint."), TestQuery),
    responses(
        (status = 202, description = "The delivery.", body = DeliveryDetail),
        (status = 409, description = "The endpoint's owner is gone."),
    ),
)]
pub(crate) async fn test_webhook(
    May { ctx, .. }: May<Manage>,
    ApiPath(id): ApiPath<Uuid>,
    ApiQuery(query): ApiQuery<TestQuery>,
) -> ApiResult<(StatusCode, Json<DeliveryDetail>)> {
    let detail = Service::of(&ctx)?.send_test(&ctx, id, query.event_type.as_deref()).await?;
    Ok((StatusCode::ACCEPTED, Json(detail)))
}

/// Sends what the endpoint missed since a time.
///
/// That is what was not queued while it was switched off, and what failed for good and was not
/// sent again. A background job queues it.
#[utoipa::path(
    post,
    path = "/webhooks/{id}/recover",
    tag = "webhooks",
    params(("id" = Uuid, Path, description = "The endpoint.")),
    request_body = RecoveryBody,
    responses(
        (status = 202, description = "The job.", body = JobStartedBody),
        (status = 409, description = "The endpoint's owner is gone."),
    ),
)]
pub(crate) async fn recover_webhook(
    May { ctx, .. }: May<Manage>,
    ApiPath(id): ApiPath<Uuid>,
    ApiJson(body): ApiJson<RecoveryBody>,
) -> ApiResult<(StatusCode, Json<JobStartedBody>)> {
    let job = Service::of(&ctx)?.recover(&ctx, id, body.since).await?;
    Ok((StatusCode::ACCEPTED, Json(JobStartedBody::new(job))))
}

/// Cancels all deliveries to the endpoint that wait.
///
/// What was made before the call is cancelled by a background job, step by step; from the answer on
/// no request of it begins on this node, and within a moment on none. What was on its way may arrive. All can be
/// redelivered.
#[utoipa::path(
    post,
    path = "/webhooks/{id}/cancel",
    tag = "webhooks",
    params(("id" = Uuid, Path, description = "The endpoint.")),
    responses((status = 202, description = "The job.", body = JobStartedBody)),
)]
pub(crate) async fn cancel_webhook_deliveries(
    May { ctx, .. }: May<Manage>,
    ApiPath(id): ApiPath<Uuid>,
) -> ApiResult<(StatusCode, Json<JobStartedBody>)> {
    let job = Service::of(&ctx)?.cancel_waiting(&ctx, id).await?;
    Ok((StatusCode::ACCEPTED, Json(JobStartedBody::new(job))))
}
