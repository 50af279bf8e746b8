//! The database behind an application: SQLite in one file, or PostgreSQL.
//!
//! On SQLite one connection writes and several read, in WAL mode, so that readers never wait for
//! the writer and two writers never meet in the file. On PostgreSQL there is one pool.
//!
//! Who uses a connection says so by the handle that it asks ([`Database::shared_by`],
//! [`Database::essential`]); `lanes` says what that gives.
//!
//! What runs statements answers with a boxed future, here and in the units of work above. An `async fn` would be a part of the future
//! of whoever calls it, up to each handler, and the compiler would prove of each of these anew that all of it may go to another thread:
//! the largest module took 1.8 times as long to compile (with what [`svc_core::Opaque`] spares). The box costs an allocation beside a statement.

mod abandoned;
mod checkpoint;
mod kept;
mod lanes;
mod marks;
mod measured;
mod plan;
mod statistics;
mod transaction;

use std::fmt::{self, Write as _};
use std::fs::{File, TryLockError};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use sea_orm::sea_query::SelectStatement;
use sea_orm::{ConnectionTrait as _, DatabaseConnection, DbBackend, QueryResult, Statement};
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use svc_core::{Clock, Error, Opaque, Result, Share, opaque};
use tokio::sync::Notify;

use abandoned::look_for_client;
use checkpoint::Checkpoints;
use kept::{Connection, Connections, Kept, Watching};
pub use lanes::CursorRows;
use lanes::{Lane, Lanes};
use marks::{keep_plan, number_marks};
pub use measured::{FirstRows, ReadLimit};
pub use transaction::Transaction;

use crate::backend::Backend;
use crate::error::{database_error, sqlx_error};
use crate::joined::current_in;
use crate::settings::{DatabaseSettings, Durability};
use crate::statement_limit::{Watch, Watches};
use crate::stored::for_sqlite;

/// A connected database. Cheap to clone.
#[derive(Clone)]
pub struct Database(Opaque<Inner>, Lane);

struct Inner {
    backend: Backend,
    read: DatabaseConnection,
    postgres: Option<PgPool>,
    readers: Connections,
    writers: Connections,
    /// What [`Database::essential`] reads through.
    essential: Connections,
    lanes: Lanes,
    /// None for a database in memory, and on PostgreSQL.
    _checkpoints: Option<Checkpoints>,
    /// The file of SQLite; none for one in memory, and on PostgreSQL.
    file: Option<PathBuf>,
    /// Held while this process serves the file.
    lock: OnceLock<File>,
    /// Zero is no limit.
    statement_timeout: Duration,
    /// How long a request may keep SQLite's writer.
    write_turn: Duration,
    /// What ends statements of SQLite's writer; without effect on PostgreSQL.
    writer_watch: Arc<Watch>,
}

impl Database {
    /// Connects once.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Unavailable`](svc_core::ErrorKind::Unavailable), transient, when the database
    /// can't be reached; [`ErrorKind::Invalid`](svc_core::ErrorKind::Invalid) when the URL can't
    /// be read.
    pub async fn connect(url: &str, settings: &DatabaseSettings) -> Result<Self> {
        let expected = |expected| Error::invalid(format!("expected the URL {expected}"));
        let backend = Backend::of_url(url).map_err(expected)?;
        let inner = match backend {
            Backend::Sqlite => connect_sqlite(url, settings).await?,
            Backend::Postgres => connect_postgres(url, settings).await?,
        };
        Ok(Self(opaque(inner), Lane::Background))
    }

    /// Connects, and waits for a database that is not up yet: `attempts` tries with growing
    /// pauses of at most five seconds.
    ///
    /// # Errors
    ///
    /// As [`Database::connect`], after the last attempt.
    pub async fn connect_patiently(
        url: &str,
        settings: &DatabaseSettings,
        attempts: u32,
    ) -> Result<Self> {
        let mut attempt = 1;
        loop {
            match Self::connect(url, settings).await {
                Err(error) if error.is_transient() && attempt < attempts => {
                    tracing::warn!(
                        attempt,
                        attempts,
                        error = error.report(),
                        "the database is not there yet"
                    );
                    let pause = Duration::from_millis(250) * attempt;
                    tokio::time::sleep(pause.min(Duration::from_secs(5))).await;
                    attempt += 1;
                }
                outcome => return outcome,
            }
        }
    }

