//! Workflows that administrators draw, where the application lets them: drafts, published versions, and moving records
//! from one version to another.
//!
//! ```text
//! draft ──► saved by revision: of two who draw, the second is told
//! publish ──► what is wrong is refused; else a version that never changes, with which new records of the organisation begin
//! migrate ──► a job moves records, a hundred in a unit of work, to the states that a mapping names
//! ```
//!
//! A design gives nobody what its author doesn't have: a transition that wasn't there before sets only what the author
//! sees, and calls only what the author may call. What the application marks as kept stays as it is.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use svc_core::{Directory, Error, OrganisationId, PermissionCatalogue, Result, UserId};
use svc_data::{Context, UnitOfWork};
use svc_jobs::{EnqueueJobs as _, Job, JobContext, JobError, JobId};
use uuid::Uuid;

use crate::binding;
use crate::check::{self, Problem};
use crate::claims::Standing;
use crate::deadlines::Deadlines;
use crate::definition::{By, Definition, Transition};
use crate::engine::{ATTEMPTS, Workflow, WorkflowEngine, read};
use crate::errors::{BAD_DESIGN, DRAFT_CHANGED, NOT_DESIGNABLE};
use crate::import;
use crate::live;
use crate::store::{self, Draft, Step};
use crate::subject::Subject;
use crate::transition::checked;

/// The longest draft, in bytes.
const MAX_DRAFT: usize = 512 * 1_024;

/// How many records are moved in a unit of work.
const AT_ONCE: u64 = 100;

/// The most records of a version that a preview counts.
pub(crate) const COUNTED: u64 = 100_000;

/// The job that moves records to another version.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct MigrateRecords {
    set: String,
    from: i64,
    to: i64,
    states: BTreeMap<String, String>,
    user: Option<Uuid>,
    user_name: String,
}

impl Job for MigrateRecords {
    const NAME: &'static str = "workflows.migrate_records";
}

/// What becomes of the records in a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Move {
    pub(crate) from: String,
    /// None where nothing says so: they stay where they are.
    pub(crate) to: Option<String>,
    pub(crate) records: u64,
}

impl WorkflowEngine {
    /// The workflow of a set that the caller may draw.
    pub(crate) fn designable(&self, ctx: &Context, set: &str) -> Result<&Arc<Workflow>> {
        let workflow = self.find(ctx, set)?;
        if workflow.is_designable {
            return Ok(workflow);
        }
        Err(NOT_DESIGNABLE.error(format!("the application declares the workflow of `{set}`")))
    }

    /// All that is wrong with a definition that the caller wants to publish.
    pub(crate) async fn problems_of(
        &self,
        ctx: &Context,
        workflow: &Workflow,
        definition: &Definition,
    ) -> Result<Vec<Problem>> {
        let mut problems = check::problems(definition);
        if problems.iter().any(|problem| problem.code == "too_large") {
            return Ok(problems);
        }
        problems.extend(binding::problems(ctx, &self.sets, workflow.index, definition));
        problems.extend(not_kept(&workflow.definition, definition));
        problems.extend(unknown_permissions(ctx, definition));
        let (_, current) = self.current(ctx, workflow, ctx.organisation()?).await?;
        for transition in &definition.transitions {
            let is_known = [&current, &workflow.definition]
                .into_iter()
                .any(|it| it.transitions.iter().any(|one| one == transition));
            if !is_known {
                problems.extend(self.beyond(ctx, workflow, transition));
            }
        }
        Ok(problems)
    }

    /// What a transition does that the caller couldn't.
    fn beyond(&self, ctx: &Context, workflow: &Workflow, transition: &Transition) -> Vec<Problem> {
        let (model, who, name) = (&workflow.model, ctx.principal(), &transition.name);
        let hidden = transition.sets.keys().filter(|property| {
            binding::place_of(model, property).is_some_and(|place| !model.is_visible(place, who))
        });
        let mut problems: Vec<Problem> = hidden
            .map(|property| {
                let message = format!(
                    "the transition `{name}` sets `{property}`, which you don't see; have it drawn by \
                     somebody who does"
                );
                Problem::new("not_yours", message)
            })
            .collect();
        for action in &transition.calls {
            let Some(found) = binding::action(&self.sets, workflow.index, action) else { continue };
            let permission = self.sets.model().operation(found).permission.as_deref();
            if permission.is_some_and(|permission| !who.can(permission)) {
                let message = format!(
                    "the transition `{name}` calls `{action}`, which you may not call; have it drawn by \
                     somebody who may"
                );
                problems.push(Problem::new("not_yours", message));
            }
        }
        problems
    }

