//! Keeps what was ordered as it was ordered, whatever path a change comes on: a command, an OData
//! request, or code that is yet to be written.

use std::collections::BTreeSet;

use async_trait::async_trait;
use svc::data::{Captured, Change, ChangeKind, CommitHook};
use svc::prelude::*;

use crate::errors;

/// Refuses every change of an order's lines after the unit of work that placed it, so that the
/// total, the stock and what the customer signed stay in step.
pub(crate) struct LinesStayAsPlaced;

#[async_trait]
impl CommitHook for LinesStayAsPlaced {
    async fn before_commit(&self, _: &UnitOfWork, captured: &Captured) -> Result<()> {
        let changes_of = |table| captured.changes.iter().filter(move |c| c.model.table == table);
        let placed: BTreeSet<Uuid> = changes_of("orders")
            .filter(|change| change.kind == ChangeKind::Created)
            .filter_map(|change| value_of(change, "id"))
            .collect();
        let stays = |change: &Change| {
            let order = value_of(change, "order_id");
            change.kind == ChangeKind::Created && order.is_some_and(|id| placed.contains(&id))
        };
        if changes_of("order_lines").all(stays) {
            return Ok(());
        }
        Err(errors::LINES_ARE_FIXED.error(
            "the lines of an order stay as they were placed; cancel the order and place another",
        ))
    }
}

fn value_of(change: &Change, column: &str) -> Option<Uuid> {
    match change.record()?.value(change.model.column_index(column)?) {
        Value::Uuid(id) => *id,
        _ => None,
    }
}
