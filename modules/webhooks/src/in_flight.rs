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
//! database between two requests. What many endpoints of one origin, or of one organisation, may
//! take together is bounded besides ([`shares`]).
//!
//! An endpoint that somebody has changed or deleted is turned away: nothing that was prepared before
//! is sent to it any more.

mod health;
mod shares;
mod ticket;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use tokio::time::Instant;
use uuid::Uuid;

use crate::model::Lane;

use shares::{Counts, IN_ALL, PlannedShares, Shares};

pub(crate) use health::Health;
pub(crate) use shares::Home;
pub(crate) use ticket::Ticket;

/// How many deliveries of an endpoint wait in memory for each request that may be in flight.
const AHEAD: u32 = 32;

/// How long a delivery should wait in memory at most: well before its claim ends.
const WAIT: Duration = Duration::from_secs(4);

/// How long an endpoint that is not known yet may keep the fan-out waiting with its first answer: others wait behind it.
const FIRST_ANSWER: Duration = Duration::from_millis(25);

/// The same where its origin answers others at once: a node that has just begun may have hundreds of
/// connections to open.
const FIRST_OF_KNOWN: Duration = Duration::from_millis(250);

/// An endpoint that takes no longer is worth a moment's wait for room.
const QUICK: Duration = Duration::from_millis(50);

/// What may be taken on besides, as far as quick endpoints have to do with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Room {
    /// Deliveries in all.
    pub(crate) in_all: usize,
    /// Deliveries of each endpoint.
    pub(crate) per_endpoint: usize,
    /// How much that is of what there can be, in eighths.
    pub(crate) eighths: usize,
    /// Whether endpoints are among these that are not known yet.
    pub(crate) is_guess: bool,
    /// Whether the dispatcher sends nothing at the moment, whoever it is for.
    pub(crate) is_paused: bool,
    /// Whether most of what was taken on is theirs: it is gone in a moment.
    pub(crate) is_draining: bool,
    /// How many of them have more in the database, in eighths, and one at least where any has.
    pub(crate) behind: usize,
}

/// Whose turn it is, by its place among those who wait.
pub(crate) enum Next {
    /// A request to it may begin.
    Sends(usize),
    /// Its origin answers nothing any more, and what waits for it in memory belongs in the database.
    IsTooMuch(usize),
}

/// What a look is about to take on: many endpoints may share an origin, or an organisation.
#[derive(Default)]
pub(crate) struct Planned {
    by_endpoint: HashMap<Uuid, usize>,
    shares: PlannedShares,
}

impl Planned {
    fn of(&self, endpoint: Uuid) -> usize {
        self.by_endpoint.get(&endpoint).copied().unwrap_or_default()
    }
}

/// The tickets of this node.
pub(crate) struct InFlight {
    limit: usize,
    limit_per_endpoint: usize,
    /// How long what is in memory is held at most.
    lease: Duration,
    clock: Box<dyn Fn() -> Instant + Send + Sync>,
    state: Mutex<State>,
}

/// Endpoints for which more is due in the database than was taken on, when it was last looked.
#[derive(Default)]
pub(crate) struct Backlog {
    /// Of what is new. What comes besides waits behind that, in the database too.
    pub(crate) new: HashSet<Uuid>,
    /// Of what is sent again. What is new doesn't wait for that.
    pub(crate) replayed: HashSet<Uuid>,
    /// Of what has a pace, which lets more begin than there were places for.
    pub(crate) paced: HashSet<Uuid>,
}

impl Backlog {
    /// Whether more is due of an endpoint than was taken on.
    pub(crate) fn has(&self, endpoint: Uuid) -> bool {
        [&self.new, &self.replayed, &self.paced].iter().any(|set| set.contains(&endpoint))
    }
}

struct State {
    shares: Shares,
    /// Where endpoints are, as far as something was taken on for them.
    homes: HashMap<Uuid, Home>,
    /// The versions below which endpoints are turned away, and since when.
    turned: HashMap<Uuid, (i64, Instant)>,
    total: Counts,
    by_endpoint: HashMap<Uuid, Counts>,
    health: HashMap<Uuid, Health>,
    backlog: Backlog,
    /// Those that came to be behind since the dispatcher last began to look.
    newly_behind: HashSet<Uuid>,
    intake: Intake,
}

