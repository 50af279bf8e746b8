//! The columns of entities, and who may change their values.

use sea_orm::Value;
use svc_odata::model::Measure;

use crate::semantic_type::SemanticType;
use crate::value::ValueKind;

/// Columns that the framework keeps itself wherever an entity has them.
pub(crate) mod kept {
    /// The organisation that a record belongs to; set on insert, never changed.
    pub(crate) const ORGANISATION: &str = "organisation_id";
    /// Counts the changes of a record, from 1.
    pub(crate) const VERSION: &str = "version";
    /// When the record was made.
    pub(crate) const CREATED_AT: &str = "created_at";
    /// When the record was last changed.
    pub(crate) const UPDATED_AT: &str = "updated_at";
}

/// One column of an entity.
#[derive(Clone, Debug)]
pub struct Column {
    /// The column's name in the database.
    pub name: &'static str,
    /// The property's name over OData: the column's in camel case.
    pub property: String,
    /// The type of its values.
    pub kind: ValueKind,
    /// Whether it may be null.
    pub nullable: bool,
    /// Whether the database or the framework gives a value where none is sent.
    pub has_default: bool,
    /// The default that the entity names, in SQL.
    pub default: Option<String>,
    /// The same as a value, where it is always the same.
    pub default_value: Option<Value>,
    /// Who may change it over OData.
    pub exposure: Exposure,
    /// The permissions that it takes to know that it exists; none for everybody who may read the
    /// record.
    pub hidden_unless: Vec<String>,
    /// Whether people narrow lists by its values.
    pub facet: bool,
    /// In which currency or unit its numbers are.
    pub measure: Option<Measure>,
    /// What its values mean, beyond their kind.
    pub semantic_type: Option<&'static SemanticType>,
}

/// Who may change a column over OData; whom it is hidden from is said apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exposure {
    /// Everybody who may create or change the record.
    Open,
    /// It can be set when a record is created, and not changed later.
    CreateOnly,
    /// The framework or the application sets it; callers only read it.
    ReadOnly,
    /// It never leaves the application.
    Internal,
}
