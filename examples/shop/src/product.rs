//! What the shop sells.

#![expect(missing_docs, reason = "a column says what it is by its name, or has a comment")]

use svc::data::{Sight, Viewer, VirtualRow};
use svc::prelude::*;
use svc::sea_orm::Condition;
use svc::sea_orm::sea_query::{CaseStatement, ExprTrait as _, Func, Query};

/// Sees what the shop pays for products, and says it of what arrives.
pub const SEE_COSTS: &str = "Products.SeeCosts";

/// A product.
#[svc::entity("products", times)]
pub struct Model {
    /// The number by which people order it, unique in the organisation.
    #[text(20)]
    pub sku: String,
    #[text(100)]
    pub name: String,
    #[text(1000)]
    pub description: Option<String>,
    pub category_id: Uuid,
    pub supplier_id: Option<Uuid>,
    /// What one of it is: a piece, a box of 200, a canister of 5 l.
    #[text(30)]
    #[sea_orm(default_value = "piece")]
    pub unit: String,
    /// The net price that customers pay for one unit.
    #[decimal(12, 2)]
    pub price: Decimal,
    /// What the shop pays for one unit, once that is known.
    #[decimal(12, 2)]
    pub cost_price: Option<Decimal>,
    /// The units that are here and not promised to anybody.
    #[sea_orm(default_value = 0)]
    pub stock: i32,
    /// With less stock than this it is time to buy more.
    #[sea_orm(default_value = 0)]
    pub reorder_level: i32,
    /// The only region that it is sold in; none for a product that is sold everywhere.
    #[text(30)]
    pub region: Option<String>,
    /// Whether it is no longer bought; what is in stock is still sold.
    #[sea_orm(default_value = false)]
    pub discontinued: bool,
    #[sea_orm(belongs_to, from = "category_id", to = "id")]
    pub category: BelongsTo<super::category::Entity>,
    #[sea_orm(belongs_to, from = "supplier_id", to = "id")]
    pub supplier: BelongsTo<Option<super::supplier::Entity>>,
    #[sea_orm(has_many)]
    pub order_lines: HasMany<super::order_line::Entity>,
}

/// The permission to see the products of all regions.
pub const SEE_ALL_REGIONS: &str = "Products.SeeAllRegions";

/// The products that `who` may see: those that are sold everywhere, and those of the regions in the
/// claim `regions`. To see all takes a permission: who has lost the claim sees less, not more.
#[must_use]
pub fn visible_to(who: &Viewer<'_>) -> Sight {
    if who.can(SEE_ALL_REGIONS) {
        return Sight::All;
    }
    let regions = who.claims("regions");
    Condition::any().add(Column::Region.is_null()).add(Column::Region.is_in(regions)).into()
}

/// The units of a product on orders that wait for shipment, in SQL.
#[must_use]
pub fn ordered(row: &VirtualRow<'_>) -> Expr {
    use super::{order, order_line};
    let mut lines = Query::select();
    lines
        .expr(order_line::Column::Quantity.sum())
        .from(order_line::Entity)
        .inner_join(
            order::Entity,
            order::Column::Id.into_expr().eq(order_line::Column::OrderId.into_expr()),
        )
        .and_where(order_line::Column::ProductId.into_expr().eq(row.key()))
        .and_where(order_line::Column::OrganisationId.into_expr().eq(row.organisation()))
        .and_where(order::Column::Status.eq(order::Status::Placed));
    let sum = Expr::SubQuery(None, Box::new(lines.into()));
    Func::coalesce([sum, Expr::val(0)]).into()
}

/// What is to be said of a product's stock, in SQL: `soldOut`, `low` or `inStock`.
#[must_use]
pub fn availability(row: &VirtualRow<'_>) -> Expr {
    let stock = || row.column("stock");
    CaseStatement::new()
        .case(stock().lte(0), "soldOut")
        .case(stock().lt(row.column("reorder_level")), "low")
        .finally("inStock")
        .into()
}
