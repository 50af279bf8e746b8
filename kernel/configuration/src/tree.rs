//! What a source said, as it said it: a tree of values that know where they were written.

use std::fmt;

use crate::problem::MASK;
use crate::source::Source;

/// A value without parts. Whether it is a secret only the field that reads it knows, so `Debug`
/// never shows it.
#[derive(Clone)]
pub(crate) enum Scalar {
    /// A text that was written as a text, in a file.
    Text(String),
    /// A text whose type only the field that reads it knows: a variable or an argument.
    Untyped(String),
    Integer(i128),
    Float(f64),
    Boolean(bool),
    /// A date or time of day; no setting has this type, so only its spelling is kept.
    DateTime(String),
}

impl Scalar {
    /// The text, when the source can have meant one.
    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::Untyped(text) => Some(text),
            _ => None,
        }
    }
}

impl fmt::Debug for Scalar {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(MASK)
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) | Self::Untyped(text) | Self::DateTime(text) => {
                formatter.write_str(text)
            }
            Self::Integer(number) => write!(formatter, "{number}"),
            Self::Float(number) => write!(formatter, "{number}"),
            Self::Boolean(value) => write!(formatter, "{value}"),
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Content {
    Value(Scalar),
    List(Vec<Node>),
    Table(Vec<Entry>),
}

/// A value and where it was written.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) source: Source,
    pub(crate) content: Content,
}

/// A named value. The key keeps its spelling and is compared without regard to case.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) node: Node,
}

/// Why a value could not be put into the tree.
#[derive(Debug)]
pub(crate) enum Conflict {
    /// The same key was given before, at this place.
    Twice(Source),
    /// A value was given both for the key and for a key below it; this is the other place.
    ValueAndTable(Source),
}

impl Node {
    /// The root of a source that gave nothing.
    pub(crate) fn empty(source: Source) -> Self {
        Self { source, content: Content::Table(Vec::new()) }
    }

    pub(crate) fn child(&self, key: &str) -> Option<&Node> {
        match &self.content {
            Content::Table(entries) => {
                entries.iter().find(|entry| same_key(&entry.key, key)).map(|entry| &entry.node)
            }
            Content::List(items) => items.get(key.parse::<usize>().ok()?),
            Content::Value(_) => None,
        }
    }

    /// Whether this is the empty text.
    pub(crate) fn is_empty_text(&self) -> bool {
        matches!(&self.content, Content::Value(scalar) if scalar.as_text() == Some(""))
    }

    /// Whether this is the empty text of a variable or an argument.
    pub(crate) fn is_empty_untyped(&self) -> bool {
        matches!(&self.content, Content::Value(Scalar::Untyped(text)) if text.is_empty())
    }

    /// Puts an untyped text at `path`, making the tables on the way.
    ///
    /// With `replace`, a text that is already there gives way: on a command line the last one wins.
    pub(crate) fn insert(
        &mut self,
        path: &[&str],
        text: String,
        source: &Source,
        replace: bool,
    ) -> Result<(), Conflict> {
        let Some((key, rest)) = path.split_first() else {
            return self.put(text, source, replace);
        };
        let Content::Table(entries) = &mut self.content else {
            return Err(Conflict::ValueAndTable(self.source.clone()));
        };
        if let Some(entry) = entries.iter_mut().find(|entry| same_key(&entry.key, key)) {
            return entry.node.insert(rest, text, source, replace);
        }
        let mut node = Node::empty(source.clone());
        node.insert(rest, text, source, replace)?;
        entries.push(Entry { key: (*key).to_owned(), node });
        Ok(())
    }

    fn put(&mut self, text: String, source: &Source, replace: bool) -> Result<(), Conflict> {
        match &self.content {
            // Only a node that was made a moment ago has no entries.
            Content::Table(entries) if entries.is_empty() => {}
            Content::Value(_) if replace => {}
            Content::Value(_) => return Err(Conflict::Twice(self.source.clone())),
            Content::Table(_) | Content::List(_) => {
                return Err(Conflict::ValueAndTable(self.source.clone()));
            }
        }
        *self = Node { source: source.clone(), content: Content::Value(Scalar::Untyped(text)) };
        Ok(())
    }
}

/// Whether two keys are the same to a reader of settings.
pub(crate) fn same_key(left: &str, right: &str) -> bool {
    left.eq_ignore_ascii_case(right)
}