    /// The same database for a request: it takes no more connections at once than its person and
    /// its organisation may have, and waits in turn with others.
    #[must_use]
    pub fn shared_by(&self, share: Share) -> Self {
        Self(Arc::clone(&self.0), Lane::Share(share))
    }

    /// The same database for what everything else hangs on, such as looking up who calls: it reads
    /// through connections that nobody else takes (`Svc:Database:ReservedConnections`).
    #[must_use]
    pub fn essential(&self) -> Self {
        Self(Arc::clone(&self.0), Lane::Essential)
    }

    /// Whether a connection keeps a statement prepared for the next time: long ones were made by one
    /// caller for one question.
    #[must_use]
    pub fn stays_prepared(statement: &Statement) -> bool {
        kept::is_kept(statement)
    }

    /// Whether both are handles of one connected database.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Which database it is.
    #[must_use]
    pub fn backend(&self) -> Backend {
        self.0.backend
    }

    /// The connections that only read (on SQLite the file refuses writes through them).
    #[must_use]
    pub fn reader(&self) -> &DatabaseConnection {
        &self.0.read
    }

    /// PostgreSQL's own pool, for what SeaORM doesn't offer (LISTEN); none on SQLite.
    #[must_use]
    pub fn postgres(&self) -> Option<&PgPool> {
        self.0.postgres.as_ref()
    }

    /// Makes a statement from SQL with `?` for each value, for either database.
    #[must_use]
    pub fn statement(
        &self,
        sql: &str,
        values: impl IntoIterator<Item = sea_orm::Value>,
    ) -> Statement {
        match self.0.backend {
            Backend::Sqlite => keep_plan(for_sqlite(Statement::from_sql_and_values(
                DbBackend::Sqlite,
                sql,
                values,
            ))),
            Backend::Postgres => {
                Statement::from_sql_and_values(DbBackend::Postgres, number_marks(sql), values)
            }
        }
    }

    /// Builds a statement of the query builder for this database.
    #[must_use]
    pub fn build(&self, statement: &impl sea_orm::StatementBuilder) -> Statement {
        match self.0.backend {
            Backend::Sqlite => keep_plan(for_sqlite(DbBackend::Sqlite.build(statement))),
            Backend::Postgres => DbBackend::Postgres.build(statement),
        }
    }

    /// The same for the first so many rows, of a statement that every caller's values may be planned alike for: PostgreSQL keeps
    /// one plan for all of them, where it would plan anew each time.
    ///
    /// It compares what a plan costs with and without knowing the values. Behind `LIMIT` it takes an unknown number for a
    /// tenth of all rows, so the number stands in the text. Rare and common values that are planned alike make
    /// slow pages, so whoever filters by what a person has written says [`Database::build`].
    #[must_use]
    pub fn build_first(&self, select: &mut SelectStatement, count: u64) -> Statement {
        match self.0.backend {
            Backend::Sqlite => self.build(select.limit(count)),
            Backend::Postgres => {
                let mut statement = self.build(select);
                let _ = write!(statement.sql, " LIMIT {count}");
                statement
            }
        }
    }

