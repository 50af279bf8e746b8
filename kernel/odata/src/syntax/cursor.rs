//! A place in a decoded text, and the small steps all parsers are made of.

use super::error::{ParseLimits, Position, SyntaxError, SyntaxErrorKind};
use super::text::Text;

pub(crate) type Parsed<T> = Result<T, SyntaxError>;

/// How much of the limits a URL has used up; shared by the pieces it is split into.
#[derive(Debug)]
pub(crate) struct Budget {
    limits: ParseLimits,
    nodes: usize,
}

impl Budget {
    pub(crate) fn new(limits: ParseLimits) -> Self {
        Self { limits, nodes: 0 }
    }
}

/// Reads a text from left to right.
pub(crate) struct Cursor<'t> {
    text: &'t Text,
    index: usize,
    depth: usize,
    budget: &'t mut Budget,
    /// Whether `/` ends a string, as in the path of a URL.
    path: bool,
}

impl<'t> Cursor<'t> {
    pub(crate) fn new(text: &'t Text, budget: &'t mut Budget) -> Self {
        Self { text, index: 0, depth: 0, budget, path: false }
    }

    /// A cursor over the path of a URL, where a slash within quotes must be encoded.
    pub(crate) fn in_path(text: &'t Text, budget: &'t mut Budget) -> Self {
        Self { path: true, ..Self::new(text, budget) }
    }

    /// What is left.
    pub(crate) fn rest(&self) -> &'t str {
        &self.text.as_str()[self.index..]
    }

    pub(crate) fn peek(&self) -> Option<u8> {
        self.text.as_str().as_bytes().get(self.index).copied()
    }

    pub(crate) fn peek_char(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.index == self.text.as_str().len()
    }

    pub(crate) fn position(&self) -> Position {
        self.text.position(self.index)
    }

    pub(crate) fn index(&self) -> usize {
        self.index
    }

    /// Goes back to a place it was at.
    pub(crate) fn reset(&mut self, index: usize) {
        self.index = index;
    }

    /// Moves on by `length` bytes, which must end at a character boundary.
    pub(crate) fn advance(&mut self, length: usize) {
        self.index += length;
    }

    /// Whether the next byte was percent-encoded.
    pub(crate) fn next_was_encoded(&self) -> bool {
        self.text.was_encoded(self.index)
    }

    /// Whether the next byte is a slash that ends a path segment rather than one that was encoded.
    pub(crate) fn at_path_slash(&self) -> bool {
        self.path && self.peek() == Some(b'/') && !self.next_was_encoded()
    }

    /// The text between a place it was at and here.
    pub(crate) fn since(&self, start: usize) -> &'t str {
        &self.text.as_str()[start..self.index]
    }

    /// Takes `byte` if it comes next.
    pub(crate) fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        if found {
            self.index += 1;
        }
        found
    }

    /// Takes `byte`, which must come next.
    pub(crate) fn require(&mut self, byte: u8, expected: &'static str) -> Parsed<()> {
        if self.eat(byte) { Ok(()) } else { Err(self.expected(expected)) }
    }

    /// Takes exactly this text if it comes next.
    pub(crate) fn eat_text(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.index += text.len();
        }
        found
    }

    /// Takes this text in any case if it comes next.
    pub(crate) fn eat_text_ignoring_case(&mut self, text: &str) -> bool {
        let found = self
            .rest()
            .as_bytes()
            .get(..text.len())
            .is_some_and(|next| next.eq_ignore_ascii_case(text.as_bytes()));
        if found {
            self.index += text.len();
        }
        found
    }

    /// Skips spaces and tabs; says whether there were any.
    pub(crate) fn skip_space(&mut self) -> bool {
        let start = self.index;
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.index += 1;
        }
        self.index > start
    }

    /// Takes optional space, this byte and optional space, or nothing.
    pub(crate) fn eat_spaced(&mut self, byte: u8) -> bool {
        let start = self.index;
        self.skip_space();
        if self.eat(byte) {
            self.skip_space();
            true
        } else {
            self.index = start;
            false
        }
    }

    /// Takes space, this word in any case, and space, or nothing.
    pub(crate) fn eat_operator(&mut self, word: &str) -> bool {
        let start = self.index;
        let found = self.skip_space() && self.eat_text_ignoring_case(word) && self.skip_space();
        if !found {
            self.index = start;
        }
        found
    }

    /// Takes characters as long as `accept` holds.
    pub(crate) fn take_while(&mut self, accept: impl Fn(char) -> bool) -> &'t str {
        let start = self.index;
        while let Some(next) = self.peek_char().filter(|&next| accept(next)) {
            self.index += next.len_utf8();
        }
        self.since(start)
    }

    /// Takes digits, at least one.
    pub(crate) fn digits(&mut self) -> Parsed<&'t str> {
        let digits = self.take_while(|next| next.is_ascii_digit());
        if digits.is_empty() { Err(self.expected("a digit")) } else { Ok(digits) }
    }

    /// Takes a whole number that fits.
    pub(crate) fn number<N: std::str::FromStr>(&mut self) -> Parsed<N> {
        let start = self.index;
        let digits = self.digits()?;
        digits.parse().map_err(|_| {
            self.reset(start);
            self.expected("a smaller number")
        })
    }

    /// Counts a node.
    pub(crate) fn count_node(&mut self) -> Parsed<()> {
        self.budget.nodes += 1;
        let limit = self.budget.limits.nodes;
        if self.budget.nodes > limit {
            return Err(self.error(SyntaxErrorKind::TooManyNodes(limit)));
        }
        Ok(())
    }

    /// Runs `parse` one level deeper.
    pub(crate) fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.deepen(1)?;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    /// Adds to the depth, of a tree that grows to the left without recursion.
    pub(crate) fn deepen(&mut self, levels: usize) -> Parsed<()> {
        let limit = self.budget.limits.effective_depth();
        if self.depth + levels > limit {
            return Err(self.error(SyntaxErrorKind::TooDeep(limit)));
        }
        self.depth += levels;
        Ok(())
    }

    /// Takes back what [`Self::deepen`] added.
    pub(crate) fn rise(&mut self, levels: usize) {
        self.depth -= levels;
    }

    /// Reads on to the end, or says what was found instead of it: behind a space, the word after it.
    pub(crate) fn require_end(&mut self, expected: &'static str) -> Parsed<()> {
        if self.is_at_end() {
            return Ok(());
        }
        let start = self.index;
        if self.skip_space() && self.is_at_end() {
            self.index = start;
        }
        Err(self.expected(expected))
    }

    /// The error that something else was expected here.
    pub(crate) fn expected(&self, expected: &'static str) -> SyntaxError {
        let found = found(self.rest());
        self.error(SyntaxErrorKind::Expected { expected, found })
    }

    pub(crate) fn error(&self, kind: SyntaxErrorKind) -> SyntaxError {
        SyntaxError::new(self.position(), kind)
    }
}

/// The next word or sign of a text, short enough for a message.
fn found(rest: &str) -> String {
    const LONGEST: usize = 32;
    let Some(first) = rest.chars().next() else { return "the end".to_owned() };
    let is_word = |next: char| next.is_alphanumeric() || matches!(next, '_' | '.' | '$' | '@');
    if !is_word(first) {
        return if first == ' ' {
            "a space".to_owned()
        } else {
            format!("`{}`", first.escape_debug())
        };
    }
    let word: String = rest.chars().take_while(|&next| is_word(next)).take(LONGEST).collect();
    format!("`{word}`")
}
