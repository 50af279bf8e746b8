use std::collections::BTreeMap;

use axum::Json;
use axum::response::IntoResponse;
use http::StatusCode;
use http::header::{CACHE_CONTROL, LOCATION};
use serde::{Deserialize, Serialize};
use svc_http::{ApiJson, ApiPath, ApiQuery, ApiResult, Listing, May, Page};
use time::OffsetDateTime;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;
use zeroize::Zeroizing;

use super::job_started::JobStartedBody;
use crate::credentials::{ClientCertificate, Credentials, OAuth2};
use crate::input::{EndpointChange, NewEndpoint};
use crate::model::Format;
use crate::model::delivery::DeliveryDetail;
use crate::permissions::Manage;
use crate::retired::{self, Scheme};
use crate::service::Service;
use crate::service::endpoints::Stored;

/// Who owns an endpoint: its rights decide what the endpoint gets.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebhookOwner)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OwnerBody {
    /// The person.
    id: Uuid,
    /// The person's name when the endpoint was saved.
    display_name: String,
    /// The API key that it was saved with; what it gets is limited to what that may read.
    api_key_id: Option<Uuid>,
    /// `here`; `gone`, when the person is disabled or has left; `keyEnded`, when the API key is
    /// revoked or has ended. In both cases nothing is sent, and what is missed is kept: save the
    /// endpoint to become its owner, and recover it.
    standing: &'static str,
}

/// How a token is got that each request carries.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebhookOAuth2Shown)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OAuth2Body {
    /// The token server.
    token_url: String,
    /// As whom, to the token server.
    client_id: String,
    /// The scope that is asked for.
    scope: Option<String>,
    /// Whom the token is for.
    audience: Option<String>,
}

impl From<OAuth2> for OAuth2Body {
    fn from(stored: OAuth2) -> Self {
        let OAuth2 { token_url, client_id, scope, audience, .. } = stored;
        Self { token_url, client_id, scope, audience }
    }
}

/// The certificate that is shown to the receiver.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebhookClientCertificateShown)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ClientCertificateBody {
    /// The SHA-256 digest of the certificate in hexadecimal digits, by which it is told apart.
    fingerprint: Option<String>,
}

impl From<ClientCertificate> for ClientCertificateBody {
    fn from(stored: ClientCertificate) -> Self {
        Self { fingerprint: stored.fingerprint() }
    }
}

/// An endpoint.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebhookEndpoint)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the endpoint")]
pub(crate) struct EndpointBody {
    /// Its id.
    id: Uuid,
    /// Where deliveries go; where they are fetched, of one with `isPolled`.
    url: String,
    /// What it is for.
    description: String,
    /// The events it gets: exact names, `<set>.*`, or `*`.
    events: Vec<String>,
    /// Which of these events: a condition over `data`; none means all.
    filter: Option<String>,
    /// How bodies are written.
    format: Format,
    /// Whether deliveries are sent; test events are in any case.
    is_active: bool,
    /// Whether an update's envelope carries `changes` beside `data`.
    includes_changes: bool,
    /// Whether an event of a record tells its key and address (`url`) in place of its data.
    is_thin: bool,
    /// Whether events of one entity are delivered one after the other.
    is_ordered: bool,
    /// Whether its receiver fetches what it is told, and nothing is sent.
    is_polled: bool,
    /// The most requests in a second, over all nodes; none means no limit.
    max_per_second: Option<i32>,
    /// Seconds for one attempt; none means those of `Svc:Webhooks:Timeout`.
    timeout_seconds: Option<i32>,
    /// Seconds between attempts, so that there is one attempt more; none means the settings'.
    retry_delays_seconds: Option<Vec<i32>>,
    /// The age of a delivery in seconds at which it is given up; none means never.
    expires_after_seconds: Option<i32>,
    /// What verifies the `v1a` signature beside `v1`, `whpk_` and base64; none without one.
    public_key: Option<String>,
    /// The names of the headers that are sent besides ours; their values aren't shown.
    header_names: Vec<String>,
    /// How a token is got that each request carries; none where it carries none.
    oauth2: Option<OAuth2Body>,
    /// The certificate that is shown to the receiver; none where none is.
    client_certificate: Option<ClientCertificateBody>,
    /// Values that are kept with the endpoint and mean nothing to the application.
    metadata: BTreeMap<String, String>,
    /// Who saved it last.
    owner: OwnerBody,
    /// Deliveries that failed for good since the last one that succeeded.
    consecutive_failures: i32,
    /// Why the last of these failed.
    last_error: Option<String>,
    /// Since when it is switched off.
    #[serde(with = "time::serde::rfc3339::option")]
    disabled_at: Option<OffsetDateTime>,
    /// Why it is switched off.
    disabled_reason: Option<String>,
    /// Until when a previous secret signs beside the new one; the last of several.
    #[serde(with = "time::serde::rfc3339::option")]
    previous_secret_expires_at: Option<OffsetDateTime>,
    /// Until when a previous key pair signs beside the new one; the last of several.
    #[serde(with = "time::serde::rfc3339::option")]
    previous_key_pair_expires_at: Option<OffsetDateTime>,
    /// When it was registered.
    #[serde(with = "time::serde::rfc3339")]
    created_at: OffsetDateTime,
    /// When it was last changed.
    #[serde(with = "time::serde::rfc3339")]
    updated_at: OffsetDateTime,
}

