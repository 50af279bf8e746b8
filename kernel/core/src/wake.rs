use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

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

struct Inner {
    topics: Mutex<HashMap<&'static str, Wake>>,
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
        let mut topics = self.0.topics.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(topics.entry(topic).or_default())
    }

    /// Wakes whoever waits for `topic`, here and on other nodes.
    pub fn call(&self, topic: &'static str) {
        self.topic(topic).notify_one();
        // Nobody listens on a single node, which is no fault.
        let _ = self.0.called.send(topic);
    }

    /// Wakes whoever waits for `topic` in this process, where such a topic exists.
    pub fn call_local(&self, topic: &str) {
        let topics = self.0.topics.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(wake) = topics.get(topic) {
            wake.notify_one();
        }
    }

    /// Hears each topic that [`Wakes::call`] is called with.
    #[must_use]
    pub fn called(&self) -> broadcast::Receiver<&'static str> {
        self.0.called.subscribe()
    }
}
