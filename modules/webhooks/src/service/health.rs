//! How an endpoint does: what became of its deliveries, how fast it answers, what waits.

use std::collections::BTreeMap;

use svc_core::Result;
use svc_data::Context;
use time::OffsetDateTime;
use uuid::Uuid;

use super::Service;
use crate::model::Status;
use crate::store::log::{self, Ended};
use crate::store::{first_id_at, made_us, moment, queues};

/// Deliveries that are looked at, the newest: a busy endpoint is judged by its last hours.
const LOOKED_AT: u64 = 5_000;

/// The backlog is counted up to this number.
const COUNTED: i64 = 10_000;

const HOUR_US: i64 = 60 * 60 * 1_000_000;

/// How an endpoint did over a span of time.
pub(crate) struct Health {
    pub(crate) total: Span,
    /// By the hour, the oldest first; hours without deliveries are left out.
    pub(crate) hours: Vec<(OffsetDateTime, Span)>,
    pub(crate) last_success_at: Option<OffsetDateTime>,
    /// Deliveries that wait, counted up to 10,000.
    pub(crate) backlog: i64,
}

/// Deliveries of a span, by what became of them, and how long their last attempts took.
#[derive(Default)]
pub(crate) struct Span {
    pub(crate) delivered: u64,
    pub(crate) failed: u64,
    pub(crate) waiting: u64,
    durations_ms: Vec<i32>,
}

impl Span {
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
    pub(crate) fn success_rate(&self) -> Option<f64> {
        let finished = u32::try_from(self.delivered + self.failed).ok().filter(|all| *all > 0)?;
        let delivered = u32::try_from(self.delivered).ok()?;
        Some(f64::from(delivered) / f64::from(finished))
    }

    /// The duration that `percent` of the attempts did not exceed.
    pub(crate) fn percentile_ms(&self, percent: usize) -> Option<i32> {
        let mut sorted = self.durations_ms.clone();
        sorted.sort_unstable();
        let rank = (sorted.len() * percent).div_ceil(100).max(1);
        sorted.get(rank - 1).copied()
    }
}

impl Service {
    /// How an endpoint did over the last hours.
    pub(crate) async fn health(&self, ctx: &Context, id: Uuid, hours: u32) -> Result<Health> {
        self.find(ctx, id).await?;
        let from = ctx.clock().now_us() - i64::from(hours) * HOUR_US;
        let ended = log::newest_of(ctx.database(), id, first_id_at(from), LOOKED_AT).await?;
        let mut total = Span::default();
        let mut by_hour: BTreeMap<i64, Span> = BTreeMap::new();
        let mut last_success = None;
        for Ended { id: delivery, status, duration_ms, finished_us } in ended {
            if status == Status::Delivered {
                last_success = last_success.max(finished_us);
            }
            let hour = made_us(delivery).div_euclid(HOUR_US);
            by_hour.entry(hour).or_default().add(status, duration_ms);
            total.add(status, duration_ms);
        }
        let hours = by_hour.into_iter().map(|(hour, span)| (moment(hour * HOUR_US), span));
        Ok(Health {
            total,
            hours: hours.collect(),
            last_success_at: last_success.map(moment),
            backlog: queues::waiting_for(ctx.database(), id, COUNTED).await?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_durations_that_were_measured() {
        let mut span = Span::default();
        assert_eq!((span.percentile_ms(50), span.success_rate()), (None, None));
        for duration in (1..=100).rev() {
            span.add(Status::Delivered, Some(duration));
        }
        let percentiles = [50, 95, 99, 100].map(|percent| span.percentile_ms(percent).unwrap());
        assert_eq!(percentiles, [50, 95, 99, 100]);
        span.add(Status::Retrying, None);
        span.add(Status::Cancelled, Some(9));
        assert_eq!((span.waiting, span.percentile_ms(1)), (1, Some(1)));
        assert_eq!(span.success_rate(), Some(1.0));
        for _ in 0..100 {
            span.add(Status::Failed, None);
        }
        assert_eq!(span.success_rate(), Some(0.5));
    }
}
