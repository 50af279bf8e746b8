//! Sends what is due.
//!
//! ```text
//! wake-up, next due time, slow poll, an answer
//!        │
//!        ▼
//! look ─► quotas ─► claim ─► send, each in a task of its own ─► record, all that ended at once
//!                    (lease)       (no transaction)              (one transaction)
//! ```
//!
//! Who moves a delivery, and what a crash leaves, stands in the module's README.

mod attempt;
mod settle;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use svc_core::{App, Result, Wake, WeakApp, Worker};
use svc_data::{Backend, Database};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::WAKE_TOPIC;
use crate::endpoint::Endpoints;
use crate::in_flight::InFlight;
use crate::metrics::DeliveryMetrics;
use crate::sender::Sender;
use crate::settings::WebhooksSettings;
use crate::store::claim::{self, Claim, Quota, Waiting};
use crate::store::moment;

use attempt::{Finished, Job};

/// How long a claim outlives the timeout of its attempt: time to record the outcome.
const LEASE_MARGIN: Duration = Duration::from_secs(10);

/// How long requests that are in flight may go on when the application stops.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(5);

/// The worker that sends deliveries on this node.
pub(crate) struct Dispatcher {
    app: WeakApp,
    database: Database,
    settings: Arc<WebhooksSettings>,
    sender: Arc<Sender>,
    endpoints: Arc<Endpoints>,
    in_flight: Arc<InFlight>,
    metrics: Arc<DeliveryMetrics>,
    /// Where the next look goes on.
    place: Mutex<Uuid>,
}

/// What a turn of the dispatcher brought.
#[derive(Default)]
struct Turn {
    jobs: Vec<Job>,
    /// When the next delivery becomes due that isn't yet.
    next_us: Option<i64>,
    /// Whether something may be due that has no place yet: worth a look when a request ends.
    limited: bool,
}

impl Dispatcher {
    pub(crate) fn new(
        app: &App,
        database: Database,
        sender: Sender,
        endpoints: Arc<Endpoints>,
        metrics: Arc<DeliveryMetrics>,
    ) -> Self {
        let settings = app.settings::<WebhooksSettings>();
        let in_flight =
            InFlight::new(settings.concurrency.into(), settings.concurrency_per_endpoint.into());
        Self {
            app: app.downgrade(),
            database,
            sender: Arc::new(sender),
            endpoints,
            in_flight,
            metrics,
            settings,
            place: Mutex::new(Uuid::nil()),
        }
    }

    /// Goes once around the endpoints and claims what is due, for as many requests as may begin.
    /// When there are no more places it stops, and the next turn goes on from there.
    async fn turn(&self) -> Result<Turn> {
        let app = self.app.get()?;
        let start = self.place();
        let mut place = start;
        let mut wrapped = start.is_nil();
        let mut turn = Turn::default();
        loop {
            if self.in_flight.free() == 0 {
                turn.limited = true;
                return Ok(turn);
            }
            let now_us = app.clock().now_us();
            let look = claim::look(&self.database, place, now_us).await?;
            self.take(&app, look.waiting, now_us, &mut turn).await?;
            let is_around = match look.next {
                Some(next) => wrapped && !start.is_nil() && next >= start,
                None => wrapped,
            };
            wrapped |= look.next.is_none();
            place = look.next.unwrap_or_default();
            *self.place.lock().unwrap_or_else(PoisonError::into_inner) = place;
            if is_around {
                return Ok(turn);
            }
        }
    }

