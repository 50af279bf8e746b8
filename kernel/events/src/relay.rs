//! The worker `relay`: carries wake-ups between the nodes that share a PostgreSQL database.
//!
//! Each node listens on one channel and tells the others there which topics were called on it.
//! A notification is `<node> <topic>`; a node passes over its own. A node that was not connected
//! wakes all its topics when it is; what is called before the worker runs, or while it begins anew, is
//! told when it does. What is lost on the way is found by slow polls.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use async_trait::async_trait;
use sqlx::postgres::{PgListener, PgPool, PgPoolOptions};
use svc_core::{App, Result, WeakApp, Worker, random_token};
use svc_database::sqlx_error;
use tokio::sync::Mutex;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// PostgreSQL's channel for wake-ups.
const CHANNEL: &str = "svc_wake";

/// The shortest time between two notifications of one topic by one node.
const PAUSE: Duration = Duration::from_millis(20);

/// Carries wake-ups between nodes.
pub(crate) struct Relay {
    app: WeakApp,
    pool: PgPool,
    node: String,
    /// Hears what is called from the first moment on: a change that comes before the worker runs is
    /// told, too.
    called: Mutex<Receiver<&'static str>>,
}

impl Relay {
    pub(crate) fn new(app: &App, pool: PgPool) -> Self {
        let called = Mutex::new(app.wakes().called());
        Self { app: app.downgrade(), pool, node: random_token::<9>(), called }
    }

    /// Wakes this node's workers for what other nodes tell.
    async fn listen(&self, app: &App) -> Result<()> {
        // A connection of its own: it is held for as long as the node runs, and must not be
        // missing among those that serve requests.
        let options = self.pool.connect_options().as_ref().clone();
        let pool = PgPoolOptions::new().max_connections(1).connect_lazy_with(options);
        let mut listener = PgListener::connect_with(&pool).await.map_err(sqlx_error)?;
        listener.listen(CHANNEL).await.map_err(sqlx_error)?;
        loop {
            // What was told while this node didn't listen is unknown.
            app.wakes().known().into_iter().for_each(|topic| app.wakes().call_local(topic));
            while let Some(notification) = listener.try_recv().await.map_err(sqlx_error)? {
                self.hear(app, notification.payload());
            }
            tracing::info!("listening for wake-ups again after the connection was lost");
        }
    }

    fn hear(&self, app: &App, payload: &str) {
        match payload.split_once(' ') {
            Some((node, topic)) if node != self.node => app.wakes().call_local(topic),
            // Our own, or not one of ours at all.
            _ => {}
        }
    }

    /// Tells other nodes which topics are called on this one.
    async fn tell(&self, app: &App) -> Result<()> {
        let mut called = self.called.lock().await;
        let mut pauses = Pauses::default();
        loop {
            let flush_at = pauses.next();
            tokio::select! {
                topic = called.recv() => match topic {
                    Ok(topic) => pauses.call(topic),
                    // Some were missed in a rush, so all may have been called.
                    Err(RecvError::Lagged(_)) => {
                        app.wakes().known().into_iter().for_each(|topic| pauses.call(topic));
                    }
                    // The application is gone, and with it whoever could call.
                    Err(RecvError::Closed) => return Ok(()),
                },
                () = sleep_until(flush_at) => {}
            }
            for topic in pauses.due(Instant::now()) {
                let payload = format!("{} {topic}", self.node);
                sqlx::query("SELECT pg_notify($1, $2)")
                    .bind(CHANNEL)
                    .bind(payload)
                    .execute(&self.pool)
                    .await
                    .map_err(sqlx_error)?;
            }
        }
    }
}

#[async_trait]
impl Worker for Relay {
    fn name(&self) -> &'static str {
        "relay"
    }

    async fn run(&self, stop: CancellationToken) -> Result<()> {
        let app = self.app.get()?;
        tokio::select! {
            () = stop.cancelled() => Ok(()),
            outcome = self.listen(&app) => outcome,
            outcome = self.tell(&app) => outcome,
        }
    }
}

async fn sleep_until(time: Option<Instant>) {
    match time {
        Some(time) => tokio::time::sleep_until(time).await,
        None => std::future::pending().await,
    }
}

/// Lets each topic through at once, and then not again before a pause has passed.
#[derive(Default)]
struct Pauses {
    waiting: BTreeSet<&'static str>,
    free_at: BTreeMap<&'static str, Instant>,
}

impl Pauses {
    fn call(&mut self, topic: &'static str) {
        self.waiting.insert(topic);
    }

    /// When the first waiting topic may go; none when none waits.
    fn next(&self) -> Option<Instant> {
        let free_at = |topic| self.free_at.get(topic).copied();
        self.waiting.iter().map(|topic| free_at(topic).unwrap_or_else(Instant::now)).min()
    }

    /// Takes the topics that may go now.
    fn due(&mut self, now: Instant) -> BTreeSet<&'static str> {
        let free_at = &self.free_at;
        let is_free = |topic: &&str| free_at.get(topic).is_none_or(|time| *time <= now);
        let (due, waiting) = std::mem::take(&mut self.waiting).into_iter().partition(is_free);
        self.waiting = waiting;
        let due: BTreeSet<&str> = due;
        self.free_at.extend(due.iter().map(|&topic| (topic, now + PAUSE)));
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_goes_at_once_and_then_after_a_pause() {
        let start = Instant::now();
        let mut pauses = Pauses::default();
        pauses.call("outbox");
        assert_eq!(pauses.due(start).len(), 1);
        for _ in 0..100 {
            pauses.call("outbox");
        }
        pauses.call("jobs");
        let due = pauses.due(start + PAUSE / 2);
        assert_eq!(due.into_iter().collect::<Vec<_>>(), ["jobs"]);
        assert_eq!(pauses.next(), Some(start + PAUSE));
        assert_eq!(pauses.due(start + PAUSE).len(), 1);
        assert_eq!(pauses.next(), None);
    }
}
