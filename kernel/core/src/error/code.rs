use std::borrow::Cow;

use super::{Error, ErrorKind};

/// A stable name for one way in which something is refused, for programs: `shop.stock_too_low`.
///
/// A module declares each of its codes once, as a constant, registers it with
/// [`Registry::errors`](crate::Registry::errors), and makes its errors from it. The sentence of an error
/// may change at any time; its code and the names of its parameters don't. An error without a code of its
/// own has the one of its kind.
///
/// ```
/// use svc_core::{ErrorCode, ErrorKind};
///
/// const STOCK_TOO_LOW: ErrorCode = ErrorCode::new(
///     "shop.stock_too_low",
///     ErrorKind::Conflict,
///     "There is less in stock than was asked for; `available` says how much",
/// );
///
/// let error = STOCK_TOO_LOW.error("only 3 of `HT-1` are left").with("available", 3);
/// assert_eq!(error.code(), "shop.stock_too_low");
/// assert_eq!(error.parameters()["available"], 3);
/// assert_eq!(error.kind(), ErrorKind::Conflict);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorCode {
    name: &'static str,
    kind: ErrorKind,
    description: &'static str,
}

impl ErrorCode {
    /// A code: its name (`<module>.<what is wrong>`, in snake case), the kind of error, and what it
    /// means, in a sentence without a full stop that also says what the parameters are.
    #[must_use]
    pub const fn new(name: &'static str, kind: ErrorKind, description: &'static str) -> Self {
        Self { name, kind, description }
    }

    /// An error with this code, and a message that its caller may read.
    #[must_use]
    pub fn error(self, message: impl Into<Cow<'static, str>>) -> Error {
        let mut error = Error::new(self.kind, message);
        error.0.code = Some(self.name);
        error
    }

    /// The name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.name
    }

    /// What kind of error it is.
    #[must_use]
    pub fn kind(self) -> ErrorKind {
        self.kind
    }

    /// What it means.
    #[must_use]
    pub fn description(self) -> &'static str {
        self.description
    }

    /// Whether the name has the form that one must have: two words or more, in snake case, with dots
    /// between them.
    #[must_use]
    pub fn is_well_formed(self) -> bool {
        let is_word = |word: &str| {
            word.starts_with(|first: char| first.is_ascii_lowercase())
                && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        };
        self.name.contains('.') && self.name.split('.').all(is_word)
    }
}

impl ErrorKind {
    /// Every kind.
    pub const ALL: [Self; 18] = [
        Self::Malformed,
        Self::Unauthenticated,
        Self::Forbidden,
        Self::NotFound,
        Self::MethodNotAllowed,
        Self::NotAcceptable,
        Self::Conflict,
        Self::PreconditionFailed,
        Self::TooLarge,
        Self::AddressTooLong,
        Self::UnsupportedMediaType,
        Self::Invalid,
        Self::PreconditionRequired,
        Self::TooManyRequests,
        Self::NotImplemented,
        Self::Unavailable,
        Self::OutcomeUnknown,
        Self::Internal,
    ];

    /// The code of errors of this kind that have none of their own.
    #[must_use]
    pub fn code(self) -> &'static str {
        self.general().0
    }

    /// What that code means.
    #[must_use]
    pub fn description(self) -> &'static str {
        self.general().1
    }

    fn general(self) -> (&'static str, &'static str) {
        match self {
            Self::Malformed => ("malformed", "The request can't be read"),
            Self::Unauthenticated => {
                ("unauthenticated", "Nobody is signed in, or the credential no longer holds")
            }
            Self::Forbidden => ("forbidden", "The caller may not do this"),
            Self::NotFound => ("not_found", "There is no such thing, or not for the caller"),
            Self::MethodNotAllowed => ("method_not_allowed", "The method doesn't fit the address"),
            Self::NotAcceptable => {
                ("not_acceptable", "The caller takes no form in which this can be answered")
            }
            Self::Conflict => ("conflict", "What is asked contradicts what is stored"),
            Self::PreconditionFailed => (
                "precondition_failed",
                "The record changed since the version that the caller named",
            ),
            Self::TooLarge => ("too_large", "The body is larger than allowed"),
            Self::AddressTooLong => ("address_too_long", "The address is longer than allowed"),
            Self::UnsupportedMediaType => {
                ("unsupported_media_type", "The body is of a media type that isn't understood")
            }
            Self::Invalid => (
                "invalid",
                "The request can be read, but is against the rules; `errors` says which",
            ),
            Self::PreconditionRequired => {
                ("precondition_required", "The request must name the version that it changes")
            }
            Self::TooManyRequests => {
                ("too_many_requests", "Too many requests; `Retry-After` says when to come back")
            }
            Self::NotImplemented => ("not_implemented", "A feature that isn't served"),
            Self::Unavailable => {
                ("unavailable", "Something that is needed can't be reached at the moment")
            }
            Self::OutcomeUnknown => (
                "outcome_unknown",
                "The connection was lost while a change was being stored; look whether it is, before repeating it",
            ),
            Self::Internal => ("internal", "Something went wrong on the server"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_whose_it_is() {
        let code = |name| ErrorCode::new(name, ErrorKind::Conflict, "what it means");
        for name in ["shop.stock_too_low", "webhooks.endpoint.off"] {
            assert!(code(name).is_well_formed(), "{name}");
        }
        for name in ["", "stock_too_low", "Shop.stock", "shop.", "shop.stock-too-low", "shop. x"] {
            assert!(!code(name).is_well_formed(), "{name}");
        }
    }

    #[test]
    fn general_codes_are_told_apart() {
        let mut codes: Vec<&str> = ErrorKind::ALL.iter().map(|kind| kind.code()).collect();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), ErrorKind::ALL.len());
        assert_eq!(Error::not_found("there is no such order").code(), "not_found");
    }
}
