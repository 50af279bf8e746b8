//! What customers have ordered. Commands write it: see [`crate::orders`].

#![expect(missing_docs, reason = "a column says what it is by its name, or has a comment")]

use svc::prelude::*;
use utoipa::ToSchema;

/// Where an order stands. It begins as placed, and ends as one of the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum, Serialize, ToSchema)]
#[sea_orm(
    rs_type = "String",
    db_type = "String(StringLen::N(10))",
    enum_name = "order_status",
    rename_all = "camelCase"
)]
#[serde(rename_all = "camelCase")]
pub enum Status {
    /// Its goods are set aside, and wait for shipment.
    Placed,
    /// Its goods have left.
    Shipped,
    /// Its goods are back in stock.
    Cancelled,
}

/// What prices are in, and orders that are placed at them.
pub(crate) const CURRENCY: &str = "EUR";

/// An order.
#[svc::entity("orders", times)]
pub struct Model {
    /// The order's number, counted up without gaps in the organisation.
    #[text(20)]
    pub number: String,
    pub customer_id: Uuid,
    /// What the customer calls it.
    #[text(60)]
    pub reference: Option<String>,
    pub status: Status,
    pub ordered_at: OffsetDateTime,
    pub shipped_at: Option<OffsetDateTime>,
    /// The sum of the lines.
    #[decimal(12, 2)]
    pub total: Decimal,
    /// What the total and the lines are in (ISO 4217).
    #[text(3)]
    pub currency: String,
    #[sea_orm(belongs_to, from = "customer_id", to = "id")]
    pub customer: BelongsTo<super::customer::Entity>,
    #[sea_orm(has_many)]
    pub lines: HasMany<super::order_line::Entity>,
}
