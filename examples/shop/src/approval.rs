//! Orders above a limit are approved by somebody else before their goods leave.
//!
//! | State | Transition | To | Who |
//! | --- | --- | --- | --- |
//! | open | submit | submitted | who may place orders |
//! | submitted | approve, or approve large | approved | who may approve, but not whoever submitted it or placed it; above [`ONE_APPROVES`] two of them |
//! | submitted | refuse, with a comment | open | who may approve |
//! | submitted | withdraw | open | who placed it |
//!
//! Administrators may draw another workflow; `approved` stays, since shipping asks for it.
//!
//! What is submitted keeps its reference, since that is what whoever approves has read. It is due in two working
//! days, with a reminder after one.

use svc::prelude::*;
use svc::workflows::{By, Colour, Definition, State, Term, Transition, WorkflowEngine};

use crate::{errors, order, orders};

/// The permission to approve orders.
pub const APPROVE: &str = "Orders.Approve";

/// What an order may come to without anybody's approval.
pub const LIMIT: Decimal = Decimal::from_parts(10_000, 0, 0, false, 0);

/// What an order may come to for one person to approve it; above that it takes two.
pub const ONE_APPROVES: Decimal = Decimal::from_parts(50_000, 0, 0, false, 0);

/// The set that the workflow is of.
pub(crate) const SET: &str = "Orders";

/// The workflow of orders.
pub(crate) fn workflow() -> Definition {
    let way = |name: &str, from: &str, to: &str| Transition::new(name).from([from]).to(to);
    let approve = |name: &str, when: &str| {
        way(name, "submitted", "approved")
            .by(By::permission(APPROVE))
            .not_by_creator()
            .not_by_last()
            .when(&format!("status eq 'placed' and total {when}"))
    };
    Definition::new()
        .state(State::initial("open"))
        .state(
            State::new("submitted")
                .coloured(Colour::Yellow)
                .locks(["reference"])
                .reminds_after(Term::WorkingDays(1))
                .due_in(Term::WorkingDays(2)),
        )
        .state(State::last("approved").coloured(Colour::Green).locks(["reference"]).kept())
        .transition(
            way("submit", "open", "submitted")
                .by(By::permission(orders::PLACE))
                .when("status eq 'placed'"),
        )
        .transition(approve("approve", &format!("le {ONE_APPROVES}")))
        .transition(approve("approveLarge", &format!("gt {ONE_APPROVES}")).approvals(2))
        .transition(way("refuse", "submitted", "open").by(By::permission(APPROVE)).needs_comment())
        .transition(way("withdraw", "submitted", "open").by(By::Creator).optional())
}

/// The transition by which an order is approved.
pub(crate) fn approving(order: &order::Model) -> &'static str {
    if order.total > ONE_APPROVES { "approveLarge" } else { "approve" }
}

/// Insists that an order which needs it is approved.
///
/// # Errors
///
/// [`ErrorKind::Conflict`] where it isn't.
pub(crate) async fn check(ctx: &Context, order: &order::Model) -> Result<()> {
    if order.total <= LIMIT {
        return Ok(());
    }
    // Whoever ships needs to know nothing else of the order.
    let system = ctx.acting_as(Arc::new(Principal::system_in(ctx.organisation()?)));
    let engine = ctx.app().service::<WorkflowEngine>()?;
    if engine.state_of(&system, SET, order.id).await? == "approved" {
        return Ok(());
    }
    let message =
        format!("order `{}` comes to {:.2}; have it approved first", order.number, order.total);
    Err(errors::NOT_APPROVED.error(message).with("limit", format!("{LIMIT:.2}")))
}
