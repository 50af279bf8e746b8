//! What is kept encrypted of an endpoint: secrets, keys, headers and credentials.

use serde::Serialize;
use serde::de::DeserializeOwned;
use svc_core::{Error, KeyRing, Result};
use uuid::Uuid;

/// What a secret of an endpoint is protected for, so that it can't be moved to another.
fn purpose(endpoint: Uuid) -> String {
    format!("webhooks.endpoint:{endpoint}")
}

/// A text in the form in which it is stored.
pub(crate) fn protect(ring: &KeyRing, endpoint: Uuid, text: &str) -> String {
    ring.protect(&purpose(endpoint), text.as_bytes())
}

/// The text that [`protect`] was given.
pub(crate) fn reveal(ring: &KeyRing, endpoint: Uuid, sealed: &str) -> Result<String> {
    String::from_utf8(ring.reveal(&purpose(endpoint), sealed)?)
        .map_err(|error| Error::internal("a stored secret isn't text").caused_by(error))
}

/// A value in the form in which it is stored: as JSON.
pub(crate) fn protect_json<T: Serialize>(
    ring: &KeyRing,
    endpoint: Uuid,
    value: &T,
) -> Result<String> {
    let json = serde_json::to_vec(value)
        .map_err(|error| Error::internal("a secret can't be made JSON").caused_by(error))?;
    Ok(ring.protect(&purpose(endpoint), &json))
}

/// The value that [`protect_json`] was given; that of nothing where nothing is stored.
pub(crate) fn reveal_json<T: DeserializeOwned + Default>(
    ring: &KeyRing,
    endpoint: Uuid,
    sealed: Option<&str>,
) -> Result<T> {
    let Some(sealed) = sealed else { return Ok(T::default()) };
    serde_json::from_slice(&ring.reveal(&purpose(endpoint), sealed)?)
        .map_err(|error| Error::internal("a stored secret can't be read").caused_by(error))
}

/// What was revealed, or nothing: it is no reason to send or to show nothing, and whoever saves it anew mends
/// it.
pub(crate) fn or_nothing<T: Default>(revealed: Result<T>, endpoint: Uuid, what: &str) -> T {
    revealed.unwrap_or_else(|error| {
        let error = error.report();
        tracing::error!(endpoint.id = %endpoint, error, "{what} can't be revealed");
        T::default()
    })
}
