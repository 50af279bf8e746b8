use std::collections::BTreeSet;

use svc_core::{Actor, Principal, PrincipalKind};

/// Who enqueued a job, and what bounds the rights with which it may act as that person.
#[derive(Clone, Debug)]
pub(crate) struct Enqueuer {
    pub(crate) actor: Actor,
    /// The permissions of the API key that was used; none without a key. A job must not do more
    /// for a key than the key itself could.
    pub(crate) scope: Option<BTreeSet<String>>,
}

impl Enqueuer {
    pub(crate) fn of(principal: &Principal) -> Self {
        let scope = (principal.kind() == PrincipalKind::ApiKey)
            .then(|| principal.permissions().names().map(str::to_owned).collect());
        Self { actor: principal.actor(), scope }
    }
}
