//! Sending many deliveries in the background: what an endpoint missed (what was not queued while
//! it was switched off or its owner was gone, and what failed for good and was not sent again
//! since), or what a filter selects.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use sea_orm::ColumnTrait as _;
use serde::{Deserialize, Serialize};
use svc_core::{Error, Principal, Result, micros};
use svc_data::{Context, UnitOfWork};
use svc_events::Message;
use svc_jobs::{EnqueueJobs as _, Job, JobContext, JobError, JobId};
use time::OffsetDateTime;
use utoipa::ToSchema;
use uuid::Uuid;

use super::Service;
use super::deliveries::redeliver_all;
use super::walk::{Step, Walk};
use crate::entity::Entity;
use crate::filter::Filter;
use crate::model::{Status, endpoint};
use crate::names::WAKE_TOPIC;
use crate::owner::{Owner, Standing};
use crate::store;
use crate::store::insert::{self, Content};
use crate::store::replay::{self, Candidate, Redelivery, Scope, Window, Wish};
use crate::subscription::EventType;
use crate::view::{self, Reader, Told};

/// Events without bodies of which one unit of work makes them.
const SOURCES: usize = 64;

/// Queues what an endpoint missed in a span of time.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RecoverDeliveries {
    endpoint: Uuid,
    /// From this identifier on.
    from: Uuid,
    /// Up to the identifiers of this time: what comes later is no longer missed.
    to: Uuid,
}

impl Job for RecoverDeliveries {
    const NAME: &'static str = "webhooks.recover";
}

impl Service {
    /// Begins a recovery in the background; answers with its job.
    pub(crate) async fn recover(
        &self,
        ctx: &Context,
        endpoint: Uuid,
        since: OffsetDateTime,
    ) -> Result<JobId> {
        ctx.transact(async |uow| {
            let found = self.find(uow.context(), endpoint).await?;
            Owner::of(&found).present(ctx.app()).await?;
            let from = micros::first_id(micros::of_time(since));
            let job = RecoverDeliveries { endpoint, from, to: ctx.clock().new_id() };
            // One that runs already serves whoever asks for the same, and nobody who asks for more.
            let key = format!("{endpoint} {from}");
            let enqueued = uow.enqueue(job).unique(key).watched().await?;
            Ok(enqueued.id)
        })
        .await
    }
}

/// Queues again what a filter selects.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RedeliverMany {
    endpoint: Option<Uuid>,
    status: Status,
    event_type: Option<String>,
    /// From this identifier on.
    from: Uuid,
    /// Up to this one.
    to: Uuid,
}

impl Job for RedeliverMany {
    const NAME: &'static str = "webhooks.redeliver";
}

/// Which deliveries to send again.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = WebhookRedelivery)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Selection {
    /// Only those to this endpoint.
    subscription_id: Option<Uuid>,
    /// Those that stand here; without it the failed ones.
    status: Option<Status>,
    /// Only those of events of this type.
    event_type: Option<String>,
    /// Only those queued from this time on.
    #[serde(default, with = "time::serde::rfc3339::option")]
    since: Option<OffsetDateTime>,
    /// Only those queued before this time.
    #[serde(default, with = "time::serde::rfc3339::option")]
    until: Option<OffsetDateTime>,
}

impl Service {
    /// Begins to send deliveries again, in the background; answers with the job.
    pub(crate) async fn redeliver_many(&self, ctx: &Context, what: Selection) -> Result<JobId> {
        if what.event_type.as_ref().is_some_and(|name| name.contains('\0')) {
            // PostgreSQL refuses it in text, and the job could only fail.
            return Err(Error::invalid("the selection is not valid")
                .field("eventType", "must not contain the character U+0000"));
        }
        let bound = |time: OffsetDateTime| micros::first_id(micros::of_time(time));
        ctx.transact(async |uow| {
            if let Some(endpoint) = what.subscription_id {
                let found = self.find(uow.context(), endpoint).await?;
                Owner::of(&found).present(ctx.app()).await?;
            }
            let started = ctx.clock().new_id();
            let job = RedeliverMany {
                endpoint: what.subscription_id,
                status: what.status.unwrap_or(Status::Failed),
                event_type: what.event_type.clone(),
                from: what.since.map_or(Uuid::nil(), bound),
                to: what.until.map_or(started, bound).min(started),
            };
            Ok(uow.enqueue(job).watched().await?.id)
        })
        .await
    }
}

