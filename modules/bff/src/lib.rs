#![doc = include_str!("../README.md")]

mod address;
mod authenticator;
mod cookie;
pub mod errors;
mod guard;
mod login;
mod routes;
mod service;
mod session;
mod settings;
mod store;
mod worker;

use std::borrow::Cow;
use std::sync::Arc;

use svc_core::{App, Module, Registry, Result, Worker};
use svc_data::DataRegistry as _;
use svc_database::Migration;
use svc_http::{BrowserRegistry as _, HttpRegistry as _};

pub use settings::BffSettings;

use authenticator::CookieAuthenticator;
use guard::BrowserGuard;
use service::Host;
use worker::BffWorker;

/// The module's name.
pub(crate) const NAME: &str = "bff";

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
        registry.errors(errors::ALL);
        registry.settings::<BffSettings>();
        registry.migrations(MIGRATIONS);
        registry.authenticator(Arc::new(CookieAuthenticator));
        registry.layer(Arc::new(BrowserGuard));
        registry.root_routes(routes::routes());
        registry.on_build(build);
        registry.worker(
            NAME,
            "Notes the use of sign-ins, and deletes those that are over",
            |app| Ok(Some(Arc::new(BffWorker::new(app)?) as Arc<dyn Worker>)),
        );
    }
}

async fn build(app: App) -> Result<()> {
    app.provide(Arc::new(Host::new(&app)?));
    Ok(())
}
