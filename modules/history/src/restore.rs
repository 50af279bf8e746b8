//! Takes a record back: through the set's own way of writing, as the caller.

use sea_orm::Value;
use sea_orm::sea_query::Query;
use svc_core::{Error, ErrorKind, Result};
use svc_data::value::to_text;
use svc_data::{Context, EntityModel, Expected, Record, UnitOfWork};
use svc_database::database_error;
use svc_events::Publish as _;
use svc_sets::{EntityInput, Verb};
use uuid::Uuid;

use crate::errors::{CANNOT_GO_BACK, CHANGED_SINCE};
use crate::events::HistoryRestored;
use crate::plan::{Action, Aim, Mode, Plan, State};
use crate::sight::{Kept, missing};
use crate::store::{self, Row};

/// What somebody wants taken back.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) entry: Uuid,
    pub(crate) mode: Mode,
    /// The version of the record when the preview was looked at.
    pub(crate) version: Option<i64>,
    pub(crate) fields: Option<Vec<String>>,
}

/// A plan with what stands in its way.
pub(crate) struct Preview {
    pub(crate) version: i64,
    pub(crate) plan: Plan,
    /// What would refuse it.
    pub(crate) refusal: Option<Error>,
}

/// What a restore has done.
pub(crate) struct Outcome {
    pub(crate) action: Action,
    /// The record's version now.
    pub(crate) version: i64,
}

impl Outcome {
    /// Whether it did anything.
    pub(crate) fn has_changed(&self) -> bool {
        self.action != Action::Nothing
    }
}

/// A record with one of its entries.
pub(crate) struct Subject {
    pub(crate) kept: Kept,
    pub(crate) key: Value,
    pub(crate) newest: Row,
    pub(crate) entry: Row,
}

impl Kept {
    /// The entity of what was deleted softly from the set.
    fn deleted<'c>(&self, ctx: &'c Context) -> Option<&'c EntityModel> {
        ctx.catalogue().set(&self.model.deleted_set()?).map(AsRef::as_ref)
    }

    /// What a restore would do. It is tried and taken back again, so that what refuses it is known.
    pub(crate) async fn preview(
        &self,
        ctx: &Context,
        id: &str,
        entry: Uuid,
        mode: Mode,
    ) -> Result<Preview> {
        let subject = self.subject(ctx, id, entry).await?;
        let now = subject.state(ctx).await?;
        let version = subject.version(&now);
        let plan = subject.plan(ctx, mode, &now)?;
        let mut refusal = None;
        if plan.action != Action::Nothing {
            let mut is_possible = false;
            let tried = ctx.transact(async |uow| {
                subject.apply(&uow, &plan, None).await?;
                is_possible = true;
                Err::<(), _>(Error::internal("a restore was only tried"))
            });
            let refused = tried.await.err().filter(|_| !is_possible);
            refusal = match refused {
                Some(error) if is_refusal(error.kind()) => Some(error),
                Some(error) => return Err(error),
                None => None,
            };
        }
        Ok(Preview { version, plan, refusal })
    }

    /// Takes a record back.
    pub(crate) async fn restore(
        &self,
        ctx: &Context,
        id: &str,
        wanted: &Wanted,
    ) -> Result<Outcome> {
        let version = wanted
            .version
            .ok_or_else(|| CHANGED_SINCE.error("`version` is missing; send that of the preview"))?;
        ctx.transact(async |uow| {
            let ctx = uow.context();
            let subject = self.subject(ctx, id, wanted.entry).await?;
            let now = subject.locked(&uow).await?;
            if subject.version(&now) != version {
                return Err(CHANGED_SINCE
                    .error("the record was changed since the preview; look at it again"));
            }
            let plan = subject.plan(ctx, wanted.mode, &now)?;
            subject.apply(&uow, &plan, wanted.fields.as_deref()).await
        })
        .await
    }

    async fn subject(&self, ctx: &Context, id: &str, entry: Uuid) -> Result<Subject> {
        let (key, newest) = self.record(ctx, id).await?;
        self.served()?;
        let set = self.model.name();
        let entry = store::one(ctx, self.organisation, set, &newest.key, entry).await?;
        let no_entry = || Error::not_found("there is no such entry of this record");
        let entry = entry.ok_or_else(no_entry)?;
        self.fields(ctx, &entry)?.ok_or_else(no_entry)?;
        refuse_blanked(&entry)?;
        Ok(Subject { kept: self.clone(), key, newest, entry })
    }
}

impl Subject {
    fn model(&self) -> &EntityModel {
        &self.kept.model
    }

    /// What the record is now.
    async fn state(&self, ctx: &Context) -> Result<State> {
        if let Some(record) = self.find(ctx, self.model()).await? {
            return Ok(State::Present(record));
        }
        let Some(deleted) = self.kept.deleted(ctx) else { return Ok(State::Gone) };
        Ok(self.find(ctx, deleted).await?.map_or(State::Gone, State::Marked))
    }

    async fn find(&self, ctx: &Context, model: &EntityModel) -> Result<Option<Record>> {
        let mut select = Query::select();
        select
            .columns((0..model.columns.len()).map(|index| model.column_iden(index)))
            .from(model.table_iden())
            .and_where(model.key_is(&self.key))
            .cond_where(model.scope(ctx.principal().organisation()));
        let row = ctx.run_one(ctx.database().build(&select)).await?;
        let read = row.map(|row| Record::read(model, &row));
        read.transpose().map_err(database_error)
    }

