use std::net::SocketAddr;

use async_trait::async_trait;
use axum::extract::ConnectInfo;
use http::header::AUTHORIZATION;
use http::request::Parts;
use svc_core::{App, Error, Principal, Result};
use svc_http::Authenticator;

use crate::refusals::Refusals;
use crate::service::IdentityService;

/// Knows `Authorization: Bearer svck_…`.
///
/// A key that is mistyped, unknown, expired or revoked, or whose owner is disabled or gone, gets
/// the same answer: who tries keys learns nothing from it.
pub(crate) struct ApiKeyAuthenticator;

#[async_trait]
impl Authenticator for ApiKeyAuthenticator {
    async fn authenticate(&self, app: &App, request: &Parts) -> Result<Option<Principal>> {
        let mut headers = request.headers.get_all(AUTHORIZATION).iter();
        let (Some(header), None) = (headers.next(), headers.next()) else { return Ok(None) };
        let Some(key) = header.to_str().ok().and_then(bearer_key) else { return Ok(None) };
        match app.service::<IdentityService>()?.judge_key(key).await? {
            Ok(principal) => Ok(Some(principal)),
            Err(refusal) => {
                let peer = request.extensions.get::<ConnectInfo<SocketAddr>>();
                let address = peer.map(|ConnectInfo(peer)| peer.ip().to_canonical());
                app.service::<Refusals>()?.note(refusal, address);
                Err(Error::unauthenticated(
                    "the API key is not valid; it may be mistyped, expired or revoked",
                ))
            }
        }
    }
}

/// The API key in the value of the header; none for another kind of credential.
fn bearer_key(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    let token = token.trim_matches(' ');
    (scheme.eq_ignore_ascii_case("bearer") && token.starts_with("svck_")).then_some(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_keys_behind_bearer_are_taken() {
        assert_eq!(bearer_key("Bearer svck_abc"), Some("svck_abc"));
        assert_eq!(bearer_key("bearer  svck_abc "), Some("svck_abc"));
        for other in ["svck_abc", "Basic svck_abc", "Bearer eyJhbGciOi", "Bearer", "Bearer "] {
            assert_eq!(bearer_key(other), None, "{other}");
        }
    }
}
