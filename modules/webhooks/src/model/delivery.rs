//! Deliveries as the log shows them.

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use utoipa::ToSchema;
use uuid::Uuid;

use super::Status;

/// A delivery of an event to an endpoint.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebhookDelivery)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Delivery {
    /// Its id.
    pub(crate) id: Uuid,
    /// The endpoint.
    pub(crate) subscription_id: Uuid,
    /// Where the last attempt went; the endpoint's address where nothing was sent yet.
    pub(crate) url: String,
    /// The event; the same for every attempt and redelivery.
    pub(crate) event_id: Uuid,
    /// The event's type.
    pub(crate) event_type: String,
    /// The set of the entity that the event is about, where it is about one.
    pub(crate) entity_type: Option<String>,
    /// The entity's key.
    pub(crate) entity_id: Option<String>,
    /// When it was queued.
    #[serde(with = "time::serde::rfc3339")]
    pub(crate) time: OffsetDateTime,
    /// `queued`, `retrying`, `delivered`, `failed` or `cancelled`.
    pub(crate) status: Status,
    /// The status of the last answer.
    pub(crate) status_code: Option<i16>,
    /// Attempts made.
    pub(crate) attempts: i32,
    /// Attempts at most.
    pub(crate) max_attempts: u32,
    /// When the next attempt is due; none while the endpoint is switched off.
    #[serde(with = "time::serde::rfc3339::option")]
    pub(crate) next_attempt_at: Option<OffsetDateTime>,
    /// How long the last attempt took.
    pub(crate) duration_ms: Option<i32>,
    /// Why the last attempt failed, or who cancelled it.
    pub(crate) error: Option<String>,
    /// The delivery that this one repeats.
    pub(crate) redelivery_of: Option<Uuid>,
    /// The message that it is of: where a list by message goes on.
    #[serde(skip)]
    pub(crate) message: Uuid,
}

/// A request or response of an attempt, as the log keeps it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebhookExchange)]
pub(crate) struct Exchange {
    /// Names and values in their order; signatures, custom headers and cookies that are set are masked.
    pub(crate) headers: Vec<Header>,
    /// The first `Svc:Webhooks:LogBodyLimit` characters.
    pub(crate) body: String,
}

/// A header.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = WebhookHeader)]
pub(crate) struct Header {
    /// Its name.
    pub(crate) name: String,
    /// Its value.
    pub(crate) value: String,
}

/// An attempt before the last one. The body of its request was the same.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebhookAttempt)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EarlierAttempt {
    /// The first is 1.
    pub(crate) number: i32,
    /// When it ended.
    #[serde(with = "time::serde::rfc3339::option")]
    pub(crate) ended_at: Option<OffsetDateTime>,
    /// The status of the answer.
    pub(crate) status_code: Option<i16>,
    /// How long it took.
    pub(crate) duration_ms: Option<i32>,
    /// Why it failed.
    pub(crate) error: Option<String>,
    /// Where it went; none where nothing was sent.
    pub(crate) url: Option<String>,
    /// The headers that were sent; signatures and custom headers are masked.
    pub(crate) request_headers: Vec<Header>,
    /// What was answered; none where there was no answer.
    pub(crate) response: Option<Exchange>,
}

/// A delivery with the request and the response of its last attempt, and the attempts before it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebhookDeliveryDetail)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeliveryDetail {
    #[serde(flatten)]
    pub(crate) delivery: Delivery,
    /// What was sent.
    pub(crate) request: Exchange,
    /// What was answered; none before there was an answer.
    pub(crate) response: Option<Exchange>,
    /// When the last attempt ended.
    #[serde(with = "time::serde::rfc3339::option")]
    pub(crate) attempted_at: Option<OffsetDateTime>,
    /// The attempts before it, in their order.
    pub(crate) earlier_attempts: Vec<EarlierAttempt>,
}
