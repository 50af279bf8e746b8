//! How long a statement may take on SQLite, which knows no such limit itself.
//!
//! SQLite asks a handler now and then, while a statement runs, whether it may go on. The handler
//! isn't told when the statement began, so it takes the time when it is first asked, and forgets
//! it when the statement is over:
//!
//! | Connection | A statement is over when |
//! | --- | --- |
//! | reads | the connection is taken anew: it is given back after each statement that was asked |
//! | writes | whoever ran it says so, or the connection is taken anew |
//!
//! A statement that changes something and is ended takes the whole transaction with it. What is
//! written behind it would be stored at once, and nobody could undo it, so a unit of work asks
//! [`WriterLimit::check`] before each statement. Such a connection is closed at its end.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use sqlx::sqlite::{SqliteConnection, SqlitePoolOptions};
use svc_core::Result;

use crate::error::took_too_long;

/// How many instructions SQLite runs between two questions: a millisecond of work, or a few.
const INSTRUCTIONS: i32 = 100_000;

/// What the connections of a pool keep to.
pub(crate) enum Limit {
    /// The database keeps it.
    Elsewhere,
    /// Those that read on SQLite.
    Readers(Stopwatches),
    /// The one that writes on SQLite.
    Writer(Arc<WriterLimit>),
}

impl Limit {
    /// A connection is taken.
    pub(crate) fn begin(&self) {
        if let Self::Writer(limit) = self {
            limit.begin_anew();
        }
    }

    /// A statement is over.
    pub(crate) fn statement_is_over(&self) {
        if let Self::Writer(limit) = self {
            limit.forget();
        }
    }

    /// Whether a connection may go on to other work without being given back.
    pub(crate) fn is_as_before(&self) -> bool {
        match self {
            Self::Elsewhere => true,
            Self::Readers(stopwatches) => !stopwatches.have_begun(),
            Self::Writer(limit) => limit.check().is_ok(),
        }
    }
}

/// The stopwatches of the connections that read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stopwatches {
    /// How many have begun since their connection was taken.
    begun: Arc<AtomicUsize>,
}

impl Stopwatches {
    /// Limits each statement on the connections that read. Zero is no limit.
    ///
    /// Most statements are over before they are asked. Only while some were asked are handlers
    /// replaced, since that takes a round trip to the connection's thread.
    pub(crate) fn limit_readers(
        &self,
        options: SqlitePoolOptions,
        limit: Duration,
    ) -> SqlitePoolOptions {
        if limit.is_zero() {
            return options;
        }
        let (opened, taken) = (self.clone(), self.clone());
        options
            .after_connect(move |connection, _| {
                let stopwatch = Stopwatch::new(limit, &opened);
                Box::pin(watch(connection, stopwatch))
            })
            .before_acquire(move |connection, _| {
                let stopwatch = taken.have_begun().then(|| Stopwatch::new(limit, &taken));
                Box::pin(async move {
                    if let Some(stopwatch) = stopwatch {
                        watch(connection, stopwatch).await?;
                    }
                    Ok(true)
                })
            })
    }

    /// Whether a connection may have a stopwatch that runs on into its next statement, unless it is
    /// given back in between.
    fn have_begun(&self) -> bool {
        self.begun.load(Ordering::Relaxed) > 0
    }
}

async fn watch(connection: &mut SqliteConnection, mut stopwatch: Stopwatch) -> sqlx::Result<()> {
    let mut handle = connection.lock_handle().await?;
    handle.set_progress_handler(INSTRUCTIONS, move || stopwatch.may_go_on());
    Ok(())
}

/// Takes the time of one statement.
struct Stopwatch {
    limit: Duration,
    begun: Option<Instant>,
    all: Stopwatches,
}

impl Stopwatch {
    fn new(limit: Duration, all: &Stopwatches) -> Self {
        Self { limit, begun: None, all: all.clone() }
    }

    fn may_go_on(&mut self) -> bool {
        let begun = self.begun.get_or_insert_with(|| {
            self.all.begun.fetch_add(1, Ordering::Relaxed);
            Instant::now()
        });
        begun.elapsed() < self.limit
    }
}

impl Drop for Stopwatch {
    fn drop(&mut self) {
        if self.begun.is_some() {
            self.all.begun.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// Limits each statement on the one connection that writes.
#[derive(Debug, Default)]
pub(crate) struct WriterLimit {
    /// Zero is no limit.
    limit: Duration,
    begun: Mutex<Option<Instant>>,
    /// Whether a statement was ended since the connection was taken.
    has_ended_one: AtomicBool,
    /// Whether what runs until the connection is given back may take as long as it likes.
    is_lifted: AtomicBool,
}

impl WriterLimit {
    pub(crate) fn new(limit: Duration) -> Arc<Self> {
        Arc::new(Self { limit, ..Self::default() })
    }

    pub(crate) fn apply(self: &Arc<Self>, options: SqlitePoolOptions) -> SqlitePoolOptions {
        if self.limit.is_zero() {
            return options;
        }
        let opened = Arc::clone(self);
        options.after_connect(move |connection, _| {
            let limit = Arc::clone(&opened);
            Box::pin(async move {
                let mut handle = connection.lock_handle().await?;
                handle.set_progress_handler(INSTRUCTIONS, move || limit.may_go_on());
                Ok(())
            })
        })
    }

    /// Whether the transaction can go on.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Unavailable`](svc_core::ErrorKind::Unavailable) when a statement of it took
    /// too long.
    pub(crate) fn check(&self) -> Result<()> {
        let is_broken = self.has_ended_one.load(Ordering::Relaxed);
        if is_broken { Err(took_too_long()) } else { Ok(()) }
    }

    /// Lets what runs until the connection is given back take as long as it likes.
    pub(crate) fn lift(&self) {
        self.is_lifted.store(true, Ordering::Relaxed);
    }

    fn forget(&self) {
        *self.begun.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn begin_anew(&self) {
        self.forget();
        self.has_ended_one.store(false, Ordering::Relaxed);
        self.is_lifted.store(false, Ordering::Relaxed);
    }

    fn may_go_on(&self) -> bool {
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        let begun = begun.get_or_insert_with(Instant::now);
        if self.is_lifted.load(Ordering::Relaxed) || begun.elapsed() < self.limit {
            return true;
        }
        self.has_ended_one.store(true, Ordering::Relaxed);
        false
    }
}
