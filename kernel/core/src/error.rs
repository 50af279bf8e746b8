use std::borrow::Cow;
use std::collections::BTreeMap;
use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use serde_json::Value;

mod code;

pub use code::ErrorCode;

/// The result of everything that can fail with an [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Messages by the field they are about, in the order of the field's name.
pub type FieldErrors = BTreeMap<String, Vec<String>>;

/// What programs need to know of an error beside its code, by name: `{"available": 3}`.
pub type ErrorParameters = BTreeMap<&'static str, Value>;

/// What went wrong, from the caller's point of view.
///
/// The kind decides the HTTP status (in `svc-http`, in one place) and whether a retry can help.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The request can't be read: broken JSON, an unknown query option (400).
    Malformed,
    /// Nobody is signed in, or the credential no longer holds (401).
    Unauthenticated,
    /// The caller lacks a permission, which the message names (403).
    Forbidden,
    /// Unknown, or of another organisation: the two can't be told apart (404).
    NotFound,
    /// The method doesn't fit the resource (405).
    MethodNotAllowed,
    /// The caller takes no form in which this can be answered (406).
    NotAcceptable,
    /// What is asked contradicts what is stored, such as a duplicate key (409).
    Conflict,
    /// The record changed since the version that the caller named (412).
    PreconditionFailed,
    /// The request's body is larger than the limit (413).
    TooLarge,
    /// The request's address is longer than the limit (414).
    AddressTooLong,
    /// The body is not of a media type that is understood (415).
    UnsupportedMediaType,
    /// Readable, but against the rules; [`Error::fields`] says which (422).
    Invalid,
    /// The request must name the version that it changes (428).
    PreconditionRequired,
    /// Too many requests; [`Error::retry_after`] says when to come back (429).
    TooManyRequests,
    /// A feature of a protocol that this set doesn't serve (501).
    NotImplemented,
    /// A part that is needed can't be reached at the moment (503).
    Unavailable,
    /// The connection was lost while a change was being stored: it may be stored, or not. Nobody
    /// repeats it unasked (504).
    OutcomeUnknown,
    /// A fault of the program or its surroundings; the caller learns no detail (500).
    Internal,
}

/// An error: a kind, a message for the caller, and context and cause for the log.
///
/// The message never holds secrets or the text of a cause, so it may be shown to anyone who may
/// make the request. Use [`Error::context`] for what only the log should know.
///
/// ```
/// use svc_core::{Error, ErrorKind};
///
/// let error = Error::invalid("the product is not valid").field("sku", "must not be empty");
/// assert_eq!(error.kind(), ErrorKind::Invalid);
/// assert_eq!(error.fields()["sku"], ["must not be empty"]);
/// ```
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    code: Option<&'static str>,
    parameters: ErrorParameters,
    message: Cow<'static, str>,
    fields: FieldErrors,
    target: Option<String>,
    retry_after: Option<Duration>,
    transient: bool,
    context: Vec<Cow<'static, str>>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

