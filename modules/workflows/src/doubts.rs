//! What of a definition works, but maybe not as its author thinks: told while one draws, and no reason against publishing it.
//!
//! | Code | What is said |
//! | --- | --- |
//! | `both_hold` | two transitions lead the same people the same way, and a record may hold the conditions of both |
//! | `nobody_holds` | nobody but administrators holds a permission by which a transition is taken, or nobody has the role |

use std::collections::BTreeSet;

use svc_core::{Directory, Result};
use svc_data::Context;
use svc_odata::bind::BoundExpr;

use crate::binding;
use crate::check::Problem;
use crate::definition::{By, Definition, Transition};
use crate::engine::{Workflow, WorkflowEngine};
use crate::overlap;

impl WorkflowEngine {
    /// What is to be said of a definition that can be published.
    pub(crate) async fn doubts(
        &self,
        ctx: &Context,
        workflow: &Workflow,
        definition: &Definition,
    ) -> Result<Vec<Problem>> {
        let mut doubts = self.both_hold(ctx, workflow, definition);
        doubts.extend(nobody_holds(ctx, definition).await?);
        Ok(doubts)
    }

    /// Pairs of transitions of which nobody can tell which one is meant.
    fn both_hold(
        &self,
        ctx: &Context,
        workflow: &Workflow,
        definition: &Definition,
    ) -> Vec<Problem> {
        let condition = |way: &Transition| -> Option<Option<BoundExpr>> {
            let Some(condition) = &way.condition else { return Some(None) };
            // What is no condition is a problem, and told as one.
            binding::bound(ctx, &self.sets, workflow.index, condition).ok()
        };
        let ways: Vec<(&Transition, Option<BoundExpr>)> =
            definition.transitions.iter().filter_map(|way| Some((way, condition(way)?))).collect();
        let mut doubts = Vec::new();
        for (place, (one, one_holds)) in ways.iter().enumerate() {
            for (other, other_holds) in &ways[place + 1..] {
                let Some(state) = in_common(one, other) else { continue };
                let is_decided = match (one_holds, other_holds) {
                    (Some(one), Some(other)) => overlap::exclude(one, other),
                    _ => false,
                };
                if !is_decided {
                    let message = format!(
                        "the transitions `{}` and `{}` can both hold in the state `{state}`, and lead the same people to `{}`; \
                         give them conditions that exclude each other",
                        one.name, other.name, one.to
                    );
                    doubts.push(Problem::new("both_hold", message));
                }
            }
        }
        doubts
    }
}

/// The state from which two transitions lead somebody to the same one.
fn in_common<'a>(one: &'a Transition, other: &Transition) -> Option<&'a str> {
    let is_for = |by: &By| other.everybody().any(|it| it == by);
    if one.to != other.to || !one.everybody().any(is_for) {
        return None;
    }
    one.from.iter().map(String::as_str).find(|state| other.leaves(state))
}

/// Transitions, and groups of them, of which nobody has any right that they name.
async fn nobody_holds(ctx: &Context, definition: &Definition) -> Result<Vec<Problem>> {
    let everybody = definition.transitions.iter().flat_map(Transition::everybody);
    let asked: BTreeSet<String> = everybody.filter_map(permission).map(str::to_owned).collect();
    let Some(directory) = ctx.app().find_service::<dyn Directory>() else { return Ok(Vec::new()) };
    let organisation = ctx.organisation()?;
    let Some(granted) = directory.granted_in(organisation, &asked).await? else {
        return Ok(Vec::new());
    };
    let roles = directory.roles_in(organisation).await?;
    let has_members = |name: &str| {
        let Some(roles) = &roles else { return true };
        let name = name.to_lowercase();
        roles.iter().any(|role| role.is_held && role.name.to_lowercase() == name)
    };
    let is_held = |by: &By| match by {
        By::Permission(name) => granted.contains(name),
        By::Role(name) => has_members(name),
        By::Creator | By::Person(_) => true,
    };
    let mut doubts = Vec::new();
    for way in &definition.transitions {
        let groups = way.groups.iter().map(|group| &group.by);
        for by in [&way.by].into_iter().chain(groups) {
            if !by.is_empty() && !by.iter().any(is_held) {
                doubts.push(Problem::new("nobody_holds", nobody_has(by, way)));
            }
        }
    }
    Ok(doubts)
}

fn nobody_has(by: &[By], way: &Transition) -> String {
    let permissions: Vec<&str> = by.iter().filter_map(permission).collect();
    let roles: Vec<&str> = by.iter().filter_map(role).collect();
    let mut told = Vec::new();
    if !permissions.is_empty() {
        told.push(format!("nobody but administrators holds `{}`", permissions.join("` or `")));
    }
    if !roles.is_empty() {
        told.push(format!("nobody has the role `{}`", roles.join("` or `")));
    }
    let told = told.join(", and ");
    format!(
        "{told}, which the transition `{}` takes; give it to somebody, or name another",
        way.name
    )
}

fn permission(by: &By) -> Option<&str> {
    match by {
        By::Permission(name) => Some(name),
        By::Role(_) | By::Creator | By::Person(_) => None,
    }
}

fn role(by: &By) -> Option<&str> {
    match by {
        By::Role(name) => Some(name),
        By::Permission(_) | By::Creator | By::Person(_) => None,
    }
}
