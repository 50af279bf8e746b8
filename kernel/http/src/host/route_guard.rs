//! What stands before each route: requests are refused here that nobody needs to look at, and those that were answered
//! before are answered again.
//!
//! Nobody is known yet who sends a body to a route for everybody, and so has no share of anything. Such a body is small
//! (`Svc:Http:PublicBodySize`), and only so many are taken in at once (`Svc:Http:PublicRequests`).

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::future::{Ready, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::extract::{DefaultBodyLimit, MatchedPath, Request};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use futures::FutureExt as _;
use futures::future::{Either, Map};
use svc_core::{Error, ErrorKind};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tower::{Layer, Service};

use super::guard::check_body;
use crate::idempotency;
use crate::problem::ApiError;
use crate::settings::HttpSettings;
use crate::state::HttpState;

type Answered = Result<Response, Infallible>;

/// How large bodies may be, in bytes, and how many of them are taken in for nobody in particular.
pub(super) struct BodyLimits {
    usual: u64,
    of_routes: BTreeMap<&'static str, u64>,
    /// The paths of routes for everybody that take bodies.
    public: BTreeSet<String>,
    of_public: u64,
    places: Arc<Semaphore>,
}

impl BodyLimits {
    pub(super) fn new(
        settings: &HttpSettings,
        of_routes: BTreeMap<&'static str, u64>,
        public: BTreeSet<String>,
    ) -> Self {
        let places = usize::try_from(settings.public_requests).unwrap_or(Semaphore::MAX_PERMITS);
        Self {
            usual: settings.max_body_size,
            of_routes,
            public,
            of_public: settings.public_body_size,
            places: Arc::new(Semaphore::new(places)),
        }
    }

    /// That of the route that a request goes to; with a place where it needs one.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Unavailable`] when there is no place, [`ErrorKind::TooLarge`] when it says that it is too large.
    fn of<B: HttpBody>(
        &self,
        request: &http::Request<B>,
    ) -> Result<(usize, Option<OwnedSemaphorePermit>), Error> {
        let route = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
        let own = route.and_then(|route| self.of_routes.get(route)).copied();
        let is_public = route.is_some_and(|route| self.public.contains(route));
        let limit = own.unwrap_or(if is_public { self.of_public } else { self.usual });
        let mut place = None;
        if is_public && !request.body().is_end_stream() {
            if request.body().size_hint().lower() > limit {
                let message = format!("the body is larger than {limit} bytes");
                return Err(Error::new(ErrorKind::TooLarge, message));
            }
            let places = Arc::clone(&self.places);
            let taken = places.try_acquire_owned().map_err(|_| {
                Error::unavailable(
                    "too many send something who aren't signed in; try again in a while",
                )
                .retry_after(Duration::from_secs(1))
            });
            place = Some(taken?);
        }
        Ok((usize::try_from(limit).unwrap_or(usize::MAX), place))
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
        let (body_limit, place) = match self.body_limits.of(&request) {
            Ok(limits) => limits,
            Err(error) => {
                return Either::Right(Either::Left(ready(Ok(
                    ApiError::from(error).into_response()
                ))));
            }
        };
        // A layer of the route itself, which comes later, can set another.
        DefaultBodyLimit::max(body_limit).apply(&mut request);
        if idempotency::has_key(&request) {
            let (state, route) = (self.state.clone(), self.route.clone());
            let answer = idempotency::answer(state, route, request, body_limit);
            return Either::Right(Either::Right(answer.map(Ok).boxed()));
        }
        let answer = self.route.call(request).map(with_plain_body as fn(_) -> _);
        match place {
            None => Either::Left(answer),
            Some(place) => Either::Right(Either::Right(answer.inspect(|_| drop(place)).boxed())),
        }
    }
}

fn with_plain_body<B>(answer: Result<http::Response<B>, Infallible>) -> Answered
where
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    answer.map(|response| response.map(Body::new))
}
