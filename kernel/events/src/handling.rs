//! Hands messages to their handlers.
//!
//! Each handler has a lane, so a slow handler holds up only its own messages. A lane goes round along
//! what is due: in each round a few of the messages that failed before, each alone, and then one batch of each
//! organisation that has something new, however much one of them has. So whoever is alone gets everything, and
//! whoever comes to a burst of another's waits for no more than a batch of it. How an attempt goes:
//!
//! | Step | Transaction | A crash right after leaves |
//! | --- | --- | --- |
//! | look what is due | none | nothing changed |
//! | count the attempt, put off | one statement; left out for new messages | an attempt that counts |
//! | lock, handle, remove | one unit of work | the row as before, or effects without the row |
//! | record the failure | one statement | the attempt not counted, unless it was before |

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use futures::FutureExt as _;
use svc_core::trace::is_exporting;
use svc_core::{App, Error, OrganisationId, Result, WeakApp, micros};
use svc_data::{Context, UnitOfWork};
use svc_database::{Backend, Database};
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::{Instrument as _, Span};
use uuid::Uuid;

use crate::catalogue::{Events, RegisteredHandler};
use crate::dead_letter::told;
use crate::message::{Message, principal_in};
use crate::settings::EventsSettings;
use crate::store::letters;
use crate::store::{self, Due, Failure, ORGANISATIONS_AT_ONCE, Outlook, START, Taken};

/// How often a handler is asked again whether it takes something of those whose messages it holds back.
const OFFER_PAUSE: Duration = Duration::from_millis(2);

/// How long it is asked about the messages that were read, of as many organisations as one statement reads, until they
/// are read again.
const HELD_BACK: Duration = Duration::from_millis(25);

/// How often work is tried anew at once, in all, after a deadlock or a lost connection.
const TRIES: u64 = 3;

/// Messages of a round that failed before: each may take a handler's whole time.
const TRIED_AGAIN: usize = 8;

/// How long messages wait for a handler that nobody registers before they are set aside. Long
/// enough for a rolling upgrade, in which old and new nodes know different handlers.
const PATIENCE_WITH_UNKNOWN: Duration = Duration::from_hours(24);

/// Works through the outbox on this node.
pub(crate) struct Processor {
    app: WeakApp,
    database: Database,
    events: Arc<Events>,
    settings: Arc<EventsSettings>,
    /// By handler: whether the lane has been through all that waited when the process started.
    caught_up: Vec<AtomicBool>,
    /// By handler: whether the lane was due while it walked, so that it may have passed what became due then.
    passed: Vec<AtomicBool>,
    permits: Semaphore,
    handled: AtomicU64,
    failed: AtomicU64,
}

impl Processor {
    pub(crate) fn new(app: &App, database: Database, events: Arc<Events>) -> Self {
        let settings = app.settings::<EventsSettings>();
        let permits = match database.backend() {
            Backend::Sqlite => 1,
            Backend::Postgres => settings.concurrency,
        };
        let for_each = || events.handlers.iter().map(|_| AtomicBool::new(false)).collect();
        Self {
            app: app.downgrade(),
            database,
            caught_up: for_each(),
            passed: for_each(),
            events,
            settings,
            permits: Semaphore::new(usize::try_from(permits).unwrap_or(1)),
            handled: AtomicU64::new(0),
            failed: AtomicU64::new(0),
        }
    }

    pub(crate) fn app(&self) -> Result<App> {
        self.app.get()
    }

    pub(crate) fn settings(&self) -> &EventsSettings {
        &self.settings
    }

    pub(crate) fn handler_names(&self) -> impl Iterator<Item = &str> {
        self.events.handler_names()
    }

    /// Messages handled, and attempts failed, since the process started.
    pub(crate) fn counters(&self) -> (u64, u64) {
        (self.handled.load(Ordering::Relaxed), self.failed.load(Ordering::Relaxed))
    }

    /// Which lanes have something due, and when the others will.
    pub(crate) async fn look(&self) -> Result<Vec<Outlook>> {
        let handlers: Vec<&str> = self.handler_names().collect();
        if handlers.is_empty() {
            return Ok(Vec::new());
        }
        store::look(&self.database, &handlers, self.app()?.clock().now_us()).await
    }

    /// Sets aside what has waited long for handlers that nobody registers.
    pub(crate) async fn bury_unknown(&self) -> Result<()> {
        let now = self.app()?.clock().now_us();
        let patience = micros::of_span(PATIENCE_WITH_UNKNOWN);
        for handler in letters::awaited(&self.database).await? {
            if self.handler_names().any(|name| name == handler) {
                continue;
            }
            let buried = letters::bury(&self.database, &handler, now - patience, now).await?;
            tracing::warn!(handler, buried, "messages wait for a handler that nobody registers");
        }
        Ok(())
    }