    /// Begins a transaction that may write; on SQLite it takes the writer's place at once, so
    /// that no statement in it can find the database busy.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Unavailable`](svc_core::ErrorKind::Unavailable) when no connection is free in
    /// time or the database is gone.
    #[must_use]
    pub fn begin(&self) -> BoxFuture<'_, Result<Transaction>> {
        Box::pin(async move { Transaction::begin(self.writer().await?).await })
    }

    /// Lets what runs in a transaction take as long as it likes.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub(crate) async fn lift_limit(&self, transaction: &Transaction) -> Result<()> {
        self.0.writer_watch.lift();
        if self.0.backend == Backend::Postgres {
            let lift = "SET LOCAL statement_timeout = 0";
            transaction.execute_unprepared(lift).await.map_err(database_error)?;
        }
        Ok(())
    }

    /// Whether the open transaction can go on. On PostgreSQL its next statement tells.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Unavailable`](svc_core::ErrorKind::Unavailable) when a statement of it took
    /// too long.
    pub fn check_transaction(&self) -> Result<()> {
        self.0.writer_watch.check()
    }

    /// How long a statement may take until it is ended; none where there is no limit.
    #[must_use]
    pub fn statement_timeout(&self) -> Option<Duration> {
        Some(self.0.statement_timeout).filter(|limit| !limit.is_zero())
    }

    /// Asks the database whether it is there.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Unavailable`](svc_core::ErrorKind::Unavailable) when it is not.
    pub async fn ping(&self) -> Result<()> {
        self.essential().rows(self.statement("SELECT 1", [])).await.map(drop)
    }

    /// Makes the clock follow PostgreSQL's, so that all nodes agree on what is due. Half of the
    /// round trip is taken as the way back.
    ///
    /// # Errors
    ///
    /// When the database can't be asked.
    pub async fn synchronise(&self, clock: &Clock) -> Result<()> {
        if self.0.backend == Backend::Sqlite || clock.is_manual() {
            return Ok(());
        }
        let begun = Instant::now();
        let rows = self.essential().rows(self.statement("SELECT clock_timestamp()", [])).await?;
        let way_back = begun.elapsed() / 2;
        let missing = || Error::internal("the database tells no time");
        let shown = rows.first().ok_or_else(missing)?.try_get_by_index(0);
        let shown: time::OffsetDateTime = shown.map_err(database_error)?;
        clock.follow(shown + way_back);
        Ok(())
    }

    /// Takes the database for this process, until it ends or all clones of this are dropped. On
    /// SQLite a second process that serves the same file would take over what the first is doing,
    /// and hear of none of its changes. PostgreSQL is for many nodes: there this does nothing.
    ///
    /// The lock is one of the operating system, on a file beside the database, so that a process
    /// that is killed leaves none behind. Commands that only read or repair don't take it.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Conflict`](svc_core::ErrorKind::Conflict) when another process has it;
    /// [`ErrorKind::Internal`](svc_core::ErrorKind::Internal) when the file can't be made.
    pub fn take_for_this_process(&self) -> Result<()> {
        let Some(path) = &self.0.file else { return Ok(()) };
        let mut lock_path = path.clone().into_os_string();
        lock_path.push(".lock");
        let fault = |error: std::io::Error| {
            let context = format!("the file `{}` can't be locked", lock_path.display());
            Error::internal(context).caused_by(error)
        };
        let mut options = File::options();
        let lock = options.create(true).truncate(false).write(true).open(&lock_path);
        let lock = lock.map_err(fault)?;
        match lock.try_lock() {
            Ok(()) => {
                // A second call finds the file locked by the first, and doesn't come here.
                self.0.lock.get_or_init(|| lock);
                Ok(())
            }
            Err(TryLockError::WouldBlock) => Err(Error::conflict(format!(
                "another process serves the database `{}` already; stop that first, or use \
                 PostgreSQL, which many nodes can share",
                path.display()
            ))),
            Err(TryLockError::Error(error)) => Err(fault(error)),
        }
    }

    /// Gathers what SQLite's planner needs to know of tables that are new, or grew. It goes on by
    /// itself while data is written; PostgreSQL does all of it itself.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn gather_statistics(&self) -> Result<()> {
        match self.0.backend {
            Backend::Sqlite => statistics::gather(&self.0.writers).await.map_err(sqlx_error),
            Backend::Postgres => Ok(()),
        }
    }

    /// Closes all connections; running statements end first.
    pub async fn close(&self) {
        self.0.essential.close().await;
        self.0.readers.close().await;
        self.0.writers.close().await;
    }

    /// Runs a statement that answers with rows, outside a unit of work, on the reading side.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    #[must_use]
    pub fn rows(&self, statement: Statement) -> BoxFuture<'_, Result<Vec<QueryResult>>> {
        Box::pin(async move { rows_on(self.reading().await?, statement).await })
    }

    /// As [`Database::rows`], but no more than a limit allows, give or take a row.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    #[must_use]
    pub fn first_rows<'a>(
        &'a self,
        statement: Statement,
        limit: ReadLimit<'a>,
    ) -> BoxFuture<'a, Result<FirstRows>> {
        Box::pin(async move {
            self.reading().await?.first_rows(statement, limit).await.map_err(sqlx_error)
        })
    }

    /// As [`Database::rows`], of which only the first is of interest.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    #[must_use]
    pub fn row(&self, statement: Statement) -> BoxFuture<'_, Result<Option<QueryResult>>> {
        Box::pin(async move {
            let mut connection = self.reading().await?;
            let row = connection.row(statement).await.map_err(sqlx_error)?;
            connection.keep();
            Ok(row)
        })
    }

    /// Runs a statement that writes by itself, and says how many rows it touched; within a
    /// [transaction](crate::joined) of the same task it is part of that, which on SQLite has the only writer. *Not observed*: no
    /// event, no history, no organisation filter.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    #[must_use]
    pub fn execute(&self, statement: Statement) -> BoxFuture<'_, Result<u64>> {
        Box::pin(async move {
            if let Some(transaction) = current_in(self) {
                return transaction.execute(statement).await;
            }
            let mut connection = self.writer().await?;
            let outcome = connection.execute(statement).await.map_err(sqlx_error)?;
            connection.keep();
            Ok(outcome.rows_affected())
        })
    }

    /// As [`Database::execute`], for a statement that answers with rows.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    #[must_use]
    pub fn execute_returning(
        &self,
        statement: Statement,
    ) -> BoxFuture<'_, Result<Vec<QueryResult>>> {
        Box::pin(async move {
            if let Some(transaction) = current_in(self) {
                return transaction.rows(statement).await;
            }
            rows_on(self.writer().await?, statement).await
        })
    }

    /// Runs a statement outside a unit of work, on a connection of the reading side that is held
    /// until its rows were taken, or the stream is dropped.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Unavailable`](svc_core::ErrorKind::Unavailable) when no connection is free in
    /// time.
    #[must_use]
    pub fn cursor(&self, statement: Statement) -> BoxFuture<'_, Result<CursorRows>> {
        Box::pin(async move { Ok(CursorRows::new(self.reading().await?, statement)) })
    }
}

