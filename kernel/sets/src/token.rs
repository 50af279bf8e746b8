//! Continuation tokens: where a page ended, for the one query and the one person it was made for.
//!
//! A token is sealed (AES-256-GCM) with a key that each process makes when it first needs one. The
//! key travels with the token, sealed itself by the application's key ring, so that every node
//! opens the tokens of every other, and one ring key never seals more than a few secrets. What is
//! sealed along, without being in the token, is a digest of the query and of the person: a token
//! that was made for another query or person doesn't open.

use std::sync::OnceLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use svc_core::{Error, KeyRing, Principal, Result, hex, random_array};
use svc_data::Context;

/// What the process's key is sealed for.
const KEY_PURPOSE: &str = "odata.skiptoken.key";

/// Where a page ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Position {
    /// What the last row is sorted by, and its key.
    pub(super) marks: Vec<serde_json::Value>,
    /// How many rows were sent up to here, for `$top`.
    pub sent: u64,
}

/// The key that this process seals tokens with.
#[derive(Debug, Default)]
pub(super) struct TokenKeys(OnceLock<(KeyRing, String)>);

impl TokenKeys {
    fn own(&self, ring: &KeyRing) -> Result<&(KeyRing, String)> {
        if let Some(own) = self.0.get() {
            return Ok(own);
        }
        let key = STANDARD.encode(random_array::<32>());
        let own = KeyRing::parse([key.as_str()])?;
        let sealed = ring.protect(KEY_PURPOSE, key.as_bytes());
        Ok(self.0.get_or_init(|| (own, sealed)))
    }
}

impl TokenKeys {
    /// A token for what comes after a position in the answer to `query`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Internal`](svc_core::ErrorKind::Internal) when the application has no keys.
    pub(super) fn seal(&self, ctx: &Context, query: &str, position: &Position) -> Result<String> {
        let ring = ctx.app().service::<KeyRing>()?;
        let (own, sealed_key) = self.own(&ring)?;
        let text = serde_json::to_vec(position)
            .map_err(|error| Error::internal("a position can't be written").caused_by(error))?;
        let token = format!("{sealed_key}~{}", own.protect(&purpose(ctx, query), &text));
        // The three signs of base64 that mean something in a URL. What stands for them is left as it
        // is by form encoders, so that the query a link belongs to is still told to be of one.
        Ok(token.replace('+', "-").replace('/', "_").replace('=', "*"))
    }

    /// The position that a token was made for.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Malformed`](svc_core::ErrorKind::Malformed) when it was made by nobody here,
    /// or for another query or person.
    pub(super) fn open(ctx: &Context, query: &str, token: &str) -> Result<Position> {
        let ring = ctx.app().service::<KeyRing>()?;
        // Before, an exclamation mark stood for the last.
        let token = token.replace('-', "+").replace('_', "/").replace(['*', '!'], "=");
        let opened = token.split_once('~').and_then(|(sealed_key, sealed)| {
            let key = ring.reveal(KEY_PURPOSE, sealed_key).ok()?;
            let own = KeyRing::parse([std::str::from_utf8(&key).ok()?]).ok()?;
            let text = own.reveal(&purpose(ctx, query), sealed).ok()?;
            serde_json::from_slice(&text).ok()
        });
        opened.ok_or_else(wrong_token)
    }
}

/// What a token is bound to: a path below the service's root, and the options of the request with
/// their names, whatever way they were encoded.
#[must_use]
pub fn token_binding<'o>(
    path: &str,
    options: impl IntoIterator<Item = (&'o str, &'o str)>,
) -> String {
    let options: Vec<String> =
        options.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
    format!("{path}?{}", options.join("&"))
}

/// The refusal of a token that doesn't belong to the query.
pub(super) fn wrong_token() -> Error {
    Error::malformed("this `$skiptoken` doesn't belong to this query; begin again without it")
        .target("$skiptoken")
}

/// What a token is bound to, as a digest.
fn purpose(ctx: &Context, query: &str) -> String {
    let mut digest = Sha256::new();
    for part in [query, &person(ctx.principal())] {
        digest.update(part.len().to_le_bytes());
        digest.update(part.as_bytes());
    }
    format!("odata.skiptoken:{}", hex(&digest.finalize()))
}

fn person(who: &Principal) -> String {
    let user = who.user_id().map(|user| user.0);
    let organisation = who.organisation().map(|organisation| organisation.0);
    format!("{:?} {user:?} {organisation:?}", who.kind())
}
