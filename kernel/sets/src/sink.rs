//! Where the rows of a read go.
//!
//! A read hands each [`Row`] to a [`RowSink`] as soon as the database has returned it, and the sink
//! takes of it what it needs: its JSON, written straight from what the driver received
//! ([`JsonRows`]), or its values with their types ([`ValueRows`]). Nothing is made of a row that its
//! sink doesn't ask for.

use sea_orm::QueryResult;
use svc_core::{Error, Result};
use svc_database::Backend;
use svc_odata::value::Value as Literal;

use super::aggregated::{AggregatedColumn, write_aggregated};
use super::expanded::Related;
use super::form::typed_value;
use super::rows::Layout;

/// Takes the rows of a read, one by one.
pub trait RowSink: Send {
    /// Takes a row.
    ///
    /// # Errors
    ///
    /// What ends the read.
    fn row(&mut self, row: &Row<'_>) -> Result<()>;

    /// Is told that about so many rows follow at once.
    fn expect(&mut self, _rows: usize) {}

    /// Whether it wants to be emptied before it takes more. It is asked behind each row; a read that
    /// stops for it goes on with the next row when it is asked to.
    fn is_full(&self) -> bool {
        false
    }
}

/// A row as the database returned it: an entity with what is asked of it, or what was aggregated.
/// Its columns are the properties that are asked for, in the order of the metadata, and behind them
/// those that were computed.
pub struct Row<'r> {
    read: &'r QueryResult,
    backend: Backend,
    /// How many rows of the read came before it.
    before: u64,
    kind: Kind<'r>,
}

enum Kind<'r> {
    Entity { layout: &'r Layout<'r>, related: &'r [Related], etag: bool },
    Aggregated(&'r [AggregatedColumn<'r>]),
}

impl<'r> Row<'r> {
    /// A row that is an entity, with its `ETag` in JSON where it is wanted.
    pub(super) fn entity(
        layout: &'r Layout<'r>,
        row: &'r QueryResult,
        related: &'r [Related],
        etag: bool,
    ) -> Self {
        let kind = Kind::Entity { layout, related, etag };
        Self { read: row, backend: layout.backend(), before: 0, kind }
    }

    /// A row that was aggregated.
    pub(super) fn aggregated(
        backend: Backend,
        columns: &'r [AggregatedColumn<'r>],
        row: &'r QueryResult,
    ) -> Self {
        Self { read: row, backend, before: 0, kind: Kind::Aggregated(columns) }
    }

    /// The row behind some others.
    pub(super) fn behind(self, before: u64) -> Self {
        Self { before, ..self }
    }

    /// How many rows of the read came before it.
    #[must_use]
    pub fn before(&self) -> u64 {
        self.before
    }

    /// The version of the entity; none where the row is none.
    ///
    /// # Errors
    ///
    /// A value that can't be read.
    pub fn version(&self) -> Result<Option<i64>> {
        match &self.kind {
            Kind::Entity { .. } => Layout::version(self.read).map(Some),
            Kind::Aggregated(_) => Ok(None),
        }
    }

    /// The values of the columns, with their types: a member of an enumeration by its name, a
    /// number that was computed as a decimal. What response filters change comes changed. Related
    /// entities stand in JSON alone.
    ///
    /// # Errors
    ///
    /// A value that can't be read.
    pub fn values(&self) -> Result<Vec<Literal>> {
        match &self.kind {
            Kind::Entity { layout, .. } => layout.values(self.read),
            Kind::Aggregated(columns) => {
                let read = |(place, column): (usize, &AggregatedColumn<'_>)| {
                    typed_value(column.form, self.backend, self.read, place)
                };
                columns.iter().enumerate().map(read).collect()
            }
        }
    }

    /// Appends the row as a JSON object.
    ///
    /// # Errors
    ///
    /// A value that can't be read; related entities beyond what the request may cost.
    pub fn write_json(&self, out: &mut String) -> Result<()> {
        match &self.kind {
            Kind::Entity { layout, related, etag } => {
                layout.write_element(out, self.read, related, *etag).map(drop)
            }
            Kind::Aggregated(columns) => write_aggregated(out, self.backend, columns, self.read),
        }
    }

    /// Appends the members of the JSON object, each with a comma behind it.
    ///
    /// # Errors
    ///
    /// As [`Row::write_json`].
    pub(super) fn write_members(&self, out: &mut String) -> Result<()> {
        match &self.kind {
            Kind::Entity { layout, related, .. } => {
                layout.write_members(out, self.read, related).map(drop)
            }
            Kind::Aggregated(_) => Err(Error::internal("an aggregated row isn't an entity")),
        }
    }
}

/// Writes rows as elements of a JSON array, without its brackets.
pub struct JsonRows<'o> {
    out: &'o mut String,
    until: usize,
}

impl<'o> JsonRows<'o> {
    /// Writes to the end of `out`, and is full when that is about `until` bytes long.
    #[must_use]
    pub fn new(out: &'o mut String, until: usize) -> Self {
        Self { out, until }
    }
}

impl RowSink for JsonRows<'_> {
    fn row(&mut self, row: &Row<'_>) -> Result<()> {
        if row.before() > 0 {
            self.out.push(',');
        }
        row.write_json(self.out)
    }

    fn expect(&mut self, rows: usize) {
        self.out.reserve(rows * 384);
    }

    fn is_full(&self) -> bool {
        self.out.len() >= self.until
    }
}

/// Keeps the values of rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ValueRows {
    /// The rows so far: of each the values of its columns.
    pub rows: Vec<Vec<Literal>>,
}

impl RowSink for ValueRows {
    fn row(&mut self, row: &Row<'_>) -> Result<()> {
        self.rows.push(row.values()?);
        Ok(())
    }
}
