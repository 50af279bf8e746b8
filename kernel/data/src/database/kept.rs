//! Connections that are kept between one read and the next.
//!
//! Whenever the pool gets a connection back, a task of its own asks the connection whether it is
//! still there: one more round trip on PostgreSQL, one more turn of a thread on SQLite. For a
//! statement that reads a row this is half of the work. So some connections stay here after a
//! statement that ended well, and the next statement goes on with the one that was used last.
//!
//! | Of a connection that is kept | comes |
//! | --- | --- |
//! | a statement fails, or nobody waits for its end | it goes back to the pool, which tests it |
//! | [`LIFETIME`] is over | it goes back to the pool, which closes it where it is too old |
//! | a statement took so long that SQLite's stopwatch began | it goes back to the pool, which sets that anew |
//! | all kept ones are busy | the statement takes one from the pool, as transactions always do |
//!
//! At most half of the connections are kept, so that nobody who waits at the pool waits for one of
//! these.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use sea_orm::{QueryResult, Statement};
use sea_query_sqlx::SqlxValues;
use sqlx::pool::PoolConnection;
use sqlx::query::Query;
use sqlx::{AssertSqlSafe, Database, Error, Executor, IntoArguments, Pool};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::statement_limit::Stopwatches;

/// How long a connection is kept before the pool sees it again.
const LIFETIME: Duration = Duration::from_secs(5);

/// The connections of a pool, of which some are kept.
pub(super) struct Kept<D: Database> {
    pool: Pool<D>,
    /// One for each that may be kept.
    places: Semaphore,
    /// Those that wait for a statement, the one that was used last at the end.
    idle: Mutex<Vec<Held<D>>>,
    stopwatches: Stopwatches,
}

struct Held<D: Database> {
    connection: PoolConnection<D>,
    since: Instant,
}

/// A connection for one statement.
struct Taken<'a, D: Database> {
    held: Held<D>,
    /// None for one that goes back to the pool.
    place: Option<SemaphorePermit<'a>>,
}

impl<D: Database> Kept<D> {
    /// Keeps at most half of a pool's connections.
    pub(super) fn new(pool: Pool<D>, stopwatches: Stopwatches) -> Self {
        let places = usize::try_from(pool.options().get_max_connections() / 2).unwrap_or(0);
        Self { pool, places: Semaphore::new(places), idle: Mutex::default(), stopwatches }
    }

    /// Gives back what is kept, and keeps nothing from now on.
    pub(super) fn close(&self) {
        self.places.close();
        self.idle().clear();
    }

    async fn take(&self) -> Result<Taken<'_, D>, Error> {
        let place = self.places.try_acquire().ok();
        let idle = place.as_ref().and_then(|_| self.idle().pop());
        if let Some(held) = idle.filter(|held| held.since.elapsed() < LIFETIME) {
            return Ok(Taken { held, place });
        }
        let connection = self.pool.acquire().await?;
        Ok(Taken { held: Held { connection, since: Instant::now() }, place })
    }

    /// Keeps a connection whose statement ended well.
    fn keep(&self, Taken { held, place }: Taken<'_, D>) {
        let is_good = !self.places.is_closed() && !self.stopwatches.have_begun();
        if place.is_none() || !is_good || held.since.elapsed() >= LIFETIME {
            return;
        }
        let mut idle = self.idle();
        // One at a time is enough: where many statements end, all old ones go soon.
        let old = idle.first().is_some_and(|first| first.since.elapsed() >= LIFETIME);
        let old = old.then(|| idle.remove(0));
        idle.push(held);
        drop(idle);
        drop(old);
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Held<D>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<D: Database> Kept<D>
where
    SqlxValues: IntoArguments<D>,
    for<'c> &'c mut D::Connection: Executor<'c, Database = D>,
    QueryResult: From<D::Row>,
{
    /// All rows of a statement.
    pub(super) async fn rows(&self, statement: Statement) -> Result<Vec<QueryResult>, Error> {
        let mut taken = self.take().await?;
        let rows = query(statement).fetch_all(&mut *taken.held.connection).await?;
        self.keep(taken);
        Ok(rows.into_iter().map(QueryResult::from).collect())
    }

    /// The first row of a statement.
    pub(super) async fn row(&self, statement: Statement) -> Result<Option<QueryResult>, Error> {
        let mut taken = self.take().await?;
        let row = query(statement).fetch_optional(&mut *taken.held.connection).await?;
        self.keep(taken);
        Ok(row.map(QueryResult::from))
    }
}

fn query<D: Database>(statement: Statement) -> Query<'static, D, SqlxValues>
where
    SqlxValues: IntoArguments<D>,
{
    let values = SqlxValues(statement.values.unwrap_or(sea_orm::sea_query::Values(Vec::new())));
    sqlx::query_with(AssertSqlSafe(statement.sql), values)
}

impl<D: Database> Drop for Kept<D> {
    fn drop(&mut self) {
        // To give one back takes a runtime, which may be gone by now.
        for held in self.idle().drain(..) {
            drop(held.connection.leak());
        }
    }
}
