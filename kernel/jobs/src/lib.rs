#![doc = include_str!("../README.md")]

use std::borrow::Cow;
use std::sync::Arc;

use svc_core::{Kind, Module, Registry};
use svc_data::{DataRegistry as _, Database, Migration};

mod context;
mod counters;
mod cron;
mod enqueue;
mod enqueuer;
mod error;
mod handler;
mod interrupt;
mod job;
mod progress;
mod registration;
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
pub use registration::{JobBuilder, JobsRegistry, ScheduleBuilder};
pub use service::{Jobs, MANAGE, VIEW};
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
        registry.permission(VIEW, "see the background jobs of everybody");
        registry.permission(MANAGE, "cancel, retry and discard the background jobs of everybody");
        registry.contribute(Kind::Worker, "schedules", "enqueues jobs when their time comes");
        registry.contribute(Kind::Worker, "jobs", "runs background jobs");
        let parts = registry.part::<JobParts>().clone();
        registry.on_build(move |app| async move {
            let database = app.service::<Database>()?;
            let jobs = Jobs::new((*database).clone(), parts.catalogue()?);
            app.provide(Arc::clone(&jobs));
            schedules::declare(&app, &jobs).await?;
            if app.settings::<JobsSettings>().run {
                let worker = SchedulesWorker::new(app.downgrade(), Arc::clone(&jobs));
                app.add_worker(Arc::new(worker));
                app.add_worker(Arc::new(JobsWorker::new(app.downgrade(), jobs)));
            }
            Ok(())
        });
    }
}
