//! Commands as actions of OData, and a function beside them: each is called on a record, and clients find it in the metadata.

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

/// `Products(…)/Shop.ReceiveStock`.
pub(crate) async fn receive(
    uow: UnitOfWork,
    product: product::Model,
    delivery: Delivery,
) -> Result<One<product::Model>> {
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
