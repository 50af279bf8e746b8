//! What happened to any record: who did it, and how it was before.
//!
//! An application adds the module [`History`]; from then on the history of every set
//! is kept, except of those that say `.history(false)` ([`HistorySet`]), and that of entities that are no
//! set and are named with `registry.history_of` ([`HistoryRegistry`]). What is captured, who may read
//! it and what is stored stands in the crate's README.
//!
//! - `entry`: what an entry holds, and what a record was by it; pure;
//! - `capture`: entries, stored with the changes that they tell of;
//! - `sight`: who may see a record of which there is history, and what of an entry;
//! - `audit`: what happened over all sets; `unit`: takes all that one command did back;
//! - `plan`: what a restore would do, field by field; `restore`: takes a record back;
//! - `seal`, `sealing`: what makes a later change evident; `retention`: what is deleted, and when;
//! - `permissions`: who may read at all; `store`: the statements; `command`: what an operator does by hand;
//! - `api`: the routes.

mod about;
mod api;
mod audit;
mod capture;
mod command;
mod entry;
pub mod errors;
mod events;
mod permissions;
mod plan;
mod restore;
mod retention;
mod seal;
mod sealing;
mod set;
mod settings;
mod sight;
mod store;
mod unit;

use std::borrow::Cow;
use std::sync::Arc;

use svc_core::{Module, Registry};
use svc_data::DataRegistry as _;
use svc_database::Migration;
use svc_events::EventsRegistry as _;
use svc_http::HttpRegistry as _;
use svc_jobs::JobsRegistry as _;
use svc_messages::MessagesRegistry as _;

use retention::DeleteOldEntries;
use sealing::SealEntries;
use set::KeptEntities;

pub use events::{AuditLogExported, HistoryBlanked, HistoryRestored};
pub use permissions::{AUDIT, VIEW};
pub use set::{HistoryRegistry, HistorySet};
pub use settings::HistorySettings;

/// History as a module.
pub struct History;

impl Module for History {
    fn name(&self) -> Cow<'static, str> {
        "history".into()
    }

    fn requires(&self) -> &'static [&'static str] {
        &["data", "events", "http", "jobs", "settings"]
    }

    fn configure(&self, registry: &mut Registry) {
        registry.migrations([Migration::new(
            "0001_history",
            include_str!("../migrations/0001_history.sql"),
        )]);
        registry.errors(errors::ALL);
        registry
            .permission(VIEW, "read what happened to records that one may see, and take it back");
        registry.permission(AUDIT, "read what happened in the organisation, and take it back");
        registry.settings::<HistorySettings>();
        registry
            .domain_event::<HistoryRestored>("A record was taken back to what it was", |event| {
                event
            });
        registry.domain_event::<AuditLogExported>("The audit log was exported", |event| event);
        registry
            .domain_event::<HistoryBlanked>("Something was blanked in the history", |event| event);
        registry.job::<SealEntries>(sealing::seal_entries);
        registry.schedule("history.sealing", "30 * * * * *", || SealEntries {});
        registry.job::<DeleteOldEntries>(retention::delete_old_entries);
        registry.schedule("history.retention", "0 43 3 * * *", || DeleteOldEntries {});
        retention::register(registry);
        registry.command("history", "Check the history, or blank something in it", command::run);
        let entities = registry.part::<KeptEntities>().clone();
        registry.commit_hook(Arc::new(capture::Capture { entities: entities.clone() }));
        registry.on_build(move |app| async move {
            app.provide(Arc::new(entities));
            Ok(())
        });
        registry.messages([
            ("en", include_str!("../messages/en.ftl")),
            ("de", include_str!("../messages/de.ftl")),
        ]);
        registry.routes(api::routes());
        // What records were is no less than what they are, and hidden from tools no less.
        registry.closed_to_tools();
    }
}
