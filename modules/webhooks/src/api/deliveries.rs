use axum::Json;
use http::StatusCode;
use serde::{Deserialize, Serialize};
use svc_core::{Error, Result};
use svc_data::Context;
use svc_http::{ApiJson, ApiPath, ApiResult, Listing, May, Page, Paged};
use time::OffsetDateTime;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::job_started::JobStartedBody;
use crate::entity::{Entity, MAX_NAME};
use crate::model::Status;
use crate::permissions::Manage;
use crate::schedule::Schedule;
use crate::service::{DeliveryDetail, DeliveryFilter, EarlierAttempt, Selection, Service};
use crate::store::log::Delivery;
use crate::store::log::events::About;

/// Where a delivery stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = WebhookDeliveryStatus)]
#[serde(rename_all = "camelCase")]
pub(crate) enum StatusBody {
    /// Waits for its first attempt, or is being sent.
    Queued,
    /// Waits for another attempt.
    Retrying,
    /// Was answered with a 2xx status.
    Delivered,
    /// Failed for good.
    Failed,
    /// Waited, and is not sent any more because somebody said so.
    Cancelled,
}

impl From<StatusBody> for Status {
    fn from(status: StatusBody) -> Self {
        match status {
            StatusBody::Queued => Self::Queued,
            StatusBody::Retrying => Self::Retrying,
            StatusBody::Delivered => Self::Delivered,
            StatusBody::Failed => Self::Failed,
            StatusBody::Cancelled => Self::Cancelled,
        }
    }
}

/// A delivery of an event to an endpoint.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebhookDelivery)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeliveryBody {
    /// Its id.
    id: Uuid,
    /// The endpoint.
    subscription_id: Uuid,
    /// The endpoint's address.
    url: String,
    /// The event; the same for every attempt and redelivery.
    event_id: Uuid,
    /// The event's type.
    event_type: String,
    /// The set of the entity that the event is about, where it is about one.
    entity_type: Option<String>,
    /// The entity's key.
    entity_id: Option<String>,
    /// When it was queued.
    #[serde(with = "time::serde::rfc3339")]
    time: OffsetDateTime,
    /// `queued`, `retrying`, `delivered`, `failed` or `cancelled`.
    #[schema(value_type = StatusBody)]
    status: &'static str,
    /// The status of the last answer.
    status_code: Option<i16>,
    /// Attempts made.
    attempts: i32,
    /// Attempts at most.
    max_attempts: u32,
    /// When the next attempt is due; none while the endpoint is switched off.
    #[serde(with = "time::serde::rfc3339::option")]
    next_attempt_at: Option<OffsetDateTime>,
    /// How long the last attempt took.
    duration_ms: Option<i32>,
    /// Why the last attempt failed, or who cancelled it.
    error: Option<String>,
    /// The delivery that this one repeats.
    redelivery_of: Option<Uuid>,
}

/// A request or response of an attempt, as the log keeps it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebhookExchange)]
pub(crate) struct ExchangeBody {
    /// Names and values in their order; signatures and custom headers are masked.
    headers: Vec<HeaderBody>,
    /// The first `Svc:Webhooks:LogBodyLimit` characters.
    body: String,
}

/// A header.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebhookHeader)]
pub(crate) struct HeaderBody {
    /// Its name.
    name: String,
    /// Its value.
    value: String,
}

/// An attempt before the last one. The body of its request was the same.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebhookAttempt)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AttemptBody {
    /// The first is 1.
    number: i32,
    /// When it ended.
    #[serde(with = "time::serde::rfc3339::option")]
    ended_at: Option<OffsetDateTime>,
    /// The status of the answer.
    status_code: Option<i16>,
    /// How long it took.
    duration_ms: Option<i32>,
    /// Why it failed.
    error: Option<String>,
    /// The headers that were sent; signatures and custom headers are masked.
    request_headers: Vec<HeaderBody>,
    /// What was answered; none where there was no answer.
    response: Option<ExchangeBody>,
}

/// A delivery with the request and the response of its last attempt, and the attempts before it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebhookDeliveryDetail)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeliveryDetailBody {
    #[serde(flatten)]
    delivery: DeliveryBody,
    /// What was sent.
    request: ExchangeBody,
    /// What was answered; none before there was an answer.
    response: Option<ExchangeBody>,
    /// When the last attempt ended.
    #[serde(with = "time::serde::rfc3339::option")]
    attempted_at: Option<OffsetDateTime>,
    /// The attempts before it, in their order.
    earlier_attempts: Vec<AttemptBody>,
}

