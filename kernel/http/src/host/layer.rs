//! What happens to every request around its handler, in one layer: many small ones would each box
//! a future, and would have to agree on who writes an error's body.

use std::any::Any;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::body::{Body, HttpBody as _};
use axum::extract::{MatchedPath, Request};
use axum::response::{IntoResponse as _, Response};
use futures::FutureExt as _;
use http::header::{
    ACCEPT_ENCODING, AUTHORIZATION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName,
    REFERRER_POLICY, STRICT_TRANSPORT_SECURITY, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use svc_core::settings::WebUrl;
use svc_core::trace::is_exporting;
use svc_core::{Clock, Error};
use svc_database::{Commits, outcome_unknown};
use tower::{Layer, Service};
use tracing::{Instrument as _, Span};

use super::admission::Admission;
use super::compression;
use super::ids::RequestIds;
use super::sent_body::{BodyEnd, SentBody};
use crate::metrics::{HttpMetrics, UNMATCHED};
use crate::problem::{ApiError, ErrorFormat, Failure, Occasion, error_of_status, render};
use crate::state::HttpState;
use crate::telemetry;

/// What an answer may do in a browser where its route says nothing else: nothing.
const CLOSED_POLICY: &str = "default-src 'none'; frame-ancestors 'none'";

/// The layer around every route.
#[derive(Clone)]
pub(super) struct OwnLayer(Arc<Shared>);

struct Shared {
    clock: Clock,
    metrics: Arc<HttpMetrics>,
    request_timeout: Duration,
    /// How long the requests of some routes may take instead.
    timeouts: BTreeMap<&'static str, Duration>,
    slow_request: Duration,
    compresses: bool,
    demands_tls: bool,
    takes_basic: bool,
}

impl OwnLayer {
    pub(super) fn new(
        state: &HttpState,
        metrics: Arc<HttpMetrics>,
        timeouts: BTreeMap<&'static str, Duration>,
    ) -> Self {
        let settings = state.settings();
        Self(Arc::new(Shared {
            takes_basic: state.authenticators().iter().any(|one| one.takes_basic()),
            clock: state.app().clock().clone(),
            metrics,
            request_timeout: settings.request_timeout,
            timeouts,
            slow_request: settings.slow_request,
            compresses: settings.compression,
            demands_tls: settings.public_url.as_ref().is_some_and(demands_tls),
        }))
    }
}

impl Shared {
    /// How long a request may take until its answer begins.
    fn limit(&self, route: Option<&MatchedPath>) -> Duration {
        if self.timeouts.is_empty() {
            return self.request_timeout;
        }
        let own = route.and_then(|route| self.timeouts.get(route.as_str()));
        own.copied().unwrap_or(self.request_timeout)
    }
}

impl<S> Layer<S> for OwnLayer {
    type Service = OwnService<S>;

    fn layer(&self, inner: S) -> OwnService<S> {
        OwnService { inner, shared: Arc::clone(&self.0) }
    }
}

/// A route within the layer.
#[derive(Clone)]
pub(super) struct OwnService<S> {
    inner: S,
    shared: Arc<Shared>,
}

impl<S> Service<Request> for OwnService<S>
where
    S: Service<Request, Response = Response, Error = Infallible>,
    S: Clone + Send + 'static,
    S::Future: Send + 'static,
{
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request) -> Self::Future {
        let ids = RequestIds::of(request.headers(), &self.shared.clock);
        let route = request.extensions().get::<MatchedPath>().cloned();
        let (span, ids) = begin_span(ids, request.method(), route.as_ref());
        request.extensions_mut().insert(ids);
        let accepted = request.headers().get(ACCEPT_ENCODING);
        let accepted = accepted.filter(|_| self.shared.compresses).cloned();
        let admission = Admission::default();
        request.extensions_mut().insert(admission.clone());
        let exchange = Exchange::begin(Arc::clone(&self.shared), ids, route, &request, admission);
        let limit = self.shared.limit(exchange.route.as_ref());
        let handler = self.inner.call(request);
        let work = async move {
            let commits = Commits::default();
            let handler = commits.watch(AssertUnwindSafe(handler).catch_unwind());
            let response = match tokio::time::timeout(limit, handler).await {
                Ok(Ok(Ok(response))) => response,
                Ok(Ok(Err(never))) => match never {},
                Ok(Err(panic)) => {
                    let context = format!("a handler panicked: {}", message_of(&*panic));
                    ApiError::from(Error::internal(context)).into_response()
                }
                // Whoever is told to come back would do again what may be done.
                Err(_) if commits.may_have_stored() => {
                    ApiError::from(outcome_unknown()).into_response()
                }
                Err(_) => {
                    let error = Error::unavailable("the request took too long");
                    ApiError::from(error.retry_after(Duration::from_secs(1))).into_response()
                }
            };
            let response = exchange.finish(response);
            Ok(match accepted {
                Some(accepted) if compression::is_worth(&response) => {
                    compression::compress(accepted, response).await
                }
                _ => response,
            })
        };
        Box::pin(work.instrument(span))
    }
}

