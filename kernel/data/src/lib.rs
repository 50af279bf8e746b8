//! Entities, queries and units of work over SeaORM, on SQLite and PostgreSQL alike.
//!
//! - [`DataRegistry`]: how a module makes its entities known, and as which sets they are served, by
//!   which rules; the crate's `README.md` says what each rule means.
//! - [`Sets`]: the one place that decides what a person may see and change.
//! - [`Context`]: who acts; reads and writes stay within its organisation by construction.
//! - [`UnitOfWork`]: one transaction that captures every change, and stores all or nothing.
//! - [`Database`], [`Migrations`]: where data is kept, and how its schema grows.
//!
//! # What both databases promise
//!
//! Every behaviour here is the same on both. SQLite has one writer, so units of work follow one
//! another there; on PostgreSQL they run beside each other at READ COMMITTED, records that change
//! are locked first, and the version of each record decides between two who change it.

mod budget;
pub mod catalogue;
mod clock;
mod commits;
mod context;
mod database;
mod error;
pub mod kinds;
mod migration;
pub mod operation;
mod protection;
mod query;
mod record;
mod registration;
mod response_filter;
mod row_table;
pub mod sets;
mod settings;
mod start;
mod statement_limit;
mod unit_of_work;
pub mod value;
mod virtual_property;

pub use budget::{Budget, BudgetLimits, Expense};
pub use catalogue::{Catalogue, Column, EntityModel, EntitySet, Exposure, SetPermissions};
pub use commits::Commits;
pub use context::Context;
pub use database::{Backend, Database, Transaction};
pub use error::{database_error, outcome_unknown, sqlx_error};
pub use migration::{Migration, Migrations, Pending};
pub use query::Query;
pub use record::{Author, Change, ChangeKind, Record};
pub use registration::{
    DataRegistry, EntitySetBuilder, FilteredProperties, HiddenProperty, Said, SaysRules,
    SetExtension, VirtualPropertyBuilder,
};
pub use row_table::{Cell, CellKind, ROWS_AT_ONCE, RowTable};
pub use sets::Sets;
pub use settings::{DatabaseSettings, Durability, MigrationSettings};
pub use start::{DataModule, Prepared};
pub use unit_of_work::{
    Captured, CommitHook, Data, Expected, Fence, NewValues, RaisedEvent, UnitOfWork,
};
pub use virtual_property::{VirtualProperty, VirtualRow};
