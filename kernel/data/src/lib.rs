//! Entities, queries and units of work over SeaORM, on SQLite and PostgreSQL alike.
//!
//! - [`DataRegistry`]: how a module makes its entities known, and as which sets they are served, by
//!   which rules; the crate's `README.md` says what each rule means.
//! - `svc_sets::Sets`: the one place that decides what a person may see and change.
//! - [`Context`]: who acts; reads and writes stay within its organisation by construction.
//! - [`UnitOfWork`]: one transaction that captures every change, and stores all or nothing.
//! - `svc_database`: where data is kept, and how its schema grows.
//!
//! # What both databases promise
//!
//! Every behaviour here is the same on both. SQLite has one writer, so units of work follow one
//! another there; on PostgreSQL they run beside each other at READ COMMITTED, records that change
//! are locked first, and the version of each record decides between two who change it.

mod budget;
pub mod catalogue;
mod context;
mod entity;
pub mod errors;
pub mod kinds;
mod masks;
mod names;
pub mod operation;
mod protection;
mod query;
mod record;
mod registration;
mod response_filter;
pub mod semantic_type;
mod settings;
mod sight;
mod start;
mod tables;
mod unit_of_work;
pub mod value;
mod virtual_property;

pub use budget::{Budget, BudgetLimits, Expense};
pub use catalogue::Catalogue;
pub use context::{Context, Data};
pub use entity::{Column, EntityModel, EntitySet, Exposure, SetPermissions};
pub use masks::Masks;
pub use query::Query;
pub use record::{Author, Change, ChangeKind, Record};
pub use registration::{
    DataRegistry, EntitySetBuilder, FilteredProperties, HiddenProperty, RuleBuilder, RulesOfSet,
    SetExtension, VirtualPropertyBuilder,
};
pub use semantic_type::SemanticType;
pub use settings::DataSettings;
pub use sight::{Sight, Viewer};
pub use start::{DataModule, Prepared};
pub use unit_of_work::{
    Captured, CommitHook, Expected, Fence, NewValues, RaisedEvent, UnitOfWork, expect_version,
};
pub use virtual_property::{
    KeyOrder, KeysAsked, VirtualJoin, VirtualKeys, VirtualProperty, VirtualRow, VirtualSql,
    VirtualTable,
};
