//! What a fault of the database means to a caller.

use sea_orm::{DbErr, QueryResult, RuntimeErr, TryGetable};
use svc_core::{Error, ErrorKind, Result};

/// Translates a fault of the database.
///
/// A broken rule of the schema is a conflict, whose message names no table. A lost connection, a
/// deadlock, a serialisation conflict, a busy file and a full disk are transient.
#[must_use]
pub fn database_error(error: DbErr) -> Error {
    match error {
        DbErr::Conn(RuntimeErr::SqlxError(cause))
        | DbErr::Exec(RuntimeErr::SqlxError(cause))
        | DbErr::Query(RuntimeErr::SqlxError(cause)) => translate(&cause).caused_by(cause),
        DbErr::ConnectionAcquire(_) => unreachable_database().caused_by(error),
        error => Error::internal("the database could not do what was asked").caused_by(error),
    }
}

/// Reads a column of a row by its place.
///
/// # Errors
///
/// [`ErrorKind::Internal`] where the row has none there, or one of another type.
pub fn column<T: TryGetable>(row: &QueryResult, index: usize) -> Result<T> {
    row.try_get_by_index(index).map_err(database_error)
}

/// Translates a fault of the driver.
#[must_use]
pub fn sqlx_error(error: sqlx::Error) -> Error {
    translate(&error).caused_by(error)
}

fn translate(error: &sqlx::Error) -> Error {
    match error {
        sqlx::Error::Database(fault) => translate_fault(fault.as_ref()),
        sqlx::Error::Io(_)
        | sqlx::Error::Tls(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::PoolClosed
        | sqlx::Error::WorkerCrashed => unreachable_database(),
        _ => Error::internal("the database could not do what was asked"),
    }
}

/// What SQLite says of a statement that goes beyond one of its limits.
const SQLITE_LIMITS: [&str; 7] = [
    "Expression tree is too large",
    "parser stack overflow",
    "too many columns in",
    "too many SQL variables",
    "too many terms in compound SELECT",
    "at most 64 tables in a join",
    "too many FROM clause terms",
];

fn translate_fault(fault: &dyn sqlx::error::DatabaseError) -> Error {
    if fault.is_unique_violation() {
        return Error::conflict("a record with these values already exists");
    }
    if fault.is_foreign_key_violation() {
        return missing_reference();
    }
    if fault.is_check_violation() {
        return Error::invalid("the record breaks a rule of the database");
    }
    match fault.code().as_deref() {
        // PostgreSQL: serialisation failure, deadlock.
        Some("40001" | "40P01") => {
            Error::conflict("somebody else changed the same records").transient()
        }
        // SQLite: busy and locked, with their extended codes.
        Some("5" | "6" | "261" | "262" | "517" | "773") => {
            Error::unavailable("the database is busy").transient()
        }
        // PostgreSQL: no such database; no such user, or a wrong password.
        Some("3D000") => Error::invalid(
            "the database does not exist; create it, or name another in `Svc:Database:Url`",
        ),
        Some("28000" | "28P01") => Error::invalid(
            "the database refused the user or the password; check `Svc:Database:Url`",
        ),
        // PostgreSQL: statement timeout, or cancelled by an administrator; SQLite: interrupted.
        Some("57014" | "9") => took_too_long(),
        // PostgreSQL: a date or time that is computed, and is beyond what it knows.
        Some("22008") => Error::malformed("a date or time is computed that is out of range"),
        // PostgreSQL: more than a statement may hold, or deeper than it may nest.
        Some("54000" | "54001" | "54011" | "54023") => too_complex(),
        // SQLite says it with the code that it has for every statement that it can't prepare.
        Some("1") if SQLITE_LIMITS.iter().any(|limit| fault.message().contains(limit)) => {
            too_complex()
        }
        // PostgreSQL: disk full; SQLite: the same.
        Some("53100" | "13") => {
            Error::unavailable("the database has no room left to write").transient()
        }
        // PostgreSQL: also too many connections, and a database that takes none at the moment.
        Some(code) if is_end_of_connection(code) || matches!(code, "53300" | "55000") => {
            unreachable_database()
        }
        _ => Error::internal("the database refused a statement"),
    }
}

/// Whether the connection on which this happened can't be used any more.
pub(crate) fn loses_connection(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Database(fault) => {
            fault.code().is_some_and(|code| is_end_of_connection(&code))
        }
        sqlx::Error::Io(_)
        | sqlx::Error::Tls(_)
        | sqlx::Error::Protocol(_)
        | sqlx::Error::WorkerCrashed => true,
        _ => false,
    }
}

/// PostgreSQL: shutting down, starting up, connection failures.
fn is_end_of_connection(code: &str) -> bool {
    code.starts_with("57P") || code.starts_with("08")
}

/// The end of a statement that ran for longer than `Svc:Database:StatementTimeout`.
pub(crate) fn took_too_long() -> Error {
    Error::unavailable(
        "the database took too long; ask for less at once: narrow the filter, expand less, or \
         leave out what is counted and computed",
    )
}

/// The end of a unit of work that kept SQLite's one writer for longer than `Svc:Database:WriteTurn`.
pub(crate) fn kept_the_writer() -> Error {
    Error::unavailable(
        "this took longer than one request may keep others from writing (`Svc:Database:WriteTurn`), and nothing \
         of it was stored; do less at once",
    )
}

/// The refusal of a statement that the database can't take, for what it was made of.
fn too_complex() -> Error {
    Error::malformed("this is more than the database takes in one statement; ask for less at once")
}

/// The refusal of a reference that leads nowhere, or of the end of what is referred to.
fn missing_reference() -> Error {
    Error::conflict("a record that this refers to does not exist, or is still in use")
}

/// A change of which nobody knows whether it is stored.
#[must_use]
pub fn outcome_unknown() -> Error {
    Error::new(
        ErrorKind::OutcomeUnknown,
        "the connection was lost while this was being stored, so it may be stored or not; look \
         before you send it again, or send it with an `Idempotency-Key`, which makes that safe",
    )
}

fn unreachable_database() -> Error {
    Error::unavailable("the database can't be reached at the moment").transient()
}
