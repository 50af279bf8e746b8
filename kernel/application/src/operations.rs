//! What an operator sees and does over HTTP: dead messages of the outbox, background jobs, and
//! their measurements; schedules, modules and settings.
//!
//! Messages and jobs belong to an organisation, and are only shown to its people. What belongs to none is for
//! the commands `outbox` and `jobs`.

mod jobs;
mod metrics;
mod outbox;
mod system;

use std::sync::Arc;

use svc_core::{Module, Permission, Registry};
use svc_data::DataRegistry as _;
use svc_http::{HttpRegistry as _, OpenApiRouter, routes};

pub(crate) use system::Modules;

/// The permission to see, retry and discard messages that could not be handled.
const MANAGE_OUTBOX: &str = "Outbox.Manage";

/// [`MANAGE_OUTBOX`] as a type, for routes.
struct ManageOutbox;

impl Permission for ManageOutbox {
    const NAME: &'static str = MANAGE_OUTBOX;
}

/// The operator's routes and measurements.
pub(crate) struct OperationsModule;

impl Module for OperationsModule {
    fn name(&self) -> std::borrow::Cow<'static, str> {
        "operations".into()
    }

    fn requires(&self) -> &'static [&'static str] {
        &["events", "jobs", "http"]
    }

    fn configure(&self, registry: &mut Registry) {
        registry.permission(MANAGE_OUTBOX, "see, retry and discard messages that failed for good");
        registry.permission(
            system::VIEW_SYSTEM,
            "see modules and the program's settings, with where they were written",
        );
        registry.metrics(Arc::new(metrics::QueueMetrics::default()));
        registry.routes(
            OpenApiRouter::default()
                .routes(routes!(outbox::list_dead_letters))
                .routes(routes!(outbox::retry_dead_letters))
                .routes(routes!(outbox::discard_dead_letters))
                .routes(routes!(jobs::list_jobs))
                .routes(routes!(jobs::get_job))
                .routes(routes!(jobs::cancel_job))
                .routes(routes!(jobs::retry_job))
                .routes(routes!(jobs::discard_job))
                .routes(routes!(system::list_schedules))
                .routes(routes!(system::list_modules))
                .routes(routes!(system::list_configuration)),
        );
    }
}
