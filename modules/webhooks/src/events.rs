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
