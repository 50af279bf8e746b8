use std::time::Duration;

use svc_core::{Error, ErrorKind};

/// Why an attempt failed, and what happens next.
///
/// `?` makes one of any [`svc_core::Error`]: what another attempt can't mend (malformed, invalid,
/// forbidden, not found, not implemented and the like) gives up, everything else is tried again
/// after the job's back-off, or after the error's own delay where that is longer.
#[derive(Debug)]
pub struct JobError {
    pub(crate) decision: Decision,
    pub(crate) error: Error,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Try again after the back-off, and not before this delay.
    Retry { at_least: Duration },
    /// Try again after exactly this delay.
    RetryAfter(Duration),
    /// Don't try again.
    GiveUp,
    /// The handler ended early because it was asked to.
    Interrupted,
}

impl JobError {
    /// Tries again after the job's back-off.
    #[must_use]
    pub fn retry(error: Error) -> Self {
        Self { decision: Decision::Retry { at_least: Duration::ZERO }, error }
    }

    /// Tries again after this delay, in place of the job's back-off.
    #[must_use]
    pub fn retry_after(delay: Duration, error: Error) -> Self {
        Self { decision: Decision::RetryAfter(delay), error }
    }

    /// Doesn't try again: the job is dead, and a person decides.
    #[must_use]
    pub fn give_up(error: Error) -> Self {
        Self { decision: Decision::GiveUp, error }
    }

    /// Ends early because the job was cancelled or the application stops. A cancelled job is
    /// done with; otherwise it is handed back, and the attempt doesn't count.
    #[must_use]
    pub fn interrupted() -> Self {
        let error = Error::unavailable("the job was interrupted");
        Self { decision: Decision::Interrupted, error }
    }

    /// The error itself.
    #[must_use]
    pub fn error(&self) -> &Error {
        &self.error
    }
}

impl From<Error> for JobError {
    fn from(error: Error) -> Self {
        if is_final(&error) {
            return Self::give_up(error);
        }
        let at_least = error.retry_delay().unwrap_or(Duration::ZERO);
        Self { decision: Decision::Retry { at_least }, error }
    }
}

/// Whether the same work would fail in the same way again.
fn is_final(error: &Error) -> bool {
    let kind_is_final = matches!(
        error.kind(),
        ErrorKind::Malformed
            | ErrorKind::Unauthenticated
            | ErrorKind::Forbidden
            | ErrorKind::NotFound
            | ErrorKind::MethodNotAllowed
            | ErrorKind::TooLarge
            | ErrorKind::AddressTooLong
            | ErrorKind::UnsupportedMediaType
            | ErrorKind::Invalid
            | ErrorKind::PreconditionRequired
            | ErrorKind::NotImplemented
    );
    kind_is_final && !error.is_transient()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_by_its_kind_whether_another_attempt_can_help() {
        let decision = |error: Error| JobError::from(error).decision;
        assert_eq!(decision(Error::not_found("gone")), Decision::GiveUp);
        assert_eq!(decision(Error::lacks_permission("Products.View")), Decision::GiveUp);
        let now = Decision::Retry { at_least: Duration::ZERO };
        assert_eq!(decision(Error::internal("a bug")), now);
        assert_eq!(decision(Error::conflict("a version")), now);
        assert_eq!(decision(Error::invalid("a lock").transient()), now);
        let minute = Duration::from_mins(1);
        let busy = Error::unavailable("busy").retry_after(minute);
        assert_eq!(decision(busy), Decision::Retry { at_least: minute });
    }
}
