//! The deliveries that this node has taken on: in memory, in flight, or ended and not recorded.

use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Duration;
use svc_core::micros;

use tokio::task::JoinSet;
use tokio::time::Instant;
use uuid::Uuid;

use super::job::{Ended, Finished, Job, Unread};
use crate::in_flight::{Health, InFlight, Next};
use crate::model::Lane;
use crate::store::claim::Claimed;

/// How long a delivery of a hand-over may go without a row of its own, so that whoever looks at the
/// log sees what is being sent.
const SOON: Duration = Duration::from_secs(1);

/// What was taken on.
#[derive(Default)]
pub(super) struct Flight {
    /// What has a place, and is sent at once.
    placed: VecDeque<Job>,
    /// What waits for a request, by endpoint.
    waiting: HashMap<Uuid, VecDeque<Job>>,
    /// The endpoints for which something waits, in the order of their turns.
    turns: VecDeque<Uuid>,
    pub(super) sends: JoinSet<Ended>,
    /// What waits or is in flight, by delivery.
    claims: HashMap<Uuid, Claimed>,
    /// What has ended and is not recorded.
    ended: Vec<Finished>,
    /// What is not sent after all.
    given_back: Vec<Claimed>,
    /// How many deliveries of hand-overs have no rows, by token.
    open: HashMap<Uuid, usize>,
    /// When these must be closed, the first first; some are closed before.
    closing: VecDeque<(Instant, Uuid)>,
}

/// What is to be stored of deliveries.
#[derive(Default)]
pub(super) struct Record {
    /// Attempts that have ended.
    pub(super) ended: Vec<Finished>,
    /// Tokens of hand-overs: attempts at what is under these have no row yet.
    pub(super) open: HashSet<Uuid>,
    pub(super) rest: Rest,
}

/// What is to be stored of deliveries besides attempts.
#[derive(Default)]
pub(super) struct Rest {
    /// What is given back, by token of its claim.
    pub(super) released: HashMap<Uuid, Vec<Claimed>>,
    /// Deliveries without rows that are sent, or about to be.
    pub(super) taken: Vec<Claimed>,
    /// Deliveries without rows that are not sent after all.
    pub(super) waiting: Vec<Claimed>,
    /// Hand-overs of which every delivery has a row then.
    pub(super) closed: Vec<Uuid>,
}

impl Record {
    /// When the first claim of it ends.
    pub(super) fn ends_us(&self) -> i64 {
        let Self { ended, rest, .. } = self;
        let claims = ended.iter().map(|one| &one.claimed).chain(&rest.taken).chain(&rest.waiting);
        claims.map(|claimed| claimed.claim.until_us).min().unwrap_or(i64::MIN)
    }
}

impl Rest {
    pub(super) fn is_empty(&self) -> bool {
        let Self { released, taken, waiting, closed } = self;
        released.is_empty() && taken.is_empty() && waiting.is_empty() && closed.is_empty()
    }
}

impl Flight {
    /// Whether nothing waits, nothing is in flight, and all is recorded.
    pub(super) fn is_empty(&self) -> bool {
        self.placed.is_empty()
            && self.waiting.is_empty()
            && self.sends.is_empty()
            && !self.has_ended()
    }

    /// Whether something has ended, or was given back, that is not recorded.
    pub(super) fn has_ended(&self) -> bool {
        self.unrecorded() > 0
    }

    /// How much that is.
    pub(super) fn unrecorded(&self) -> usize {
        self.ended.len() + self.given_back.len()
    }

    /// Takes on what was handed over under a token: what can be sent, and the rest, which is
    /// given back.
    pub(super) fn take_over(&mut self, token: Uuid, jobs: Vec<Job>, rest: Vec<Claimed>) {
        self.open.insert(token, jobs.len() + rest.len());
        self.closing.push_back((Instant::now() + SOON, token));
        self.take(jobs);
        self.given_back.extend(rest);
    }

    /// Takes on what was claimed. A test event goes past the others of its endpoint, and all go past
    /// what is sent again.
    pub(super) fn take(&mut self, jobs: impl IntoIterator<Item = Job>) {
        for job in jobs {
            self.claims.insert(job.claimed.id, job.claimed.clone());
            if job.ticket.has_place() {
                self.placed.push_back(job);
                continue;
            }
            let endpoint = job.claimed.endpoint;
            let waiting = self.waiting.entry(endpoint).or_insert_with(|| {
                self.turns.push_back(endpoint);
                VecDeque::new()
            });
            match job.claimed.lane {
                Lane::Test => waiting.push_front(job),
                Lane::Replay => waiting.push_back(job),
                Lane::Ordinary | Lane::Ordered => {
                    let is_first = |job: &Job| job.claimed.lane != Lane::Replay;
                    let place = waiting.partition_point(is_first);
                    waiting.insert(place, job);
                }
            }
        }
    }

