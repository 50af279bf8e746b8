//! How much of an answer is read at once.
//!
//! How many rows a statement answers with says little about how much they hold: a text may have
//! megabytes. Whoever keeps the rows of an answer asks for so many bytes at most, and goes on behind
//! the last one, or refuses. SQLite's driver has up to fifty rows more in hand.

use sea_orm::QueryResult;
use sqlx::Row;
use sqlx::postgres::PgRow;
use sqlx::sqlite::SqliteRow;

/// How much may be read of an answer.
#[derive(Clone, Copy, Debug)]
pub struct ReadLimit<'a> {
    /// The places of the columns whose values may be long: texts and bytes. Others aren't measured.
    pub long: &'a [usize],
    /// How many bytes they may have together.
    pub bytes: u64,
}

/// The first rows of an answer.
#[derive(Debug)]
pub struct FirstRows {
    /// The rows; at least one, where there is one.
    pub rows: Vec<QueryResult>,
    /// Whether the limit was reached, and there may be more.
    pub is_cut: bool,
}

/// A row as the driver holds it.
pub(super) trait Measured: Row {
    /// How many bytes the value of a column of texts or bytes has.
    fn length(&self, column: usize) -> usize;
}

impl Measured for SqliteRow {
    fn length(&self, column: usize) -> usize {
        let value = self.try_get_unchecked::<Option<&[u8]>, _>(column);
        value.ok().flatten().map_or(0, <[u8]>::len)
    }
}

impl Measured for PgRow {
    fn length(&self, column: usize) -> usize {
        let value = self.try_get_raw(column).ok();
        value.and_then(|value| value.as_bytes().ok()).map_or(0, <[u8]>::len)
    }
}

/// How many bytes the long values of a row have.
pub(super) fn long_values(row: &impl Measured, long: &[usize]) -> u64 {
    long.iter().map(|column| row.length(*column) as u64).sum()
}
