//! The syntax of OData 4.01 URLs, without any knowledge of a model.
//!
//! [`QueryOptions::parse`] reads the part after `?`, [`ResourcePath::parse`] the path below the
//! service root. Both percent-decode by themselves, keep the position of every part in the raw
//! text, and refuse what exceeds [`ParseLimits`]. What the names mean is found out by
//! [`crate::bind`].
//!
//! Every tree prints itself ([`std::fmt::Display`]) as text that parses to the same tree.

mod ast;
pub(crate) mod cursor;
mod error;
pub(crate) mod lexical;
pub(crate) mod parse;
mod print;
pub(crate) mod text;

pub use ast::*;
pub use error::{ParseLimits, Position, SyntaxError, SyntaxErrorKind};
pub use print::{encode_option, encode_segment};

use cursor::{Budget, Cursor};
use parse::Duplicates;
use text::Text;

/// Whether a text can be the name of something: a letter or an underscore, then also digits, at most
/// 128 of them (ABNF `odataIdentifier`).
#[must_use]
pub fn is_identifier(text: &str) -> bool {
    lexical::identifier(text) == Ok(text.len())
}

/// The path whose query comes as the body of a POST, of one that ends with `/$query`, as its sign may be written
/// (Part 2, 4.17). Such a POST only reads.
#[must_use]
pub fn path_of_query(raw_path: &str) -> Option<&str> {
    raw_path.strip_suffix("/$query").or_else(|| raw_path.strip_suffix("/%24query"))
}

impl QueryOptions {
    /// Parses the raw query of a URL, without its `?`, within the default limits.
    ///
    /// # Errors
    /// When it is not OData: an unknown or repeated system option, a malformed value. 400.
    pub fn parse(raw_query: &str) -> Result<Self, SyntaxError> {
        Self::parse_with(raw_query, ParseLimits::default())
    }

    /// Parses the raw query of a URL within `limits`.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn parse_with(raw_query: &str, limits: ParseLimits) -> Result<Self, SyntaxError> {
        parse::query_options(raw_query, 0, &mut Budget::new(limits), Duplicates::Refuse)
    }
}

impl ResourcePath {
    /// Parses the raw path of a URL below the service root, within the default limits. A slash in
    /// front makes no difference; an empty path is the service document.
    ///
    /// # Errors
    /// When it is not OData. 400.
    pub fn parse(raw_path: &str) -> Result<Self, SyntaxError> {
        Self::parse_with(raw_path, ParseLimits::default())
    }

    /// Parses the raw path of a URL within `limits`.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn parse_with(raw_path: &str, limits: ParseLimits) -> Result<Self, SyntaxError> {
        let text = Text::percent_decoded(raw_path, 0)?;
        let mut budget = Budget::new(limits);
        parse::resource_path(&mut Cursor::in_path(&text, &mut budget))
    }
}

impl Expr {
    /// Parses an expression that is not percent-encoded, within the default limits.
    ///
    /// # Errors
    /// When it is not an OData expression.
    pub fn parse(text: &str) -> Result<Self, SyntaxError> {
        Self::parse_with(text, ParseLimits::default())
    }

    /// Parses an expression that is not percent-encoded, within `limits`.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn parse_with(text: &str, limits: ParseLimits) -> Result<Self, SyntaxError> {
        parse::whole(&Text::plain(text), &mut Budget::new(limits), parse::expression)
    }
}
