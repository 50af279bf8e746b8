//! What a transition does besides the values that it sets: events that it publishes, people who are told, and actions
//! of the record that it calls. All of it belongs to the unit of work of the step.
//!
//! An action runs behind the step, as the person who took it, with every permission: what a workflow calls was decided by whoever
//! wrote it. It finds the record in its new state, and may take it on. A job that it enqueues acts with the rights of the person, and
//! through an API key with no more than that one has.

use std::sync::Arc;

use sea_orm::Value;
use serde_json::json;
use svc_core::{Error, Principal, PrincipalKind, Result};
use svc_data::{Expected, Record, UnitOfWork};
use svc_events::Publish as _;
use svc_odata::value::Value as Literal;
use svc_sets::Source;
use uuid::Uuid;

use crate::binding;
use crate::definition::{By, Transition};
use crate::engine::WorkflowEngine;
use crate::events::{WorkflowNotice, WorkflowTransitioned};
use crate::subject::Subject;

/// How deep actions may take records on which call actions again.
const MAX_DEPTH: u32 = 3;

tokio::task_local! {
    /// How deep the action is that runs.
    static DEPTH: u32;
}

/// Publishes and tells what a transition says.
pub(crate) fn tell(
    uow: &UnitOfWork,
    subject: &Subject,
    record: &Record,
    transition: &Transition,
    told: &WorkflowTransitioned,
) -> Result<()> {
    for event in &transition.publishes {
        let data = json!({
            "entityType": told.entity_type,
            "entityId": told.entity_id,
            "from": told.from,
            "to": told.to,
            "transition": told.transition,
        });
        uow.publish_as(event, data)?;
    }
    if transition.notifies.is_empty() {
        return Ok(());
    }
    let creator = subject.creator_after(told.user.id);
    let mut users: Vec<Uuid> = Vec::new();
    let (mut permissions, mut roles) = (Vec::new(), Vec::new());
    for who in &transition.notifies {
        match who {
            By::Permission(name) => permissions.push(name.clone()),
            By::Role(name) => roles.push(name.clone()),
            By::Creator => users.extend(creator),
            By::Person(property) => {
                users.extend(binding::person_in(&subject.workflow.model, record, property));
            }
        }
    }
    users.sort_unstable();
    users.dedup();
    uow.raise_domain(WorkflowNotice {
        entity_type: told.entity_type.clone(),
        entity_id: told.entity_id,
        transition: told.transition.clone(),
        state: told.to.clone(),
        users,
        permissions,
        roles,
        user: told.user.clone(),
        comment: told.comment.clone(),
    })
}

impl WorkflowEngine {
    /// Calls the actions of a transition on the record.
    pub(crate) async fn call(
        &self,
        uow: &UnitOfWork,
        subject: &Subject,
        transition: &Transition,
    ) -> Result<()> {
        let depth = DEPTH.try_with(|depth| *depth).unwrap_or(0) + 1;
        if depth > MAX_DEPTH {
            return Err(Error::internal(format!(
                "the transition `{}` calls actions that take records on without end",
                transition.name
            )));
        }
        let ctx = uow.context();
        let able = ctx.acting_as(Arc::new(able(ctx.principal(), ctx.organisation()?)));
        for name in &transition.calls {
            let index = subject.workflow.index;
            let missing = || {
                Error::internal(format!(
                    "`{}` has no action `{name}` any more",
                    subject.workflow.set()
                ))
            };
            let operation = binding::action(&self.sets, index, name).ok_or_else(missing)?;
            let parameters = self.sets.model().operation(operation).parameters.len();
            let source = Source::of(index).among(vec![Value::from(subject.id)]);
            let work = async |uow: UnitOfWork| {
                let values = vec![Literal::Null; parameters];
                let run =
                    self.sets.run_action(&uow, operation, Some(&source), values, Expected::Any);
                DEPTH.scope(depth, Box::pin(run)).await.map(drop)
            };
            able.transact(work).await?;
        }
        Ok(())
    }
}

/// The same person with the same roles, by the same means, who may do everything in the organisation.
fn able(who: &Principal, organisation: svc_core::OrganisationId) -> Principal {
    match who.kind() {
        PrincipalKind::System => Principal::system_in(organisation),
        PrincipalKind::User | PrincipalKind::ApiKey => who.entrusted(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use svc_core::{Means, OrganisationId, PermissionSet, UserId};
    use uuid::Uuid;

    use super::*;

    #[test]
    fn what_an_action_does_is_done_by_the_key_that_took_the_transition() {
        let organisation = OrganisationId(Uuid::from_u128(1));
        let who = Principal::user(
            UserId(Uuid::from_u128(2)),
            "Ada",
            organisation,
            PermissionSet::default(),
        )
        .with_roles(["Buyers"]);
        let key = Means::ApiKey(Uuid::from_u128(3));
        let called =
            able(&who.clone().through_api_key(&BTreeSet::new()).known_by(key), organisation);
        assert_eq!((called.user_id(), called.means()), (who.user_id(), key));
        assert!(called.can("Orders.Approve") && !called.has_role("Buyers"));
        assert!(able(&who, organisation).has_role("Buyers"));
    }
}