    /// Notes that something is due in a lane that walks.
    pub(crate) fn note_passed(&self, lane: usize) {
        self.passed[lane].store(true, Ordering::Relaxed);
    }

    /// Whether that was noted since this was asked last.
    pub(crate) fn take_passed(&self, lane: usize) -> bool {
        self.passed[lane].swap(false, Ordering::Relaxed)
    }

    /// Goes round in a lane until nothing is due, and says how many messages were handled or failed.
    pub(crate) async fn walk(&self, lane: usize, stop: &CancellationToken) -> Result<usize> {
        let mut worked = 0;
        loop {
            let round = self.round(lane, stop).await?;
            worked += round.worked;
            if stop.is_cancelled() {
                return Ok(worked);
            }
            if !round.held_back.is_empty() {
                if round.worked == 0 {
                    worked += self.offer(lane, round.held_back, stop).await?;
                }
                continue;
            }
            if !round.leaves_some {
                self.caught_up[lane].store(true, Ordering::Relaxed);
                return Ok(worked);
            }
            if round.worked == 0 {
                // Others have taken all that there is.
                return Ok(worked);
            }
        }
    }

    /// Offers a handler what it holds back until it takes some of that, something new comes, or a moment is over.
    /// Meanwhile the database is asked nothing.
    async fn offer(
        &self,
        lane: usize,
        mut held_back: Vec<Vec<Due>>,
        stop: &CancellationToken,
    ) -> Result<usize> {
        let until = Instant::now() + HELD_BACK;
        loop {
            let stopped = tokio::time::timeout(OFFER_PAUSE, stop.cancelled()).await.is_ok();
            if stopped || self.take_passed(lane) || Instant::now() >= until {
                return Ok(0);
            }
            let mut round = Round::default();
            for messages in held_back {
                self.turn(lane, messages, stop, &mut round).await?;
            }
            if round.worked > 0 || round.held_back.is_empty() {
                return Ok(round.worked);
            }
            held_back = round.held_back;
        }
    }

    async fn round(&self, lane: usize, stop: &CancellationToken) -> Result<Round> {
        let handler = &self.events.handlers[lane].name;
        let mut round = Round::default();
        self.try_again(lane, stop, &mut round).await?;
        let mut behind = None;
        loop {
            let fresh = store::fresh(&self.database, handler, behind, self.batch_size()).await?;
            for messages in fresh.by_organisation {
                self.turn(lane, messages, stop, &mut round).await?;
            }
            behind = fresh.behind;
            if behind.is_none() || stop.is_cancelled() {
                return Ok(round);
            }
        }
    }

    fn batch_size(&self) -> usize {
        usize::try_from(self.settings.batch_size).unwrap_or(1)
    }

    /// Tries messages again that failed before, each alone.
    async fn try_again(
        &self,
        lane: usize,
        stop: &CancellationToken,
        round: &mut Round,
    ) -> Result<()> {
        let handler = &self.events.handlers[lane].name;
        let now = self.app()?.clock().now_us();
        let mut place = START;
        loop {
            let due = store::again(&self.database, handler, now, place, TRIED_AGAIN).await?;
            let is_last = due.len() < TRIED_AGAIN;
            let mut worked = 0;
            for message in due {
                if stop.is_cancelled() {
                    return Ok(());
                }
                place = (message.available_at_us, message.id);
                worked += self.attempt(lane, Batch::alone(&message)).await?;
            }
            round.worked += worked;
            round.leaves_some |= !is_last;
            if is_last || worked > 0 {
                return Ok(());
            }
        }
    }

    /// Takes one batch of an organisation's messages: the first that nobody else has taken.
    async fn turn(
        &self,
        lane: usize,
        mut messages: Vec<Due>,
        stop: &CancellationToken,
        round: &mut Round,
    ) -> Result<()> {
        let handler = &self.events.handlers[lane];
        let size = self.batch_size();
        while let Some(first) = messages.first() {
            let room = handler.handler.room(first.organisation).await;
            if stop.is_cancelled() {
                return Ok(());
            }
            if room == 0 {
                if round.held_back.len() < ORGANISATIONS_AT_ONCE {
                    round.held_back.push(messages);
                }
                return Ok(());
            }
            let leaves_some = messages.len() > room || messages.len() >= size;
            messages.truncate(room);
            let Some((batch, last)) = Batch::of(&messages) else { return Ok(()) };
            let worked = self.attempt(lane, batch).await?;
            round.worked += worked;
            round.leaves_some |= leaves_some;
            if !leaves_some || worked > 0 {
                return Ok(());
            }
            messages = store::fresh_behind(&self.database, &handler.name, last, size).await?;
        }
        Ok(())
    }

