//! `$search`.

use crate::syntax::Position;

/// A search expression and where it began.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Search {
    /// Where it began.
    pub at: Position,
    /// What it is.
    pub kind: SearchKind,
}

/// What a search expression is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum SearchKind {
    /// A word.
    Word(String),
    /// `"several words"` that stand together; also a word with `;`, `&` or `#` in it.
    Phrase(String),
    /// `'what a person has typed so far'`, to be understood as well as it can be (4.01).
    Incomplete(String),
    /// `NOT x`.
    Not(Box<Search>),
    /// Two or more that must all match; `AND` or a space.
    And(Vec<Search>),
    /// Two or more of which one must match.
    Or(Vec<Search>),
}
