//! What stands before each route: requests are refused here that nobody needs to look at, and those that were answered
//! before are answered again.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, HttpBody};
use axum::extract::Request;
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

/// Makes [`RouteGuard`]s.
#[derive(Clone)]
pub(super) struct RouteGuardLayer(pub(super) HttpState);

impl<S> Layer<S> for RouteGuardLayer {
    type Service = RouteGuard<S>;

    fn layer(&self, route: S) -> RouteGuard<S> {
        RouteGuard { route, state: self.0.clone() }
    }
}

/// A route with its guard.
#[derive(Clone)]
pub(super) struct RouteGuard<S> {
    route: S,
    state: HttpState,
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

    fn call(&mut self, request: Request) -> Self::Future {
        if let Err(error) = check_body(&request) {
            let refusal = ApiError::from(error).into_response();
            return Either::Right(Either::Left(ready(Ok(refusal))));
        }
        if idempotency::has_key(&request) {
            let answer = idempotency::answer(self.state.clone(), self.route.clone(), request);
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
