use std::collections::BTreeSet;
use std::fmt;

use svc_data::EntitySet;

/// Entity sets by what they have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhichSets {
    /// All of them.
    All,
    /// Those with one of these names; a set of a module that is absent is none.
    Named(BTreeSet<String>),
    /// Those that carry this mark.
    Marked(&'static str),
}

impl WhichSets {
    /// Sets by name.
    pub fn named<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Self {
        Self::Named(names.into_iter().map(Into::into).collect())
    }

    fn contain(&self, set: &EntitySet) -> bool {
        match self {
            Self::All => true,
            Self::Named(names) => names.contains(&set.name),
            Self::Marked(mark) => set.is_marked(mark),
        }
    }
}

impl fmt::Display for WhichSets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("changes of all sets"),
            Self::Named(names) => {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                write!(f, "changes of {}", names.join(", "))
            }
            Self::Marked(mark) => write!(f, "changes of sets marked `{mark}`"),
        }
    }
}

/// What a handler hears of: the sum of all that is named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subscription {
    changes: Vec<WhichSets>,
    all_application_events: bool,
    all_domain_events: bool,
    events: BTreeSet<String>,
}

impl Subscription {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Also the changes of records of these sets.
    #[must_use]
    pub fn changes(mut self, sets: WhichSets) -> Self {
        self.changes.push(sets);
        self
    }

    /// Also the event of this name, be it an application or a domain event. One that no module
    /// registers never comes.
    #[must_use]
    pub fn event(mut self, name: impl Into<String>) -> Self {
        self.events.insert(name.into());
        self
    }

    /// Also every application event.
    #[must_use]
    pub fn application_events(mut self) -> Self {
        self.all_application_events = true;
        self
    }

    /// Also every domain event.
    #[must_use]
    pub fn domain_events(mut self) -> Self {
        self.all_domain_events = true;
        self
    }

    /// Whether nothing is named.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub(crate) fn has_changes_of(&self, set: &EntitySet) -> bool {
        self.changes.iter().any(|sets| sets.contain(set))
    }

    pub(crate) fn has_application_event(&self, name: &str) -> bool {
        self.all_application_events || self.events.contains(name)
    }

    pub(crate) fn has_domain_event(&self, name: &str) -> bool {
        self.all_domain_events || self.events.contains(name)
    }
}

impl fmt::Display for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts: Vec<String> = self.changes.iter().map(WhichSets::to_string).collect();
        if self.all_application_events {
            parts.push("application events".into());
        }
        if self.all_domain_events {
            parts.push("domain events".into());
        }
        parts.extend(self.events.iter().map(|name| format!("`{name}`")));
        f.write_str(&parts.join("; "))
    }
}
