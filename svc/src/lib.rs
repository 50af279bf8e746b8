//! Svc: an application framework for business software.
//!
//! An application lists its modules, and is a module itself:
//!
//! ```no_run
//! use svc::prelude::*;
//!
//! struct Shop;
//!
//! impl Module for Shop {
//!     fn configure(&self, registry: &mut Registry) {
//!         registry.permission("Shop.Close", "close the shop for the day");
//!     }
//! }
//!
//! #[tokio::main]
//! async fn main() -> std::process::ExitCode {
//!     svc::application("shop").module(Shop).main().await
//! }
//! ```
//!
//! That program has the commands `serve` (which it runs when none is named), `migrate`,
//! `modules`, `settings`, `metadata`, `types`, `openapi`, `outbox` and `jobs`; `--help` explains them.

mod command;
pub mod prelude;

/// What large answers needed goes back to the machine within seconds; the C library's keeps most of it for good.
/// An application that brings an allocator of its own leaves the feature `jemalloc` out.
#[cfg(all(feature = "jemalloc", not(target_env = "msvc")))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

use std::process::ExitCode;

use svc_core::Module;

pub use sea_orm;
pub use svc_application as application_parts;
#[cfg(feature = "bff")]
pub use svc_bff as bff;
pub use svc_client as client;
pub use svc_core as core;
pub use svc_data as data;
pub use svc_database as database;
pub use svc_events as events;
#[cfg(feature = "history")]
pub use svc_history as history;
pub use svc_http as http;
#[cfg(feature = "identity")]
pub use svc_identity as identity;
pub use svc_jobs as jobs;
pub use svc_live as live;
pub use svc_macros::entity;
pub use svc_messages as messages;
pub use svc_openid as openid;
#[cfg(feature = "search")]
pub use svc_search as search;
pub use svc_sets as sets;
pub use svc_sets_http as sets_http;
pub use svc_settings as settings;
#[cfg(feature = "web")]
pub use svc_web as web;
#[cfg(feature = "webhooks")]
pub use svc_webhooks as webhooks;
#[cfg(feature = "workflows")]
pub use svc_workflows as workflows;

/// Begins an application. Its name is that of its default SQLite file, and stands in logs.
pub fn application(name: impl Into<String>) -> Application {
    Application(svc_application::Application::new(name))
}

/// An application with a command line.
#[must_use = "an application does nothing until `main` is awaited"]
pub struct Application(svc_application::Application);

impl Application {
    /// Adds a module.
    pub fn module(self, module: impl Module) -> Self {
        Self(self.0.module(module))
    }

    /// Sets the version that `--version` and the API description tell; usually `env!("CARGO_PKG_VERSION")`.
    pub fn version(self, version: &'static str) -> Self {
        Self(self.0.version(version))
    }

    /// Runs the command that the process was started with. What went wrong is written to
    /// standard error, one line each.
    pub async fn main(self) -> ExitCode {
        command::run(self.0).await
    }
}
