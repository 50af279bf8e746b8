use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use svc_core::{Actor, Principal, PrincipalKind};

/// Who enqueued a job, and what bounds the rights with which it may act as that person.
#[derive(Clone, Debug)]
pub(crate) struct Enqueuer {
    pub(crate) actor: Actor,
    /// None without a key. A job must not do more for a key than the key itself could, and no less: one
    /// without a scope stands for its owner in everything.
    pub(crate) scope: Option<Scope>,
}

/// What an API key could do when a job was enqueued through it, as it is stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Scope {
    permissions: BTreeSet<String>,
    /// The roles that it acted for.
    roles: BTreeSet<String>,
}

impl Enqueuer {
    pub(crate) fn of(principal: &Principal) -> Self {
        // What somebody may only within an action ends with it.
        let principal = principal.own();
        let scope = (principal.kind() == PrincipalKind::ApiKey).then(|| Scope {
            permissions: principal.permissions().names().map(str::to_owned).collect(),
            roles: principal.roles().map(str::to_owned).collect(),
        });
        Self { actor: principal.actor(), scope }
    }

    /// What of a person's rights the job has.
    pub(crate) fn narrow(&self, person: Principal) -> Principal {
        let Some(Scope { permissions, roles }) = &self.scope else { return person };
        let held: Vec<String> =
            person.roles().filter(|role| roles.contains(*role)).map(str::to_owned).collect();
        person.through_api_key(permissions).with_roles(held)
    }
}
