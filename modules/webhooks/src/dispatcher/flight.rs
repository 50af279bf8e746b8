//! The deliveries that this node has taken on: in memory, in flight, or ended and not recorded.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use tokio::task::JoinSet;
use uuid::Uuid;

use super::attempt::{Finished, Job};
use crate::in_flight::{Health, InFlight};
use crate::model::Lane;

/// Deliveries by token of their claim.
pub(super) type Claims = HashMap<Uuid, Vec<Uuid>>;

/// What was taken on.
#[derive(Default)]
pub(super) struct Flight {
    /// What waits for a request, by endpoint.
    waiting: HashMap<Uuid, VecDeque<Job>>,
    /// The endpoints for which something waits, in the order of their turns.
    turns: VecDeque<Uuid>,
    pub(super) sends: JoinSet<Finished>,
    /// Tokens of what waits or is in flight, by delivery.
    claims: HashMap<Uuid, Uuid>,
    /// What has ended and is not recorded.
    pub(super) ended: Vec<Finished>,
}

impl Flight {
    /// Whether nothing waits, nothing is in flight, and all is recorded.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.sends.is_empty() && self.ended.is_empty()
    }

    /// Takes on what was claimed. A test event goes past the others of its endpoint.
    pub(super) fn take(&mut self, jobs: impl IntoIterator<Item = Job>) {
        for job in jobs {
            self.claims.insert(job.claimed.id, job.claimed.token);
            let endpoint = job.claimed.endpoint;
            let waiting = self.waiting.entry(endpoint).or_insert_with(|| {
                self.turns.push_back(endpoint);
                VecDeque::new()
            });
            match job.claimed.lane {
                Lane::Test => waiting.push_front(job),
                Lane::Ordinary | Lane::Ordered => waiting.push_back(job),
            }
        }
    }

    /// The next delivery that may be sent: endpoints take turns. None when all places are taken,
    /// or nothing waits.
    pub(super) fn next(&mut self, in_flight: &InFlight) -> Option<Job> {
        for _ in 0..self.turns.len() {
            if in_flight.is_full() {
                return None;
            }
            let endpoint = self.turns.pop_front()?;
            if !in_flight.may_send(endpoint) {
                self.turns.push_back(endpoint);
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

    /// Forgets a delivery that is not sent after all; answers with what to give back.
    pub(super) fn forget(&mut self, job: &Job) -> (Uuid, Uuid) {
        self.claims.remove(&job.claimed.id);
        (job.claimed.token, job.claimed.id)
    }

    /// Waits for a request to end, and takes all that have ended.
    pub(super) async fn join(&mut self, in_flight: &InFlight) {
        // A task that panicked is gone with its claim, which ends by itself.
        if let Some(Ok(first)) = self.sends.join_next().await {
            self.end(first, in_flight);
        }
        while let Some(ended) = self.sends.try_join_next() {
            if let Ok(ended) = ended {
                self.end(ended, in_flight);
            }
        }
    }

    fn end(&mut self, finished: Finished, in_flight: &InFlight) {
        self.claims.remove(&finished.claimed.id);
        let failure = finished.outcome.failure.as_ref();
        if failure.is_none_or(|failure| !failure.is_ours) {
            let timed_out = failure.is_some_and(|failure| failure.timed_out);
            let health = Health::of(failure.is_none(), timed_out, finished.outcome.duration);
            in_flight.note(finished.claimed.endpoint, health);
        }
        self.ended.push(finished);
    }

    /// Takes away what waits for an endpoint, with its claims.
    pub(super) fn withdraw(&mut self, endpoint: Uuid) -> Claims {
        let mut claims = Claims::new();
        for job in self.waiting.remove(&endpoint).into_iter().flatten() {
            let (token, delivery) = self.forget(&job);
            claims.entry(token).or_default().push(delivery);
        }
        self.turns.retain(|turn| *turn != endpoint);
        claims
    }

    /// All claims of what waits or is in flight.
    pub(super) fn claims(self) -> Claims {
        let mut by_token = Claims::new();
        for (delivery, token) in self.claims {
            by_token.entry(token).or_default().push(delivery);
        }
        by_token
    }
}

/// Whether a claim holds long enough for a whole attempt.
pub(super) fn holds(job: &Job, now_us: i64, timeout: Duration) -> bool {
    let timeout = i64::try_from(timeout.as_micros()).unwrap_or(i64::MAX);
    job.claimed.until_us.saturating_sub(now_us) >= timeout
}
