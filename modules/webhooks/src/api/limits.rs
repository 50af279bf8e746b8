use axum::Json;
use serde::Serialize;
use svc_http::{ApiResult, May};
use time::OffsetDateTime;
use utoipa::ToSchema;

use crate::permissions::Manage;
use crate::service::{LimitUse, LimitsUsed, Service};

/// How much of a limit is used.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebhookLimit)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LimitBody {
    /// The most; none without a limit.
    most: Option<i64>,
    /// What is used; none where it isn't counted, since there is no limit, and of requests.
    used: Option<i64>,
    /// How much that is in percent. Of requests: how many of a minute's began in the present one, or 100
    /// where some had to wait in it.
    percent: Option<i64>,
    /// When 80 percent or more were last used.
    #[serde(with = "time::serde::rfc3339::option")]
    near_at: Option<OffsetDateTime>,
    /// When all was last used, so that something waited, or the next endpoint would be refused.
    #[serde(with = "time::serde::rfc3339::option")]
    reached_at: Option<OffsetDateTime>,
}

impl From<LimitUse> for LimitBody {
    fn from(limit: LimitUse) -> Self {
        let LimitUse { most, used, percent, near_at, reached_at } = limit;
        Self { most, used, percent, near_at, reached_at }
    }
}

/// What the organisation may use, and how much of it is used.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebhookLimits)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LimitsBody {
    /// Endpoints.
    endpoints: LimitBody,
    /// Requests to all endpoints that begin in a second; what is more waits.
    per_second: LimitBody,
    /// Bytes of bodies that are sent in a day; what is more waits. They come back evenly over a day.
    bytes_per_day: LimitBody,
}

impl From<LimitsUsed> for LimitsBody {
    fn from(used: LimitsUsed) -> Self {
        Self {
            endpoints: used.endpoints.into(),
            per_second: used.per_second.into(),
            bytes_per_day: used.bytes_per_day.into(),
        }
    }
}

/// Tells what the organisation may use, and how much of it is used.
#[utoipa::path(
    get,
    path = "/webhooks/limits",
    tag = "webhooks",
    responses((status = 200, description = "The limits.", body = LimitsBody)),
)]
pub(crate) async fn get_webhook_limits(
    May { ctx, .. }: May<Manage>,
) -> ApiResult<Json<LimitsBody>> {
    Ok(Json(Service::of(&ctx)?.limits(&ctx).await?.into()))
}
