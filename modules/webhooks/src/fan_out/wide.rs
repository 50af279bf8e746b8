//! Events that many endpoints want.
//!
//! A unit of work makes so many deliveries and no more, or one event would hold the database, and the
//! node's memory, for as long as ten thousand endpoints take. What is more is noted in the unit of
//! work that removes the outbox row, and told by a job, a few endpoints at a time, each step behind
//! the one before. Steps of one organisation follow each other by event, whichever node makes them.
//!
//! An event that can't be read, or that fails at every attempt of the job, must not keep those behind it: it
//! becomes a dead letter of the outbox, with its reason. Whoever has that tried again has all endpoints told,
//! under the same event.

use serde::{Deserialize, Serialize};
use svc_core::{Error, Result};
use svc_data::UnitOfWork;
use svc_events::{Message, Undone};
use svc_jobs::{EnqueueJobs as _, Job, JobContext, JobError};
use uuid::Uuid;

use super::batch::tell;
use crate::names::HANDLER;
use crate::store::subscribers::{Subscribers, count};
use crate::store::wide::{self, Wide};
use crate::subscription::EventType;
use crate::view;

/// Endpoints that one step tells: each may have an owner of its own, whose rights are asked.
const STEP: usize = 256;

/// Tells all endpoints of an event, and of those before it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct TellAll {
    event: Uuid,
}

impl Job for TellAll {
    const NAME: &'static str = "webhooks.fan_out";
}

/// Leaves events to the job.
pub(super) async fn put_off(uow: &UnitOfWork, events: &[(EventType, &Message)]) -> Result<()> {
    for (event_type, message) in events {
        wide::note(uow, message.id, event_type.as_str(), view::source(message)?).await?;
    }
    if let Some(event) = events.iter().map(|(_, message)| message.id).max() {
        uow.enqueue(TellAll { event }).await?;
    }
    Ok(())
}

/// Runs the job. One that was interrupted goes on behind the last step.
pub(crate) async fn tell_all(ctx: JobContext, job: TellAll) -> Result<(), JobError> {
    let mut told = 0;
    loop {
        ctx.check_interruption()?;
        let mut at = None;
        let stepped = ctx.transact(async |uow| step(&uow, job.event, &mut at).await).await;
        let count = match (stepped, at) {
            (Ok(Some(count)), _) => count,
            (Ok(None), _) => return Ok(()),
            (Err(error), Some(event))
                if !error.is_transient() && ctx.attempt() >= ctx.max_attempts() =>
            {
                ctx.transact(async |uow| give_up(&uow, event, &error).await).await?;
                0
            }
            (Err(error), _) => return Err(error.into()),
        };
        told += count;
        ctx.progress_message(format!("{told} endpoints told"));
    }
}

/// Tells the next endpoints; answers with their number, and none when nothing is left. Says which event it is at.
async fn step(uow: &UnitOfWork, up_to: Uuid, at: &mut Option<Uuid>) -> Result<Option<usize>> {
    let Some(event) = wide::oldest(uow, up_to).await? else { return Ok(None) };
    *at = Some(event.event);
    let (event_type, message) = match view::of_source(uow, &event.event_type, &event.source) {
        Ok(told) => told,
        Err(error) => return set_aside(uow, &event, &error).await.map(|()| Some(0)),
    };
    let (subscribers, next) = Subscribers::behind(uow, &event_type, event.place, STEP).await?;
    let events = [(event_type, &message)];
    let audiences = subscribers.by_type(&events);
    let count = audiences.values().map(count).sum();
    tell(uow, &events, &audiences, None).await?;
    match next {
        Some(place) => wide::pass(uow, event.event, place).await?,
        None => wide::forget(uow, event.event).await?,
    }
    Ok(Some(count))
}

/// Sets an event aside whose telling failed, unless somebody else is through with it.
async fn give_up(uow: &UnitOfWork, event: Uuid, reason: &Error) -> Result<()> {
    let oldest = wide::oldest(uow, event).await?;
    match oldest.filter(|oldest| oldest.event == event) {
        Some(oldest) => set_aside(uow, &oldest, reason).await,
        None => Ok(()),
    }
}

/// Makes a dead letter of an event.
async fn set_aside(uow: &UnitOfWork, event: &Wide, reason: &Error) -> Result<()> {
    let (id, name) = (event.event, event.event_type.as_str());
    let undone = Undone { id, handler: HANDLER, name, message: &event.source };
    undone.set_aside(uow, reason).await?;
    wide::forget(uow, id).await
}