/// All rows of a statement that runs by itself.
async fn rows_on(mut connection: Connection, statement: Statement) -> Result<Vec<QueryResult>> {
    let rows = connection.rows(statement).await.map_err(sqlx_error)?;
    connection.keep();
    Ok(rows)
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Database").field(&self.0.backend).finish()
    }
}

async fn connect_sqlite(url: &str, settings: &DatabaseSettings) -> Result<Inner> {
    let options: SqliteConnectOptions = url.parse().map_err(|error: sqlx::Error| {
        Error::invalid("the URL of the SQLite database can't be read").caused_by(error)
    })?;
    let options = options
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(match settings.durability {
            Durability::Normal => SqliteSynchronous::Normal,
            Durability::Full => SqliteSynchronous::Full,
        })
        .foreign_keys(true)
        .busy_timeout(settings.busy_timeout)
        .statement_cache_capacity(kept::STATEMENTS)
        .pragma("journal_size_limit", "67108864");
    let is_in_memory = url.contains(":memory:") || url.contains("mode=memory");
    let file = (!is_in_memory).then(|| options.get_filename().to_owned());
    // The writer comes first: it makes the file that readers open.
    let write = SqlitePoolOptions::new()
        .max_connections(1)
        .acquire_timeout(settings.acquire_timeout)
        .test_before_acquire(false)
        .idle_timeout(None)
        .max_lifetime(None)
        .connect_with(
            options
                .clone()
                .pragma("wal_autocheckpoint", checkpoint::MOST.to_string())
                // What a statement would undo, page by page: a file for it costs as much as the change itself.
                .pragma("temp_store", "memory"),
        )
        .await
        .map_err(sqlx_error)?;
    let options = options.pragma("query_only", "on");
    let watches = Watches::new(settings.statement_timeout);
    let read_through = |connections: u32| {
        watches
            .apply(SqlitePoolOptions::new())
            .max_connections(connections)
            .acquire_timeout(settings.acquire_timeout)
            .test_before_acquire(false)
            .max_lifetime(None)
    };
    let read: SqlitePool = read_through(settings.max_connections)
        .connect_with(options.clone())
        .await
        .map_err(sqlx_error)?;
    let reserved = read_through(settings.reserved_connections).connect_lazy_with(options);
    let written = Arc::new(Notify::new());
    let essential = Kept::most(reserved, Watching::Each(watches.clone()));
    let readers = Connections::Sqlite(Kept::most(read.clone(), Watching::Each(watches)));
    let writer_watch = Watches::new(settings.statement_timeout).one();
    let watching = Watching::One(Arc::clone(&writer_watch));
    let writers = Connections::Sqlite(Kept::all(write, watching, Arc::clone(&written)));
    let checkpoints =
        file.is_some().then(|| Checkpoints::begin(readers.clone(), writers.clone(), written));
    Ok(Inner {
        backend: Backend::Sqlite,
        // What is in memory is seen through one pool alone.
        essential: if is_in_memory { readers.clone() } else { Connections::Sqlite(essential) },
        lanes: Lanes::for_sqlite(settings),
        readers,
        writers,
        _checkpoints: checkpoints,
        read: read.into(),
        postgres: None,
        file,
        lock: OnceLock::new(),
        statement_timeout: settings.statement_timeout,
        write_turn: settings.write_turn,
        writer_watch,
    })
}

