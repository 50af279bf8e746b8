use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{Notify, broadcast};

/// A wake-up that a waiting worker is called by; several calls before it looks count as one.
pub type Wake = Arc<Notify>;

/// The wake-ups of an application by topic (`outbox`, `jobs`, …).
///
/// A wake-up only says "look now": a worker that missed one finds the work at its next slow poll.
/// [`Wakes::call`] wakes workers of this process and tells [`Wakes::called`], through which the
/// database part passes the topic on to other nodes; [`Wakes::call_local`] is for topics that
/// came from another node.
#[derive(Clone)]
pub struct Wakes(Arc<Inner>);

/// Counts the calls of a topic, here and on other nodes; see [`Wakes::count`].
#[derive(Clone, Debug, Default)]
pub struct WakeCount(Arc<AtomicU64>);

impl WakeCount {
    /// How often the topic was called. It never stands still over a call, and means nothing else.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}

#[derive(Default)]
struct Topic {
    wake: Wake,
    count: WakeCount,
}

impl Topic {
    fn call(&self) {
        self.count.0.fetch_add(1, Ordering::AcqRel);
        self.wake.notify_one();
    }
}

struct Inner {
    topics: Mutex<HashMap<&'static str, Topic>>,
    called: broadcast::Sender<&'static str>,
}

impl Default for Wakes {
    fn default() -> Self {
        Self(Arc::new(Inner { topics: Mutex::default(), called: broadcast::Sender::new(64) }))
    }
}

impl Wakes {
    /// The wake-up of a topic; the first to ask for it makes it.
    #[must_use]
    pub fn topic(&self, topic: &'static str) -> Wake {
        Arc::clone(&self.topics().entry(topic).or_default().wake)
    }

    /// The count of a topic's calls, for any number of places that look at it when they are
    /// asked, such as a [`Cache`](crate::Cache).
    #[must_use]
    pub fn count(&self, topic: &'static str) -> WakeCount {
        self.topics().entry(topic).or_default().count.clone()
    }

    /// Wakes whoever waits for `topic`, here and on other nodes.
    pub fn call(&self, topic: &'static str) {
        self.topics().entry(topic).or_default().call();
        // Nobody listens on a single node, which is no fault.
        let _ = self.0.called.send(topic);
    }

    /// The topics that somebody in this process asked for or called, in no order.
    #[must_use]
    pub fn known(&self) -> Vec<&'static str> {
        self.topics().keys().copied().collect()
    }

    /// Wakes whoever waits for `topic` in this process, where such a topic exists.
    pub fn call_local(&self, topic: &str) {
        if let Some(topic) = self.topics().get(topic) {
            topic.call();
        }
    }

    fn topics(&self) -> MutexGuard<'_, HashMap<&'static str, Topic>> {
        self.0.topics.lock()
    }

    /// Hears each topic that [`Wakes::call`] is called with.
    #[must_use]
    pub fn called(&self) -> broadcast::Receiver<&'static str> {
        self.0.called.subscribe()
    }
}
