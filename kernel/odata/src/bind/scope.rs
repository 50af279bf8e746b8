//! What names mean at a place of a request, and what has been used up of the limits.

use std::cell::Cell;

use super::{BindError, BindErrorKind, BindLimits, Row};
use crate::model::{PropertyType, Schema, TypeIndex};
use crate::syntax::{Alias, Position};

/// What a whole request shares.
pub(super) struct Context<'a> {
    pub(super) schema: &'a dyn Schema,
    pub(super) limits: BindLimits,
    nodes: Cell<usize>,
    depth: Cell<usize>,
    expands: Cell<usize>,
}

impl<'a> Context<'a> {
    pub(super) fn new(schema: &'a dyn Schema, limits: BindLimits) -> Self {
        Self { schema, limits, nodes: Cell::new(0), depth: Cell::new(0), expands: Cell::new(0) }
    }

    /// Binds an expression within another; a chain of aliases could nest them deeper than what was
    /// written, and than the stack of whoever walks them holds.
    pub(super) fn nested<T>(
        &self,
        at: Position,
        bind: impl FnOnce() -> Result<T, BindError>,
    ) -> Result<T, BindError> {
        let (depth, limit) = (self.depth.get() + 1, self.limits.depth);
        if depth > limit {
            let message =
                format!("the expressions are nested deeper than {limit}; ask for less at once");
            return Err(BindError::new(at, BindErrorKind::TooMuch(message)));
        }
        self.depth.set(depth);
        let bound = bind();
        self.depth.set(depth - 1);
        bound
    }

    /// Counts a node; aliases within aliases could multiply them beyond what was written.
    pub(super) fn count_node(&self, at: Position) -> Result<(), BindError> {
        self.nodes.set(self.nodes.get() + 1);
        let limit = self.limits.nodes;
        if self.nodes.get() > limit {
            let message =
                format!("the expressions have more than {limit} parts; ask for less at once");
            return Err(BindError::new(at, BindErrorKind::TooMuch(message)));
        }
        Ok(())
    }

    /// Counts an expanded navigation property; levels could multiply them.
    pub(super) fn count_expand(&self, at: Position) -> Result<(), BindError> {
        self.expands.set(self.expands.get() + 1);
        let limit = self.limits.expands;
        if self.expands.get() > limit {
            let message =
                format!("more than {limit} expanded navigation properties; ask for less at once");
            return Err(BindError::new(at, BindErrorKind::TooMuch(message)).within("$expand"));
        }
        Ok(())
    }

    /// The name of an entity type, for messages.
    pub(super) fn type_name(&self, index: TypeIndex) -> String {
        self.schema.model().entity_type(index).name.clone()
    }
}

/// What a lambda variable stands for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Element {
    Entity(TypeIndex),
    Value(PropertyType),
}

/// What names mean at a place.
#[derive(Clone)]
pub(super) struct Scope<'s> {
    pub(super) row: &'s Row,
    /// The variables of enclosing lambdas, outermost first. A condition of `$count` has an
    /// element without a name, whose properties need no variable.
    pub(super) lambdas: Vec<(Option<String>, Element)>,
    /// Parameter aliases, those of the nearest option first.
    pub(super) aliases: Vec<&'s [Alias]>,
    /// The aliases that are being put in place, to find circles.
    pub(super) resolving: Vec<String>,
    /// Whether `$it` is the current row: not within `$expand`, where it is the outer one.
    pub(super) it_is_current: bool,
}

impl<'s> Scope<'s> {
    pub(super) fn new(row: &'s Row, aliases: Vec<&'s [Alias]>, it_is_current: bool) -> Self {
        Self { row, lambdas: Vec::new(), aliases, resolving: Vec::new(), it_is_current }
    }

    /// The same with another row and no variables.
    pub(super) fn with_row<'r>(&self, row: &'r Row) -> Scope<'r>
    where
        's: 'r,
    {
        Scope::new(row, self.aliases.clone(), self.it_is_current)
    }

    /// The same within a lambda.
    pub(super) fn with_lambda(&self, name: Option<&str>, element: Element) -> Self {
        let mut inner = self.clone();
        inner.lambdas.push((name.map(str::to_owned), element));
        inner
    }

    /// The innermost variable of this name.
    pub(super) fn lambda(&self, name: &str) -> Option<(usize, Element)> {
        let found = self.lambdas.iter().rposition(|(known, _)| known.as_deref() == Some(name))?;
        Some((found, self.lambdas[found].1))
    }

    /// The innermost element without a name, which unqualified names belong to.
    pub(super) fn anonymous(&self) -> Option<(usize, Element)> {
        let found = self.lambdas.iter().rposition(|(name, _)| name.is_none())?;
        Some((found, self.lambdas[found].1))
    }
}
