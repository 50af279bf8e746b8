//! What SQLite's planner knows of the tables.
//!
//! Without statistics SQLite takes every index for as good as any other, and often the wrong one.
//! PostgreSQL gathers them by itself; here it is done when the schema is up to date at a start, and
//! while data is written, at most once in [`PAUSE`]. SQLite decides which tables it is worth for
//! (`PRAGMA optimize`): those without statistics, and those that grew or shrank tenfold; of each
//! index it looks at some [`ROWS`] rows, so this is a matter of milliseconds.
//!
//! Other connections read statistics with the schema. So behind new ones the schema is changed in
//! nothing but its number, by a view that comes and goes; their prepared statements are planned anew.

use std::time::Duration;

use sea_orm::{DbBackend, Statement};
use sqlx::Error;

use super::kept::Connections;

/// How long no statistics are gathered again.
pub(super) const PAUSE: Duration = Duration::from_secs(10);

/// Rows of an index that are looked at.
const ROWS: u32 = 1_000;

/// All tables, whether this connection has read them or not.
const ALL: u32 = 0x1_0002;

/// The same, only to say what would be done.
const ALL_IF: u32 = 0x1_0003;

/// Gathers what is missing or outdated.
pub(super) async fn gather(writers: &Connections) -> Result<(), Error> {
    let mut connection = writers.take(None).await?;
    let sql = format!("PRAGMA optimize = {ALL_IF}");
    let work = connection.rows(Statement::from_string(DbBackend::Sqlite, sql)).await?;
    if !work.is_empty() {
        let sql = format!(
            "PRAGMA analysis_limit = {ROWS};
             PRAGMA optimize = {ALL};
             BEGIN IMMEDIATE;
             CREATE VIEW svc_statistics AS SELECT 1;
             DROP VIEW svc_statistics;
             COMMIT;"
        );
        if let Err(error) = connection.script(&sql).await {
            // It may be in the middle of the transaction.
            connection.close();
            return Err(error);
        }
        tracing::debug!(tables = work.len(), "gathered statistics for SQLite's planner");
    }
    connection.keep();
    Ok(())
}
