//! What ends a statement on SQLite, which neither knows a limit of time nor hears that nobody waits for it any more.
//!
//! SQLite asks a handler now and then, while a statement runs, whether it may go on. Each connection has a [`Watch`]
//! that answers:
//!
//! | A statement | is ended |
//! | --- | --- |
//! | that takes longer than `Svc:Database:StatementTimeout` | once it was asked for that long: the watch isn't told when a statement begins, so it takes the time when it is first asked, and forgets it when the statement is over |
//! | of a request that has kept SQLite's one writer for `Svc:Database:WriteTurn` | when it is asked next |
//! | that nobody waits for any more | when it is asked next |
//!
//! A statement that changes something and is ended takes the whole transaction with it. What is
//! written behind it would be stored at once, and nobody could undo it, so a unit of work asks
//! [`Watch::check`] before each statement. Such a connection is closed at its end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use sqlx::sqlite::{SqliteConnection, SqlitePoolOptions};
use svc_core::Result;

use crate::error::{kept_the_writer, took_too_long};

/// How many instructions SQLite runs between two questions: a millisecond of work, or a few.
const INSTRUCTIONS: i32 = 100_000;

/// Makes the watches of a pool's connections.
#[derive(Clone, Debug)]
pub(crate) struct Watches {
    /// Zero is no limit.
    limit: Duration,
    /// How many take the time of a statement at the moment.
    counting: Arc<AtomicUsize>,
}

impl Watches {
    pub(crate) fn new(limit: Duration) -> Self {
        Self { limit, counting: Arc::default() }
    }

    /// A watch for one connection.
    pub(crate) fn one(&self) -> Arc<Watch> {
        let mut watch = Watch::default();
        watch.limit = self.limit;
        watch.counting = Arc::clone(&self.counting);
        Arc::new(watch)
    }

    /// Watches the connections of a pool, also for those who take one from it and tell nobody when a
    /// statement is over: it has another watch then.
    ///
    /// Most statements are over before they are asked. Only while some were asked are watches
    /// replaced, since that takes a round trip to the connection's thread.
    pub(crate) fn apply(&self, options: SqlitePoolOptions) -> SqlitePoolOptions {
        let (opened, taken) = (self.clone(), self.clone());
        options
            .after_connect(move |connection, _| {
                let watch = opened.one();
                Box::pin(async move { watch.begin(connection).await })
            })
            .before_acquire(move |connection, _| {
                let is_any_counting = taken.counting.load(Ordering::Relaxed) > 0;
                let watch = is_any_counting.then(|| taken.one());
                Box::pin(async move {
                    if let Some(watch) = watch {
                        watch.begin(connection).await?;
                    }
                    Ok(true)
                })
            })
    }
}

/// Ends statements on one connection of SQLite.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// Zero is no limit.
    limit: Duration,
    begun: Mutex<Option<Instant>>,
    /// How many watches of the pool have begun.
    counting: Arc<AtomicUsize>,
    /// Whether nobody waits for what runs.
    is_abandoned: AtomicBool,
    /// Whether a statement was ended since the connection was taken.
    has_ended_one: AtomicBool,
    /// Whether what runs until the connection is given back may take as long as it likes.
    is_lifted: AtomicBool,
    /// When others are to have the connection.
    turn_ends: Mutex<Option<Instant>>,
}

impl Watch {
    /// Watches a connection from now on.
    pub(crate) async fn begin(
        self: &Arc<Self>,
        connection: &mut SqliteConnection,
    ) -> sqlx::Result<()> {
        let watch = Arc::clone(self);
        let mut handle = connection.lock_handle().await?;
        handle.set_progress_handler(INSTRUCTIONS, move || watch.may_go_on());
        Ok(())
    }

    /// The connection is taken for another piece of work.
    pub(crate) fn begin_anew(&self) {
        self.statement_is_over();
        for mark in [&self.is_abandoned, &self.has_ended_one, &self.is_lifted] {
            mark.store(false, Ordering::Relaxed);
        }
        self.end_turn_at(None);
    }

    /// Says when others are to have the connection.
    pub(crate) fn end_turn_at(&self, end: Option<Instant>) {
        *self.turn_ends.lock() = end;
    }

    /// Whether the transaction can go on.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Unavailable`](svc_core::ErrorKind::Unavailable) when a statement of it took
    /// too long, or all of it.
    pub(crate) fn check(&self) -> Result<()> {
        if self.is_turn_over() {
            Err(kept_the_writer())
        } else if self.has_ended_one.load(Ordering::Relaxed) {
            Err(took_too_long())
        } else {
            Ok(())
        }
    }

    fn is_turn_over(&self) -> bool {
        let end = *self.turn_ends.lock();
        end.is_some_and(|end| Instant::now() >= end) && !self.is_lifted.load(Ordering::Relaxed)
    }

    /// Lets what runs until the connection is given back take as long as it likes.
    pub(crate) fn lift(&self) {
        self.is_lifted.store(true, Ordering::Relaxed);
    }

    /// A statement is over.
    pub(crate) fn statement_is_over(&self) {
        let begun = self.begun.lock().take();
        if begun.is_some() {
            self.counting.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Ends what runs: nobody waits for it.
    pub(crate) fn abandon(&self) {
        self.is_abandoned.store(true, Ordering::Relaxed);
    }

    fn may_go_on(&self) -> bool {
        let is_over = self.is_abandoned.load(Ordering::Relaxed) || self.is_turn_over();
        let goes_on = !is_over && self.is_in_time();
        if !goes_on {
            self.has_ended_one.store(true, Ordering::Relaxed);
        }
        goes_on
    }

    fn is_in_time(&self) -> bool {
        let mut begun = self.begun.lock();
        let begun = begun.get_or_insert_with(|| {
            self.counting.fetch_add(1, Ordering::Relaxed);
            Instant::now()
        });
        let is_unlimited = self.limit.is_zero() || self.is_lifted.load(Ordering::Relaxed);
        is_unlimited || begun.elapsed() < self.limit
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.statement_is_over();
    }
}
