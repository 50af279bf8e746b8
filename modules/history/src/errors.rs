//! What the module refuses, as programs know it.

use svc_core::{ErrorCode, ErrorKind};

/// The history of a set isn't kept.
pub const NOT_KEPT: ErrorCode = ErrorCode::new(
    "history.not_kept",
    ErrorKind::NotFound,
    "The history of this set is not kept; `GET /api/v1/history` lists those whose history is",
);

/// The record isn't what it was when the restore was looked at.
pub const CHANGED_SINCE: ErrorCode = ErrorCode::new(
    "history.changed_since",
    ErrorKind::Conflict,
    "The record was changed since the preview, or the request names no `version`; look at the \
     preview again and send its `version`",
);

/// Something of what was asked for can't go back.
pub const CANNOT_GO_BACK: ErrorCode = ErrorCode::new(
    "history.cannot_go_back",
    ErrorKind::Invalid,
    "Some of the fields can't be brought back; `errors` says why of each",
);

/// A unit of work changed too many records.
pub const TOO_MANY: ErrorCode = ErrorCode::new(
    "history.too_many",
    ErrorKind::Invalid,
    "The unit of work changed more records than are taken back at once; take them back one by one",
);

/// All of them.
pub(crate) const ALL: [ErrorCode; 4] = [NOT_KEPT, CHANGED_SINCE, CANNOT_GO_BACK, TOO_MANY];
