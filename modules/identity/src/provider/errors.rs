//! What the provider refuses where no client can be told: the person sees it.

use svc_core::{ErrorCode, ErrorKind};

/// Nobody knows the client.
pub const UNKNOWN_CLIENT: ErrorCode = ErrorCode::new(
    "identity.unknown_client",
    ErrorKind::Malformed,
    "The program that asks for a sign-in isn't registered; `client_id` names it wrongly, or it was removed",
);

/// The client asks for the answer at an address that isn't its own.
pub const FOREIGN_REDIRECT: ErrorCode = ErrorCode::new(
    "identity.foreign_redirect",
    ErrorKind::Malformed,
    "The program that asks for a sign-in wants the answer at an address that isn't registered for it",
);

/// The request can't be read.
pub const BAD_SIGN_IN_REQUEST: ErrorCode = ErrorCode::new(
    "identity.bad_sign_in_request",
    ErrorKind::Malformed,
    "The request for a sign-in can't be read, so no program can be told what is wrong with it",
);

/// The application doesn't know its own address.
pub const UNKNOWN_ADDRESS: ErrorCode = ErrorCode::new(
    "identity.unknown_address",
    ErrorKind::Malformed,
    "The application is reached by an address that it doesn't know to be its own; set `Svc:Http:PublicUrl`",
);

/// There are as many clients as there may be.
pub const TOO_MANY_CLIENTS: ErrorCode = ErrorCode::new(
    "identity.too_many_clients",
    ErrorKind::Conflict,
    "The organisation has as many clients as there may be; `most` says how many",
);

/// All of them.
pub(super) const ALL: [ErrorCode; 5] =
    [UNKNOWN_CLIENT, FOREIGN_REDIRECT, BAD_SIGN_IN_REQUEST, UNKNOWN_ADDRESS, TOO_MANY_CLIENTS];
