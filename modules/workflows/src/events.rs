//! What the module tells others.

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use utoipa::ToSchema;
use uuid::Uuid;

/// A record was taken from one state of its workflow to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowTransitioned {
    /// The entity set of the record.
    pub entity_type: String,
    /// The record's key.
    pub entity_id: Uuid,
    /// The state that it was in.
    pub from: String,
    /// The state that it is in.
    pub to: String,
    /// The transition that was taken.
    pub transition: String,
    /// Who took it.
    pub user: TransitionUser,
    /// What was said.
    pub comment: Option<String>,
}

/// Who took a transition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TransitionUser {
    /// The person; none for the system.
    pub id: Option<Uuid>,
    /// The person's name at that time.
    pub display_name: String,
}

impl WorkflowTransitioned {
    /// The name under which it is raised.
    pub(crate) const NAME: &str = "WorkflowTransitioned";

    pub(crate) fn example() -> Self {
        Self {
            entity_type: "Orders".to_owned(),
            entity_id: Uuid::from_u128(7),
            from: "submitted".to_owned(),
            to: "approved".to_owned(),
            transition: "approve".to_owned(),
            user: TransitionUser {
                id: Some(Uuid::from_u128(8)),
                display_name: "Ada Lovelace".to_owned(),
            },
            comment: Some("within the budget".to_owned()),
        }
    }
}

/// A record has been in its state for as long as somebody is to be reminded of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowReminded {
    /// The entity set of the record.
    pub entity_type: String,
    /// The record's key.
    pub entity_id: Uuid,
    /// The state that it is in.
    pub state: String,
    /// When it is due; none where no time is set.
    #[serde(with = "time::serde::rfc3339::option")]
    pub due: Option<OffsetDateTime>,
}

impl WorkflowReminded {
    pub(crate) fn example() -> Self {
        Self {
            entity_type: "Orders".to_owned(),
            entity_id: Uuid::from_u128(7),
            state: "submitted".to_owned(),
            due: Some(OffsetDateTime::UNIX_EPOCH),
        }
    }
}

/// A record has been in its state for longer than it should; others may act too, where the workflow says so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowOverdue {
    /// The entity set of the record.
    pub entity_type: String,
    /// The record's key.
    pub entity_id: Uuid,
    /// The state that it is in.
    pub state: String,
    /// When it was due.
    #[serde(with = "time::serde::rfc3339::option")]
    pub due: Option<OffsetDateTime>,
}

impl WorkflowOverdue {
    /// The name under which it is raised.
    pub(crate) const NAME: &str = "WorkflowOverdue";

    pub(crate) fn example() -> Self {
        let WorkflowReminded { entity_type, entity_id, state, due } = WorkflowReminded::example();
        Self { entity_type, entity_id, state, due }
    }
}

/// A record moved, and its workflow says whom to tell. Whoever notifies people listens to it; where nobody does, nobody is
/// told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowNotice {
    /// The entity set of the record.
    pub entity_type: String,
    /// The record's key.
    pub entity_id: Uuid,
    /// The transition that was taken.
    pub transition: String,
    /// The state that it is in.
    pub state: String,
    /// The people who are to be told. Whether they may see the record now is for who tells them to ask.
    pub users: Vec<Uuid>,
    /// Those who hold one of these permissions are to be told, too.
    pub permissions: Vec<String>,
    /// Those who have one of these roles in the organisation are to be told, too.
    #[serde(default)]
    pub roles: Vec<String>,
    /// Who took it.
    pub user: TransitionUser,
    /// What was said.
    pub comment: Option<String>,
}

impl WorkflowNotice {
    pub(crate) fn example() -> Self {
        let told = WorkflowTransitioned::example();
        Self {
            entity_type: told.entity_type,
            entity_id: told.entity_id,
            transition: told.transition,
            state: told.to,
            users: vec![Uuid::from_u128(9)],
            permissions: Vec::new(),
            roles: Vec::new(),
            user: told.user,
            comment: told.comment,
        }
    }
}