/// What the dispatcher does with deliveries from the fan-out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Intake {
    /// It takes none.
    #[default]
    Closed,
    /// It will in a moment.
    Opening,
    /// It takes them.
    Open,
    /// It takes them, and sends nothing until outcomes are recorded.
    Paused,
}

impl State {
    /// Whether the dispatcher takes deliveries from the fan-out.
    fn is_open(&self) -> bool {
        matches!(self.intake, Intake::Open | Intake::Paused)
    }

    fn counts(&self, endpoint: Uuid) -> Counts {
        self.by_endpoint.get(&endpoint).copied().unwrap_or_default()
    }

    fn new(limit: usize, limit_per_endpoint: usize) -> Self {
        Self {
            shares: Shares::new(limit, limit_per_endpoint),
            homes: HashMap::new(),
            turned: HashMap::new(),
            total: Counts::default(),
            by_endpoint: HashMap::new(),
            health: HashMap::new(),
            backlog: Backlog::default(),
            newly_behind: HashSet::new(),
            intake: Intake::default(),
        }
    }

    /// Whether an endpoint is known to be quick, or (false) may turn out to be in a moment; none where waiting for it is
    /// for nothing.
    fn is_quick(&self, endpoint: Uuid, home: Option<&Home>, now: Instant) -> Option<bool> {
        match self.health.get(&endpoint)? {
            Health::Well(duration) => (*duration <= QUICK).then_some(true),
            Health::Unknown(since) => {
                let age = now - *since;
                let may_answer = match home {
                    Some(home) if self.shares.is_quiet(home, FIRST_ANSWER, now) => false,
                    // Others there are answered: its request waits for its turn, or for this node.
                    Some(home) if self.shares.is_quick(home, QUICK) => age < FIRST_OF_KNOWN,
                    _ => age < FIRST_ANSWER,
                };
                may_answer.then_some(false)
            }
            Health::Troubled | Health::Hanging => None,
        }
    }

    /// Adds a delivery that waits.
    fn enter(&mut self, endpoint: Uuid, home: &Home, now: Instant) {
        self.shares.enter(home, now);
        self.total.waiting += 1;
        self.by_endpoint.entry(endpoint).or_default().waiting += 1;
        self.health.entry(endpoint).or_insert(Health::Unknown(now));
    }

    /// Takes one off; forgets an endpoint that has none left.
    fn leave(&mut self, endpoint: Uuid, home: &Home, is_sending: bool, now: Instant) {
        self.shares.leave(home, is_sending, now);
        self.total.end(is_sending);
        let Some(counts) = self.by_endpoint.get_mut(&endpoint) else { return };
        counts.end(is_sending);
        if counts.all() == 0 {
            self.by_endpoint.remove(&endpoint);
        }
    }
}

impl InFlight {
    /// `lease` is how long what is in memory is held at most.
    pub(crate) fn new(limit: usize, limit_per_endpoint: usize, lease: Duration) -> Arc<Self> {
        Self::with_clock(limit, limit_per_endpoint, lease, Instant::now)
    }

    /// One whose time is told by a clock that never goes back.
    pub(crate) fn with_clock(
        limit: usize,
        limit_per_endpoint: usize,
        lease: Duration,
        clock: impl Fn() -> Instant + Send + Sync + 'static,
    ) -> Arc<Self> {
        let state = Mutex::new(State::new(limit, limit_per_endpoint));
        Arc::new(Self { limit, limit_per_endpoint, lease, clock: Box::new(clock), state })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state_now().0
    }

    /// The state, and when that is.
    fn state_now(&self) -> (MutexGuard<'_, State>, Instant) {
        let mut state = self.state.lock();
        let now = (self.clock)();
        state.shares.listen(now);
        (state, now)
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
        self.room_besides(state, endpoint, &Planned::default())
    }