    async fn attempt(&self, lane: usize, batch: Batch) -> Result<usize> {
        let _permit = self.permits.acquire().await;
        let handler = &*self.events.handlers[lane];
        let Batch { ids, attempts, .. } = &batch;
        let (name, attempts) = (&*handler.name, *attempts);
        let mut taken = Taken { handler: name, ids: ids.clone(), attempts, waits: false };
        if taken.attempts >= self.settings.max_attempts {
            // It was begun the last time, and the process didn't live to record how that went.
            self.record_failure(&taken, taken.attempts, None).await?;
            return Ok(taken.ids.len());
        }
        let attempt = taken.attempts + 1;
        if taken.attempts > 0 || !self.caught_up[lane].load(Ordering::Relaxed) {
            let now = self.app()?.clock().now_us();
            let next = self.settings.next_attempt_us(now, attempt);
            taken.ids = store::begin_attempt(&self.database, &taken, next).await?;
            taken.attempts = attempt;
            // They are ours, although another node may hold some for a moment: one that read them
            // before they were counted locks them, and only then sees that they have moved on.
            // Who passed over them now would leave them until the next attempt is due.
            taken.waits = true;
        }
        if taken.ids.is_empty() {
            return Ok(0);
        }
        match self.hand_over(handler, &batch, &taken, attempt).await {
            Ok(count) => Ok(count),
            Err(error) if taken.ids.len() == 1 => {
                self.record_failure(&taken, attempt, Some(error)).await?;
                Ok(1)
            }
            Err(error) => {
                let error = error.report();
                tracing::debug!(handler = handler.name, error, "a batch failed; trying each alone");
                self.hand_over_each(handler, &batch, &taken, attempt).await
            }
        }
    }

    async fn hand_over_each(
        &self,
        handler: &RegisteredHandler,
        batch: &Batch,
        taken: &Taken<'_>,
        attempt: u32,
    ) -> Result<usize> {
        let mut worked = 0;
        for id in &taken.ids {
            // The failed batch may still be rolling back, on its way to the database.
            let single = Taken { ids: vec![*id], waits: true, ..*taken };
            worked += match self.hand_over(handler, batch, &single, attempt).await {
                Ok(count) => count,
                Err(error) => {
                    self.record_failure(&single, attempt, Some(error)).await?;
                    1
                }
            };
        }
        Ok(worked)
    }

