//! Telling an endpoint all records of a set as they are, each as `<set>.snapshot`.
//!
//! | From | To | Who | A crash right after leaves |
//! | --- | --- | --- | --- |
//! | | under way | whoever asks, together with the job | all of it, or nothing |
//! | under way | further on | a step of the job: deliveries, and the key of the last record, in one unit of work | the step, or nothing of it; the job goes on behind |
//! | under way | finished | the step that finds no more | the same |
//! | under way | failed | a step that finds the owner gone, or without the set's permission | the same |
//! | under way | cancelled | whoever cancels it | the wish; the next step finds it |
//!
//! What is made waits in the queue of what is sent again, behind what is new. The job makes no more while
//! [`AHEAD`] wait there, and comes back later: so a set of any size neither fills the queue nor keeps a place
//! among the jobs for as long as its receiver takes.
//!
//! A page is read with the rights of the endpoint's owner, before the unit of work that tells it. What is
//! changed meanwhile is told by an event of its own, whose time is later: that of a snapshot is [`BEFORE`]
//! the read, so that whoever keeps what has the latest time keeps what is newest.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use svc_core::{Error, Principal, Result};
use svc_data::{Context, EntityModel, Exposure, UnitOfWork};
use svc_jobs::{EnqueueJobs as _, Job, JobContext, JobError};
use svc_sets::{Row, RowSink, Sets};
use time::OffsetDateTime;
use uuid::Uuid;

use super::Service;
use crate::entity::{Entity, set_named};
use crate::envelope::Envelope;
use crate::errors::NOT_UNDER_WAY;
use crate::filter::Filter;
use crate::model::backfill::{Backfill, BackfillState};
use crate::model::{Lane, Status, endpoint};
use crate::owner::{Owner, Standing};
use crate::set::{MARK, SNAPSHOT};
use crate::store::insert::{self, NewDelivery, NewMessage};
use crate::store::{backfills, queues};
use crate::subscription::EventType;
use crate::view::{self, View};

/// Records of one step.
const STEP: usize = 100;

/// Steps of one run of the job, so that each is short.
const STEPS: usize = 100;

/// Deliveries that wait at most while more are made.
const AHEAD: i64 = 1_000;

/// When the job comes back where so many wait; later where the endpoint is switched off.
const PAUSE: Duration = Duration::from_secs(2);
const PAUSE_WHILE_OFF: Duration = Duration::from_mins(1);

/// How long before it was read the time of a snapshot is: longer than it takes from the time of an event to
/// the end of its commit.
const BEFORE: Duration = Duration::from_secs(10);

/// Tells records of a set, step by step.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct TellSet {
    backfill: Uuid,
}

impl Job for TellSet {
    const NAME: &'static str = "webhooks.backfill";
}

impl Service {
    /// Begins to tell an endpoint all records of a set; answers with the one that is under way, where
    /// there is one.
    pub(crate) async fn begin_backfill(
        &self,
        ctx: &Context,
        endpoint: Uuid,
        set: &str,
    ) -> Result<Backfill> {
        let found = self.find(ctx, endpoint).await?;
        let owner = Owner::of(&found).present(ctx.app()).await?;
        let refuse = |why: String| Error::invalid("no records can be told").field("set", why);
        let model = set_named(ctx, set)?;
        let model = model.filter(|model| is_told(model)).ok_or_else(|| {
            refuse("names no set whose changes are sent; `event-types` lists these".to_owned())
        })?;
        if !may_view(&model, &owner) {
            return Err(refuse(format!("the endpoint's owner may not see `{}`", model.name())));
        }
        ctx.transact(async |uow| {
            let id = ctx.clock().new_id();
            let begun = backfills::begin(&uow, id, endpoint, model.name()).await?;
            let begun = begun.ok_or_else(|| Error::conflict("it has ended just now; try again"))?;
            if begun.id == id {
                uow.enqueue(TellSet { backfill: id }).await?;
            }
            Ok(begun)
        })
        .await
    }

    /// What is told to an endpoint, or was, behind another one.
    pub(crate) async fn backfills(
        &self,
        ctx: &Context,
        endpoint: Uuid,
        before: Option<Uuid>,
        most: u64,
    ) -> Result<Vec<Backfill>> {
        self.find(ctx, endpoint).await?;
        backfills::of_endpoint(ctx.database(), endpoint, before, most).await
    }

