//! The kinds of things that modules contribute to the data part.

use svc_core::Kind;

/// An entity set that is served over OData.
pub const ENTITY_SET: Kind = Kind::new("entity sets");
/// What a module adds to an entity set of another; several may extend one set.
pub const SET_EXTENSION: Kind = Kind::new("extensions of entity sets").repeatable();
/// A stored record that is not served as a set.
pub const ENTITY: Kind = Kind::new("entities");
/// An action or function of OData.
pub const OPERATION: Kind = Kind::new("operations");
/// What the values of a property mean.
pub const SEMANTIC_TYPE: Kind = Kind::new("semantic types").repeatable();
/// A step of the module's database schema, which is numbered per module.
pub const MIGRATION: Kind = Kind::new("migrations").repeatable();
