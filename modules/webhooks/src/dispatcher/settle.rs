//! Records how attempts ended, many in one transaction, and what that means for endpoints.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use svc_core::{App, OrganisationId, Result, micros, random_array};
use svc_data::{Context, UnitOfWork};
use svc_events::Publish as _;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::Dispatcher;
use super::flight::{Record, Rest};
use super::job::Finished;
use super::outcome::{Failure, Outcome};
use crate::events::{WebhookEndpointDisabled, WebhookEndpointFailing, host};
use crate::limits::Limits;
use crate::log_text;
use crate::model::{Lane, Status};
use crate::names::ENDPOINTS_TOPIC;
use crate::owner::{Owner, Standing};
use crate::permissions::MANAGE;
use crate::standings;
use crate::store::record::{self, Attempt, Failing, First};
use crate::store::{allowances, claim, hand_overs, queues};

/// What deliveries that ended mean for one endpoint.
#[derive(Default)]
struct Consequence {
    /// Whether one was delivered.
    delivered: bool,
    /// Those that failed for good since, each with the address and its sentence.
    failed: Vec<(Box<str>, String)>,
    /// Whether the receiver said that it is gone for good, and that counts.
    gone: bool,
}

/// What recording outcomes brought.
#[derive(Default)]
pub(super) struct Settled {
    /// When the first retry among them is due.
    pub(super) next_us: Option<i64>,
    /// Whether others may wait for one of them, of the same entity.
    pub(super) had_ordered: bool,
    /// Whether deliveries were given back, which may be due.
    pub(super) had_returned: bool,
    /// Endpoints that were switched off.
    pub(super) switched_off: Vec<Uuid>,
}

/// How long it takes at most until recording is tried again while the database is away.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

