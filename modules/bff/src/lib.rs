#![doc = include_str!("../README.md")]

mod address;
mod authenticator;
mod cookie;
pub mod errors;
mod forward;
mod guard;
mod heard;
mod issuer;
mod login;
mod names;
mod person;
mod renewal;
mod routes;
mod service;
mod session;
mod settings;
mod store;
mod worker;

use std::borrow::Cow;
use std::sync::Arc;

use svc_core::{App, Module, Registry, Worker};
use svc_data::DataRegistry as _;
use svc_database::Migration;
use svc_http::{BrowserRegistry as _, HttpRegistry as _};

pub use settings::{BffSettings, BrowserHostSettings};

use authenticator::CookieAuthenticator;
use forward::{ForwardLayer, Forwarder};
use guard::BrowserGuard;
use issuer::Issuer;
use names::{NAME, SUFFIX};
use service::Host;
use settings::SCOPE;
use worker::BffWorker;

const MIGRATIONS: [Migration; 1] =
    [Migration::new("0001_bff", include_str!("../migrations/0001_bff.sql"))];

/// The module `bff`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bff;

impl Module for Bff {
    fn name(&self) -> Cow<'static, str> {
        NAME.into()
    }

    fn requires(&self) -> &'static [&'static str] {
        &["identity"]
    }

    fn configure(&self, registry: &mut Registry) {
        configure(registry);
        registry.authenticator(Arc::new(CookieAuthenticator));
        registry.root_routes(routes::routes());
        registry.on_build(async |app: App| {
            app.provide(Arc::new(Host::new(&app, Issuer::of_application(&app)?, SCOPE)?));
            Ok(())
        });
        add_worker(registry);
    }
}

/// The module `bff` of a program that stands before the application: it answers `/bff/…`, and passes
/// everything else on.
#[derive(Clone, Copy, Debug, Default)]
pub struct BrowserHost;

impl BrowserHost {
    /// The name of the program that stands before an application of this name.
    #[must_use]
    pub fn name_before(application: &str) -> String {
        format!("{application}{SUFFIX}")
    }

    /// Whether a program of this name stands before an application.
    #[must_use]
    pub fn is_name(program: &str) -> bool {
        program.ends_with(SUFFIX)
    }
}

impl Module for BrowserHost {
    fn name(&self) -> Cow<'static, str> {
        NAME.into()
    }

    fn configure(&self, registry: &mut Registry) {
        configure(registry);
        registry.errors(errors::OF_FORWARDING);
        registry.settings::<BrowserHostSettings>();
        registry.layer(Arc::new(ForwardLayer));
        registry.root_routes(routes::before_application());
        registry.on_build(async |app: App| {
            let scope = app.settings::<BrowserHostSettings>().scope.clone();
            app.provide(Arc::new(Host::new(&app, Issuer::before_application(&app)?, &scope)?));
            app.provide(Arc::new(Forwarder::new(&app)?));
            Ok(())
        });
        add_worker(registry);
    }
}

/// What every host has.
fn configure(registry: &mut Registry) {
    registry.errors(errors::ALL);
    registry.settings::<BffSettings>();
    registry.migrations(MIGRATIONS);
    registry.layer(Arc::new(BrowserGuard));
}

/// The worker of every host, made once the host is provided.
fn add_worker(registry: &mut Registry) {
    registry.worker(NAME, "Notes the use of sign-ins, and deletes those that are over", |app| {
        Ok(Some(Arc::new(BffWorker::new(app)?) as Arc<dyn Worker>))
    });
}
