//! What the module refuses, as programs know it.

use svc_core::{ErrorCode, ErrorKind};

/// Nobody could be sent the delivery's data any more.
pub const OWNER_GONE: ErrorCode = ErrorCode::new(
    "webhooks.owner_gone",
    ErrorKind::Conflict,
    "The owner of the endpoint is disabled or has left the organisation; save the endpoint to become its owner",
);