    /// Saves a draft in the place of the revision that was seen, 0 for none; answers with the next.
    pub(crate) async fn save_draft(
        &self,
        ctx: &Context,
        workflow: &Workflow,
        seen: i64,
        definition: &Json,
    ) -> Result<(i64, Definition)> {
        let definition = import::definition(definition)?;
        let json = to_json(&definition)?;
        if json.len() > MAX_DRAFT {
            let problem = format!("must have at most {} KiB", MAX_DRAFT / 1_024);
            return Err(Error::invalid("the draft is too large").field("definition", problem));
        }
        let organisation = ctx.organisation()?;
        let saved = ctx
            .transact(async |uow| {
                store::save_draft(&uow, organisation, workflow.set(), (seen, &json)).await
            })
            .await?;
        if saved { Ok((seen.saturating_add(1), definition)) } else { Err(draft_changed()) }
    }

    /// Forgets a draft of the revision that was seen.
    pub(crate) async fn drop_draft(
        &self,
        ctx: &Context,
        workflow: &Workflow,
        seen: i64,
    ) -> Result<()> {
        let organisation = ctx.organisation()?;
        let dropped = ctx
            .transact(async |uow| store::drop_draft(&uow, organisation, workflow.set(), seen).await)
            .await?;
        if dropped { Ok(()) } else { Err(draft_changed()) }
    }

    /// The draft of the caller's organisation.
    pub(crate) async fn draft(
        &self,
        ctx: &Context,
        workflow: &Workflow,
    ) -> Result<Option<(Draft, Definition)>> {
        let draft = store::draft(ctx, ctx.organisation()?, workflow.set()).await?;
        draft.map(|draft| Ok((draft.clone(), read(&draft.definition)?))).transpose()
    }

    /// Makes a version of the draft that was seen, with which new records begin from now on.
    pub(crate) async fn publish_draft(
        &self,
        ctx: &Context,
        workflow: &Workflow,
        seen: i64,
        note: Option<&str>,
    ) -> Result<i64> {
        let note = checked("note", note)?;
        let found = self.draft(ctx, workflow).await?;
        let Some((_, definition)) = found.filter(|(draft, _)| draft.revision == seen) else {
            return Err(draft_changed());
        };
        let problems = self.problems_of(ctx, workflow, &definition).await?;
        if let Some(first) = problems.first() {
            let error = BAD_DESIGN.error(format!("the workflow can't be published: {first}"));
            let codes: Vec<&str> = problems.iter().map(|problem| problem.code).collect();
            return Err(error.with("problems", codes));
        }
        let (organisation, set, json) =
            (ctx.organisation()?, workflow.set(), to_json(&definition)?);
        for _ in 0..ATTEMPTS {
            let version = store::version(ctx, set, None).await?.unwrap_or(0) + 1;
            let is_published = ctx
                .transact(async |uow| {
                    let place = (organisation, set, version);
                    if !store::publish_design(&uow, place, &json, note).await? {
                        return Ok(false);
                    }
                    if !store::drop_draft(&uow, organisation, set, seen).await? {
                        return Err(draft_changed());
                    }
                    let current = (version, definition.begins_in());
                    store::set_current(&uow, organisation, set, current).await?;
                    live::tell_moved(&uow, set)?;
                    Ok(true)
                })
                .await?;
            if is_published {
                let _ = self.version(ctx, workflow, version).await?;
                return Ok(version);
            }
        }
        Err(Error::unavailable("the workflow could not be published; try again"))
    }

    /// A version that the caller's organisation may use.
    pub(crate) async fn usable(
        &self,
        ctx: &Context,
        workflow: &Workflow,
        version: i64,
    ) -> Result<Arc<Definition>> {
        if !store::is_usable(ctx, ctx.organisation()?, workflow.set(), version).await? {
            return Err(Error::not_found(format!("there is no version {version}")));
        }
        self.version(ctx, workflow, version).await
    }