impl Dispatcher {
    /// Settles a record, and tries again while the database is away, for as long as the claims hold:
    /// what was sent and can still be recorded isn't sent again.
    pub(super) async fn settle_in_time(
        &self,
        record: Record,
        stop: &CancellationToken,
    ) -> Result<Settled> {
        let clock = self.app.get()?.clock().clone();
        let mut pause = Duration::from_millis(50);
        loop {
            let error = match self.settle(&record).await {
                Err(error) if error.is_transient() => error,
                outcome => return outcome,
            };
            if stop.is_cancelled() || record.ends_us() <= clock.now_us() {
                return Err(error);
            }
            tracing::warn!(error = error.report(), "outcomes can't be recorded yet");
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = stop.cancelled() => {}
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Stores how attempts ended, and what becomes of the other deliveries of a record. Claims are
    /// checked: what is another's by now stays as it is.
    pub(super) async fn settle(&self, record: &Record) -> Result<Settled> {
        let Record { ended: finished, open, rest } = record;
        if finished.is_empty() && rest.is_empty() {
            return Ok(Settled::default());
        }
        let attempts: Vec<Attempt<'_>> = finished.iter().map(|one| self.attempt(one)).collect();
        let switched_off = match self.store(finished, &attempts, open, rest).await {
            Err(error) if !error.is_transient() => {
                // One outcome that can't be stored must not keep the others from it.
                let error = error.report();
                tracing::error!(error, "outcomes can't be stored together; trying each alone");
                self.store_each(record, &attempts).await?
            }
            outcome => outcome?,
        };
        for (one, attempt) in finished.iter().zip(&attempts) {
            self.report(one, attempt.status);
        }
        Ok(Settled {
            next_us: attempts.iter().filter_map(|attempt| attempt.due_us).min(),
            had_returned: !rest.released.is_empty() || !rest.waiting.is_empty(),
            had_ordered: finished.iter().any(|one| one.claimed.lane == Lane::Ordered),
            switched_off,
        })
    }

    /// Stores attempts, those under an open hand-over with rows that are new, and the rest. Answers
    /// with the endpoints that were switched off.
    async fn store(
        &self,
        finished: &[Finished],
        attempts: &[Attempt<'_>],
        open: &HashSet<Uuid>,
        rest: &Rest,
    ) -> Result<Vec<Uuid>> {
        let (new, known): (Vec<&Attempt<'_>>, Vec<&Attempt<'_>>) =
            attempts.iter().partition(|one| open.contains(&one.claimed.claim.token));
        let first: Vec<First<'_>> = (new.into_iter().map(First::Ended))
            .chain(rest.taken.iter().map(First::Taken))
            .chain(rest.waiting.iter().map(First::Waiting))
            .collect();
        // Each once, and in one order, so that two nodes don't wait for each other.
        let hand_overs: BTreeSet<Uuid> =
            first.iter().map(|row| row.claimed().claim.token).collect();
        let endpoints: BTreeSet<Uuid> = (first.iter().map(First::claimed))
            .chain(known.iter().map(|one| one.claimed))
            .map(|claimed| claimed.endpoint)
            .collect();
        let (first, known, hand_overs, endpoints) = (&first, &known, &hand_overs, &endpoints);
        let app = self.app.get()?;
        let counted = &self.counted(&app, finished).await?;
        let context = Context::system(&app)?;
        context
            .transact_retrying(|uow| async move {
                let held =
                    hand_overs::hold(&uow, hand_overs.iter().copied(), endpoints.iter().copied())
                        .await?;
                let first: Vec<&First<'_>> =
                    first.iter().filter(|row| held.has(row.claimed())).collect();
                record::first(&uow, &first).await?;
                let mut recorded = record::attempts(&uow, known).await?;
                recorded.extend(first.iter().map(|row| row.claimed().id));
                for (token, claimed) in &rest.released {
                    claim::release(&uow, *token, claimed.iter().map(|one| one.id)).await?;
                }
                if !rest.closed.is_empty() {
                    hand_overs::remove(&uow, rest.closed.iter().copied()).await?;
                }
                let switched_off =
                    self.apply(&uow, (finished, attempts), &recorded, &held.endpoints).await?;
                let spent = allowances::count_bytes(&uow, counted).await?;
                queues::touch(&uow, touched(attempts, rest, uow.context().clock().now_us()))
                    .await?;
                let hand_over = Arc::clone(&self.hand_over);
                uow.after_commit(move || hand_over.note_spent(spent));
                Ok(switched_off)
            })
            .await
    }

    /// The bytes of bodies that attempts sent, by organisation, where there is a limit of these.
    async fn counted(
        &self,
        app: &App,
        finished: &[Finished],
    ) -> Result<BTreeMap<Uuid, (Limits, i64)>> {
        let mut bytes: BTreeMap<Uuid, i64> = BTreeMap::new();
        for one in finished.iter().filter(|one| one.outcome.sent.is_some()) {
            *bytes.entry(one.claimed.organisation).or_default() +=
                i64::try_from(one.bytes).unwrap_or(i64::MAX);
        }
        let mut counted = BTreeMap::new();
        for (organisation, bytes) in bytes {
            let limits = Limits::in_organisation(app, OrganisationId(organisation)).await?;
            if limits.bytes_per_day.is_some() {
                counted.insert(organisation, (limits, bytes));
            }
        }
        Ok(counted)
    }

    /// Stores outcomes one by one; of one that can't be stored, what is no text. The rest comes last:
    /// it closes hand-overs.
    async fn store_each(&self, record: &Record, attempts: &[Attempt<'_>]) -> Result<Vec<Uuid>> {
        let Record { ended, open, rest } = record;
        let none = Rest::default();
        let mut switched_off = Vec::new();
        for (one, attempt) in ended.chunks(1).zip(attempts.chunks(1)) {
            switched_off.extend(match self.store(one, attempt, open, &none).await {
                Err(error) if !error.is_transient() => {
                    let bare: Vec<Attempt<'_>> =
                        attempt.iter().map(Attempt::without_texts).collect();
                    self.store(one, &bare, open, &none).await?
                }
                outcome => outcome?,
            });
        }
        self.store(&[], &[], open, rest).await?;
        Ok(switched_off)
    }

    fn attempt<'a>(&self, finished: &'a Finished) -> Attempt<'a> {
        let Finished { claimed, endpoint, outcome, .. } = finished;
        let schedule = &endpoint.schedule;
        let failure = outcome.failure.as_ref();
        let made = u32::try_from(claimed.attempts).unwrap_or(0) + 1;
        let finished_us = micros::of_time(outcome.finished_at);
        let is_last = |failure: &Failure| {
            failure.is_final || made >= schedule.attempts(&self.settings) || self.is_gone(outcome)
        };
        let due_us = failure.filter(|failure| !is_last(failure)).map(|failure| {
            let backoff = self.settings.backoff();
            let delay = schedule.delay(&backoff, made, failure.retry_after, self.sample());
            finished_us.saturating_add(micros::of_span(delay))
        });
        // What would be too old by then is given up at once.
        let expires_us = schedule.expires_us(claimed.queued_us).unwrap_or(i64::MAX);
        let due_us = due_us.filter(|due| *due < expires_us);
        let status = match (failure, due_us) {
            (None, _) => Status::Delivered,
            (Some(_), _) if outcome.missed.is_some() => Status::Missed,
            (Some(_), None) => Status::Failed,
            (Some(_), Some(_)) => Status::Retrying,
        };
        let answered = outcome.status.is_some();
        let is_over = matches!(status, Status::Delivered | Status::Failed);
        Attempt {
            claimed,
            status,
            due_us,
            finished_us: is_over.then_some(finished_us),
            attempted_us: finished_us,
            code: outcome.status.map(|status| status.as_u16()),
            duration_ms: u64::try_from(outcome.duration.as_millis()).unwrap_or(u64::MAX),
            // PostgreSQL refuses the character in text, and a peer may have had a say in it.
            error: failure.map(|failure| failure.sentence.replace('\0', "\u{fffd}")),
            url: outcome.sent.as_ref().map(|_| &*endpoint.address),
            sent: outcome.sent.as_deref(),
            headers: outcome.received.as_deref(),
            body: answered.then(|| log_text::cut(&outcome.body, self.settings.log_limit())),
        }
    }

    /// A random number for the jitter, where there is any.
    fn sample(&self) -> f64 {
        if self.settings.retry_jitter <= 0.0 {
            return 0.0;
        }
        f64::from(u32::from_le_bytes(random_array())) / f64::from(u32::MAX)
    }

    fn is_gone(&self, outcome: &Outcome) -> bool {
        self.settings.disable_on_gone && outcome.status == Some(StatusCode::GONE)
    }

    /// Counts failures and successes of endpoints, in the order in which attempts ended.
    async fn apply(
        &self,
        uow: &UnitOfWork,
        (finished, attempts): (&[Finished], &[Attempt<'_>]),
        recorded: &HashSet<Uuid>,
        failures: &HashMap<Uuid, i32>,
    ) -> Result<Vec<Uuid>> {
        // Sorted, so that two nodes lock endpoints in the same order.
        let mut consequences: BTreeMap<(Uuid, Uuid), Consequence> = BTreeMap::new();
        let mut gone: BTreeMap<Uuid, (Owner, Standing)> = BTreeMap::new();
        for (one, attempt) in finished.iter().zip(attempts) {
            if !recorded.contains(&attempt.claimed.id) || attempt.status == Status::Retrying {
                continue;
            }
            if let Some(standing) = &one.outcome.missed {
                gone.insert(one.claimed.endpoint, (one.endpoint.owner, standing.clone()));
            }
            if one.outcome.failure.as_ref().is_some_and(|failure| failure.is_ours) {
                continue;
            }
            let key = (one.claimed.endpoint, one.claimed.organisation);
            let consequence = consequences.entry(key).or_default();
            match &one.outcome.failure {
                None => *consequence = Consequence { delivered: true, ..Consequence::default() },
                Some(Failure { sentence, .. }) => {
                    consequence.failed.push((one.endpoint.address.clone(), sentence.clone()));
                    consequence.gone |= self.is_gone(&one.outcome);
                }
            }
        }
        let mut switched_off = Vec::new();
        for ((endpoint, organisation), consequence) in consequences {
            if consequence.delivered && failures.get(&endpoint).is_some_and(|count| *count > 0) {
                record::reset_failures(uow, endpoint).await?;
            }
            for (url, sentence) in &consequence.failed {
                let counted = record::count_failure(uow, endpoint, url, sentence).await?;
                let Some(failing) = counted else { continue };
                let organisation = OrganisationId(organisation);
                let failed = FailedEndpoint { endpoint, organisation, sentence, failing };
                if self.judge(uow, failed, consequence.gone).await? {
                    switched_off.push(endpoint);
                }
            }
        }
        standings::note_gone(uow, &gone).await?;
        Ok(switched_off)
    }

    /// Warns of an endpoint that fails, or switches it off; says whether it did that.
    async fn judge(
        &self,
        uow: &UnitOfWork,
        failed: FailedEndpoint<'_>,
        gone: bool,
    ) -> Result<bool> {
        let failures = u32::try_from(failed.failing.failures).unwrap_or(0);
        let limit = self.settings.disable_after_failures;
        if !failed.failing.is_active {
            return Ok(false);
        }
        let too_many = limit > 0 && failures >= limit;
        let app = self.app.get()?;
        let context = Context::system_in(&app, failed.organisation)?;
        if gone || too_many {
            let reason = if gone {
                "the receiver answered `410 Gone`".to_owned()
            } else {
                format!(
                    "{failures} deliveries in a row failed; the last one because: {}",
                    failed.sentence
                )
            };
            record::switch_off(uow, failed.endpoint, app.clock().now(), &reason).await?;
            uow.wake_after_commit(ENDPOINTS_TOPIC);
            tracing::warn!(endpoint.id = %failed.endpoint, failures, "an endpoint was switched off");
            let event = failed.disabled(failures, reason);
            context.transact(async move |uow| uow.raise_domain(event)).await?;
            return Ok(true);
        }
        if self.settings.warn_after_failures() == Some(failures) {
            let event = failed.failing(failures, limit);
            context.transact(async move |uow| uow.raise_domain(event)).await?;
        }
        Ok(false)
    }

    fn report(&self, finished: &Finished, status: Status) {
        let Finished { claimed, outcome, event_type, .. } = finished;
        let code = outcome.failure.as_ref().map_or("delivered", |failure| failure.code);
        self.metrics.attempt(code, outcome.duration, status);
        tracing::debug!(
            delivery.id = %claimed.id,
            endpoint.id = %claimed.endpoint,
            event.type = %event_type,
            attempt = claimed.attempts + 1,
            status = status.as_str(),
            outcome = code,
            "a delivery was attempted"
        );
    }
}

/// The endpoints that are to be looked at for what becomes of a record, and when.
fn touched(attempts: &[Attempt<'_>], rest: &Rest, now_us: i64) -> Vec<(Uuid, i64)> {
    let retried = attempts.iter().filter_map(|one| Some((one.claimed.endpoint, one.due_us?)));
    // The next of an entity may be sent, now that this one is through.
    let ordered = attempts.iter().map(|one| one.claimed).filter(|one| one.lane == Lane::Ordered);
    let returned = rest.released.values().flatten().chain(&rest.waiting);
    let at_once = ordered.chain(returned).map(|claimed| (claimed.endpoint, now_us));
    let taken = rest.taken.iter().map(|one| (one.endpoint, one.claim.until_us));
    retried.chain(at_once).chain(taken).collect()
}

/// An endpoint to which a delivery has just failed for good.
struct FailedEndpoint<'a> {
    endpoint: Uuid,
    organisation: OrganisationId,
    sentence: &'a str,
    failing: Failing,
}

impl FailedEndpoint<'_> {
    fn disabled(self, failures: u32, reason: String) -> WebhookEndpointDisabled {
        WebhookEndpointDisabled {
            endpoint_id: self.endpoint,
            host: host(&self.failing.url),
            owner_id: self.failing.owner,
            permission: MANAGE,
            consecutive_failures: failures,
            reason,
            last_error: self.sentence.to_owned(),
            description: self.failing.description,
        }
    }

    fn failing(self, failures: u32, limit: u32) -> WebhookEndpointFailing {
        WebhookEndpointFailing {
            endpoint_id: self.endpoint,
            host: host(&self.failing.url),
            owner_id: self.failing.owner,
            permission: MANAGE,
            consecutive_failures: failures,
            disable_after_failures: limit,
            last_error: self.sentence.to_owned(),
            description: self.failing.description,
        }
    }
}
