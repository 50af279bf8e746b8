//! Statements that delete several rows at once, beside others that do the same.
//!
//! Two units of work that lock some of the same rows, each in an order of its own, wait for each other until
//! PostgreSQL breaks one of them off after a second. SQLite has one writer, and nothing of this to say.

use svc_database::Backend;

/// Deletes the rows of a table that a condition names, for somebody who waits for it: by the order of their ids,
/// so that of two who delete some of the same, one waits for the other.
pub(crate) fn delete_in_order(backend: Backend, table: &str, condition: &str) -> String {
    let lock = backend.locking(" ORDER BY id FOR UPDATE");
    delete(table, "id", condition, lock)
}

/// Deletes rows for nobody in particular, and leaves what somebody holds to the next time. The condition may end
/// with a `LIMIT`.
pub(crate) fn delete_unheld(backend: Backend, table: &str, key: &str, condition: &str) -> String {
    delete(table, key, condition, backend.locking(" FOR UPDATE SKIP LOCKED"))
}

fn delete(table: &str, key: &str, condition: &str, lock: &str) -> String {
    format!(
        "DELETE FROM {table} WHERE {key} IN (SELECT {key} FROM {table} WHERE {condition}{lock})"
    )
}