    fn room_besides(&self, state: &State, endpoint: Uuid, planned: &Planned) -> usize {
        let taken = state.counts(endpoint).all() + planned.of(endpoint);
        let of_endpoint = self.allowance(state, endpoint).saturating_sub(taken);
        let home = state.homes.get(&endpoint);
        home.map_or(of_endpoint, |home| state.shares.room(home, &planned.shares).min(of_endpoint))
    }

    fn most(&self) -> usize {
        self.limit * IN_ALL
    }

    fn free_of(&self, state: &State) -> usize {
        self.most().saturating_sub(state.total.all())
    }

    /// How many deliveries may be taken on, in all.
    pub(crate) fn free(&self) -> usize {
        self.free_of(&self.state())
    }

    /// How many may be taken on for an endpoint, of a lane, besides what is planned: of what is sent
    /// again never more than may be in flight, so that what is new finds room.
    pub(crate) fn free_for(&self, endpoint: Uuid, lane: Lane, planned: &Planned) -> usize {
        let state = self.state();
        let room = self.room_besides(&state, endpoint, planned);
        match lane {
            Lane::Replay => {
                let replay = self.room_for_replay(&state, endpoint);
                room.min(replay.saturating_sub(planned.of(endpoint)))
            }
            Lane::Ordinary | Lane::Test | Lane::Ordered => room,
        }
    }

    /// Plans to take so many on for an endpoint.
    pub(crate) fn plan(&self, endpoint: Uuid, count: usize, planned: &mut Planned) {
        *planned.by_endpoint.entry(endpoint).or_default() += count;
        let state = self.state();
        if let Some(home) = state.homes.get(&endpoint) {
            state.shares.plan(home, count, &mut planned.shares);
        }
    }

    /// Notes where an endpoint is.
    pub(crate) fn settle(&self, endpoint: Uuid, home: Home) {
        self.state().homes.insert(endpoint, home);
    }

    /// Those of the endpoints of which it isn't known where they are.
    pub(crate) fn unsettled(&self, endpoints: impl Iterator<Item = Uuid>) -> HashSet<Uuid> {
        let state = self.state();
        let is_known = |endpoint: &Uuid| state.homes.get(endpoint).is_some_and(Home::is_known);
        endpoints.filter(|endpoint| !is_known(endpoint)).collect()
    }

    fn room_for_replay(&self, state: &State, endpoint: Uuid) -> usize {
        self.places(state, endpoint).saturating_sub(state.counts(endpoint).all())
    }

    /// Takes a delivery on that was claimed.
    pub(crate) fn take(self: &Arc<Self>, endpoint: Uuid, home: Home) -> Ticket {
        let (mut state, now) = self.state_now();
        state.homes.insert(endpoint, home.clone());
        state.enter(endpoint, &home, now);
        Ticket::new(self, endpoint, home)
    }

    /// Takes a new delivery on that is about to be stored, unless others of its endpoint wait in
    /// the database, or will because there is no room.
    pub(crate) fn reserve(self: &Arc<Self>, endpoint: Uuid, organisation: Uuid) -> Option<Ticket> {
        let (mut state, now) = self.state_now();
        if !state.is_open() || state.backlog.new.contains(&endpoint) {
            return None;
        }
        let home = state.homes.entry(endpoint);
        let home = home.or_insert_with(|| Home::unknown(organisation)).clone();
        if self.free_of(&state) == 0 || self.room_for(&state, endpoint) == 0 {
            state.backlog.new.insert(endpoint);
            state.newly_behind.insert(endpoint);
            return None;
        }
        state.enter(endpoint, &home, now);
        Some(Ticket::new(self, endpoint, home))
    }

    /// Notes what the dispatcher does with what is new.
    pub(crate) fn set_intake(&self, intake: Intake) {
        self.state().intake = intake;
    }

