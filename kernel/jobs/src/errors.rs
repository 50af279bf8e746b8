//! What the service of jobs refuses, as programs know it.

use svc_core::{ErrorCode, ErrorKind};

/// Only a dead or cancelled job is retried.
pub const NOT_RETRYABLE: ErrorCode = ErrorCode::new(
    "jobs.not_retryable",
    ErrorKind::Conflict,
    "The job is neither dead nor cancelled, so it can't be retried; `state` says what it is",
);

/// Another job took the unique key.
pub const TWIN_WAITS: ErrorCode = ErrorCode::new(
    "jobs.twin_waits",
    ErrorKind::Conflict,
    "Another job with the same unique key waits or runs",
);

/// Only a job that has ended is discarded.
pub const NOT_ENDED: ErrorCode = ErrorCode::new(
    "jobs.not_ended",
    ErrorKind::Conflict,
    "The job waits or runs; cancel it before discarding it",
);

/// A job that has ended can't be cancelled.
pub const HAS_ENDED: ErrorCode =
    ErrorCode::new("jobs.has_ended", ErrorKind::Conflict, "The job has ended already");

/// All of them.
pub(crate) const ALL: [ErrorCode; 4] = [NOT_RETRYABLE, TWIN_WAITS, NOT_ENDED, HAS_ENDED];
