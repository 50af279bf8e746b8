//! What happens to orders: they are placed, then shipped or cancelled.
//!
//! | Command | From | To | Stock | Permission |
//! | --- | --- | --- | --- | --- |
//! | [`place_order`] | | placed | is set aside | [`PLACE`] |
//! | [`ship_order`] | placed, and [picked](fulfilment) | shipped | | [`SHIP`] |
//! | [`cancel_order`] | placed | cancelled | comes back | [`CANCEL`] |
//!
//! The last two take the order on in its [workflow](fulfilment), as its own transitions do. Each command is one unit of work. When it fails, whatever the reason, it leaves nothing behind:
//! no order without lines, no stock that nobody ordered, no event of something that didn't happen.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;
use svc::prelude::*;
use utoipa::ToSchema;

use crate::{customer, errors, fulfilment, order, order_line, order_number, product, stock};

/// The permission to place orders.
pub const PLACE: &str = "Orders.Place";
/// The permission to ship orders.
pub const SHIP: &str = "Orders.Ship";
/// The permission to cancel orders.
pub const CANCEL: &str = "Orders.Cancel";

/// The most lines of an order.
const MAX_LINES: usize = 200;

/// An order to be placed.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewOrder {
    /// Who orders.
    pub customer_id: Uuid,
    /// What the customer calls the order.
    #[serde(default)]
    pub reference: Option<String>,
    /// What is ordered: 1 to 200 products, each once.
    pub lines: Vec<NewLine>,
}

/// A line of an order to be placed.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewLine {
    /// The product.
    pub product_id: Uuid,
    /// How many units of it, at least 1.
    pub quantity: i32,
}

/// Places an order at today's prices, and sets its goods aside.
///
/// # Errors
///
/// [`ErrorKind::Forbidden`] without [`PLACE`];
/// [`ErrorKind::Invalid`] for an unknown customer or product, or a
/// quantity below 1; [`ErrorKind::Conflict`] when there is too
/// little stock or credit.
pub async fn place_order(ctx: &Context, new: NewOrder) -> Result<order::Model> {
    ctx.require(PLACE)?;
    check_lines(&new.lines)?;
    ctx.transact(async |uow| {
        let customer = find_customer(&uow, new.customer_id).await?;
        let ids: Vec<Uuid> = new.lines.iter().map(|line| line.product_id).collect();
        let mut products = stock::lock(&uow, &ids).await?;
        let lines = price_lines(&new.lines, &products)?;
        let total: Decimal = lines.iter().map(|line| line.amount).sum();
        check_credit(&uow, &customer, total).await?;

        let order = order::ActiveModel {
            number: Set(order_number::next(&uow).await?),
            customer_id: Set(customer.id),
            reference: Set(new.reference),
            status: Set(order::Status::Placed),
            ordered_at: Set(ctx.clock().now()),
            total: Set(total),
            currency: Set(order::CURRENCY.to_owned()),
            ..Default::default()
        };
        let order = uow.insert(order).await?;
        uow.insert_many(lines.iter().map(|line| line.of_order(order.id))).await?;
        for line in &lines {
            if let Some(product) = products.remove(&line.product_id) {
                stock::take(&uow, product, line.quantity).await?;
            }
        }
        Ok(order)
    })
    .await
}

/// Records that the goods of an order have left.
///
/// # Errors
///
/// [`ErrorKind::Forbidden`] without [`SHIP`];
/// [`ErrorKind::NotFound`] for an unknown order;
/// [`ErrorKind::Conflict`] when it was shipped or cancelled before, or isn't picked yet.
pub async fn ship_order(ctx: &Context, order_id: Uuid) -> Result<order::Model> {
    ctx.require(SHIP)?;
    take(ctx, order_id, "ship").await
}

/// Cancels an order, and puts its goods back into stock.
///
/// # Errors
///
/// [`ErrorKind::Forbidden`] without [`CANCEL`];
/// [`ErrorKind::NotFound`] for an unknown order;
/// [`ErrorKind::Conflict`] when it was shipped or cancelled before.
pub async fn cancel_order(ctx: &Context, order_id: Uuid) -> Result<order::Model> {
    ctx.require(CANCEL)?;
    take(ctx, order_id, "cancel").await
}

/// Takes an order on that waits for shipment; answers with what became of it.
async fn take(ctx: &Context, order_id: Uuid, step: &str) -> Result<order::Model> {
    ctx.transact(async |uow| {
        let order = lock_placed(&uow, order_id).await?;
        fulfilment::take(&uow, &order, step).await?;
        uow.context().find::<order::Entity>(order_id).await
    })
    .await
}

/// A line with its price, before it has an order.
struct PricedLine {
    position: i32,
    product_id: Uuid,
    quantity: i32,
    unit_price: Decimal,
    amount: Decimal,
}