    /// How much of what is new of an organisation, or of all, may be taken on; none while the dispatcher takes
    /// nothing. Endpoints that are slow or in trouble don't count: what is for them waits in the database.
    pub(crate) fn room(&self, organisation: Option<Uuid>) -> Option<Room> {
        let (state, now) = self.state_now();
        match state.intake {
            Intake::Closed => return None,
            Intake::Opening => return Some(Room { is_paused: true, ..Room::default() }),
            Intake::Open | Intake::Paused => {}
        }
        let free = self.free_of(&state);
        let in_all = organisation.map_or(free, |own| free.min(state.shares.left_of(own)));
        let mut room = Room {
            in_all,
            per_endpoint: in_all,
            eighths: 8,
            is_paused: state.intake == Intake::Paused,
            ..Room::default()
        };
        if state.health.is_empty() {
            // At first nothing is known of any endpoint.
            let (in_all, _) = state.shares.part(&Home::unknown(Uuid::nil()));
            room = Room { in_all, per_endpoint: self.limit_per_endpoint, ..room };
        }
        let (mut taken, mut quick, mut behind) = (0, 0, 0);
        let without_any =
            state.backlog.new.iter().filter(|one| !state.by_endpoint.contains_key(one));
        for endpoint in state.by_endpoint.keys().chain(without_any) {
            let home = state.homes.get(endpoint);
            let Some(is_known) = state.is_quick(*endpoint, home, now) else { continue };
            if is_known && !home.is_none_or(|home| state.shares.answers(home)) {
                continue;
            }
            let is_behind = state.backlog.new.contains(endpoint);
            if !is_known && is_behind {
                // What comes for it goes behind the rest, whatever its first answer is.
                continue;
            }
            let (most, counts) = (self.allowance(&state, *endpoint), state.counts(*endpoint));
            taken += counts.all();
            let is_theirs = |home: &Home| organisation.is_none_or(|own| own == home.organisation);
            if !home.is_none_or(is_theirs) {
                continue;
            }
            room.is_guess |= !is_known;
            quick += 1;
            behind += usize::from(is_behind);
            let own = if is_behind { 0 } else { most.saturating_sub(counts.all()) };
            room.per_endpoint = room.per_endpoint.min(own);
            room.eighths = room.eighths.min(own * 8 / most.max(1));
            // What others have taken of a part that it shares is gone for it too.
            if let Some((free, most)) = home.map(|home| state.shares.part(home)) {
                // What isn't known yet has a small part of its own: the others' events go beside it.
                if is_known {
                    room.in_all = room.in_all.min(free);
                }
                room.per_endpoint = room.per_endpoint.min(free);
                room.eighths = room.eighths.min(free * 8 / most.max(1));
            }
        }
        room.behind = (behind * 8usize).div_ceil(quick.max(1));
        // What slow endpoints have taken comes back no sooner for waiting.
        if taken * 2 > self.most() {
            room.eighths = room.eighths.min(in_all * 8 / self.most().max(1));
        }
        room.is_draining = taken * 2 > state.total.all();
        Some(room)
    }

    /// Whether a request to the endpoint may begin.
    pub(crate) fn may_send(&self, endpoint: Uuid) -> bool {
        self.may_send_in(&self.state(), endpoint)
    }

    fn may_send_in(&self, state: &State, endpoint: Uuid) -> bool {
        state.total.sending < self.limit
            && self.has_place_in(state, endpoint)
            && state.homes.get(&endpoint).is_none_or(|home| state.shares.may_send(home))
    }

    fn has_place_in(&self, state: &State, endpoint: Uuid) -> bool {
        state.counts(endpoint).sending < self.places(state, endpoint)
    }

