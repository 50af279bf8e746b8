use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use svc_core::{Error, Result, WeakApp};
use svc_data::{Context, UnitOfWork};
use svc_database::Database;
use uuid::Uuid;

use crate::WAKE_TOPIC;
use crate::dead_letter::{DeadLetterPage, Selection};
use crate::handling::Processor;
use crate::message::Message;
use crate::store::letters::{self, Fate, Key};

/// Looks after the outbox: what waits, and what was set aside. A service of the application.
///
/// It checks no permission: whoever offers it to people does, and narrows the [`Selection`] to
/// their organisation. What takes a context goes by its way to the database, a request's within the
/// share of its person.
pub struct Outbox {
    app: WeakApp,
    database: Database,
    processor: Arc<Processor>,
}

/// How the outbox is doing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Statistics {
    /// By handler: all that are registered, and all that messages still wait for.
    pub handlers: BTreeMap<String, HandlerStatistics>,
    /// Messages that this process has handled since it started.
    pub handled: u64,
    /// Attempts that failed in this process since it started.
    pub failed: u64,
}

/// How one handler is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HandlerStatistics {
    /// Messages that wait, due or not; counted up to 10,000.
    pub ready: u64,
    /// Dead letters.
    pub dead: u64,
    /// How long the message that has been due longest waits beyond its time, in milliseconds; of those that
    /// are counted, where more wait.
    pub lag_ms: u64,
    /// Whether a module registers the handler.
    pub is_registered: bool,
}

impl Outbox {
    pub(crate) fn new(app: WeakApp, database: Database, processor: Arc<Processor>) -> Self {
        Self { app, database, processor }
    }

    /// How much waits and how much was set aside. Its cost hangs on neither the number of waiting
    /// messages beyond the first 10,000 of a handler.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn statistics(&self) -> Result<Statistics> {
        let now = self.app.get()?.clock().now_us();
        let (handled, failed) = self.processor.counters();
        let mut statistics = Statistics { handled, failed, ..Statistics::default() };
        let by_name = &mut statistics.handlers;
        for name in self.processor.handler_names() {
            by_name.entry(name.to_owned()).or_default().is_registered = true;
        }
        for waiting in letters::waiting(&self.database).await? {
            let entry = by_name.entry(waiting.handler).or_default();
            entry.ready = waiting.count;
            let lag_us = now.saturating_sub(waiting.oldest_due_us);
            entry.lag_ms = u64::try_from(lag_us / 1_000).unwrap_or_default();
        }
        for (name, dead) in letters::dead_counts(&self.database).await? {
            by_name.entry(name).or_default().dead = dead;
        }
        Ok(statistics)
    }

    /// A page of at most `take` dead letters, after the place where another page ended.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Malformed`](svc_core::ErrorKind::Malformed) when `after` is no such place;
    /// [`ErrorKind::Invalid`](svc_core::ErrorKind::Invalid) when the handler's name can't be one; a
    /// fault of the database.
    pub async fn dead_letters(
        &self,
        ctx: &Context,
        selection: &Selection,
        after: Option<&str>,
        take: u32,
    ) -> Result<DeadLetterPage> {
        selection.check()?;
        let after = after.map(parse_place).transpose()?;
        let take = usize::try_from(take.max(1)).unwrap_or(usize::MAX);
        let limit = u64::try_from(take).unwrap_or(u64::MAX).saturating_add(1);
        let mut letters = letters::dead(ctx, selection, after, limit).await?;
        let more = letters.len() > take;
        letters.truncate(take);
        let next = letters.last().filter(|_| more);
        let next = next.map(|letter| format!("{}.{}", letter.id, letter.handler));
        Ok(DeadLetterPage { letters, next })
    }

    /// A message with its payload, dead or waiting; none when it is neither.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn message(&self, id: Uuid, handler: &str) -> Result<Option<Message>> {
        letters::find(&self.database, id, handler).await
    }

    /// Hands dead letters to their handlers again, with all attempts before them, and says how
    /// many those are. They are taken in parts, each in a unit of work of its own.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Invalid`](svc_core::ErrorKind::Invalid) when the handler's name can't be one; a
    /// fault of the database.
    pub async fn retry(&self, ctx: &Context, selection: &Selection) -> Result<u64> {
        self.settle(ctx, selection, Fate::Ready(ctx.clock().now_us())).await
    }

    /// Removes dead letters for good, and says how many those were; in parts, as [`Outbox::retry`].
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Invalid`](svc_core::ErrorKind::Invalid) when the handler's name can't be one; a
    /// fault of the database.
    pub async fn discard(&self, ctx: &Context, selection: &Selection) -> Result<u64> {
        self.settle(ctx, selection, Fate::Gone).await
    }

    async fn settle(&self, ctx: &Context, selection: &Selection, fate: Fate) -> Result<u64> {
        selection.check()?;
        let (mut settled, mut after) = (0, Key::default());
        loop {
            let part = async |uow: UnitOfWork| {
                if matches!(fate, Fate::Ready(_)) {
                    let app = uow.context().app().clone();
                    uow.after_commit(move || app.wakes().call(WAKE_TOPIC));
                }
                letters::settle(&uow, selection, fate, &after).await
            };
            let (count, last) = ctx.transact(part).await?;
            settled += count;
            match last {
                Some(last) => after = last,
                None => return Ok(settled),
            }
        }
    }
}

/// Reads `<id>.<handler>`.
fn parse_place(place: &str) -> Result<Key> {
    let parse = || {
        let (id, handler) = place.split_once('.')?;
        Some((Uuid::parse_str(id).ok()?, handler.to_owned()))
    };
    parse().ok_or_else(|| {
        Error::malformed("`after` is not the `next` of a page; begin without it").target("after")
    })
}
