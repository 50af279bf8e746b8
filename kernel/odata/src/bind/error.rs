//! Why a request that is well-formed makes no sense for the entities it names.

use super::Limit;
use crate::names::suggestion;
use crate::syntax::Position;
use crate::value::ValueError;

/// What is wrong with a request that is well-formed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct BindError {
    /// What is wrong.
    pub kind: BindErrorKind,
    /// Where in the raw query or path.
    pub at: Position,
    /// The query option it belongs to, `$filter`.
    pub option: Option<&'static str>,
}

/// What is wrong with a request that is well-formed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BindErrorKind {
    /// A name that is not there, or that the caller may not see.
    #[error("`{owner}` has no {what} `{name}`{}", suggestion(closest.as_deref()))]
    Unknown {
        /// What was looked for: property, navigation property, operation.
        what: &'static str,
        /// Where: the name of a type or set.
        owner: String,
        /// The name.
        name: String,
        /// A name that the caller knows, and may have meant.
        closest: Option<String>,
    },
    /// The first segment of a path names nothing.
    #[error("there is no resource `{name}`{}", suggestion(closest.as_deref()))]
    UnknownResource {
        /// The name.
        name: String,
        /// A name that the caller knows, and may have meant.
        closest: Option<String>,
    },
    /// A value of the wrong type.
    #[error("{subject} is {found}; expected {expected}")]
    Type {
        /// What has the wrong type: a property, an argument, an operand.
        subject: String,
        /// Its type.
        found: String,
        /// What is possible.
        expected: String,
    },
    /// A literal that is not a value of the type beside it.
    #[error("{subject}: {cause}")]
    Value {
        /// What the value is for.
        subject: String,
        /// What is wrong with it.
        cause: ValueError,
    },
    /// Well-formed, known, but not possible here.
    #[error("{0}")]
    Invalid(String),
    /// More than the service serves at once.
    #[error("{message}")]
    TooMuch {
        /// What is too much, and what to do.
        message: String,
        /// The limit that it exceeds.
        limit: Limit,
    },
    /// Part of OData, but not served. 501.
    #[error("{feature} is not supported")]
    Unsupported {
        /// The feature's name, as the standard has it.
        feature: String,
    },
}

impl BindError {
    pub(crate) fn new(at: Position, kind: BindErrorKind) -> Self {
        Self { kind, at, option: None }
    }

    pub(crate) fn unsupported(at: Position, feature: impl Into<String>) -> Self {
        Self::new(at, BindErrorKind::Unsupported { feature: feature.into() })
    }

    pub(crate) fn invalid(at: Position, message: impl Into<String>) -> Self {
        Self::new(at, BindErrorKind::Invalid(message.into()))
    }

    pub(crate) fn too_much(at: Position, limit: Limit, message: impl Into<String>) -> Self {
        Self::new(at, BindErrorKind::TooMuch { message: message.into(), limit })
    }

    /// The same, of this option unless an inner one is known.
    pub(crate) fn within(self, option: &'static str) -> Self {
        Self { option: self.option.or(Some(option)), ..self }
    }

    /// The HTTP status that fits: 404 for an unknown resource, 501 for what is not served, else
    /// 400.
    #[must_use]
    pub fn status(&self) -> u16 {
        match self.kind {
            BindErrorKind::UnknownResource { .. } => 404,
            BindErrorKind::Unsupported { .. } => 501,
            _ => 400,
        }
    }
}
