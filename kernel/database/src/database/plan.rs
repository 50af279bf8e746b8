//! The plans of statements.

use sea_orm::Statement;
use svc_core::Result;

use super::Database;
use crate::backend::Backend;
use crate::error::column;

impl Database {
    /// How the database would answer a statement: the steps of its plan, a line for each. For those who
    /// look for a missing index.
    ///
    /// # Errors
    ///
    /// As [`Database::rows`].
    pub async fn explain(&self, mut statement: Statement) -> Result<Vec<String>> {
        let (explain, place) = match self.0.backend {
            Backend::Sqlite => ("EXPLAIN QUERY PLAN", 3),
            Backend::Postgres => ("EXPLAIN", 0),
        };
        statement.sql = format!("{explain} {}", statement.sql);
        self.rows(statement).await?.iter().map(|row| column(row, place)).collect()
    }
}
