//! What an order consists of.

#![expect(missing_docs, reason = "a column says what it is by its name, or has a comment")]

use svc::prelude::*;

/// One product on an order, at the price of that day.
#[svc::entity("order_lines")]
pub struct Model {
    pub order_id: Uuid,
    /// The line's place on the order, from 1.
    pub position: i32,
    pub product_id: Uuid,
    pub quantity: i32,
    #[decimal(12, 2)]
    pub unit_price: Decimal,
    /// Quantity times unit price.
    #[decimal(12, 2)]
    pub amount: Decimal,
    #[sea_orm(belongs_to, from = "order_id", to = "id")]
    pub order: BelongsTo<super::order::Entity>,
    #[sea_orm(belongs_to, from = "product_id", to = "id")]
    pub product: BelongsTo<super::product::Entity>,
}
