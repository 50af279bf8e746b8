//! What clients read before anything else.

use serde_json::{Value, json};

use super::authorize::SCOPES;
use super::signing::ALGORITHM;

/// The provider's metadata (OpenID Connect Discovery, section 3; RFC 8414, section 2).
pub(super) fn metadata(issuer: &str) -> Value {
    let at = |path: &str| format!("{issuer}{path}");
    json!({
        "issuer": issuer,
        "authorization_endpoint": at("/connect/authorize"),
        "token_endpoint": at("/connect/token"),
        "userinfo_endpoint": at("/connect/userinfo"),
        "revocation_endpoint": at("/connect/revocation"),
        "end_session_endpoint": at("/connect/logout"),
        "jwks_uri": at("/.well-known/jwks.json"),
        "scopes_supported": SCOPES,
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token", "client_credentials"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": [ALGORITHM],
        "token_endpoint_auth_methods_supported":
            ["client_secret_basic", "client_secret_post", "none"],
        "revocation_endpoint_auth_methods_supported":
            ["client_secret_basic", "client_secret_post", "none"],
        "code_challenge_methods_supported": ["S256"],
        "prompt_values_supported": ["none", "login", "select_account"],
        "claims_supported": [
            "iss", "sub", "aud", "exp", "iat", "auth_time", "nonce", "amr", "sid", "org", "at_hash",
            "name", "updated_at", "email", "roles"
        ],
        "authorization_response_iss_parameter_supported": true,
        "backchannel_logout_supported": true,
        "backchannel_logout_session_supported": true,
        "claims_parameter_supported": false,
        "request_parameter_supported": false,
        "request_uri_parameter_supported": false
    })
}
