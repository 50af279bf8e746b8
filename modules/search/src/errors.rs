//! What the module refuses, as programs know it.

use svc_core::{ErrorCode, ErrorKind};

/// There is no letter and no digit in what was typed.
pub const NOTHING_TO_LOOK_FOR: ErrorCode = ErrorCode::new(
    "search.nothing_to_look_for",
    ErrorKind::Malformed,
    "What is looked for has no letter and no digit",
);

/// Too much was typed.
pub const TOO_LONG: ErrorCode = ErrorCode::new(
    "search.too_long",
    ErrorKind::Malformed,
    "What is looked for has more characters than `characters` or more words than `words`",
);

/// A provider that doesn't exist was named.
pub const UNKNOWN_PROVIDER: ErrorCode = ErrorCode::new(
    "search.unknown_provider",
    ErrorKind::NotFound,
    "There is no provider or searched set `provider`",
);

/// All of them.
pub(crate) const ALL: [ErrorCode; 3] = [NOTHING_TO_LOOK_FOR, TOO_LONG, UNKNOWN_PROVIDER];
