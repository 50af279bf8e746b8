//! Where values were written.

use std::fmt;
use std::sync::Arc;

/// Where a value was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// In the declaration of the section.
    Default,
    /// In a configuration file.
    File {
        /// The path, as it was named.
        path: Arc<str>,
        /// The line, counted from 1.
        line: usize,
    },
    /// In an environment variable.
    Environment {
        /// The variable's name, as it is spelt in the environment.
        variable: Arc<str>,
    },
    /// On the command line.
    CommandLine,
}

impl fmt::Display for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => formatter.write_str("default"),
            Self::File { path, line } => write!(formatter, "{path} line {line}"),
            Self::Environment { variable } => write!(formatter, "environment variable {variable}"),
            Self::CommandLine => formatter.write_str("command line"),
        }
    }
}
