//! The database behind an application, SQLite or PostgreSQL: connections, transactions, migrations.
//!
//! Nothing here knows of entities, organisations or who asks. `svc-data` does, and is what modules
//! work with; this crate is what it stands on, and what the framework's own tables (outbox, jobs) are
//! reached by.
//!
//! - [`Database`]: connections, by who takes them and how many; statements for either database.
//! - [`Transaction`]: one that is open; [`joined`] makes a task's statements part of it.
//! - [`Migrations`]: how the schema grows.
//! - [`stored`]: the form of values that keeps order and comparison alike on both.
//! - [`RowTable`]: many rows in one statement. [`FirstOfEach`]: the first rows of each group.
//! - [`database_error`]: what a fault means to a caller; [`broken_rule`]: which rule of the schema it is
//!   about.

mod backend;
mod clock;
mod commits;
mod database;
mod error;
mod first_of_each;
pub mod joined;
mod migration;
mod row_table;
mod rule;
mod settings;
mod statement_limit;
pub mod stored;

pub use backend::Backend;
pub use clock::FollowClock;
pub use commits::Commits;
pub use database::{CursorRows, Database, FirstRows, ReadLimit, Transaction};
pub use error::{column, database_error, outcome_unknown, sqlx_error};
pub use first_of_each::FirstOfEach;
pub use migration::{Migration, Migrations, Pending};
pub use row_table::{Cell, CellKind, ROWS_AT_ONCE, RowTable};
pub use rule::{BrokenRule, RuleKind, broken_rule};
pub use settings::{DatabaseSettings, Durability, MigrationSettings};
