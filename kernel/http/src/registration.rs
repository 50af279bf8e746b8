//! What a module says about HTTP: `registry.routes(…)` and so on.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use axum::Router;
use serde_json::Value;
use svc_core::{App, Registry, Result};
use utoipa::openapi::{OpenApi, RefOr, Schema};
use utoipa_axum::router::OpenApiRouter;

use crate::authenticator::Authenticator;
use crate::health::HealthCheck;
use crate::kinds;
use crate::metrics::MetricsSource;
use crate::openapi::operations::{is_public, open_question, operations, permissions_of};
use crate::state::HttpState;

/// Where the API of modules lives.
pub(crate) const API_PREFIX: &str = "/api/v1";

pub(crate) type OpenApiHook = Box<dyn FnOnce(&mut OpenApi, &App) + Send + Sync>;

pub(crate) type OpenApiJsonHook = Box<dyn FnOnce(&mut Value, &App) -> Result<()> + Send + Sync>;

/// What modules have registered with the HTTP host.
#[derive(Default)]
pub(crate) struct HttpParts {
    pub(crate) routes: Vec<ModuleRoutes>,
    pub(crate) mounts: Vec<(&'static str, Router<HttpState>)>,
    pub(crate) authenticators: Vec<Arc<dyn Authenticator>>,
    pub(crate) openapi_hooks: Vec<OpenApiHook>,
    pub(crate) openapi_json_hooks: Vec<OpenApiJsonHook>,
    /// Modules of which nothing is offered to AI tools.
    pub(crate) closed_to_tools: BTreeSet<String>,
    pub(crate) metrics: Vec<Arc<dyn MetricsSource>>,
    pub(crate) health_checks: Vec<Arc<dyn HealthCheck>>,
    /// The registered paths, to find those that the router could not tell apart.
    paths: matchit::Router<()>,
    path_owners: BTreeMap<String, String>,
    operation_ids: BTreeMap<String, String>,
    schemas: BTreeMap<String, (RefOr<Schema>, String)>,
}

/// The routes that a module added in one call.
pub(crate) struct ModuleRoutes {
    pub(crate) module: String,
    pub(crate) prefix: &'static str,
    pub(crate) router: Router<HttpState>,
    pub(crate) openapi: OpenApi,
}

impl ModuleRoutes {
    /// The addresses at which everybody may send a body.
    pub(crate) fn open_to_bodies(&self) -> impl Iterator<Item = String> {
        let takes_body =
            |(method, operation)| method != "GET" && method != "OPTIONS" && is_public(operation);
        let open = self.openapi.paths.paths.iter();
        open.filter(move |(_, item)| operations(item).any(takes_body))
            .map(|(path, _)| full_path(self.prefix, path))
    }
}

impl HttpParts {
    /// Whether some module serves exactly this path.
    pub(crate) fn serves(&self, path: &str) -> bool {
        self.path_owners.contains_key(path)
    }

