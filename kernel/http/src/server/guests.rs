//! How many connections there are, and which of them are idle.
//!
//! | A new connection comes | and |
//! | --- | --- |
//! | there are fewer than the most | it stays |
//! | there are as many, and some have sent no request yet | the one of them that came first goes, and it stays |
//! | there are as many, and some have no request under way | the one that has been idle for longest goes, and it stays |
//! | there are as many, and all have one | it goes at once |
//!
//! So whoever opens sockets without end takes them from itself first.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use tokio_util::sync::CancellationToken;

/// The open connections.
#[derive(Clone)]
pub(super) struct Guests(Arc<Inner>);

struct Inner {
    most: usize,
    all: Mutex<All>,
}

/// When an idle connection makes room: those first that have sent no request.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Turn {
    has_asked: bool,
    since: u64,
}

#[derive(Default)]
struct All {
    /// How many there are.
    count: usize,
    /// Those that were sent away, and are about to go.
    leaving: usize,
    /// Those that have no request under way, in the order in which they make room.
    idle: BTreeMap<Turn, CancellationToken>,
    next: u64,
    /// Whether the log knows that there are as many as there may be.
    is_told: bool,
}

impl All {
    /// Notes an idle one.
    fn rests(&mut self, has_asked: bool, sent_away: &CancellationToken) -> Turn {
        let turn = Turn { has_asked, since: self.next };
        self.next += 1;
        self.idle.insert(turn, sent_away.clone());
        turn
    }
}

/// An open connection.
pub(super) struct Guest {
    guests: Guests,
    /// What it has under way; changed while all are locked.
    state: Mutex<State>,
    sent_away: CancellationToken,
}

/// What a connection has under way.
struct State {
    requests: usize,
    /// Its place among the idle ones, while it is one of them.
    turn: Turn,
}

impl Guests {
    pub(super) fn new(most: usize) -> Self {
        Self(Arc::new(Inner { most, all: Mutex::default() }))
    }

    /// Takes a new connection in; none where there is no room for it.
    pub(super) fn receive(&self) -> Option<Guest> {
        let mut all = self.all();
        let is_full = all.count - all.leaving >= self.0.most;
        if is_full && !std::mem::replace(&mut all.is_told, true) {
            let most = self.0.most;
            tracing::warn!(
                most,
                "there are as many connections as `Svc:Http:MaxConnections` lets in"
            );
        }
        if is_full {
            let (_, longest) = all.idle.pop_first()?;
            longest.cancel();
            all.leaving += 1;
        }
        all.count += 1;
        let sent_away = CancellationToken::new();
        let turn = all.rests(false, &sent_away);
        drop(all);
        let state = Mutex::new(State { requests: 0, turn });
        Some(Guest { guests: self.clone(), state, sent_away })
    }

    fn all(&self) -> MutexGuard<'_, All> {
        self.0.all.lock()
    }
}

impl Guest {
    /// A request of it begins.
    pub(super) fn begins(&self) {
        let mut all = self.guests.all();
        let mut state = self.state.lock();
        if state.requests == 0 {
            all.idle.remove(&state.turn);
        }
        state.requests += 1;
    }

    /// The answer to one was taken, or nobody takes it any more.
    pub(super) fn ends(&self) {
        let mut all = self.guests.all();
        let mut state = self.state.lock();
        state.requests -= 1;
        if state.requests == 0 && !self.sent_away.is_cancelled() {
            state.turn = all.rests(true, &self.sent_away);
        }
    }

    /// Resolves when the connection makes room for another.
    pub(super) async fn is_sent_away(&self) {
        self.sent_away.cancelled().await;
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let mut all = self.guests.all();
        all.count -= 1;
        all.idle.remove(&self.state.lock().turn);
        if self.sent_away.is_cancelled() {
            all.leaving -= 1;
        }
        if all.count - all.leaving < self.guests.0.most {
            all.is_told = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    fn is_sent_away(guest: &Guest) -> bool {
        guest.is_sent_away().now_or_never().is_some()
    }

    #[test]
    fn the_one_that_was_idle_for_longest_makes_room() {
        let guests = Guests::new(2);
        let first = guests.receive().unwrap();
        let second = guests.receive().unwrap();
        assert!(!is_sent_away(&first));
        let third = guests.receive().unwrap();
        assert!(is_sent_away(&first) && !is_sent_away(&second));
        second.begins();
        third.begins();
        // The first is still on its way out, and its place is taken already.
        assert!(guests.receive().is_none());
        drop(first);
        assert!(guests.receive().is_none());
        third.begins();
        third.ends();
        assert!(guests.receive().is_none(), "another request of it is under way");
        third.ends();
        second.ends();
        let fourth = guests.receive().unwrap();
        assert!(is_sent_away(&third) && !is_sent_away(&second), "the second is idle since then");
        drop(third);
        let fifth = guests.receive().unwrap();
        assert!(is_sent_away(&fourth) && !is_sent_away(&second), "the fourth has asked nothing");
        drop((second, fourth, fifth));
        assert!(guests.receive().is_some());
        assert_eq!(guests.all().count, 0);
    }
}
