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

use super::deliveries::DeliveryDetailBody;
use super::{JobStartedBody, present};
use crate::Manage;
use crate::retired::{self, Scheme};
use crate::schedule::Schedule;
use crate::service::{EndpointChange, NewEndpoint, Service, Stored};

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

/// An endpoint.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebhookEndpoint)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the endpoint")]
pub(crate) struct EndpointBody {
    /// Its id.
    id: Uuid,
    /// Where deliveries go.
    url: String,
    /// What it is for.
    description: String,
    /// The events it gets: exact names, `<set>.*`, or `*`.
    events: Vec<String>,
    /// Whether deliveries are sent; test events are in any case.
    is_active: bool,
    /// Whether an update's envelope carries `changes` beside `data`.
    includes_changes: bool,
    /// Whether an event of a record tells its key and address (`url`) in place of its data.
    is_thin: bool,
    /// Whether events of one entity are delivered one after the other.
    is_ordered: bool,
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
        let Stored { endpoint, header_names, owner, retired } = stored;
        let schedule = endpoint.schedule();
        let end = |scheme| retired::end(&retired, scheme, now);
        Self {
            events: endpoint.patterns(),
            id: endpoint.id,
            url: endpoint.url,
            description: endpoint.description,
            is_active: endpoint.is_active,
            includes_changes: endpoint.includes_changes,
            is_thin: endpoint.is_thin,
            is_ordered: endpoint.is_ordered,
            max_per_second: endpoint.max_per_second,
            timeout_seconds: schedule.timeout_s,
            retry_delays_seconds: schedule.delays_s,
            expires_after_seconds: schedule.expires_after_s,
            public_key: endpoint.public_key,
            header_names,
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

/// An endpoint to register.
#[derive(Deserialize, ToSchema)]
#[schema(as = NewWebhookEndpoint)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the endpoint")]
pub(crate) struct NewEndpointBody {
    /// Where deliveries go: an absolute https address.
    url: String,
    /// The events it gets: exact names, `<set>.*`, or `*`.
    events: Vec<String>,
    /// What it is for.
    #[serde(default)]
    #[schema(max_length = 500)]
    description: String,
    /// Whether deliveries are sent.
    #[serde(default = "yes")]
    #[schema(default = true)]
    is_active: bool,
    /// A secret of your own: `whsec_` and base64 of 24 to 64 bytes. Without it one is generated.
    #[serde(default)]
    secret: Option<String>,
    /// Whether an update's envelope carries `changes` beside `data`.
    #[serde(default)]
    includes_changes: bool,
    /// Whether an event of a record tells its key and address (`url`) in place of its data.
    #[serde(default)]
    is_thin: bool,
    /// Whether events of one entity are delivered one after the other.
    #[serde(default)]
    is_ordered: bool,
    /// The most requests in a second, over all nodes; without it there is no limit.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 10_000)]
    max_per_second: Option<i32>,
    /// Seconds for one attempt, up to those of `Svc:Webhooks:Timeout`, which hold without it.
    #[serde(default)]
    #[schema(minimum = 1)]
    timeout_seconds: Option<i32>,
    /// Seconds between attempts, so that there is one attempt more; up to 30, each up to
    /// `Svc:Webhooks:MaxRetryDelay`. Without it the settings hold.
    #[serde(default)]
    #[schema(max_items = 30)]
    retry_delays_seconds: Option<Vec<i32>>,
    /// The age of a delivery in seconds at which it is given up, whether it was attempted or not.
    #[serde(default)]
    #[schema(minimum = 60)]
    expires_after_seconds: Option<i32>,
    /// Whether an Ed25519 signature (`v1a`) goes beside `v1`; `publicKey` then verifies it.
    #[serde(default)]
    is_asymmetric: bool,
    /// Headers that are sent besides ours.
    #[serde(default)]
    headers: BTreeMap<String, String>,
}

fn yes() -> bool {
    true
}

/// Reads a field that may be null, and tells that from one that is left out.
#[expect(clippy::option_option, reason = "left out and null are two things in a change")]
fn given<'de, D, T>(deserializer: D) -> Result<Option<Option<T>>, D::Error>
where
    D: serde::Deserializer<'de>,
    T: Deserialize<'de>,
{
    Option::deserialize(deserializer).map(Some)
}

/// What changes; a field that is left out stays as it is. Whoever saves is the owner.
#[derive(Deserialize, ToSchema)]
#[schema(as = WebhookEndpointChange)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EndpointChangeBody {
    /// A new address. At another origin (scheme, host, port) the custom headers go unless `headers`
    /// gives them, and a new secret is made unless `secret` gives one; the previous one ends.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false)]
    url: Option<String>,
    /// The events in place of those it has.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false)]
    events: Option<Vec<String>>,
    /// A new description.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false, max_length = 500)]
    description: Option<String>,
    /// Switches it on or off; switching it on sets `consecutiveFailures` to zero.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false)]
    is_active: Option<bool>,
    /// A secret of your own; the previous one signs for a while longer.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false)]
    secret: Option<String>,
    /// Whether an update's envelope carries `changes` beside `data`.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false)]
    includes_changes: Option<bool>,
    /// Whether an event of a record tells its key and address (`url`) in place of its data.
    /// Counts for new events.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false)]
    is_thin: Option<bool>,
    /// Whether events of one entity are delivered one after the other; counts for new events.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false)]
    is_ordered: Option<bool>,
    /// The most requests in a second, over all nodes; null lifts the limit.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<i32>, minimum = 1, maximum = 10_000)]
    #[expect(clippy::option_option, reason = "left out and null are two things in a change")]
    max_per_second: Option<Option<i32>>,
    /// Seconds for one attempt; null for those of `Svc:Webhooks:Timeout`.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<i32>, minimum = 1)]
    #[expect(clippy::option_option, reason = "left out and null are two things in a change")]
    timeout_seconds: Option<Option<i32>>,
    /// Seconds between attempts, for retries from now on; null for those of the settings.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<Vec<i32>>, max_items = 30)]
    #[expect(clippy::option_option, reason = "left out and null are two things in a change")]
    retry_delays_seconds: Option<Option<Vec<i32>>>,
    /// The age of a delivery in seconds at which it is given up; null for never.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<i32>, minimum = 60)]
    #[expect(clippy::option_option, reason = "left out and null are two things in a change")]
    expires_after_seconds: Option<Option<i32>>,
    /// Whether an Ed25519 signature (`v1a`) goes beside `v1`, with a new key pair.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false)]
    is_asymmetric: Option<bool>,
    /// The headers in place of those it has.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false)]
    headers: Option<BTreeMap<String, String>>,
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
    request_body = NewEndpointBody,
    responses((
        status = 201,
        description = "The endpoint with its secret.",
        body = EndpointWithSecretBody,
        headers(("location" = String, description = "Where the endpoint is.")),
    )),
)]
pub(crate) async fn create_webhook(
    May { ctx, .. }: May<Manage>,
    ApiJson(body): ApiJson<NewEndpointBody>,
) -> ApiResult<impl IntoResponse> {
    let new = NewEndpoint {
        url: body.url,
        events: body.events,
        description: body.description,
        is_active: body.is_active,
        secret: body.secret,
        includes_changes: body.includes_changes,
        is_thin: body.is_thin,
        is_ordered: body.is_ordered,
        max_per_second: body.max_per_second,
        schedule: Schedule {
            timeout_s: body.timeout_seconds,
            expires_after_s: body.expires_after_seconds,
            delays_s: body.retry_delays_seconds,
        },
        is_asymmetric: body.is_asymmetric,
        headers: body.headers,
    };
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
    request_body = EndpointChangeBody,
    responses((status = 200, description = "The endpoint.", body = EndpointBody)),
)]
pub(crate) async fn change_webhook(
    May { ctx, .. }: May<Manage>,
    ApiPath(id): ApiPath<Uuid>,
    ApiJson(body): ApiJson<EndpointChangeBody>,
) -> ApiResult<Json<EndpointBody>> {
    let change = EndpointChange {
        url: body.url,
        events: body.events,
        description: body.description,
        is_active: body.is_active,
        secret: body.secret,
        includes_changes: body.includes_changes,
        is_thin: body.is_thin,
        is_ordered: body.is_ordered,
        max_per_second: body.max_per_second,
        timeout_s: body.timeout_seconds,
        expires_after_s: body.expires_after_seconds,
        delays_s: body.retry_delays_seconds,
        is_asymmetric: body.is_asymmetric,
        headers: body.headers,
    };
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
    responses((status = 202, description = "The delivery.", body = DeliveryDetailBody)),
)]
pub(crate) async fn test_webhook(
    May { ctx, .. }: May<Manage>,
    ApiPath(id): ApiPath<Uuid>,
    ApiQuery(query): ApiQuery<TestQuery>,
) -> ApiResult<(StatusCode, Json<DeliveryDetailBody>)> {
    let service = Service::of(&ctx)?;
    let detail = service.send_test(&ctx, id, query.event_type.as_deref()).await?;
    Ok((StatusCode::ACCEPTED, Json(DeliveryDetailBody::new(detail, &service))))
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
