//! The page at `/`, under a policy of its own.

use std::sync::Arc;

use axum::response::{IntoResponse as _, Redirect, Response};
use http::Uri;
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName};
use svc_core::{App, Error};
use svc_http::{ApiResult, ContentPolicy, FrameAncestors, HttpState, StaticFiles};

pub(crate) async fn page(files: Arc<StaticFiles>, state: HttpState) -> ApiResult<Response> {
    let page = files.read("index.html", state.settings().files_from_disk).await?;
    let headers = [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CACHE_CONTROL, "no-cache, no-store"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ];
    let policy = [(CONTENT_SECURITY_POLICY, policy(state.app()).header())];
    Ok((headers, policy, page).into_response())
}

/// The page has one address: that with a slash at its end leads there. Nothing else lies below it.
pub(crate) fn beside_the_page(uri: &Uri, prefix: &str) -> ApiResult<Redirect> {
    if uri.path().strip_prefix(prefix) != Some("/") {
        return Err(Error::not_found("there is nothing at this address").into());
    }
    let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    Ok(Redirect::permanent(&format!("{prefix}{query}")))
}

/// What the client may do in a browser; the README says why.
fn policy(app: &App) -> ContentPolicy {
    let framing = app.find_service::<FrameAncestors>();
    ContentPolicy::closed()
        .scripts("'self'")
        .styles("'self'")
        .fonts("'self'")
        .requests_to("'self'")
        .posts_to("'self'")
        .pictures("'self'")
        .pictures("data:")
        .pictures("blob:")
        .pictures("https:")
        .frames("'self'")
        .frames("https:")
        .allow("manifest-src", "'self'")
        .allow("worker-src", "'self'")
        .framed_by(framing.iter().flat_map(|origins| &origins.0))
        .trusted_types(["lit-html", "svc-shell", "svc-web"])
}
