//! What one node knows of what happened, and its worker `live`.
//!
//! The worker reads what is new once for all streams of the node, and keeps the last of it. A stream that is behind what is
//! kept reads the table itself; one that is behind the table has missed something.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::{Mutex, MutexGuard};
use svc_core::{App, OrganisationId, Result, UserId, WeakApp, Worker, micros};
use svc_database::Database;
use svc_jobs::PROGRESS_TOPIC;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::errors::TOO_MANY_STREAMS;
use crate::log::{self, Entry, WAKE_TOPIC};
use crate::settings::LiveSettings;
use crate::topics::Declared;

/// How long a wake-up that was lost may keep the worker waiting.
const POLL: Duration = Duration::from_secs(5);

/// How often the table is cleaned.
const CLEAN_EVERY: Duration = Duration::from_mins(1);

/// The most that is read at once.
const BATCH: usize = 256;

/// The most events that are kept in memory.
const MOST_ENTRIES: usize = 2_048;

/// The most bytes of them.
const MOST_BYTES: usize = 8 << 20;

/// The live part of a node; a service of the [`App`].
pub(crate) struct Live {
    app: WeakApp,
    database: Database,
    pub(crate) settings: Arc<LiveSettings>,
    pub(crate) declared: Declared,
    recent: Mutex<Recent>,
    /// Held by who reads what is new, so that nothing is kept twice.
    reading: tokio::sync::Mutex<()>,
    /// The number of the last event that this node has read.
    newest: watch::Sender<i64>,
    /// Counts the times that jobs changed.
    jobs: watch::Sender<u64>,
    streams: Mutex<HashMap<Person, u32>>,
}

type Person = (UserId, OrganisationId);

/// The last events, without a gap.
#[derive(Default)]
struct Recent {
    entries: VecDeque<Arc<Entry>>,
    bytes: usize,
    /// The number behind which nothing is missing in `entries`.
    from: i64,
}

/// What there is behind a number.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) entries: Vec<Arc<Entry>>,
    /// All up to this number has been looked at.
    pub(crate) upto: i64,
    /// Whether something between is not known any more.
    pub(crate) has_gap: bool,
}

impl Live {
    pub(crate) async fn new(app: &App, declared: Declared) -> Result<Self> {
        let database = Database::clone(&*app.service::<Database>()?).essential();
        let newest = log::newest(&database).await?;
        Ok(Self {
            app: app.downgrade(),
            settings: app.settings::<LiveSettings>(),
            declared,
            recent: Mutex::new(Recent { from: newest, ..Recent::default() }),
            reading: tokio::sync::Mutex::default(),
            newest: watch::Sender::new(newest),
            jobs: watch::Sender::new(0),
            streams: Mutex::default(),
            database,
        })
    }

    /// Changes when something happened.
    pub(crate) fn newest(&self) -> watch::Receiver<i64> {
        self.newest.subscribe()
    }

    /// Changes when jobs may stand elsewhere.
    pub(crate) fn jobs(&self) -> watch::Receiver<u64> {
        self.jobs.subscribe()
    }

    /// What happened behind a number, as far as this node has read, at most [`BATCH`] of it.
    pub(crate) async fn after(&self, position: i64) -> Result<Batch> {
        let newest = *self.newest.borrow();
        if position >= newest {
            return Ok(Batch { entries: Vec::new(), upto: position, has_gap: false });
        }
        if let Some(entries) = self.recent().after(position) {
            let upto = entries.last().map_or(newest, |entry| entry.position);
            return Ok(Batch { entries, upto, has_gap: false });
        }
        let entries = log::after(&self.database, position, BATCH).await?;
        let first = entries.first().map_or(newest + 1, |entry| entry.position);
        let upto = entries.last().map_or(newest, |entry| entry.position);
        Ok(Batch { entries, upto, has_gap: first > position + 1 })
    }

    /// Reads up to an event that a client heard of on another node, where this one hasn't come to it yet.
    pub(crate) async fn catch_up(&self, position: i64) -> Result<()> {
        if position > *self.newest.borrow() {
            self.read_new().await?;
        }
        Ok(())
    }

    /// Reads what is new; says how much that was.
    async fn read_new(&self) -> Result<usize> {
        let _reading = self.reading.lock().await;
        let mut read = 0;
        loop {
            let newest = *self.newest.borrow();
            let entries = log::after(&self.database, newest, BATCH).await?;
            let Some(last) = entries.last().map(|entry| entry.position) else { return Ok(read) };
            read += entries.len();
            self.recent().add(entries);
            self.newest.send_replace(last);
        }
    }

