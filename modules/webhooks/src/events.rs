//! What this module tells others: domain events, which the notifications module picks up.

use serde::Serialize;
use svc_core::Registry;
use svc_events::EventsRegistry as _;
use svc_http::schema_of;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::permissions::MANAGE;

/// Deliveries to an endpoint fail: half of the failures that switch it off have come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookEndpointFailing {
    /// The endpoint.
    pub endpoint_id: Uuid,
    /// Its host; the rest of its address may hold tokens.
    pub host: String,
    /// Its description.
    pub description: String,
    /// Its owner.
    pub owner_id: Uuid,
    /// Who else should know: whoever holds this permission in the organisation.
    pub permission: &'static str,
    /// Deliveries that failed for good, one after the other.
    pub consecutive_failures: u32,
    /// The number at which it is switched off.
    pub disable_after_failures: u32,
    /// Why the last one failed.
    pub last_error: String,
}

/// An endpoint was switched off because deliveries to it failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookEndpointDisabled {
    /// The endpoint.
    pub endpoint_id: Uuid,
    /// Its host; the rest of its address may hold tokens.
    pub host: String,
    /// Its description.
    pub description: String,
    /// Its owner.
    pub owner_id: Uuid,
    /// Who else should know: whoever holds this permission in the organisation.
    pub permission: &'static str,
    /// Deliveries that failed for good, one after the other.
    pub consecutive_failures: u32,
    /// Why it was switched off, as the list of endpoints shows it.
    pub reason: String,
    /// Why the last delivery failed.
    pub last_error: String,
}

/// An endpoint gets nothing, because its owner is disabled or has left, or the API key that it was
/// saved with has ended. What it misses is kept, and recovered by whoever saves it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookEndpointOwnerGone {
    /// The endpoint.
    pub endpoint_id: Uuid,
    /// Its host; the rest of its address may hold tokens.
    pub host: String,
    /// Its description.
    pub description: String,
    /// Its owner.
    pub owner_id: Uuid,
    /// Who else should know: whoever holds this permission in the organisation.
    pub permission: &'static str,
    /// Why, and what to do.
    pub reason: String,
}

/// An organisation uses much of what it may, or all: what is more is refused (endpoints) or waits
/// (requests, bytes).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookLimitReached {
    /// Which limit: `endpoints`, `perSecond` or `bytesPerDay`.
    pub limit: &'static str,
    /// How much of it: 80 or 100 percent.
    pub percent: i64,
    /// The most that the organisation may.
    pub most: i64,
    /// Who should know: whoever holds this permission in the organisation.
    pub permission: &'static str,
}

/// Declares the events: they tell of all endpoints of an organisation, so they are for whoever may see these.
pub(crate) fn declare(registry: &mut Registry) {
    registry.domain_event::<WebhookEndpointFailing>(
        "Deliveries to a webhook endpoint fail",
        |event| {
            event
                .schema(schema_of::<WebhookEndpointFailing>())
                .example(WebhookEndpointFailing::example())
                .permission(MANAGE)
        },
    );
    registry.domain_event::<WebhookEndpointDisabled>(
        "A failing webhook endpoint was switched off",
        |event| {
            event
                .schema(schema_of::<WebhookEndpointDisabled>())
                .example(WebhookEndpointDisabled::example())
                .permission(MANAGE)
        },
    );
    registry.domain_event::<WebhookEndpointOwnerGone>(
        "A webhook endpoint misses events because its owner is gone",
        |event| {
            event
                .schema(schema_of::<WebhookEndpointOwnerGone>())
                .example(WebhookEndpointOwnerGone::example())
                .permission(MANAGE)
        },
    );
    registry.domain_event::<WebhookLimitReached>(
        "An organisation uses 80 or 100 percent of a limit",
        |event| {
            event
                .schema(schema_of::<WebhookLimitReached>())
                .example(WebhookLimitReached::example())
                .permission(MANAGE)
        },
    );
}

/// Event types by the domain events of this module: what an organisation's endpoints may be told of
/// its endpoints and limits.
pub(crate) const OPERATIONAL: [(&str, &str); 4] = [
    ("WebhookEndpointDisabled", "endpoint.disabled"),
    ("WebhookEndpointFailing", "endpoint.failing"),
    ("WebhookEndpointOwnerGone", "endpoint.owner_gone"),
    ("WebhookLimitReached", "limit.reached"),
];

/// The event type of a domain event of this module.
pub(crate) fn operational(domain_event: &str) -> Option<&'static str> {
    let found = OPERATIONAL.iter().find(|(domain, _)| *domain == domain_event);
    found.map(|(_, event_type)| *event_type)
}

/// The host of an address, for those who may not see the rest.
pub(crate) fn host(url: &str) -> String {
    let url = url::Url::parse(url).ok();
    url.and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default()
}

impl WebhookEndpointFailing {
    /// An example.
    fn example() -> Self {
        Self {
            endpoint_id: Uuid::from_u128(0x0193_4a1c_7a3e_7def_8123_4567_89ab_cdef),
            host: "example.com".to_owned(),
            description: "Warehouse".to_owned(),
            owner_id: Uuid::from_u128(0x0193_4a1c_7a3e_7def_8123_4567_89ab_cde0),
            permission: MANAGE,
            consecutive_failures: 3,
            disable_after_failures: 5,
            last_error: "the receiver answered `503`".to_owned(),
        }
    }
}

impl WebhookEndpointDisabled {
    /// An example: of the same endpoint, later.
    fn example() -> Self {
        let failing = WebhookEndpointFailing::example();
        Self {
            endpoint_id: failing.endpoint_id,
            host: failing.host,
            description: failing.description,
            owner_id: failing.owner_id,
            permission: failing.permission,
            consecutive_failures: 5,
            reason: "5 deliveries in a row failed".to_owned(),
            last_error: failing.last_error,
        }
    }
}

impl WebhookEndpointOwnerGone {
    /// An example.
    fn example() -> Self {
        let failing = WebhookEndpointFailing::example();
        Self {
            endpoint_id: failing.endpoint_id,
            host: failing.host,
            description: failing.description,
            owner_id: failing.owner_id,
            permission: failing.permission,
            reason: "the owner of the endpoint has left".to_owned(),
        }
    }
}

impl WebhookLimitReached {
    /// An example.
    fn example() -> Self {
        Self { limit: "perSecond", percent: 80, most: 50, permission: MANAGE }
    }
}
