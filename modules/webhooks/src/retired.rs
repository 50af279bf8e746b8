//! Signing keys that were replaced: each signs beside the present one until the end that was promised, so that a
//! receiver which knows any of them accepts.

use serde::{Deserialize, Serialize};
use svc_core::{Error, Result};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::errors::TOO_MANY_KEYS;

/// The most keys of an endpoint that sign besides its present ones: each costs every request a signature.
const MOST: usize = 8;

/// What a key was for.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) enum Scheme {
    /// A secret, `v1`.
    #[serde(rename = "v1")]
    Secret,
    /// An Ed25519 key pair, `v1a`.
    #[serde(rename = "v1a")]
    KeyPair,
}

/// A key that was replaced.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct RetiredKey {
    pub(crate) scheme: Scheme,
    /// Encrypted, as the present ones are.
    pub(crate) sealed: String,
    /// From then on it signs no more.
    #[serde(with = "time::serde::rfc3339")]
    pub(crate) until: OffsetDateTime,
}

/// The keys of an endpoint that were replaced, as they are stored, the one that was replaced last first.
pub(crate) fn read(stored: Option<&str>) -> Result<Vec<RetiredKey>> {
    let Some(json) = stored else { return Ok(Vec::new()) };
    serde_json::from_str(json)
        .map_err(|error| Error::internal("retired keys can't be read").caused_by(error))
}

/// As it is stored.
pub(crate) fn written(keys: &[RetiredKey]) -> Result<Option<String>> {
    if keys.is_empty() {
        return Ok(None);
    }
    let json = serde_json::to_string(keys);
    json.map(Some).map_err(|error| Error::internal("keys can't be made JSON").caused_by(error))
}

/// Adds a key to those that still sign at `now`.
///
/// # Errors
///
/// [`TOO_MANY_KEYS`] where another one would break the promise that was given to the first.
pub(crate) fn add(keys: &mut Vec<RetiredKey>, key: RetiredKey, now: OffsetDateTime) -> Result<()> {
    keys.retain(|key| now < key.until);
    if let Some(first) = keys.iter().map(|key| key.until).min()
        && keys.len() >= MOST
    {
        let unwritable = |error| Error::internal("a time can't be written").caused_by(error);
        let first = first.format(&Rfc3339).map_err(unwritable)?;
        let message =
            format!("{MOST} keys that were replaced still sign; the first ends at {first}");
        return Err(TOO_MANY_KEYS.error(message).with("until", first));
    }
    keys.insert(0, key);
    Ok(())
}

/// Until when the last one of a scheme signs, where one still does at `now`.
pub(crate) fn end(
    keys: &[RetiredKey],
    scheme: Scheme,
    now: OffsetDateTime,
) -> Option<OffsetDateTime> {
    let ends = keys.iter().filter(|key| key.scheme == scheme).map(|key| key.until);
    ends.max().filter(|until| now < *until)
}
