//! How statements name records.

use sea_orm::Value;
use svc_core::OrganisationId;
use uuid::Uuid;

/// How many keys one statement looks for.
pub(super) const KEYS_AT_ONCE: usize = 500;

/// The condition that [`Place::values`] fills.
pub(super) const OF_PLACE: &str = "organisation_id = ? AND set_name = ? AND record_id = ?";

/// A record of a set with a workflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Place<'a> {
    pub(crate) organisation: OrganisationId,
    pub(crate) set: &'a str,
    pub(crate) id: Uuid,
}

impl Place<'_> {
    pub(super) fn values(&self) -> [Value; 3] {
        [self.organisation.0.into(), self.set.into(), self.id.into()]
    }
}

/// The marks of so many values in a list.
pub(super) fn marks(count: usize) -> String {
    vec!["?"; count].join(", ")
}