/// Whether browsers are told to come by TLS alone. Of `localhost` they would demand it of whatever else listens
/// on the machine, at every port, for a year.
fn demands_tls(url: &WebUrl) -> bool {
    let url: Option<Uri> = url.as_str().parse().ok().filter(|_| url.is_https());
    let host = url.as_ref().and_then(Uri::host).unwrap_or_default();
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    !host.is_empty() && host != "localhost" && !host.ends_with(".localhost")
}

/// The text of a panic, where it has one.
pub(super) fn message_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

/// Begins the span of a request. An exporter of traces may have ids of its own; then the request
/// takes them over, so that a problem's `traceId` finds the trace.
fn begin_span(ids: RequestIds, method: &Method, route: Option<&MatchedPath>) -> (Span, RequestIds) {
    if !is_exporting() {
        let trace = ids.trace();
        return (tracing::info_span!("request", trace = %trace.simple()), ids);
    }
    let route = route.map_or(UNMATCHED, MatchedPath::as_str);
    let span = tracing::info_span!(
        "request",
        trace = tracing::field::Empty,
        otel.name = format_args!("{method} {route}"),
        otel.kind = "server",
        http.request.method = %method,
        http.route = route,
        http.response.status_code = tracing::field::Empty,
        otel.status_code = tracing::field::Empty,
    );
    let ids = match telemetry::join_trace(&span, ids.parent()) {
        Some(trace) => ids.with_trace(trace),
        None => ids,
    };
    span.record("trace", tracing::field::display(ids.trace().simple()));
    (span, ids)
}

/// A request that is being served. When the client goes away its future is dropped, and this
/// with it, which counts it as status 499.
struct Exchange {
    shared: Arc<Shared>,
    ids: RequestIds,
    method: Method,
    route: Option<MatchedPath>,
    uri: Uri,
    format: ErrorFormat,
    had_credential: bool,
    /// Whether a browser's page asks, where an answer could make the browser ask for a password.
    is_of_page: bool,
    admission: Admission,
    begun: Instant,
    is_finished: bool,
}

impl Exchange {
    fn begin(
        shared: Arc<Shared>,
        ids: RequestIds,
        route: Option<MatchedPath>,
        request: &Request,
        admission: Admission,
    ) -> Self {
        shared.metrics.begin();
        Self {
            shared,
            ids,
            route,
            method: request.method().clone(),
            uri: request.uri().clone(),
            format: ErrorFormat::of(request.uri().path(), request.headers()),
            had_credential: request.headers().contains_key(AUTHORIZATION),
            is_of_page: request.headers().contains_key("sec-fetch-mode"),
            admission,
            begun: Instant::now(),
            is_finished: false,
        }
    }

    /// Writes the body of an error, adds the headers that every answer has, counts and logs.
    fn finish(mut self, mut response: Response) -> Response {
        if let Some(Failure(error)) = response.extensions_mut().remove::<Failure>() {
            response = self.fail(&error, response);
        } else if is_bare_error(&response) {
            let error = error_of_status(response.status());
            response = self.fail(&error, response);
        }
        self.admission.complete(response.headers_mut());
        self.add_headers(response.headers_mut());
        let (status, took) = (response.status(), self.begun.elapsed());
        self.count(status, took);
        self.is_finished = true;
        let is_whole = response.body().size_hint().exact().is_some() || self.method == Method::HEAD;
        if is_whole {
            self.log(status, took, None);
            return response;
        }
        if is_event_stream(response.headers()) {
            self.admission.end();
        }
        // The request is being served, and its span is open, until the last byte was taken.
        let head = Head { status, took };
        let sending = Sending { exchange: self, head, span: Span::current() };
        response.map(|body| Body::new(SentBody::new(body, sending)))
    }

    fn fail(&self, error: &Error, response: Response) -> Response {
        let route = self.route.as_ref().map_or(UNMATCHED, MatchedPath::as_str);
        let trace = self.ids.trace().simple().to_string();
        let occasion = Occasion {
            format: self.format,
            path: self.uri.path(),
            trace: &trace,
            had_credential: self.had_credential,
            offers_basic: self.shared.takes_basic
                && !self.is_of_page
                && matches!(self.format, ErrorFormat::OData(_)),
        };
        let rendered = render(error, response.into_parts().0.headers, &occasion);
        match rendered.status() {
            StatusCode::INTERNAL_SERVER_ERROR => {
                tracing::error!(method = %self.method, route, error = error.report(), "a request failed");
            }
            status if status.is_server_error() && status != StatusCode::NOT_IMPLEMENTED => {
                tracing::warn!(
                    method = %self.method, route, status = status.as_u16(), error = error.report(),
                    "a request could not be served"
                );
            }
            _ => {
                tracing::debug!(method = %self.method, route, error = error.report(), "a request was refused");
            }
        }
        rendered
    }