    /// When what has no row yet must get one.
    pub(super) fn closing_at(&mut self) -> Option<Instant> {
        while let Some((at, token)) = self.closing.front() {
            if self.open.contains_key(token) {
                return Some(*at);
            }
            self.closing.pop_front();
        }
        None
    }

    /// Takes what is to be stored now.
    pub(super) fn record(&mut self, now: Instant) -> Record {
        let mut record = Record { ended: std::mem::take(&mut self.ended), ..Record::default() };
        let rest = &mut record.rest;
        for one in &record.ended {
            let token = one.claimed.claim.token;
            if let Some(left) = self.open.get_mut(&token) {
                *left -= 1;
                record.open.insert(token);
            }
        }
        for claimed in std::mem::take(&mut self.given_back) {
            let token = claimed.claim.token;
            if let Some(left) = self.open.get_mut(&token) {
                *left -= 1;
                rest.waiting.push(claimed);
            } else {
                rest.released.entry(token).or_default().push(claimed);
            }
        }
        let overdue: HashSet<Uuid> = self
            .closing
            .iter()
            .take_while(|(at, _)| *at <= now)
            .map(|(_, token)| *token)
            .filter(|token| self.open.contains_key(token))
            .collect();
        if !overdue.is_empty() {
            let taken = self.claims.values().filter(|one| overdue.contains(&one.claim.token));
            rest.taken.extend(taken.cloned());
        }
        self.open.retain(|token, left| {
            let closes = *left == 0 || overdue.contains(token);
            if closes {
                rest.closed.push(*token);
            }
            !closes
        });
        record
    }

    /// The next delivery that may be sent: first what has a place, then endpoints take turns. None
    /// when all places are taken, or nothing waits.
    pub(super) fn next(&mut self, in_flight: &InFlight) -> Option<Job> {
        if let Some(job) = self.placed.pop_front() {
            return Some(job);
        }
        while let Some(next) = in_flight.next_turn(self.turns.iter()) {
            let (Next::Sends(place) | Next::IsTooMuch(place)) = next;
            // Those before it have their turns again behind the others.
            self.turns.rotate_left(place);
            let endpoint = self.turns.pop_front()?;
            if let Next::IsTooMuch(_) = next {
                self.withdraw(endpoint);
                continue;
            }
            let job = self.waiting.get_mut(&endpoint).and_then(VecDeque::pop_front);
            if self.waiting.get(&endpoint).is_none_or(VecDeque::is_empty) {
                self.waiting.remove(&endpoint);
            } else {
                self.turns.push_back(endpoint);
            }
            if job.is_some() {
                return job;
            }
        }
        None
    }

    /// Gives a delivery back that is not sent after all.
    pub(super) fn give_back(&mut self, job: &Job) {
        self.given_back.extend(self.claims.remove(&job.claimed.id));
    }

    /// Waits for a request to end, and takes all that have ended.
    pub(super) async fn join(&mut self, in_flight: &InFlight) {
        // A task that was aborted is gone with its claim, which ends by itself.
        if let Some(Ok(first)) = self.sends.join_next().await {
            self.end(first, in_flight);
        }
        while let Some(ended) = self.sends.try_join_next() {
            if let Ok(ended) = ended {
                self.end(ended, in_flight);
            }
        }
    }

    fn end(&mut self, ended: Ended, in_flight: &InFlight) {
        let finished = match ended {
            Ok(finished) => finished,
            Err(Unread(delivery)) => {
                self.claims.remove(&delivery);
                return;
            }
        };
        self.claims.remove(&finished.claimed.id);
        let failure = finished.outcome.failure.as_ref();
        if failure.is_none_or(|failure| !failure.is_ours) {
            let timed_out = failure.is_some_and(|failure| failure.timed_out);
            let health = Health::of(failure.is_none(), timed_out, finished.outcome.duration);
            in_flight.note(finished.claimed.endpoint, health, finished.outcome.duration);
        }
        self.ended.push(finished);
    }

    /// Gives back what waits for an endpoint.
    pub(super) fn withdraw(&mut self, endpoint: Uuid) {
        for job in self.waiting.remove(&endpoint).into_iter().flatten() {
            self.give_back(&job);
        }
        self.turns.retain(|turn| *turn != endpoint);
    }

    /// Gives back all that waits or is in flight.
    pub(super) fn give_up(&mut self) {
        self.placed.clear();
        self.waiting.clear();
        self.turns.clear();
        self.given_back.extend(self.claims.drain().map(|(_, claimed)| claimed));
    }
}

/// Whether a claim holds long enough for a whole attempt.
pub(super) fn holds(job: &Job, now_us: i64, timeout: Duration) -> bool {
    let timeout = micros::of_span(timeout);
    job.claimed.claim.until_us.saturating_sub(now_us) >= timeout
}
