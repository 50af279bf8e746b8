//! The short way from the fan-out to the dispatcher of the same node.
//!
//! A new delivery whose endpoint has room is stored as claimed by this node already, and handed
//! over in memory after the commit: nobody has to look for it, claim it and read its message back.
//!
//! | Step | A crash right after leaves |
//! | --- | --- |
//! | stored with a claim, in the fan-out's unit of work | nothing; the unit of work is not committed |
//! | commit | a claim, which ends by itself (at the next start on SQLite) |
//! | handed over, sent, recorded | as any other claim |
//!
//! What has no room, or wants order or a pace, is stored without a claim, and found by a look.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use svc_core::Clock;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use uuid::Uuid;

use crate::dispatcher::Message;
use crate::in_flight::{InFlight, Ticket};
use crate::store::claim::{Claim, Claimed};

/// Deliveries of one unit of work that were stored as claimed by this node.
pub(crate) struct Handed {
    pub(crate) deliveries: Vec<HandedDelivery>,
    /// The versions of their endpoints.
    pub(crate) versions: HashMap<Uuid, i64>,
}

/// One of them. Dropping it, as a rollback does, gives its room back.
pub(crate) struct HandedDelivery {
    pub(crate) claimed: Claimed,
    pub(crate) message: Message,
    pub(crate) ticket: Ticket,
}

/// Where the fan-out leaves deliveries for the dispatcher.
pub(crate) struct HandOver {
    pub(crate) in_flight: Arc<InFlight>,
    lease: Duration,
    dispatcher: Mutex<Option<UnboundedSender<Handed>>>,
}

impl HandOver {
    /// `lease` is how long a claim holds.
    pub(crate) fn new(in_flight: Arc<InFlight>, lease: Duration) -> Self {
        Self { in_flight, lease, dispatcher: Mutex::default() }
    }

    fn dispatcher(&self) -> MutexGuard<'_, Option<UnboundedSender<Handed>>> {
        self.dispatcher.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A claim that begins now.
    pub(crate) fn claim(&self, clock: &Clock) -> Claim {
        let now_us = clock.now_us();
        let lease_us = i64::try_from(self.lease.as_micros()).unwrap_or(i64::MAX);
        Claim { token: clock.new_id(), now_us, until_us: now_us.saturating_add(lease_us) }
    }

    /// The dispatcher runs: what it gets from now on.
    pub(crate) fn open(&self) -> UnboundedReceiver<Handed> {
        let (sender, receiver) = mpsc::unbounded_channel();
        *self.dispatcher() = Some(sender);
        self.in_flight.open(true);
        receiver
    }

    /// The dispatcher takes nothing more.
    pub(crate) fn close(&self) {
        self.in_flight.open(false);
        *self.dispatcher() = None;
    }

    /// Hands deliveries over, once their unit of work is committed.
    pub(crate) fn deliver(&self, handed: Handed) {
        // A dispatcher that has stopped leaves the claims to their end.
        if let Some(dispatcher) = &*self.dispatcher() {
            let _ = dispatcher.send(handed);
        }
    }
}