    /// Whether some module serves this path, or may do so below a mounted prefix.
    pub(crate) fn may_serve(&self, path: &str) -> bool {
        let mut prefixes = self.mounts.iter().map(|(prefix, _)| *prefix);
        self.serves(path)
            || prefixes.any(|prefix| {
                path.strip_prefix(prefix)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
    }
}

/// The HTTP host's words in a module's `configure`.
pub trait HttpRegistry {
    /// Serves routes below `/api/v1`. Each is made with [`routes!`](crate::routes) from a handler that
    /// `#[utoipa::path]` describes and whose first argument says who may call it
    /// ([`May`](crate::May), [`Ctx`](crate::Ctx)), or with [`public_routes!`](crate::public_routes).
    fn routes(&mut self, routes: OpenApiRouter<HttpState>);

    /// Serves routes at the addresses they name, for protocols that prescribe them
    /// (`/.well-known/…`).
    fn root_routes(&mut self, routes: OpenApiRouter<HttpState>);

    /// Serves a protocol that describes itself, such as OData, below `prefix`.
    fn mount(&mut self, prefix: &'static str, router: Router<HttpState>);

    /// Adds a kind of credential; they are asked in the order they were added.
    fn authenticator(&mut self, authenticator: Arc<dyn Authenticator>);

    /// Completes the OpenAPI document once all routes are in it.
    fn openapi(&mut self, hook: impl FnOnce(&mut OpenApi, &App) + Send + Sync + 'static);

    /// Completes the OpenAPI document as JSON, after all else: for what has no type in `utoipa`,
    /// such as schemas that an application gives as JSON.
    fn openapi_json(
        &mut self,
        hook: impl FnOnce(&mut Value, &App) -> Result<()> + Send + Sync + 'static,
    );

    /// Keeps everything of the module from AI tools ([`ToolCatalogue`](crate::ToolCatalogue)),
    /// whatever its sets and routes say.
    fn closed_to_tools(&mut self);

    /// Adds measurements to `/metrics`.
    fn metrics(&mut self, source: Arc<dyn MetricsSource>);

    /// Adds a condition of being ready to `/health/ready`.
    fn health_check(&mut self, check: Arc<dyn HealthCheck>);
}

impl HttpRegistry for Registry {
    fn routes(&mut self, routes: OpenApiRouter<HttpState>) {
        add_routes(self, API_PREFIX, routes);
    }

    fn root_routes(&mut self, routes: OpenApiRouter<HttpState>) {
        add_routes(self, "", routes);
    }

    fn mount(&mut self, prefix: &'static str, router: Router<HttpState>) {
        self.contribute(kinds::ROUTE, format!("{prefix}/…"), "");
        self.part::<HttpParts>().mounts.push((prefix, router));
    }

    fn authenticator(&mut self, authenticator: Arc<dyn Authenticator>) {
        self.part::<HttpParts>().authenticators.push(authenticator);
    }

    fn openapi(&mut self, hook: impl FnOnce(&mut OpenApi, &App) + Send + Sync + 'static) {
        self.part::<HttpParts>().openapi_hooks.push(Box::new(hook));
    }

    fn openapi_json(
        &mut self,
        hook: impl FnOnce(&mut Value, &App) -> Result<()> + Send + Sync + 'static,
    ) {
        self.part::<HttpParts>().openapi_json_hooks.push(Box::new(hook));
    }

    fn closed_to_tools(&mut self) {
        let module = self.module().to_owned();
        self.part::<HttpParts>().closed_to_tools.insert(module);
    }

    fn metrics(&mut self, source: Arc<dyn MetricsSource>) {
        self.part::<HttpParts>().metrics.push(source);
    }

    fn health_check(&mut self, check: Arc<dyn HealthCheck>) {
        self.part::<HttpParts>().health_checks.push(check);
    }
}

fn add_routes(registry: &mut Registry, prefix: &'static str, added: OpenApiRouter<HttpState>) {
    let module = registry.module().to_owned();
    let (router, openapi) = added.split_for_parts();
    for (path, item) in &openapi.paths.paths {
        let path = full_path(prefix, path);
        for (method, operation) in operations(item) {
            let summary = operation.summary.as_deref().unwrap_or_default();
            let permissions = permissions_of(operation);
            let detail = if permissions.is_empty() {
                summary.to_owned()
            } else {
                format!("{summary} (needs {})", permissions.join(", "))
            };
            registry.contribute(kinds::ROUTE, format!("{method} {path}"), detail.trim());
            for permission in &permissions {
                registry.asks_for_permission(permission, format!("the route `{method} {path}`"));
            }
            if let Some(question) = open_question(operation) {
                registry.problem(format!("the route `{method} {path}` {question}"));
            }
            if let Some(id) = &operation.operation_id {
                check_operation_id(registry, &module, id);
            }
        }
        check_path(registry, &module, &path);
    }
    check_schemas(registry, &module, &openapi);
    registry.part::<HttpParts>().routes.push(ModuleRoutes { module, prefix, router, openapi });
}

/// The address of a route that a module named relative to its prefix.
pub(crate) fn full_path(prefix: &str, path: &str) -> String {
    match (prefix, path) {
        (prefix, "/" | "") if !prefix.is_empty() => prefix.to_owned(),
        ("", "") => "/".to_owned(),
        (prefix, path) => format!("{prefix}{path}"),
    }
}

/// Refuses what the router would panic at: two paths that differ only in their parameters.
fn check_path(registry: &mut Registry, module: &str, path: &str) {
    let parts = registry.part::<HttpParts>();
    if parts.path_owners.contains_key(path) {
        // The same path with another method is fine, with the same method it is contributed
        // twice, which the registry refuses.
        return;
    }
    match parts.paths.insert(path, ()) {
        Ok(()) => {
            parts.path_owners.insert(path.to_owned(), module.to_owned());
        }
        Err(matchit::InsertError::Conflict { with }) => {
            let owner = parts.path_owners.get(&with).cloned().unwrap_or_default();
            registry.problem(format!(
                "the route `{path}` can't be told from `{with}` of module `{owner}`; give both \
                 the same parameters, or one another path"
            ));
        }
        Err(error) => registry.problem(format!("the route `{path}` can't be served: {error}")),
    }
}

fn check_operation_id(registry: &mut Registry, module: &str, id: &str) {
    let ids = &mut registry.part::<HttpParts>().operation_ids;
    if let Some(owner) = ids.insert(id.to_owned(), module.to_owned()) {
        registry.problem(format!(
            "the operation `{id}` is in the API of module `{owner}` already; rename the handler \
             or give it an `operation_id`"
        ));
    }
}

/// Refuses two different schemas of one name, of which one would replace the other.
fn check_schemas(registry: &mut Registry, module: &str, openapi: &OpenApi) {
    let schemas = openapi.components.iter().flat_map(|components| &components.schemas);
    for (name, schema) in schemas {
        let known = &mut registry.part::<HttpParts>().schemas;
        match known.get(name) {
            Some((other, owner)) if other != schema => {
                let owner = owner.clone();
                registry.problem(format!(
                    "the schema `{name}` differs from that of module `{owner}`; name one with \
                     `#[schema(as = …)]`"
                ));
            }
            Some(_) => {}
            None => {
                known.insert(name.clone(), (schema.clone(), module.to_owned()));
            }
        }
    }
}
