//! Which endpoint wants which event type.
//!
//! An event type is made of segments joined by full stops, such as `products.created` or
//! `invoice.payment.failed`. An endpoint lists patterns: an exact type, `<set>.*` for everything
//! below a prefix, or `*` for all. Patterns are stored one row each; [`EventType::patterns`]
//! lists the few that can match a type, so that finding the endpoints of an event is an index
//! lookup however many endpoints there are.

use std::fmt;

use serde::Serialize;

use crate::events::OPERATIONAL;

/// The type of the event that `Send test event` queues; every endpoint accepts it.
pub const TEST_EVENT: &str = "webhook.test";

const MAX_LENGTH: usize = 128;
const MAX_PATTERNS: usize = 200;
const EVERYTHING: &str = "*";
const ANY_BELOW: &str = ".*";

/// Why a text is no event type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not an event type; write segments of ASCII letters, digits, `_` and `-`, joined by \
     full stops, such as `orders.created`, in at most 128 characters"
)]
pub struct EventTypeError(String);

/// Name of a kind of event, such as `products.created`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct EventType(String);

impl EventType {
    /// Checks and takes a name.
    ///
    /// # Errors
    ///
    /// When the name is empty or longer than 128 characters, has an empty segment, or a
    /// character besides ASCII letters, digits, `_` and `-`.
    pub fn parse(name: impl Into<String>) -> Result<Self, EventTypeError> {
        let name = name.into();
        if is_event_type(&name) { Ok(Self(name)) } else { Err(EventTypeError(shown(&name))) }
    }

    /// The type of the test event.
    #[must_use]
    pub fn test() -> Self {
        Self(TEST_EVENT.to_owned())
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Every pattern that matches this type, the most specific first: what the index is asked for.
    ///
    /// `invoice.payment.failed` gives itself, `invoice.payment.*`, `invoice.*` and `*`.
    #[must_use]
    pub fn patterns(&self) -> Vec<String> {
        let mut patterns = vec![self.0.clone()];
        patterns.extend(
            self.0.rmatch_indices('.').map(|(stop, _)| format!("{}{ANY_BELOW}", &self.0[..stop])),
        );
        if !self.is_operational() {
            patterns.push(EVERYTHING.to_owned());
        }
        patterns
    }

    /// Whether it tells of an organisation's endpoints or limits. Who lists everything doesn't mean
    /// these: they are listed by name, or by `endpoint.*` and `limit.*`.
    #[must_use]
    pub fn is_operational(&self) -> bool {
        OPERATIONAL.iter().any(|(_, event_type)| *event_type == self.0)
    }
}

impl fmt::Display for EventType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Why a list of patterns is not a subscription.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EventPatternsError {
    /// The list is empty.
    #[error("name at least one event type, or `*` for every event")]
    Empty,
    /// The list is longer than any endpoint needs.
    #[error("`{0}` event types are too many; name at most 200, or use `<set>.*`")]
    TooMany(usize),
    /// One entry is of none of the three forms.
    #[error("`{text}` is not a pattern; write an event type, `<set>.*`, or `*`")]
    Pattern {
        /// Position in the list, from 0, so that a form can mark the entry.
        index: usize,
        /// The entry as it was given.
        text: String,
    },
}

/// The events that an endpoint listed, valid and each once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventPatterns {
    patterns: Vec<String>,
}

impl EventPatterns {
    /// Checks a list of patterns; repeated ones are kept once, in the order given.
    ///
    /// # Errors
    ///
    /// When the list is empty or too long, or an entry is no pattern.
    pub fn parse<T: AsRef<str>>(
        entries: impl IntoIterator<Item = T>,
    ) -> Result<Self, EventPatternsError> {
        let mut patterns: Vec<String> = Vec::new();
        for (index, entry) in entries.into_iter().enumerate() {
            let entry = entry.as_ref();
            if !is_pattern(entry) {
                return Err(EventPatternsError::Pattern { index, text: shown(entry) });
            }
            if index >= MAX_PATTERNS {
                return Err(EventPatternsError::TooMany(index + 1));
            }
            if !patterns.iter().any(|known| known == entry) {
                patterns.push(entry.to_owned());
            }
        }
        if patterns.is_empty() {
            return Err(EventPatternsError::Empty);
        }
        Ok(Self { patterns })
    }

    /// The patterns, as they are stored and indexed.
    #[must_use]
    pub fn patterns(&self) -> &[String] {
        &self.patterns
    }

