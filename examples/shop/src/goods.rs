//! What moves goods when records go on in their workflows, whatever path the change comes on: a command, a transition, or code that is yet to be
//! written.
//!
//! | Record | Change | Goods |
//! | --- | --- | --- |
//! | an order | is cancelled | what it had set aside comes back into stock |
//! | a purchase | is received | its quantity comes into stock |

use async_trait::async_trait;
use svc::data::{Captured, Change, CommitHook, Record};
use svc::prelude::*;

use crate::order::Status;
use crate::{order, order_line, purchase, stock};

/// Moves goods in the unit of work that moves the record.
pub(crate) struct GoodsFollow;

#[async_trait]
impl CommitHook for GoodsFollow {
    async fn before_commit(&self, uow: &UnitOfWork, captured: &Captured) -> Result<()> {
        for change in &captured.changes {
            match change.model.table {
                "orders" if became(change, "status", &cancelled()) => {
                    come_back(uow, change).await?;
                }
                "purchases" if was_received(change) => come_in(uow, change).await?,
                _ => {}
            }
        }
        Ok(())
    }
}

fn cancelled() -> Value {
    use svc::sea_orm::ActiveEnum as _;
    Status::Cancelled.to_value().into()
}

/// Whether a record that was there has a value in a column now that it hadn't.
fn became(change: &Change, column: &str, value: &Value) -> bool {
    let Some(index) = change.model.column_index(column) else { return false };
    let had = change.before.as_ref().map(|record| record.value(index));
    let has = change.after.as_ref().map(|record| record.value(index));
    had.is_some_and(|had| had != value) && has == Some(value)
}

fn was_received(change: &Change) -> bool {
    let Some(index) = change.model.column_index("received_at") else { return false };
    let is_received =
        |record: &Record| *record.value(index) != Value::TimeDateTimeWithTimeZone(None);
    let before = change.before.as_ref();
    before.is_some_and(|before| !is_received(before))
        && change.after.as_ref().is_some_and(is_received)
}

fn key_of(change: &Change) -> Result<Uuid> {
    match change.record().map(|record| record.key(&change.model)) {
        Some(Value::Uuid(Some(id))) => Ok(*id),
        _ => Err(Error::internal("a record of the shop has no key")),
    }
}

async fn come_back(uow: &UnitOfWork, change: &Change) -> Result<()> {
    let order = uow.context().find::<order::Entity>(key_of(change)?).await?;
    let lines = uow
        .query::<order_line::Entity>()
        .filter(order_line::COLUMN.order_id.eq(order.id))
        .all()
        .await?;
    let ids: Vec<Uuid> = lines.iter().map(|line| line.product_id).collect();
    let mut products = stock::lock_all(uow, &ids).await?;
    for line in lines {
        if let Some(product) = products.remove(&line.product_id) {
            stock::put_back(uow, product, line.quantity).await?;
        }
    }
    Ok(())
}

async fn come_in(uow: &UnitOfWork, change: &Change) -> Result<()> {
    let purchase = uow.context().find::<purchase::Entity>(key_of(change)?).await?;
    let product = stock::lock_all(uow, &[purchase.product_id]).await?.remove(&purchase.product_id);
    match product {
        Some(product) => stock::put_back(uow, product, purchase.quantity).await,
        None => Ok(()),
    }
}