    fn place(&self) -> Uuid {
        *self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Claims from the queues that were seen, and adds the deliveries to the turn.
    async fn take(
        &self,
        app: &App,
        waiting: Vec<Waiting>,
        now_us: i64,
        turn: &mut Turn,
    ) -> Result<()> {
        let (due, later): (Vec<Waiting>, Vec<Waiting>) =
            waiting.into_iter().partition(|waiting| waiting.due_us <= now_us);
        let next = later.iter().map(|waiting| waiting.due_us).min();
        turn.next_us = [turn.next_us, next].into_iter().flatten().min();
        let quotas = self.quotas(&due, self.in_flight.free());
        turn.limited |= quotas.len() < due.len();
        if quotas.is_empty() {
            return Ok(());
        }
        let lease = self.settings.timeout + LEASE_MARGIN;
        let lease_us = i64::try_from(lease.as_micros()).unwrap_or(i64::MAX);
        let token = app.clock().new_id();
        let claim = Claim { token, now_us, until_us: now_us.saturating_add(lease_us) };
        let claimed = claim::claim(&self.database, &quotas, claim).await?;
        turn.limited |= may_have_more(&quotas, &claimed);
        turn.jobs.extend(self.prepare(app, &quotas, claimed).await?);
        Ok(())
    }

    /// Shares the free places among the queues that have something due, evenly.
    fn quotas(&self, due: &[Waiting], free: usize) -> Vec<Quota> {
        let mut left = free;
        let mut taken: HashMap<Uuid, usize> = HashMap::new();
        let mut quotas = Vec::new();
        for (index, waiting) in due.iter().enumerate() {
            let share = left.div_ceil(due.len() - index);
            let endpoint = waiting.endpoint;
            let used = taken.entry(endpoint).or_default();
            let count = self.in_flight.free_for(endpoint).saturating_sub(*used).min(share);
            if count > 0 {
                *used += count;
                left -= count;
                let Waiting { endpoint, lane, version, .. } = *waiting;
                quotas.push(Quota { endpoint, lane, version, count });
            }
        }
        quotas
    }

    /// Brings claimed deliveries together with their messages and endpoints.
    async fn prepare(
        &self,
        app: &App,
        quotas: &[Quota],
        claimed: Vec<claim::Claimed>,
    ) -> Result<Vec<Job>> {
        if claimed.is_empty() {
            return Ok(Vec::new());
        }
        let versions: HashMap<Uuid, i64> =
            quotas.iter().map(|quota| (quota.endpoint, quota.version)).collect();
        let endpoints = self.endpoints.load(app, &versions).await?;
        let mut wanted: Vec<Uuid> = claimed.iter().map(|claimed| claimed.message).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let messages = claim::messages(&self.database, wanted).await?;
        let messages: HashMap<Uuid, Message> =
            messages.into_iter().map(|stored| (stored.id, Message::from(stored))).collect();
        let job = |claimed: claim::Claimed| {
            // A delivery whose endpoint or message is gone is being deleted with it.
            let endpoint = Arc::clone(endpoints.get(&claimed.endpoint)?);
            let message = messages.get(&claimed.message)?.clone();
            let place = self.in_flight.enter(claimed.endpoint);
            Some(Job { claimed, endpoint, message, place })
        };
        Ok(claimed.into_iter().filter_map(job).collect())
    }

    fn start(&self, app: &App, jobs: Vec<Job>, flight: &mut Flight) {
        for job in jobs {
            flight.claims.insert(job.claimed.id, job.claimed.token);
            let clock = app.clock().clone();
            let limit = self.settings.log_limit();
            flight.sends.spawn(attempt::send(Arc::clone(&self.sender), clock, job, limit));
        }
    }

    /// One turn, and the wait for the next; false when the application stops.
    async fn fly(
        &self,
        app: &App,
        wake: &Wake,
        stop: &CancellationToken,
        flight: &mut Flight,
    ) -> Result<bool> {
        let Turn { jobs, mut next_us, limited } = self.turn().await?;
        self.start(app, jobs, flight);
        loop {
            if stop.is_cancelled() {
                return Ok(false);
            }
            if limited && flight.sends.is_empty() {
                return Ok(true);
            }
            let next = moment(next_us.unwrap_or(i64::MAX));
            let finished = tokio::select! {
                () = stop.cancelled() => return Ok(false),
                finished = flight.ended(), if !flight.sends.is_empty() => finished,
                () = wake.notified() => return Ok(true),
                () = app.clock().sleep_until(next), if next_us.is_some() => return Ok(true),
                () = tokio::time::sleep(self.settings.poll_interval) => return Ok(true),
            };
            let retry_us = self.settle(finished).await?;
            if limited {
                return Ok(true);
            }
            next_us = [next_us, retry_us].into_iter().flatten().min();
        }
    }

    /// Lets requests in flight end for a while, and gives back the claims of the others.
    async fn wind_down(&self, mut flight: Flight) -> Result<()> {
        let grace = tokio::time::sleep(SHUTDOWN_GRACE);
        tokio::pin!(grace);
        while !flight.sends.is_empty() {
            tokio::select! {
                finished = flight.ended() => drop(self.settle(finished).await?),
                () = &mut grace => break,
            }
        }
        flight.sends.shutdown().await;
        for (token, deliveries) in flight.claims_by_token() {
            claim::release(&self.database, token, deliveries).await?;
        }
        Ok(())
    }
}

/// Whether a queue may hold more than was claimed of it: it gave all that was asked of it, or
/// others wait until these are through.
fn may_have_more(quotas: &[Quota], claimed: &[claim::Claimed]) -> bool {
    let mut counts: HashMap<Uuid, usize> = HashMap::new();
    for one in claimed {
        *counts.entry(one.endpoint).or_default() += 1;
    }
    let is_emptied = |quota: &Quota| counts.get(&quota.endpoint).is_some_and(|n| *n >= quota.count);
    claimed.iter().any(|one| one.is_ordered) || quotas.iter().any(is_emptied)
}

/// The requests in flight, and their claims.
#[derive(Default)]
struct Flight {
    sends: JoinSet<Finished>,
    /// Tokens by delivery.
    claims: HashMap<Uuid, Uuid>,
}

impl Flight {
    /// Waits for a request to end, and takes all that have ended.
    async fn ended(&mut self) -> Vec<Finished> {
        let mut finished = Vec::new();
        // A task that panicked is gone with its claim, which ends by itself.
        if let Some(Ok(first)) = self.sends.join_next().await {
            finished.push(first);
        }
        while let Some(ended) = self.sends.try_join_next() {
            finished.extend(ended);
        }
        for Finished { claimed, .. } in &finished {
            self.claims.remove(&claimed.id);
        }
        finished
    }

