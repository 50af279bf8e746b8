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
//! | a single statement, a commit or a rollback fails | it goes back to the pool, which tests it |
//! | nobody waits for the end of a statement | it is kept once the statement was [ended](super::abandoned), or closed |
//! | [`LIFETIME`] is over | it goes back to the pool, which closes it where it is too old |
//! | all kept ones are busy | whoever comes takes one from the pool, or waits, where [all](Kept::all) are kept |
//! | another was lost | it goes back to the pool, which tests it, and those that it has |
//! | somebody waits for one from the pool | it goes back there, once its work has ended |
//! | somebody needs one from the pool, which has none left | the one that has been idle for longest goes there |

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures::stream::BoxStream;
use futures::{Stream, StreamExt as _};
use parking_lot::{Mutex, MutexGuard};
use sea_orm::{DbBackend, ExecResult, QueryResult, Statement};
use sea_query_sqlx::SqlxValues;
use sqlx::database::HasStatementCache;
use sqlx::pool::PoolConnection;
use sqlx::query::Query;
use sqlx::{AssertSqlSafe, Database, Error, Executor, IntoArguments, Pool, Postgres, Sqlite};
use svc_core::Place;
use tokio::runtime::Handle;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use super::abandoned::{Ending, freed, gone};
use super::measured::{FirstRows, Measured, ReadLimit, long_values};
use crate::error::loses_connection;
use crate::row_table::has_rows;
use crate::statement_limit::{Watch, Watches};

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
/// as much. Those of plain pages are shorter; what is longer was made by one caller for one question, or
/// carries [many rows](crate::RowTable). Such rows have ten texts, and preparing them anew was 8 % of the
/// processor's time in a burst of webhook deliveries.
const LONGEST: usize = 4_000;

/// Whether a connection keeps a statement prepared.
pub(super) fn is_kept(statement: &Statement) -> bool {
    statement.sql.len() <= LONGEST || has_rows(&statement.sql)
}

/// A database whose connections are kept.
pub(super) trait Engine: Database<Connection: Ending> + HasStatementCache {}

impl<D: Database<Connection: Ending> + HasStatementCache> Engine for D {}

/// The connections of a pool, of which some are kept.
pub(super) struct Kept<D: Engine> {
    pool: Pool<D>,
    /// One for each that may be kept.
    places: Arc<Semaphore>,
    /// Whether nobody gets a connection past the places.
    keeps_all: bool,
    /// Those that wait for work, the one that was used last at the end.
    idle: Mutex<Vec<Held<D>>>,
    watching: Watching,
    /// How many wait for a connection of the pool.
    waiting: AtomicUsize,
    /// Told when work on a connection has ended well.
    written: Option<Arc<Notify>>,
}

/// Somebody who waits for a connection of the pool, until it is there or nobody wants it any more.
struct WaitsForPool<'a>(&'a AtomicUsize);

impl<'a> WaitsForPool<'a> {
    fn begin(waiting: &'a AtomicUsize) -> Self {
        waiting.fetch_add(1, Ordering::Relaxed);
        Self(waiting)
    }
}

impl Drop for WaitsForPool<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What watches connections.
pub(super) enum Watching {
    /// Nothing: the database ends statements itself.
    Nothing,
    /// A watch of its own for each.
    Each(Watches),
    /// The same for all, one after the other.
    One(Arc<Watch>),
}

impl Watching {
    fn watch(&self) -> Option<Arc<Watch>> {
        match self {
            Self::Nothing => None,
            Self::Each(watches) => Some(watches.one()),
            Self::One(watch) => Some(Arc::clone(watch)),
        }
    }
}

/// A connection, and since when the pool hasn't seen it.
struct Held<D: Engine> {
    connection: PoolConnection<D>,
    since: Instant,
    watch: Option<Arc<Watch>>,
}

/// A connection for one piece of work.
pub(super) struct Taken<D: Engine> {
    /// None once it is on its way elsewhere.
    held: Option<Held<D>>,
    /// None for one that goes back to the pool.
    place: Option<OwnedSemaphorePermit>,
    /// The right to it, among others who ask for one.
    share: Option<Place>,
    kept: Arc<Kept<D>>,
    /// Whether a statement was begun and its end not seen.
    is_running: bool,
}

impl<D: Engine> Kept<D> {
    /// Keeps most of a pool's connections; a quarter is left for what takes one past this.
    pub(super) fn most(pool: Pool<D>, watching: Watching) -> Arc<Self> {
        let all = pool.options().get_max_connections();
        Self::new(pool, all * 3 / 4, watching, None)
    }

    /// Keeps all of a pool's connections, which nobody else takes from then, and tells when work on
    /// them has ended well.
    pub(super) fn all(pool: Pool<D>, watching: Watching, written: Arc<Notify>) -> Arc<Self> {
        let all = pool.options().get_max_connections();
        Self::new(pool, all, watching, Some(written))
    }

