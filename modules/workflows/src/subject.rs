//! A record of a set with a workflow, as somebody looks at it.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use sea_orm::Value;
use sea_orm::sea_query::{Expr, ExprTrait as _, Query};
use svc_core::{Error, ErrorKind, Principal, PrincipalKind, Result};
use svc_data::{Context, Record, UnitOfWork};
use svc_database::database_error;
use uuid::Uuid;

use crate::binding::{self, Parameters};
use crate::claims::{self, Claim, Standing};
use crate::definition::{By, Definition, Transition};
use crate::engine::{Workflow, WorkflowEngine};
use crate::errors::CONDITION;
use crate::groups::Given;
use crate::permissions::{ACT, VIEW};
use crate::plan::{self, Facts};
use crate::store::{self, Approval, Instance, Place, Reassignment};

/// Which state of a record somebody has seen: its version, and how many transitions there were.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Version {
    record: i64,
    steps: i64,
}

impl Version {
    pub(crate) fn new(record: i64, steps: i64) -> Self {
        Self { record, steps }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.record, self.steps)
    }
}

impl FromStr for Version {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let parts = text.split_once('.').and_then(|(record, steps)| {
            Some(Self { record: record.parse().ok()?, steps: steps.parse().ok()? })
        });
        parts.ok_or_else(|| {
            Error::invalid("the request is not valid")
                .field("version", "isn't a version; send the one that the record was shown with")
        })
    }
}

/// A record with its workflow.
pub(crate) struct Subject {
    pub(crate) workflow: Arc<Workflow>,
    pub(crate) definition: Arc<Definition>,
    pub(crate) key: Value,
    pub(crate) id: Uuid,
    pub(crate) record: Record,
    pub(crate) instance: Instance,
    /// Whether the instance is stored; that of a record which was there before its workflow isn't.
    pub(crate) has_begun: bool,
    /// Who has approved a transition out of its state, of the record as it is.
    pub(crate) approvals: Vec<Approval>,
    /// Whose turn was handed on while it is in its state.
    pub(crate) reassigned: Vec<Reassignment>,
    /// For whom the caller stands in, once that was looked for.
    represented: Vec<Represented>,
}

/// Somebody for whom the caller stands in.
struct Represented {
    who: Arc<Principal>,
    /// Whether with this record alone, and what nobody is waited for is left out.
    only_turn: bool,
}

impl WorkflowEngine {
    /// A record that the caller may see.
    pub(crate) async fn subject(&self, ctx: &Context, set: &str, id: Uuid) -> Result<Subject> {
        let workflow = self.find(ctx, set)?;
        let model = &workflow.model;
        let mut select = Query::select();
        select
            .columns((0..model.columns.len()).map(|index| model.column_iden(index)))
            .from(model.table_iden())
            .and_where(model.key_is(&id.into()))
            .cond_where(model.seen_by(ctx.viewer()));
        let row = ctx.run_one(ctx.database().build(&select)).await?.ok_or_else(missing)?;
        let record = Record::read(model, &row).map_err(database_error)?;
        let mut found = self.with_records(ctx, workflow, vec![(id, record)]).await?;
        self.find_represented(ctx, &mut found).await?;
        found.pop().ok_or_else(missing)
    }

    /// The same, held until the unit of work ends; without those for whom the caller stands in.
    pub(crate) async fn locked(&self, uow: &UnitOfWork, set: &str, id: Uuid) -> Result<Subject> {
        let ctx = uow.context();
        let workflow = self.find(ctx, set)?;
        let record = uow.locked_record(&workflow.model, &id.into()).await?;
        // Of a set without a row filter, what is in the organisation is seen.
        let is_narrowed = workflow.model.row_filter(ctx.viewer()).is_some();
        if is_narrowed && !self.sets.sees(ctx, workflow.index, &Value::from(id)).await? {
            return Err(missing());
        }
        let found = self.with_records(ctx, workflow, vec![(id, record)]).await?;
        found.into_iter().next().ok_or_else(missing)
    }

    /// Those of some records that the caller may see.
    pub(crate) async fn subjects(
        &self,
        ctx: &Context,
        workflow: &Arc<Workflow>,
        ids: &[Uuid],
    ) -> Result<Vec<Subject>> {
        let model = &workflow.model;
        let mut select = Query::select();
        select
            .columns((0..model.columns.len()).map(|index| model.column_iden(index)))
            .from(model.table_iden())
            .and_where(Expr::col(model.column_ref(model.key_index())).is_in(ids.iter().copied()))
            .cond_where(model.seen_by(ctx.viewer()));
        let rows = ctx.run(ctx.database().build(&select)).await?;
        let mut records = Vec::with_capacity(rows.len());
        for row in rows {
            let record = Record::read(model, &row).map_err(database_error)?;
            if let Value::Uuid(Some(id)) = record.key(model) {
                records.push((*id, record));
            }
        }
        let mut found = self.with_records(ctx, workflow, records).await?;
        self.find_represented(ctx, &mut found).await?;
        Ok(found)
    }

