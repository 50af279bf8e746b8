//! `$search`.

use std::fmt::{self, Display, Formatter};

use super::{joined, quoted};
use crate::syntax::ast::{Search, SearchKind};

/// An operand, in parentheses if it is made of several.
struct Operand<'s>(&'s Search);

impl Display for Operand<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self.0.kind {
            SearchKind::And(_) | SearchKind::Or(_) => write!(formatter, "({})", self.0),
            _ => self.0.fmt(formatter),
        }
    }
}

impl Display for Search {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            SearchKind::Word(word) => formatter.write_str(word),
            SearchKind::Phrase(phrase) => write!(formatter, "\"{phrase}\""),
            SearchKind::Incomplete(text) => quoted(formatter, text),
            SearchKind::Not(inner) => write!(formatter, "NOT {}", Operand(inner)),
            SearchKind::And(parts) => joined(formatter, parts.iter().map(Operand), " AND "),
            SearchKind::Or(parts) => joined(formatter, parts.iter().map(Operand), " OR "),
        }
    }
}
