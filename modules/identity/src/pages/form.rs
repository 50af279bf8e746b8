//! Forms, which only our own pages can send.
//!
//! A browser sends a form of any site with our cookies. So a form counts only where
//!
//! 1. the browser says that a page of ours sent it (`Sec-Fetch-Site`, or `Origin` where it doesn't send
//!    that), and
//! 2. it carries the secret of the browser's cookie `__Host-svc-form`, which a page of another site
//!    can neither read nor set (a signed double submit isn't needed with this prefix).
//!
//! Both hold before anybody has signed in, so nobody can be signed in as somebody else. The secret
//! is in [`form_secret`](super::form_secret).

use axum::extract::{FromRequest, FromRequestParts as _, Request};
use bytes::Bytes;
use http::StatusCode;
use serde::de::DeserializeOwned;
use svc_http::{HttpState, comes_from_here};

use super::answer::PageError;
use super::visit::Visit;

/// A form that one of our pages has sent.
pub(crate) struct Submitted<T>(pub(super) Visit, pub(super) T);

impl<T: DeserializeOwned> FromRequest<HttpState> for Submitted<T> {
    type Rejection = PageError;

    async fn from_request(request: Request, state: &HttpState) -> Result<Self, PageError> {
        use axum::RequestExt as _;
        let (mut parts, body) = request.into_parts();
        let visit = Visit::from_request_parts(&mut parts, state).await?;
        let body = Request::from_parts(parts, body).extract::<Bytes, _>().await;
        let Ok(body) = body else { return Err(PageError::form(&visit, "identity-error-form")) };
        if !visit.secret.is_known {
            return Err(PageError::form(&visit, "identity-error-cookies"));
        }
        let public_url = state.settings().public_url.as_ref();
        let token = field(&body, "form");
        if !comes_from_here(&visit.headers, public_url) || !visit.secret.is_in(&token) {
            return Err(PageError::form(&visit, "identity-error-form"));
        }
        match serde_urlencoded::from_bytes(&body) {
            Ok(form) => Ok(Self(visit, form)),
            Err(_) => {
                Err(PageError::status(&visit, StatusCode::BAD_REQUEST, "identity-error-form"))
            }
        }
    }
}

fn field(body: &[u8], name: &str) -> String {
    let pairs: Vec<(String, String)> = serde_urlencoded::from_bytes(body).unwrap_or_default();
    pairs.into_iter().find(|(known, _)| known == name).map(|(_, value)| value).unwrap_or_default()
}
