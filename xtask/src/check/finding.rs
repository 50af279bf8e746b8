//! What the checks find.

use std::fmt;

/// Something that goes against a convention.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    /// Where: a file, mostly.
    pub(super) place: String,
    /// What is wrong, and what to do.
    pub(super) message: String,
}

impl Finding {
    pub(super) fn new(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { place: place.into(), message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.place, self.message)
    }
}
