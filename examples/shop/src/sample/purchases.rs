//! Makes what the shop buys: of what runs low, a few in each state.

use svc::prelude::*;
use svc::workflows::{TakenOver, WorkflowEngine};
use time::Duration;

use super::random::Random;
use crate::{product, purchase};

/// How many purchases there are of each state, which began so many days ago.
const STATES: [(&str, usize, i64); 5] = [
    ("draft", 2, 1),
    ("requested", 3, 1),
    ("ordered", 4, 9),
    ("received", 6, 40),
    ("givenUp", 1, 60),
];

/// Stores purchases, beginning with what is lowest.
pub(super) async fn load(uow: &UnitOfWork, random: &mut Random) -> Result<()> {
    let mut products = uow.query::<product::Entity>().order_by(product::COLUMN.sku).all().await?;
    products.sort_by_key(|product| product.stock - product.reorder_level);
    let now = uow.context().clock().now();
    let stands =
        STATES.iter().flat_map(|(state, count, days)| std::iter::repeat_n((*state, *days), *count));
    let mut purchases = Vec::new();
    let mut states = Vec::new();
    for ((product, (state, days)), number) in products.iter().zip(stands).zip(1..) {
        let since = now - Duration::days(days) - Duration::hours(random.between(1, 20).into());
        purchases.push(purchase::ActiveModel {
            reference: Set(format!("{} {number:03}", product.name)),
            product_id: Set(product.id),
            supplier_id: Set(product.supplier_id),
            quantity: Set(product.reorder_level.max(1) * random.between(1, 3)),
            received_at: Set((state == "received").then_some(since)),
            created_at: Set(since),
            updated_at: Set(since),
            ..Default::default()
        });
        states.push((state, since));
    }
    let purchases = uow.insert_many(purchases).await?;
    let records: Vec<TakenOver> = purchases
        .iter()
        .zip(states)
        .map(|(purchase, (state, since))| TakenOver {
            id: purchase.id,
            state: state.to_owned(),
            since,
        })
        .collect();
    let engine = uow.context().app().service::<WorkflowEngine>()?;
    engine.take_over(uow, purchase::SET, &records).await
}
