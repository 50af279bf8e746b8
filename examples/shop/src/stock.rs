//! The stock of products: what comes in, what is set aside, what comes back.
//!
//! Stock changes through commands only, each of which locks the products that it touches, so two
//! people who order the last hammer at the same moment never both get it. Products are locked in
//! the order of their ids, always, so two such commands never wait for each other either.

use std::collections::BTreeMap;

use svc::prelude::*;
use svc::sea_orm::Condition;
use utoipa::ToSchema;

use crate::product;

/// The permission to add what a supplier has delivered.
pub const RECEIVE: &str = "Products.ReceiveStock";

/// The stock of a product fell below the level at which it should be bought again.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StockLow {
    /// The product.
    pub product_id: Uuid,
    /// Its number.
    pub sku: String,
    /// Its name.
    pub name: String,
    /// What is left.
    pub stock: i32,
    /// The level that it fell below.
    pub reorder_level: i32,
}

impl StockLow {
    /// One as it may be, for those who write receivers.
    pub(crate) fn example() -> Self {
        Self {
            product_id: Uuid::from_u128(0x0193_4a1c_7a3e_7def_8123_4567_89ab_cdef),
            sku: "TL-0042".to_owned(),
            name: "Claw hammer".to_owned(),
            stock: 3,
            reorder_level: 5,
        }
    }
}

svc::data::operation_parameters! {
    /// What a supplier has delivered of a product.
    #[derive(Clone, Debug)]
    pub struct Delivery {
        /// How many units.
        pub quantity: i32,
        /// What one unit cost; none keeps what it cost before.
        pub cost_price: Option<Decimal>,
    }
}

/// Adds a delivery to the stock of a product.
///
/// # Errors
///
/// [`ErrorKind::Forbidden`] without [`RECEIVE`];
/// [`ErrorKind::NotFound`] for an unknown product;
/// [`ErrorKind::Invalid`] for a quantity or price that can't be, and for a price by somebody who doesn't see prices.
pub async fn receive_stock(
    ctx: &Context,
    product_id: Uuid,
    delivery: Delivery,
) -> Result<product::Model> {
    ctx.require(RECEIVE)?;
    let invalid = || Error::invalid("the delivery is not valid");
    if delivery.quantity < 1 {
        return Err(invalid().field("quantity", "must be at least 1"));
    }
    if delivery.cost_price.is_some_and(|price| price.is_sign_negative()) {
        return Err(invalid().field("costPrice", "must not be negative"));
    }
    if delivery.cost_price.is_some() && !ctx.principal().can(product::SEE_COSTS) {
        return Err(invalid().field("costPrice", "is set by those who see costs"));
    }
    ctx.transact(async |uow| {
        let product = lock(&uow, &[product_id]).await?.remove(&product_id);
        let product = product.ok_or_else(|| Error::not_found("there is no such product"))?;
        let stock = product.stock.checked_add(delivery.quantity);
        let stock = stock.ok_or_else(|| invalid().field("quantity", "is more than can be kept"))?;
        let mut change = product.into_active_model();
        change.stock = Set(stock);
        if delivery.cost_price.is_some() {
            change.cost_price = Set(delivery.cost_price);
        }
        uow.update(change).await
    })
    .await
}

/// The products among `ids` that the caller may see, locked until the unit of work ends.
pub(crate) async fn lock(uow: &UnitOfWork, ids: &[Uuid]) -> Result<BTreeMap<Uuid, product::Model>> {
    let seen = product::visible_to(&uow.context().viewer()).into_condition();
    lock_where(uow, ids, seen.unwrap_or_else(Condition::all)).await
}

/// The products among `ids`, locked, whoever asks: to give back what an order had taken.
pub(crate) async fn lock_all(
    uow: &UnitOfWork,
    ids: &[Uuid],
) -> Result<BTreeMap<Uuid, product::Model>> {
    lock_where(uow, ids, Condition::all()).await
}

async fn lock_where(
    uow: &UnitOfWork,
    ids: &[Uuid],
    condition: Condition,
) -> Result<BTreeMap<Uuid, product::Model>> {
    let products = uow
        .query::<product::Entity>()
        .filter(product::COLUMN.id.is_in(ids.iter().copied()))
        .filter(condition)
        .order_by(product::COLUMN.id)
        .for_update()
        .all()
        .await?;
    Ok(products.into_iter().map(|product| (product.id, product)).collect())
}

/// Sets units of a locked product aside, and says so when few are left.
pub(crate) async fn take(uow: &UnitOfWork, product: product::Model, quantity: i32) -> Result<()> {
    let was_enough = product.stock >= product.reorder_level;
    let stock = product.stock - quantity;
    let mut change = product.into_active_model();
    change.stock = Set(stock);
    let product = uow.update(change).await?;
    if was_enough && product.stock < product.reorder_level && !product.discontinued {
        uow.publish(StockLow {
            product_id: product.id,
            sku: product.sku,
            name: product.name,
            stock: product.stock,
            reorder_level: product.reorder_level,
        })?;
    }
    Ok(())
}

/// Puts units of a locked product back.
pub(crate) async fn put_back(
    uow: &UnitOfWork,
    product: product::Model,
    quantity: i32,
) -> Result<()> {
    let stock = product.stock.saturating_add(quantity);
    let mut change = product.into_active_model();
    change.stock = Set(stock);
    uow.update(change).await.map(drop)
}
