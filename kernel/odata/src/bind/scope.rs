//! What names mean at a place of a request, and what has been used up of the limits.

use std::cell::Cell;

use super::{BindError, BindLimits, Column, Cost, Limit, Row, Weight};
use crate::model::{PropertyType, Schema, TypeIndex};
use crate::syntax::{Alias, Position, Search, SearchKind};

/// What a whole request shares.
pub(super) struct Context<'a> {
    pub(super) schema: &'a dyn Schema,
    pub(super) limits: BindLimits,
    nodes: Cell<usize>,
    depth: Cell<usize>,
    expands: Cell<usize>,
    navigation_steps: Cell<usize>,
    search_words: Cell<usize>,
    case_changes: Cell<usize>,
    joined_texts: Cell<usize>,
    transformations: Cell<usize>,
    /// How often the rows that are transformed stand in the statement: those before a `concat` do
    /// so for each of its parts.
    copies: Cell<usize>,
}

/// Adds to a counter, and refuses what is beyond its limit.
fn count(
    counter: &Cell<usize>,
    more: usize,
    (limit, most): (Limit, usize),
    at: Position,
    what: &str,
) -> Result<(), BindError> {
    counter.set(counter.get().saturating_add(more));
    if counter.get() > most {
        let message = format!("more than {most} {what}; ask for less at once");
        return Err(BindError::too_much(at, limit, message));
    }
    Ok(())
}

impl<'a> Context<'a> {
    pub(super) fn new(schema: &'a dyn Schema, limits: BindLimits) -> Self {
        Self {
            schema,
            limits,
            nodes: Cell::default(),
            depth: Cell::default(),
            expands: Cell::default(),
            navigation_steps: Cell::default(),
            search_words: Cell::default(),
            case_changes: Cell::default(),
            joined_texts: Cell::default(),
            transformations: Cell::default(),
            copies: Cell::new(1),
        }
    }

    /// What was used up so far.
    pub(super) fn cost(&self) -> Cost {
        Cost {
            navigation_steps: self.navigation_steps.get(),
            search_words: self.search_words.get(),
        }
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
            return Err(BindError::too_much(at, Limit::Depth, message));
        }
        self.depth.set(depth);
        let bound = bind();
        self.depth.set(depth - 1);
        bound
    }

    /// Binds something, and says what it stands for.
    pub(super) fn weighed<T>(
        &self,
        bind: impl FnOnce() -> Result<T, BindError>,
    ) -> Result<(T, Weight), BindError> {
        let (nodes, joined_texts) = (self.nodes.get(), self.joined_texts.get());
        let bound = bind()?;
        let weight = Weight {
            parts: self.nodes.get() - nodes,
            joined_texts: self.joined_texts.get() - joined_texts,
        };
        Ok((bound, weight))
    }

    /// Counts a column that is named, as what it stands for.
    pub(super) fn count_column(&self, at: Position, column: &Column) -> Result<(), BindError> {
        let limit = (Limit::Nodes, self.limits.nodes);
        count(&self.nodes, column.weight.parts, limit, at, "parts of expressions")?;
        self.count_joined_texts(at, column.weight.joined_texts)
    }

    /// Counts texts that are joined to others: each makes every row longer by as much as a text holds.
    pub(super) fn count_joined_texts(&self, at: Position, more: usize) -> Result<(), BindError> {
        let limit = (Limit::JoinedTexts, self.limits.joined_texts);
        count(&self.joined_texts, more, limit, at, "texts joined by `concat`")
    }

    /// Counts a node; aliases within aliases could multiply them beyond what was written.
    pub(super) fn count_node(&self, at: Position) -> Result<(), BindError> {
        let limit = (Limit::Nodes, self.limits.nodes);
        count(&self.nodes, 1, limit, at, "parts of expressions")
    }

    /// Counts an expanded navigation property; levels could multiply them.
    pub(super) fn count_expand(&self, at: Position) -> Result<(), BindError> {
        let limit = (Limit::Expands, self.limits.expands);
        count(&self.expands, 1, limit, at, "expanded navigation properties")
            .map_err(|error| error.within("$expand"))
    }

    /// Counts a step along a navigation property, of an expression within some collections.
    pub(super) fn count_step(&self, at: Position, collections: usize) -> Result<(), BindError> {
        let limit = (Limit::NavigationSteps, self.limits.navigation_steps);
        let what = "steps along navigation properties in conditions";
        count(&self.navigation_steps, 1 + collections, limit, at, what)
    }

    /// Refuses a collection within too many others.
    pub(super) fn check_collection(&self, at: Position, around: usize) -> Result<(), BindError> {
        let most = self.limits.collection_depth;
        if around < most {
            return Ok(());
        }
        let message = format!(
            "collections stand within each other more than {most} deep in a condition; ask for \
             less at once"
        );
        Err(BindError::too_much(at, Limit::CollectionDepth, message))
    }

    /// Counts a change of case, which is a large expression on some databases.
    pub(super) fn count_case_change(&self, at: Position) -> Result<(), BindError> {
        let limit = (Limit::CaseChanges, self.limits.case_changes);
        count(&self.case_changes, 1, limit, at, "`tolower` and `toupper`")
    }

    /// Counts a transformation of `$apply`, as often as it stands in the statement.
    pub(super) fn count_transformation(&self, at: Position) -> Result<(), BindError> {
        let limit = (Limit::Transformations, self.limits.transformations);
        count(&self.transformations, self.copies.get(), limit, at, "transformations")
    }

    /// Binds the parts of a `concat`, each of which begins with the rows before it.
    pub(super) fn in_copies<P, T>(
        &self,
        parts: &[P],
        bind: impl Fn(&P) -> Result<T, BindError>,
    ) -> Result<Vec<T>, BindError> {
        let before = self.copies.get();
        let mut after = 0_usize;
        let mut bound = Vec::with_capacity(parts.len());
        for part in parts {
            self.copies.set(before);
            bound.push(bind(part)?);
            after = after.saturating_add(self.copies.get());
        }
        self.copies.set(after);
        Ok(bound)
    }

    /// Counts the words of a search.
    pub(super) fn count_search(&self, search: &Search) -> Result<(), BindError> {
        let counted = match &search.kind {
            SearchKind::Not(inner) => self.count_search(inner),
            SearchKind::And(parts) | SearchKind::Or(parts) => {
                parts.iter().try_for_each(|part| self.count_search(part))
            }
            SearchKind::Word(text) | SearchKind::Phrase(text) | SearchKind::Incomplete(text) => {
                let most = self.limits.search_word_length;
                if text.chars().nth(most).is_some() {
                    let message = format!("a word or phrase has more than {most} letters");
                    Err(BindError::too_much(search.at, Limit::SearchWordLength, message))
                } else {
                    let limit = (Limit::SearchWords, self.limits.search_words);
                    count(&self.search_words, 1, limit, search.at, "words to search for")
                }
            }
        };
        counted.map_err(|error| error.within("$search"))
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
