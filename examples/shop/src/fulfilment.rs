//! The way of an order, from its draft until the customer has what was ordered.
//!
//! | State | Transition | To | Who |
//! | --- | --- | --- | --- |
//! | draft | submit | submitted | who may place orders |
//! | submitted | approve; approve large, above [`LIMIT`] | approved | who may approve, but not whoever placed or submitted it; above the limit two of them |
//! | submitted | refuse, with a comment | draft | who may approve |
//! | submitted | withdraw | draft | who placed it |
//! | approved | pick | picking | who may ship |
//! | picking | ship | shipped | who may ship |
//! | shipped | close | closed | who may ship; the shop itself after two weeks |
//! | any before shipped | cancel | cancelled | who may cancel |
//!
//! Shipping and cancelling set the status of the order, and nothing else does; what a cancelled order has set aside comes back into stock
//! (`goods.rs`). Administrators may draw another way; `ship` stays, since the shop asks for it.
//!
//! What is submitted keeps its reference, since that is what whoever approves has read. It is due in two working
//! days, with a reminder after one.

use svc::prelude::*;
use svc::workflows::{Assigned, By, Colour, Definition, State, Term, Transition, WorkflowEngine};

use crate::order::Status;
use crate::{errors, order, orders};

/// The permission to approve orders.
pub const APPROVE: &str = "Orders.Approve";

/// What an order may come to for one person to approve it; above that it takes two.
pub const LIMIT: Decimal = Decimal::from_parts(10_000, 0, 0, false, 0);

/// After how many days an order that was shipped is closed.
pub(crate) const CLOSED_AFTER: u32 = 14;

/// The set that the workflow is of.
pub(crate) const SET: &str = "Orders";

/// The workflow of orders.
pub(crate) fn workflow() -> Definition {
    let reference = ["reference"];
    let status = |status: Status| Assigned::Value(status.to_value().into());
    let approve = |name: &str, when: &str| {
        way(name, "submitted", "approved")
            .by(By::permission(APPROVE))
            .not_by_creator()
            .not_by_last()
            .when(&format!("total {when} {LIMIT}"))
    };
    Definition::new()
        .state(State::initial("draft"))
        .state(
            State::new("submitted")
                .coloured(Colour::Yellow)
                .locks(reference)
                .reminds_after(Term::WorkingDays(1))
                .due_in(Term::WorkingDays(2)),
        )
        .state(State::new("approved").coloured(Colour::Blue).locks(reference))
        .state(State::new("picking").coloured(Colour::Blue).due_in(Term::WorkingDays(1)).kept())
        .state(
            State::new("shipped")
                .coloured(Colour::Green)
                .automatically(Term::Days(CLOSED_AFTER), "close")
                .kept(),
        )
        .state(State::last("closed").coloured(Colour::Green).locks_all())
        .state(State::last("cancelled").coloured(Colour::Red))
        .transition(way("submit", "draft", "submitted").by(By::permission(orders::PLACE)))
        .transition(approve("approve", "le"))
        .transition(approve("approveLarge", "gt").approvals(2))
        .transition(way("refuse", "submitted", "draft").by(By::permission(APPROVE)).needs_comment())
        .transition(way("withdraw", "submitted", "draft").by(By::Creator).optional())
        .transition(way("pick", "approved", "picking").by(By::permission(orders::SHIP)))
        .transition(
            way("ship", "picking", "shipped")
                .by(By::permission(orders::SHIP))
                .sets("status", status(Status::Shipped))
                .sets("shippedAt", Assigned::Now)
                .kept(),
        )
        .transition(way("close", "shipped", "closed").by(By::permission(orders::SHIP)).optional())
        .transition(
            Transition::new("cancel")
                .from(["draft", "submitted", "approved", "picking"])
                .to("cancelled")
                .by(By::permission(orders::CANCEL))
                .sets("status", status(Status::Cancelled))
                .optional(),
        )
}

fn way(name: &str, from: &str, to: &str) -> Transition {
    Transition::new(name).from([from]).to(to)
}

/// The transition by which an order is approved.
pub(crate) fn approving(order: &order::Model) -> &'static str {
    if order.total > LIMIT { "approveLarge" } else { "approve" }
}

/// Takes an order on, for a command that has looked at its status.
///
/// # Errors
///
/// [`ErrorKind::Conflict`] where it isn't as far; what the workflow refuses else.
pub(crate) async fn take(uow: &UnitOfWork, order: &order::Model, step: &str) -> Result<()> {
    let ctx = uow.context();
    let engine = ctx.app().service::<WorkflowEngine>()?;
    let taken = engine.take(ctx, SET, order.id, step, None).await;
    taken.map_err(|error| match error.code() {
        "workflows.other_state" | "workflows.unknown_transition" => {
            let number = &order.number;
            errors::NOT_READY
                .error(format!("order `{number}` isn't as far; have it approved and picked first"))
        }
        _ => error,
    })
}
