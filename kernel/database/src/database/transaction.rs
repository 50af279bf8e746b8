//! An open transaction, on a connection that is kept for the next.
//!
//! | When | its connection |
//! | --- | --- |
//! | it is committed, or rolled back | is kept |
//! | that fails | is closed, by which the database rolls back |
//! | it is dropped open | is told to roll back in a task of its own, behind a statement that is [ended](super::abandoned), and kept |
//!
//! A statement that fails spoils the transaction, or the nested one that it was part of: on PostgreSQL
//! nothing more can be done in it, and a COMMIT would roll back without a word. So a commit of what
//! is spoilt is refused, on both databases.

use async_trait::async_trait;
use sea_orm::{ConnectionTrait, DbBackend, DbErr, ExecResult, QueryResult, RuntimeErr, Statement};
use svc_core::{Error, ErrorKind, Result};
use tokio::sync::Mutex;

use super::kept::Connection;
use crate::commits;
use crate::error::{loses_connection, outcome_unknown, sqlx_error};

/// An open transaction. One that is dropped is rolled back.
///
/// SeaORM's own calls run on it, as on any connection. What they write is *not observed*: no event,
/// no history, no organisation filter.
pub struct Transaction {
    backend: DbBackend,
    open: Mutex<Open>,
}

struct Open {
    /// None after the end.
    connection: Option<Connection>,
    /// How many nested transactions are open.
    depth: usize,
    /// How deep the outermost statement was that failed.
    spoilt_at: Option<usize>,
}

impl Transaction {
    /// Begins one that may write; on SQLite it takes the writer's place at once, so that no
    /// statement in it can find the database busy.
    pub(super) async fn begin(connection: Connection) -> Result<Self> {
        let backend = connection.backend();
        let begin = if backend == DbBackend::Sqlite { "BEGIN IMMEDIATE" } else { "BEGIN" };
        // Whoever stops waiting here drops it open.
        let connection = Some(connection);
        let mut open = Open { connection, depth: 0, spoilt_at: None };
        open.control(begin).await?;
        Ok(Self { backend, open: Mutex::new(open) })
    }

    /// Begins a nested transaction: what follows can be undone on its own.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn begin_nested(&self) -> Result<()> {
        let mut open = self.open.lock().await;
        let savepoint = format!("SAVEPOINT nested_{}", open.depth + 1);
        open.control(&savepoint).await?;
        open.depth += 1;
        Ok(())
    }

    /// Ends the innermost nested transaction; what it did becomes part of the one around it.
    ///
    /// # Errors
    ///
    /// As [`Transaction::commit`].
    pub async fn commit_nested(&self) -> Result<()> {
        let mut open = self.open.lock().await;
        if let Err(spoilt) = open.check() {
            open.rollback_nested().await?;
            return Err(spoilt);
        }
        let release = format!("RELEASE SAVEPOINT nested_{}", open.depth);
        open.control(&release).await?;
        open.depth -= 1;
        Ok(())
    }

    /// Undoes the innermost nested transaction.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn rollback_nested(&self) -> Result<()> {
        self.open.lock().await.rollback_nested().await
    }

    /// Makes sure that nothing of it is ever stored.
    pub async fn spoil(&self) {
        self.open.lock().await.spoilt_at = Some(0);
    }

    /// Stores what was done.
    ///
    /// # Errors
    ///
    /// A fault of the database; [`ErrorKind::Internal`](svc_core::ErrorKind::Internal) when a
    /// statement failed and nobody minded. Then nothing is stored.
    /// [`ErrorKind::OutcomeUnknown`](svc_core::ErrorKind::OutcomeUnknown) when the connection was lost before the database answered:
    /// then all of it is stored, or nothing.
    pub async fn commit(self) -> Result<()> {
        self.commit_after(Vec::new()).await
    }

    /// Runs statements whose answers nobody needs, and stores what was done. SQLite gets them together
    /// with the COMMIT, since each message to its thread costs as much as a small statement.
    ///
    /// # Errors
    ///
    /// As [`Transaction::commit`]; a fault of one of the statements, and then nothing is stored.
    pub async fn commit_after(self, mut last: Vec<Statement>) -> Result<()> {
        let mut open = self.open.into_inner();
        if let Err(spoilt) = open.check() {
            open.end("ROLLBACK").await?;
            return Err(spoilt);
        }
        if self.backend != DbBackend::Sqlite {
            for statement in last.drain(..) {
                if let Err(error) = open.execute(statement).await {
                    open.end("ROLLBACK").await?;
                    return Err(sqlx_error(error));
                }
            }
        }
        commits::begins();
        open.commit(last).await.map_err(|error| {
            let error = commit_error(error);
            if error.kind() != ErrorKind::OutcomeUnknown {
                commits::failed();
            }
            error
        })
    }

    /// Undoes what was done.
    ///
    /// # Errors
    ///
    /// A fault of the database, which then undoes it by itself.
    pub async fn rollback(self) -> Result<()> {
        self.open.into_inner().end("ROLLBACK").await
    }
}

