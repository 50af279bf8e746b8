//! Many rows in one statement.
//!
//! | Database | As | Texts to prepare |
//! | --- | --- | --- |
//! | PostgreSQL | an array for each column, in `unnest` | one |
//! | SQLite | `VALUES`, filled up with rows of nothing to a power of two | ten |
//!
//! JSON would be one parameter too, but databases read it slowly: that was more than half of what
//! SQLite did to store the outcome of a webhook delivery.

use std::borrow::Cow;

use sea_orm::Value;
use uuid::Uuid;

use crate::backend::Backend;

/// The most rows that one statement carries: far below the 32,766 parameters of SQLite.
pub const ROWS_AT_ONCE: usize = 512;

/// What stands behind the rows on SQLite.
const END: &str = "WHERE column1 IS NOT NULL) AS r";

/// Whether a statement for SQLite carries such rows. Its text is long, and one of few nevertheless.
pub(crate) fn has_rows(sql: &str) -> bool {
    sql.contains(END)
}

/// What a column of a [`RowTable`] holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellKind {
    /// Identifiers.
    Uuid,
    /// Integers of 16 bits.
    SmallInt,
    /// Integers of 32 bits.
    Integer,
    /// Integers of 64 bits.
    BigInt,
    /// Text.
    Text,
}

impl CellKind {
    fn array(self) -> &'static str {
        match self {
            Self::Uuid => "uuid[]",
            Self::SmallInt => "smallint[]",
            Self::Integer => "integer[]",
            Self::BigInt => "bigint[]",
            Self::Text => "text[]",
        }
    }
}

/// A value of a [`RowTable`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell<'a> {
    /// None.
    Null,
    /// An identifier.
    Uuid(Uuid),
    /// An integer, which must fit into its column.
    Integer(i64),
    /// A text. PostgreSQL refuses one with the character NUL.
    Text(Cow<'a, str>),
}

impl From<Uuid> for Cell<'_> {
    fn from(id: Uuid) -> Self {
        Self::Uuid(id)
    }
}

impl From<i64> for Cell<'_> {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

impl From<i32> for Cell<'_> {
    fn from(number: i32) -> Self {
        Self::Integer(number.into())
    }
}

impl From<i16> for Cell<'_> {
    fn from(number: i16) -> Self {
        Self::Integer(number.into())
    }
}

impl From<bool> for Cell<'_> {
    fn from(is_true: bool) -> Self {
        Self::Integer(is_true.into())
    }
}

impl<'a> From<&'a str> for Cell<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Cell<'_> {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

impl<'a, T: Into<Cell<'a>>> From<Option<T>> for Cell<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// Rows as the table `r` of a statement.
#[derive(Clone, Debug, PartialEq)]
pub struct RowTable {
    /// What stands in the statement behind `FROM`: the table with its name and its `?`.
    pub sql: String,
    /// The values of these.
    pub values: Vec<Value>,
}

impl RowTable {
    /// Puts rows together, at most [`ROWS_AT_ONCE`]. The first column is never null.
    #[must_use]
    pub fn new<'a, const N: usize>(
        backend: Backend,
        columns: &[(&str, CellKind); N],
        rows: impl IntoIterator<Item = [Cell<'a>; N]>,
    ) -> Self {
        match backend {
            Backend::Postgres => Self::arrays(columns, rows),
            Backend::Sqlite => Self::listed(columns, rows),
        }
    }

    fn arrays<'a, const N: usize>(
        columns: &[(&str, CellKind); N],
        rows: impl IntoIterator<Item = [Cell<'a>; N]>,
    ) -> Self {
        let mut arrays: [String; N] = std::array::from_fn(|_| String::from("{"));
        for row in rows {
            for (array, cell) in arrays.iter_mut().zip(row) {
                if array.len() > 1 {
                    array.push(',');
                }
                push_element(array, &cell);
            }
        }
        for array in &mut arrays {
            array.push('}');
        }
        let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
        // Within a SELECT, so that no plan is made for a certain number of rows.
        let marks: Vec<String> = columns
            .iter()
            .map(|(_, kind)| format!("(SELECT CAST(? AS {}))", kind.array()))
            .collect();
        Self {
            sql: format!("unnest({}) AS r({})", marks.join(", "), names.join(", ")),
            values: arrays.into_iter().map(Value::from).collect(),
        }
    }

