//! What is written of an entity, and of what it is related to.

use svc_odata::model::{NavigationIndex, PropertyIndex};
use svc_odata::value::Value as Literal;

use super::source::Source;

/// The properties that a payload carries, with their values.
pub type EntityValues = Vec<(PropertyIndex, Literal)>;

/// What is written of an entity: values of its properties, and what it is related to.
#[derive(Clone, Debug, Default)]
pub struct EntityInput {
    /// The values.
    pub properties: EntityValues,
    /// The related entities.
    pub related: Vec<(NavigationIndex, Relating)>,
}

/// What a navigation property shall lead to.
#[derive(Clone, Debug)]
pub enum Relating {
    /// Nowhere.
    Nothing,
    /// To these; one at most, where it leads to one.
    Entities(Vec<RelatedInput>),
}

/// An entity that another is related to.
#[derive(Clone, Debug)]
pub enum RelatedInput {
    /// One that exists.
    Existing(Source),
    /// One that is created with it.
    New(EntityInput),
}

impl From<EntityValues> for EntityInput {
    fn from(properties: EntityValues) -> Self {
        Self { properties, related: Vec::new() }
    }
}
