//! How an endpoint does: what became of its deliveries, how fast it answers, what waits.

use std::collections::BTreeMap;

use serde::Serialize;
use svc_core::{Result, micros};
use svc_data::Context;
use time::OffsetDateTime;
use utoipa::ToSchema;
use uuid::Uuid;

use super::Service;
use crate::model::Status;
use crate::store::log::{self, Ended};
use crate::store::queues;

/// Deliveries that are looked at, the newest: a busy endpoint is judged by its last hours.
const LOOKED_AT: u64 = 5_000;

/// The backlog is counted up to this number.
const COUNTED: i64 = 10_000;

const HOUR_US: i64 = 60 * 60 * 1_000_000;

/// What became of deliveries, and how long their last attempts took.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebhookHealthSpan)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Span {
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
pub(crate) struct Hour {
    /// When the hour began.
    #[serde(with = "time::serde::rfc3339")]
    from: OffsetDateTime,
    #[serde(flatten)]
    span: Span,
}

/// How an endpoint does.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebhookHealth)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Health {
    #[serde(flatten)]
    total: Span,
    /// When a delivery last arrived, within the time that was asked about.
    #[serde(with = "time::serde::rfc3339::option")]
    last_success_at: Option<OffsetDateTime>,
    /// Deliveries that wait now, counted up to 10000.
    backlog: i64,
    /// By the hour, the oldest first; hours without deliveries are left out.
    hours: Vec<Hour>,
}

/// Deliveries of a span, by what became of them, and how long their last attempts took.
#[derive(Default)]
struct Tally {
    delivered: u64,
    failed: u64,
    waiting: u64,
    durations_ms: Vec<i32>,
}

impl Tally {
    fn add(&mut self, status: Status, duration_ms: Option<i32>) {
        match status {
            Status::Delivered => self.delivered += 1,
            Status::Failed => self.failed += 1,
            Status::Queued | Status::Retrying => self.waiting += 1,
            // Nothing of the receiver shows in what was never sent, or no further.
            Status::Cancelled | Status::Missed => return,
        }
        self.durations_ms.extend(duration_ms);
    }

    /// The part of finished deliveries that were delivered; none when none is finished.
    fn success_rate(&self) -> Option<f64> {
        let finished = u32::try_from(self.delivered + self.failed).ok().filter(|all| *all > 0)?;
        let delivered = u32::try_from(self.delivered).ok()?;
        Some(f64::from(delivered) / f64::from(finished))
    }

    /// The duration that `percent` of the attempts did not exceed.
    fn percentile_ms(&self, percent: usize) -> Option<i32> {
        let mut sorted = self.durations_ms.clone();
        sorted.sort_unstable();
        let rank = (sorted.len() * percent).div_ceil(100).max(1);
        sorted.get(rank - 1).copied()
    }

    fn span(&self) -> Span {
        Span {
            delivered: self.delivered,
            failed: self.failed,
            waiting: self.waiting,
            success_rate: self.success_rate(),
            p50_ms: self.percentile_ms(50),
            p95_ms: self.percentile_ms(95),
            p99_ms: self.percentile_ms(99),
        }
    }
}

impl Service {
    /// How an endpoint did over the last hours.
    pub(crate) async fn health(&self, ctx: &Context, id: Uuid, hours: u32) -> Result<Health> {
        self.find(ctx, id).await?;
        let from = ctx.clock().now_us() - i64::from(hours) * HOUR_US;
        let ended = log::newest_of(ctx.database(), id, micros::first_id(from), LOOKED_AT).await?;
        let mut total = Tally::default();
        let mut by_hour: BTreeMap<i64, Tally> = BTreeMap::new();
        let mut last_success = None;
        for Ended { id: delivery, status, duration_ms, finished_us } in ended {
            if status == Status::Delivered {
                last_success = last_success.max(finished_us);
            }
            let hour = micros::of_id(delivery).div_euclid(HOUR_US);
            by_hour.entry(hour).or_default().add(status, duration_ms);
            total.add(status, duration_ms);
        }
        let hour = |(hour, tally): (i64, Tally)| {
            let from = micros::to_time(hour * HOUR_US);
            Hour { from, span: tally.span() }
        };
        Ok(Health {
            total: total.span(),
            last_success_at: last_success.map(micros::to_time),
            backlog: queues::waiting_for(ctx.database(), id, None, COUNTED).await?,
            hours: by_hour.into_iter().map(hour).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_durations_that_were_measured() {
        let mut tally = Tally::default();
        assert_eq!((tally.percentile_ms(50), tally.success_rate()), (None, None));
        for duration in (1..=100).rev() {
            tally.add(Status::Delivered, Some(duration));
        }
        let percentiles = [50, 95, 99, 100].map(|percent| tally.percentile_ms(percent).unwrap());
        assert_eq!(percentiles, [50, 95, 99, 100]);
        tally.add(Status::Retrying, None);
        tally.add(Status::Cancelled, Some(9));
        assert_eq!((tally.waiting, tally.percentile_ms(1)), (1, Some(1)));
        assert_eq!(tally.success_rate(), Some(1.0));
        for _ in 0..100 {
            tally.add(Status::Failed, None);
        }
        assert_eq!(tally.success_rate(), Some(0.5));
    }
}
