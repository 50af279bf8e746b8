//! What a module says about browsers: layers around the routes, the page at `/`, files, and how long routes may take.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Path, State};
use axum::routing::{MethodRouter, get};
use http::HeaderMap;
use svc_core::Registry;

use crate::files::StaticFiles;
use crate::host::layers::HostLayer;
use crate::kinds;
use crate::registration::{HttpParts, HttpRegistry as _};
use crate::state::HttpState;

/// What modules have registered for browsers.
#[derive(Default)]
pub(crate) struct BrowserParts {
    pub(crate) layers: Vec<Arc<dyn HostLayer>>,
    pub(crate) home: Option<(String, MethodRouter<HttpState>)>,
    /// The folders of files, by their addresses.
    pub(crate) files: Vec<(&'static str, StaticFiles)>,
    /// How long the requests of a route may take, with the module that says so.
    timeouts: Vec<(String, &'static str, Duration)>,
    /// How large the bodies of a route may be, in the same way.
    body_limits: Vec<(String, &'static str, u64)>,
}

impl BrowserParts {
    /// How long requests may take, by their routes.
    pub(crate) fn timeouts(&self) -> BTreeMap<&'static str, Duration> {
        self.timeouts.iter().map(|(_, path, timeout)| (*path, *timeout)).collect()
    }

    /// How large bodies may be in bytes, by their routes.
    pub(crate) fn body_limits(&self) -> BTreeMap<&'static str, u64> {
        self.body_limits.iter().map(|(_, path, limit)| (*path, *limit)).collect()
    }
}

/// The words for browsers in a module's `configure`.
pub trait BrowserRegistry {
    /// Puts a layer around all routes of the application. Layers stand in the order of their
    /// [places](crate::LayerPlace), those of one place in the order of the modules.
    fn layer(&mut self, layer: Arc<dyn HostLayer>);

    /// Serves the page at `/`: one module may. Without one, a page there says what the application is and where its API
    /// is described.
    fn home_page(&mut self, page: MethodRouter<HttpState>);

    /// Serves files below an address, such as `/assets`.
    fn static_files(&mut self, prefix: &'static str, files: StaticFiles);

    /// Lets requests of a route take another time than `Svc:Http:RequestTimeout` until their answer begins. `path` is the
    /// route's whole path, as it is registered: `/api/v1/imports/{id}`.
    fn route_timeout(&mut self, path: &'static str, timeout: Duration);

    /// Lets bodies of a route, by its whole path, be so many bytes long in place of `Svc:Http:MaxBodySize`. A layer of the
    /// route itself, `axum::extract::DefaultBodyLimit`, is not enough for larger ones: a request with an
    /// `Idempotency-Key` is read before the route is asked.
    fn route_body_limit(&mut self, path: &'static str, limit: u64);
}

impl BrowserRegistry for Registry {
    fn layer(&mut self, layer: Arc<dyn HostLayer>) {
        self.contribute(kinds::LAYER, layer.name(), format!("{:?}", layer.place()).to_lowercase());
        self.part::<BrowserParts>().layers.push(layer);
    }

    fn home_page(&mut self, page: MethodRouter<HttpState>) {
        let module = self.module().to_owned();
        let home = &mut self.part::<BrowserParts>().home;
        if let Some((owner, _)) = home {
            let problem =
                format!("the page at `/` is that of module `{owner}`; leave one of the two out");
            self.problem(problem);
            return;
        }
        *home = Some((module, page));
        self.contribute(kinds::ROUTE, "/", "the page at the application's address");
    }

    fn static_files(&mut self, prefix: &'static str, files: StaticFiles) {
        self.mount(prefix, routes_of(files.clone()));
        self.part::<BrowserParts>().files.push((prefix, files));
    }

    fn route_timeout(&mut self, path: &'static str, timeout: Duration) {
        let module = self.module().to_owned();
        self.part::<BrowserParts>().timeouts.push((module, path, timeout));
        self.at_end(check_limits);
    }

    fn route_body_limit(&mut self, path: &'static str, limit: u64) {
        let module = self.module().to_owned();
        self.part::<BrowserParts>().body_limits.push((module, path, limit));
        self.at_end(check_limits);
    }
}

/// The routes of a folder.
fn routes_of(files: StaticFiles) -> Router<HttpState> {
    let files = Arc::new(files);
    let serve = move |state: State<HttpState>, Path(path): Path<String>, asked: HeaderMap| {
        let files = Arc::clone(&files);
        async move { files.answer(&path, &asked, state.settings().files_from_disk).await }
    };
    Router::new().route("/{*path}", get(serve))
}

/// Refuses limits of routes that nobody serves: they would hold for nothing.
fn check_limits(registry: &mut Registry) {
    let BrowserParts { timeouts, body_limits, .. } = registry.part::<BrowserParts>();
    let times = timeouts.iter().map(|(module, path, _)| (module.clone(), *path, "a time"));
    let sizes = body_limits.iter().map(|(module, path, _)| (module.clone(), *path, "a size"));
    let limits: Vec<(String, &str, &str)> = times.chain(sizes).collect();
    for (module, path, what) in limits {
        if !registry.part::<HttpParts>().may_serve(path) {
            registry.problem_of(
                &module,
                format!("no module serves the route `{path}`, which is given {what}; name its whole path"),
            );
        }
    }
}