impl From<EarlierAttempt> for AttemptBody {
    fn from(earlier: EarlierAttempt) -> Self {
        let body = earlier.response_body.unwrap_or_default();
        let response = earlier.response_headers.map(|headers| ExchangeBody::new(headers, body));
        Self {
            number: earlier.number,
            ended_at: earlier.ended_at,
            status_code: earlier.status_code,
            duration_ms: earlier.duration_ms,
            error: earlier.error,
            request_headers: header_bodies(earlier.request_headers),
            response,
        }
    }
}

impl DeliveryBody {
    fn new(delivery: Delivery, service: &Service) -> Self {
        let schedule = Schedule { delays_s: delivery.delays_s, ..Schedule::default() };
        let (entity_type, entity_id) =
            delivery.entity.map(|Entity { kind, id }| (kind, id)).unzip();
        Self {
            id: delivery.id,
            subscription_id: delivery.endpoint,
            url: delivery.url,
            event_id: delivery.event_id,
            event_type: delivery.event_type,
            entity_type,
            entity_id,
            time: delivery.queued_at,
            status: delivery.status.as_str(),
            status_code: delivery.status_code,
            attempts: delivery.attempts,
            max_attempts: schedule.attempts(service.settings()),
            next_attempt_at: delivery.next_attempt_at,
            duration_ms: delivery.duration_ms,
            error: delivery.error,
            redelivery_of: delivery.redelivery_of,
        }
    }
}

impl ExchangeBody {
    fn new(headers: Vec<(String, String)>, body: String) -> Self {
        Self { headers: header_bodies(headers), body }
    }
}

fn header_bodies(headers: Vec<(String, String)>) -> Vec<HeaderBody> {
    headers.into_iter().map(|(name, value)| HeaderBody { name, value }).collect()
}

impl DeliveryDetailBody {
    pub(super) fn new(detail: DeliveryDetail, service: &Service) -> Self {
        let response = detail
            .response_headers
            .map(|headers| ExchangeBody::new(headers, detail.response_body.unwrap_or_default()));
        Self {
            delivery: DeliveryBody::new(detail.delivery, service),
            request: ExchangeBody::new(detail.request_headers, detail.request_body),
            response,
            attempted_at: detail.attempted_at,
            earlier_attempts: detail.earlier.into_iter().map(AttemptBody::from).collect(),
        }
    }
}

/// Which deliveries to list.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct DeliveryQuery {
    /// Only those to this endpoint.
    subscription_id: Option<Uuid>,
    /// Only those that stand here.
    #[param(value_type = Option<StatusBody>, inline)]
    status: Option<StatusBody>,
    /// Only those of events of this type.
    event_type: Option<String>,
    /// Only those of this event, with all that were sent again.
    event_id: Option<Uuid>,
    /// Only those of events about an entity of this set or type; goes with `entityId`.
    #[param(max_length = 200)]
    entity_type: Option<String>,
    /// Only those of events about the entity with this key; goes with `entityType`.
    #[param(max_length = 200)]
    entity_id: Option<String>,
    /// Only those whose last answer had this status.
    #[param(minimum = 100, maximum = 999)]
    status_code: Option<i16>,
    /// Only those queued from this time on.
    #[serde(with = "time::serde::rfc3339::option")]
    since: Option<OffsetDateTime>,
    /// Only those queued before this time.
    #[serde(with = "time::serde::rfc3339::option")]
    until: Option<OffsetDateTime>,
}

impl DeliveryQuery {
    /// The events that are looked for.
    fn about(&self, ctx: &Context) -> Result<Option<About>> {
        let refuse = |field: &str, why: String| {
            Err(Error::malformed("the query can't be answered").field(field, why))
        };
        let (kind, id) = match (&self.event_id, &self.entity_type, &self.entity_id) {
            (None, None, None) => return Ok(None),
            (Some(event), None, None) => return Ok(Some(About::Event(*event))),
            (None, Some(kind), Some(id)) => (kind, id),
            (Some(_), ..) => {
                return refuse("eventId", "goes without `entityType` and `entityId`".to_owned());
            }
            (None, Some(_), None) => {
                return refuse("entityType", "goes with `entityId`".to_owned());
            }
            (None, None, Some(_)) => {
                return refuse("entityId", "goes with `entityType`".to_owned());
            }
        };
        for (field, given) in [("entityType", kind), ("entityId", id)] {
            if given.is_empty() || given.len() > MAX_NAME || given.contains('\0') {
                let expected = format!("expected from 1 to {MAX_NAME} bytes without U+0000");
                return refuse(field, expected);
            }
        }
        Entity::named(ctx, kind, &id.as_str().into()).map(About::Entity).map(Some)
    }
}