impl PricedLine {
    fn of_order(&self, order_id: Uuid) -> order_line::ActiveModel {
        order_line::ActiveModel {
            order_id: Set(order_id),
            position: Set(self.position),
            product_id: Set(self.product_id),
            quantity: Set(self.quantity),
            unit_price: Set(self.unit_price),
            amount: Set(self.amount),
            ..Default::default()
        }
    }
}

fn invalid_order() -> Error {
    Error::invalid("the order is not valid")
}

/// Checks what can be checked without the database.
fn check_lines(lines: &[NewLine]) -> Result<()> {
    if !(1..=MAX_LINES).contains(&lines.len()) {
        return Err(invalid_order().field("lines", format!("must be 1 to {MAX_LINES}")));
    }
    let mut problems = invalid_order();
    let mut seen = BTreeSet::new();
    for (index, line) in lines.iter().enumerate() {
        if line.quantity < 1 {
            problems = problems.field(format!("lines[{index}].quantity"), "must be at least 1");
        }
        if !seen.insert(line.product_id) {
            let message = "is on the order already; add its quantity there";
            problems = problems.field(format!("lines[{index}].productId"), message);
        }
    }
    if problems.fields().is_empty() { Ok(()) } else { Err(problems) }
}

/// Finds what each line costs, and checks that there is enough of every product.
fn price_lines(
    lines: &[NewLine],
    products: &BTreeMap<Uuid, product::Model>,
) -> Result<Vec<PricedLine>> {
    let mut unknown = invalid_order();
    let mut short = errors::STOCK_TOO_LOW.error("there is not enough in stock");
    let mut shortages = Vec::new();
    let mut priced = Vec::with_capacity(lines.len());
    for ((index, line), position) in lines.iter().enumerate().zip(1..) {
        let Some(product) = products.get(&line.product_id) else {
            unknown = unknown.field(format!("lines[{index}].productId"), "isn't a product");
            continue;
        };
        if product.stock < line.quantity {
            let message = format!("only {} of `{}` are left", product.stock, product.sku);
            short = short.field(format!("lines[{index}].quantity"), message);
            shortages.push(json!({"sku": product.sku, "available": product.stock}));
        }
        priced.push(PricedLine {
            position,
            product_id: product.id,
            quantity: line.quantity,
            unit_price: product.price,
            amount: product.price * Decimal::from(line.quantity),
        });
    }
    let short = short.with("products", shortages);
    match [unknown, short].into_iter().find(|problems| !problems.fields().is_empty()) {
        Some(problems) => Err(problems),
        None => Ok(priced),
    }
}

/// The customer, locked so that two orders at once can't both use the last of the credit.
async fn find_customer(uow: &UnitOfWork, id: Uuid) -> Result<customer::Model> {
    let query = uow.query::<customer::Entity>().filter(customer::COLUMN.id.eq(id));
    let unknown = || invalid_order().field("customerId", "isn't a customer");
    query.for_update().one().await?.ok_or_else(unknown)
}

/// What a customer's further orders may come to; none where there is no limit.
///
/// # Errors
///
/// A fault of the database.
pub async fn credit_left(ctx: &Context, customer: &customer::Model) -> Result<Option<Decimal>> {
    let Some(limit) = customer.credit_limit else { return Ok(None) };
    let open = ctx
        .query::<order::Entity>()
        .filter(order::COLUMN.customer_id.eq(customer.id))
        .filter(order::COLUMN.status.eq(order::Status::Placed))
        .all()
        .await?;
    let open: Decimal = open.iter().map(|order| order.total).sum();
    Ok(Some((limit - open).max(Decimal::ZERO)))
}

async fn check_credit(uow: &UnitOfWork, customer: &customer::Model, total: Decimal) -> Result<()> {
    match credit_left(uow.context(), customer).await? {
        Some(left) if total > left => Err(errors::CREDIT_TOO_LOW
            .error(format!(
                "the order comes to {total:.2}, but of the customer's credit only {left:.2} is \
                 left; ship or cancel other orders first, or raise the credit limit"
            ))
            .with("total", format!("{total:.2}"))
            .with("left", format!("{left:.2}"))),
        _ => Ok(()),
    }
}

async fn lock_placed(uow: &UnitOfWork, id: Uuid) -> Result<order::Model> {
    let query = uow.query::<order::Entity>().filter(order::COLUMN.id.eq(id)).for_update();
    let order = query.one().await?.ok_or_else(|| Error::not_found("there is no such order"))?;
    let state = match order.status {
        order::Status::Placed => return Ok(order),
        order::Status::Shipped => "shipped",
        order::Status::Cancelled => "cancelled",
    };
    let message = format!("order `{}` is already {state}", order.number);
    Err(errors::ORDER_CLOSED.error(message).with("state", state))
}