/// Runs a bulk redelivery. What was sent again already isn't, whoever did it: so a run that was interrupted goes on
/// with what is left, and a second one finds nothing. Of deliveries that were made to send others again, those that
/// failed or were cancelled are sent once more, and those that arrived or wait are not.
pub(crate) async fn redeliver_many(ctx: JobContext, job: RedeliverMany) -> Result<(), JobError> {
    let organisation = ctx.organisation()?;
    let wish = Wish {
        event_type: job.event_type.as_deref(),
        is_open: true,
        no_tests: false,
        no_repeats: !matches!(job.status, Status::Failed | Status::Cancelled),
    };
    let scope = job.endpoint.map_or(Scope::Organisation(organisation.0), Scope::Endpoint);
    let mut walk = Walk::new(&ctx, job.from, job.to);
    loop {
        ctx.check_interruption()?;
        let window = Window { scope, status: job.status, from: walk.next, to: job.to, wish };
        let step = async |uow: UnitOfWork| {
            let mut found = replay::look(&uow, window).await?;
            if replay::hold(&uow, wanted_endpoints(&found)).await? {
                // Somebody else may have sent some of them again meanwhile.
                found = replay::look(&uow, window).await?;
            }
            let owned = owned(&uow, found.iter().filter(|one| one.is_wanted)).await?;
            let is_sent = |one: &&Candidate| one.is_wanted && owned.contains_key(&one.endpoint);
            let queued = queue_again(&uow, found.iter().filter(is_sent)).await?;
            Ok(Step::of(&found, queued, false))
        };
        let step = ctx.transact(step).await?;
        if !walk.pass(&ctx, step) {
            walk.end(&ctx);
            return Ok(());
        }
    }
}

/// Runs a recovery. Each run finds what is left, so one that was interrupted goes on.
pub(crate) async fn recover_deliveries(
    ctx: JobContext,
    job: RecoverDeliveries,
) -> Result<(), JobError> {
    let mut walk = Walk::new(&ctx, job.from, job.to).with_share((0, 50));
    loop {
        ctx.check_interruption()?;
        let from = walk.next;
        let step = ctx.transact(async |uow| recover_missed(&uow, &job, from).await).await?;
        if !walk.pass(&ctx, step) {
            break;
        }
    }
    let mut walk = walk.again((50, 50));
    loop {
        ctx.check_interruption()?;
        let from = walk.next;
        let step = ctx.transact(async |uow| recover_failed(&uow, &job, from).await).await?;
        if !walk.pass(&ctx, step) {
            break;
        }
    }
    walk.end(&ctx);
    Ok(())
}

impl RecoverDeliveries {
    fn window(&self, status: Status, from: Uuid) -> Window<'static> {
        let is_open = status == Status::Failed;
        let wish = Wish { is_open, no_tests: true, ..Wish::default() };
        Window { scope: Scope::Endpoint(self.endpoint), status, from, to: self.to, wish }
    }

    /// The endpoint with its owner's rights, where both are there.
    async fn endpoint(&self, uow: &UnitOfWork) -> Result<Option<Owned>> {
        replay::hold(uow, [self.endpoint]).await?;
        let found = owned_endpoints(uow, [self.endpoint]).await?;
        Ok(found.into_values().next())
    }
}

/// Queues what was never queued. What nobody was there to be shown is made for the owner now.
async fn recover_missed(uow: &UnitOfWork, job: &RecoverDeliveries, from: Uuid) -> Result<Step> {
    let Some(endpoint) = job.endpoint(uow).await? else { return Ok(Step::default()) };
    let mut found = replay::look(uow, job.window(Status::Missed, from)).await?;
    let beyond = found.iter().enumerate().filter(|(_, one)| one.has_source).nth(SOURCES);
    let beyond = beyond.map(|(place, _)| place);
    if let Some(place) = beyond {
        found.truncate(place);
    }
    let (bare, made): (Vec<&Candidate>, Vec<&Candidate>) =
        found.iter().filter(|one| one.is_wanted).partition(|one| one.has_source);
    let Made { shown, unread } = make_messages(uow, &endpoint, &bare).await?;
    let queued = made.into_iter().map(|one| one.id).chain(shown);
    let queued = replay::queue_missed(uow, queued).await?;
    if queued > 0 {
        uow.wake_after_commit(WAKE_TOPIC);
    }
    Ok(Step { unread, ..Step::of(&found, queued, beyond.is_some()) })
}

/// What became of events without bodies.
#[derive(Default)]
struct Made {
    /// Deliveries that have a message now.
    shown: Vec<Uuid>,
    /// Why events can't be read, one for each: they stay missed, and another recovery tries them again.
    unread: Vec<String>,
}