/// Lists deliveries, the newest first.
///
/// With `eventType`, a `statusCode` below 300, or several of `status`, `statusCode`, `eventId` and
/// `entityId` a page looks among 10000 deliveries: it may hold fewer than were asked for, or none,
/// while `next` leads to more. With `eventId` or `entityId` deliveries come by event, the newest first.
#[utoipa::path(
    get,
    path = "/webhooks/deliveries",
    tag = "webhooks",
    params(Page, DeliveryQuery),
    responses((status = 200, description = "The deliveries.", body = Listing<DeliveryBody>)),
)]
pub(crate) async fn list_webhook_deliveries(
    May { ctx, .. }: May<Manage>,
    Paged(page, query): Paged<DeliveryQuery>,
) -> ApiResult<Json<Listing<DeliveryBody>>> {
    let service = Service::of(&ctx)?;
    let filter = DeliveryFilter {
        about: query.about(&ctx)?,
        endpoint: query.subscription_id,
        status: query.status.map(Status::from),
        event_type: query.event_type,
        status_code: query.status_code,
        since: query.since,
        until: query.until,
    };
    let listing = service.deliveries(&ctx, &page, filter).await?;
    let items =
        listing.items.into_iter().map(|delivery| DeliveryBody::new(delivery, &service)).collect();
    Ok(Json(Listing { items, next: listing.next }))
}

/// Reads a delivery with its request and response.
#[utoipa::path(
    get,
    path = "/webhooks/deliveries/{id}",
    tag = "webhooks",
    params(("id" = Uuid, Path, description = "The delivery.")),
    responses((status = 200, description = "The delivery.", body = DeliveryDetailBody)),
)]
pub(crate) async fn get_webhook_delivery(
    May { ctx, .. }: May<Manage>,
    ApiPath(id): ApiPath<Uuid>,
) -> ApiResult<Json<DeliveryDetailBody>> {
    let service = Service::of(&ctx)?;
    let detail = service.delivery(&ctx, id).await?;
    Ok(Json(DeliveryDetailBody::new(detail, &service)))
}

/// Which deliveries to send again.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = WebhookRedelivery)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RedeliveryBody {
    /// Only those to this endpoint.
    #[serde(default)]
    subscription_id: Option<Uuid>,
    /// Those that stand here; without it the failed ones.
    #[serde(default)]
    status: Option<StatusBody>,
    /// Only those of events of this type.
    #[serde(default)]
    event_type: Option<String>,
    /// Only those queued from this time on.
    #[serde(default, with = "time::serde::rfc3339::option")]
    since: Option<OffsetDateTime>,
    /// Only those queued before this time.
    #[serde(default, with = "time::serde::rfc3339::option")]
    until: Option<OffsetDateTime>,
}

/// Sends many deliveries again, each as a new one.
///
/// A background job queues them.
#[utoipa::path(
    post,
    path = "/webhooks/deliveries/redeliver",
    tag = "webhooks",
    request_body = RedeliveryBody,
    responses((status = 202, description = "The job.", body = JobStartedBody)),
)]
pub(crate) async fn redeliver_webhook_deliveries(
    May { ctx, .. }: May<Manage>,
    ApiJson(body): ApiJson<RedeliveryBody>,
) -> ApiResult<(StatusCode, Json<JobStartedBody>)> {
    let what = Selection {
        endpoint: body.subscription_id,
        status: body.status.map(Status::from),
        event_type: body.event_type,
        since: body.since,
        until: body.until,
    };
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
    responses((status = 202, description = "The new delivery.", body = DeliveryDetailBody)),
)]
pub(crate) async fn redeliver_webhook_delivery(
    May { ctx, .. }: May<Manage>,
    ApiPath(id): ApiPath<Uuid>,
) -> ApiResult<(StatusCode, Json<DeliveryDetailBody>)> {
    let service = Service::of(&ctx)?;
    let detail = service.redeliver(&ctx, id).await?;
    Ok((StatusCode::ACCEPTED, Json(DeliveryDetailBody::new(detail, &service))))
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
        (status = 200, description = "The delivery.", body = DeliveryDetailBody),
        (status = 409, description = "It has ended, or is being sent at the moment."),
    ),
)]
pub(crate) async fn cancel_webhook_delivery(
    May { ctx, .. }: May<Manage>,
    ApiPath(id): ApiPath<Uuid>,
) -> ApiResult<Json<DeliveryDetailBody>> {
    let service = Service::of(&ctx)?;
    let detail = service.cancel(&ctx, id).await?;
    Ok(Json(DeliveryDetailBody::new(detail, &service)))
}
