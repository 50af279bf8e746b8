//! Who calls with an access token.

use async_trait::async_trait;
use http::header::AUTHORIZATION;
use http::request::Parts;
use svc_core::{App, Directory, Error, Means, Principal, Result};
use svc_http::Authenticator;

use super::tokens::Tokens;
use crate::presented::bearer_token;

/// Knows `Authorization: Bearer <access token>` (RFC 6750, section 2.1). A token in the address or in
/// a form isn't taken: addresses stand in logs.
///
/// What the person may do is asked of the [`Directory`] each time, so the token gives no right that
/// was taken away since it was made.
pub(super) struct TokenAuthenticator;

#[async_trait]
impl Authenticator for TokenAuthenticator {
    async fn authenticate(&self, app: &App, request: &Parts) -> Result<Option<Principal>> {
        let mut headers = request.headers.get_all(AUTHORIZATION).iter();
        let (Some(header), None) = (headers.next(), headers.next()) else { return Ok(None) };
        let Some(token) = header.to_str().ok().and_then(bearer_token) else { return Ok(None) };
        match principal_of(app, token).await? {
            Some(principal) => Ok(Some(principal.known_by(Means::Header))),
            None => Err(Error::unauthenticated(
                "the access token is not valid; it may be over, or its session has ended: sign in \
                 again",
            )),
        }
    }
}

/// Whom an access token stands for at this moment; none for one that opens nothing, whatever the reason.
pub(super) async fn principal_of(app: &App, token: &str) -> Result<Option<Principal>> {
    let tokens = app.service::<Tokens>()?;
    let token = match tokens.check_access(app, token).await? {
        Ok(token) => token,
        Err(fault) => {
            tracing::debug!(reason = fault.as_str(), "an access token was refused");
            return Ok(None);
        }
    };
    let Some(organisation) = tokens.organisation(app, &token).await? else { return Ok(None) };
    app.service::<dyn Directory>()?.principal(token.user, organisation).await
}
