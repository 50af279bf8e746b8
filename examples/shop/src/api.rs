//! The command that has a route of its own: an order comes with its lines, which parameters of an action of OData can't hold. The handler reads the
//! request, calls the command, and answers. The others are [actions](crate::operations).

use axum::Json;
use axum::http::StatusCode;
use svc::data::value::to_json;
use svc::http::HttpState;
use svc::prelude::*;
use utoipa::ToSchema;

use crate::order;
use crate::orders::{self, NewOrder};

/// The routes below `/api/v1`.
pub(crate) fn routes() -> OpenApiRouter<HttpState> {
    OpenApiRouter::default().routes(routes!(place_order))
}

/// To place orders.
struct PlaceOrders;

impl Permission for PlaceOrders {
    const NAME: &'static str = orders::PLACE;
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