    /// What becomes of the records of a version in another.
    pub(crate) async fn moves(
        &self,
        ctx: &Context,
        workflow: &Workflow,
        (from, to): (i64, i64),
        states: &BTreeMap<String, String>,
    ) -> Result<Vec<Move>> {
        let _ = self.usable(ctx, workflow, from).await?;
        let target = self.usable(ctx, workflow, to).await?;
        if from == to {
            let problem = "is the version that they are of already";
            return Err(Error::invalid("the request is not valid").field("to", problem));
        }
        if let Some(unknown) = states.values().find(|state| target.find_state(state).is_none()) {
            let problem = format!("`{unknown}` isn't a state of version {to}");
            return Err(Error::invalid("the request is not valid").field("states", problem));
        }
        let place = (workflow.set(), from);
        let counted = store::count_states(ctx, ctx.organisation()?, place, COUNTED).await?;
        let moves = counted.into_iter().map(|(state, records)| {
            let to = mapped(states, &target, &state).map(str::to_owned);
            Move { from: state, to, records }
        });
        Ok(moves.collect())
    }

    /// Begins to move the records of a version to another; answers with the job.
    pub(crate) async fn migrate(
        &self,
        ctx: &Context,
        workflow: &Workflow,
        (from, to): (i64, i64),
        states: BTreeMap<String, String>,
    ) -> Result<JobId> {
        let moves = self.moves(ctx, workflow, (from, to), &states).await?;
        if let Some(stays) = moves.iter().find(|one| one.to.is_none()) {
            let problem = format!("doesn't say what becomes of `{}`", stays.from);
            return Err(Error::invalid("the request is not valid").field("states", problem));
        }
        let actor = ctx.principal().actor();
        let job = MigrateRecords {
            set: workflow.set().to_owned(),
            from,
            to,
            states,
            user: actor.user.map(|user| user.0),
            user_name: actor.display_name,
        };
        ctx.transact(async move |uow| Ok(uow.enqueue(job).watched().await?.id)).await
    }

    /// A record as it would be under a definition, for somebody who may be another; nothing is stored.
    pub(crate) async fn tried(
        &self,
        ctx: &Context,
        workflow: &Workflow,
        definition: Definition,
        (id, state): (Uuid, Option<&str>),
        user: Option<Uuid>,
    ) -> Result<(Context, Subject)> {
        let mut subject = self.subject(ctx, workflow.set(), id).await?;
        let known = |name: &str| definition.find_state(name).is_some();
        if let Some(unknown) = state.filter(|state| !known(state)) {
            let problem = format!("`{unknown}` isn't a state of the definition");
            return Err(Error::invalid("the request is not valid").field("state", problem));
        }
        let now = Some(subject.instance.state.as_str()).filter(|state| known(state));
        let state = state.or(now).unwrap_or_else(|| definition.begins_in()).to_owned();
        if state != subject.instance.state {
            subject.approvals = Vec::new();
        }
        subject.reassigned = Vec::new();
        subject.instance.state = state;
        subject.definition = Arc::new(definition);
        let Some(user) = user else { return Ok((ctx.clone(), subject)) };
        let nobody = || {
            Error::invalid("the request is not valid")
                .field("userId", "is nobody of this organisation")
        };
        let directory = ctx.app().find_service::<dyn Directory>().ok_or_else(nobody)?;
        let who = directory.principal(UserId(user), ctx.organisation()?).await?;
        Ok((ctx.acting_as(Arc::new(who.ok_or_else(nobody)?)), subject))
    }

    async fn migrate_some(
        &self,
        uow: &UnitOfWork,
        job: &MigrateRecords,
        ids: &[Uuid],
    ) -> Result<()> {
        let ctx = uow.context();
        let workflow = self.find(ctx, &job.set)?;
        let target = self.version(ctx, workflow, job.to).await?;
        let mut has_moved = false;
        for subject in self.subjects(ctx, workflow, ids).await? {
            let state = mapped(&job.states, &target, &subject.instance.state);
            let Some(state) = state.filter(|_| subject.instance.version == job.from) else {
                continue;
            };
            has_moved |= self.migrate_one(uow, job, &subject, (&target, state)).await?;
        }
        if has_moved { live::tell_moved(uow, workflow.set()) } else { Ok(()) }
    }

