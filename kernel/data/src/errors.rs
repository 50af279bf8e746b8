//! The codes of what the database refuses.

use svc_core::{ErrorCode, ErrorKind};

/// A value is taken.
pub const UNIQUE: ErrorCode = ErrorCode::new(
    "data.unique",
    ErrorKind::Conflict,
    "Another record has these values, which only one may have; the properties are those named",
);

/// A reference leads nowhere.
pub const REFERENCE: ErrorCode = ErrorCode::new(
    "data.reference",
    ErrorKind::Conflict,
    "The record refers to one that doesn't exist, or that the caller may not see; the property is \
     the one named",
);

/// Something is still referred to.
pub const IN_USE: ErrorCode = ErrorCode::new(
    "data.in_use",
    ErrorKind::Conflict,
    "Other records refer to the one that was to be deleted; change or delete those first",
);

/// A condition doesn't hold.
pub const CHECK: ErrorCode = ErrorCode::new(
    "data.check",
    ErrorKind::Invalid,
    "The values break a condition of the database; the property is the one named, where it is one",
);

/// All of them.
pub const ALL: [ErrorCode; 4] = [UNIQUE, REFERENCE, IN_USE, CHECK];
