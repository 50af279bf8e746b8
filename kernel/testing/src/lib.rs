//! What tests of an application stand on, for application developers as much as for Svc itself.
//!
//! - [`ThrowAwayDatabase`]: a database of either kind for one test, cloned from a migrated
//!   template in a few milliseconds.
//! - [`on_both_databases!`]: one test, run on SQLite and on PostgreSQL.
//!
//! PostgreSQL comes from the variable [`POSTGRES_VARIABLE`]; `cargo xtask test` sets it, and
//! `cargo xtask postgres` starts a server for a working day.

mod database;
mod macros;

pub use database::{POSTGRES_VARIABLE, ThrowAwayDatabase};
pub use svc_data::Backend;
