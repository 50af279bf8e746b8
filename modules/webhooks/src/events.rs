//! What this module tells others: domain events, which the notifications module picks up.

use serde::Serialize;
use uuid::Uuid;

/// Deliveries to an endpoint fail: half of the failures that switch it off have come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
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

/// The host of an address, for those who may not see the rest.
pub(crate) fn host(url: &str) -> String {
    let url = url::Url::parse(url).ok();
    url.and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default()
}
