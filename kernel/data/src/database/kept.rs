//! Connections that are kept between one piece of work and the next.
//!
//! Whenever the pool gets a connection back, a task of its own asks the connection whether it is
//! still there: one more round trip on PostgreSQL, one more turn of a thread on SQLite. For a
//! statement that reads a row this is half of the work, for a small transaction a fifth. So
//! connections stay here after work that ended well, and the next work goes on with the one that
//! was used last.
//!
//! | Of a connection that is kept | comes |
//! | --- | --- |
//! | a single statement, a commit or a rollback fails, or nobody waits for its end | it goes back to the pool, which tests it |
//! | [`LIFETIME`] is over | it goes back to the pool, which closes it where it is too old |
//! | a statement took so long that SQLite's limit began to count, or ended it | it goes back to the pool, which sets that anew |
//! | all kept ones are busy | whoever comes takes one from the pool, or waits, where [all](Kept::all) are kept |
//! | another was lost | it goes back to the pool, which tests it |
//! | somebody needs one from the pool, which has none left | the one that has been idle for longest goes there |

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use sea_orm::{DbBackend, ExecResult, QueryResult, Statement};
use sea_query_sqlx::SqlxValues;
use sqlx::database::HasStatementCache;
use sqlx::pool::PoolConnection;
use sqlx::query::Query;
use sqlx::{AssertSqlSafe, Database, Error, Executor, IntoArguments, Pool, Postgres, Sqlite};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use crate::error::loses_connection;
use crate::statement_limit::Limit;

/// Does the same on either database.
macro_rules! each {
    ($either:expr, $one:ident => $work:expr) => {
        match $either {
            Self::Sqlite($one) => $work,
            Self::Postgres($one) => $work,
        }
    };
}

/// How long a connection is kept before the pool sees it again.
const LIFETIME: Duration = Duration::from_secs(5);

/// How many prepared statements each connection keeps. Callers shape statements, so there could be
/// any number.
pub(super) const STATEMENTS: usize = 128;

/// The longest text of a statement that stays prepared, in bytes: what is prepared takes many times
/// as much. Those of plain pages are shorter; what is longer was made by one caller for one question.
const LONGEST: usize = 4_000;

/// Whether a connection keeps a statement prepared.
pub(crate) fn is_kept(statement: &Statement) -> bool {
    statement.sql.len() <= LONGEST
}

/// The connections of a pool, of which some are kept.
pub(super) struct Kept<D: Database> {
    pool: Pool<D>,
    /// One for each that may be kept.
    places: Arc<Semaphore>,
    /// Whether nobody gets a connection past the places.
    keeps_all: bool,
    /// Those that wait for work, the one that was used last at the end.
    idle: Mutex<Vec<Held<D>>>,
    limit: Limit,
    /// Told when work on a connection has ended well.
    written: Option<Arc<Notify>>,
}

/// A connection, and since when the pool hasn't seen it.
struct Held<D: Database> {
    connection: PoolConnection<D>,
    since: Instant,
}

/// A connection for one piece of work.
pub(super) struct Taken<D: Database> {
    held: Held<D>,
    /// None for one that goes back to the pool.
    place: Option<OwnedSemaphorePermit>,
    kept: Arc<Kept<D>>,
}

impl<D: Database> Kept<D> {
    /// Keeps most of a pool's connections; a quarter is left for what holds one for long.
    pub(super) fn most(pool: Pool<D>, limit: Limit) -> Arc<Self> {
        let all = pool.options().get_max_connections();
        Self::new(pool, all * 3 / 4, limit, None)
    }

    /// Keeps all of a pool's connections, which nobody else takes from then, and tells when work on
    /// them has ended well.
    pub(super) fn all(pool: Pool<D>, limit: Limit, written: Arc<Notify>) -> Arc<Self> {
        let all = pool.options().get_max_connections();
        Self::new(pool, all, limit, Some(written))
    }

    fn new(pool: Pool<D>, places: u32, limit: Limit, written: Option<Arc<Notify>>) -> Arc<Self> {
        let keeps_all = places == pool.options().get_max_connections();
        let places = Arc::new(Semaphore::new(usize::try_from(places).unwrap_or(0)));
        Arc::new(Self { pool, places, keeps_all, idle: Mutex::default(), limit, written })
    }

    /// Closes all connections; what runs ends first.
    async fn close(&self) {
        self.places.close();
        self.idle().clear();
        self.pool.close().await;
    }

    /// Gives one back where the pool has none left for whoever is about to ask it.
    pub(super) fn make_room(&self) {
        let is_exhausted = self.pool.num_idle() == 0
            && self.pool.size() >= self.pool.options().get_max_connections();
        let mut idle = self.idle();
        let given = (is_exhausted && !idle.is_empty()).then(|| idle.remove(0));
        drop(idle);
        drop(given);
    }

    pub(super) async fn take(self: &Arc<Self>) -> Result<Taken<D>, Error> {
        let place = self.place().await?;
        self.limit.begin();
        let kept = Arc::clone(self);
        let idle = place.as_ref().and_then(|_| self.idle().pop());
        if let Some(held) = idle.filter(|held| held.since.elapsed() < LIFETIME) {
            return Ok(Taken { held, place, kept });
        }
        let connection = self.pool.acquire().await?;
        Ok(Taken { held: Held { connection, since: Instant::now() }, place, kept })
    }

