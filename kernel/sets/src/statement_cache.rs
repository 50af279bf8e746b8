//! The texts of statements that were built before.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::RwLock;

/// How many texts are kept. Callers choose columns, so there could be any number.
const CAPACITY: usize = 1_000;

/// The texts that were made so far.
#[derive(Debug, Default)]
pub(super) struct StatementCache(RwLock<HashMap<Shape, Arc<str>>>);

/// All that the text of a statement depends on.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Shape {
    pub(super) set: usize,
    /// Whether it keeps to an organisation.
    pub(super) scoped: bool,
    /// The columns that must have a value, as their values follow that of the organisation.
    pub(super) pinned: Vec<usize>,
    /// The columns that are returned.
    pub(super) columns: Vec<usize>,
}

impl StatementCache {
    /// The text of this shape.
    pub(super) fn find(&self, shape: &Shape) -> Option<Arc<str>> {
        self.0.read().get(shape).cloned()
    }

    /// Keeps a text, if there is room.
    pub(super) fn keep(&self, shape: Shape, sql: &str) {
        let mut known = self.0.write();
        if known.len() < CAPACITY {
            known.insert(shape, sql.into());
        }
    }
}
