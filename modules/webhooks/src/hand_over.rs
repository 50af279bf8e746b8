//! The short way from the fan-out to the dispatcher of the same node.
//!
//! New deliveries whose endpoints have room are handed over in memory after the commit: nobody has
//! to look for them, claim them and read their messages back. Until its outcome is recorded such a
//! delivery has no row of its own; one row tells of all that were made in one unit of work
//! ([`crate::store::hand_overs`]).
//!
//! | Step | Transaction | A crash right after leaves |
//! | --- | --- | --- |
//! | the hand-over's row is stored with the messages | the fan-out's | nothing, before the commit |
//! | handed over, sent | none | the row; at its end what it tells of is queued (at the next start on SQLite) |
//! | a delivery's row is stored with its outcome, given back, or because it takes long | the recording | the rows so far, and the hand-over for the rest |
//! | the hand-over's row goes, when each delivery has one | the same | all that was recorded |
//!
//! What has no room, or wants order or a pace, is stored without a claim, and found by a look; so is what
//! an organisation with a limit of requests gets, or one whose bytes are spent.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use svc_core::{Clock, OrganisationId};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::time::Instant;
use uuid::Uuid;

use crate::in_flight::{InFlight, Intake, Room, Ticket};
use crate::message::Message;
use crate::store::claim::{Claim, Claimed};
use crate::store::insert::AT_ONCE;

/// Deliveries of one unit of work that were handed over to this node.
pub(crate) struct Handed {
    /// The claim's, and their row's.
    pub(crate) token: Uuid,
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

/// How long the fan-out waits for room at most.
const PATIENCE: Duration = Duration::from_millis(25);

/// The same where endpoints that answer quickly have more in the database: what is told meanwhile goes behind that, so
/// they wouldn't get away from it while events come.
const PATIENCE_BEHIND: Duration = Duration::from_millis(100);

/// The same where half of an organisation's are behind: few have something of a sooner event.
const PATIENCE_HALF_BEHIND: Duration = Duration::from_millis(500);

/// How long it doesn't wait any more after it waited in vain.
const HURRY: Duration = Duration::from_secs(2);

/// Organisations of which is known how their events fare; all are learnt anew when there are more.
const COURSES: usize = 4_096;

/// Where the fan-out leaves deliveries for the dispatcher.
pub(crate) struct HandOver {
    pub(crate) in_flight: Arc<InFlight>,
    lease: Duration,
    dispatcher: Mutex<Option<UnboundedSender<Handed>>>,
    /// How the events of organisations fare.
    courses: Mutex<HashMap<Option<OrganisationId>, Course>>,
    /// Organisations that may send no more bytes, as far as this node knows, and until when.
    spent: Mutex<HashMap<Uuid, i64>>,
}

/// How the events of an organisation fare.
#[derive(Default)]
struct Course {
    /// Deliveries that became of one lately; zero at first.
    spread: usize,
    /// Since when they wait for room.
    waits_since: Option<Instant>,
    /// Until when they don't wait.
    hurries_until: Option<Instant>,
}

impl Course {
    /// How many are told now, none while they wait.
    fn events(&mut self, room: &Room, now: Instant) -> usize {
        let is_ample = room.eighths >= 4 && (room.in_all >= self.spread || room.eighths == 8);
        if room.is_paused && !is_ample {
            // Nobody is slow, so nobody's patience ends.
            self.waits_since = Some(now);
            return 0;
        }
        let waited = now - *self.waits_since.get_or_insert(now);
        if self.hurries_until.is_some_and(|until| now < until) {
            return self.what_fits(room, waited);
        }
        // The first event tells how many deliveries become of one.
        let events = room.in_all.checked_div(self.spread);
        let events = events.map_or(1, |events| events.min(room.per_endpoint).max(1));
        let events = events.min(at_most(self.spread));
        if is_ample {
            return events;
        }
        let patience = match room.behind {
            0 => PATIENCE,
            1..4 => PATIENCE_BEHIND,
            _ => PATIENCE_HALF_BEHIND,
        };
        if waited < patience || room.is_guess {
            return 0;
        }
        if room.eighths > 0 {
            return events;
        }
        self.hurries_until = Some(now + HURRY);
        self.what_fits(room, waited)
    }

