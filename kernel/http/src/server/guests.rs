//! How many connections there are, and which of them have said nothing yet.
//!
//! The reader of a request's head has a timeout of its own, but begins only once it is known which
//! version of HTTP comes; so a connection that sends nothing, or not enough to tell, is ended here.
//!
//! | A new connection comes | and |
//! | --- | --- |
//! | there are fewer than the most | it stays |
//! | there are as many, and some have sent no request yet | the one that has been silent for longest goes, and it stays |
//! | there are as many, and all have sent one | it goes at once |
//!
//! So whoever opens sockets without end takes them from itself first.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

/// The open connections.
#[derive(Clone)]
pub(super) struct Guests(Arc<Inner>);

struct Inner {
    most: usize,
    all: Mutex<All>,
}

#[derive(Default)]
struct All {
    /// How many there are.
    count: usize,
    /// Those that were sent away, and are about to go.
    leaving: usize,
    /// Those that have sent no request, by the order in which they came.
    silent: BTreeMap<u64, CancellationToken>,
    next: u64,
    /// Whether the log knows that there are as many as there may be.
    is_told: bool,
}

/// An open connection.
pub(super) struct Guest {
    guests: Guests,
    number: u64,
    has_spoken: AtomicBool,
    sent_away: CancellationToken,
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
            let (_, longest) = all.silent.pop_first()?;
            longest.cancel();
            all.leaving += 1;
        }
        all.count += 1;
        let number = all.next;
        all.next += 1;
        let sent_away = CancellationToken::new();
        all.silent.insert(number, sent_away.clone());
        drop(all);
        let guests = self.clone();
        Some(Guest { guests, number, has_spoken: AtomicBool::new(false), sent_away })
    }

    fn all(&self) -> MutexGuard<'_, All> {
        self.0.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Guest {
    /// It has sent a request.
    pub(super) fn speaks(&self) {
        if !self.has_spoken.swap(true, Ordering::Relaxed) {
            self.guests.all().silent.remove(&self.number);
        }
    }

    /// Resolves when the connection has been silent for too long, or makes room for another.
    pub(super) async fn is_sent_away(&self, silence: Duration) {
        if tokio::time::timeout(silence, self.sent_away.cancelled()).await.is_err()
            && self.has_spoken.load(Ordering::Relaxed)
        {
            // It is no longer silent, so nobody sends it away.
            std::future::pending::<()>().await;
        }
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let mut all = self.guests.all();
        all.count -= 1;
        all.silent.remove(&self.number);
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

    const LONG: Duration = Duration::from_mins(1);

    #[tokio::test]
    async fn the_one_that_was_silent_for_longest_makes_room() {
        let guests = Guests::new(2);
        let first = guests.receive().unwrap();
        let second = guests.receive().unwrap();
        assert!(first.is_sent_away(LONG).now_or_never().is_none());
        let third = guests.receive().unwrap();
        assert!(first.is_sent_away(LONG).now_or_never().is_some());
        assert!(second.is_sent_away(LONG).now_or_never().is_none());
        second.speaks();
        third.speaks();
        // The first is still on its way out, and its place is taken already.
        assert!(guests.receive().is_none());
        drop(first);
        assert!(guests.receive().is_none());
        drop(second);
        assert!(guests.receive().is_some());
    }

    #[tokio::test]
    async fn who_never_speaks_is_sent_away_and_who_spoke_is_not() {
        let guests = Guests::new(2);
        let (silent, speaker) = (guests.receive().unwrap(), guests.receive().unwrap());
        speaker.speaks();
        silent.is_sent_away(Duration::from_millis(20)).await;
        let wait = speaker.is_sent_away(Duration::from_millis(20));
        assert!(tokio::time::timeout(Duration::from_millis(100), wait).await.is_err());
    }
}
