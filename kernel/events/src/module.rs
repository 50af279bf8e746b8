use std::borrow::Cow;
use std::sync::Arc;

use svc_core::{App, Assembly, Module, Registry, Result, Worker};
use svc_data::DataRegistry as _;
use svc_database::{Database, Migration};

use crate::capture::Capture;
use crate::command;
use crate::handling::Processor;
use crate::outbox::Outbox;
use crate::registration::Collected;
use crate::relay::Relay;
use crate::settings::EventsSettings;
use crate::worker::OutboxWorker;

/// Events and the outbox as a module: table, settings, commit hook and workers.
///
/// It provides the services [`Events`](crate::Events) and [`Outbox`].
pub struct EventsModule;

impl Module for EventsModule {
    fn name(&self) -> Cow<'static, str> {
        "events".into()
    }

    fn requires(&self) -> &'static [&'static str] {
        &["data"]
    }

    fn configure(&self, registry: &mut Registry) {
        registry.settings::<EventsSettings>();
        registry.migrations([Migration::new(
            "0001_outbox",
            include_str!("migrations/0001_outbox.sql"),
        )]);
        registry.command(
            "outbox",
            "List, retry or discard messages that could not be handled",
            command::run,
        );
        let collected = registry.part::<Collected>().clone();
        registry.commit_hook(Arc::new(Capture(collected.clone())));
        registry.on_build(move |app| async move { start(&app, &collected) });
        registry.worker("relay", "carries wake-ups between nodes (PostgreSQL)", |app| {
            let database = app.service::<Database>()?;
            let pool = database.postgres().cloned();
            Ok(pool.map(|pool| Arc::new(Relay::new(app, pool)) as Arc<dyn Worker>))
        });
        registry.worker("outbox", "hands messages to their handlers", |app| {
            Ok(Some(Arc::new(OutboxWorker(app.service::<Processor>()?))))
        });
    }
}

/// Provides the application with [`Events`](crate::Events), which needs no database, so that a description that is
/// made without one lists them too.
pub fn provide_events(assembly: &mut Assembly, app: &App) {
    let collected: Collected = assembly.take();
    app.provide(Arc::clone(collected.complete()));
}

fn start(app: &App, collected: &Collected) -> Result<()> {
    let events = Arc::clone(collected.complete());
    app.provide(Arc::clone(&events));
    let database = Database::clone(&*app.service::<Database>()?);
    let processor = Arc::new(Processor::new(app, database.clone(), events));
    app.provide(Arc::clone(&processor));
    app.provide(Arc::new(Outbox::new(app.downgrade(), database, processor)));
    Ok(())
}
