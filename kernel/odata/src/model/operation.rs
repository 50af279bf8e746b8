//! Actions and functions.

use super::{Measure, PropertyIndex, PropertyType, TypeIndex};

/// An action or function.
#[derive(Debug, Clone, PartialEq)]
pub struct Operation {
    /// The name, without namespace.
    pub name: String,
    /// Whether it changes something.
    pub kind: OperationKind,
    /// What it is called on; `None` for one that is imported into the container.
    pub binding: Option<Binding>,
    /// The parameters, without the binding parameter.
    pub parameters: Vec<Parameter>,
    /// What it returns.
    pub returns: Option<OperationType>,
    /// In which currency or unit the number is that it returns.
    pub measure: Option<Measure>,
    /// The permission it takes.
    pub permission: Option<String>,
    /// One line about it.
    pub description: Option<String>,
}

/// Whether an operation changes something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OperationKind {
    /// Called with `POST`; may change something.
    Action,
    /// Called with `GET`; changes nothing.
    Function,
}

/// What an operation is called on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Binding {
    /// The type of the entity or entities.
    pub entity_type: TypeIndex,
    /// Whether it is called on a collection of them.
    pub collection: bool,
}

/// A parameter of an operation.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// The name.
    pub name: String,
    /// What it holds.
    pub ty: OperationType,
    /// One line about it.
    pub description: Option<String>,
    /// The property that gets its value: who may not see that one doesn't know the parameter.
    pub property: Option<(TypeIndex, PropertyIndex)>,
}

impl Parameter {
    /// Whether a call can do without it.
    #[must_use]
    pub fn may_be_left_out(&self) -> bool {
        match self.ty {
            OperationType::Value { nullable, .. } | OperationType::Entity { nullable, .. } => {
                nullable
            }
        }
    }
}

/// The type of a parameter or result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OperationType {
    /// A value.
    Value {
        /// What it holds.
        ty: PropertyType,
        /// Whether it is a list of that.
        collection: bool,
        /// Whether it can be null.
        nullable: bool,
    },
    /// An entity.
    Entity {
        /// Its type.
        entity_type: TypeIndex,
        /// Whether there are many.
        collection: bool,
        /// Whether there can be none.
        nullable: bool,
    },
}
