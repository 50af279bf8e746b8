//! Why a body is refused.

use crate::names::suggestion;
use crate::value::ValueError;

/// Why a body is refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PayloadError {
    /// Not JSON, or not an object, or with a member that occurs twice. 400.
    #[error("{0}")]
    Malformed(String),
    /// Uses a part of OData that is not served. 501.
    #[error("{0} is not supported")]
    Unsupported(String),
    /// More than [`PayloadOptions::items`](super::PayloadOptions::items). 400.
    #[error("the body holds more than {limit} related entities, references and items of lists")]
    TooMuch {
        /// The limit.
        limit: usize,
    },
    /// JSON, but not such an entity. 400 with an unknown name, else 422.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Invalid(Vec<PayloadIssue>),
}

impl PayloadError {
    /// The HTTP status that fits.
    #[must_use]
    pub fn status(&self) -> u16 {
        match self {
            Self::Malformed(_) | Self::TooMuch { .. } => 400,
            Self::Unsupported(_) => 501,
            Self::Invalid(issues) => {
                let unknown =
                    |issue: &PayloadIssue| matches!(issue.problem, PayloadProblem::Unknown { .. });
                if issues.iter().any(unknown) { 400 } else { 422 }
            }
        }
    }
}

/// What is wrong with a property of a body.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{target}` {problem}")]
pub struct PayloadIssue {
    /// The property; of a related entity its path, `Items/0/Quantity`.
    pub target: String,
    /// What is wrong.
    pub problem: PayloadProblem,
}

/// What is wrong with a property of a body.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PayloadProblem {
    /// There is none of this name.
    #[error("is not a property of `{owner}`{}", suggestion(closest.as_deref()))]
    Unknown {
        /// The type or operation.
        owner: String,
        /// A name that the caller knows, and may have meant.
        closest: Option<String>,
    },
    /// It must have a value and the body has none.
    #[error("is required")]
    Missing,
    /// Its value is wrong.
    #[error("is refused: {0}")]
    Value(ValueError),
}
