//! What a token endpoint answers.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Tokens (RFC 6749, section 5.1; OpenID Connect Core, section 3.1.3.3). `Debug` shows none of them.
#[derive(Clone, Serialize, Deserialize)]
pub struct TokenAnswer {
    /// What opens the API.
    pub access_token: String,
    /// Always `Bearer`.
    pub token_type: String,
    /// Seconds for which the access token holds; 0 where an issuer doesn't say it.
    #[serde(default)]
    pub expires_in: u64,
    /// What gets the next tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh_token: Option<String>,
    /// Who signed in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id_token: Option<String>,
    /// What was granted, where it isn't what was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
}

impl fmt::Debug for TokenAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenAnswer")
            .field("expires_in", &self.expires_in)
            .field("scope", &self.scope)
            .finish_non_exhaustive()
    }
}

/// Why there are no tokens (RFC 6749, section 5.2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenRefusal {
    /// The code, such as `invalid_grant`.
    pub error: String,
    /// What a developer should know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_description: Option<String>,
}
