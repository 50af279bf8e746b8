//! Who may do something with a record. Pure.

use serde::{Deserialize, Serialize};
use svc_core::Principal;

/// Who may take a transition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum By {
    /// Who holds this permission.
    Permission(String),
    /// Who has the role of this name in the organisation of the record, whatever the case of its letters.
    Role(String),
    /// The person who made the record.
    Creator,
    /// The person whose identifier a property of the record holds.
    Person(String),
}

impl By {
    /// Who holds a permission, which a module declares.
    #[must_use]
    pub fn permission(name: &str) -> Self {
        Self::Permission(name.to_owned())
    }

    /// Who has the role of this name in the organisation of the record. Where an organisation has no such role, it is
    /// nobody; administrators are among them only where they have it, too.
    #[must_use]
    pub fn role(name: &str) -> Self {
        Self::Role(name.to_owned())
    }

    /// The person whose identifier this property of the record holds.
    #[must_use]
    pub fn person_in(property: &str) -> Self {
        Self::Person(property.to_owned())
    }

    /// Whether it is a right, which several people may have; a single person else.
    pub(crate) fn is_right(&self) -> bool {
        matches!(self, Self::Permission(_) | Self::Role(_))
    }

    /// Whether it is a right that somebody has.
    pub(crate) fn is_right_of(&self, who: &Principal) -> bool {
        match self {
            Self::Permission(name) => who.can(name),
            Self::Role(name) => who.has_role(name),
            Self::Creator | Self::Person(_) => false,
        }
    }
}
