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
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use svc_core::{Clock, OrganisationId};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::time::Instant;
use uuid::Uuid;

use crate::in_flight::{InFlight, Ticket};
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

/// How long it doesn't wait any more after it waited in vain.
const HURRY: Duration = Duration::from_secs(2);

/// Organisations whose spread is remembered; all are learnt anew when there are more.
const SPREADS: usize = 4_096;

/// How often it looks whether there is room.
const LOOK: Duration = Duration::from_millis(2);

/// Where the fan-out leaves deliveries for the dispatcher.
pub(crate) struct HandOver {
    pub(crate) in_flight: Arc<InFlight>,
    lease: Duration,
    dispatcher: Mutex<Option<UnboundedSender<Handed>>>,
    /// Deliveries that became of an event lately, by organisation.
    spreads: Mutex<HashMap<Option<OrganisationId>, usize>>,
    /// Until when the fan-out doesn't wait.
    hurry: Mutex<Option<Instant>>,
    /// Organisations that may send no more bytes, as far as this node knows, and until when.
    spent: Mutex<HashMap<Uuid, i64>>,
}

impl HandOver {
    /// `lease` is how long a claim holds.
    pub(crate) fn new(in_flight: Arc<InFlight>, lease: Duration) -> Self {
        Self {
            in_flight,
            lease,
            dispatcher: Mutex::default(),
            spreads: Mutex::default(),
            hurry: Mutex::default(),
            spent: Mutex::default(),
        }
    }

    fn dispatcher(&self) -> MutexGuard<'_, Option<UnboundedSender<Handed>>> {
        self.dispatcher.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn spreads(&self) -> MutexGuard<'_, HashMap<Option<OrganisationId>, usize>> {
        self.spreads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Deliveries that became of an event of an organisation lately; zero at first.
    fn spread(&self, organisation: Option<OrganisationId>) -> usize {
        self.spreads().get(&organisation).copied().unwrap_or_default()
    }

    /// How many events of an organisation the fan-out should take at once. It waits for a moment while quick endpoints
    /// are still sent more than half of what there can be: what finds no room goes the long way
    /// through the queue, which costs more than twice as much. An endpoint that keeps no step gets
    /// its queue nevertheless, and then holds up nobody for a while, whose events find room.
    pub(crate) async fn room(&self, organisation: Option<OrganisationId>) -> usize {
        let began = Instant::now();
        let spread = self.spread(organisation);
        let hurry = || self.hurry.lock().unwrap_or_else(PoisonError::into_inner);
        if hurry().is_some_and(|until| began < until) {
            return self.what_fits(began, spread).await;
        }
        while let Some(room) = self.in_flight.room() {
            let is_over = began.elapsed() >= PATIENCE && !room.is_guess;
            // The first event tells how many deliveries become of one.
            let has_half = room.eighths >= 4 && (room.in_all >= spread || room.eighths == 8);
            if has_half || is_over && room.eighths > 0 {
                let events = room.in_all.checked_div(spread);
                let events = events.map_or(1, |events| events.min(room.per_endpoint).max(1));
                return events.min(at_most(spread));
            }
            if is_over {
                *hurry() = Some(Instant::now() + HURRY);
                break;
            }
            tokio::time::sleep(LOOK).await;
        }
        self.what_fits(began, spread).await
    }

    /// How many events find room now; one, where nobody knows yet what becomes of them. Where none does it
    /// waits for the moment in which there is some, if it is quick endpoints that have it; if not, any
    /// number goes the long way, since nobody waits for those.
    async fn what_fits(&self, began: Instant, spread: usize) -> usize {
        while let Some(room) = self.in_flight.room() {
            match room.in_all.checked_div(spread) {
                Some(0) if room.is_draining && began.elapsed() < PATIENCE => {
                    tokio::time::sleep(LOOK).await;
                }
                Some(0) if room.is_draining => return 1,
                Some(0) => break,
                None => return 1,
                Some(events) => return events.min(at_most(spread)),
            }
        }
        at_most(spread)
    }

