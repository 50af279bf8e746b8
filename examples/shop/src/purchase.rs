//! What the shop buys: one product from one supplier, by a day.
//!
//! | State | Transition | To | Who |
//! | --- | --- | --- | --- |
//! | draft | request | requested | whoever wrote it |
//! | requested | order | ordered | who may release purchases, but not whoever wrote it |
//! | requested | reject, with a comment | draft | who may release purchases |
//! | ordered | receive | received | who receives stock |
//! | ordered | give up, with a comment | givenUp | who may release purchases |
//! | draft, requested | drop | givenUp | whoever wrote it |
//!
//! What is requested is due in two working days. What is ordered should be here within [`ARRIVES_IN`] working days; people are reminded two
//! days before, and then whoever releases purchases may receive them, too. What is received comes into stock (`goods.rs`).

#![expect(missing_docs, reason = "a column says what it is by its name, or has a comment")]

use svc::prelude::*;
use svc::workflows::{Assigned, By, Colour, Definition, State, Term, Transition};

use crate::stock;

/// The permission to release purchases.
pub const RELEASE: &str = "Purchases.Release";

/// Within how many working days what was ordered should be here.
pub const ARRIVES_IN: u32 = 10;

/// The set that the workflow is of.
pub(crate) const SET: &str = "Purchases";

/// A purchase.
#[svc::entity("purchases", times)]
pub struct Model {
    /// What the shop calls it.
    #[text(60)]
    pub reference: String,
    pub product_id: Uuid,
    pub supplier_id: Option<Uuid>,
    pub quantity: i32,
    pub received_at: Option<OffsetDateTime>,
    #[sea_orm(belongs_to, from = "product_id", to = "id")]
    pub product: BelongsTo<super::product::Entity>,
    #[sea_orm(belongs_to, from = "supplier_id", to = "id")]
    pub supplier: BelongsTo<Option<super::supplier::Entity>>,
}

/// The workflow of purchases.
pub(crate) fn workflow() -> Definition {
    let way = |name: &str, from: &str, to: &str| Transition::new(name).from([from]).to(to);
    let release = || By::permission(RELEASE);
    Definition::new()
        .state(State::initial("draft"))
        .state(
            State::new("requested")
                .coloured(Colour::Yellow)
                .locks_all()
                .due_in(Term::WorkingDays(2)),
        )
        .state(
            State::new("ordered")
                .coloured(Colour::Blue)
                .locks_all()
                .reminds_after(Term::WorkingDays(ARRIVES_IN - 2))
                .due_in(Term::WorkingDays(ARRIVES_IN))
                .escalates_to(release()),
        )
        .state(State::last("received").coloured(Colour::Green).locks_all())
        .state(State::last("givenUp").coloured(Colour::Red).locks_all())
        .transition(way("request", "draft", "requested").by(By::Creator))
        .transition(way("order", "requested", "ordered").by(release()).not_by_creator())
        .transition(way("reject", "requested", "draft").by(release()).needs_comment())
        .transition(
            way("receive", "ordered", "received")
                .by(By::permission(stock::RECEIVE))
                .sets("receivedAt", Assigned::Now),
        )
        .transition(way("giveUp", "ordered", "givenUp").by(release()).needs_comment().optional())
        .transition(
            Transition::new("drop")
                .from(["draft", "requested"])
                .to("givenUp")
                .by(By::Creator)
                .optional(),
        )
}
