//! What a delivery has from the moment it is taken on until its request has ended.

use std::sync::Arc;

use uuid::Uuid;

use super::{Home, InFlight};

/// A delivery that this node has taken on.
pub(crate) struct Ticket {
    in_flight: Arc<InFlight>,
    endpoint: Uuid,
    pub(super) home: Home,
    is_sending: bool,
}

impl Ticket {
    /// A delivery of an endpoint that waits for its request. It counts already.
    pub(super) fn new(in_flight: &Arc<InFlight>, endpoint: Uuid, home: Home) -> Self {
        Self { in_flight: Arc::clone(in_flight), endpoint, home, is_sending: false }
    }

    /// Where its endpoint is, now that this is known.
    pub(crate) fn settle(&mut self, home: Home) {
        if self.home == home {
            return;
        }
        let (mut state, now) = self.in_flight.state_now();
        state.leave(self.endpoint, &self.home, self.is_sending, now);
        state.homes.insert(self.endpoint, home.clone());
        state.enter(self.endpoint, &home, now);
        self.home = home;
    }

    /// Whether it has a place for its request.
    pub(crate) fn has_place(&self) -> bool {
        self.is_sending
    }

    /// Its request begins, or will without waiting.
    pub(crate) fn send(&mut self) {
        if self.is_sending {
            return;
        }
        self.is_sending = true;
        let (mut state, now) = self.in_flight.state_now();
        state.total.begin();
        state.shares.send(&self.home, now);
        state.by_endpoint.entry(self.endpoint).or_default().begin();
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let (mut state, now) = self.in_flight.state_now();
        state.leave(self.endpoint, &self.home, self.is_sending, now);
    }
}
