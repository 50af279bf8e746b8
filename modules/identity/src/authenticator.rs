use std::net::SocketAddr;

use async_trait::async_trait;
use axum::extract::ConnectInfo;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::AUTHORIZATION;
use http::request::Parts;
use svc_core::{App, Error, Principal, Result};
use svc_http::Authenticator;

use crate::refusals::Refusals;
use crate::service::IdentityService;

/// Knows `Authorization: Bearer svck_…`, and `Basic` with the key as password, whatever the name: what
/// spreadsheets and reporting tools can send.
///
/// A key that is mistyped, unknown, expired or revoked, or whose owner is disabled or gone, gets
/// the same answer: who tries keys learns nothing from it.
pub(crate) struct ApiKeyAuthenticator;

#[async_trait]
impl Authenticator for ApiKeyAuthenticator {
    async fn authenticate(&self, app: &App, request: &Parts) -> Result<Option<Principal>> {
        let mut headers = request.headers.get_all(AUTHORIZATION).iter();
        let (Some(header), None) = (headers.next(), headers.next()) else { return Ok(None) };
        let Some(key) = header.to_str().ok().and_then(presented_key) else { return Ok(None) };
        match app.service::<IdentityService>()?.judge_key(&key).await? {
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

    fn takes_basic(&self) -> bool {
        true
    }
}

/// The API key in the value of the header; none for another kind of credential.
fn presented_key(value: &str) -> Option<String> {
    let (scheme, credential) = value.split_once(' ')?;
    let credential = credential.trim_matches(' ');
    let key = if scheme.eq_ignore_ascii_case("bearer") {
        credential.to_owned()
    } else if scheme.eq_ignore_ascii_case("basic") {
        let decoded = String::from_utf8(STANDARD.decode(credential).ok()?).ok()?;
        decoded.split_once(':')?.1.to_owned()
    } else {
        return None;
    };
    key.starts_with("svck_").then_some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_keys_behind_bearer_or_as_password_are_taken() {
        let basic = |text: &str| format!("Basic {}", STANDARD.encode(text));
        for taken in
            ["Bearer svck_abc", "bearer  svck_abc ", &basic("ada:svck_abc"), &basic(":svck_abc")]
        {
            assert_eq!(presented_key(taken).as_deref(), Some("svck_abc"), "{taken}");
        }
        for other in [
            "svck_abc",
            "Basic svck_abc",
            "Bearer eyJhbGciOi",
            "Bearer",
            "Bearer ",
            &basic("svck_abc:"),
            &basic("svck_abc"),
            &basic("ada:secret"),
        ] {
            assert_eq!(presented_key(other), None, "{other}");
        }
    }
}