    /// Records that the caller sees, with where they stand.
    async fn with_records(
        &self,
        ctx: &Context,
        workflow: &Arc<Workflow>,
        records: Vec<(Uuid, Record)>,
    ) -> Result<Vec<Subject>> {
        let (organisation, set) = (ctx.organisation()?, workflow.set());
        let ids: Vec<Uuid> = records.iter().map(|(id, _)| *id).collect();
        let mut instances = store::instances(ctx, organisation, set, &ids).await?;
        let current = if instances.len() < ids.len() {
            Some(self.current(ctx, workflow, organisation).await?)
        } else {
            None
        };
        let mut subjects = Vec::with_capacity(records.len());
        let (mut with_approvals, mut handed_on) = (Vec::new(), Vec::new());
        for (id, record) in records {
            let found = instances.remove(&id);
            let has_begun = found.is_some();
            let Some(instance) = found.or_else(|| {
                let (version, definition) = current.as_ref()?;
                Some(Instance::unbegun(*version, definition))
            }) else {
                continue;
            };
            let definition = self.version(ctx, workflow, instance.version).await?;
            if definition.leaving(&instance.state).any(Transition::takes_several) {
                with_approvals.push(id);
            }
            if instance.may_be_reassigned {
                handed_on.push((id, instance.steps));
            }
            let (workflow, key) = (Arc::clone(workflow), id.into());
            let (approvals, reassigned, represented) = (Vec::new(), Vec::new(), Vec::new());
            subjects.push(Subject {
                workflow,
                definition,
                key,
                id,
                record,
                instance,
                has_begun,
                approvals,
                reassigned,
                represented,
            });
        }
        let mut approvals = store::open_approvals(ctx, organisation, set, &with_approvals).await?;
        let mut reassigned = store::reassigned(ctx, organisation, set, &handed_on).await?;
        for subject in &mut subjects {
            subject.reassigned = reassigned.remove(&subject.id).unwrap_or_default();
            let version = subject.record.version(&workflow.model);
            subject.approvals = approvals.remove(&subject.id).unwrap_or_default();
            subject.approvals.retain(|approval| Some(approval.record_version) == version);
        }
        Ok(subjects)
    }

    /// Adds for whom the caller stands in, of records of one set. A key has no more than its own scope, so nobody stands in
    /// by one.
    pub(crate) async fn find_represented(
        &self,
        ctx: &Context,
        subjects: &mut [Subject],
    ) -> Result<()> {
        if ctx.principal().kind() != PrincipalKind::User {
            return Ok(());
        }
        let Some(first) = subjects.first() else { return Ok(()) };
        let delegators = self.delegators(ctx).await?;
        let set = first.workflow.model.set.as_ref();
        let view = set.map(|set| set.permissions.view.clone());
        let is_able = |who: &Principal| {
            [VIEW, ACT].iter().all(|name| who.can(name))
                && view.as_ref().is_none_or(|view| who.can(view))
        };
        let everywhere: Vec<Arc<Principal>> =
            delegators.into_iter().filter(is_able).map(Arc::new).collect();
        for subject in subjects {
            let with_it = self.reassigned_to(ctx, &subject.reassigned).await?;
            let with_it = with_it.into_iter().filter(is_able).map(Arc::new);
            let with_it = with_it.map(|who| Represented { who, only_turn: true });
            let everywhere = everywhere.iter().cloned();
            let everywhere = everywhere.map(|who| Represented { who, only_turn: false });
            subject.represented = with_it.chain(everywhere).collect();
        }
        Ok(())
    }

    /// What keeps the caller from taking a transition by a route; none where nothing does but a comment that is
    /// missing.
    pub(crate) async fn obstacle(
        &self,
        ctx: &Context,
        subject: &Subject,
        transition: &Transition,
        comment: Option<&str>,
    ) -> Result<Option<Error>> {
        match plan::missing_permission(ctx.principal(), ACT) {
            Some(refusal) => Ok(Some(refusal)),
            None => self.refusal(ctx, subject, transition, comment).await,
        }
    }

    /// What keeps the caller from a transition of a record; none where nothing does but a comment that is
    /// missing. Commands of the application say themselves who may call them.
    pub(crate) async fn refusal(
        &self,
        ctx: &Context,
        subject: &Subject,
        transition: &Transition,
        comment: Option<&str>,
    ) -> Result<Option<Error>> {
        if let Some(refusal) = subject.refusal(ctx, transition) {
            return Ok(Some(refusal));
        }
        let Some(condition) = &transition.condition else { return Ok(None) };
        let me = ctx.principal().user_id().map(|user| user.0);
        let parameters = Parameters { me, comment };
        let index = subject.workflow.index;
        let refused =
            |message: String| Some(CONDITION.error(message).with("condition", condition.as_str()));
        let keys = vec![subject.key.clone()];
        match binding::holding(ctx, &self.sets, index, keys, condition, &parameters).await {
            Ok(held) if held.contains(&subject.id) => Ok(None),
            Ok(_) => Ok(refused(format!("this is possible only where `{condition}`"))),
            // Of an earlier version, whose set has changed since.
            Err(error) if error.kind() == ErrorKind::Malformed => Ok(refused(format!(
                "whether `{condition}` can't be told any more; take another way"
            ))),
            Err(error) => Err(error),
        }
    }
}