/// Makes messages of events as far as the endpoint's owner may see them, and forgets what the owner
/// may not.
async fn make_messages(
    uow: &UnitOfWork,
    Owned { endpoint, owner, principal }: &Owned,
    bare: &[&Candidate],
) -> Result<Made> {
    if bare.is_empty() {
        return Ok(Made::default());
    }
    let (mut events, mut unread) = (HashMap::new(), Vec::new());
    for source in replay::sources(uow, bare.iter().map(|one| one.message)).await? {
        match view::of_source(uow, &source.event_type, &source.told) {
            Ok(event) => drop(events.insert(source.message, event)),
            Err(error) => {
                let (message, error) = (source.message, error.report());
                tracing::error!(%message, error, "an event that was missed can't be read");
                unread.push(error);
            }
        }
    }
    let told: Vec<(Uuid, &EventType, &Message)> = bare
        .iter()
        .filter_map(|one| {
            let (event_type, message) = events.get(&one.message)?;
            Some((one.id, event_type, message))
        })
        .collect();
    let mut reader = Reader::new(uow, told.iter().map(|(_, _, message)| *message).collect())?;
    let places: Vec<usize> = (0..told.len()).collect();
    reader.prepare(*owner, principal, &places, endpoint.detail()).await?;
    let filter = endpoint.filter.as_deref().map(Filter::read);
    let (mut shown, mut hidden, mut messages) = (Vec::new(), Vec::new(), Vec::new());
    for (place, (delivery, event_type, message)) in told.into_iter().enumerate() {
        let is_wanted = filter.as_ref().is_none_or(|filter| {
            reader.data(place, *owner).is_some_and(|data| filter.matches(&data))
        });
        let view = reader.view(place, *owner, principal, endpoint.detail()).await?;
        let Some(view) = view.filter(|_| is_wanted) else {
            hidden.push(delivery);
            continue;
        };
        let id = store::as_old_as(delivery, uow.context().clock().new_id());
        let (app, organisation) = (uow.context().app(), owner.organisation);
        let entity = Entity::of(uow.context(), message)?;
        let told = Told { app, event_type, message, organisation, entity: entity.as_ref() };
        let body = told.body(&view, endpoint.format)?;
        messages.push(told.message(id, Content::Body(body)));
        shown.push((delivery, id));
    }
    insert::messages(uow, &messages).await?;
    for (delivery, message) in &shown {
        replay::give_message(uow, *delivery, *message).await?;
    }
    if !hidden.is_empty() {
        replay::forget_missed(uow, hidden).await?;
    }
    Ok(Made { shown: shown.into_iter().map(|(delivery, _)| delivery).collect(), unread })
}

/// Queues what failed for good, and was neither sent again nor waits to be.
async fn recover_failed(uow: &UnitOfWork, job: &RecoverDeliveries, from: Uuid) -> Result<Step> {
    if job.endpoint(uow).await?.is_none() {
        return Ok(Step::default());
    }
    let found = replay::look(uow, job.window(Status::Failed, from)).await?;
    let queued = queue_again(uow, found.iter().filter(|one| one.is_wanted)).await?;
    Ok(Step::of(&found, queued, false))
}

/// Queues deliveries again, as new ones; says how many.
async fn queue_again<'a>(
    uow: &UnitOfWork,
    found: impl Iterator<Item = &'a Candidate>,
) -> Result<u64> {
    let originals: Vec<Redelivery> = found
        .map(|one| Redelivery {
            id: one.id,
            endpoint: one.endpoint,
            message: one.message,
            lane: one.lane.of_replay(),
        })
        .collect();
    if originals.is_empty() {
        return Ok(0);
    }
    let queued = redeliver_all(uow, uow.context().organisation()?, &originals).await?;
    Ok(u64::try_from(queued.len()).unwrap_or(u64::MAX))
}

/// An endpoint whose owner is there.
struct Owned {
    endpoint: endpoint::Model,
    owner: Owner,
    principal: Arc<Principal>,
}

/// The endpoints of deliveries, as far as they and their owners are there.
async fn owned(
    uow: &UnitOfWork,
    found: impl Iterator<Item = &Candidate>,
) -> Result<HashMap<Uuid, Owned>> {
    let endpoints: BTreeSet<Uuid> = found.map(|one| one.endpoint).collect();
    owned_endpoints(uow, endpoints).await
}

/// The endpoints of what is wanted, in their order.
fn wanted_endpoints(found: &[Candidate]) -> BTreeSet<Uuid> {
    found.iter().filter(|one| one.is_wanted).map(|one| one.endpoint).collect()
}

async fn owned_endpoints(
    uow: &UnitOfWork,
    endpoints: impl IntoIterator<Item = Uuid>,
) -> Result<HashMap<Uuid, Owned>> {
    let listed = endpoint::Column::Id.is_in(endpoints);
    let mut usable = HashMap::new();
    for endpoint in uow.query::<endpoint::Entity>().filter(listed).all().await? {
        let owner = Owner::of(&endpoint);
        if let Standing::Here(principal) = owner.standing(uow.context().app()).await? {
            usable.insert(endpoint.id, Owned { endpoint, owner, principal });
        }
    }
    Ok(usable)
}