    async fn place(&self) -> Result<Option<OwnedSemaphorePermit>, Error> {
        let places = Arc::clone(&self.places);
        if !self.keeps_all {
            return Ok(places.try_acquire_owned().ok());
        }
        let limit = self.pool.options().get_acquire_timeout();
        let place = tokio::time::timeout(limit, places.acquire_owned()).await;
        place.map_err(|_| Error::PoolTimedOut)?.map(Some).map_err(|_| Error::PoolClosed)
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Held<D>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<D: Database> Taken<D> {
    fn connection(&mut self) -> &mut D::Connection {
        &mut self.held.connection
    }

    /// A statement is over.
    fn note<T>(&self, outcome: Result<T, Error>) -> Result<T, Error> {
        self.kept.limit.statement_is_over();
        // Where one connection was lost, the others probably were: the pool finds out.
        if outcome.as_ref().is_err_and(loses_connection) {
            self.kept.idle().clear();
        }
        outcome
    }

    /// Closes the connection, of which nobody knows what it is in the middle of.
    fn close(self) {
        drop(self.held.connection.detach());
    }

    /// Keeps the connection, whose work ended well.
    fn keep(self) {
        let Self { held, place, kept } = self;
        if let Some(written) = &kept.written {
            written.notify_one();
        }
        let is_good = !kept.places.is_closed() && kept.limit.is_as_before();
        if place.is_none() || !is_good || held.since.elapsed() >= LIFETIME {
            return;
        }
        let mut idle = kept.idle();
        // One at a time is enough: where much work ends, all old ones go soon.
        let old = idle.first().is_some_and(|first| first.since.elapsed() >= LIFETIME);
        let old = old.then(|| idle.remove(0));
        idle.push(held);
        drop(idle);
        drop(old);
    }
}

impl<D: Database + HasStatementCache> Taken<D>
where
    SqlxValues: IntoArguments<D>,
    for<'c> &'c mut D::Connection: Executor<'c, Database = D>,
    QueryResult: From<D::Row>,
    ExecResult: From<D::QueryResult>,
{
    async fn rows(&mut self, statement: Statement) -> Result<Vec<QueryResult>, Error> {
        let rows = query(statement).fetch_all(self.connection()).await;
        Ok(self.note(rows)?.into_iter().map(QueryResult::from).collect())
    }

    async fn row(&mut self, statement: Statement) -> Result<Option<QueryResult>, Error> {
        let row = query(statement).fetch_optional(self.connection()).await;
        Ok(self.note(row)?.map(QueryResult::from))
    }

    async fn execute(&mut self, statement: Statement) -> Result<ExecResult, Error> {
        let outcome = query(statement).execute(self.connection()).await;
        self.note(outcome).map(ExecResult::from)
    }

    async fn script(&mut self, sql: &str) -> Result<ExecResult, Error> {
        let outcome = self.connection().execute(AssertSqlSafe(sql)).await;
        self.note(outcome).map(ExecResult::from)
    }
}

fn query<D: Database + HasStatementCache>(statement: Statement) -> Query<'static, D, SqlxValues>
where
    SqlxValues: IntoArguments<D>,
{
    let keeps = is_kept(&statement);
    let values = SqlxValues(statement.values.unwrap_or(sea_orm::sea_query::Values(Vec::new())));
    sqlx::query_with(AssertSqlSafe(statement.sql), values).persistent(keeps)
}

impl<D: Database> Drop for Kept<D> {
    fn drop(&mut self) {
        // To give one back takes a runtime, which may be gone by now.
        for held in self.idle().drain(..) {
            drop(held.connection.leak());
        }
    }
}

/// The connections of a pool of either database.
#[derive(Clone)]
pub(super) enum Connections {
    Sqlite(Arc<Kept<Sqlite>>),
    Postgres(Arc<Kept<Postgres>>),
}

impl Connections {
    pub(super) async fn take(&self) -> Result<Connection, Error> {
        match self {
            Self::Sqlite(kept) => kept.take().await.map(Connection::Sqlite),
            Self::Postgres(kept) => kept.take().await.map(Connection::Postgres),
        }
    }

    /// Closes all connections; what runs ends first.
    pub(super) async fn close(&self) {
        each!(self, kept => kept.close().await);
    }

    /// Gives one back where the pool has none left for whoever is about to ask it.
    pub(super) fn make_room(&self) {
        each!(self, kept => kept.make_room());
    }
}

/// A connection of either database, for one piece of work. One that is dropped goes back to the pool.
pub(super) enum Connection {
    Sqlite(Taken<Sqlite>),
    Postgres(Taken<Postgres>),
}

impl Connection {
    pub(super) fn backend(&self) -> DbBackend {
        match self {
            Self::Sqlite(_) => DbBackend::Sqlite,
            Self::Postgres(_) => DbBackend::Postgres,
        }
    }

    /// All rows of a statement.
    pub(super) async fn rows(&mut self, statement: Statement) -> Result<Vec<QueryResult>, Error> {
        each!(self, taken => taken.rows(statement).await)
    }

    /// The first row of a statement.
    pub(super) async fn row(&mut self, statement: Statement) -> Result<Option<QueryResult>, Error> {
        each!(self, taken => taken.row(statement).await)
    }

    /// What a statement did.
    pub(super) async fn execute(&mut self, statement: Statement) -> Result<ExecResult, Error> {
        each!(self, taken => taken.execute(statement).await)
    }

    /// Runs SQL of one or several statements, without values.
    pub(super) async fn script(&mut self, sql: &str) -> Result<ExecResult, Error> {
        each!(self, taken => taken.script(sql).await)
    }

    /// Keeps the connection, whose work ended well.
    pub(super) fn keep(self) {
        each!(self, taken => taken.keep());
    }

    /// Closes the connection, of which nobody knows what it is in the middle of.
    pub(super) fn close(self) {
        each!(self, taken => taken.close());
    }
}