    fn add_headers(&self, headers: &mut HeaderMap) {
        let mut id = [0; uuid::fmt::Hyphenated::LENGTH];
        let id = self.ids.request().hyphenated().encode_lower(&mut id);
        if let Ok(id) = HeaderValue::from_str(id) {
            headers.insert(HeaderName::from_static("x-request-id"), id);
        }
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        let default = |headers: &mut HeaderMap, name, value| {
            headers.entry(name).or_insert(HeaderValue::from_static(value));
        };
        default(headers, REFERRER_POLICY, "no-referrer");
        default(headers, CONTENT_SECURITY_POLICY, CLOSED_POLICY);
        if self.shared.demands_tls {
            default(headers, STRICT_TRANSPORT_SECURITY, "max-age=31536000");
        }
    }

    /// Counts the request, by the time until its answer began.
    fn count(&self, status: StatusCode, took: Duration) {
        self.shared.metrics.end(&self.method, self.route.as_ref(), status.as_u16(), took);
        if is_exporting() {
            let span = Span::current();
            span.record("http.response.status_code", status.as_u16());
            if status.is_server_error() {
                span.record("otel.status_code", "ERROR");
            }
        }
    }

    /// Logs the request: reads that succeed at `debug`, what changes something or fails at `info`.
    /// The query is left out, which may hold what nobody should read in a log. Of an answer that
    /// was sent in pieces `head` is the time until it began; whether that was slow is the
    /// application's doing, how long it took from then on hangs on the client, too.
    fn log(&self, status: StatusCode, took: Duration, head: Option<Duration>) {
        let is_slow = head.unwrap_or(took) >= self.shared.slow_request;
        // Scanners ask for addresses by the thousand.
        let is_quiet = !status.is_client_error() || self.route.is_none();
        let is_quiet = is_quiet && self.method.is_safe() && !is_slow;
        let duration_ms = milliseconds(took);
        let first_byte_ms = head.map(milliseconds);
        let (method, status) = (&self.method, status.as_u16());
        let route = self.route.as_ref().map_or(UNMATCHED, MatchedPath::as_str);
        if is_quiet {
            tracing::debug!(%method, route, status, duration_ms, first_byte_ms, "request");
        } else if is_slow {
            tracing::warn!(%method, route, status, duration_ms, first_byte_ms, "slow request");
        } else {
            tracing::info!(%method, route, status, duration_ms, first_byte_ms, "request");
        }
    }
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1_000.0
}

/// An answer that is being sent in pieces.
struct Sending {
    exchange: Exchange,
    head: Head,
    span: Span,
}

/// When an answer began, and as what.
#[derive(Clone, Copy)]
struct Head {
    status: StatusCode,
    took: Duration,
}

impl BodyEnd for Sending {
    fn ended(self, is_whole: bool) {
        let Self { exchange, head: Head { status, took }, span } = self;
        let sent = exchange.begun.elapsed();
        span.in_scope(|| {
            if is_whole {
                exchange.log(status, sent, Some(took));
                return;
            }
            let route = exchange.route.as_ref().map_or(UNMATCHED, MatchedPath::as_str);
            tracing::info!(
                method = %exchange.method, route, status = status.as_u16(),
                duration_ms = milliseconds(sent), first_byte_ms = milliseconds(took),
                "an answer was not sent to its end"
            );
        });
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.admission.end();
        self.shared.metrics.leave();
        if !self.is_finished {
            let took = self.begun.elapsed();
            self.shared.metrics.end(&self.method, self.route.as_ref(), 499, took);
            let route = self.route.as_ref().map_or(UNMATCHED, MatchedPath::as_str);
            tracing::debug!(method = %self.method, route, "the client went away before its answer");
        }
    }
}

fn is_event_stream(headers: &HeaderMap) -> bool {
    let media_type = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
    media_type.starts_with(b"text/event-stream")
}

/// Whether an answer is an error without a body of its own kind: the router's 405, or the
/// plain text of an extractor that isn't ours.
fn is_bare_error(response: &Response) -> bool {
    let status = response.status();
    if !status.is_client_error() && !status.is_server_error() {
        return false;
    }
    match response.headers().get(CONTENT_TYPE) {
        None => response.body().size_hint().exact() == Some(0),
        Some(media_type) => media_type.as_bytes().starts_with(b"text/plain"),
    }
}