async fn connect_postgres(url: &str, settings: &DatabaseSettings) -> Result<Inner> {
    let options: PgConnectOptions = url.parse().map_err(|error: sqlx::Error| {
        Error::invalid("the URL of the PostgreSQL database can't be read").caused_by(error)
    })?;
    let timeout_ms = settings.statement_timeout.as_millis();
    let options = options
        .options([("statement_timeout", timeout_ms.to_string()), ("timezone", "UTC".to_owned())])
        .statement_cache_capacity(kept::STATEMENTS);
    let pool_of = |connections: u32| {
        look_for_client(PgPoolOptions::new())
            .max_connections(connections)
            .acquire_timeout(settings.acquire_timeout)
            .test_before_acquire(false)
    };
    let pool = pool_of(settings.max_connections)
        .connect_with(options.clone())
        .await
        .map_err(sqlx_error)?;
    let reserved = pool_of(settings.reserved_connections).connect_lazy_with(options);
    let connections = Connections::Postgres(Kept::most(pool.clone(), Watching::Nothing));
    Ok(Inner {
        backend: Backend::Postgres,
        readers: connections.clone(),
        writers: connections,
        essential: Connections::Postgres(Kept::most(reserved, Watching::Nothing)),
        lanes: Lanes::for_postgres(settings),
        _checkpoints: None,
        read: pool.clone().into(),
        postgres: Some(pool),
        file: None,
        lock: OnceLock::new(),
        statement_timeout: settings.statement_timeout,
        write_turn: settings.write_turn,
        writer_watch: Arc::default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_scheme_is_refused() {
        assert_eq!(Backend::of_url("postgres://a@b/c"), Ok(Backend::Postgres));
        assert!(Backend::of_url("mysql://a@b/c").is_err());
        assert!(Backend::of_url("shop.db").is_err());
    }
}
