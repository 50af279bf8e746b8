//! What the stream refuses, as programs know it.

use svc_core::{ErrorCode, ErrorKind};

/// A person has as many streams as may be.
pub const TOO_MANY_STREAMS: ErrorCode = ErrorCode::new(
    "live.too_many_streams",
    ErrorKind::TooManyRequests,
    "The person has as many streams open as may be (`most`)",
);

/// A topic that can't be heard.
pub const UNKNOWN_TOPIC: ErrorCode = ErrorCode::new(
    "live.unknown_topic",
    ErrorKind::Malformed,
    "There is no such topic (`topic`) for this caller",
);

/// All of them.
pub(crate) const ALL: [ErrorCode; 2] = [TOO_MANY_STREAMS, UNKNOWN_TOPIC];
