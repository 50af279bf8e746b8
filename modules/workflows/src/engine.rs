//! The workflows of the application, with their versions.
//!
//! What a node declares is published when it starts, under the number of an equal version where there
//! is one: so nodes of two releases go on beside each other, and a node that goes back to an
//! earlier release goes back to its versions. Published versions never change, so what was read of them is
//! kept.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::RwLock;
use sha2::{Digest as _, Sha256};
use svc_core::{App, Clock, Error, OrganisationId, PermissionCatalogue, Result, hex};
use svc_data::{Context, EntityModel};
use svc_odata::model::SetIndex;
use svc_sets::Sets;
use uuid::Uuid;

use crate::awaiting::Awaited;
use crate::binding;
use crate::definition::Definition;
use crate::errors::NONE;
use crate::store::{self, Standing};

/// How often publishing is tried where other nodes are faster.
pub(crate) const ATTEMPTS: usize = 10;

/// How many versions of an organisation a node knows the tasks of: records of older ones are found by those it names.
const LEARNT: u64 = 100;

/// The workflow of a set, as a module declares it.
pub(crate) struct Declaration {
    pub(crate) set: String,
    pub(crate) definition: Definition,
    /// Whether administrators draw it.
    pub(crate) is_designable: bool,
}

/// The workflow of a set, as this node keeps it.
pub(crate) struct Workflow {
    pub(crate) index: SetIndex,
    pub(crate) model: Arc<EntityModel>,
    /// The version that records of this node begin with.
    pub(crate) version: i64,
    pub(crate) definition: Arc<Definition>,
    /// Who is waited for, in all versions that there were at the start.
    pub(crate) awaited: Awaited,
    /// Whether a transition of one of them takes people of groups; where somebody draws, one may.
    pub(crate) has_groups: bool,
    /// Whether administrators draw it.
    pub(crate) is_designable: bool,
    /// Whether each record had its instance when this node looked last.
    pub(crate) is_complete: AtomicBool,
}

impl Workflow {
    /// The name of the set.
    pub(crate) fn set(&self) -> &str {
        self.model.name()
    }

    /// Whether each record has its instance, as far as this node knows.
    pub(crate) fn is_complete(&self) -> bool {
        self.is_complete.load(Ordering::Relaxed)
    }
}

/// The workflows of the application: `app.service::<WorkflowEngine>()`.
pub struct WorkflowEngine {
    pub(crate) sets: Arc<Sets>,
    pub(crate) clock: Clock,
    /// In the order in which they were declared.
    all: Vec<Arc<Workflow>>,
    /// Versions that records began with elsewhere, or before.
    earlier: RwLock<HashMap<(SetIndex, i64), Arc<Definition>>>,
}

impl WorkflowEngine {
    /// Checks what was declared, and publishes what is new of it.
    pub(crate) async fn start(app: &App, declared: Vec<Declaration>) -> Result<Self> {
        let ctx = Context::system(app)?;
        let sets = app.service::<Sets>()?;
        let mut problems = Vec::new();
        let mut found: Vec<(SetIndex, Declaration)> = Vec::new();
        for declaration in declared {
            let Declaration { set, definition, .. } = &declaration;
            let index = sets.find(set)?;
            if found.iter().any(|(other, _)| *other == index) {
                problems.push(format!("`{set}` has two workflows (`set_twice`)"));
            }
            let unfit = binding::problems(&ctx, &sets, index, definition);
            problems.extend(unfit.iter().map(|one| format!("the workflow of `{set}`: {one}")));
            found.push((index, declaration));
        }
        if !problems.is_empty() {
            return Err(Error::invalid(problems.join("\n")));
        }
        let mut all = Vec::with_capacity(found.len());
        let permissions = app.find_service::<PermissionCatalogue>();
        for (index, Declaration { definition, is_designable, .. }) in found {
            let model = Arc::clone(sets.entity(index));
            let version = publish(&ctx, model.name(), &definition).await?;
            // What is drawn later may name any of them.
            let any = permissions.iter().filter(|_| is_designable).flat_map(|all| all.all());
            let awaited = Awaited::new(any.map(|(name, _)| name.clone()));
            let mut has_groups = is_designable;
            for (_, stored) in store::definitions(&ctx, model.name()).await? {
                let stored = read(&stored)?;
                awaited.add(&stored);
                has_groups |= stored.transitions.iter().any(|it| !it.groups.is_empty());
            }
            // Of others it is looked up beside requests.
            let is_complete = !store::has_records(&ctx, &model).await?;
            all.push(Arc::new(Workflow {
                index,
                model,
                version,
                definition: definition.into(),
                awaited,
                has_groups,
                is_designable,
                is_complete: is_complete.into(),
            }));
        }
        Ok(Self { sets, clock: app.clock().clone(), all, earlier: RwLock::default() })
    }