    /// Notes how many deliveries became of a number of events of an organisation. Events differ, so it falls
    /// slowly.
    pub(crate) fn note_spread(
        &self,
        organisation: Option<OrganisationId>,
        events: usize,
        deliveries: usize,
    ) {
        let mut spreads = self.spreads();
        if spreads.len() >= SPREADS && !spreads.contains_key(&organisation) {
            spreads.clear();
        }
        let spread = spreads.entry(organisation).or_default();
        *spread = deliveries.div_ceil(events.max(1)).max(*spread - *spread / 4).max(1);
    }

    /// Notes organisations that may send no more bytes until a time.
    pub(crate) fn note_spent(&self, spent: impl IntoIterator<Item = (Uuid, i64)>) {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner).extend(spent);
    }

    /// Whether an organisation may send no more bytes now, as far as this node knows.
    pub(crate) fn is_spent(&self, organisation: Uuid, now_us: i64) -> bool {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
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

    #[tokio::test]
    async fn the_fan_out_waits_for_room_and_not_for_long() {
        let in_flight = InFlight::new(8, 4, Duration::from_secs(20));
        let way = HandOver::new(Arc::clone(&in_flight), Duration::from_secs(20));
        assert_eq!(way.room(ORGANISATION).await, usize::MAX, "nobody sends yet");
        let _dispatcher = way.open();
        assert_eq!(
            way.room(ORGANISATION).await,
            1,
            "the first event tells how many deliveries become of one"
        );
        way.note_spread(ORGANISATION, 1, 2);
        let quick = Duration::from_millis(1);
        let home = |organisation| {
            let organisation = Uuid::from_u128(organisation);
            Home { origin: "https://one".into(), organisation }
        };
        in_flight.settle(QUICK, home(1));
        in_flight.note(QUICK, Health::of(true, false, quick), quick);
        assert_eq!(way.room(ORGANISATION).await, 32, "of 64 deliveries in all");
        way.note_spread(ORGANISATION, 4, 4);
        assert_eq!(way.room(ORGANISATION).await, 32, "events differ");
        assert_eq!(way.room(None).await, 1, "what becomes of others' events is theirs to tell");

        let mut tickets: Vec<Ticket> =
            (0..40).filter_map(|_| in_flight.reserve(QUICK, Uuid::from_u128(1))).collect();
        assert_eq!(way.room(ORGANISATION).await, 4, "what there is, after a moment");
        let waits = way.room(ORGANISATION);
        let ends = async {
            tokio::task::yield_now().await;
            tickets.truncate(20);
        };
        assert_eq!(tokio::join!(waits, ends).0, 14, "what there is when enough has ended");

        // It has more in the database, and doesn't get through with it.
        in_flight.look_ended(Backlog { new: HashSet::from([QUICK]), ..Backlog::default() });
        assert_eq!(way.room(ORGANISATION).await, 14, "the others' events still find room");
        in_flight.look_ended(Backlog::default());
        assert_eq!(way.room(ORGANISATION).await, 14, "nobody waits for a while");
        assert_eq!(way.room(None).await, 1, "the first event tells in haste, too");
        tickets.extend((0..44).filter_map(|_| in_flight.reserve(QUICK, Uuid::from_u128(1))));
        let other = Home { origin: "https://other".into(), ..home(2) };
        tickets.extend((0..16).map(|_| in_flight.take(Uuid::from_u128(2), other.clone())));
        assert_eq!(
            way.room(ORGANISATION).await,
            1,
            "a quick one has all, which is free again in a moment"
        );
        in_flight.note(QUICK, Health::of(false, false, quick), quick);
        let all = AT_ONCE / 2;
        assert_eq!(
            way.room(ORGANISATION).await,
            all,
            "what one unit of work tells at two for each event"
        );
    }
}
