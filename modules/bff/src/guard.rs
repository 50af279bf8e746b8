//! What stands around all routes where browsers come: a limit for bodies, and what pages of other sites and
//! frames may do with answers.
//!
//! The host's own layer adds `X-Content-Type-Options`, `Referrer-Policy`, a closed
//! `Content-Security-Policy` and, with TLS, `Strict-Transport-Security`. This one adds:
//!
//! | Header | Value | An answer may say otherwise |
//! | --- | --- | --- |
//! | `Permissions-Policy` | no device, no place, no payment | yes |
//! | `Cross-Origin-Opener-Policy` | `same-origin`: a page that opens ours has no hand on it | yes |
//! | `Cross-Origin-Resource-Policy` | `same-origin`: no page of another site loads an answer as a picture or script | yes |
//! | `frame-ancestors` of a page's policy | the origins of `Svc:Bff:FrameAncestors` in place of `'none'` | the account pages keep their own |

use async_trait::async_trait;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use http::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue};
use http_body_util::Limited;
use svc_core::settings::WebUrl;
use svc_core::{App, Error, Result};
use svc_http::{ApiResult, HostLayer, HttpState, LayerPlace, NextLayer};

use crate::errors::BODY_TOO_LARGE;
use crate::service::Host;
use crate::settings::BffSettings;

/// Where people sign in: what may frame those pages is `Svc:Auth:FrameAncestors`.
const ACCOUNT: &str = "/account";

const DEFAULTS: [(HeaderName, HeaderValue); 3] = [
    (
        HeaderName::from_static("permissions-policy"),
        HeaderValue::from_static(
            "accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), \
             magnetometer=(), microphone=(), midi=(), payment=(), usb=()",
        ),
    ),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        HeaderValue::from_static("same-origin"),
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        HeaderValue::from_static("same-origin"),
    ),
];

/// The layer.
pub(crate) struct BrowserGuard;

#[async_trait]
impl HostLayer for BrowserGuard {
    fn name(&self) -> &'static str {
        "browsers"
    }

    fn place(&self) -> LayerPlace {
        LayerPlace::Guard
    }

    async fn handle(
        &self,
        state: &HttpState,
        request: Request,
        next: NextLayer,
    ) -> ApiResult<Response> {
        let request = limited(state.app(), request)?;
        let is_account = request.uri().path().starts_with(ACCOUNT);
        let mut response = next.run(request).await;
        for (name, value) in DEFAULTS {
            response.headers_mut().entry(name).or_insert(value);
        }
        if !is_account {
            let settings = state.app().settings::<BffSettings>();
            allow_frames(response.headers_mut(), &settings.frame_ancestors);
        }
        Ok(response)
    }
}

/// Limits the body of a request that comes with the cookie of a sign-in: by what it says of its length,
/// and while it is read.
fn limited(app: &App, request: Request) -> Result<Request> {
    let Some(most) = app.settings::<BffSettings>().max_request_body_size else {
        return Ok(request);
    };
    let headers = request.headers();
    if headers.contains_key(AUTHORIZATION) || Host::of(app)?.presented(headers).is_none() {
        return Ok(request);
    }
    let length = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    if length.and_then(|length| length.parse::<u64>().ok()).is_some_and(|length| length > most) {
        return Err(too_large(most));
    }
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    Ok(request.map(|body| Body::new(Limited::new(body, most))))
}

/// `most` is in bytes.
pub(crate) fn too_large(most: u64) -> Error {
    let message = format!("the body is larger than {most} bytes, which a browser may send");
    BODY_TOO_LARGE.error(message).with("most", most)
}

/// Lets pages of these origins show a page in a frame.
fn allow_frames(headers: &mut HeaderMap, origins: &[WebUrl]) {
    let is_page = |value: &HeaderValue| value.as_bytes().starts_with(b"text/html");
    if origins.is_empty() || !headers.get(CONTENT_TYPE).is_some_and(is_page) {
        return;
    }
    let policy = headers.get(CONTENT_SECURITY_POLICY).and_then(|policy| policy.to_str().ok());
    let origins: Vec<&str> = origins.iter().map(|it| it.as_str().trim_end_matches('/')).collect();
    let allowed = format!("frame-ancestors {}", origins.join(" "));
    let policy = policy.map(|policy| policy.replace("frame-ancestors 'none'", &allowed));
    if let Some(Ok(policy)) = policy.map(HeaderValue::try_from) {
        headers.insert(CONTENT_SECURITY_POLICY, policy);
    }
}
