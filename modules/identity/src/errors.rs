//! What the module refuses, as programs know it.

use svc_core::{ErrorCode, ErrorKind};

/// What belongs to the person, not to one organisation, can't be changed from within one.
pub const BELONGS_ELSEWHERE: ErrorCode = ErrorCode::new(
    "identity.belongs_elsewhere",
    ErrorKind::Conflict,
    "The person also belongs to another organisation, so what is theirs can't be changed here",
);

/// An organisation keeps an administrator.
pub const LAST_ADMINISTRATOR: ErrorCode = ErrorCode::new(
    "identity.last_administrator",
    ErrorKind::Conflict,
    "This is the organisation's last administrator; make somebody else one first",
);

/// Another person has the mail address.
pub const ADDRESS_TAKEN: ErrorCode = ErrorCode::new(
    "identity.address_taken",
    ErrorKind::Conflict,
    "The mail address is in use already",
);

/// There are as many keys as there may be.
pub const TOO_MANY_KEYS: ErrorCode = ErrorCode::new(
    "identity.too_many_keys",
    ErrorKind::Conflict,
    "The person has as many API keys as there may be; `most` says how many",
);

/// A role that people hold can't be deleted.
pub const ROLE_IN_USE: ErrorCode = ErrorCode::new(
    "identity.role_in_use",
    ErrorKind::Conflict,
    "People hold the role; `count` says how many",
);

/// The role of administrators is as it is.
pub const ROLE_IS_FIXED: ErrorCode = ErrorCode::new(
    "identity.role_is_fixed",
    ErrorKind::Conflict,
    "The Administrator role always holds every permission and can't be changed",
);

/// Another role has the name.
pub const ROLE_NAME_TAKEN: ErrorCode = ErrorCode::new(
    "identity.role_name_taken",
    ErrorKind::Conflict,
    "Another role of the organisation has this name already",
);

/// All of them.
pub(crate) const ALL: [ErrorCode; 7] = [
    BELONGS_ELSEWHERE,
    LAST_ADMINISTRATOR,
    ADDRESS_TAKEN,
    TOO_MANY_KEYS,
    ROLE_IN_USE,
    ROLE_IS_FIXED,
    ROLE_NAME_TAKEN,
];
