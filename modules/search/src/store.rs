//! The statements on the index, for either database.
//!
//! What is put into a text is never data: values travel beside it.

pub(crate) mod builds;
pub(crate) mod lookup;
pub(crate) mod postings;
pub(crate) mod records;
pub(crate) mod words;

use std::fmt::Write as _;

use sea_orm::Value;
use svc_database::Backend;

/// The condition that a column is one of some numbers, as one value, however many they are.
pub(crate) fn any_of(backend: Backend, numbers: &[i64]) -> (&'static str, Value) {
    let (condition, open, close) = match backend {
        Backend::Sqlite => ("IN (SELECT value FROM json_each(?))", '[', ']'),
        Backend::Postgres => ("= ANY (CAST(? AS BIGINT[]))", '{', '}'),
    };
    let mut list = String::from(open);
    for (place, number) in numbers.iter().enumerate() {
        // Writing to a `String` never fails.
        let _ = write!(list, "{}{number}", if place == 0 { "" } else { "," });
    }
    list.push(close);
    (condition, list.into())
}

/// Joins a table to the rows of a statement: they are few, and it is looked at for each.
pub(crate) fn join(backend: Backend) -> &'static str {
    match backend {
        Backend::Sqlite => "CROSS JOIN",
        Backend::Postgres => "JOIN",
    }
}