    async fn clean(&self) -> Result<()> {
        let app = self.app.get()?;
        let kept_us = micros::of_span(self.settings.retention);
        log::forget(&self.database, app.clock().now_us().saturating_sub(kept_us)).await?;
        Ok(())
    }

    /// Takes a place for a stream of a person.
    ///
    /// # Errors
    ///
    /// [`TOO_MANY_STREAMS`].
    pub(crate) fn enter(self: &Arc<Self>, person: Person) -> Result<Place> {
        let most = self.settings.person_streams;
        let mut streams = self.streams();
        let open = streams.entry(person).or_default();
        if *open >= most {
            let message = format!(
                "{most} streams of yours are open already (`Svc:Live:PersonStreams`); close one, or hear of several topics \
                 with one"
            );
            return Err(TOO_MANY_STREAMS.error(message).with("most", most));
        }
        *open += 1;
        Ok(Place { live: Arc::clone(self), person })
    }

    fn recent(&self) -> MutexGuard<'_, Recent> {
        self.recent.lock()
    }

    fn streams(&self) -> MutexGuard<'_, HashMap<Person, u32>> {
        self.streams.lock()
    }
}

impl Recent {
    fn add(&mut self, entries: Vec<Arc<Entry>>) {
        self.bytes += entries.iter().map(|entry| entry.bytes).sum::<usize>();
        self.entries.extend(entries);
        while self.entries.len() > MOST_ENTRIES || self.bytes > MOST_BYTES {
            let Some(gone) = self.entries.pop_front() else { break };
            self.bytes -= gone.bytes;
            self.from = gone.position;
        }
    }

    /// None where not all behind the number is kept.
    fn after(&self, position: i64) -> Option<Vec<Arc<Entry>>> {
        if position < self.from {
            return None;
        }
        let first = self.entries.partition_point(|entry| entry.position <= position);
        Some(self.entries.range(first..).take(BATCH).cloned().collect())
    }
}

/// A stream's place among those of its person.
pub(crate) struct Place {
    live: Arc<Live>,
    person: Person,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut streams = self.live.streams();
        if let Some(open) = streams.get_mut(&self.person) {
            *open -= 1;
            if *open == 0 {
                streams.remove(&self.person);
            }
        }
    }
}

/// Reads what is new for the streams of this node, and cleans up.
pub(crate) struct LiveWorker(pub(crate) Arc<Live>);

#[async_trait]
impl Worker for LiveWorker {
    fn name(&self) -> &'static str {
        "live"
    }

    async fn run(&self, stop: CancellationToken) -> Result<()> {
        let (happened, progressed) = {
            let app = self.0.app.get()?;
            (app.wakes().topic(WAKE_TOPIC), app.wakes().topic(PROGRESS_TOPIC))
        };
        let mut clean_at = Instant::now() + CLEAN_EVERY;
        loop {
            self.0.read_new().await?;
            if clean_at <= Instant::now() {
                self.0.clean().await?;
                clean_at = Instant::now() + CLEAN_EVERY;
            }
            tokio::select! {
                () = stop.cancelled() => return Ok(()),
                () = happened.notified() => {}
                () = progressed.notified() => self.0.jobs.send_modify(|count| *count += 1),
                () = tokio::time::sleep(POLL) => {}
            }
        }
    }

    async fn drain(&self) -> Result<usize> {
        self.0.clean().await?;
        self.0.jobs.send_modify(|count| *count += 1);
        self.0.read_new().await
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::log::Happening;
    use crate::tell::LiveTold;

    fn entry(position: i64, bytes: usize) -> Arc<Entry> {
        let told = LiveTold { topic: "t".to_owned(), key: String::new(), data: Value::Null };
        Arc::new(Entry { position, organisation: None, happening: Happening::Told(told), bytes })
    }

    #[test]
    fn what_is_kept_is_bounded_and_without_a_gap() {
        let mut recent = Recent::default();
        recent.add((1..=3_000).map(|position| entry(position, 10)).collect());
        assert_eq!((recent.entries.len(), recent.bytes, recent.from), (2_048, 20_480, 952));
        assert!(recent.after(951).is_none());
        let first: Vec<i64> =
            recent.after(952).unwrap_or_default().iter().map(|e| e.position).collect();
        assert_eq!((first.len(), first[0]), (BATCH, 953));
        assert!(recent.after(3_000).is_some_and(|none| none.is_empty()));
        recent.add(vec![entry(3_001, MOST_BYTES + 1)]);
        assert_eq!((recent.entries.len(), recent.bytes, recent.from), (0, 0, 3_001));
    }
}