    fn new(
        pool: Pool<D>,
        places: u32,
        watching: Watching,
        written: Option<Arc<Notify>>,
    ) -> Arc<Self> {
        let keeps_all = places == pool.options().get_max_connections();
        let places = Arc::new(Semaphore::new(usize::try_from(places).unwrap_or(0)));
        let (idle, waiting) = (Mutex::default(), AtomicUsize::new(0));
        Arc::new(Self { pool, places, keeps_all, idle, watching, waiting, written })
    }

    /// Closes all connections; what runs ends first.
    async fn close(&self) {
        self.places.close();
        self.idle().clear();
        self.pool.close().await;
    }

    pub(super) async fn take(self: &Arc<Self>, share: Option<Place>) -> Result<Taken<D>, Error> {
        let place = self.place().await?;
        let idle = place.as_ref().and_then(|_| self.idle().pop());
        let held = match idle.filter(|held| held.since.elapsed() < LIFETIME) {
            Some(held) => held,
            None => self.held().await?,
        };
        if let Some(watch) = &held.watch {
            watch.begin_anew();
        }
        let kept = Arc::clone(self);
        Ok(Taken { held: Some(held), place, share, kept, is_running: false })
    }

    /// One from the pool. What is kept idle meanwhile, or comes to be, is as good for whoever waits.
    async fn held(&self) -> Result<Held<D>, Error> {
        let waits = WaitsForPool::begin(&self.waiting);
        let is_exhausted = self.pool.num_idle() == 0
            && self.pool.size() >= self.pool.options().get_max_connections();
        let longest = {
            let mut idle = self.idle();
            (is_exhausted && !idle.is_empty()).then(|| idle.remove(0))
        };
        drop(longest);
        let mut connection = self.pool.acquire().await?;
        drop(waits);
        let watch = self.watching.watch();
        if let Some(watch) = &watch {
            connection.watch(watch).await?;
        }
        Ok(Held { connection, since: Instant::now(), watch })
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

    /// Keeps a connection, whose work ended well.
    fn keep(&self, held: Held<D>, place: Option<&OwnedSemaphorePermit>) {
        if let Some(written) = &self.written {
            written.notify_one();
        }
        let is_old = held.since.elapsed() >= LIFETIME;
        // Who closes, or waits, looks at those that are idle behind saying so: under the lock none is added that
        // nobody would look at again.
        let mut idle = self.idle();
        let is_waited_for = self.waiting.load(Ordering::Relaxed) > 0;
        if place.is_none() || is_old || is_waited_for || self.places.is_closed() {
            drop(idle);
            // Through the pool it may come to somebody who asks for it past this.
            if let Some(watch) = &held.watch {
                watch.begin_anew();
            }
            return;
        }
        // One at a time is enough: where much work ends, all old ones go soon.
        let old = idle.first().is_some_and(|first| first.since.elapsed() >= LIFETIME);
        let old = old.then(|| idle.remove(0));
        idle.push(held);
        drop(idle);
        drop(old);
    }

    /// Gives all that wait for work back to the pool, which tests each on its way: those that are kept,
    /// and those that it has itself.
    fn test_idle(&self) {
        let kept = std::mem::take(&mut *self.idle());
        let pooled = (0..self.pool.num_idle()).map_while(|_| self.pool.try_acquire());
        let pooled: Vec<_> = pooled.collect();
        drop((kept, pooled));
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Held<D>>> {
        self.idle.lock()
    }
}

impl<D: Engine> Taken<D> {
    /// The connection, on which a statement begins.
    fn begin(&mut self) -> Result<&mut D::Connection, Error> {
        let held = self.held.as_mut().ok_or(Error::PoolClosed)?;
        self.is_running = true;
        Ok(&mut held.connection)
    }

    /// A statement is over.
    fn note<T>(&mut self, outcome: Result<T, Error>) -> Result<T, Error> {
        self.is_running = false;
        if let Some(watch) = self.watch() {
            watch.statement_is_over();
        }
        // Where one connection was lost, the others probably were: the pool finds out.
        if outcome.as_ref().is_err_and(loses_connection) {
            self.kept.test_idle();
        }
        outcome
    }

    fn watch(&self) -> Option<&Arc<Watch>> {
        self.held.as_ref().and_then(|held| held.watch.as_ref())
    }

    /// Closes the connection, of which nobody knows what it is in the middle of.
    fn close(mut self) {
        drop(self.held.take().map(|held| held.connection.detach()));
    }

    /// Keeps the connection, whose work ended well.
    fn keep(mut self) {
        if let Some(held) = self.held.take() {
            self.kept.keep(held, self.place.as_ref());
        }
    }

    /// Ends what runs, in a task of its own, and keeps the connection; with an open transaction,
    /// rolls that back.
    fn free(&mut self, in_transaction: bool) {
        let was_running = std::mem::take(&mut self.is_running);
        if let Some(watch) = self.watch().filter(|_| was_running) {
            watch.abandon();
        }
        let Some(mut held) = self.held.take() else { return };
        let Ok(runtime) = Handle::try_current() else {
            return drop(held.connection.detach());
        };
        let (place, share, kept) = (self.place.take(), self.share.take(), Arc::clone(&self.kept));
        runtime.spawn(async move {
            let _share = share;
            let work = held.connection.free(in_transaction);
            let is_free =
                if was_running { freed::<D::Connection>(work).await } else { work.await.is_ok() };
            if is_free {
                kept.keep(held, place.as_ref());
            } else {
                gone::<D::Connection>(held.connection.close()).await;
            }
        });
    }
}

impl<D: Engine> Drop for Taken<D> {
    fn drop(&mut self) {
        if self.is_running {
            self.free(false);
        }
    }
}

impl<D: Engine> Taken<D>
where
    SqlxValues: IntoArguments<D>,
    for<'c> &'c mut D::Connection: Executor<'c, Database = D>,
    QueryResult: From<D::Row>,
    ExecResult: From<D::QueryResult>,
    D::Row: Measured,
{
    /// The first rows of a statement, after which the connection is kept, or what is left of the
    /// statement ended.
    async fn first_rows(
        mut self,
        statement: Statement,
        limit: ReadLimit<'_>,
    ) -> Result<FirstRows, Error> {
        let mut answer = query(statement).fetch(self.begin()?);
        let (mut rows, mut bytes) = (Vec::new(), 0);
        let outcome = loop {
            match answer.next().await {
                Some(Ok(row)) => {
                    bytes += long_values(&row, limit.long);
                    rows.push(QueryResult::from(row));
                    if bytes > limit.bytes {
                        return Ok(FirstRows { rows, is_cut: true });
                    }
                }
                Some(Err(error)) => break Err(error),
                None => break Ok(()),
            }
        };
        drop(answer);
        self.note(outcome)?;
        self.keep();
        Ok(FirstRows { rows, is_cut: false })
    }

    async fn rows(&mut self, statement: Statement) -> Result<Vec<QueryResult>, Error> {
        let rows = query(statement).fetch_all(self.begin()?).await;
        Ok(self.note(rows)?.into_iter().map(QueryResult::from).collect())
    }

    async fn row(&mut self, statement: Statement) -> Result<Option<QueryResult>, Error> {
        let row = query(statement).fetch_optional(self.begin()?).await;
        Ok(self.note(row)?.map(QueryResult::from))
    }

    async fn execute(&mut self, statement: Statement) -> Result<ExecResult, Error> {
        let outcome = query(statement).execute(self.begin()?).await;
        self.note(outcome).map(ExecResult::from)
    }

    async fn script(&mut self, sql: &str) -> Result<ExecResult, Error> {
        let outcome = self.begin()?.execute(AssertSqlSafe(sql)).await;
        self.note(outcome).map(ExecResult::from)
    }

    /// The rows of a statement, as they come.
    fn stream(
        mut self,
        statement: Statement,
    ) -> impl Stream<Item = Result<QueryResult, Error>> + Send {
        async_stream::try_stream! {
            let mut rows = query(statement).fetch(self.begin()?);
            let ended = loop {
                match rows.next().await {
                    Some(Ok(row)) => yield QueryResult::from(row),
                    Some(Err(error)) => break Err(error),
                    None => break Ok(()),
                }
            };
            drop(rows);
            self.note(ended)?;
            self.keep();
        }
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

impl<D: Engine> Drop for Kept<D> {
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
    /// Takes one for whoever has the right to it.
    pub(super) async fn take(&self, share: Option<Place>) -> Result<Connection, Error> {
        match self {
            Self::Sqlite(kept) => kept.take(share).await.map(Connection::Sqlite),
            Self::Postgres(kept) => kept.take(share).await.map(Connection::Postgres),
        }
    }

    /// Closes all connections; what runs ends first.
    pub(super) async fn close(&self) {
        each!(self, kept => kept.close().await);
    }
}

/// A connection of either database, for one piece of work. One that is dropped goes back to the pool, once what runs on
/// it was ended.
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

    /// The first rows of a statement, up to a limit.
    pub(super) async fn first_rows(
        self,
        statement: Statement,
        limit: ReadLimit<'_>,
    ) -> Result<FirstRows, Error> {
        each!(self, taken => taken.first_rows(statement, limit).await)
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

    /// The rows of a statement, as they come. The connection is held until they were taken, or this is
    /// dropped.
    pub(super) fn stream(
        self,
        statement: Statement,
    ) -> BoxStream<'static, Result<QueryResult, Error>> {
        each!(self, taken => taken.stream(statement).boxed())
    }

    /// Keeps the connection, whose work ended well.
    pub(super) fn keep(self) {
        each!(self, taken => taken.keep());
    }

    /// Closes the connection, of which nobody knows what it is in the middle of.
    pub(super) fn close(self) {
        each!(self, taken => taken.close());
    }

    /// Rolls the open transaction back in a task of its own, and keeps the connection.
    pub(super) fn roll_back(mut self) {
        each!(&mut self, taken => taken.free(true));
    }
}
