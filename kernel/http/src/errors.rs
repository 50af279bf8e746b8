//! What the host refuses, as programs know it.

use svc_core::{ErrorCode, ErrorKind};

/// The caller works in another organisation than the request says.
pub const OTHER_ORGANISATION: ErrorCode = ErrorCode::new(
    "http.other_organisation",
    ErrorKind::Conflict,
    "The caller works in another organisation than the header `Svc-Organisation` says",
);

/// All of them.
pub(crate) const ALL: [ErrorCode; 1] = [OTHER_ORGANISATION];
