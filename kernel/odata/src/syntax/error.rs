//! Where something stands in the input, what was wrong there, and how much input is too much.

use std::fmt;
use std::hash::{Hash, Hasher};

use crate::names::suggestion;

/// A byte offset into the raw text that was parsed, before percent-decoding.
///
/// Positions say where a node stood, not what it is: any two are equal, so that two syntax trees
/// compare by their meaning.
#[derive(Debug, Clone, Copy, Default)]
pub struct Position(u32);

impl Position {
    /// The position `offset` bytes into the raw text.
    #[must_use]
    pub fn new(offset: usize) -> Self {
        Self(u32::try_from(offset).unwrap_or(u32::MAX))
    }

    /// The offset in bytes from the start of the raw text.
    #[must_use]
    pub fn offset(self) -> usize {
        self.0 as usize
    }
}

impl PartialEq for Position {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Position {}

impl Hash for Position {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

impl fmt::Display for Position {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// How much a single request may ask of the parser and of everything that walks its result.
///
/// Both bounds are checked while parsing, so that no input overflows the stack, neither in the
/// parser nor in what binds, prints or drops the tree later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParseLimits {
    /// Most nodes (expressions, path segments, items) of one URL. Default 2000.
    pub nodes: usize,
    /// Deepest nesting of expressions and nested options. Default 32, at most [`Self::MAX_DEPTH`].
    pub depth: usize,
}

impl ParseLimits {
    /// The deepest nesting that any configuration can allow: what a thread's stack surely holds.
    pub const MAX_DEPTH: usize = 100;

    /// The nesting to enforce: what is asked for, bounded by [`Self::MAX_DEPTH`].
    pub(crate) fn effective_depth(&self) -> usize {
        self.depth.min(Self::MAX_DEPTH)
    }
}

impl Default for ParseLimits {
    fn default() -> Self {
        Self { nodes: 2000, depth: 32 }
    }
}

/// Why a URL is not OData 4.01, and where. The caller's mistake: 400.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct SyntaxError {
    /// The query option, path or header the text belongs to, if known (`$filter`).
    pub within: Option<String>,
    /// Where in the raw text.
    pub at: Position,
    /// The same as a person counts who wrote the option: its character within the value of [`Self::within`], decoded, from 1. None where
    /// the place isn't in a value.
    pub character: Option<usize>,
    /// What is wrong.
    pub kind: SyntaxErrorKind,
}

/// What is wrong with a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SyntaxErrorKind {
    /// Something else was expected here.
    Expected {
        /// What could stand here.
        expected: &'static str,
        /// What stands here.
        found: String,
    },
    /// A `$` option that OData does not define.
    UnknownOption {
        /// What was given.
        name: String,
        /// The option that may have been meant.
        closest: Option<String>,
    },
    /// An option that may be given once was given twice.
    DuplicateOption(String),
    /// A percent-encoding that is cut off, or that decodes to something that is not UTF-8 text.
    Encoding,
    /// A character that must be percent-encoded in a URL.
    Unencoded(char),
    /// More than [`ParseLimits::nodes`] nodes.
    TooManyNodes(usize),
    /// Deeper than [`ParseLimits::depth`].
    TooDeep(usize),
}

impl SyntaxError {
    pub(crate) fn new(at: Position, kind: SyntaxErrorKind) -> Self {
        Self { within: None, at, character: None, kind }
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(within) = &self.within {
            write!(formatter, "`{within}`, ")?;
        }
        match self.character {
            Some(character) => write!(formatter, "character {character}: ")?,
            None => write!(formatter, "position {}: ", self.at)?,
        }
        match &self.kind {
            SyntaxErrorKind::Expected { expected, found } => {
                write!(formatter, "expected {expected}, found {found}")
            }
            SyntaxErrorKind::UnknownOption { name, closest } => {
                let closest = suggestion(closest.as_deref());
                write!(formatter, "there is no system query option `{name}`{closest}")
            }
            SyntaxErrorKind::DuplicateOption(name) => {
                write!(formatter, "`{name}` may be given only once")
            }
            SyntaxErrorKind::Encoding => {
                write!(formatter, "not valid percent-encoded UTF-8 text")
            }
            SyntaxErrorKind::Unencoded(found) => {
                write!(formatter, "percent-encode `{}`", found.escape_default())
            }
            SyntaxErrorKind::TooManyNodes(limit) => {
                write!(formatter, "more than {limit} parts; ask for less at once")
            }
            SyntaxErrorKind::TooDeep(limit) => {
                write!(formatter, "nested deeper than {limit}; ask for less at once")
            }
        }
    }
}
