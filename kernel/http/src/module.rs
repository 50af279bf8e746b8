//! From registered parts to a host.

use std::sync::Arc;

use svc_core::settings::WebUrl;
use svc_core::{App, Assembly, ErrorCode, Module, Registry, Result};
use svc_data::DataRegistry as _;

use crate::apps::WebApps;
use crate::browser::BrowserParts;
use crate::health::Health;
use crate::host::{Host, HostParts};
use crate::idempotency::{self, Sweep};
use crate::metrics::Metrics;
use crate::openapi::{Completions, OpenApiDocument};
use crate::registration::{HttpParts, HttpRegistry as _};
use crate::settings::{HttpSettings, TelemetrySettings};
use crate::state::HttpState;
use crate::tools::ToolCatalogue;
use crate::{apps_api, errors, messages_api, profile, settings_api};

/// The HTTP host as a module: its settings, and the routes for settings of organisations and
/// persons, for their profiles, for texts, and for the apps of the desktop.
pub struct HttpModule;

impl Module for HttpModule {
    fn name(&self) -> std::borrow::Cow<'static, str> {
        "http".into()
    }

    fn requires(&self) -> &'static [&'static str] {
        &["data", "settings", "messages"]
    }

    fn configure(&self, registry: &mut Registry) {
        registry.settings::<HttpSettings>();
        registry.settings::<TelemetrySettings>();
        registry.errors(errors::ALL);
        registry.routes(settings_api::routes());
        registry.routes(profile::routes());
        registry.routes(messages_api::routes());
        registry.routes(apps_api::routes());
        registry.migrations([idempotency::MIGRATION]);
        registry.worker(
            "idempotency",
            "deletes the answers of requests with a key that are kept for long enough",
            |app| Ok(Some(Arc::new(Sweep::new(app)))),
        );
    }
}

/// What modules have registered, before there is a host.
///
/// The order of a start is [`PreparedHost::from_assembly`], [`PreparedHost::provide`] (after the database
/// is provided), the assembly's own hooks ([`Assembly::build`]), then [`PreparedHost::build`].
pub struct PreparedHost {
    parts: HttpParts,
    browser: BrowserParts,
    web_apps: WebApps,
    errors: Vec<ErrorCode>,
    health: Arc<Health>,
}

impl PreparedHost {
    /// Takes what modules have registered.
    #[must_use]
    pub fn from_assembly(assembly: &mut Assembly) -> Self {
        let mut parts: HttpParts = assembly.take();
        let health = Health::new(assembly, std::mem::take(&mut parts.health_checks));
        Self {
            parts,
            browser: assembly.take(),
            web_apps: assembly.take(),
            errors: assembly.take(),
            health: Arc::new(health),
        }
    }

    /// Provides the application with [`Metrics`], so that what other modules build finds it.
    pub fn provide(&mut self, app: &App) {
        let metrics = Arc::new(Metrics::new(app));
        for source in std::mem::take(&mut self.parts.metrics) {
            metrics.add_source(source);
        }
        app.provide(metrics);
    }

    /// Puts the host together, and provides the application with its [`OpenApiDocument`] and its
    /// [`ToolCatalogue`].
    ///
    /// `version` is the application's, for the document.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Internal`](svc_core::ErrorKind::Internal) when [`PreparedHost::provide`] was not
    /// called, or routes that no description mentions don't fit together.
    pub fn build(self, app: &App, version: &str) -> Result<Host> {
        let serves_home = self.parts.serves("/");
        let HttpParts { routes, mounts, authenticators, .. } = self.parts;
        let completions =
            Completions { typed: self.parts.openapi_hooks, json: self.parts.openapi_json_hooks };
        app.provide(Arc::new(ToolCatalogue::new(app, &routes, &self.parts.closed_to_tools)));
        let settings = app.settings::<HttpSettings>();
        let server = settings.public_url.as_ref().map(WebUrl::as_str);
        let document =
            OpenApiDocument::build(app, version, server, &routes, &self.errors, completions)?;
        let document = Arc::new(document);
        let from_disk = settings.files_from_disk;
        let folders = if from_disk { &[][..] } else { &self.browser.files[..] };
        let web_apps = self.web_apps.with_hashes(folders);
        app.provide(Arc::clone(&document));
        Host::new(HostParts {
            state: HttpState::new(app, authenticators, web_apps),
            routes,
            mounts,
            errors: self.errors,
            serves_home,
            browser: self.browser,
            document,
            metrics: app.service::<Metrics>()?,
            health: self.health,
        })
    }
}
