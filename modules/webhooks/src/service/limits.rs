//! What an organisation may use, and how much of it is used.

use serde::Serialize;
use svc_core::{Result, micros};
use svc_data::{Context, UnitOfWork};
use time::OffsetDateTime;
use utoipa::ToSchema;

use super::Service;
use crate::allowance::{Limit, Marks, percent};
use crate::errors::TOO_MANY_ENDPOINTS;
use crate::limits::Limits;
use crate::model::endpoint::Entity;
use crate::store::allowances;

/// How much of a limit is used.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebhookLimit)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LimitUse {
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

impl LimitUse {
    fn new(most: Option<i64>, used: Option<i64>, percent: Option<i64>, marks: Marks) -> Self {
        let time = |us: i64| (us > 0).then(|| micros::to_time(us));
        Self {
            most,
            used,
            percent,
            near_at: time(marks.near_us),
            reached_at: time(marks.reached_us),
        }
    }
}

/// What the organisation may use, and how much of it is used.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebhookLimits)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LimitsUsed {
    /// Endpoints.
    endpoints: LimitUse,
    /// Requests to all endpoints that begin in a second; what is more waits.
    per_second: LimitUse,
    /// Bytes of bodies that are sent in a day; what is more waits. They come back evenly over a day.
    bytes_per_day: LimitUse,
}

impl Service {
    /// How much of its limits the organisation uses.
    pub(crate) async fn limits(&self, ctx: &Context) -> Result<LimitsUsed> {
        let limits = Limits::of(ctx).await?;
        let organisation = ctx.organisation()?.0;
        let used = allowances::of(ctx.database(), [organisation]).await?.remove(&organisation);
        let used = used.unwrap_or_default();
        let now_us = ctx.clock().now_us();
        let endpoints = count(ctx).await?;
        let of_endpoints = Some(percent(endpoints, limits.endpoints));
        let of_minute = limits.per_second.map(|most| used.percent_of_minute(most, now_us));
        let bytes = limits.bytes_per_day.map(|most| used.bytes_used(most, now_us));
        let of_bytes = limits.bytes_per_day.zip(bytes).map(|(most, used)| percent(used, most));
        let (reached, most) = (used.reached, limits.per_second.map(i64::from));
        Ok(LimitsUsed {
            endpoints: LimitUse::new(
                Some(limits.endpoints),
                Some(endpoints),
                of_endpoints,
                reached.endpoints,
            ),
            per_second: LimitUse::new(most, None, of_minute, reached.per_second),
            bytes_per_day: LimitUse::new(
                limits.bytes_per_day,
                bytes,
                of_bytes,
                reached.bytes_per_day,
            ),
        })
    }
}

/// Refuses an endpoint that would be one too many for the organisation, and tells when few more may come.
/// Those that come at once follow each other.
pub(super) async fn take_room(uow: &UnitOfWork) -> Result<()> {
    let ctx = uow.context();
    let organisation = ctx.organisation()?.0;
    let limits = Limits::of(ctx).await?;
    let mut used = allowances::lock(uow, organisation).await?;
    let (there, most) = (count(ctx).await?, limits.endpoints);
    if there >= most {
        let message = format!("the organisation has {there} endpoints, and may have no more");
        return Err(TOO_MANY_ENDPOINTS.error(message).with("most", most));
    }
    let percent = used.have(&limits, ctx.clock().now_us(), there + 1);
    allowances::save(uow, organisation, &used, allowances::told(Limit::Endpoints, percent, most))
        .await
}

async fn count(ctx: &Context) -> Result<i64> {
    let count = ctx.query::<Entity>().count().await?;
    Ok(i64::try_from(count).unwrap_or(i64::MAX))
}
