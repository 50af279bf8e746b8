//! The metadata of a service: what sets there are, what their entities look like, what may be
//! done with them.
//!
//! Plain data, built once at start by whoever knows the entities. What of it a caller may see is
//! decided per request by a [`Schema`]: [`crate::bind`] and [`crate::csdl`] look at the model only
//! through one, so that what is hidden from a caller is unknown to that caller everywhere.

mod capabilities;
mod entity;
mod measure;
mod operation;
mod property;
mod relating;
mod schema;

pub use capabilities::{Capabilities, SetPermissions};
pub use entity::{EntitySet, EntityType, NavigationProperty};
pub use measure::{Measure, MeasuredIn};
pub use operation::{Binding, Operation, OperationKind, OperationType, Parameter};
pub use property::{
    Access, AllowedValue, EnumMember, EnumType, PrimitiveType, Property, PropertyType,
};
pub use relating::{RelatedWrites, related_writes};
pub use schema::{Labels, Schema};

macro_rules! indexes {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
            pub struct $name(pub usize);
        )*
    };
}

indexes! {
    /// An entity type, by its place in [`Model::types`].
    TypeIndex,
    /// An entity set, by its place in [`Model::sets`].
    SetIndex,
    /// A property, by its place in [`EntityType::properties`].
    PropertyIndex,
    /// A navigation property, by its place in [`EntityType::navigations`].
    NavigationIndex,
    /// An enumeration type, by its place in [`Model::enums`].
    EnumIndex,
    /// An operation, by its place in [`Model::operations`].
    OperationIndex,
}

/// The name of the entity container.
pub const CONTAINER: &str = "Container";

/// The metadata of a service.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Model {
    /// The namespace of everything in it, `Shop`.
    pub namespace: String,
    /// The name of the entity container, `Container`.
    pub container: String,
    /// The entity types.
    pub types: Vec<EntityType>,
    /// The enumeration types.
    pub enums: Vec<EnumType>,
    /// The entity sets.
    pub sets: Vec<EntitySet>,
    /// The actions and functions.
    pub operations: Vec<Operation>,
}

impl Model {
    /// A model without sets.
    #[must_use]
    pub fn new(namespace: impl Into<String>) -> Self {
        Self { namespace: namespace.into(), container: CONTAINER.to_owned(), ..Self::default() }
    }

    /// Adds an entity type.
    pub fn add_type(&mut self, entity_type: EntityType) -> TypeIndex {
        self.types.push(entity_type);
        TypeIndex(self.types.len() - 1)
    }

    /// Adds an enumeration type.
    pub fn add_enum(&mut self, enum_type: EnumType) -> EnumIndex {
        self.enums.push(enum_type);
        EnumIndex(self.enums.len() - 1)
    }

    /// Adds an entity set.
    pub fn add_set(&mut self, set: EntitySet) -> SetIndex {
        self.sets.push(set);
        SetIndex(self.sets.len() - 1)
    }

    /// Adds an operation.
    pub fn add_operation(&mut self, operation: Operation) -> OperationIndex {
        self.operations.push(operation);
        OperationIndex(self.operations.len() - 1)
    }

    /// The entity type at `index`.
    ///
    /// # Panics
    /// When `index` belongs to another model.
    #[must_use]
    pub fn entity_type(&self, index: TypeIndex) -> &EntityType {
        &self.types[index.0]
    }

    /// The enumeration type at `index`.
    ///
    /// # Panics
    /// When `index` belongs to another model.
    #[must_use]
    pub fn enum_type(&self, index: EnumIndex) -> &EnumType {
        &self.enums[index.0]
    }

    /// The entity set at `index`.
    ///
    /// # Panics
    /// When `index` belongs to another model.
    #[must_use]
    pub fn set(&self, index: SetIndex) -> &EntitySet {
        &self.sets[index.0]
    }

    /// The operation at `index`.
    ///
    /// # Panics
    /// When `index` belongs to another model.
    #[must_use]
    pub fn operation(&self, index: OperationIndex) -> &Operation {
        &self.operations[index.0]
    }

    /// The set of this name, which is case-sensitive.
    #[must_use]
    pub fn find_set(&self, name: &str) -> Option<SetIndex> {
        self.sets.iter().position(|set| set.name == name).map(SetIndex)
    }

    /// The entity type of this name.
    #[must_use]
    pub fn find_type(&self, name: &str) -> Option<TypeIndex> {
        self.types.iter().position(|entity_type| entity_type.name == name).map(TypeIndex)
    }

    /// The name of something in this model with its namespace.
    #[must_use]
    pub fn qualified(&self, name: &str) -> String {
        format!("{}.{name}", self.namespace)
    }

    /// A name without this model's namespace, if it is qualified with it.
    #[must_use]
    pub fn unqualified<'n>(&self, name: &'n str) -> Option<&'n str> {
        name.strip_prefix(self.namespace.as_str())?.strip_prefix('.')
    }
}
