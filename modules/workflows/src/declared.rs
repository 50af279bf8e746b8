//! How an application declares a workflow: `registry.workflow("Orders", …)`.

use std::sync::{Arc, OnceLock};

use parking_lot::{Mutex, MutexGuard};
use sea_orm::sea_query::{Alias, Expr, ExprTrait as _, Func, Query};
use svc_core::{Kind, OrganisationId, Registry};
use svc_data::value::ValueKind;
use svc_data::{DataRegistry as _, VirtualRow, VirtualTable};

use crate::check;
use crate::definition::{By, Definition};
use crate::engine::{Declaration, WorkflowEngine};
use crate::permissions::VIEW;

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
pub(crate) struct Declared(Arc<Mutex<Vec<Declaration>>>);

impl Declared {
    pub(crate) fn open(&self) -> MutexGuard<'_, Vec<Declaration>> {
        self.0.lock()
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

    /// The same, with a workflow that administrators draw: the one that is declared holds in each organisation until another
    /// one is published there. What the application relies on is marked by [`State::kept`](crate::State::kept) and
    /// [`Transition::kept`](crate::Transition::kept).
    fn designable_workflow(&mut self, set: &str, definition: Definition);
}

impl WorkflowsRegistry for Registry {
    fn workflow(&mut self, set: &str, definition: Definition) {
        declare(self, set, definition, false);
    }

    fn designable_workflow(&mut self, set: &str, definition: Definition) {
        declare(self, set, definition, true);
    }
}

fn declare(registry: &mut Registry, set: &str, definition: Definition, is_designable: bool) {
    let ways = format!(
        "{} states, {} transitions{}",
        definition.states.len(),
        definition.transitions.len(),
        if is_designable { ", which administrators draw" } else { "" }
    );
    registry.contribute(WORKFLOW, set, ways);
    for problem in check::problems(&definition) {
        registry.problem(format!("the workflow of `{set}`: {problem}"));
    }
    ask_for_permissions(registry, set, &definition);
    let begins_in = definition.begins_in().to_owned();
    let name = set.to_owned();
    let started = registry.part::<Started>().clone();
    let (stored, finder) = (started.clone(), started.clone());
    registry.extend_set(set, |set| {
        set.virtual_property(
            STATE_PROPERTY,
            ValueKind::Text { max: Some(check::MAX_NAME) },
            move |row| state_of(row, &name, &begins_in, is_designable),
            |property| {
                property
                    .joined(move |entity, who| {
                        let workflow = stored.0.get()?.of_table(entity.table)?;
                        let organisation = who.organisation().filter(|_| workflow.is_complete())?;
                        Some(states(organisation, workflow.set()))
                    })
                    .described("Where the record stands in its workflow")
                    .facet()
                    .needs(VIEW)
            },
        )
        .virtual_property(
            AWAITS_PROPERTY,
            ValueKind::Boolean,
            move |row| {
                let found = started.0.get().and_then(|engine| {
                    let workflow = engine.of_table(row.entity.table)?;
                    let now_us = engine.clock.now_us();
                    Some(workflow.awaited.awaits(row, workflow.set(), now_us))
                });
                found.unwrap_or_else(|| Expr::val(false))
            },
            |property| {
                property
                    .found_by(move |asked| {
                        let engine = finder.0.get()?;
                        let workflow = engine.of_table(asked.entity.table)?;
                        workflow.awaited.claimed(asked, workflow.set(), engine.clock.now_us())
                    })
                    .described("Whether a step out of its state is the caller's to take")
                    .facet()
                    .needs(VIEW)
            },
        )
    });
    let declaration = Declaration { set: set.to_owned(), definition, is_designable };
    registry.part::<Declared>().open().push(declaration);
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

fn instances() -> Alias {
    Alias::new("workflows_instances")
}

/// The states of all records that have an instance.
fn states(organisation: OrganisationId, set: &str) -> VirtualTable {
    let column = |name: &str| Expr::col((instances(), Alias::new(name)));
    let mut rows = Query::select();
    rows.from(instances())
        .and_where(column("organisation_id").eq(organisation.0))
        .and_where(column("set_name").eq(set));
    VirtualTable { rows, key: column("record_id"), value: column("state") }
}

/// The state of a row, in SQL: of one without an instance the state that records begin in.
fn state_of(row: &VirtualRow<'_>, set: &str, begins_in: &str, is_designable: bool) -> Expr {
    let column = |name: &str| Expr::col((instances(), Alias::new(name)));
    let mut state = Query::select();
    state
        .expr(column("state"))
        .from(instances())
        .and_where(column("organisation_id").eq(row.organisation()))
        .and_where(column("set_name").eq(set))
        .and_where(column("record_id").eq(row.key()));
    let state = Expr::SubQuery(None, Box::new(state.into()));
    if !is_designable {
        return Func::coalesce([state, Expr::val(begins_in)]).into();
    }
    let drawn = || Alias::new("workflows_current");
    let column = |name: &str| Expr::col((drawn(), Alias::new(name)));
    let mut begins = Query::select();
    begins
        .expr(column("begins_in"))
        .from(drawn())
        .and_where(column("organisation_id").eq(row.organisation()))
        .and_where(column("set_name").eq(set));
    let begins = Expr::SubQuery(None, Box::new(begins.into()));
    Func::coalesce([state, begins, Expr::val(begins_in)]).into()
}
