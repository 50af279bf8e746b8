//! What this node has taken on: requests in flight, and deliveries in memory that wait for one.
//!
//! A delivery has a [`Ticket`] from the moment it is taken on until its request has ended. Tickets
//! bound what is in memory, in all and for each endpoint:
//!
//! | Endpoint | Requests in flight | Deliveries in memory besides |
//! | --- | --- | --- |
//! | its last request was answered with 2xx, and soon | `ConcurrencyPerEndpoint` | as many as it answers in [`WAIT`], at most [`AHEAD`] times as many |
//! | not known yet, failed, or slow | `ConcurrencyPerEndpoint` | none |
//! | its last request ran into the timeout | 1 | none |
//!
//! So one that hangs leaves the others their places, and one that is well never waits for the
//! database between two requests.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use uuid::Uuid;

/// How many deliveries of an endpoint wait in memory for each request that may be in flight.
const AHEAD: u32 = 32;

/// How many deliveries are in memory for each request that may be in flight, in all.
const IN_ALL: usize = 8;

/// How long a delivery should wait in memory at most: well before its claim ends.
const WAIT: Duration = Duration::from_secs(4);

/// How long an endpoint that is not known yet may keep the fan-out waiting with its first answer.
const FIRST_ANSWER: Duration = Duration::from_millis(250);

/// An endpoint that takes no longer is worth a moment's wait for room.
const QUICK: Duration = Duration::from_millis(50);

/// An endpoint that takes longer gets nothing ahead.
const SLOW: Duration = Duration::from_millis(500);

/// How an endpoint's last request on this node went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Health {
    /// None has ended; the first delivery was taken on then.
    Unknown(Instant),
    /// Answered with 2xx, so soon.
    Well(Duration),
    /// Slow, or failed.
    Troubled,
    /// Ran into the timeout.
    Hanging,
}

impl Health {
    /// What an attempt tells of its endpoint.
    pub(crate) fn of(is_delivered: bool, timed_out: bool, duration: Duration) -> Self {
        match (is_delivered, timed_out) {
            (_, true) => Self::Hanging,
            (true, false) if duration < SLOW => Self::Well(duration),
            _ => Self::Troubled,
        }
    }
}

/// What may be taken on besides, as far as quick endpoints have to do with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Room {
    /// Deliveries in all.
    pub(crate) in_all: usize,
    /// Deliveries of each endpoint.
    pub(crate) per_endpoint: usize,
    /// How much that is of what there can be, in eighths.
    pub(crate) eighths: usize,
    /// Whether endpoints are among these that are not known yet.
    pub(crate) is_guess: bool,
}

/// The tickets of this node.
pub(crate) struct InFlight {
    limit: usize,
    limit_per_endpoint: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    sending: usize,
    waiting: usize,
    by_endpoint: HashMap<Uuid, Counts>,
    health: HashMap<Uuid, Health>,
    /// Endpoints for which more is due in the database than was taken on. What is new waits
    /// behind that, in the database too.
    behind: HashSet<Uuid>,
    /// Those that came to be so since the dispatcher last began to look.
    newly_behind: HashSet<Uuid>,
    /// Whether the dispatcher takes deliveries from the fan-out.
    is_open: bool,
}

#[derive(Clone, Copy, Default)]
struct Counts {
    sending: usize,
    waiting: usize,
}

impl State {
    fn counts(&self, endpoint: Uuid) -> Counts {
        self.by_endpoint.get(&endpoint).copied().unwrap_or_default()
    }

    /// Adds a delivery that waits.
    fn enter(&mut self, endpoint: Uuid) {
        self.waiting += 1;
        self.by_endpoint.entry(endpoint).or_default().waiting += 1;
        self.health.entry(endpoint).or_insert_with(|| Health::Unknown(Instant::now()));
    }

    /// Takes one off; forgets an endpoint that has none left.
    fn leave(&mut self, endpoint: Uuid, change: impl FnOnce(&mut Counts)) {
        let Some(counts) = self.by_endpoint.get_mut(&endpoint) else { return };
        change(counts);
        if counts.sending + counts.waiting == 0 {
            self.by_endpoint.remove(&endpoint);
        }
    }
}

