//! What an operation is bound to, takes and returns, as metadata describes it.

use std::any::TypeId;

use sea_orm::Value;

use crate::value::ValueKind;

pub use svc_odata::value::Value as Literal;

/// The form of a parameter or of a value that is returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueForm {
    /// The type.
    pub kind: ValueKind,
    /// Whether it is a list of that.
    pub many: bool,
    /// Whether it can be null.
    pub nullable: bool,
}

/// A parameter, as metadata describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterInfo {
    /// Its name over OData: the field's in camel case.
    pub name: String,
    /// What it holds.
    pub form: ValueForm,
    /// What it is for, in one line.
    pub description: String,
}

/// What an operation returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutcomeForm {
    /// Nothing.
    Nothing,
    /// A value.
    Value(ValueForm),
    /// Entities of the set of this SeaORM entity.
    Entities {
        /// The entity.
        entity: TypeId,
        /// Whether there are many.
        many: bool,
        /// Whether there can be none.
        nullable: bool,
    },
}

/// What an operation has returned.
#[derive(Clone, Debug, PartialEq)]
pub enum Returned {
    /// Nothing.
    Nothing,
    /// A value.
    Value(Literal),
    /// The keys of entities, which are then read as their set returns them.
    Entities(Vec<Value>),
}

/// What an operation is bound to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Each entity of a set.
    Each(String),
    /// A set as a whole.
    Set(String),
    /// Nothing.
    Nothing,
}
