use axum::Json;
use svc_http::{ApiResult, May};

use crate::permissions::Manage;
use crate::service::Service;
use crate::service::limits::LimitsUsed;

/// Tells what the organisation may use, and how much of it is used.
#[utoipa::path(
    get,
    path = "/webhooks/limits",
    tag = "webhooks",
    responses((status = 200, description = "The limits.", body = LimitsUsed)),
)]
pub(crate) async fn get_webhook_limits(
    May { ctx, .. }: May<Manage>,
) -> ApiResult<Json<LimitsUsed>> {
    Ok(Json(Service::of(&ctx)?.limits(&ctx).await?))
}
