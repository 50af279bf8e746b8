//! What stands before each route: requests are refused here that nobody needs to look at, and those that were answered
//! before are answered again.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::future::{Ready, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, HttpBody};
use axum::extract::{DefaultBodyLimit, MatchedPath, Request};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use futures::FutureExt as _;
use futures::future::{Either, Map};
use tower::{Layer, Service};

use super::guard::check_body;
use crate::idempotency;
use crate::problem::ApiError;
use crate::state::HttpState;

type Answered = Result<Response, Infallible>;

/// How large bodies may be, in bytes.
pub(super) struct BodyLimits {
    usual: u64,
    of_routes: BTreeMap<&'static str, u64>,
}

impl BodyLimits {
    pub(super) fn new(usual: u64, of_routes: BTreeMap<&'static str, u64>) -> Self {
        Self { usual, of_routes }
    }

    /// That of the route that a request goes to.
    fn of(&self, request: &Request) -> usize {
        let route = request.extensions().get::<MatchedPath>();
        let own = route.and_then(|route| self.of_routes.get(route.as_str()));
        usize::try_from(*own.unwrap_or(&self.usual)).unwrap_or(usize::MAX)
    }
}

/// Makes [`RouteGuard`]s.
#[derive(Clone)]
pub(super) struct RouteGuardLayer {
    state: HttpState,
    body_limits: Arc<BodyLimits>,
}

impl RouteGuardLayer {
    pub(super) fn new(state: &HttpState, body_limits: BodyLimits) -> Self {
        Self { state: state.clone(), body_limits: Arc::new(body_limits) }
    }
}

impl<S> Layer<S> for RouteGuardLayer {
    type Service = RouteGuard<S>;

    fn layer(&self, route: S) -> RouteGuard<S> {
        RouteGuard { route, state: self.state.clone(), body_limits: Arc::clone(&self.body_limits) }
    }
}

/// A route with its guard.
#[derive(Clone)]
pub(super) struct RouteGuard<S> {
    route: S,
    state: HttpState,
    body_limits: Arc<BodyLimits>,
}

impl<S, B> Service<Request> for RouteGuard<S>
where
    S: Service<Request, Response = http::Response<B>, Error = Infallible>,
    S: Clone + Send + 'static,
    S::Future: Send + 'static,
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = Response;
    type Error = Infallible;
    type Future = Either<
        Map<S::Future, fn(Result<http::Response<B>, Infallible>) -> Answered>,
        Either<Ready<Answered>, Pin<Box<dyn Future<Output = Answered> + Send>>>,
    >;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.route.poll_ready(context)
    }

    fn call(&mut self, mut request: Request) -> Self::Future {
        if let Err(error) = check_body(&request) {
            let refusal = ApiError::from(error).into_response();
            return Either::Right(Either::Left(ready(Ok(refusal))));
        }
        let body_limit = self.body_limits.of(&request);
        // A layer of the route itself, which comes later, can set another.
        DefaultBodyLimit::max(body_limit).apply(&mut request);
        if idempotency::has_key(&request) {
            let (state, route) = (self.state.clone(), self.route.clone());
            let answer = idempotency::answer(state, route, request, body_limit);
            return Either::Right(Either::Right(answer.map(Ok).boxed()));
        }
        Either::Left(self.route.call(request).map(with_plain_body))
    }
}

fn with_plain_body<B>(answer: Result<http::Response<B>, Infallible>) -> Answered
where
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    answer.map(|response| response.map(Body::new))
}