    /// Runs the handler, anew after a fault that may be gone the next moment.
    async fn hand_over(
        &self,
        handler: &RegisteredHandler,
        batch: &Batch,
        taken: &Taken<'_>,
        attempt: u32,
    ) -> Result<usize> {
        let app = self.app()?;
        let mut tries = 1;
        loop {
            let correlation = batch.correlation.unwrap_or_else(|| app.clock().new_id());
            let context = Context::new(&app, principal_in(batch.organisation), correlation)?;
            let work = context.transact(async |uow| handle(&uow, handler, taken, attempt).await);
            let outcome = tokio::time::timeout(self.settings.handler_timeout, work).await;
            match outcome.unwrap_or_else(|_| Err(took_too_long(self.settings.handler_timeout))) {
                Ok(count) => {
                    self.handled.fetch_add(u64::try_from(count).unwrap_or(0), Ordering::Relaxed);
                    return Ok(count);
                }
                Err(error) if error.is_transient() && tries < TRIES => {
                    tokio::time::sleep(Duration::from_millis(5 << tries)).await;
                    tries += 1;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Puts a message off, or sets it aside after its last attempt.
    async fn record_failure(
        &self,
        taken: &Taken<'_>,
        attempts: u32,
        error: Option<Error>,
    ) -> Result<()> {
        let now_us = self.app()?.clock().now_us();
        let is_dead = attempts >= self.settings.max_attempts;
        let error = error.map_or_else(
            || "every attempt ended the process that made it".to_owned(),
            |error| error.report(),
        );
        let at_us = if is_dead { now_us } else { self.settings.next_attempt_us(now_us, attempts) };
        let text = told(&error);
        let failure = Failure { attempts, at_us, is_dead, error: text };
        if !store::fail(&self.database, taken, failure).await? {
            return Ok(());
        }
        self.failed.fetch_add(1, Ordering::Relaxed);
        let message = taken.ids.first().copied().unwrap_or_default();
        let handler = taken.handler;
        if is_dead {
            tracing::error!(%message, handler, attempts, error, "a message became a dead letter");
        } else {
            tracing::warn!(%message, handler, attempts, error, "a message could not be handled");
        }
        Ok(())
    }
}

/// Locks messages, runs their handler, and removes them: all in one unit of work.
async fn handle(
    uow: &UnitOfWork,
    handler: &RegisteredHandler,
    taken: &Taken<'_>,
    attempt: u32,
) -> Result<usize> {
    let messages = store::lock(uow, taken, attempt).await?;
    if messages.is_empty() {
        return Ok(0);
    }
    let work = handler.handler.handle(uow, &messages).instrument(span(handler, &messages));
    let work = AssertUnwindSafe(work);
    match work.catch_unwind().await {
        Ok(outcome) => outcome?,
        Err(panic) => {
            return Err(Error::internal(format!("the handler panicked: {}", said(&*panic))));
        }
    }
    let ids = messages.iter().map(|message| message.id).collect();
    let removed = store::remove(uow, &Taken { ids, ..*taken }).await?;
    if usize::try_from(removed).ok() != Some(messages.len()) {
        return Err(Error::internal("messages were removed by somebody else while handled"));
    }
    Ok(messages.len())
}

/// The span of handing messages to a handler: it links to where each of them happened.
fn span(handler: &RegisteredHandler, messages: &[Message]) -> Span {
    if !is_exporting() {
        return Span::none();
    }
    let span = tracing::info_span!(
        parent: None,
        "outbox.handle",
        otel.name = format_args!("handle {}", handler.name),
        otel.kind = "consumer",
        handler = handler.name,
        messages = messages.len(),
    );
    let mut linked = Vec::new();
    for trace in messages.iter().filter_map(|message| message.trace) {
        if !linked.contains(&trace) {
            trace.link(&span);
            linked.push(trace);
        }
    }
    span
}

fn took_too_long(timeout: Duration) -> Error {
    Error::internal(format!(
        "the handler took longer than {} s (`Svc:Events:HandlerTimeout`); \
         let a background job do what takes long",
        timeout.as_secs()
    ))
}

fn said(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

/// Messages that are handed over together.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Batch {
    ids: Vec<Uuid>,
    organisation: Option<OrganisationId>,
    /// The correlation that they share; none when they come from different work.
    correlation: Option<Uuid>,
    attempts: u32,
}

impl Batch {
    /// A message that is tried again.
    fn alone(message: &Due) -> Self {
        Self {
            ids: vec![message.id],
            organisation: message.organisation,
            correlation: Some(message.correlation),
            attempts: message.attempts,
        }
    }

    /// Fresh messages of one organisation, and the last of them; none of none.
    fn of(messages: &[Due]) -> Option<(Self, &Due)> {
        let (first, last) = (messages.first()?, messages.last()?);
        let is_shared = messages.iter().all(|message| message.correlation == first.correlation);
        let batch = Self {
            ids: messages.iter().map(|message| message.id).collect(),
            organisation: first.organisation,
            correlation: is_shared.then_some(first.correlation),
            attempts: 0,
        };
        Some((batch, last))
    }
}

/// What came of a round.
#[derive(Default)]
struct Round {
    /// Messages that were handled, or failed.
    worked: usize,
    /// Whether more may be due than had its turn.
    leaves_some: bool,
    /// Messages of organisations of which the handler takes nothing at the moment.
    held_back: Vec<Vec<Due>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn due(id: u128) -> Due {
        Due {
            id: Uuid::from_u128(id),
            available_at_us: 0,
            organisation: Some(OrganisationId(Uuid::from_u128(1))),
            correlation: Uuid::from_u128(id / 10),
            attempts: 0,
        }
    }

    #[test]
    fn a_batch_has_the_correlation_that_all_of_it_share() {
        let shape = |ids: &[u128]| {
            let messages: Vec<Due> = ids.iter().copied().map(due).collect();
            let (batch, last) = Batch::of(&messages)?;
            let ids: Vec<u128> = batch.ids.iter().map(Uuid::as_u128).collect();
            Some((ids, batch.correlation.map(|id| id.as_u128()), last.id.as_u128()))
        };
        assert_eq!(shape(&[11, 13]), Some((vec![11, 13], Some(1), 13)));
        assert_eq!(
            shape(&[11, 13, 24]),
            Some((vec![11, 13, 24], None, 24)),
            "different work shares no correlation"
        );
        assert_eq!(shape(&[]), None);
    }

    #[test]
    fn what_is_tried_again_is_alone() {
        let batch = Batch::alone(&Due { attempts: 2, ..due(12) });
        assert_eq!((batch.ids, batch.attempts), (vec![Uuid::from_u128(12)], 2));
        assert_eq!(batch.correlation, Some(Uuid::from_u128(1)));
    }
}
