//! How an application declares a workflow: `registry.workflow("Orders", …)`.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use sea_orm::sea_query::{Alias, Expr, ExprTrait as _, Func, Query};
use svc_core::{Kind, Registry};
use svc_data::value::ValueKind;
use svc_data::{DataRegistry as _, VirtualRow};

use crate::VIEW;
use crate::check;
use crate::definition::{By, Definition};
use crate::engine::WorkflowEngine;

/// The workflow of a set.
const WORKFLOW: Kind = Kind::new("workflows");

/// The property that tells the state of a record.
pub(crate) const STATE_PROPERTY: &str = "workflowState";

/// The property that tells whether a record awaits whoever asks.
pub(crate) const AWAITS_PROPERTY: &str = "workflowAwaitsMe";

/// The engine, once it has started.
#[derive(Clone, Default)]
pub(crate) struct Started(pub(crate) Arc<OnceLock<Arc<WorkflowEngine>>>);

/// What was declared, by set.
#[derive(Clone, Default)]
pub(crate) struct Declared(Arc<Mutex<Vec<(String, Definition)>>>);

impl Declared {
    pub(crate) fn open(&self) -> MutexGuard<'_, Vec<(String, Definition)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The workflow module's word in a module's `configure`.
pub trait WorkflowsRegistry {
    /// Gives the records of an entity set a workflow. The module that says so requires
    /// `workflows`, and the records of the set belong to an organisation and have a UUID as key.
    ///
    /// The set gets the properties `workflowState` and `workflowAwaitsMe` for those with
    /// `Workflows.View`.
    fn workflow(&mut self, set: &str, definition: Definition);
}

impl WorkflowsRegistry for Registry {
    fn workflow(&mut self, set: &str, definition: Definition) {
        let ways = format!(
            "{} states, {} transitions",
            definition.states.len(),
            definition.transitions.len()
        );
        self.contribute(WORKFLOW, set, ways);
        for problem in check::problems(&definition) {
            self.problem(format!("the workflow of `{set}`: {problem}"));
        }
        ask_for_permissions(self, set, &definition);
        let begins_in = definition.begins_in().to_owned();
        let name = set.to_owned();
        let started = self.part::<Started>().clone();
        self.extend_set(set)
            .virtual_property(
                STATE_PROPERTY,
                ValueKind::Text { max: Some(check::MAX_NAME) },
                move |row| state_of(row, &name, &begins_in),
            )
            .described("Where the record stands in its workflow")
            .facet()
            .needs(VIEW)
            .virtual_property(AWAITS_PROPERTY, ValueKind::Boolean, move |row| {
                let found = started.0.get().and_then(|engine| {
                    let workflow = engine.of_table(row.entity.table)?;
                    let now_us = engine.clock.now_us();
                    Some(workflow.awaited.awaits(row, workflow.set(), now_us))
                });
                found.unwrap_or_else(|| Expr::val(false))
            })
            .described("Whether a step out of its state is the caller's to take")
            .facet()
            .needs(VIEW);
        self.part::<Declared>().open().push((set.to_owned(), definition));
    }
}

/// Some module must declare what the definition names.
fn ask_for_permissions(registry: &mut Registry, set: &str, definition: &Definition) {
    for transition in &definition.transitions {
        for by in transition.everybody().chain(&transition.notifies) {
            if let By::Permission(permission) = by {
                let by = format!("the transition `{}` of `{set}`", transition.name);
                registry.asks_for_permission(permission, by);
            }
        }
    }
    for state in &definition.states {
        for by in &state.escalates_to {
            if let By::Permission(permission) = by {
                let by = format!("the state `{}` of `{set}`", state.name);
                registry.asks_for_permission(permission, by);
            }
        }
        if let Some(permission) = state.lock.as_ref().and_then(|lock| lock.unless.as_ref()) {
            registry
                .asks_for_permission(permission, format!("the state `{}` of `{set}`", state.name));
        }
    }
}

/// The state of a row, in SQL: of one without an instance the state that records begin in.
fn state_of(row: &VirtualRow<'_>, set: &str, begins_in: &str) -> Expr {
    let table = || Alias::new("workflows_instances");
    let column = |name: &str| Expr::col((table(), Alias::new(name)));
    let mut state = Query::select();
    state
        .expr(column("state"))
        .from(table())
        .and_where(column("organisation_id").eq(row.organisation()))
        .and_where(column("set_name").eq(set))
        .and_where(column("record_id").eq(row.key()));
    let state = Expr::SubQuery(None, Box::new(state.into()));
    Func::coalesce([state, Expr::val(begins_in)]).into()
}
