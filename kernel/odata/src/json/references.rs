//! References to entities in request bodies.

use serde_json::value::RawValue;

use super::members::Members;
use super::payload::{control_name, malformed};
use super::refusal::PayloadError;

/// Reads an entity reference: `{"@odata.id": "…"}`.
///
/// # Errors
/// When the body is something else.
pub fn parse_reference(body: &[u8]) -> Result<String, PayloadError> {
    let Members(members) = serde_json::from_slice(body).map_err(|cause| malformed(&cause))?;
    let found = members.iter().find(|(name, _)| control_name(name) == Some("id"));
    let text = found.and_then(|(_, raw)| serde_json::from_str(raw.get()).ok());
    text.ok_or_else(|| PayloadError::Malformed("expected `{\"@odata.id\": \"…\"}`".to_owned()))
}

/// Reads a collection of entity references: `{"value": [{"@odata.id": "…"}]}`.
///
/// # Errors
/// When the body is something else, or holds more than `most`.
pub fn parse_references(body: &[u8], most: usize) -> Result<Vec<String>, PayloadError> {
    let Members(members) = serde_json::from_slice(body).map_err(|cause| malformed(&cause))?;
    let found = members.iter().find(|(name, _)| name == "value");
    let items = found.and_then(|(_, raw)| serde_json::from_str::<Vec<&RawValue>>(raw.get()).ok());
    let items = items.ok_or_else(|| {
        PayloadError::Malformed("expected `{\"value\": [{\"@odata.id\": \"…\"}]}`".to_owned())
    })?;
    if items.len() > most {
        return Err(PayloadError::TooMuch { limit: most });
    }
    items.into_iter().map(|item| parse_reference(item.get().as_bytes())).collect()
}
