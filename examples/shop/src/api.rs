//! The commands over HTTP. A handler reads the request, calls one command, and answers.

use axum::Json;
use axum::http::StatusCode;
use svc::data::value::to_json;
use svc::http::HttpState;
use svc::prelude::*;
use utoipa::ToSchema;

use crate::orders::{self, NewOrder};
use crate::stock::{self, Delivery};
use crate::{order, product};

/// The routes below `/api/v1`.
pub(crate) fn routes() -> OpenApiRouter<HttpState> {
    OpenApiRouter::default()
        .routes(routes!(place_order))
        .routes(routes!(ship_order))
        .routes(routes!(cancel_order))
        .routes(routes!(receive_stock))
}

/// To place orders.
struct PlaceOrders;

impl Permission for PlaceOrders {
    const NAME: &'static str = orders::PLACE;
}

/// To ship orders.
struct ShipOrders;

impl Permission for ShipOrders {
    const NAME: &'static str = orders::SHIP;
}

/// To cancel orders.
struct CancelOrders;

impl Permission for CancelOrders {
    const NAME: &'static str = orders::CANCEL;
}

/// To receive stock.
struct ReceiveStock;

impl Permission for ReceiveStock {
    const NAME: &'static str = stock::RECEIVE;
}

/// Where an order stands now.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct OrderState {
    /// The order, as `/odata/v1/Orders(<id>)` has it.
    id: Uuid,
    /// Its number.
    number: String,
    /// Where it stands.
    status: order::Status,
    /// The sum of its lines.
    #[schema(value_type = f64)]
    total: serde_json::Value,
}

impl From<order::Model> for OrderState {
    fn from(order: order::Model) -> Self {
        let total = to_json(&order.total.into());
        Self { id: order.id, number: order.number, status: order.status, total }
    }
}

/// The stock of a product now.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ProductStock {
    /// The product, as `/odata/v1/Products(<id>)` has it.
    id: Uuid,
    /// Its number.
    sku: String,
    /// The units that are here and not promised to anybody.
    stock: i32,
}

impl From<product::Model> for ProductStock {
    fn from(product: product::Model) -> Self {
        Self { id: product.id, sku: product.sku, stock: product.stock }
    }
}

/// Places an order at today's prices, and sets its goods aside.
#[utoipa::path(
    post,
    path = "/shop/orders",
    tag = "shop",
    request_body = NewOrder,
    responses(
        (status = 201, description = "The order was placed.", body = OrderState),
        (status = 409, description = "There is too little stock or credit."),
        (status = 422, description = "The order is not valid."),
    ),
)]
async fn place_order(
    May { ctx, .. }: May<PlaceOrders>,
    ApiJson(new): ApiJson<NewOrder>,
) -> ApiResult<(StatusCode, Json<OrderState>)> {
    let order = orders::place_order(&ctx, new).await?;
    Ok((StatusCode::CREATED, Json(order.into())))
}

/// Records that the goods of an order have left.
#[utoipa::path(
    post,
    path = "/shop/orders/{id}/ship",
    tag = "shop",
    params(("id" = Uuid, Path, description = "The order.")),
    responses(
        (status = 200, description = "The order is shipped.", body = OrderState),
        (status = 404, description = "There is no such order."),
        (status = 409, description = "The order was shipped or cancelled before."),
    ),
)]
async fn ship_order(
    May { ctx, .. }: May<ShipOrders>,
    ApiPath(id): ApiPath<Uuid>,
) -> ApiResult<Json<OrderState>> {
    Ok(Json(orders::ship_order(&ctx, id).await?.into()))
}

/// Cancels an order, and puts its goods back into stock.
#[utoipa::path(
    post,
    path = "/shop/orders/{id}/cancel",
    tag = "shop",
    params(("id" = Uuid, Path, description = "The order.")),
    responses(
        (status = 200, description = "The order is cancelled.", body = OrderState),
        (status = 404, description = "There is no such order."),
        (status = 409, description = "The order was shipped or cancelled before."),
    ),
)]
async fn cancel_order(
    May { ctx, .. }: May<CancelOrders>,
    ApiPath(id): ApiPath<Uuid>,
) -> ApiResult<Json<OrderState>> {
    Ok(Json(orders::cancel_order(&ctx, id).await?.into()))
}

/// Adds a delivery to the stock of a product.
#[utoipa::path(
    post,
    path = "/shop/products/{id}/deliveries",
    tag = "shop",
    params(("id" = Uuid, Path, description = "The product.")),
    request_body = Delivery,
    responses(
        (status = 200, description = "The delivery is in stock.", body = ProductStock),
        (status = 404, description = "There is no such product."),
        (status = 422, description = "The delivery is not valid."),
    ),
)]
async fn receive_stock(
    May { ctx, .. }: May<ReceiveStock>,
    ApiPath(id): ApiPath<Uuid>,
    ApiJson(delivery): ApiJson<Delivery>,
) -> ApiResult<Json<ProductStock>> {
    Ok(Json(stock::receive_stock(&ctx, id, delivery).await?.into()))
}
