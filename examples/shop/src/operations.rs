//! The same commands as actions of OData, and a function beside them: what clients that know only
//! OData find in the metadata.

use svc::data::operation::One;
use svc::prelude::*;

use crate::stock::{self, Delivery};
use crate::{customer, order, orders, product};

/// `Orders(…)/Shop.Ship`.
pub(crate) async fn ship(
    uow: UnitOfWork,
    order: order::Model,
    (): (),
) -> Result<One<order::Model>> {
    orders::ship_order(uow.context(), order.id).await.map(One)
}

/// `Orders(…)/Shop.Cancel`.
pub(crate) async fn cancel(
    uow: UnitOfWork,
    order: order::Model,
    (): (),
) -> Result<One<order::Model>> {
    orders::cancel_order(uow.context(), order.id).await.map(One)
}

svc::data::operation_parameters! {
    /// What a supplier has delivered of a product.
    pub(crate) struct Received {
        /// How many units.
        pub(crate) quantity: i32,
        /// What one unit cost; none keeps what it cost before.
        pub(crate) cost_price: Option<Decimal>,
    }
}

/// `Products(…)/Shop.ReceiveStock`.
pub(crate) async fn receive(
    uow: UnitOfWork,
    product: product::Model,
    received: Received,
) -> Result<One<product::Model>> {
    let Received { quantity, cost_price } = received;
    let delivery = Delivery { quantity, cost_price };
    stock::receive_stock(uow.context(), product.id, delivery).await.map(One)
}

/// `Customers(…)/Shop.CreditLeft()`.
pub(crate) async fn credit_left(
    ctx: Context,
    customer: customer::Model,
    (): (),
) -> Result<Option<Decimal>> {
    orders::credit_left(&ctx, &customer).await
}
