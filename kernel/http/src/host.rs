//! One router out of everything that was registered, behind one layer.

pub(crate) mod admission;
mod compression;
pub(crate) mod guard;
pub(crate) mod ids;
mod layer;
pub(crate) mod layers;
mod route_guard;
mod sent_body;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use axum::Router;
use svc_core::{App, Error, ErrorCode, Result};
use tower::ServiceBuilder;

use crate::browser::BrowserParts;
use crate::health::Health;
use crate::metrics::Metrics;
use crate::openapi::OpenApiDocument;
use crate::problem::{ApiError, ApiResult};
use crate::registration::ModuleRoutes;
use crate::state::HttpState;
use crate::{error_page, health, home, metrics, openapi, reference};

pub use admission::ResponseHeaders;
pub use guard::comes_from_here;
pub use ids::RequestIds;
use layer::OwnLayer;
use layers::ModuleLayers;
pub use layers::{HostLayer, LayerPlace, NextLayer};
use route_guard::{BodyLimits, RouteGuardLayer};

/// Everything that is served, ready to listen ([`Server`](crate::Server)) or to be called in
/// process. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Host {
    state: HttpState,
    router: Router,
}

/// What a host is made of.
pub(crate) struct HostParts {
    pub(crate) state: HttpState,
    pub(crate) routes: Vec<ModuleRoutes>,
    pub(crate) mounts: Vec<(&'static str, Router<HttpState>)>,
    /// The codes that modules declare.
    pub(crate) errors: Vec<ErrorCode>,
    /// Whether some module's route is at `/`.
    pub(crate) serves_home: bool,
    pub(crate) browser: BrowserParts,
    pub(crate) document: Arc<OpenApiDocument>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) health: Arc<Health>,
}

impl Host {
    pub(crate) fn new(parts: HostParts) -> Result<Self> {
        let state = parts.state.clone();
        // The router panics when it can't tell two routes apart. Registration finds such routes
        // where they are described, so this concerns only what a module adds past `routes!`.
        let assembled = catch_unwind(AssertUnwindSafe(|| assemble(parts)));
        let router = assembled.map_err(|panic| {
            Error::internal(format!(
                "the routes don't fit together: {}",
                layer::message_of(&*panic)
            ))
        })?;
        Ok(Self { state, router })
    }

    /// The router, for tests that call it in process and for hosts of another kind.
    pub fn router(&self) -> Router {
        self.router.clone()
    }

    /// What handlers share.
    #[must_use]
    pub fn state(&self) -> &HttpState {
        &self.state
    }

    /// The application.
    #[must_use]
    pub fn app(&self) -> &App {
        self.state.app()
    }
}

fn assemble(parts: HostParts) -> Router {
    let HostParts {
        state,
        routes,
        mounts,
        errors,
        serves_home,
        browser,
        document,
        metrics,
        health,
    } = parts;
    let timeouts = browser.timeouts();
    let public = routes.iter().flat_map(ModuleRoutes::open_to_bodies).collect();
    let body_limits = BodyLimits::new(state.settings(), browser.body_limits(), public);
    let mut router = Router::new()
        .merge(health::routes(health))
        .merge(metrics::routes(Arc::clone(&metrics)))
        .merge(error_page::routes(state.app().name(), &errors));
    let has_reference = state.settings().reference;
    if has_reference {
        router = router.merge(openapi::routes(document)).merge(reference::routes());
    }
    router = match browser.home {
        Some((_, page)) => router.route("/", page),
        None if serves_home => router,
        None => router.merge(home::routes(state.app().name(), has_reference)),
    };
    for ModuleRoutes { prefix, router: routes, .. } in routes {
        router = if prefix.is_empty() { router.merge(routes) } else { router.nest(prefix, routes) };
    }
    for (prefix, mounted) in mounts {
        // Nesting leaves out the prefix with a slash at its end, which a protocol's root may be.
        let root = mounted.clone().with_state(state.clone());
        router = router.nest(prefix, mounted).route_service(&format!("{prefix}/"), root);
    }
    let layers = ServiceBuilder::new()
        .layer(OwnLayer::new(&state, metrics.http(), timeouts))
        .option_layer(ModuleLayers::new(&state, browser.layers))
        .layer(RouteGuardLayer::new(&state, body_limits));
    router.fallback(no_route).layer(layers).with_state(state)
}

async fn no_route() -> ApiResult<()> {
    Err(ApiError::from(Error::not_found("there is nothing at this address")))
}
