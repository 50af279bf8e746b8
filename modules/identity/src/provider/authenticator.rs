//! Who calls with an access token.

use async_trait::async_trait;
use http::header::AUTHORIZATION;
use http::request::Parts;
use svc_core::{App, Directory, Error, Means, Principal, Result};
use svc_http::Authenticator;

use super::tokens::Tokens;

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
        let Some(token) = header.to_str().ok().and_then(presented_token) else { return Ok(None) };
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
    if !tokens.holds(app, &token).await? {
        return Ok(None);
    }
    app.service::<dyn Directory>()?.principal(token.user, token.organisation).await
}

/// What has the form of a token: three parts with dots between them.
pub(crate) fn presented_token(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    let token = token.trim_matches(' ');
    let permitted = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let is_one = scheme.eq_ignore_ascii_case("bearer")
        && token.bytes().filter(|byte| *byte == b'.').count() == 2
        && token.bytes().all(permitted);
    is_one.then_some(token)
}

#[cfg(test)]
mod tests {
    use super::presented_token;

    #[test]
    fn only_what_looks_like_a_token_is_taken() {
        assert_eq!(presented_token("Bearer a.b.c"), Some("a.b.c"));
        assert_eq!(presented_token("bearer  a.b. "), Some("a.b."));
        for other in ["Bearer svck_a.b.c/", "Bearer svck_abc", "Basic a.b.c", "Bearer a.b", "a.b.c"]
        {
            assert_eq!(presented_token(other), None, "{other}");
        }
    }
}
