//! Signatures of outgoing requests, after the Standard Webhooks specification.
//!
//! The signed content is `{webhook-id}.{webhook-timestamp}.{raw body}`. Two schemes exist:
//!
//! | scheme | key | text form of the key | header entry |
//! |---|---|---|---|
//! | `v1` | [`SigningSecret`], shared with the receiver | `whsec_` and base64 of 24 to 64 bytes | `v1,` and base64 of an HMAC-SHA256 |
//! | `v1a` | [`KeyPair`], the receiver knows the public half | `whsk_` (private), `whpk_` (public) | `v1a,` and base64 of an Ed25519 signature |
//!
//! A header holds one entry per key, separated by single spaces: during a rotation the new and
//! the old secret both sign, and a receiver accepts when any entry matches.

use std::fmt;

use aws_lc_rs::hmac;
use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderName, HeaderValue, header};
use time::OffsetDateTime;
use uuid::Uuid;
use zeroize::Zeroizing;

use crate::envelope::content_type;

/// Header that carries the event's id, the same for every retry and redelivery.
pub const WEBHOOK_ID: HeaderName = HeaderName::from_static("webhook-id");
/// Header that carries the time of the attempt in Unix seconds.
pub const WEBHOOK_TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
/// Header that carries the signatures, separated by single spaces.
pub const WEBHOOK_SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");

const SECRET_PREFIX: &str = "whsec_";
const PRIVATE_KEY_PREFIX: &str = "whsk_";
const PUBLIC_KEY_PREFIX: &str = "whpk_";
const SEED_BYTES: usize = 32;

/// Why the text of a secret or a key pair is not usable.
///
/// The messages never repeat the text: it may be a real secret with one wrong character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The prefix that names the kind of key is absent.
    #[error("a secret starts with `whsec_`; an Ed25519 key starts with `whsk_`")]
    Prefix,
    /// What follows the prefix is not standard base64 with its padding.
    #[error("what follows the prefix has to be standard base64 with its padding, without spaces")]
    Base64,
    /// The decoded secret is too short or too long.
    #[error("a secret has 24 to 64 bytes, this one has `{0}`; generate a new one")]
    SecretLength(usize),
    /// The decoded key pair is neither a seed nor a seed with its public key.
    #[error("an Ed25519 key is a seed of 32 bytes, alone or followed by its public key")]
    KeyPair,
}

/// A secret that signs and verifies, shared by sender and receiver (scheme `v1`).
///
/// The bytes are zeroed on drop and never printed.
#[derive(Clone)]
pub struct SigningSecret {
    bytes: Zeroizing<Vec<u8>>,
    /// The prepared key, so that a signature does not hash the key again.
    hmac: Box<hmac::Key>,
}

impl SigningSecret {
    /// Number of bytes of a generated secret.
    ///
    /// A multiple of three has no base64 padding, which some receiver libraries mishandle.
    pub const GENERATED_BYTES: usize = 48;
    /// Fewest bytes that a secret may have.
    pub const MIN_BYTES: usize = 24;
    /// Most bytes that a secret may have.
    pub const MAX_BYTES: usize = 64;

    /// Reads the text form, `whsec_` followed by base64.
    ///
    /// # Errors
    ///
    /// When the prefix is absent, the rest is not standard base64, or the length is out of range.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        let encoded = text.strip_prefix(SECRET_PREFIX).ok_or(KeyError::Prefix)?;
        let bytes = Zeroizing::new(STANDARD.decode(encoded).map_err(|_| KeyError::Base64)?);
        if !(Self::MIN_BYTES..=Self::MAX_BYTES).contains(&bytes.len()) {
            return Err(KeyError::SecretLength(bytes.len()));
        }
        Ok(Self::from_bytes(bytes))
    }

    /// Makes a new secret; `fill` writes random bytes from a cryptographically secure source.
    pub fn generate(fill: impl FnOnce(&mut [u8])) -> Self {
        let mut bytes = Zeroizing::new(vec![0; Self::GENERATED_BYTES]);
        fill(&mut bytes);
        Self::from_bytes(bytes)
    }

    /// The text form, for storing it encrypted and for showing it to the endpoint's managers.
    #[must_use]
    pub fn expose(&self) -> Zeroizing<String> {
        Zeroizing::new(format!("{SECRET_PREFIX}{}", STANDARD.encode(&*self.bytes)))
    }

    fn from_bytes(bytes: Zeroizing<Vec<u8>>) -> Self {
        let hmac = Box::new(hmac::Key::new(hmac::HMAC_SHA256, &bytes));
        Self { bytes, hmac }
    }

    fn signature(&self, prefix: &str, body: &[u8]) -> hmac::Tag {
        let mut context = hmac::Context::with_key(&self.hmac);
        context.update(prefix.as_bytes());
        context.update(body);
        context.sign()
    }
}

impl fmt::Debug for SigningSecret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SigningSecret(***)")
    }
}

/// An Ed25519 key pair (scheme `v1a`): only we can sign, and everyone may know the public half.
pub struct KeyPair {
    seed: Zeroizing<[u8; SEED_BYTES]>,
    pair: Ed25519KeyPair,
}