    /// Those of sets that the caller may read.
    pub(crate) fn readable<'a>(
        &'a self,
        ctx: &'a Context,
    ) -> impl Iterator<Item = &'a Arc<Workflow>> {
        self.all.iter().filter(|workflow| self.sets.require_view(ctx, workflow.index).is_ok())
    }

    /// The workflow of a set that the caller may read.
    pub(crate) fn find(&self, ctx: &Context, set: &str) -> Result<&Arc<Workflow>> {
        let index = self.sets.find(set)?;
        self.sets.require_view(ctx, index)?;
        let found = self.all.iter().find(|workflow| workflow.index == index);
        found.ok_or_else(|| NONE.error(format!("`{set}` has no workflow")))
    }

    /// All of them.
    pub(crate) fn workflows(&self) -> impl Iterator<Item = &Arc<Workflow>> {
        self.all.iter()
    }

    /// The workflow of the records of a table.
    pub(crate) fn of_table(&self, table: &str) -> Option<&Arc<Workflow>> {
        self.all.iter().find(|workflow| workflow.model.table == table)
    }

    /// What new records of an organisation begin with.
    pub(crate) async fn current(
        &self,
        ctx: &Context,
        workflow: &Workflow,
        organisation: OrganisationId,
    ) -> Result<(i64, Arc<Definition>)> {
        let drawn = if workflow.is_designable {
            store::current(ctx, organisation, workflow.set()).await?
        } else {
            None
        };
        let version = drawn.unwrap_or(workflow.version);
        Ok((version, self.version(ctx, workflow, version).await?))
    }

    /// The states of records, by key, with a statement for each 500. Those that aren't there or that the caller doesn't see are
    /// left out.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotFound`](svc_core::ErrorKind::NotFound) for a set without a workflow,
    /// [`ErrorKind::Forbidden`](svc_core::ErrorKind::Forbidden) for one that the caller may not read, and a fault of the database.
    pub async fn states_of(
        &self,
        ctx: &Context,
        set: &str,
        ids: &[Uuid],
    ) -> Result<BTreeMap<Uuid, String>> {
        let found = self.standings(ctx, self.find(ctx, set)?, ids).await?;
        Ok(found.into_iter().map(|(id, (_, state))| (id, state)).collect())
    }

    /// The same, with the definition that each has begun with.
    pub(crate) async fn standings(
        &self,
        ctx: &Context,
        workflow: &Workflow,
        ids: &[Uuid],
    ) -> Result<BTreeMap<Uuid, (Arc<Definition>, String)>> {
        let mut found = BTreeMap::new();
        for Standing { id, begun, drawn } in store::standings(ctx, &workflow.model, ids).await? {
            let (version, state) = match begun {
                Some((version, state)) => (version, Some(state)),
                None => (drawn.unwrap_or(workflow.version), None),
            };
            let definition = self.version(ctx, workflow, version).await?;
            let state = state.unwrap_or_else(|| definition.begins_in().to_owned());
            found.insert(id, (definition, state));
        }
        Ok(found)
    }

    /// Looks at versions that were drawn since, so that tasks by what they name are found.
    pub(crate) async fn learn(&self, ctx: &Context, workflow: &Workflow) -> Result<()> {
        if workflow.is_designable {
            let organisation = ctx.organisation()?;
            for one in store::published(ctx, organisation, workflow.set(), LEARNT).await? {
                let _ = self.version(ctx, workflow, one.version).await?;
            }
        }
        Ok(())
    }

    /// The definition that a record began with.
    pub(crate) async fn version(
        &self,
        ctx: &Context,
        workflow: &Workflow,
        version: i64,
    ) -> Result<Arc<Definition>> {
        if version == workflow.version {
            return Ok(Arc::clone(&workflow.definition));
        }
        let key = (workflow.index, version);
        let known = self.earlier.read().get(&key).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let missing = || Error::internal(format!("version {version} of a workflow is missing"));
        let stored = store::definition(ctx, workflow.set(), version).await?.ok_or_else(missing)?;
        let definition = Arc::new(read(&stored)?);
        workflow.awaited.add(&definition);
        let mut earlier = self.earlier.write();
        earlier.insert(key, Arc::clone(&definition));
        Ok(definition)
    }
}

pub(crate) fn read(stored: &str) -> Result<Definition> {
    serde_json::from_str(stored)
        .map_err(|error| Error::internal("a stored workflow can't be read").caused_by(error))
}

/// The number of the version that is equal to a definition; a new one where there is none.
async fn publish(ctx: &Context, set: &str, definition: &Definition) -> Result<i64> {
    let json = serde_json::to_string(definition)
        .map_err(|error| Error::internal("a workflow can't be made JSON").caused_by(error))?;
    let digest = hex(&Sha256::digest(json.as_bytes()));
    for _ in 0..ATTEMPTS {
        if let Some(version) = store::version(ctx, set, Some(&digest)).await? {
            return Ok(version);
        }
        let next = store::version(ctx, set, None).await?.unwrap_or(0) + 1;
        let (digest, json) = (&digest, &json);
        ctx.transact(async |uow| store::publish(&uow, set, next, digest, json).await).await?;
    }
    Err(Error::unavailable("the workflow could not be published; start again"))
}
