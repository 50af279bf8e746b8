use axum::Json;
use serde::{Deserialize, Serialize};
use svc_core::Error;
use svc_http::{ApiPath, ApiQuery, ApiResult, May};
use time::OffsetDateTime;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::permissions::Manage;
use crate::service::{Health, Service, Span};

/// What became of deliveries, and how long their last attempts took.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebhookHealthSpan)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SpanBody {
    /// Deliveries that arrived.
    delivered: u64,
    /// Deliveries that failed for good.
    failed: u64,
    /// Deliveries that wait.
    waiting: u64,
    /// From 0 to 1: those that arrived among those that are finished.
    success_rate: Option<f64>,
    /// Milliseconds that half of the attempts did not exceed.
    p50_ms: Option<i32>,
    /// Milliseconds that 95 of 100 attempts did not exceed.
    p95_ms: Option<i32>,
    /// Milliseconds that 99 of 100 attempts did not exceed.
    p99_ms: Option<i32>,
}

/// What became of the deliveries that were queued in an hour.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebhookHealthHour)]
pub(crate) struct HourBody {
    /// When the hour began.
    #[serde(with = "time::serde::rfc3339")]
    from: OffsetDateTime,
    #[serde(flatten)]
    span: SpanBody,
}

/// How an endpoint does.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebhookHealth)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HealthBody {
    #[serde(flatten)]
    total: SpanBody,
    /// When a delivery last arrived, within the time that was asked about.
    #[serde(with = "time::serde::rfc3339::option")]
    last_success_at: Option<OffsetDateTime>,
    /// Deliveries that wait now, counted up to 10000.
    backlog: i64,
    /// By the hour, the oldest first; hours without deliveries are left out.
    hours: Vec<HourBody>,
}

impl From<Span> for SpanBody {
    fn from(span: Span) -> Self {
        Self {
            delivered: span.delivered,
            failed: span.failed,
            waiting: span.waiting,
            success_rate: span.success_rate(),
            p50_ms: span.percentile_ms(50),
            p95_ms: span.percentile_ms(95),
            p99_ms: span.percentile_ms(99),
        }
    }
}

impl From<Health> for HealthBody {
    fn from(health: Health) -> Self {
        let hour = |(from, span): (OffsetDateTime, Span)| HourBody { from, span: span.into() };
        Self {
            total: health.total.into(),
            last_success_at: health.last_success_at,
            backlog: health.backlog,
            hours: health.hours.into_iter().map(hour).collect(),
        }
    }
}

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
    responses((status = 200, description = "How it does.", body = HealthBody)),
)]
pub(crate) async fn get_webhook_health(
    May { ctx, .. }: May<Manage>,
    ApiPath(id): ApiPath<Uuid>,
    ApiQuery(query): ApiQuery<HealthQuery>,
) -> ApiResult<Json<HealthBody>> {
    let service = Service::of(&ctx)?;
    if !(1..=720).contains(&query.hours) {
        let message = "expected a whole number from 1 to 720";
        return Err(Error::malformed("the query parameter `hours` is out of range")
            .field("hours", message)
            .into());
    }
    Ok(Json(service.health(&ctx, id, query.hours).await?.into()))
}
