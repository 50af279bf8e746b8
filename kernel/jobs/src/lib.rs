#![doc = include_str!("../README.md")]

use std::borrow::Cow;
use std::sync::Arc;

use svc_core::{App, Module, Registry, Worker};
use svc_data::DataRegistry as _;
use svc_database::{Database, Migration};

mod command;
mod context;
mod counters;
mod cron;
mod enqueue;
mod enqueuer;
mod error;
pub mod errors;
mod fence;
mod handler;
mod interrupt;
mod job;
pub mod kinds;
mod progress;
mod registration;
mod run_now;
mod schedules;
mod service;
mod settings;
mod status;
mod store;
mod text;
mod worker;

pub use context::JobContext;
pub use counters::KindCounters;
pub use enqueue::{Enqueue, EnqueueJobs, EnqueueMany, Enqueued};
pub use error::JobError;
pub use handler::JobHandler;
pub use job::{Job, JobId, JobState};
pub use progress::Progress;
pub use registration::{JobsRegistry, Schedule};
pub use service::{Jobs, MANAGE, PROGRESS_TOPIC, VIEW};
pub use settings::JobsSettings;
pub use status::{Cancellation, JobCount, JobFilter, JobPage, JobStatus, ScheduleStatus};

use registration::JobParts;
use schedules::SchedulesWorker;
use worker::JobsWorker;

/// Background jobs and schedules as a module, named `jobs`.
pub struct JobsModule;

impl Module for JobsModule {
    fn name(&self) -> Cow<'static, str> {
        "jobs".into()
    }

    fn requires(&self) -> &'static [&'static str] {
        &["data"]
    }

    fn configure(&self, registry: &mut Registry) {
        registry.settings::<JobsSettings>();
        registry.migrations([Migration::new(
            "0001_queue",
            include_str!("../migrations/0001_queue.sql"),
        )]);
        registry.errors(errors::ALL);
        registry.permission(VIEW, "see the background jobs of everybody");
        registry.permission(MANAGE, "cancel, retry and discard the background jobs of everybody");
        registry.command(
            "jobs",
            "List, retry or discard background jobs that have failed for good, or run one now",
            command::run,
        );
        let parts = registry.part::<JobParts>().clone();
        registry.on_build(move |app| async move {
            let database = app.service::<Database>()?;
            let jobs = Jobs::new((*database).clone(), parts.catalogue()?);
            app.provide(Arc::clone(&jobs));
            schedules::declare(&app, &jobs).await
        });
        registry.worker("schedules", "enqueues jobs when their time comes", |app| {
            where_jobs_run(app, |app, jobs| SchedulesWorker::new(app.downgrade(), jobs))
        });
        registry.worker("jobs", "runs background jobs", |app| {
            where_jobs_run(app, |app, jobs| JobsWorker::new(app.downgrade(), jobs))
        });
    }
}

/// A worker of a node that runs jobs; none where `Svc:Jobs:Run` is false.
fn where_jobs_run<W: Worker>(
    app: &App,
    make: impl FnOnce(&App, Arc<Jobs>) -> W,
) -> svc_core::Result<Option<Arc<dyn Worker>>> {
    if !app.settings::<JobsSettings>().run {
        return Ok(None);
    }
    Ok(Some(Arc::new(make(app, app.service::<Jobs>()?))))
}
