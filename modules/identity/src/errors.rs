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

/// Only its owner changes an address that is confirmed.
pub const ADDRESS_CONFIRMED: ErrorCode = ErrorCode::new(
    "identity.address_confirmed",
    ErrorKind::Conflict,
    "The person has confirmed the mail address, so only the person changes it, and needs no invitation",
);

/// There are as many keys as there may be.
pub const TOO_MANY_KEYS: ErrorCode = ErrorCode::new(
    "identity.too_many_keys",
    ErrorKind::Conflict,
    "The person has as many API keys as there may be; `most` says how many",
);

/// What has an end gives nothing that has none.
pub const KEY_ENDS: ErrorCode = ErrorCode::new(
    "identity.key_ends",
    ErrorKind::Forbidden,
    "The API key ends, so it makes no people, invitations and clients and gives no rights, which would outlast it",
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

/// A machine user has nothing to sign in with.
pub const IS_MACHINE: ErrorCode = ErrorCode::new(
    "identity.is_machine",
    ErrorKind::Conflict,
    "A machine user has no mail address, password or invitation; make an API key for it",
);

/// Who signs in with an account at another issuer is a person already.
pub const SIGNS_IN_ELSEWHERE: ErrorCode = ErrorCode::new(
    "identity.signs_in_elsewhere",
    ErrorKind::Conflict,
    "The person signs in with an account at another issuer, and needs no invitation",
);

/// All of them.
pub(crate) const ALL: [ErrorCode; 11] = [
    BELONGS_ELSEWHERE,
    LAST_ADMINISTRATOR,
    ADDRESS_TAKEN,
    ADDRESS_CONFIRMED,
    TOO_MANY_KEYS,
    KEY_ENDS,
    ROLE_IN_USE,
    ROLE_IS_FIXED,
    ROLE_NAME_TAKEN,
    IS_MACHINE,
    SIGNS_IN_ELSEWHERE,
];