impl Open {
    /// Whether all that was asked for was done.
    fn check(&self) -> Result<()> {
        if self.spoilt_at.is_none_or(|depth| depth > self.depth) {
            return Ok(());
        }
        Err(Error::internal(
            "a part of the work failed and its error was passed over, so nothing is stored; let the \
             error end the work, or do what may fail in a unit of work of its own within this one",
        ))
    }

    async fn rollback_nested(&mut self) -> Result<()> {
        let undo = format!("ROLLBACK TO SAVEPOINT nested_{}", self.depth);
        self.control(&undo).await?;
        if self.spoilt_at == Some(self.depth) {
            self.spoilt_at = None;
        }
        let release = format!("RELEASE SAVEPOINT nested_{}", self.depth);
        self.control(&release).await?;
        self.depth -= 1;
        Ok(())
    }

    /// Ends the whole, and keeps the connection.
    async fn end(&mut self, sql: &str) -> Result<()> {
        self.finish(sql).await.map_err(sqlx_error)
    }

    async fn finish(&mut self, sql: &str) -> Result<(), sqlx::Error> {
        let ended = self.script(sql).await.map(drop);
        self.leave(ended)
    }

    /// Commits, on SQLite behind statements in the same message.
    async fn commit(&mut self, last: Vec<Statement>) -> Result<(), sqlx::Error> {
        if last.is_empty() {
            return self.finish("COMMIT").await;
        }
        let ended = self.execute(followed_by_commit(last)).await.map(drop);
        self.leave(ended)
    }

    /// Keeps the connection behind the end of the whole, or closes it, by which the database rolls back.
    fn leave(&mut self, ended: Result<(), sqlx::Error>) -> Result<(), sqlx::Error> {
        let Some(connection) = self.connection.take() else { return ended };
        match ended {
            Ok(()) => connection.keep(),
            Err(_) => connection.close(),
        }
        ended
    }

    /// Runs a statement that begins or ends something.
    async fn control(&mut self, sql: &str) -> Result<()> {
        self.script(sql).await.map(drop).map_err(sqlx_error)
    }

    async fn script(&mut self, sql: &str) -> Result<ExecResult, sqlx::Error> {
        let outcome = self.connection()?.script(sql).await;
        self.note(outcome)
    }

    async fn execute(&mut self, statement: Statement) -> Result<ExecResult, sqlx::Error> {
        let outcome = self.connection()?.execute(statement).await;
        self.note(outcome)
    }

    async fn row(&mut self, statement: Statement) -> Result<Option<QueryResult>, sqlx::Error> {
        let row = self.connection()?.row(statement).await;
        self.note(row)
    }

    async fn rows(&mut self, statement: Statement) -> Result<Vec<QueryResult>, sqlx::Error> {
        let rows = self.connection()?.rows(statement).await;
        self.note(rows)
    }

    fn connection(&mut self) -> Result<&mut Connection, sqlx::Error> {
        self.connection.as_mut().ok_or(sqlx::Error::PoolClosed)
    }

    fn note<T>(&mut self, outcome: Result<T, sqlx::Error>) -> Result<T, sqlx::Error> {
        if outcome.is_err() {
            self.spoilt_at.get_or_insert(self.depth);
        }
        outcome
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            connection.roll_back();
        }
    }
}

#[async_trait]
impl ConnectionTrait for Transaction {
    fn get_database_backend(&self) -> DbBackend {
        self.backend
    }

    async fn execute_raw(&self, statement: Statement) -> Result<ExecResult, DbErr> {
        self.open.lock().await.execute(statement).await.map_err(exec_error)
    }

    async fn execute_unprepared(&self, sql: &str) -> Result<ExecResult, DbErr> {
        self.open.lock().await.script(sql).await.map_err(exec_error)
    }

    async fn query_one_raw(&self, statement: Statement) -> Result<Option<QueryResult>, DbErr> {
        self.open.lock().await.row(statement).await.map_err(query_error)
    }

    async fn query_all_raw(&self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
        self.open.lock().await.rows(statement).await.map_err(query_error)
    }
}

/// All of them and a COMMIT as one statement of SQLite, whose marks take the values in their order.
fn followed_by_commit(last: Vec<Statement>) -> Statement {
    let (mut sql, mut values) = (String::new(), Vec::new());
    for statement in last {
        sql.push_str(&statement.sql);
        sql.push_str("; ");
        values.extend(statement.values.into_iter().flat_map(|values| values.0));
    }
    sql.push_str("COMMIT");
    Statement::from_sql_and_values(DbBackend::Sqlite, sql, values)
}

/// What a fault of COMMIT means. Where the database answered, nothing is stored; where the connection
/// was lost, nobody knows, and doing the work again might do it twice.
fn commit_error(error: sqlx::Error) -> Error {
    if loses_connection(&error) { outcome_unknown().caused_by(error) } else { sqlx_error(error) }
}

fn exec_error(error: sqlx::Error) -> DbErr {
    DbErr::Exec(RuntimeErr::SqlxError(error.into()))
}

fn query_error(error: sqlx::Error) -> DbErr {
    DbErr::Query(RuntimeErr::SqlxError(error.into()))
}
