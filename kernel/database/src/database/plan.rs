//! The plans of statements.

use sea_orm::{DbBackend, Statement};
use svc_core::Result;

use super::{Database, rows_on};
use crate::backend::Backend;
use crate::error::{column, sqlx_error};

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
        let mut connection = self.reading().await?;
        if self.0.backend == Backend::Sqlite {
            // Only what reads looks whether there are newer statistics.
            let read =
                Statement::from_string(DbBackend::Sqlite, "SELECT 1 FROM sqlite_schema LIMIT 1");
            let _ = connection.rows(read).await.map_err(sqlx_error)?;
        }
        rows_on(connection, statement).await?.iter().map(|row| column(row, place)).collect()
    }
}