impl EndpointBody {
    fn new(stored: Stored, now: OffsetDateTime) -> Self {
        let Stored { endpoint, header_names, credentials, owner, retired } = stored;
        let Credentials { oauth2, client_certificate } = credentials;
        let schedule = endpoint.schedule();
        let end = |scheme| retired::end(&retired, scheme, now);
        Self {
            events: endpoint.patterns(),
            metadata: endpoint.metadata(),
            filter: endpoint.filter,
            format: endpoint.format,
            id: endpoint.id,
            url: endpoint.url,
            description: endpoint.description,
            is_active: endpoint.is_active,
            includes_changes: endpoint.includes_changes,
            is_thin: endpoint.is_thin,
            is_ordered: endpoint.is_ordered,
            is_polled: endpoint.is_polled,
            max_per_second: endpoint.max_per_second,
            timeout_seconds: schedule.timeout_s,
            retry_delays_seconds: schedule.delays_s,
            expires_after_seconds: schedule.expires_after_s,
            public_key: endpoint.public_key,
            header_names,
            oauth2: oauth2.map(OAuth2Body::from),
            client_certificate: client_certificate.map(ClientCertificateBody::from),
            owner: OwnerBody {
                id: endpoint.owner_id,
                display_name: endpoint.owner_name,
                api_key_id: endpoint.owner_key_id,
                standing: owner.as_str(),
            },
            consecutive_failures: endpoint.consecutive_failures,
            last_error: endpoint.last_error,
            disabled_at: endpoint.disabled_at,
            disabled_reason: endpoint.disabled_reason,
            previous_secret_expires_at: end(Scheme::Secret),
            previous_key_pair_expires_at: end(Scheme::KeyPair),
            created_at: endpoint.created_at,
            updated_at: endpoint.updated_at,
        }
    }
}

/// An endpoint with its secret.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebhookEndpointWithSecret)]
pub(crate) struct EndpointWithSecretBody {
    #[serde(flatten)]
    endpoint: EndpointBody,
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
    responses((status = 200, description = "The endpoints.", body = Listing<EndpointBody>)),
)]
pub(crate) async fn list_webhooks(
    May { ctx, .. }: May<Manage>,
    page: Page,
) -> ApiResult<Json<Listing<EndpointBody>>> {
    let listing = Service::of(&ctx)?.list(&ctx, &page).await?;
    let now = ctx.clock().now();
    let items = listing.items.into_iter().map(|stored| EndpointBody::new(stored, now)).collect();
    Ok(Json(Listing { items, next: listing.next }))
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
    let (stored, secret) = Service::of(&ctx)?.create(&ctx, new).await?;
    let location = format!("/api/v1/webhooks/{}", stored.endpoint.id);
    let answer = with_secret(stored, &secret, ctx.clock().now());
    let headers = [(LOCATION, location), (CACHE_CONTROL, "no-store".to_owned())];
    Ok((StatusCode::CREATED, headers, Json(answer)))
}

fn with_secret(
    stored: Stored,
    secret: &Zeroizing<String>,
    now: OffsetDateTime,
) -> EndpointWithSecretBody {
    EndpointWithSecretBody { endpoint: EndpointBody::new(stored, now), secret: secret.to_string() }
}

/// Reads an endpoint.
#[utoipa::path(
    get,
    path = "/webhooks/{id}",
    tag = "webhooks",
    params(("id" = Uuid, Path, description = "The endpoint.")),
    responses((status = 200, description = "The endpoint.", body = EndpointBody)),
)]
pub(crate) async fn get_webhook(
    May { ctx, .. }: May<Manage>,
    ApiPath(id): ApiPath<Uuid>,
) -> ApiResult<Json<EndpointBody>> {
    let stored = Service::of(&ctx)?.endpoint(&ctx, id).await?;
    Ok(Json(EndpointBody::new(stored, ctx.clock().now())))
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
    responses((status = 200, description = "The endpoint.", body = EndpointBody)),
)]
pub(crate) async fn change_webhook(
    May { ctx, .. }: May<Manage>,
    ApiPath(id): ApiPath<Uuid>,
    ApiJson(change): ApiJson<EndpointChange>,
) -> ApiResult<Json<EndpointBody>> {
    let stored = Service::of(&ctx)?.change(&ctx, id, change).await?;
    Ok(Json(EndpointBody::new(stored, ctx.clock().now())))
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
    let (stored, secret) = Service::of(&ctx)?.rotate_secret(&ctx, id).await?;
    let answer = with_secret(stored, &secret, ctx.clock().now());
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
        (status = 200, description = "The endpoint with its new public key.", body = EndpointBody),
        (status = 409, description = "It has no key pair, or too many that were replaced still sign."),
    ),
)]
pub(crate) async fn rotate_webhook_key_pair(
    May { ctx, .. }: May<Manage>,
    ApiPath(id): ApiPath<Uuid>,
) -> ApiResult<Json<EndpointBody>> {
    let stored = Service::of(&ctx)?.rotate_key_pair(&ctx, id).await?;
    Ok(Json(EndpointBody::new(stored, ctx.clock().now())))
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
    responses((status = 202, description = "The delivery.", body = DeliveryDetail)),
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
    responses((status = 202, description = "The job.", body = JobStartedBody)),
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
