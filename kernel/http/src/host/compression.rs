//! Compression of answers that gain by it.
//!
//! Most answers are one record and too small to gain anything, so the decision comes first and
//! costs nothing; only then is the answer handed to tower-http, which negotiates and encodes. What says
//! `Cache-Control: no-transform` goes as it is: a page with a secret, of which the length would tell something.

use std::convert::Infallible;
use std::future::ready;

use axum::body::{Body, HttpBody as _};
use axum::response::Response;
use http::header::{ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_RANGE, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Request};
use tower::{ServiceExt as _, service_fn};
use tower_http::compression::Compression;

/// Below this many bytes a packet is saved neither way.
const WORTH_BYTES: u64 = 1024;

/// Whether an answer gains by compression: a text that is not known to be short.
pub(super) fn is_worth(response: &Response) -> bool {
    let is_short = response.body().size_hint().upper().is_some_and(|size| size < WORTH_BYTES);
    !is_short && is_text(response.headers()) && !is_kept(response.headers())
}

/// Whether nobody may encode the answer anew (RFC 9111, section 5.2.2.6).
fn is_kept(headers: &HeaderMap) -> bool {
    let lines = headers.get_all(CACHE_CONTROL).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|it| it.trim().eq_ignore_ascii_case("no-transform"))
}

fn is_text(headers: &HeaderMap) -> bool {
    if headers.contains_key(CONTENT_ENCODING) || headers.contains_key(CONTENT_RANGE) {
        return false;
    }
    let media_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = media_type.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    // A stream of events must reach the browser event by event.
    (essence.starts_with("text/") && essence != "text/event-stream")
        || essence.ends_with("json")
        || essence.ends_with("xml")
        || essence.ends_with("javascript")
}

/// Encodes an answer in the coding that its caller likes best, if it knows one.
pub(super) async fn compress(accepted: HeaderValue, response: Response) -> Response {
    let mut request = Request::new(());
    request.headers_mut().insert(ACCEPT_ENCODING, accepted);
    let mut response = Some(response);
    let answer = service_fn(move |_: Request<()>| {
        let response = response.take().expect("`oneshot` calls once");
        ready(Ok::<_, Infallible>(response))
    });
    let compression = Compression::new(answer).compress_when(|_, _, _: &HeaderMap, _: &_| true);
    match compression.oneshot(request).await {
        Ok(response) => response.map(Body::new),
        Err(never) => match never {},
    }
}
