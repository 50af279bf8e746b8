//! Entity tags: `ETag`, `If-Match`, `If-None-Match` (RFC 9110, 8.8.3 and 13.1).

use std::fmt;

/// An entity tag, `W/"5"`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EntityTag {
    /// Whether it stands for what a representation means rather than for its bytes.
    pub weak: bool,
    /// The text in quotes.
    pub tag: String,
}

impl EntityTag {
    /// A weak tag, as entities have.
    #[must_use]
    pub fn weak(tag: impl Into<String>) -> Self {
        Self { weak: true, tag: tag.into() }
    }

    /// Reads one tag.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (weak, quoted) = match text.strip_prefix("W/") {
            Some(quoted) => (true, quoted),
            None => (false, text),
        };
        let tag = quoted.strip_prefix('"')?.strip_suffix('"')?;
        let is_tag =
            tag.bytes().all(|byte| byte == 0x21 || (0x23..=0x7e).contains(&byte) || byte >= 0x80);
        is_tag.then(|| Self { weak, tag: tag.to_owned() })
    }
}

impl fmt::Display for EntityTag {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}\"{}\"", if self.weak { "W/" } else { "" }, self.tag)
    }
}

/// The condition of `If-Match` or `If-None-Match`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TagCondition {
    /// `*`: whatever exists.
    Any,
    /// One of these.
    Tags(Vec<EntityTag>),
}

impl TagCondition {
    /// Reads the header's text; none if it is malformed, which is 400.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if text.trim() == "*" {
            return Some(Self::Any);
        }
        let tags = split_tags(text)?;
        if tags.is_empty() { None } else { Some(Self::Tags(tags)) }
    }

    /// Whether `current` is among them, none for what does not exist. OData compares weak tags
    /// also where RFC 9110 would want strong ones (Protocol 4.01, 8.2.4).
    #[must_use]
    pub fn matches(&self, current: Option<&EntityTag>) -> bool {
        match (self, current) {
            (_, None) => false,
            (Self::Any, Some(_)) => true,
            (Self::Tags(tags), Some(current)) => tags.iter().any(|tag| tag.tag == current.tag),
        }
    }
}

/// Tags separated by commas, which can also stand within a tag.
fn split_tags(text: &str) -> Option<Vec<EntityTag>> {
    let mut tags = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        // Elements of a list that are empty say nothing (RFC 9110, 5.6.1.2).
        if let Some(after) = rest.strip_prefix(',') {
            rest = after.trim_start();
            continue;
        }
        let open = rest.find('"')?;
        let close = open + 1 + rest[open + 1..].find('"')?;
        tags.push(EntityTag::parse(&rest[..=close])?);
        rest = rest[close + 1..].trim_start();
        if !rest.is_empty() && !rest.starts_with(',') {
            return None;
        }
    }
    Some(tags)
}
