//! How many requests this node has in flight, in all and to each endpoint.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use uuid::Uuid;

/// The requests in flight. One endpoint never gets more than its limit, so one that hangs leaves
/// the others their places; one whose last attempt ran into the timeout gets a single place until
/// it answers again, so that many that hang leave places too.
pub(crate) struct InFlight {
    limit: usize,
    limit_per_endpoint: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    total: usize,
    by_endpoint: HashMap<Uuid, usize>,
    hanging: HashSet<Uuid>,
}

impl InFlight {
    pub(crate) fn new(limit: usize, limit_per_endpoint: usize) -> Arc<Self> {
        Arc::new(Self { limit, limit_per_endpoint, state: Mutex::default() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Places that are free in all.
    pub(crate) fn free(&self) -> usize {
        self.limit.saturating_sub(self.state().total)
    }

    /// Places that are free for an endpoint.
    pub(crate) fn free_for(&self, endpoint: Uuid) -> usize {
        let state = self.state();
        let limit = if state.hanging.contains(&endpoint) { 1 } else { self.limit_per_endpoint };
        limit.saturating_sub(state.by_endpoint.get(&endpoint).copied().unwrap_or(0))
    }

    /// Takes a place, until the answer is dropped.
    pub(crate) fn enter(self: &Arc<Self>, endpoint: Uuid) -> Place {
        let mut state = self.state();
        state.total += 1;
        *state.by_endpoint.entry(endpoint).or_default() += 1;
        drop(state);
        Place { in_flight: Arc::clone(self), endpoint }
    }

    /// Notes whether an endpoint's last attempt ran into the timeout.
    pub(crate) fn note(&self, endpoint: Uuid, timed_out: bool) {
        let mut state = self.state();
        if timed_out {
            state.hanging.insert(endpoint);
        } else {
            state.hanging.remove(&endpoint);
        }
    }
}

/// A place among the requests in flight.
pub(crate) struct Place {
    in_flight: Arc<InFlight>,
    endpoint: Uuid,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut state = self.in_flight.state();
        state.total = state.total.saturating_sub(1);
        if let Some(count) = state.by_endpoint.get_mut(&self.endpoint) {
            *count -= 1;
            if *count == 0 {
                state.by_endpoint.remove(&self.endpoint);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_that_hangs_has_one_place_until_it_answers() {
        let (slow, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let in_flight = InFlight::new(8, 4);
        let places: Vec<Place> = (0..4).map(|_| in_flight.enter(slow)).collect();
        assert_eq!((in_flight.free(), in_flight.free_for(slow)), (4, 0));
        assert_eq!(in_flight.free_for(other), 4);
        in_flight.note(slow, true);
        drop(places);
        assert_eq!((in_flight.free(), in_flight.free_for(slow)), (8, 1));
        let place = in_flight.enter(slow);
        assert_eq!(in_flight.free_for(slow), 0);
        in_flight.note(slow, false);
        assert_eq!(in_flight.free_for(slow), 3);
        drop(place);
        assert!(in_flight.state().by_endpoint.is_empty());
    }
}
