//! Connections that are left in the middle of a statement: the client of a request is gone, or its time is over, and
//! what waited for the statement was dropped.
//!
//! The database knows nothing of that. The statement is ended, so that it takes neither a connection nor the
//! machine from others, and nobody gets the connection before:
//!
//! | | SQLite | PostgreSQL |
//! | --- | --- | --- |
//! | at once | the connection's [`Watch`] ends the statement when it is asked next, within milliseconds | most statements are over before anything is worth doing: it has [`PATIENCE`] |
//! | then | the connection is kept | the connection is kept, or closed where the statement goes on; the server looks every [`LOOKS`] whether its client is there (`client_connection_check_interval`), and ends it |
//! | the place of the request among others is free | then | when the server has looked |
//!
//! So whoever begins requests and leaves them gets no more statements at work than whoever waits for them. A
//! transaction is rolled back on the way. A server that can't look (PostgreSQL before 14, or on Windows) goes on until
//! `Svc:Database:StatementTimeout`; the log says so once.

use std::sync::{Arc, Once};
use std::time::Duration;

use sqlx::pool::PoolOptions;
use sqlx::postgres::PgConnection;
use sqlx::sqlite::SqliteConnection;
use sqlx::{Connection, Error, Executor as _, Postgres};
use tokio::time::{sleep, timeout};

use crate::statement_limit::Watch;

/// How long a statement of PostgreSQL that nobody waits for may take to end by itself.
const PATIENCE: Duration = Duration::from_millis(100);

/// How often PostgreSQL looks whether the client of a statement is there.
const LOOKS: Duration = Duration::from_millis(200);

/// How long it may take until it has looked.
const LOOKED: Duration = Duration::from_millis(300);

/// How long it may take to say goodbye.
const GOODBYE: Duration = Duration::from_secs(1);

/// What ends a statement on a connection of either database.
pub(super) trait Ending: Connection + Send {
    /// How long a statement may take to end after nobody waits for it; none where it is ended.
    const PATIENCE: Option<Duration>;

    /// How long the database may take to notice that a connection was closed.
    const NOTICES_AFTER: Duration;

    /// Has a connection watched from now on.
    fn watch(&mut self, watch: &Arc<Watch>) -> impl Future<Output = Result<(), Error>> + Send;

    /// Waits until a connection is free, and rolls its transaction back, where one is open.
    fn free(&mut self, in_transaction: bool) -> impl Future<Output = Result<(), Error>> + Send;
}

impl Ending for SqliteConnection {
    const PATIENCE: Option<Duration> = None;
    const NOTICES_AFTER: Duration = Duration::ZERO;

    fn watch(&mut self, watch: &Arc<Watch>) -> impl Future<Output = Result<(), Error>> + Send {
        watch.begin(self)
    }

    async fn free(&mut self, in_transaction: bool) -> Result<(), Error> {
        if in_transaction { self.execute("ROLLBACK").await.map(drop) } else { self.ping().await }
    }
}

impl Ending for PgConnection {
    const PATIENCE: Option<Duration> = Some(PATIENCE);
    const NOTICES_AFTER: Duration = LOOKED;

    async fn watch(&mut self, _: &Arc<Watch>) -> Result<(), Error> {
        Ok(())
    }

    async fn free(&mut self, in_transaction: bool) -> Result<(), Error> {
        if in_transaction { self.execute("ROLLBACK").await.map(drop) } else { self.ping().await }
    }
}

/// Waits for what makes a connection free again, as long as that is worth it. Answers whether it is free.
pub(super) async fn freed<C: Ending>(work: impl Future<Output = Result<(), Error>>) -> bool {
    match C::PATIENCE {
        Some(patience) => matches!(timeout(patience, work).await, Ok(Ok(()))),
        None => work.await.is_ok(),
    }
}

/// Waits until a connection is closed, and the database has noticed.
pub(super) async fn gone<C: Ending>(closing: impl Future<Output = Result<(), Error>>) {
    // What can't say goodbye is cut off, which the database notices as well.
    let _ = timeout(GOODBYE, closing).await;
    sleep(C::NOTICES_AFTER).await;
}

/// Has the server look whether the client of a statement is there.
pub(super) fn look_for_client(options: PoolOptions<Postgres>) -> PoolOptions<Postgres> {
    static TOLD: Once = Once::new();
    options.after_connect(|connection, _| {
        Box::pin(async move {
            let sql = format!("SET client_connection_check_interval = {}", LOOKS.as_millis());
            match connection.execute(sqlx::AssertSqlSafe(sql)).await {
                Err(Error::Database(cause)) => TOLD.call_once(|| {
                    tracing::warn!(
                        %cause,
                        "this PostgreSQL can't look whether a client is there (14 and later can), so a \
                         statement whose request was given up goes on until its limit"
                    );
                }),
                outcome => {
                    outcome?;
                }
            }
            Ok(())
        })
    })
}