impl Subject {
    /// What keeps the caller from a transition, the condition aside.
    pub(crate) fn refusal(&self, ctx: &Context, transition: &Transition) -> Option<Error> {
        self.part_of(ctx, transition).err()
    }

    /// For whom the caller takes a transition: none in the caller's own right, which comes first.
    pub(crate) fn part_of(
        &self,
        ctx: &Context,
        transition: &Transition,
    ) -> Result<Option<&Arc<Principal>>> {
        let who = ctx.principal();
        let refusal = self.facts((who, None), |facts| facts.refusal(transition));
        let Some(refusal) = refusal else { return Ok(None) };
        let mut able =
            self.represented.iter().filter(|one| !(one.only_turn && transition.optional));
        let found = able.find(|one| {
            let represents = Some(&*one.who);
            self.facts((who, represents), |facts| facts.refusal(transition)).is_none()
        });
        found.map(|one| Some(&one.who)).ok_or(refusal)
    }

    /// The groups of a transition that the caller counts for, in whosever right.
    pub(crate) fn groups_of(
        &self,
        ctx: &Context,
        represents: Option<&Principal>,
        transition: &Transition,
    ) -> Vec<String> {
        if transition.groups.is_empty() {
            return Vec::new();
        }
        self.facts((ctx.principal(), represents), |facts| facts.groups_of(transition))
    }

    /// The rights by which it is somebody's turn, as their claims; none where it isn't.
    pub(crate) fn turn_of(&self, who: &Principal) -> Option<Vec<String>> {
        if !who.can(ACT) {
            return None;
        }
        let state = &self.instance.state;
        let mut ways = claims::awaited(&self.definition, state);
        ways.find(|way| self.facts((who, None), |facts| facts.refusal(way)).is_none())?;
        let by = claims::awaited(&self.definition, state)
            .flat_map(Transition::everybody)
            .chain(self.escalated_to());
        let held = by.filter(|by| by.is_right_of(who)).filter_map(claims::of_right);
        let held: BTreeSet<String> = held.collect();
        Some(held.into_iter().collect())
    }

    fn facts<T>(
        &self,
        (who, represents): (&Principal, Option<&Principal>),
        ask: impl FnOnce(&Facts<'_>) -> T,
    ) -> T {
        ask(&Facts {
            who,
            represents,
            reassigned: &self.reassigned,
            approvals: &self.approvals,
            state: &self.instance.state,
            creator: self.instance.created_by,
            last: self.instance.last_by,
            escalated_to: self.escalated_to(),
            person_in: &|property| binding::person_in(&self.workflow.model, &self.record, property),
        })
    }

    /// Who may act too, because the record is overdue.
    fn escalated_to(&self) -> &[By] {
        let state = self.definition.find_state(&self.instance.state);
        let state = state.filter(|_| self.instance.is_escalated);
        state.map_or(&[], |state| &state.escalates_to)
    }

    /// The transition that the application takes when the record has been in its state for so long.
    pub(crate) fn automatic(&self) -> Option<&Transition> {
        let state = self.definition.find_state(&self.instance.state)?;
        self.definition.find_transition(&state.automatic.as_ref()?.transition)
    }

    /// Whose turn it is.
    pub(crate) fn claims(&self) -> BTreeSet<Claim> {
        let standing = Standing {
            state: &self.instance.state,
            creator: self.instance.created_by,
            last: self.instance.last_by,
            is_escalated: self.instance.is_escalated,
            approvals: &self.approvals,
            reassigned: &self.reassigned,
            person_in: &|property| binding::person_in(&self.workflow.model, &self.record, property),
        };
        standing.claims(&self.definition)
    }

    /// Who counts as having made the record once somebody has taken a step: where nobody is known to have, whoever takes the
    /// first one.
    pub(crate) fn creator_after(&self, user: Option<Uuid>) -> Option<Uuid> {
        self.instance.created_by.or(user.filter(|_| self.instance.steps == 0))
    }

    /// Those who have approved a transition.
    pub(crate) fn approvals_of(&self, transition: &Transition) -> impl Iterator<Item = &Approval> {
        self.approvals.iter().filter(|approval| approval.transition == transition.name)
    }

    /// Their groups.
    pub(crate) fn given(&self, transition: &Transition) -> Given<'_> {
        self.approvals_of(transition).map(|approval| &*approval.groups).collect()
    }

    pub(crate) fn version(&self) -> Version {
        let record = self.record.version(&self.workflow.model).unwrap_or(0);
        Version::new(record, self.instance.steps)
    }

    pub(crate) fn place<'s>(&'s self, ctx: &Context) -> Result<Place<'s>> {
        Ok(Place { organisation: ctx.organisation()?, set: self.workflow.set(), id: self.id })
    }
}

fn missing() -> Error {
    Error::not_found("there is no such record")
}