    fn claims_by_token(self) -> HashMap<Uuid, Vec<Uuid>> {
        let mut by_token: HashMap<Uuid, Vec<Uuid>> = HashMap::new();
        for (delivery, token) in self.claims {
            by_token.entry(token).or_default().push(delivery);
        }
        by_token
    }
}

/// A message in memory, shared by the deliveries of it.
#[derive(Clone)]
struct Message {
    event: Uuid,
    event_type: Arc<str>,
    body: Bytes,
}

impl From<claim::StoredMessage> for Message {
    fn from(stored: claim::StoredMessage) -> Self {
        Self {
            event: stored.event_id,
            event_type: stored.event_type.into(),
            body: stored.body.into(),
        }
    }
}

#[async_trait]
impl Worker for Dispatcher {
    fn name(&self) -> &'static str {
        "webhooks"
    }

    async fn run(&self, stop: CancellationToken) -> Result<()> {
        let app = self.app.get()?;
        let wake = app.wakes().topic(WAKE_TOPIC);
        if self.database.backend() == Backend::Sqlite {
            claim::release_all(&self.database).await?;
        }
        let mut flight = Flight::default();
        let outcome = loop {
            match self.fly(&app, &wake, &stop, &mut flight).await {
                Ok(true) => {}
                Ok(false) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        self.wind_down(flight).await?;
        outcome
    }

    async fn drain(&self) -> Result<usize> {
        let app = self.app.get()?;
        let mut done = 0;
        loop {
            let Turn { jobs, .. } = self.turn().await?;
            if jobs.is_empty() {
                return Ok(done);
            }
            done += jobs.len();
            let mut flight = Flight::default();
            self.start(&app, jobs, &mut flight);
            while !flight.sends.is_empty() {
                let finished = flight.ended().await;
                self.settle(finished).await?;
            }
        }
    }
}
