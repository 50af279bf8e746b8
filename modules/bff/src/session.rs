//! A browser that is signed in.

use serde::{Deserialize, Serialize};
use svc_openid::TokenAnswer;

/// The SHA-256 of what the cookie holds.
pub(crate) type SessionHash = [u8; 32];

/// A sign-in of a browser.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    pub(crate) id: SessionHash,
    pub(crate) issuer: String,
    /// The person, as the provider names it.
    pub(crate) subject: String,
    /// The session at the provider.
    pub(crate) sid: Option<String>,
    pub(crate) tokens: Tokens,
    /// Counts the tokens that the session has had.
    pub(crate) generation: i64,
    pub(crate) tokens_end_at_us: i64,
    pub(crate) used_at_us: i64,
    pub(crate) ends_at_us: i64,
}

/// What the browser never sees. `Debug` shows nothing of it.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Tokens {
    pub(crate) access: String,
    pub(crate) refresh: Option<String>,
    /// Tells the provider who signs out.
    pub(crate) id: String,
}

impl Tokens {
    /// What the provider gave; what it left out stays as it was.
    pub(crate) fn after(&self, answer: TokenAnswer) -> Self {
        Self {
            access: answer.access_token,
            refresh: answer.refresh_token.or_else(|| self.refresh.clone()),
            id: answer.id_token.unwrap_or_else(|| self.id.clone()),
        }
    }
}

impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tokens(***)")
    }
}