impl InFlight {
    pub(crate) fn new(limit: usize, limit_per_endpoint: usize) -> Arc<Self> {
        Arc::new(Self { limit, limit_per_endpoint, state: Mutex::default() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn places(&self, state: &State, endpoint: Uuid) -> usize {
        match state.health.get(&endpoint) {
            Some(Health::Hanging) => 1,
            _ => self.limit_per_endpoint,
        }
    }

    fn allowance(&self, state: &State, endpoint: Uuid) -> usize {
        let ahead = match state.health.get(&endpoint) {
            Some(Health::Well(duration)) => {
                let rounds = WAIT.as_millis() / duration.as_millis().max(1);
                u32::try_from(rounds).map_or(AHEAD, |rounds| rounds.min(AHEAD))
            }
            _ => 0,
        };
        let ahead = usize::try_from(ahead).unwrap_or_default();
        self.places(state, endpoint) + ahead * self.limit_per_endpoint
    }

    fn room_for(&self, state: &State, endpoint: Uuid) -> usize {
        let Counts { sending, waiting } = state.counts(endpoint);
        self.allowance(state, endpoint).saturating_sub(sending + waiting)
    }

    fn most(&self) -> usize {
        self.limit * IN_ALL
    }

    fn free_of(&self, state: &State) -> usize {
        self.most().saturating_sub(state.sending + state.waiting)
    }

    /// How many deliveries may be taken on, in all.
    pub(crate) fn free(&self) -> usize {
        self.free_of(&self.state())
    }

    /// How many may be taken on for an endpoint.
    pub(crate) fn free_for(&self, endpoint: Uuid) -> usize {
        self.room_for(&self.state(), endpoint)
    }

    /// Takes a delivery on that was claimed.
    pub(crate) fn take(self: &Arc<Self>, endpoint: Uuid) -> Ticket {
        self.state().enter(endpoint);
        Ticket { in_flight: Arc::clone(self), endpoint, is_sending: false }
    }

    /// Takes a new delivery on that is about to be stored, unless others of its endpoint wait in
    /// the database, or will because there is no room.
    pub(crate) fn reserve(self: &Arc<Self>, endpoint: Uuid) -> Option<Ticket> {
        {
            let mut state = self.state();
            if !state.is_open || state.behind.contains(&endpoint) {
                return None;
            }
            if self.free_of(&state) == 0 || self.room_for(&state, endpoint) == 0 {
                state.behind.insert(endpoint);
                state.newly_behind.insert(endpoint);
                return None;
            }
        }
        Some(self.take(endpoint))
    }

    /// Begins or ends to take on what is new.
    pub(crate) fn open(&self, is_open: bool) {
        self.state().is_open = is_open;
    }

    /// How much of what is new may be taken on; none while the dispatcher takes nothing. Endpoints
    /// that are slow or in trouble don't count: what is for them waits in the database.
    pub(crate) fn room(&self) -> Option<Room> {
        let state = self.state();
        if !state.is_open {
            return None;
        }
        let in_all = self.free_of(&state);
        // At first nothing is known of any endpoint.
        let per_endpoint = if state.health.is_empty() { self.limit_per_endpoint } else { in_all };
        let mut room = Room { in_all, per_endpoint, eighths: 8, is_guess: false };
        let mut taken = 0;
        for endpoint in state.by_endpoint.keys().chain(&state.behind) {
            match state.health.get(endpoint) {
                Some(Health::Well(duration)) if *duration <= QUICK => {}
                Some(Health::Unknown(since)) if since.elapsed() < FIRST_ANSWER => {
                    room.is_guess = true;
                }
                _ => continue,
            }
            let is_behind = state.behind.contains(endpoint);
            let free = if is_behind { 0 } else { self.room_for(&state, *endpoint) };
            room.per_endpoint = room.per_endpoint.min(free);
            room.eighths = room.eighths.min(free * 8 / self.allowance(&state, *endpoint).max(1));
            let Counts { sending, waiting } = state.counts(*endpoint);
            taken += sending + waiting;
        }
        // What slow endpoints have taken comes back no sooner for waiting.
        if taken * 2 > self.most() {
            room.eighths = room.eighths.min(in_all * 8 / self.most().max(1));
        }
        Some(room)
    }

    /// Whether a request to the endpoint may begin.
    pub(crate) fn may_send(&self, endpoint: Uuid) -> bool {
        let state = self.state();
        state.sending < self.limit && state.counts(endpoint).sending < self.places(&state, endpoint)
    }

    /// Whether all requests that may be in flight are.
    pub(crate) fn is_full(&self) -> bool {
        self.state().sending >= self.limit
    }

    /// Notes how an endpoint's last request went.
    pub(crate) fn note(&self, endpoint: Uuid, health: Health) {
        self.state().health.insert(endpoint, health);
    }

    /// The dispatcher begins to look what is due.
    pub(crate) fn look_begins(&self) {
        self.state().newly_behind.clear();
    }

    /// The dispatcher has looked at all endpoints: these have more due than it took on.
    pub(crate) fn look_ended(&self, behind: HashSet<Uuid>) {
        let mut state = self.state();
        let newly = std::mem::take(&mut state.newly_behind);
        state.behind = behind;
        state.behind.extend(newly);
    }

    /// Whether it is worth looking for more: an endpoint for which more is due has room again (one
    /// that is well, half of it), or the last look was cut short and there is room in general.
    pub(crate) fn is_worth_a_look(&self, was_cut_short: bool) -> bool {
        let state = self.state();
        let has_room = |endpoint: &Uuid| {
            let enough = match state.health.get(endpoint) {
                Some(Health::Well(_)) => self.allowance(&state, *endpoint) / 2,
                _ => 0,
            };
            self.room_for(&state, *endpoint) >= enough.max(1)
        };
        self.free_of(&state) * 4 >= self.most()
            && (was_cut_short || state.behind.iter().any(has_room))
    }
}

/// A delivery that this node has taken on.
pub(crate) struct Ticket {
    in_flight: Arc<InFlight>,
    endpoint: Uuid,
    is_sending: bool,
}

impl Ticket {
    /// Its request begins.
    pub(crate) fn send(&mut self) {
        if self.is_sending {
            return;
        }
        self.is_sending = true;
        let mut state = self.in_flight.state();
        state.waiting = state.waiting.saturating_sub(1);
        state.sending += 1;
        let counts = state.by_endpoint.entry(self.endpoint).or_default();
        counts.waiting = counts.waiting.saturating_sub(1);
        counts.sending += 1;
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut state = self.in_flight.state();
        if self.is_sending {
            state.sending = state.sending.saturating_sub(1);
            state.leave(self.endpoint, |counts| counts.sending -= 1);
        } else {
            state.waiting = state.waiting.saturating_sub(1);
            state.leave(self.endpoint, |counts| counts.waiting -= 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Uuid = Uuid::from_u128(1);
    const OTHER: Uuid = Uuid::from_u128(2);

    #[test]
    fn an_endpoint_that_hangs_has_one_place_until_it_answers() {
        let in_flight = InFlight::new(8, 4);
        let mut tickets: Vec<Ticket> = (0..4).map(|_| in_flight.take(ONE)).collect();
        assert_eq!((in_flight.free(), in_flight.free_for(ONE)), (60, 0));
        assert_eq!(in_flight.free_for(OTHER), 4);
        tickets.iter_mut().for_each(Ticket::send);
        assert!(!in_flight.may_send(ONE) && in_flight.may_send(OTHER));
        in_flight.note(ONE, Health::Hanging);
        drop(tickets);
        assert_eq!((in_flight.free(), in_flight.free_for(ONE)), (64, 1));
        let ticket = in_flight.take(ONE);
        assert_eq!(in_flight.free_for(ONE), 0);
        in_flight.note(ONE, Health::Troubled);
        assert_eq!(in_flight.free_for(ONE), 3);
        let well = |milliseconds| Health::of(true, false, Duration::from_millis(milliseconds));
        for (milliseconds, ahead) in [(0, 32), (125, 32), (200, 20), (499, 8), (500, 0)] {
            in_flight.note(ONE, well(milliseconds));
            assert_eq!(in_flight.free_for(ONE), 4 + ahead * 4 - 1, "{milliseconds}");
        }
        drop(ticket);
        assert!(in_flight.state().by_endpoint.is_empty());
    }

    #[test]
    fn the_room_for_what_is_new_is_that_of_quick_endpoints() {
        let in_flight = InFlight::new(8, 4);
        let known =
            |in_all, per_endpoint, eighths| Room { in_all, per_endpoint, eighths, is_guess: false };
        let room = |in_all, per_endpoint, eighths| Some(known(in_all, per_endpoint, eighths));
        assert_eq!(in_flight.room(), None, "nobody sends yet");
        in_flight.open(true);
        assert_eq!(in_flight.room(), room(64, 4, 8), "nothing is known of any endpoint");
        let mut tickets: Vec<Ticket> = (0..3).filter_map(|_| in_flight.reserve(ONE)).collect();
        assert_eq!(in_flight.room(), Some(Room { is_guess: true, ..known(61, 1, 2) }));
        in_flight.note(ONE, Health::Unknown(Instant::now() - FIRST_ANSWER));
        assert_eq!(in_flight.room(), room(61, 61, 8), "it was waited for");
        for health in [Health::Hanging, Health::of(true, false, Duration::from_millis(60))] {
            in_flight.note(ONE, health);
            assert_eq!(in_flight.room(), room(61, 61, 8), "nobody waits for one that is not quick");
        }
        in_flight.note(OTHER, Health::of(true, false, Duration::from_millis(1)));
        tickets.extend((0..33).filter_map(|_| in_flight.reserve(OTHER)));
        assert_eq!(in_flight.room(), room(28, 28, 3), "it has taken more than half of all");
        tickets.truncate(35);
        assert_eq!(in_flight.room(), room(29, 29, 6));
        in_flight.look_ended(HashSet::from([OTHER]));
        assert_eq!(in_flight.room(), room(29, 0, 0), "it has more in the database");
    }

    #[test]
    fn what_is_new_waits_behind_what_is_due_in_the_database() {
        let in_flight = InFlight::new(8, 2);
        assert!(in_flight.reserve(ONE).is_none(), "nobody sends yet");
        in_flight.open(true);
        let tickets: Vec<Ticket> = (0..2).filter_map(|_| in_flight.reserve(ONE)).collect();
        assert_eq!(tickets.len(), 2);
        in_flight.look_begins();
        assert!(in_flight.reserve(ONE).is_none(), "it has no room");
        in_flight.look_ended(HashSet::new());
        assert!(!in_flight.is_worth_a_look(false));
        drop(tickets);
        assert!(in_flight.reserve(ONE).is_none(), "what had no room comes first");
        assert!(in_flight.is_worth_a_look(false));
        in_flight.look_begins();
        in_flight.look_ended(HashSet::new());
        assert!(in_flight.reserve(ONE).is_some() && !in_flight.is_worth_a_look(false));
    }
}
