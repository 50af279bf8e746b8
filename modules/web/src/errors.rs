//! What the module refuses, as programs know it.

use svc_core::{ErrorCode, ErrorKind};

/// A list shares as many views as it may.
pub const TOO_MANY_VIEWS: ErrorCode = ErrorCode::new(
    "web.too_many_views",
    ErrorKind::Conflict,
    "As many views of this list are shared as may be; stop sharing one of them",
);

/// A view is larger than any list's.
pub const VIEW_TOO_LARGE: ErrorCode =
    ErrorCode::new("web.view_too_large", ErrorKind::TooLarge, "The view is larger than may be");

/// All of them.
pub(crate) const ALL: [ErrorCode; 2] = [TOO_MANY_VIEWS, VIEW_TOO_LARGE];