    /// The first of these endpoints, by its place among them, whose turn it is; none when all places are taken, or
    /// these have none.
    pub(crate) fn next_turn<'a>(&self, endpoints: impl Iterator<Item = &'a Uuid>) -> Option<Next> {
        let (state, now) = self.state_now();
        if state.total.sending >= self.limit {
            return None;
        }
        // Many endpoints have one home, which is asked about once.
        let mut last = None;
        for (place, endpoint) in endpoints.enumerate() {
            let (may_send, is_too_much) = match (state.homes.get(endpoint), last) {
                (None, _) => (true, false),
                (Some(home), Some((known, verdict))) if known == home => verdict,
                (Some(home), _) => {
                    let shares = &state.shares;
                    let verdict = (shares.may_send(home), shares.is_too_much(home, now));
                    last = Some((home, verdict));
                    verdict
                }
            };
            if may_send && self.has_place_in(&state, *endpoint) {
                return Some(Next::Sends(place));
            }
            if is_too_much {
                return Some(Next::IsTooMuch(place));
            }
        }
        None
    }

    /// Whether an endpoint's origin answers, as far as it was asked.
    pub(crate) fn answers(&self, endpoint: Uuid) -> bool {
        let state = self.state();
        state.homes.get(&endpoint).is_none_or(|home| state.shares.answers(home))
    }

    /// Takes places for requests of an endpoint that are to begin as soon as their deliveries are
    /// claimed, since its pace counts them from then on: those that are free, up to a number.
    pub(crate) fn take_places(self: &Arc<Self>, endpoint: Uuid, most: usize) -> Vec<Ticket> {
        let mut tickets = Vec::new();
        while tickets.len() < most && self.may_send(endpoint) {
            let Some(home) = self.state().homes.get(&endpoint).cloned() else { break };
            let mut ticket = self.take(endpoint, home);
            ticket.send();
            tickets.push(ticket);
        }
        tickets
    }

    /// Turns an endpoint away: what was prepared for a version before this one is not sent.
    pub(crate) fn turn_away(&self, endpoint: Uuid, version: i64) {
        let (mut state, now) = self.state_now();
        // What was prepared so long ago is held no more.
        state.turned.retain(|_, (_, since)| now - *since <= self.lease);
        if version == i64::MAX {
            // It is deleted, and nobody asks for it again.
            state.homes.remove(&endpoint);
            state.health.remove(&endpoint);
        }
        let turned = state.turned.entry(endpoint).or_insert((version, now));
        *turned = (turned.0.max(version), now);
    }

    /// Whether what was prepared for a version of an endpoint may still be sent.
    pub(crate) fn is_current(&self, endpoint: Uuid, version: i64) -> bool {
        self.state().turned.get(&endpoint).is_none_or(|(oldest, _)| version >= *oldest)
    }

    /// Notes how an endpoint's last request went.
    pub(crate) fn note(&self, endpoint: Uuid, health: Health, took: Duration) {
        let (mut state, now) = self.state_now();
        state.health.insert(endpoint, health);
        if let Some(home) = state.homes.get(&endpoint).filter(|home| home.is_known()).cloned() {
            state.shares.note(&home, health, took, now);
        }
    }

    /// The dispatcher begins to look what is due.
    pub(crate) fn look_begins(&self) {
        self.state().newly_behind.clear();
    }

    /// The dispatcher has looked at all endpoints.
    pub(crate) fn look_ended(&self, backlog: Backlog) {
        let mut state = self.state();
        state.backlog = backlog;
        let newly = std::mem::take(&mut state.newly_behind);
        state.backlog.new.extend(newly);
    }

    /// Whether it is worth looking for more: an endpoint for which more is due has room again (one
    /// that is well, half of it; one with a pace, a place), or the last look was cut short and there
    /// is room in general.
    pub(crate) fn is_worth_a_look(&self, was_cut_short: bool) -> bool {
        let state = self.state();
        let has_room = |endpoint: &Uuid| {
            let home = state.homes.get(endpoint);
            let answers = home.is_none_or(|home| state.shares.answers(home));
            let enough = match state.health.get(endpoint) {
                Some(Health::Well(_)) if answers => self.allowance(&state, *endpoint) / 2,
                _ => 0,
            };
            self.room_for(&state, *endpoint) >= enough.max(1)
        };
        let may_replay = |endpoint: &Uuid| {
            let room = self.room_for_replay(&state, *endpoint);
            room * 2 >= self.places(&state, *endpoint) && self.room_for(&state, *endpoint) > 0
        };
        self.free_of(&state) * 4 >= self.most()
            && (was_cut_short
                || state.backlog.new.iter().any(has_room)
                || state.backlog.paced.iter().any(|endpoint| self.may_send_in(&state, *endpoint))
                || state.backlog.replayed.iter().any(may_replay))
    }
}

#[cfg(test)]
mod tests;
