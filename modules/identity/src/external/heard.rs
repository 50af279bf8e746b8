//! Hearing from an issuer that somebody has signed out there (OpenID Connect Back-Channel Logout).
//!
//! The issuer sends a logout token to `/connect/external/<name>/logout`. It names the session there, or the
//! person, or both; what was begun here by that account ends with it, also in other browsers and on other
//! nodes. It is signed by the issuer and for this application, so nobody else ends a session; it says by its
//! event that it is one, so no other token of the issuer does; and it ends only what was begun before it was
//! made, so that one that is sent again keeps nobody out.

use svc_core::{App, Result};
use svc_openid::{Claims, TOLERANCE_S};

use super::issuers::ExternalIssuer;
use crate::sessions::{self, BegunElsewhere};

/// Ends what a logout token names, and says how many sessions that were; or why the token doesn't hold.
pub(crate) async fn hear(
    app: &App,
    issuer: &ExternalIssuer,
    token: &str,
) -> Result<std::result::Result<usize, &'static str>> {
    let claims: Claims = match issuer.remote.check_logout_token(token).await? {
        Ok(claims) => claims,
        Err(fault) => return Ok(Err(fault.as_str())),
    };
    // Nobody has such a name here.
    if !claims.is_storable() {
        return Ok(Err("claims"));
    }
    let begun = BegunElsewhere {
        issuer: &issuer.key(),
        subject: Some(claims.sub.as_str()).filter(|subject| !subject.is_empty()),
        sid: claims.sid.as_deref(),
        before_s: claims.iat.saturating_add(TOLERANCE_S),
    };
    sessions::end_begun_elsewhere(app, begun).await.map(Ok)
}
