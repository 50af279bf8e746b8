//! Connections that wait for their next request.
//!
//! A connection is found by origin *and* address: whoever asks names the addresses that the host
//! has now, so that a connection to where the host was before is never found.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use super::connection::{Connection, Http1, Http2};
use super::identity::Fingerprint;

/// Time that a connection gets to finish writing a request that was answered early.
const SETTLE_TIME: Duration = Duration::from_secs(1);

/// The far end of a connection.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Peer {
    /// Scheme, host and port, for which the certificate was verified.
    pub(super) origin: Arc<str>,
    /// The address that the socket is connected to.
    pub(super) address: IpAddr,
    /// The certificate that was shown there, for which the other side takes us.
    pub(super) shown: Option<Fingerprint>,
}

pub(super) struct Pool {
    shelves: Mutex<Shelves>,
    idle_timeout: Duration,
    max_idle: usize,
}

#[derive(Default)]
struct Shelves {
    by_peer: HashMap<Peer, Waiting>,
    /// Connections on all shelves.
    count: usize,
    /// Whether the task that closes old connections runs.
    is_swept: bool,
}

/// The connections to one peer.
#[derive(Default)]
struct Waiting {
    /// HTTP/1.1, the most recently used last.
    idle: Vec<(Http1, Instant)>,
    /// HTTP/2, with the time of the last request.
    shared: Vec<(Http2, Instant)>,
}

impl Pool {
    pub(super) fn new(idle_timeout: Duration, max_idle: usize) -> Self {
        Self { shelves: Mutex::default(), idle_timeout, max_idle }
    }

    /// A connection to one of these addresses on which this certificate was shown, if one waits.
    pub(super) fn checkout(
        &self,
        origin: &Arc<str>,
        shown: Option<Fingerprint>,
        addresses: &[IpAddr],
    ) -> Option<(Peer, Connection)> {
        let now = Instant::now();
        let mut shelves = self.shelves.lock();
        for address in addresses {
            let peer = Peer { origin: Arc::clone(origin), address: *address, shown };
            if let Some(connection) = shelves.take(&peer, now, self.idle_timeout) {
                return Some((peer, connection));
            }
        }
        None
    }

    /// Keeps an HTTP/1.1 connection for the next request.
    ///
    /// The task that drives the connection may need one more turn after it delivered the end of
    /// the answer, and much longer when the receiver answered before it had read the request.
    pub(super) fn keep_when_ready(self: &Arc<Self>, peer: Peer, mut connection: Http1) {
        if connection.sender.is_ready() {
            self.keep(peer, connection);
            return;
        }
        if connection.sender.is_closed() {
            return;
        }
        let pool = Arc::clone(self);
        tokio::spawn(async move {
            let ready = tokio::time::timeout(SETTLE_TIME, connection.sender.ready()).await;
            if matches!(ready, Ok(Ok(()))) {
                pool.keep(peer, connection);
            }
        });
    }

    fn keep(self: &Arc<Self>, peer: Peer, connection: Http1) {
        self.shelve(peer, |waiting| waiting.idle.push((connection, Instant::now())));
    }

    /// Offers an HTTP/2 connection to further requests while its first one runs.
    pub(super) fn share(self: &Arc<Self>, peer: &Peer, connection: &Http2) {
        self.shelve(peer.clone(), |waiting| {
            waiting.shared.push((connection.clone(), Instant::now()));
        });
    }

    fn shelve(self: &Arc<Self>, peer: Peer, put: impl FnOnce(&mut Waiting)) {
        let mut shelves = self.shelves.lock();
        if shelves.count >= self.max_idle {
            return;
        }
        shelves.count += 1;
        put(shelves.by_peer.entry(peer).or_default());
        if !shelves.is_swept {
            shelves.is_swept = true;
            tokio::spawn(sweep(Arc::downgrade(self), self.idle_timeout));
        }
    }
}

impl Shelves {
    fn take(&mut self, peer: &Peer, now: Instant, idle_timeout: Duration) -> Option<Connection> {
        let waiting = self.by_peer.get_mut(peer)?;
        let before = waiting.shared.len();
        waiting.shared.retain(|(connection, _)| connection.is_usable());
        self.count -= before - waiting.shared.len();
        for (connection, last_used) in &mut waiting.shared {
            if let Some(lease) = connection.lease() {
                *last_used = now;
                return Some(Connection::Http2(lease));
            }
        }
        while let Some((connection, since)) = waiting.idle.pop() {
            self.count -= 1;
            if now.duration_since(since) < idle_timeout && connection.sender.is_ready() {
                return Some(Connection::Http1(connection));
            }
        }
        None
    }

    /// Closes what is old or dead and forgets empty shelves.
    fn sweep(&mut self, now: Instant, idle_timeout: Duration) {
        let is_recent = |time: Instant| now.duration_since(time) < idle_timeout;
        self.by_peer.retain(|_, waiting| {
            waiting
                .idle
                .retain(|(connection, since)| is_recent(*since) && !connection.sender.is_closed());
            waiting.shared.retain(|(connection, last_used)| {
                connection.is_usable() && (is_recent(*last_used) || !connection.is_idle())
            });
            !(waiting.idle.is_empty() && waiting.shared.is_empty())
        });
        self.count =
            self.by_peer.values().map(|waiting| waiting.idle.len() + waiting.shared.len()).sum();
    }
}

/// Closes old connections until none waits or the pool is gone.
async fn sweep(pool: Weak<Pool>, idle_timeout: Duration) {
    // Half the time keeps a connection at most half as long again as it should live.
    let period = (idle_timeout / 2).max(Duration::from_millis(10));
    loop {
        tokio::time::sleep(period).await;
        let Some(pool) = pool.upgrade() else { return };
        let mut shelves = pool.shelves.lock();
        shelves.sweep(Instant::now(), idle_timeout);
        if shelves.by_peer.is_empty() {
            shelves.is_swept = false;
            return;
        }
    }
}
