//! What happens to records of sets with a workflow, just before the commit: whoever changes them, and
//! whichever way they came in.
//!
//! - A record that is made begins its workflow.
//! - A record whose state locks what was changed is refused, with all of the unit of work. What a transition
//!   of the same unit of work sets is let through; for everything else the state counts that the
//!   record had before it.
//! - A record that names somebody else is that person's turn.
//! - A record that is gone for good is forgotten, so that one which is made under its key begins anew.
//! - Pages are told of the sets in which it is somebody else's turn now, or nobody's.

use std::collections::{BTreeSet, HashMap, HashSet};

use async_trait::async_trait;
use sea_orm::Value;
use svc_core::{Error, OrganisationId, Result};
use svc_data::value::ValueKind;
use svc_data::{Captured, Change, ChangeKind, CommitHook, Record, UnitOfWork};
use uuid::Uuid;

use crate::binding;
use crate::claims::{self, Standing};
use crate::declared::Started;
use crate::definition::Lock;
use crate::engine::{Workflow, WorkflowEngine};
use crate::errors::LOCKED;
use crate::events::{WorkflowOverdue, WorkflowTransitioned};
use crate::live;
use crate::permissions::VIEW;
use crate::store::{self, Begun, Place};

/// Takes part in every commit, once the application is built.
pub(crate) struct Follow(pub(crate) Started);

#[async_trait]
impl CommitHook for Follow {
    async fn before_commit(&self, uow: &UnitOfWork, captured: &Captured) -> Result<()> {
        // What modules store while they are built is none of a set that has a workflow: whoever
        // declares one is built later.
        let Some(workflows) = self.0.0.get() else { return Ok(()) };
        let mut touched: HashMap<(OrganisationId, &'static str), Vec<(Uuid, &Change)>> =
            HashMap::new();
        for change in &captured.changes {
            let (Some(organisation), Some(id)) = (change.organisation, key_of(change)) else {
                continue;
            };
            if workflows.of_table(change.model.table).is_some() {
                touched.entry((organisation, change.model.table)).or_default().push((id, change));
            }
        }
        let mut moved_sets = moved_sets(captured);
        for ((organisation, table), changes) in touched {
            let Some(workflow) = workflows.of_table(table) else { continue };
            let moved = moved(captured, workflow.set());
            let set = Touched { uow, workflows, workflow, organisation, changes, moved };
            set.guard().await?;
            set.follow().await?;
            if set.claim().await? | set.has_deleted() {
                moved_sets.insert(workflow.set().to_owned());
            }
        }
        moved_sets.iter().try_for_each(|set| live::tell_moved(uow, set))
    }
}

/// The sets of which the unit of work took records on, or had one overdue.
fn moved_sets(captured: &Captured) -> BTreeSet<String> {
    let told = captured.events.iter();
    let told =
        told.filter(|it| [WorkflowTransitioned::NAME, WorkflowOverdue::NAME].contains(&&*it.name));
    told.filter_map(|it| it.data["entityType"].as_str().map(str::to_owned)).collect()
}

fn key_of(change: &Change) -> Option<Uuid> {
    match change.record()?.key(&change.model) {
        Value::Uuid(id) => *id,
        _ => None,
    }
}

/// The transitions of the unit of work, by record, in their order.
fn moved(captured: &Captured, set: &str) -> HashMap<Uuid, Vec<WorkflowTransitioned>> {
    let mut moved: HashMap<Uuid, Vec<WorkflowTransitioned>> = HashMap::new();
    for event in captured.events.iter().filter(|event| event.name == WorkflowTransitioned::NAME) {
        let told = serde_json::from_value::<WorkflowTransitioned>(event.data.clone());
        if let Ok(told) = told
            && told.entity_type == set
        {
            moved.entry(told.entity_id).or_default().push(told);
        }
    }
    moved
}

/// What a unit of work did to the records of one set in one organisation.
struct Touched<'a> {
    uow: &'a UnitOfWork,
    workflows: &'a WorkflowEngine,
    workflow: &'a Workflow,
    organisation: OrganisationId,
    changes: Vec<(Uuid, &'a Change)>,
    moved: HashMap<Uuid, Vec<WorkflowTransitioned>>,
}

impl Touched<'_> {
    /// Refuses what states lock.
    async fn guard(&self) -> Result<()> {
        let new = self.made();
        let is_old = |id: &Uuid| !new.contains(id);
        let mut ids: Vec<Uuid> = self.changes.iter().map(|(id, _)| *id).filter(is_old).collect();
        ids.sort_unstable();
        ids.dedup();
        let ctx = self.uow.context();
        let set = self.workflow.set();
        let instances = store::instances(ctx, self.organisation, set, &ids).await?;
        for (id, change) in self.changes.iter().filter(|(id, _)| is_old(id)) {
            let instance = instances.get(id);
            let definition = match instance {
                Some(it) => self.workflows.version(ctx, self.workflow, it.version).await?,
                None => self.workflows.current(ctx, self.workflow, self.organisation).await?.1,
            };
            let steps = self.moved.get(id).map(Vec::as_slice).unwrap_or_default();
            let state = match (steps.first(), instance) {
                (Some(step), _) => &step.from,
                (None, Some(instance)) => &instance.state,
                (None, None) => definition.begins_in(),
            };
            let lock = definition.find_state(state).and_then(|state| state.lock.as_ref());
            let Some(lock) = lock.filter(|lock| !self.is_spared(lock, change)) else { continue };
            let taken = || steps.iter().filter_map(|it| definition.find_transition(&it.transition));
            // What an action does that a transition has called, the transition does.
            if taken().any(|transition| !transition.calls.is_empty()) {
                continue;
            }
            let set_by_step =
                |property: &str| taken().any(|transition| transition.sets.contains_key(property));
            refuse_locked(self.uow, lock, state, change, set_by_step)?;
        }
        Ok(())
    }

