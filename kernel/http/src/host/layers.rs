//! The layers that modules put around all routes.
//!
//! ```text
//! host's own layer (ids, time, errors, metrics)
//!   └─ modules' layers, by their place, those of one place in the order of the modules
//!        └─ what is refused before anybody is asked, requests that may be sent again
//!             └─ the route
//! ```
//!
//! So a layer sees a request before anybody knows who calls, what it refuses is written like every error, and what it adds
//! to an answer is also on one that is repeated. Where there are none, a request costs nothing for them.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use async_trait::async_trait;
use axum::extract::Request;
use axum::response::{IntoResponse as _, Response};
use tower::util::BoxCloneSyncService;
use tower::{Layer, Service, ServiceExt as _};

use crate::problem::ApiResult;
use crate::state::HttpState;

/// Where a layer stands among those of other modules, from the outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LayerPlace {
    /// Outside of all: what refuses requests, or adds to every answer.
    Guard,
    /// What turns something that a browser sends by itself, such as a cookie, into a credential.
    Session,
    /// Next to the routes: what looks at requests as they are served.
    Route,
}

/// A layer around all routes of the application, which a module adds with `registry.layer(…)`.
///
/// ```
/// use async_trait::async_trait;
/// use axum::{extract::Request, response::Response};
/// use svc_core::Error;
/// use svc_http::{ApiResult, HostLayer, HttpState, LayerPlace, NextLayer};
///
/// /// Answers only requests for the application's own name.
/// struct OwnName(String);
///
/// #[async_trait]
/// impl HostLayer for OwnName {
///     fn name(&self) -> &'static str {
///         "own name"
///     }
///
///     fn place(&self) -> LayerPlace {
///         LayerPlace::Guard
///     }
///
///     async fn handle(&self, _: &HttpState, request: Request, next: NextLayer) -> ApiResult<Response> {
///         let host = request.headers().get("host").and_then(|value| value.to_str().ok());
///         if host != Some(&self.0) {
///             return Err(Error::not_found("there is nothing at this address").into());
///         }
///         Ok(next.run(request).await)
///     }
/// }
/// ```
#[async_trait]
pub trait HostLayer: Send + Sync + 'static {
    /// The name, for `modules`.
    fn name(&self) -> &'static str;

    /// Where it stands among the layers of other modules.
    fn place(&self) -> LayerPlace;

    /// Answers a request, usually by what the further layers and the route answer to it. A request that it changes is a
    /// changed one for all of them: who adds `Authorization` says who calls.
    ///
    /// # Errors
    ///
    /// What the caller is to read, in place of an answer.
    async fn handle(
        &self,
        state: &HttpState,
        request: Request,
        next: NextLayer,
    ) -> ApiResult<Response>;
}

type Route = BoxCloneSyncService<Request, Response, Infallible>;

/// What lies behind a layer.
pub struct NextLayer {
    state: HttpState,
    layers: Arc<[Arc<dyn HostLayer>]>,
    at: usize,
    route: Route,
}

impl NextLayer {
    /// The answer of the further layers and the route.
    pub async fn run(mut self, request: Request) -> Response {
        let Some(layer) = self.layers.get(self.at).cloned() else {
            let Ok(response) = self.route.oneshot(request).await;
            return response;
        };
        self.at += 1;
        let state = self.state.clone();
        match layer.handle(&state, request, self).await {
            Ok(response) => response,
            Err(error) => error.into_response(),
        }
    }
}

/// All layers of modules, in their order.
#[derive(Clone)]
pub(super) struct ModuleLayers {
    state: HttpState,
    layers: Arc<[Arc<dyn HostLayer>]>,
}

impl ModuleLayers {
    /// None where there are none.
    pub(super) fn new(state: &HttpState, mut layers: Vec<Arc<dyn HostLayer>>) -> Option<Self> {
        layers.sort_by_key(|layer| layer.place());
        (!layers.is_empty()).then(|| Self { state: state.clone(), layers: layers.into() })
    }
}

impl<S> Layer<S> for ModuleLayers
where
    S: Service<Request, Response = Response, Error = Infallible> + Clone + Send + Sync + 'static,
    S::Future: Send + 'static,
{
    type Service = LayeredService;

    fn layer(&self, inner: S) -> LayeredService {
        LayeredService { all: self.clone(), route: BoxCloneSyncService::new(inner) }
    }
}

/// A route within the layers of modules.
#[derive(Clone)]
pub(super) struct LayeredService {
    all: ModuleLayers,
    route: Route,
}

impl Service<Request> for LayeredService {
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.route.poll_ready(context)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let ModuleLayers { state, layers } = self.all.clone();
        let next = NextLayer { state, layers, at: 0, route: self.route.clone() };
        Box::pin(async move { Ok(next.run(request).await) })
    }
}
