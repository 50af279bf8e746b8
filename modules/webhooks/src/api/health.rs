use axum::Json;
use serde::Deserialize;
use svc_core::Error;
use svc_http::{ApiPath, ApiQuery, ApiResult, May};
use utoipa::IntoParams;
use uuid::Uuid;

use crate::permissions::Manage;
use crate::service::Service;
use crate::service::health::Health;

/// Which time to look at.
#[derive(Clone, Copy, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub(crate) struct HealthQuery {
    /// The last hours.
    #[param(minimum = 1, maximum = 720, default = 24)]
    hours: u32,
}

impl Default for HealthQuery {
    fn default() -> Self {
        Self { hours: 24 }
    }
}

/// Tells how an endpoint does: success rate, durations, last success and backlog.
///
/// The newest 5000 deliveries are looked at.
#[utoipa::path(
    get,
    path = "/webhooks/{id}/health",
    tag = "webhooks",
    params(("id" = Uuid, Path, description = "The endpoint."), HealthQuery),
    responses((status = 200, description = "How it does.", body = Health)),
)]
pub(crate) async fn get_webhook_health(
    May { ctx, .. }: May<Manage>,
    ApiPath(id): ApiPath<Uuid>,
    ApiQuery(query): ApiQuery<HealthQuery>,
) -> ApiResult<Json<Health>> {
    let service = Service::of(&ctx)?;
    if !(1..=720).contains(&query.hours) {
        let message = "expected a whole number from 1 to 720";
        return Err(Error::malformed("the query parameter `hours` is out of range")
            .field("hours", message)
            .into());
    }
    Ok(Json(service.health(&ctx, id, query.hours).await?))
}
