//! What the module refuses, as programs know it.

use svc_core::{ErrorCode, ErrorKind};

/// A key of the endpoint was replaced too often for all promises to hold.
pub const TOO_MANY_KEYS: ErrorCode = ErrorCode::new(
    "webhooks.too_many_keys",
    ErrorKind::Conflict,
    "So many keys of the endpoint that were replaced still sign, until the end that was promised for each, that no further one can join them; wait until the first has ended",
);

/// The organisation has as many endpoints as it may have.
pub const TOO_MANY_ENDPOINTS: ErrorCode = ErrorCode::new(
    "webhooks.too_many_endpoints",
    ErrorKind::Conflict,
    "The organisation has as many endpoints as it may have; `most` says how many. Delete one, or have `Svc:Webhooks:MaxEndpoints` raised, or the organisation's setting `Webhooks.MaxEndpoints`",
);

/// Nobody could be sent the delivery's data any more.
pub const OWNER_GONE: ErrorCode = ErrorCode::new(
    "webhooks.owner_gone",
    ErrorKind::Conflict,
    "The owner of the endpoint is disabled or has left the organisation, or the API key that it was saved with has ended; save the endpoint to become its owner",
);

/// A delivery that was to be cancelled has ended.
pub const NOT_WAITING: ErrorCode = ErrorCode::new(
    "webhooks.not_waiting",
    ErrorKind::Conflict,
    "The delivery has arrived, failed for good or was cancelled already; only one that waits can be cancelled",
);

/// What was to be fetched is sent.
pub const NOT_POLLED: ErrorCode = ErrorCode::new(
    "webhooks.not_polled",
    ErrorKind::Conflict,
    "The endpoint is sent its deliveries; only one that was registered with `isPolled` has a feed",
);

/// Another one fetches what the endpoint is told.
pub const NOT_RECEIVER: ErrorCode = ErrorCode::new(
    "webhooks.not_receiver",
    ErrorKind::Forbidden,
    "The endpoint is fetched with the API key that it names (`receiverKeyId`), or where it names none by who registered it; have it name the key that you call with",
);

/// A backfill that was to be cancelled has ended.
pub const NOT_UNDER_WAY: ErrorCode = ErrorCode::new(
    "webhooks.not_under_way",
    ErrorKind::Conflict,
    "All records of the set have been told to the endpoint, or no more of them are; only what is under way can be cancelled",
);

/// A delivery that was to be cancelled is under way.
pub const BEING_SENT: ErrorCode = ErrorCode::new(
    "webhooks.being_sent",
    ErrorKind::Conflict,
    "The delivery is being sent, or about to be, so nobody can say whether it arrives; cancel it when this attempt has ended",
);
