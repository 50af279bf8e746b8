//! Resource paths.

use super::{Arguments, Expr};
use crate::syntax::Position;

/// The path of a URL below the service root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourcePath {
    /// The segments; none for the service document.
    pub segments: Vec<ResourceSegment>,
}

/// A segment and where it began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceSegment {
    /// Where it began (after the slash).
    pub at: Position,
    /// What it is.
    pub kind: ResourceSegmentKind,
}

/// What a segment of a resource path is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResourceSegmentKind {
    /// A name, qualified or not, with what stood in parentheses: a set, singleton, property,
    /// operation or type cast; where a key could stand, also a key.
    Name {
        /// The name, with its namespace if it was written.
        name: String,
        /// What stood in parentheses.
        arguments: Option<Arguments>,
    },
    /// A key after the parameters of a function, written without a slash: `Function(a=1)(5)`.
    KeyPredicate(Arguments),
    /// Anything that can be nothing but a key value as a segment of its own: `Orders/17`.
    Key(String),
    /// `$batch`.
    Batch,
    /// `$metadata`.
    Metadata,
    /// `$entity`.
    Entity,
    /// `$all`.
    All,
    /// `$crossjoin(A,B)`.
    CrossJoin(Vec<String>),
    /// `$count`.
    Count,
    /// `$ref`.
    Reference,
    /// `$value`.
    Value,
    /// `$each`.
    Each,
    /// `$query`.
    Query,
    /// `$filter(condition)`.
    Filter(Box<Expr>),
}