    /// Makes no more of it. What waits already is sent, or cancelled with all that waits.
    pub(crate) async fn cancel_backfill(
        &self,
        ctx: &Context,
        endpoint: Uuid,
        id: Uuid,
    ) -> Result<Backfill> {
        self.find(ctx, endpoint).await?;
        let cancel = async |uow: UnitOfWork| {
            backfills::end(&uow, (endpoint, id), BackfillState::Cancelled, None).await
        };
        let was_under_way = ctx.transact(cancel).await?;
        let found = backfills::of(ctx.database(), id).await?;
        let found = found.filter(|found| found.endpoint == endpoint).ok_or_else(no_backfill)?;
        if was_under_way {
            return Ok(found);
        }
        Err(NOT_UNDER_WAY.error("all records have been told, or no more of them are"))
    }
}

fn no_backfill() -> Error {
    Error::not_found("the endpoint has no such backfill")
}

/// Whether changes of a set are sent.
fn is_told(model: &EntityModel) -> bool {
    model.set.as_ref().is_some_and(|set| set.is_marked(MARK))
}

fn may_view(model: &EntityModel, who: &Principal) -> bool {
    model.set.as_ref().is_some_and(|set| who.can(&set.permissions.view))
}

/// Runs the job. One that was interrupted goes on behind the last step.
pub(crate) async fn tell_set(ctx: JobContext, job: TellSet) -> Result<(), JobError> {
    let database = ctx.context().database();
    for _ in 0..STEPS {
        ctx.check_interruption()?;
        let found = backfills::of(database, job.backfill).await?;
        let Some(seen) = found.filter(|one| one.state == BackfillState::UnderWay) else {
            return Ok(());
        };
        let endpoint = ctx.context().get::<endpoint::Entity>(seen.endpoint).await?;
        let Some(endpoint) = endpoint else { return Ok(()) };
        let lane = Some(Lane::Replay);
        if queues::waiting_for(database, seen.endpoint, lane, AHEAD).await? >= AHEAD {
            let pause = if endpoint.is_active { PAUSE } else { PAUSE_WHILE_OFF };
            return Ok(go_on(&ctx, job, pause).await?);
        }
        step(&ctx, seen, &endpoint).await?;
    }
    Ok(go_on(&ctx, job, Duration::ZERO).await?)
}

/// Has another job go on after a pause.
async fn go_on(ctx: &JobContext, job: TellSet, pause: Duration) -> Result<()> {
    let key = job.backfill.to_string();
    let again = async move |uow: UnitOfWork| {
        uow.enqueue(job).unique_while_waiting(key).run_in(pause).await.map(drop)
    };
    ctx.transact(again).await
}

/// Tells the next records, or ends it.
async fn step(ctx: &JobContext, seen: Backfill, endpoint: &endpoint::Model) -> Result<()> {
    let owner = Owner::of(endpoint).standing(ctx.app()).await?;
    let model = set_named(ctx.context(), &seen.set)?.filter(|model| is_told(model));
    let (who, model) = match (&owner, model) {
        (Standing::Here(who), Some(model)) if may_view(&model, who) => (who, model),
        (Standing::Here(_), _) => {
            let error = format!("the owner of the endpoint may not see `{}`", seen.set);
            return end(ctx, &seen, BackfillState::Failed, Some(&error)).await;
        }
        (gone, _) => {
            return end(ctx, &seen, BackfillState::Failed, Some(gone.sentence())).await;
        }
    };
    let as_owner = ctx.context().acting_as(Arc::clone(who));
    // Boxed: a read holds much that is of no use afterwards.
    let page = Page::read(&as_owner, &model, &seen).boxed().await?;
    if page.records.is_empty() {
        return end(ctx, &seen, BackfillState::Finished, None).await;
    }
    let mut now = seen.clone();
    now.total = page.total;
    let told = ctx
        .transact(async |uow| {
            if !backfills::hold(&uow, &seen).await? {
                return Ok(());
            }
            let (messages, deliveries) = page.told(&uow, endpoint, &model)?;
            now.records += i64::try_from(page.records.len()).unwrap_or(0);
            now.queued += i64::try_from(deliveries.len()).unwrap_or(0);
            now.after = page.last(&model).map(Json::to_string);
            backfills::pass(&uow, &now).await?;
            insert::messages(&uow, &messages).await?;
            insert::deliveries(&uow, &deliveries).await
        })
        .await;
    ctx.progress_message(format!("{} records of `{}` told", now.records, now.set));
    told
}

async fn end(
    ctx: &JobContext,
    seen: &Backfill,
    state: BackfillState,
    error: Option<&str>,
) -> Result<()> {
    let which = (seen.endpoint, seen.id);
    ctx.transact(async |uow| backfills::end(&uow, which, state, error).await.map(drop)).await
}

