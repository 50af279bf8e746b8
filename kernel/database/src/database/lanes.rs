//! Which connections a piece of work may take, and how many of them.
//!
//! | Lane | Reads through | Writes through |
//! | --- | --- | --- |
//! | a request's [`Share`] | its part of the pool, with others in turn | the same; on SQLite the one writer, in turn |
//! | background work | the pool, of which requests leave a part | the same; on SQLite the one writer, in turn as one more share |
//! | essential | connections of its own | PostgreSQL: the same; SQLite: as background work |
//!
//! Of the pool (`Svc:Database:MaxConnections`) requests take at most [`FOR_REQUESTS`] percent, an
//! organisation at most [`OF_AN_ORGANISATION`] of that, and a person [`OF_A_PERSON`]: whatever one
//! asks for, there is something left for the others, and for the workers. The one writer of SQLite a request has for
//! `Svc:Database:WriteTurn` at most; what takes longer is ended and undone.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

use futures::stream::BoxStream;
use futures::{Stream, StreamExt as _};
use sea_orm::{QueryResult, Statement};
use svc_core::{Result, Share, ShareLimits, Shares};

use super::Database;
use super::kept::Connection;
use crate::backend::Backend;
use crate::error::sqlx_error;
use crate::settings::DatabaseSettings;

/// How much of the pool requests may take, in percent.
const FOR_REQUESTS: usize = 80;

/// How much of that an organisation may take, in percent.
const OF_AN_ORGANISATION: usize = 90;

/// How much of that a person may take, in percent.
const OF_A_PERSON: usize = 75;

/// How many statements of one person may wait. Requests are limited before they come here, and most
/// run one statement at a time.
const WAITING: usize = 10_000;

/// Who asks for a connection.
#[derive(Clone, Copy, Debug)]
pub(super) enum Lane {
    Background,
    Essential,
    Share(Share),
}

/// What limits the lanes.
pub(super) struct Lanes {
    /// Those of requests.
    requests: Shares,
    /// The turns of SQLite's writer; none on PostgreSQL, which has many.
    writer: Option<Shares>,
}

impl Lanes {
    pub(super) fn for_postgres(settings: &DatabaseSettings) -> Self {
        Self { requests: Shares::new(of_the_pool(settings)), writer: None }
    }

    pub(super) fn for_sqlite(settings: &DatabaseSettings) -> Self {
        let pool = of_the_pool(settings);
        let writer = ShareLimits {
            of: "turns to write to the database",
            setting: "Svc:Database:AcquireTimeout",
            total: 1,
            organisation: 1,
            person: 1,
            ..pool
        };
        Self { requests: Shares::new(pool), writer: Some(Shares::new(writer)) }
    }
}

fn of_the_pool(settings: &DatabaseSettings) -> ShareLimits {
    let all = usize::try_from(settings.max_connections).unwrap_or(usize::MAX);
    let part = |of: usize, percent: usize| (of.saturating_mul(percent) / 100).max(1);
    let total = part(all, FOR_REQUESTS);
    ShareLimits {
        of: "database connections",
        setting: "Svc:Database:MaxConnections",
        total,
        organisation: part(total, OF_AN_ORGANISATION),
        person: part(total, OF_A_PERSON),
        waiting: WAITING,
        patience: settings.acquire_timeout,
    }
}

impl Database {
    /// A connection that reads.
    pub(super) async fn reading(&self) -> Result<Connection> {
        let (connections, place) = match self.1 {
            Lane::Share(share) => (&self.0.readers, Some(self.0.lanes.requests.take(share).await?)),
            Lane::Background => (&self.0.readers, None),
            Lane::Essential => (&self.0.essential, None),
        };
        connections.take(place).await.map_err(sqlx_error)
    }

    /// A connection that writes.
    pub(super) async fn writer(&self) -> Result<Connection> {
        let Some(turns) = &self.0.lanes.writer else {
            debug_assert_eq!(self.0.backend, Backend::Postgres);
            return self.reading().await;
        };
        let share = match self.1 {
            Lane::Share(share) => share,
            Lane::Background | Lane::Essential => Share::BACKGROUND,
        };
        let place = turns.take(share).await?;
        let writer = self.0.writers.take(Some(place)).await.map_err(sqlx_error)?;
        if share != Share::BACKGROUND {
            self.0.writer_watch.end_turn_at(Some(Instant::now() + self.0.write_turn));
        }
        Ok(writer)
    }
}

/// The rows of a statement, whose connection is held until they were taken or this is dropped.
pub struct CursorRows(BoxStream<'static, Result<QueryResult, sqlx::Error>>);

impl CursorRows {
    pub(super) fn new(connection: Connection, statement: Statement) -> Self {
        Self(connection.stream(statement))
    }
}

impl Stream for CursorRows {
    type Item = Result<QueryResult>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_next_unpin(context).map(|row| row.map(|row| row.map_err(sqlx_error)))
    }
}