    /// The same, held until the unit of work ends.
    pub(crate) async fn locked(&self, uow: &UnitOfWork) -> Result<State> {
        let found = |found: Result<Record>| match found {
            Ok(record) => Ok(Some(record)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        };
        if let Some(record) = found(uow.locked_record(self.model(), &self.key).await)? {
            return Ok(State::Present(record));
        }
        let Some(deleted) = self.kept.deleted(uow.context()) else { return Ok(State::Gone) };
        let record = found(uow.locked_record(deleted, &self.key).await)?;
        Ok(record.map_or(State::Gone, State::Marked))
    }

    pub(crate) fn version(&self, now: &State) -> i64 {
        match now {
            State::Present(record) | State::Marked(record) => {
                record.version(self.model()).unwrap_or(0)
            }
            State::Gone => self.newest.version(),
        }
    }

    pub(crate) fn plan(&self, ctx: &Context, mode: Mode, now: &State) -> Result<Plan> {
        let Kept { model, organisation, keys, .. } = &self.kept;
        let content = self.entry.content(keys)?;
        let version = self.entry.version();
        let last = self.last()?;
        if matches!(now, State::Gone) {
            refuse_blanked(&self.newest)?;
        }
        let aim = Aim {
            before: content.image_before(model, *organisation, version),
            after: content.image_after(model, *organisation, version),
            who: ctx.principal(),
            content: &content,
            last,
            model,
            mode,
        };
        aim.plan(now)
    }

    /// The record as it was when it was last there.
    fn last(&self) -> Result<Option<Record>> {
        let content = self.newest.content(&self.kept.keys)?;
        Ok(self.kept.last_of(&content, &self.newest))
    }

    /// Carries a plan out, and says so to whoever keeps the history.
    pub(crate) async fn apply(
        &self,
        uow: &UnitOfWork,
        plan: &Plan,
        named: Option<&[String]>,
    ) -> Result<Outcome> {
        let chosen = plan.chosen(named)?;
        let unchanged = self.newest.version();
        let record = match (plan.action, &plan.target) {
            (Action::Change, Some(_)) if chosen.is_empty() => None,
            (Action::Change, Some(target)) => Some(self.change(uow, target, &chosen).await?),
            (Action::Delete, _) => Some(self.delete(uow).await?),
            (Action::Restore | Action::Create, _) => {
                Some(self.bring_back(uow, plan, &chosen).await?)
            }
            _ => None,
        };
        let Some(record) = record else {
            return Ok(Outcome { action: Action::Nothing, version: unchanged });
        };
        let set = self.model().name().to_owned();
        let key = to_text(&self.key);
        uow.raise_domain(HistoryRestored { set, key, entry: self.entry.id })?;
        let version = record.version(self.model()).unwrap_or(unchanged);
        // What is answered of a deletion is the record before it.
        let counts_on = plan.action == Action::Delete && self.model().deletes_softly();
        Ok(Outcome { action: plan.action, version: version + i64::from(counts_on) })
    }

    async fn delete(&self, uow: &UnitOfWork) -> Result<Record> {
        let (sets, index) = self.kept.served()?;
        sets.delete(uow, index, &self.key, Expected::Any).await
    }

    async fn change(&self, uow: &UnitOfWork, to: &Record, chosen: &[usize]) -> Result<Record> {
        let (sets, index) = self.kept.served()?;
        let model = self.model();
        let values = chosen.iter().map(|column| {
            let described = &model.columns[*column];
            (described.property.as_str(), described.kind.to_literal(to.value(*column)))
        });
        let input: EntityInput = sets.input_of_values(uow.context(), index, values)?;
        sets.change(uow, index, &self.key, input, Verb::Change, Expected::Any).await
    }

    /// Of a record that is gone nothing can be locked: where somebody else brings it back at the same time, it
    /// is there by then, or its key is taken.
    fn overtaken(&self, error: Error) -> Error {
        let key = &self.model().key().property;
        let is_there = error.code() == ErrorKind::Conflict.code();
        if error.kind() == ErrorKind::Conflict && (is_there || error.fields().contains_key(key)) {
            let message = "somebody brought the record back since the preview; look at it again";
            return CHANGED_SINCE.error(message).caused_by(error);
        }
        error
    }

    /// Brings back what was deleted, with what the caller doesn't see of it.
    async fn bring_back(&self, uow: &UnitOfWork, plan: &Plan, chosen: &[usize]) -> Result<Record> {
        let (sets, index) = self.kept.served()?;
        let target = plan.target.as_ref().ok_or_else(missing)?;
        if plan.action == Action::Create && self.last()?.as_ref() != Some(target) {
            // Who brings it back otherwise than it was last changes it, too.
            sets.require(uow.context(), index, Verb::Change)?;
        }
        let was = target.values().iter().cloned().map(Some).collect();
        let brought = sets.bring_back(uow, index, &self.key, was, Expected::Any).await;
        let brought = brought.map_err(|error| self.overtaken(error))?;
        // What was deleted softly comes back as it was when it was deleted.
        if plan.action == Action::Create || chosen.is_empty() {
            return Ok(brought);
        }
        self.change(uow, target, chosen).await
    }
}

/// Refuses what leads to nothing any more.
pub(crate) fn refuse_blanked(entry: &Row) -> Result<()> {
    if entry.is_blanked {
        return Err(CANNOT_GO_BACK.error("the values of this entry were blanked"));
    }
    Ok(())
}

/// Whether an error says that a restore isn't possible, and not that something is broken.
pub(crate) fn is_refusal(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::Conflict
            | ErrorKind::Invalid
            | ErrorKind::Forbidden
            | ErrorKind::NotFound
            | ErrorKind::MethodNotAllowed
            | ErrorKind::Malformed
    )
}