    /// Whether an endpoint with these patterns receives events of this type.
    #[must_use]
    pub fn matches(&self, event_type: &EventType) -> bool {
        let name = event_type.as_str();
        let matches = |pattern: &String| match pattern.as_str() {
            EVERYTHING => !event_type.is_operational(),
            pattern => matches(pattern, name),
        };
        name == TEST_EVENT || self.patterns.iter().any(matches)
    }
}

fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix(ANY_BELOW) {
        Some(prefix) => name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('.')),
        None => pattern == name,
    }
}

fn is_pattern(text: &str) -> bool {
    text == EVERYTHING || is_event_type(text.strip_suffix(ANY_BELOW).unwrap_or(text))
}

fn is_event_type(name: &str) -> bool {
    let in_segment = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    name.len() <= MAX_LENGTH
        && name.split('.').all(|segment| !segment.is_empty() && segment.bytes().all(in_segment))
}

/// The start of a rejected text: an error message need not repeat a megabyte.
fn shown(text: &str) -> String {
    text.chars().take(MAX_LENGTH).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn event(name: &str) -> EventType {
        EventType::parse(name).unwrap()
    }

    #[test]
    fn event_types_are_segments_joined_by_full_stops() {
        for name in ["products.created", "ping", "a.b.c.d", "Stock-Low.v2", "snake_case.x", "1.2"] {
            assert!(EventType::parse(name).is_ok(), "{name}");
        }
        let long = "x".repeat(129);
        for name in
            ["", ".", "a.", ".a", "a..b", "a b", "*", "a.*", "a.b*", "ä.b", "a/b", "a,b", &long]
        {
            assert!(EventType::parse(name).is_err(), "{name}");
        }
        assert!(EventType::parse("x".repeat(128)).is_ok());
    }

    #[test]
    fn patterns_of_a_type_go_from_specific_to_all() {
        assert_eq!(event("products.created").patterns(), ["products.created", "products.*", "*"]);
        assert_eq!(
            event("invoice.payment.failed").patterns(),
            ["invoice.payment.failed", "invoice.payment.*", "invoice.*", "*"]
        );
        assert_eq!(event("ping").patterns(), ["ping", "*"]);
    }

    #[test]
    fn a_subscription_matches_exact_names_sets_and_everything() {
        let subscription = EventPatterns::parse(["orders.created", "products.*"]).unwrap();
        for name in ["orders.created", "products.created", "products.deleted", "webhook.test"] {
            assert!(subscription.matches(&event(name)), "{name}");
        }
        for name in ["orders.updated", "products", "products2.created", "product.created", "ping"] {
            assert!(!subscription.matches(&event(name)), "{name}");
        }
        let everything = EventPatterns::parse(["*"]).unwrap();
        assert!(everything.matches(&event("anything.at.all")));
        assert!(EventPatterns::parse(["a.b"]).unwrap().matches(&EventType::test()));
        let disabled = event("endpoint.disabled");
        assert!(!everything.matches(&disabled) && !disabled.patterns().contains(&"*".to_owned()));
        assert!(EventPatterns::parse(["endpoint.*"]).unwrap().matches(&disabled));
        assert!(everything.matches(&event("endpoint.painted")), "a set may be called so");
    }

    #[test]
    fn a_wrong_entry_is_named_with_its_place() {
        for text in ["", "**", "*.created", "orders.", "orders*", ".*", "orders.*.*", "or ders"] {
            assert_eq!(
                EventPatterns::parse(["fine.one", text]),
                Err(EventPatternsError::Pattern { index: 1, text: text.to_owned() }),
            );
        }
        assert_eq!(EventPatterns::parse(Vec::<&str>::new()), Err(EventPatternsError::Empty));
        let many: Vec<String> = (0..201).map(|number| format!("event.n{number}")).collect();
        assert_eq!(EventPatterns::parse(&many), Err(EventPatternsError::TooMany(201)));
        assert!(EventPatterns::parse(&many[..200]).is_ok());
    }

    #[test]
    fn repeated_patterns_are_kept_once() {
        let subscription = EventPatterns::parse(["a.*", "b.c", "a.*"]).unwrap();
        assert_eq!(subscription.patterns(), ["a.*", "b.c"]);
    }

    proptest! {
        /// The index form and `matches` are two ways to ask the same question.
        #[test]
        fn the_index_finds_exactly_what_matches(
            name in "[ab]{1,2}(\\.[ab]{1,2}){0,3}",
            pattern in "\\*|[ab]{1,2}(\\.[ab]{1,2}){0,3}(\\.\\*)?",
        ) {
            let event = event(&name);
            let subscription = EventPatterns::parse([&pattern]).unwrap();
            prop_assert_eq!(subscription.matches(&event), event.patterns().contains(&pattern));
        }
    }
}
