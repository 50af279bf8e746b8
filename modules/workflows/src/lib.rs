//! Workflows: the states of records, who may take them from one to another, and what is locked meanwhile.
//!
//! An application adds the module [`Workflows`] and declares the workflow of a set with
//! [`WorkflowsRegistry::workflow`]. What holds then, the tables and the routes stand in the crate's README.
//!
//! - `definition`: states and transitions; `check`: what is wrong with them; `plan`: who may take
//!   which; `groups`: of whom people are missing; pure;
//! - `declared`: the word of a module's `configure`, and the property `workflowState`;
//! - `claims`: whose turn it is, pure; `awaiting`: the property `workflowAwaitsMe`, and the statements of
//!   tasks; `tasks`: what awaits somebody;
//! - `binding`: a definition and its set: what doesn't fit, conditions, values;
//! - `calendar`: terms and working days, pure but for its settings; `deadlines`: what happens by itself;
//! - `engine`: the workflows of the application, with their versions;
//! - `existing`: records that a workflow finds when it comes;
//! - `commit`: instances begin and end with their records, and what is locked is refused;
//! - `subject`: a record as somebody looks at it; `transition`: takes it on; `effects`: what that does besides;
//! - `delegation`: who stands in for whom;
//! - `designs`: what administrators draw; `import`, `difference`: reading and comparing it, pure;
//! - `doubts`: what of it is told but stops nobody; `overlap`: whether two conditions can both hold, pure;
//! - `permissions`: who may look, act, hand on and draw; `live`: what pages hear;
//! - `store`: the statements;
//! - `api`: the routes.

mod api;
mod awaiting;
mod binding;
mod calendar;
mod check;
mod claims;
mod commit;
mod deadlines;
mod declared;
mod definition;
mod delegation;
mod designs;
mod difference;
mod doubts;
mod effects;
mod engine;
pub mod errors;
mod events;
mod existing;
mod groups;
mod import;
mod live;
mod overlap;
mod permissions;
mod plan;
mod store;
mod subject;
mod tasks;
mod transition;

use std::borrow::Cow;
use std::sync::Arc;

use svc_core::{Error, Module, Registry, Worker};
use svc_data::DataRegistry as _;
use svc_database::Migration;
use svc_events::EventsRegistry as _;
use svc_http::{HttpRegistry as _, schema_of};
use svc_jobs::JobsRegistry as _;
use svc_messages::MessagesRegistry as _;

use commit::Follow;
use deadlines::KeepDeadlines;
use declared::{Declared, Started};
use delegation::KeepDelegations;
use designs::MigrateRecords;
use existing::{BeginRecords, LookForRecords};

pub use calendar::Term;
pub use declared::WorkflowsRegistry;
pub use definition::{Assigned, By, Colour, Definition, Group, State, StateKind, Transition};
pub use engine::WorkflowEngine;
pub use events::{
    TransitionUser, WorkflowNotice, WorkflowOverdue, WorkflowReminded, WorkflowTransitioned,
};
pub use existing::TakenOver;
pub use permissions::{ACT, DESIGN, REASSIGN, VIEW};

/// Workflows as a module.
pub struct Workflows;

impl Module for Workflows {
    fn name(&self) -> Cow<'static, str> {
        "workflows".into()
    }

    fn requires(&self) -> &'static [&'static str] {
        &["data", "events", "http", "jobs", "live", "settings"]
    }

    fn configure(&self, registry: &mut Registry) {
        registry.migrations([Migration::new(
            "0001_workflows",
            include_str!("../migrations/0001_workflows.sql"),
        )]);
        registry.errors(errors::ALL);
        registry.permission(VIEW, "see where records stand in their workflow");
        registry.permission(ACT, "take records from state to state, as their workflow lets one");
        registry.permission(DESIGN, "draw and publish workflows, and move records between them");
        registry.permission(REASSIGN, "hand on what awaits others, and say who stands in for whom");
        registry.domain_event::<WorkflowTransitioned>("A record moved in its workflow", |event| {
            event
                .schema(schema_of::<WorkflowTransitioned>())
                .example(WorkflowTransitioned::example())
        });
        registry.domain_event::<WorkflowReminded>(
            "A record waits, and somebody is to be reminded of it",
            |event| {
                event.schema(schema_of::<WorkflowReminded>()).example(WorkflowReminded::example())
            },
        );
        registry.domain_event::<WorkflowOverdue>(
            "A record waits for longer than it should",
            |event| {
                event.schema(schema_of::<WorkflowOverdue>()).example(WorkflowOverdue::example())
            },
        );
        registry.domain_event::<WorkflowNotice>(
            "A step was taken that somebody is to be told of",
            |event| event.schema(schema_of::<WorkflowNotice>()).example(WorkflowNotice::example()),
        );
        calendar::register(registry);
        registry.job::<KeepDeadlines>(deadlines::keep_deadlines);
        registry.schedule("workflows.deadlines", "0 * * * * *", || KeepDeadlines {});
        registry.job::<MigrateRecords>(designs::migrate_records);
        registry.job::<BeginRecords>(existing::begin_records);
        registry.job::<KeepDelegations>(delegation::keep_delegations);
        registry.schedule("workflows.delegations", "30 * * * * *", || KeepDelegations {});
        registry.messages([
            ("en", include_str!("../messages/en.ftl")),
            ("de", include_str!("../messages/de.ftl")),
        ]);
        let started = registry.part::<Started>().clone();
        registry.commit_hook(Arc::new(Follow(started.clone())));
        live::register(registry, started.clone());
        let declared = registry.part::<Declared>().clone();
        registry.on_build(|app| async move {
            let definitions = std::mem::take(&mut *declared.open());
            let workflows = Arc::new(WorkflowEngine::start(&app, definitions).await?);
            let again = |_| Error::internal("the workflows of an application start once");
            started.0.set(Arc::clone(&workflows)).map_err(again)?;
            app.provide(workflows);
            Ok(())
        });
        registry.worker(
            "workflows",
            "looks for records without their place in a workflow",
            |app| {
                let has_workflows = app.service::<WorkflowEngine>()?.workflows().next().is_some();
                Ok(has_workflows.then(|| Arc::new(LookForRecords::new(app)) as Arc<dyn Worker>))
            },
        );
        registry.routes(api::routes());
    }
}
