//! The one error of the chores: a message for the person at the terminal.

use std::fmt;
use std::path::Path;

/// Why a chore couldn't be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure(String);

/// What a chore returns.
pub(crate) type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// A failure with a message that reads alone.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    /// A failure of an operation on a file or folder.
    pub(crate) fn at(path: &Path, doing: &str, cause: &dyn fmt::Display) -> Self {
        Self(format!("could not {doing} `{}`: {cause}", path.display()))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}
