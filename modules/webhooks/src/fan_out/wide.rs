//! Events that many endpoints want.
//!
//! A unit of work makes so many deliveries and no more, or one event would hold the database, and the
//! node's memory, for as long as ten thousand endpoints take. What is more is noted in the unit of
//! work that removes the outbox row, and told by a job, a few endpoints at a time, each step behind
//! the one before. Steps of one organisation follow each other by event, whichever node makes them.

use serde::{Deserialize, Serialize};
use svc_core::Result;
use svc_data::UnitOfWork;
use svc_events::Message;
use svc_jobs::{EnqueueJobs as _, Job, JobContext, JobError};
use uuid::Uuid;

use super::batch::tell;
use crate::store::subscribers::{Subscribers, count};
use crate::store::wide;
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
        let Some(count) = ctx.transact(async |uow| step(&uow, job.event).await).await? else {
            return Ok(());
        };
        told += count;
        ctx.progress_message(format!("{told} endpoints told"));
    }
}

/// Tells the next endpoints; answers with their number, and none when nothing is left.
async fn step(uow: &UnitOfWork, up_to: Uuid) -> Result<Option<usize>> {
    let Some(event) = wide::oldest(uow, up_to).await? else { return Ok(None) };
    let (event_type, message) = view::of_source(event.event_type, &event.source)?;
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