/// Records as the owner of an endpoint sees them.
struct Page {
    records: Vec<Map<String, Json>>,
    /// How many there are in all.
    total: Option<i64>,
    time: OffsetDateTime,
}

/// Keeps the JSON of rows.
#[derive(Default)]
struct JsonTexts(Vec<String>);

impl RowSink for JsonTexts {
    fn row(&mut self, row: &Row<'_>) -> Result<()> {
        let mut text = String::new();
        row.write_json(&mut text)?;
        self.0.push(text);
        Ok(())
    }
}

impl Page {
    /// Reads those behind the last that was looked at.
    async fn read(ctx: &Context, model: &EntityModel, seen: &Backfill) -> Result<Self> {
        let sets = ctx.app().service::<Sets>()?;
        let total = match seen.total {
            Some(total) => total,
            None => i64::try_from(sets.reading(ctx, model.name(), "").await?.count().await?)
                .unwrap_or(i64::MAX),
        };
        let time = ctx.clock().now() - BEFORE;
        let key = &model.key().property;
        let mut options = format!("$orderby={key}&$top={STEP}");
        if let Some(after) = &seen.after {
            options = format!("{options}&$filter={key}%20gt%20{}", literal(&sets, model, after)?);
        }
        let mut texts = JsonTexts::default();
        sets.reading(ctx, model.name(), &options).await?.read(&mut texts).await?;
        // What an event tells: columns, and nothing that is computed or about the record.
        let is_told = |name: &String| {
            let column = model.columns.iter().find(|column| column.property == *name);
            column.is_some_and(|column| column.exposure != Exposure::Internal)
        };
        let read = |text: &String| -> Result<Map<String, Json>> {
            let mut record: Map<String, Json> = serde_json::from_str(text).map_err(|error| {
                Error::internal("a record's JSON can't be read").caused_by(error)
            })?;
            record.retain(|name, _| is_told(name));
            Ok(record)
        };
        let records = texts.0.iter().map(read).collect::<Result<_>>()?;
        Ok(Self { records, total: Some(total), time })
    }

    /// The key of the last record.
    fn last(&self, model: &EntityModel) -> Option<&Json> {
        self.records.last()?.get(&model.key().property)
    }

    /// What becomes of them: messages, and deliveries to the endpoint.
    fn told(
        &self,
        uow: &UnitOfWork,
        endpoint: &endpoint::Model,
        model: &EntityModel,
    ) -> Result<(Vec<NewMessage>, Vec<NewDelivery>)> {
        let context = uow.context();
        let (app, clock) = (context.app(), context.clock());
        let organisation = Owner::of(endpoint).organisation;
        let event_name = model.set.as_ref().map_or("", |set| &set.event_name);
        let event_type = EventType::parse(format!("{event_name}.{SNAPSHOT}"))
            .map_err(|error| Error::internal("a set has no event name").caused_by(error))?;
        let filter = endpoint.filter.as_deref().map(Filter::read);
        let (mut messages, mut deliveries) = (Vec::new(), Vec::new());
        for record in &self.records {
            let data = Json::Object(record.clone());
            if filter.as_ref().is_some_and(|filter| !filter.matches(&data)) {
                continue;
            }
            let key = record.get(&model.key().property).unwrap_or(&Json::Null);
            let entity = Entity::named(context, model.name(), key)?;
            let view = View::of_record(app, model, record, endpoint.detail())?;
            let envelope = Envelope {
                id: clock.new_id(),
                event_type: &event_type,
                time: self.time,
                tenant: organisation.0,
                data: view.data(),
                changes: None,
            };
            let (id, format) = (clock.new_id(), endpoint.format);
            let message = view::message(app, id, &envelope, format, Some(entity))?;
            deliveries.push(NewDelivery {
                id: clock.new_id(),
                organisation,
                endpoint: endpoint.id,
                message: message.id,
                status: Status::Queued,
                lane: Lane::Replay,
                redelivery_of: None,
                order: None,
            });
            messages.push(message);
        }
        Ok((messages, deliveries))
    }
}

/// A key that was stored as JSON text as the literal of an expression, percent-encoded.
fn literal(sets: &Sets, model: &EntityModel, key: &str) -> Result<String> {
    let unreadable = || Error::internal("the key of a record can't be read");
    let key: Json = serde_json::from_str(key).map_err(|error| unreadable().caused_by(error))?;
    let key = model.key().kind.parse_json(&key)?;
    // As it stands in the address of the record.
    let address = sets.address(sets.find(model.name())?, &key);
    let literal = address.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')'));
    literal.map(str::to_owned).ok_or_else(unreadable)
}
