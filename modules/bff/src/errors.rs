//! What the module refuses, as programs know it.

use svc_core::{ErrorCode, ErrorKind};

/// A request by cookie that any page could have made.
pub const NEEDS_HEADER: ErrorCode = ErrorCode::new(
    "bff.needs_header",
    ErrorKind::Forbidden,
    "A request by a signed-in browser needs the header `X-CSRF`, which only pages of this application can send",
);

/// A page of another site asks.
pub const FOREIGN_PAGE: ErrorCode = ErrorCode::new(
    "bff.foreign_page",
    ErrorKind::Forbidden,
    "A request by a signed-in browser must come from a page of this application",
);

/// The way back would lead elsewhere.
pub const FOREIGN_RETURN: ErrorCode = ErrorCode::new(
    "bff.foreign_return",
    ErrorKind::Malformed,
    "`returnUrl` must be a path of this application, such as `/orders`",
);

/// The sign-in wasn't begun in this browser, or it is too long ago.
pub const SIGN_IN_LOST: ErrorCode = ErrorCode::new(
    "bff.sign_in_lost",
    ErrorKind::Malformed,
    "The sign-in was not begun in this browser, was ended already, or took too long; begin it anew",
);

/// The provider doesn't sign the person in.
pub const SIGN_IN_REFUSED: ErrorCode = ErrorCode::new(
    "bff.sign_in_refused",
    ErrorKind::Forbidden,
    "The provider doesn't sign the person in; `reason` is what it says",
);

/// The body is larger than a browser may send.
pub const BODY_TOO_LARGE: ErrorCode = ErrorCode::new(
    "bff.body_too_large",
    ErrorKind::TooLarge,
    "The body is larger than a signed-in browser may send; `most` says how large it may be, in bytes",
);

/// A request that two programs may read differently.
pub const AMBIGUOUS: ErrorCode = ErrorCode::new(
    "bff.ambiguous",
    ErrorKind::Malformed,
    "The address can be read in more than one way; write its path without `..`, `//`, backslashes and escaped slashes, \
     and name one host",
);

/// The application behind the host doesn't answer.
pub const API_UNAVAILABLE: ErrorCode = ErrorCode::new(
    "bff.api_unavailable",
    ErrorKind::Unavailable,
    "The application behind the browser host can't be reached at the moment; try again later",
);

/// A logout token that doesn't hold.
pub const LOGOUT_REFUSED: ErrorCode = ErrorCode::new(
    "bff.logout_refused",
    ErrorKind::Malformed,
    "The logout token is none of the issuer's, isn't for this host, or is over",
);

/// What any host refuses.
pub(crate) const ALL: [ErrorCode; 6] =
    [NEEDS_HEADER, FOREIGN_PAGE, FOREIGN_RETURN, SIGN_IN_LOST, SIGN_IN_REFUSED, BODY_TOO_LARGE];

/// What one before the application refuses besides.
pub(crate) const OF_FORWARDING: [ErrorCode; 3] = [AMBIGUOUS, API_UNAVAILABLE, LOGOUT_REFUSED];
