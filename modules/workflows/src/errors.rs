//! What the module refuses, as programs know it.

use svc_core::{ErrorCode, ErrorKind};

/// The set has no workflow.
pub const NONE: ErrorCode = ErrorCode::new(
    "workflows.none",
    ErrorKind::NotFound,
    "The set has no workflow; `GET /api/v1/workflows` lists those that have one",
);

/// The workflow has no such transition.
pub const UNKNOWN_TRANSITION: ErrorCode = ErrorCode::new(
    "workflows.unknown_transition",
    ErrorKind::NotFound,
    "The workflow of the record has no transition of this name",
);

/// Somebody was faster.
pub const CHANGED_SINCE: ErrorCode = ErrorCode::new(
    "workflows.changed_since",
    ErrorKind::Conflict,
    "The record was changed or moved since it was looked at; look at it again and send its `version`",
);

/// The transition doesn't lead away from the state of the record.
pub const OTHER_STATE: ErrorCode = ErrorCode::new(
    "workflows.other_state",
    ErrorKind::Conflict,
    "The transition isn't possible in the state of the record, which `state` names",
);

/// The caller isn't among those who may take the transition.
pub const NOT_ALLOWED: ErrorCode = ErrorCode::new(
    "workflows.not_allowed",
    ErrorKind::Forbidden,
    "The caller is none of those who may take the transition; each of `permissions` and `roles` would allow it",
);

/// Somebody else must take the transition.
pub const FOUR_EYES: ErrorCode = ErrorCode::new(
    "workflows.four_eyes",
    ErrorKind::Forbidden,
    "Somebody else must take the transition: the caller made the record, or took the step before",
);

/// The caller has approved it already.
pub const APPROVED_ALREADY: ErrorCode = ErrorCode::new(
    "workflows.approved_already",
    ErrorKind::Conflict,
    "The transition takes several people, and the caller was one of them already; `missing` says how \
     many others it still takes",
);

/// Other people than the caller's group are missing.
pub const OTHER_GROUP: ErrorCode = ErrorCode::new(
    "workflows.other_group",
    ErrorKind::Conflict,
    "The transition takes people of several groups, and none of the caller's is missing now; `groups` names those \
     whose turn it is",
);

/// The caller's turn was handed on.
pub const HANDED_ON: ErrorCode = ErrorCode::new(
    "workflows.handed_on",
    ErrorKind::Conflict,
    "The caller's turn with the record was handed on to `to`",
);

/// Somebody gives or gets too many delegations.
pub const TOO_MANY_DELEGATIONS: ErrorCode = ErrorCode::new(
    "workflows.too_many_delegations",
    ErrorKind::Conflict,
    "Somebody gives or gets as many delegations as is possible; end one of them",
);

/// Nobody draws the workflow of the set.
pub const NOT_DESIGNABLE: ErrorCode = ErrorCode::new(
    "workflows.not_designable",
    ErrorKind::NotFound,
    "The application declares the workflow of the set and lets nobody draw it",
);

/// Somebody else has changed the draft.
pub const DRAFT_CHANGED: ErrorCode = ErrorCode::new(
    "workflows.draft_changed",
    ErrorKind::Conflict,
    "The draft was saved, published or dropped since it was looked at; look at it again and send its `revision`",
);

/// The definition has problems.
pub const BAD_DESIGN: ErrorCode = ErrorCode::new(
    "workflows.bad_design",
    ErrorKind::Invalid,
    "The definition can't be used; `problems` has the codes of what is wrong with it",
);

/// The condition of the transition doesn't hold.
pub const CONDITION: ErrorCode = ErrorCode::new(
    "workflows.condition",
    ErrorKind::Conflict,
    "The record doesn't hold the condition of the transition, which `condition` names",
);

/// The transition needs a comment.
pub const COMMENT_MISSING: ErrorCode = ErrorCode::new(
    "workflows.comment_missing",
    ErrorKind::Invalid,
    "The transition needs a `comment`",
);

/// The state of the record locks what was to be changed.
pub const LOCKED: ErrorCode = ErrorCode::new(
    "workflows.locked",
    ErrorKind::Conflict,
    "The record can't be changed so in the state that it is in; `errors` names the properties",
);

/// All of them.
pub(crate) const ALL: [ErrorCode; 16] = [
    NONE,
    UNKNOWN_TRANSITION,
    CHANGED_SINCE,
    OTHER_STATE,
    NOT_ALLOWED,
    FOUR_EYES,
    APPROVED_ALREADY,
    OTHER_GROUP,
    HANDED_ON,
    TOO_MANY_DELEGATIONS,
    NOT_DESIGNABLE,
    DRAFT_CHANGED,
    BAD_DESIGN,
    CONDITION,
    COMMENT_MISSING,
    LOCKED,
];

/// Whether an error is about the record, and not about the server.
pub(crate) fn is_refusal(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::Conflict
            | ErrorKind::Invalid
            | ErrorKind::Forbidden
            | ErrorKind::NotFound
            | ErrorKind::PreconditionFailed
    )
}
