//! What all sources together gave for one key.

use crate::source::Source;
use crate::tree::{Content, Node, Scalar, same_key};

/// What the sources gave for one key, the winning one last; the default is not among them.
#[derive(Clone, Debug, Default)]
pub struct Given<'a> {
    nodes: Vec<&'a Node>,
}

impl<'a> Given<'a> {
    pub(crate) fn new(nodes: Vec<&'a Node>) -> Self {
        Self { nodes }
    }

    pub(crate) fn one(node: &'a Node) -> Self {
        Self { nodes: vec![node] }
    }

    /// What was given for a key below this one.
    pub(crate) fn child(&self, key: &str) -> Self {
        Self { nodes: self.nodes.iter().filter_map(|node| node.child(key)).collect() }
    }

    /// What was given below this one at the end of `path`.
    pub(crate) fn descend(&self, path: &str) -> Self {
        path.split(':').fold(self.clone(), |given, key| given.child(key))
    }

    pub(crate) fn nodes(&self) -> &[&'a Node] {
        &self.nodes
    }

    /// The value that wins.
    pub(crate) fn winner(&self) -> Option<&'a Node> {
        self.nodes.last().copied()
    }

    /// Whether no source gave anything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Whether the winning value is the empty text.
    #[must_use]
    pub fn is_empty_text(&self) -> bool {
        self.winner().is_some_and(Node::is_empty_text)
    }

    /// The winning value, when it is a text or may be read as one.
    #[must_use]
    pub fn text(&self) -> Option<&'a str> {
        self.scalar().and_then(Scalar::as_text)
    }

    pub(crate) fn scalar(&self) -> Option<&'a Scalar> {
        match &self.winner()?.content {
            Content::Value(scalar) => Some(scalar),
            Content::List(_) | Content::Table(_) => None,
        }
    }

    /// The place of the winning value.
    pub(crate) fn source(&self) -> Source {
        self.winner().map_or(Source::Default, |node| node.source.clone())
    }

    /// The keys that the sources gave below this one, each spelling once, with its value.
    pub(crate) fn keys(&self) -> Vec<(&'a str, &'a Node)> {
        let mut keys: Vec<(&str, &Node)> = Vec::new();
        for node in &self.nodes {
            let Content::Table(entries) = &node.content else { continue };
            keys.extend(entries.iter().map(|entry| (entry.key.as_str(), &entry.node)));
        }
        keys
    }

    /// The keys below this one that `known` does not have.
    pub(crate) fn unknown_keys(&self, known: &[String]) -> Vec<(&'a str, &'a Node)> {
        let is_known = |key: &str| known.iter().any(|name| same_key(name, key));
        self.keys().into_iter().filter(|(key, _)| !is_known(key)).collect()
    }
}