    /// Whether whoever made a change may do so all the same. Rights are those of whom the unit of
    /// work is done for, so nobody is spared by what another who acted in it may do.
    fn is_spared(&self, lock: &Lock, change: &Change) -> bool {
        let who = self.uow.context().principal();
        lock.unless.as_ref().is_some_and(|permission| who.can(permission))
            && who.user_id() == change.author.actor.user
    }

    /// The records that were not there before. One that was removed and made again was.
    fn made(&self) -> HashSet<Uuid> {
        let mut known = HashSet::new();
        let first = self.changes.iter().filter(|(id, _)| known.insert(*id));
        let made = first.filter(|(_, change)| change.kind == ChangeKind::Created);
        made.map(|(id, _)| *id).collect()
    }

    fn with(&self, holds: impl Fn(&Change) -> bool) -> impl Iterator<Item = Uuid> {
        self.changes.iter().filter(move |(_, change)| holds(change)).map(|(id, _)| *id)
    }

    /// Whether a record was deleted, with which its task goes.
    fn has_deleted(&self) -> bool {
        self.with(|change| change.kind == ChangeKind::Deleted).next().is_some()
    }

    /// Stores whose turn it is with records in which a property names another person now; answers
    /// with whether there are such.
    async fn claim(&self) -> Result<bool> {
        let mut named: HashMap<Uuid, (HashSet<&str>, &Record)> = HashMap::new();
        for (id, change) in &self.changes {
            let Some(after) = &change.after else {
                named.remove(id);
                continue;
            };
            let columns = change.changed.iter().map(|place| &change.model.columns[*place]);
            let may_name =
                columns.filter(|column| self.workflow.has_groups || column.kind == ValueKind::Uuid);
            let changed: Vec<&str> = may_name.map(|column| &*column.property).collect();
            let known = named.contains_key(id);
            if known || (change.kind != ChangeKind::Created && !changed.is_empty()) {
                let (all, record) = named.entry(*id).or_insert_with(|| (HashSet::new(), after));
                all.extend(changed);
                *record = after;
            }
        }
        let ids: Vec<Uuid> = named.keys().copied().collect();
        let (ctx, set) = (self.uow.context(), self.workflow.set());
        let instances = store::instances(ctx, self.organisation, set, &ids).await?;
        let mut has_claimed = false;
        for (id, (changed, record)) in named {
            let Some(instance) = instances.get(&id) else { continue };
            let definition = self.workflows.version(ctx, self.workflow, instance.version).await?;
            let mut naming = claims::naming(&definition, &instance.state);
            // What was approved of the record as it was counts no more.
            let by_groups = claims::has_groups(&definition, &instance.state);
            if !by_groups && !naming.any(|property| changed.contains(property)) {
                continue;
            }
            let model = &self.workflow.model;
            let version = record.version(model);
            let mut approvals = if by_groups {
                store::open_approvals(ctx, self.organisation, set, &[id]).await?
            } else {
                HashMap::new()
            };
            let mut approvals = approvals.remove(&id).unwrap_or_default();
            approvals.retain(|approval| Some(approval.record_version) == version);
            let stay = [(id, instance.steps)];
            let mut reassigned = store::reassigned(ctx, self.organisation, set, &stay).await?;
            let reassigned = reassigned.remove(&id).unwrap_or_default();
            let standing = Standing {
                state: &instance.state,
                creator: instance.created_by,
                last: instance.last_by,
                is_escalated: instance.is_escalated,
                approvals: &approvals,
                reassigned: &reassigned,
                person_in: &|property| binding::person_in(model, record, property),
            };
            let place = Place { organisation: self.organisation, set, id };
            let claims = standing.claims(&definition);
            let had = Some(instance.claims);
            store::claim(self.uow, place, instance.stay(), &claims, had).await?;
            has_claimed = true;
        }
        Ok(has_claimed)
    }