    /// Moves a record as a step of its past that no transition is; one that somebody takes on meanwhile stays.
    async fn migrate_one(
        &self,
        uow: &UnitOfWork,
        job: &MigrateRecords,
        subject: &Subject,
        (target, state): (&Definition, &str),
    ) -> Result<bool> {
        let ctx = uow.context();
        let deadlines = Deadlines::of(ctx, target.find_state(state)).await?;
        let step = Step {
            number: subject.instance.steps + 1,
            transition: String::new(),
            from: subject.instance.state.clone(),
            to: state.to_owned(),
            user: job.user,
            user_name: job.user_name.clone(),
            represents: None,
            comment: None,
            at_us: ctx.clock().now_us(),
        };
        let place = subject.place(ctx)?;
        let to = (subject.instance.created_by, deadlines.due_us);
        if !store::advance(uow, place, &subject.instance, &step, to).await? {
            return Ok(false);
        }
        store::set_version(uow, place, job.to).await?;
        store::set_timers(uow, place, &deadlines.timers).await?;
        let model = &subject.workflow.model;
        let standing = Standing {
            state,
            creator: subject.instance.created_by,
            last: step.user,
            is_escalated: false,
            approvals: &[],
            reassigned: &[],
            person_in: &|property| binding::person_in(model, &subject.record, property),
        };
        let stay = step.stay(deadlines.due_us);
        store::claim(uow, place, stay, &standing.claims(target), None).await?;
        Ok(true)
    }
}

/// Runs the job. One that was interrupted finds what is left.
pub(crate) async fn migrate_records(job: JobContext, work: MigrateRecords) -> Result<(), JobError> {
    let engine = job.app().service::<WorkflowEngine>()?;
    let ctx = job.context();
    let organisation: OrganisationId = ctx.organisation()?;
    let mut after = Uuid::nil();
    loop {
        job.check_interruption()?;
        let place = (work.set.as_str(), work.from);
        let ids = store::records_of_version(ctx, organisation, place, after, AT_ONCE).await?;
        let Some(last) = ids.last() else { return Ok(()) };
        after = *last;
        ctx.transact(async |uow| engine.migrate_some(&uow, &work, &ids).await).await?;
    }
}

/// The state that records of a state come into: the one that a mapping names, or else the one of the same name.
fn mapped<'a>(
    states: &'a BTreeMap<String, String>,
    target: &'a Definition,
    state: &str,
) -> Option<&'a str> {
    let named = states.get(state).map(String::as_str);
    named.or_else(|| target.find_state(state).map(|state| state.name.as_str()))
}

/// What the application keeps, and a design changes.
fn not_kept(base: &Definition, design: &Definition) -> Vec<Problem> {
    let refused = |what: &str, name: &str| {
        let message = format!("the application needs the {what} `{name}` as it declares it");
        Problem::new("not_kept", message)
    };
    let states = base.states.iter().filter(|state| state.kept);
    let states =
        states.filter(|state| design.find_state(&state.name).is_none_or(|it| !it.is_same(state)));
    let mut problems: Vec<Problem> = states.map(|state| refused("state", &state.name)).collect();
    let ways = base.transitions.iter().filter(|way| way.kept);
    let ways =
        ways.filter(|way| design.find_transition(&way.name).is_none_or(|it| !it.is_same(way)));
    problems.extend(ways.map(|way| refused("transition", &way.name)));
    let keeps_state = |name: &str| base.find_state(name).is_some_and(|it| it.kept);
    let keeps_way = |name: &str| base.find_transition(name).is_some_and(|it| it.kept);
    let states = design.states.iter().filter(|it| it.kept && !keeps_state(&it.name));
    let ways = design.transitions.iter().filter(|it| it.kept && !keeps_way(&it.name));
    let names = states.map(|it| &it.name).chain(ways.map(|it| &it.name));
    problems.extend(names.map(|name| {
        let message = format!("`{name}` says that the application keeps it, which it doesn't");
        Problem::new("not_kept", message)
    }));
    problems
}

/// Permissions that no module declares.
fn unknown_permissions(ctx: &Context, definition: &Definition) -> Vec<Problem> {
    let Some(catalogue) = ctx.app().find_service::<PermissionCatalogue>() else {
        return Vec::new();
    };
    let by = definition.named().filter_map(|by| match by {
        By::Permission(name) => Some(name),
        By::Role(_) | By::Creator | By::Person(_) => None,
    });
    let locks = definition.states.iter().filter_map(|state| state.lock.as_ref()?.unless.as_ref());
    let mut unknown: Vec<&String> =
        by.chain(locks).filter(|name| !catalogue.contains(name)).collect();
    unknown.sort_unstable();
    unknown.dedup();
    let problem =
        |name| Problem::new("unknown_permission", format!("there is no permission `{name}`"));
    unknown.into_iter().map(problem).collect()
}

fn to_json(definition: &Definition) -> Result<String> {
    serde_json::to_string(definition)
        .map_err(|error| Error::internal("a workflow can't be made JSON").caused_by(error))
}

fn draft_changed() -> Error {
    DRAFT_CHANGED
        .error("somebody has saved, published or dropped the draft meanwhile; look at it again")
}
