//! Requests that may be sent again: `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header).
//!
//! Whoever loses the answer to a change can't tell whether it was made. A change that was sent with a
//! key can be sent again with the same key, and is made once:
//!
//! | The key | The answer |
//! | --- | --- |
//! | is new | what the route answers; where that is a success, it is kept together with the change, in one transaction |
//! | was used for the same request | what was answered then, with `Idempotency-Replayed: true`; without the body, where other rights are asked with than then |
//! | was used for another request | 422 |
//! | is being used at this moment | 409; come back |
//! | is new, while all is kept for this person that may be (`Svc:Http:IdempotencyPersonBytes`) | 429, and nothing is done |
//!
//! A request that fails keeps nothing: all that it wrote is undone, and it may be sent again, corrected
//! or not. A key belongs to one person in one organisation, and is known for
//! `Svc:Http:IdempotencyRetention`. It is taken on every method that changes something, by whoever is
//! signed in; a request that nobody sent is served as if it had none.
//!
//! The route runs within one unit of work around all that it writes, so its own ones are parts of that
//! and are done once: a deadlock ends the request, which then may be sent again. What a route does
//! outside of the database is not undone.

mod asked;
pub(crate) mod flights;
mod store;
mod sweep;

use std::convert::Infallible;

use axum::body::{Body, HttpBody};
use axum::extract::Request;
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use futures::FutureExt as _;
use http::{HeaderMap, HeaderName};
use svc_core::{Error, ErrorKind, Result};
use svc_odata::syntax::path_of_query;
use tower::Service;

use crate::authentication::{Ctx, caller};
use crate::problem::ApiError;
use crate::state::HttpState;
use asked::Asked;
use store::Kept;
pub(crate) use store::MIGRATION;
pub(crate) use sweep::Sweep;

const KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// The longest key, in bytes.
const LONGEST: usize = 255;

/// Whether a request is to be done once, however often it comes. A POST that only reads is done as often as it comes: it
/// needs no unit of work, by which it would keep others from writing.
pub(crate) fn has_key(request: &Request) -> bool {
    request.headers().contains_key(KEY)
        && !request.method().is_safe()
        && path_of_query(request.uri().path()).is_none()
}

/// Answers a request that has a key: by the route, or with what was answered before. A body of at most
/// `body_limit` bytes is read before that, so that no unit of work waits for a slow client.
pub(crate) async fn answer<S, B>(
    state: HttpState,
    inner: S,
    request: Request,
    body_limit: usize,
) -> Response
where
    S: Service<Request, Response = http::Response<B>, Error = Infallible> + Send + 'static,
    S::Future: Send + 'static,
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let outcome = answer_once(state, inner, request, body_limit).await;
    outcome.unwrap_or_else(|error| ApiError::from(error).into_response())
}

async fn answer_once<S, B>(
    state: HttpState,
    mut inner: S,
    request: Request,
    body_limit: usize,
) -> Result<Response>
where
    S: Service<Request, Response = http::Response<B>, Error = Infallible> + Send + 'static,
    S::Future: Send + 'static,
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let (mut parts, body) = request.into_parts();
    let key = key_of(&parts.headers)?;
    let mut route = move |request: Request| {
        let answer = inner.call(request).map(|answer| match answer {
            Ok(response) => response.map(Body::new),
            Err(never) => match never {},
        });
        answer.boxed()
    };
    let Some(Ctx(ctx)) = caller(&mut parts, &state).await? else {
        return Ok(route(Request::from_parts(parts, body)).await);
    };
    let body = axum::body::to_bytes(body, body_limit).await.map_err(|error| {
        Error::new(ErrorKind::TooLarge, "the body is larger than allowed, or broke off")
            .caused_by(error)
    })?;
    let asked = Asked::new(&ctx, &key, &parts, &body);
    // Until the answer is kept: whoever comes later finds that.
    let _flight = state.flights().begin(&asked.id)?;
    let settings = state.settings();
    let largest = usize::try_from(settings.idempotency_max_body).unwrap_or(usize::MAX);
    let retention = settings.idempotency_retention;
    let mut failed = None;
    let done = ctx.transact(async |uow| {
        store::lock(&uow, &asked).await?;
        if let Some(kept) = store::find(&uow, &asked, retention).await? {
            return kept.repeated();
        }
        store::expect_room(&uow, &asked, retention, settings.idempotency_person_bytes).await?;
        let response = route(Request::from_parts(parts, body.into())).await;
        if response.status().is_client_error() || response.status().is_server_error() {
            failed = Some(response);
            return Err(Error::internal("a failed request keeps nothing"));
        }
        let (kept, response) = Kept::of(response, largest).await?;
        store::keep(&uow, &asked, &kept).await?;
        Ok(response)
    });
    let done = done.await;
    failed.map_or(done, Ok)
}

/// The key that a request names; the draft writes it in quotes.
fn key_of(headers: &HeaderMap) -> Result<String> {
    let mut given = headers.get_all(KEY).iter();
    let text = match (given.next(), given.next()) {
        (Some(value), None) => value.to_str().unwrap_or_default(),
        _ => "",
    };
    let text = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
    let is_good =
        (1..=LONGEST).contains(&text.len()) && text.bytes().all(|it| it.is_ascii_graphic());
    is_good.then(|| text.to_owned()).ok_or_else(|| {
        Error::malformed(format!(
            "`Idempotency-Key` takes one key of 1 to {LONGEST} letters, digits and signs, such as a \
             UUID"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_one_word_with_or_without_quotes() {
        let key = |text: &str| key_of(&HeaderMap::from_iter([(KEY, text.parse().unwrap())])).ok();
        assert_eq!(key("\"8e03978e\"").as_deref(), Some("8e03978e"));
        assert_eq!(key("8e03978e").as_deref(), Some("8e03978e"));
        for wrong in ["", "\"\"", "two words", &"x".repeat(256)] {
            assert_eq!(key(wrong), None, "{wrong}");
        }
    }
}