    /// How many find room, one where nobody knows yet what becomes of them. Where none does, none for the moment in which
    /// there is some, if it is quick endpoints that have it; if not, any number goes the long way, since nobody waits
    /// for those.
    fn what_fits(&self, room: &Room, waited: Duration) -> usize {
        match room.in_all.checked_div(self.spread) {
            None => 1,
            Some(0) if room.is_draining => usize::from(waited >= PATIENCE),
            Some(0) => at_most(self.spread),
            Some(events) => events.min(at_most(self.spread)),
        }
    }
}

impl HandOver {
    /// `lease` is how long a claim holds.
    pub(crate) fn new(in_flight: Arc<InFlight>, lease: Duration) -> Self {
        Self {
            in_flight,
            lease,
            dispatcher: Mutex::default(),
            courses: Mutex::default(),
            spent: Mutex::default(),
        }
    }

    fn dispatcher(&self) -> MutexGuard<'_, Option<UnboundedSender<Handed>>> {
        self.dispatcher.lock()
    }

    fn courses(&self) -> MutexGuard<'_, HashMap<Option<OrganisationId>, Course>> {
        let mut courses = self.courses.lock();
        if courses.len() >= COURSES {
            courses.clear();
        }
        courses
    }

    /// How many events of an organisation the fan-out should take at once; none for a moment while quick endpoints
    /// are still sent more than half of what there can be: what finds no room goes the long way
    /// through the queue, which costs more than twice as much. An endpoint that keeps no step gets
    /// its queue nevertheless, and then holds up nobody for a while, whose events find room.
    pub(crate) fn room(&self, organisation: Option<OrganisationId>) -> usize {
        self.room_at(organisation, Instant::now())
    }

    fn room_at(&self, organisation: Option<OrganisationId>, now: Instant) -> usize {
        let room = self.in_flight.room(organisation.map(|organisation| organisation.0));
        let mut courses = self.courses();
        let course = courses.entry(organisation).or_default();
        let events = room.map_or(at_most(course.spread), |room| course.events(&room, now));
        if events > 0 {
            course.waits_since = None;
        }
        events
    }

    /// Notes how many deliveries became of a number of events of an organisation. Events differ, so it falls
    /// slowly.
    pub(crate) fn note_spread(
        &self,
        organisation: Option<OrganisationId>,
        events: usize,
        deliveries: usize,
    ) {
        let mut courses = self.courses();
        let Course { spread, .. } = courses.entry(organisation).or_default();
        *spread = deliveries.div_ceil(events.max(1)).max(*spread - *spread / 4).max(1);
    }

    /// Notes organisations that may send no more bytes until a time.
    pub(crate) fn note_spent(&self, spent: impl IntoIterator<Item = (Uuid, i64)>) {
        self.spent.lock().extend(spent);
    }

    /// Whether an organisation may send no more bytes now, as far as this node knows.
    pub(crate) fn is_spent(&self, organisation: Uuid, now_us: i64) -> bool {
        let mut spent = self.spent.lock();
        let is_spent = spent.get(&organisation).is_some_and(|until| *until > now_us);
        if !is_spent {
            spent.remove(&organisation);
        }
        is_spent
    }

    /// A claim that begins now.
    pub(crate) fn claim(&self, clock: &Clock) -> Claim {
        Claim::begin(clock, self.lease)
    }

    /// The dispatcher is about to run: what it will be given waits in the outbox for that moment.
    pub(crate) fn prepare(&self) {
        self.in_flight.set_intake(Intake::Opening);
    }

    /// The dispatcher runs: what it gets from now on.
    pub(crate) fn open(&self) -> UnboundedReceiver<Handed> {
        let (sender, receiver) = mpsc::unbounded_channel();
        *self.dispatcher() = Some(sender);
        self.in_flight.set_intake(Intake::Open);
        receiver
    }

    /// The dispatcher takes nothing more.
    pub(crate) fn close(&self) {
        self.in_flight.set_intake(Intake::Closed);
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

/// How many events one unit of work tells that become so many deliveries each, however much room there is.
fn at_most(spread: usize) -> usize {
    AT_ONCE.checked_div(spread).map_or(usize::MAX, |events| events.max(1))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::in_flight::{Backlog, Health, Home};

    const QUICK: Uuid = Uuid::from_u128(1);
    const ORGANISATION: Option<OrganisationId> = Some(OrganisationId(QUICK));

    #[test]
    fn events_wait_for_room_and_not_for_long() {
        let mut now = Instant::now();
        let in_flight = InFlight::new(8, 4, Duration::from_secs(20));
        let way = HandOver::new(Arc::clone(&in_flight), Duration::from_secs(20));
        assert_eq!(way.room_at(ORGANISATION, now), usize::MAX, "nobody sends yet");
        let _dispatcher = way.open();
        assert_eq!(
            way.room_at(ORGANISATION, now),
            1,
            "the first tells how many deliveries become of one"
        );
        way.note_spread(ORGANISATION, 1, 2);
        let quick = Duration::from_millis(1);
        let home = |organisation| {
            let organisation = Uuid::from_u128(organisation);
            Home { origin: "https://one".into(), organisation }
        };
        in_flight.settle(QUICK, home(1));
        in_flight.note(QUICK, Health::of(true, false, quick), quick);
        assert_eq!(way.room_at(ORGANISATION, now), 24, "of 48 deliveries of one organisation");
        way.note_spread(ORGANISATION, 4, 4);
        assert_eq!(way.room_at(ORGANISATION, now), 24, "events differ");
        assert_eq!(way.room_at(None, now), 1, "what becomes of others' events is theirs to tell");

        let reserved = || in_flight.reserve(QUICK, QUICK);
        let mut tickets: Vec<Ticket> = (0..40).filter_map(|_| reserved()).collect();
        assert_eq!(way.room_at(ORGANISATION, now), 0, "less than half is left");
        now += PATIENCE;
        assert_eq!(way.room_at(ORGANISATION, now), 4, "what there is, after a moment");
        assert_eq!(way.room_at(ORGANISATION, now), 0);
        tickets.truncate(20);
        assert_eq!(way.room_at(ORGANISATION, now), 14, "what there is when enough has ended");

        in_flight.look_ended(Backlog { new: HashSet::from([QUICK]), ..Backlog::default() });
        assert_eq!(way.room_at(ORGANISATION, now), 0, "it has more in the database");
        now += PATIENCE_BEHIND;
        assert_eq!(way.room_at(ORGANISATION, now), 0);
        assert_eq!(
            way.room_at(Some(OrganisationId(Uuid::from_u128(2))), now),
            1,
            "others don't wait"
        );
        now += PATIENCE_HALF_BEHIND;
        assert_eq!(way.room_at(ORGANISATION, now), 14, "and doesn't get through with it");
        in_flight.look_ended(Backlog::default());
        assert_eq!(way.room_at(ORGANISATION, now), 14, "nobody waits for a while");
        tickets.extend((0..44).filter_map(|_| reserved()));
        assert_eq!(
            way.room_at(ORGANISATION, now),
            0,
            "a quick one has all, which is free in a moment"
        );
        now += PATIENCE;
        assert_eq!(way.room_at(ORGANISATION, now), 1);
        in_flight.note(QUICK, Health::of(false, false, quick), quick);
        let all = AT_ONCE / 2;
        assert_eq!(
            way.room(ORGANISATION),
            all,
            "what one unit of work tells at two for each event"
        );
    }

    #[test]
    fn nobodys_patience_ends_while_the_dispatcher_sends_nothing() {
        let mut now = Instant::now();
        let in_flight = InFlight::new(8, 4, Duration::from_secs(20));
        let way = HandOver::new(Arc::clone(&in_flight), Duration::from_secs(20));
        way.prepare();
        for _ in 0..2 {
            assert_eq!(way.room_at(ORGANISATION, now), 0, "it is about to begin");
            now += HURRY;
        }
        let _dispatcher = way.open();
        assert_eq!(way.room_at(ORGANISATION, now), 1, "as if they had come just now");

        let full = Room { in_all: 3, is_draining: true, ..Room::default() };
        let paused = Room { is_paused: true, ..full };
        let mut course = Course { spread: 4, ..Course::default() };
        for _ in 0..2 {
            now += HURRY;
            assert_eq!(course.events(&paused, now), 0);
        }
        assert_eq!(course.events(&full, now), 0, "patience begins with the pause's end");
        now += PATIENCE;
        assert_eq!(course.events(&full, now), 1);
        assert_eq!(course.events(&paused, now), 0, "in haste");
        let ample = Room { in_all: 48, per_endpoint: 48, eighths: 8, ..paused };
        assert_eq!(course.events(&ample, now), 12, "it takes what there is room for");
    }

    #[test]
    fn one_event_tells_of_an_organisation_that_hurries() {
        let room = Room { in_all: 64, is_draining: true, behind: 8, ..Room::default() };
        let mut course = Course::default();
        let mut now = Instant::now();
        assert_eq!(course.events(&room, now), 0);
        now += PATIENCE_HALF_BEHIND;
        assert_eq!(course.events(&room, now), 1, "nobody knows yet what becomes of them");
        assert_eq!(course.events(&room, now), 1, "in haste");
    }
}
