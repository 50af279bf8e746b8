//! Makes what a task asks of a database part of a transaction that it has open.
//!
//! SQLite has one writer. Whoever writes by [`Database::execute`] while the same task holds the writer
//! would wait for itself, so it joins the transaction instead, on both databases.

use std::sync::Arc;

use async_trait::async_trait;
use sea_orm::{QueryResult, Statement};
use svc_core::Result;

use crate::database::Database;

/// What runs statements within an open transaction.
#[async_trait]
pub trait Joined: Send + Sync {
    /// Runs a statement and says how many rows it touched.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    async fn execute(&self, statement: Statement) -> Result<u64>;

    /// Runs a statement that answers with rows.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    async fn rows(&self, statement: Statement) -> Result<Vec<QueryResult>>;
}

tokio::task_local! {
    static CURRENT: (Database, Arc<dyn Joined>);
}

/// Runs `work`, whose statements by [`Database::execute`] and [`Database::execute_returning`] are
/// part of `transaction`, which is one of `database`.
pub fn within<F: Future>(
    database: Database,
    transaction: Arc<dyn Joined>,
    work: F,
) -> impl Future<Output = F::Output> + use<F> {
    CURRENT.scope((database, transaction), work)
}

/// The transaction that this task has open, if it is one of the same database.
pub(crate) fn current_in(database: &Database) -> Option<Arc<dyn Joined>> {
    let (of, transaction) = CURRENT.try_with(Clone::clone).ok()?;
    of.is_same(database).then_some(transaction)
}