impl KeyPair {
    /// Reads the private text form: `whsk_` and base64 of the seed, or of seed and public key.
    ///
    /// # Errors
    ///
    /// When the prefix is absent, the rest is not standard base64, has another length, or the
    /// public key does not belong to the seed.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        let encoded = text.strip_prefix(PRIVATE_KEY_PREFIX).ok_or(KeyError::Prefix)?;
        let bytes = Zeroizing::new(STANDARD.decode(encoded).map_err(|_| KeyError::Base64)?);
        let (seed, public_key) =
            bytes.split_first_chunk::<SEED_BYTES>().ok_or(KeyError::KeyPair)?;
        let pair = if public_key.is_empty() {
            Ed25519KeyPair::from_seed_unchecked(seed)
        } else {
            Ed25519KeyPair::from_seed_and_public_key(seed, public_key)
        };
        Ok(Self { seed: Zeroizing::new(*seed), pair: pair.map_err(|_| KeyError::KeyPair)? })
    }

    /// Makes a new pair; `fill` writes random bytes from a cryptographically secure source.
    #[expect(clippy::missing_panics_doc, reason = "every 32 bytes are an Ed25519 seed")]
    pub fn generate(fill: impl FnOnce(&mut [u8])) -> Self {
        let mut seed = Zeroizing::new([0; SEED_BYTES]);
        fill(seed.as_mut_slice());
        let pair = Ed25519KeyPair::from_seed_unchecked(seed.as_slice())
            .expect("every 32 bytes are an Ed25519 seed");
        Self { seed, pair }
    }

    /// The private text form (seed and public key), for storing it encrypted.
    #[must_use]
    pub fn expose(&self) -> Zeroizing<String> {
        let mut bytes = Zeroizing::new(self.seed.to_vec());
        bytes.extend_from_slice(self.pair.public_key().as_ref());
        Zeroizing::new(format!("{PRIVATE_KEY_PREFIX}{}", STANDARD.encode(&*bytes)))
    }

    /// The public text form that receivers verify with, `whpk_` followed by base64.
    #[must_use]
    pub fn public_key(&self) -> String {
        format!("{PUBLIC_KEY_PREFIX}{}", STANDARD.encode(self.pair.public_key()))
    }
}

impl fmt::Debug for KeyPair {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "KeyPair({}, ***)", self.public_key())
    }
}

/// What signs a request: one entry of the signature header.
#[derive(Debug)]
pub enum SigningKey {
    /// HMAC-SHA256, `v1`.
    Secret(SigningSecret),
    /// Ed25519, `v1a`.
    KeyPair(KeyPair),
}

impl SigningKey {
    /// Reads either text form; the prefix says which.
    ///
    /// # Errors
    ///
    /// As [`SigningSecret::parse`] and [`KeyPair::parse`].
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        if text.starts_with(PRIVATE_KEY_PREFIX) {
            KeyPair::parse(text).map(Self::KeyPair)
        } else {
            SigningSecret::parse(text).map(Self::Secret)
        }
    }

    fn append_entry(&self, entries: &mut String, prefix: &str, body: &[u8]) {
        match self {
            Self::Secret(secret) => {
                entries.push_str("v1,");
                STANDARD.encode_string(secret.signature(prefix, body), entries);
            }
            Self::KeyPair(key) => {
                entries.push_str("v1a,");
                let content = [prefix.as_bytes(), body].concat();
                STANDARD.encode_string(key.pair.sign(&content), entries);
            }
        }
    }
}

impl From<SigningSecret> for SigningKey {
    fn from(secret: SigningSecret) -> Self {
        Self::Secret(secret)
    }
}

impl From<KeyPair> for SigningKey {
    fn from(pair: KeyPair) -> Self {
        Self::KeyPair(pair)
    }
}

/// Signs `{id}.{timestamp}.{body}` with every key, in the order given.
///
/// Pass the newest key first: a receiver that looks at one entry only then sees that one.
#[must_use]
#[expect(clippy::missing_panics_doc, reason = "the value is always visible ASCII")]
pub fn sign(keys: &[&SigningKey], id: &str, timestamp: i64, body: &[u8]) -> HeaderValue {
    // The dots are part of the signed content, the second one ends what precedes the body.
    let prefix = format!("{id}.{timestamp}.");
    let mut entries = String::with_capacity(keys.len() * 48);
    for key in keys {
        if !entries.is_empty() {
            entries.push(' ');
        }
        key.append_entry(&mut entries, &prefix, body);
    }
    HeaderValue::try_from(entries).expect("base64, commas and spaces are visible ASCII")
}

/// The headers of one attempt: content type, id, timestamp and signatures.
///
/// The timestamp is that of the attempt, not of the event, so that a retry passes the
/// receiver's tolerance.
#[must_use]
#[expect(clippy::missing_panics_doc, reason = "an id is always visible ASCII")]
pub fn signed_headers(
    keys: &[&SigningKey],
    id: Uuid,
    attempted_at: OffsetDateTime,
    body: &[u8],
) -> HeaderMap {
    let mut id_text = Uuid::encode_buffer();
    let id_text: &str = id.hyphenated().encode_lower(&mut id_text);
    let timestamp = attempted_at.unix_timestamp();
    let mut headers = HeaderMap::with_capacity(6);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type(body)));
    headers.insert(
        WEBHOOK_ID,
        HeaderValue::from_str(id_text).expect("a hyphenated id is visible ASCII"),
    );
    headers.insert(WEBHOOK_TIMESTAMP, HeaderValue::from(timestamp));
    headers.insert(WEBHOOK_SIGNATURE, sign(keys, id_text, timestamp, body));
    headers
}

/// The signature header as the delivery log shows it: the schemes stay, the signatures do not.
///
/// `v1,abc= v1,def=` becomes `v1,*** v1,***`; anything of another form becomes `***`.
#[must_use]
pub fn mask(header: &str) -> String {
    let entries: Vec<String> = header
        .split(' ')
        .map(|entry| match entry.split_once(',') {
            Some((scheme @ ("v1" | "v1a"), _)) => format!("{scheme},***"),
            _ => "***".to_owned(),
        })
        .collect();
    entries.join(" ")
}
