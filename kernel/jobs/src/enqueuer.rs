use std::collections::BTreeSet;

use svc_core::{Actor, Principal, PrincipalKind};

/// What the name of a role begins with among those of permissions, which have no colon.
const ROLE: &str = "role:";

/// Who enqueued a job, and what bounds the rights with which it may act as that person.
#[derive(Clone, Debug)]
pub(crate) struct Enqueuer {
    pub(crate) actor: Actor,
    /// The permissions of the API key that was used, and the roles that it acted for; none without a
    /// key. A job must not do more for a key than the key itself could, and no less: one without a scope
    /// stands for its owner in everything.
    pub(crate) scope: Option<BTreeSet<String>>,
}

impl Enqueuer {
    pub(crate) fn of(principal: &Principal) -> Self {
        // What somebody may only within an action ends with it.
        let principal = principal.own();
        let scope = (principal.kind() == PrincipalKind::ApiKey).then(|| {
            let permissions = principal.permissions().names().map(str::to_owned);
            permissions.chain(principal.roles().map(name_of_role)).collect()
        });
        Self { actor: principal.actor(), scope }
    }

    /// What of a person's rights the job has.
    pub(crate) fn narrow(&self, person: Principal) -> Principal {
        let Some(scope) = &self.scope else { return person };
        let roles = person.roles().filter(|role| scope.contains(&name_of_role(role)));
        let roles: Vec<String> = roles.map(str::to_owned).collect();
        let permissions = scope.iter().filter(|name| !name.starts_with(ROLE)).cloned().collect();
        person.through_api_key(&permissions).with_roles(roles)
    }
}

fn name_of_role(role: &str) -> String {
    format!("{ROLE}{role}")
}
