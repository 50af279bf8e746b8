//! What a look brings: what was claimed, and what became jobs of it.

use std::collections::{BTreeMap, HashMap};

use uuid::Uuid;

use super::job::Job;
use crate::in_flight::{Backlog, Ticket};
use crate::model::Lane;
use crate::store::claim::{Claim, Claimed, Quota};
use crate::store::ordered::Taken;

/// When to look again at a queue with order of which it isn't known when something becomes due.
const SOON_US: i64 = 1_000_000;

/// What was claimed of the endpoints that a look saw.
#[derive(Default)]
pub(super) struct Taking {
    pub(super) claimed: Vec<Claimed>,
    /// Places that are taken for some of them already.
    pub(super) places: HashMap<Uuid, Vec<Ticket>>,
    /// When something of queues with order becomes due.
    pub(super) ordered: BTreeMap<Uuid, i64>,
    /// When it is the turn of endpoints whose organisations may begin nothing more now.
    pub(super) held: BTreeMap<Uuid, i64>,
}

impl Taking {
    pub(super) fn add(&mut self, quota: &Quota, claim: Claim, taken: Taken) {
        if quota.lane == Lane::Ordered {
            let next_us = taken.next_us.unwrap_or(claim.now_us.saturating_add(SOON_US));
            self.ordered.insert(quota.endpoint, next_us);
        }
        self.claimed.extend(taken.claimed);
    }
}

/// What a look around the endpoints brought.
#[derive(Default)]
pub(super) struct Turn {
    pub(super) jobs: Vec<Job>,
    /// When the next delivery becomes due that isn't yet.
    pub(super) next_us: Option<i64>,
    /// Whether it stopped on the way, since there was no more room.
    pub(super) is_cut_short: bool,
    /// Endpoints for which more is due than was claimed.
    pub(super) backlog: Backlog,
}

impl Turn {
    /// More is due in a queue than was claimed.
    pub(super) fn is_behind(&mut self, endpoint: Uuid, lane: Lane) {
        let Backlog { new, replayed, .. } = &mut self.backlog;
        let endpoints = if lane == Lane::Replay { replayed } else { new };
        endpoints.insert(endpoint);
    }

    /// A queue with order has more than was claimed, of what is new or of what is recovered.
    pub(super) fn leaves(&mut self, quota: &Quota, taken: &Taken) {
        if taken.has_more {
            self.is_behind(quota.endpoint, quota.lane);
        }
        if taken.has_recovered {
            self.is_behind(quota.endpoint, Lane::Replay);
        }
    }

    /// A queue of an endpoint with a pace gave as many as there were places: its pace may let more begin.
    pub(super) fn is_kept_back(&mut self, quota: &Quota, taken: &Taken) {
        if taken.claimed.len() >= quota.count {
            self.backlog.paced.insert(quota.endpoint);
        }
    }

    pub(super) fn is_due_at(&mut self, next_us: Option<i64>) {
        self.next_us = [self.next_us, next_us].into_iter().flatten().min();
    }
}