    /// Begins and forgets instances.
    async fn follow(&self) -> Result<()> {
        let set = self.workflow.set();
        let gone: Vec<Uuid> = self.with(|change| change.after.is_none()).collect();
        store::forget(self.uow, self.organisation, set, &gone).await?;
        if !self.changes.iter().any(|(_, change)| change.kind == ChangeKind::Created) {
            return Ok(());
        }
        let ctx = self.uow.context();
        let (version, definition) =
            self.workflows.current(ctx, self.workflow, self.organisation).await?;
        let mut begun: HashMap<Uuid, Begun<'_>> = HashMap::new();
        for (id, change) in &self.changes {
            if change.after.is_none() {
                begun.remove(id);
            } else if change.kind == ChangeKind::Created {
                let place = Place { organisation: self.organisation, set, id: *id };
                let instance = Begun {
                    place,
                    version,
                    state: definition.begins_in(),
                    created_by: change.author.actor.user.map(|user| user.0),
                    since_us: None,
                };
                begun.insert(*id, instance);
            }
        }
        let begun: Vec<Begun<'_>> = begun.into_values().collect();
        store::begin(self.uow, &begun).await.map(drop)
    }
}

/// Refuses a change of what a state locks.
fn refuse_locked(
    uow: &UnitOfWork,
    lock: &Lock,
    state: &str,
    change: &Change,
    is_set_by_step: impl Fn(&str) -> bool,
) -> Result<()> {
    let columns = change.changed.iter().map(|place| (*place, &change.model.columns[*place]));
    let is_locked = |property: &String| match &lock.properties {
        Some(locked) => locked.contains(property),
        None => true,
    };
    let locked: Vec<usize> = columns
        .filter(|(_, column)| is_locked(&column.property) && !is_set_by_step(&column.property))
        .map(|(place, _)| place)
        .collect();
    let is_deleted = change.kind == ChangeKind::Deleted;
    if locked.is_empty() && !is_deleted {
        return Ok(());
    }
    let who = uow.context().principal();
    let mut refusal: Error =
        LOCKED.error("the record can't be changed so in the state that it is in");
    if who.can(VIEW) {
        refusal = refusal.with("state", state);
    }
    let seen = locked.into_iter().filter(|place| change.model.is_visible(*place, who));
    for place in seen.filter(|_| !is_deleted) {
        let property = &change.model.columns[place].property;
        refusal = refusal.field(property, "is locked in this state");
    }
    Err(refusal)
}