macro_rules! constructors {
    ($($(#[$doc:meta])* $name:ident => $kind:ident;)+) => {
        $($(#[$doc])*
        #[must_use]
        pub fn $name(message: impl Into<Cow<'static, str>>) -> Self {
            Self::new(ErrorKind::$kind, message)
        })+
    };
}

impl Error {
    /// An error of a kind, with a message that its caller may read.
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(Inner {
            kind,
            code: None,
            parameters: ErrorParameters::new(),
            message: message.into(),
            fields: FieldErrors::new(),
            target: None,
            retry_after: None,
            transient: false,
            context: Vec::new(),
            source: None,
        }))
    }

    constructors! {
        /// The request can't be read (400).
        malformed => Malformed;
        /// Nobody is signed in (401).
        unauthenticated => Unauthenticated;
        /// The caller may not do this (403).
        forbidden => Forbidden;
        /// Unknown, or of another organisation (404).
        not_found => NotFound;
        /// Contradicts what is stored (409).
        conflict => Conflict;
        /// Changed since the named version (412).
        precondition_failed => PreconditionFailed;
        /// Readable, but against the rules (422).
        invalid => Invalid;
        /// A feature that isn't served (501).
        not_implemented => NotImplemented;
        /// Can't be reached at the moment (503).
        unavailable => Unavailable;
    }

    /// The refusal of a caller who lacks `permission`, which the message and the parameter `permission`
    /// name.
    #[must_use]
    pub fn lacks_permission(permission: &str) -> Self {
        Self::forbidden(format!("this needs the permission `{permission}`"))
            .with("permission", permission)
    }

    /// A fault of the program: the caller reads a general sentence, the log reads `context`.
    #[must_use]
    pub fn internal(context: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Internal, "something went wrong on the server").context(context)
    }

    /// Adds a message about one field.
    #[must_use]
    pub fn field(mut self, field: impl Into<String>, message: impl Into<String>) -> Self {
        self.0.fields.entry(field.into()).or_default().push(message.into());
        self
    }

    /// Adds messages about several fields.
    #[must_use]
    pub fn with_fields(mut self, fields: FieldErrors) -> Self {
        for (field, messages) in fields {
            self.0.fields.entry(field).or_default().extend(messages);
        }
        self
    }

    /// Adds what a program needs to know beside the code: a number, a text, a list of them.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.0.parameters.insert(name, value.into());
        self
    }

    /// Names what the error is about: a property, a query option, a path segment.
    #[must_use]
    pub fn target(mut self, target: impl Into<String>) -> Self {
        self.0.target = Some(target.into());
        self
    }

    /// Says when a retry makes sense.
    #[must_use]
    pub fn retry_after(mut self, delay: Duration) -> Self {
        self.0.retry_after = Some(delay);
        self
    }

    /// Marks a fault that may be gone when the same work is done again: a lost connection, a
    /// deadlock, a serialisation conflict.
    #[must_use]
    pub fn transient(mut self) -> Self {
        self.0.transient = true;
        self
    }

    /// Takes back [`Error::transient`]: the work must not be done again, whatever went wrong.
    #[must_use]
    pub fn settled(mut self) -> Self {
        self.0.transient = false;
        self
    }

    /// Adds a sentence for the log, which the caller never sees.
    #[must_use]
    pub fn context(mut self, context: impl Into<Cow<'static, str>>) -> Self {
        self.0.context.push(context.into());
        self
    }

    /// Adds the cause, which is printed once, in the log.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// What went wrong.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The stable name of what went wrong, for programs: a module's own ([`ErrorCode`]), or the one
    /// of the [kind](ErrorKind::code).
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.0.code.unwrap_or_else(|| self.0.kind.code())
    }

    /// What programs need to know beside the code.
    #[must_use]
    pub fn parameters(&self) -> &ErrorParameters {
        &self.0.parameters
    }

    /// The sentence for the caller.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Messages by field.
    #[must_use]
    pub fn fields(&self) -> &FieldErrors {
        &self.0.fields
    }

    /// What the error is about, where that is known.
    #[must_use]
    pub fn about(&self) -> Option<&str> {
        self.0.target.as_deref()
    }

    /// When a retry makes sense, where that is known.
    #[must_use]
    pub fn retry_delay(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// Whether the same work may succeed when it is done again.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        self.0.transient
    }

    /// Message, fields, context and causes in one line, for the log only.
    #[must_use]
    pub fn report(&self) -> String {
        use fmt::Write as _;
        let mut text = self.0.message.to_string();
        for (field, messages) in &self.0.fields {
            let _ = write!(text, "; `{field}` {}", messages.join(", "));
        }
        for context in &self.0.context {
            let _ = write!(text, "; {context}");
        }
        let mut cause: Option<&dyn StdError> = self.source();
        while let Some(error) = cause {
            let _ = write!(text, ": {error}");
            cause = error.source();
        }
        text
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.0.kind, self.report())
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_tells_the_log_what_the_caller_must_not_see() {
        let error = Error::internal("could not write the outbox")
            .caused_by(std::io::Error::other("disk full"));
        assert_eq!(error.to_string(), "something went wrong on the server");
        assert_eq!(
            error.report(),
            "something went wrong on the server; could not write the outbox: disk full"
        );
    }
}