    fn listed<'a, const N: usize>(
        columns: &[(&str, CellKind); N],
        rows: impl IntoIterator<Item = [Cell<'a>; N]>,
    ) -> Self {
        let mut values: Vec<Value> = rows.into_iter().flatten().map(value).collect();
        let size = values.len().div_ceil(N).next_power_of_two();
        values.resize(size * N, Value::BigInt(None));
        let names: Vec<String> = columns
            .iter()
            .enumerate()
            .map(|(index, (name, _))| format!("column{} AS {name}", index + 1))
            .collect();
        let row = format!("({})", vec!["?"; N].join(", "));
        let rows = vec![row.as_str(); size].join(", ");
        let names = names.join(", ");
        let sql = format!("(SELECT {names} FROM (VALUES {rows}) {END}");
        Self { sql, values }
    }
}

fn value(cell: Cell<'_>) -> Value {
    match cell {
        Cell::Null => Value::BigInt(None),
        Cell::Uuid(id) => id.into(),
        Cell::Integer(number) => number.into(),
        Cell::Text(text) => text.into_owned().into(),
    }
}

/// Writes an element of an array as PostgreSQL reads it
/// (<https://www.postgresql.org/docs/15/arrays.html#ARRAYS-IO>).
fn push_element(array: &mut String, cell: &Cell<'_>) {
    match cell {
        Cell::Null => array.push_str("NULL"),
        Cell::Uuid(id) => array.push_str(id.simple().encode_lower(&mut Uuid::encode_buffer())),
        Cell::Integer(number) => array.push_str(&number.to_string()),
        Cell::Text(text) => {
            array.push('"');
            for part in text.split_inclusive(['"', '\\']) {
                match part.strip_suffix(['"', '\\']) {
                    Some(plain) => {
                        array.push_str(plain);
                        array.push('\\');
                        array.push_str(&part[plain.len()..]);
                    }
                    None => array.push_str(part),
                }
            }
            array.push('"');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [(&str, CellKind); 2] = [("id", CellKind::Integer), ("text", CellKind::Text)];

    fn rows(count: i64) -> impl Iterator<Item = [Cell<'static>; 2]> {
        (0..count).map(|number| [number.into(), (number != 1).then_some(r#"a"\,{}"#).into()])
    }

    #[test]
    fn postgres_gets_an_array_for_each_column() {
        let table = RowTable::new(Backend::Postgres, &COLUMNS, rows(3));
        assert_eq!(
            table.sql,
            "unnest((SELECT CAST(? AS integer[])), (SELECT CAST(? AS text[]))) AS r(id, text)"
        );
        let texts = r#"{"a\"\\,{}",NULL,"a\"\\,{}"}"#;
        assert_eq!(table.values, ["{0,1,2}".into(), texts.into()] as [Value; 2]);
        let none = RowTable::new(Backend::Postgres, &COLUMNS, rows(0));
        assert_eq!(none.values, ["{}".into(), "{}".into()] as [Value; 2]);
    }

    #[test]
    fn sqlite_gets_few_different_texts() {
        let table = RowTable::new(Backend::Sqlite, &COLUMNS, rows(3));
        assert_eq!(
            table.sql,
            "(SELECT column1 AS id, column2 AS text FROM (VALUES (?, ?), (?, ?), (?, ?), (?, ?)) \
             WHERE column1 IS NOT NULL) AS r"
        );
        assert_eq!(table.values.len(), 8);
        assert_eq!(table.sql, RowTable::new(Backend::Sqlite, &COLUMNS, rows(4)).sql);
        assert_eq!(RowTable::new(Backend::Sqlite, &COLUMNS, rows(0)).values.len(), 2);
        assert!(
            has_rows(&table.sql) && !has_rows("SELECT id FROM things AS r WHERE id IS NOT NULL")
        );
    }
}
