//! Cancels what waits.

use std::collections::BTreeSet;

use sea_orm::Value;
use serde::{Deserialize, Serialize};
use svc_core::Result;
use svc_data::UnitOfWork;
use svc_database::column;
use uuid::Uuid;

use super::claim::Claimed;
use super::{Place, ids, is_one_of, queues, read_all};
use crate::model::Status;

/// Deliveries that one unit of work cancels: few enough that nobody waits for it.
pub(crate) const STEP: usize = 500;

/// What was cancelled of an endpoint with all that waited.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Mark {
    /// What was made before this one.
    pub(crate) to: Uuid,
    /// As far as it was queued by then: what was missed is queued by a recovery, long after it was made.
    pub(crate) until_us: i64,
    /// What is said of each.
    pub(crate) sentence: String,
}

/// Cancels a delivery, unless it doesn't wait, or somebody has taken it on; says whether it did.
pub(crate) async fn one(uow: &UnitOfWork, delivery: Uuid, sentence: &str) -> Result<bool> {
    let now = uow.context().clock().now_us();
    let sql = format!(
        "UPDATE webhooks_deliveries SET status = {}, error = ?, finished_at_us = ?, claim = NULL, \
         claimed_until_us = NULL WHERE organisation_id = ? AND id = ? AND status < 2 \
         AND (claimed_until_us IS NULL OR claimed_until_us <= ?) RETURNING endpoint_id",
        Status::Cancelled.code()
    );
    let organisation = uow.context().organisation()?.0;
    let values: [Value; 5] =
        [sentence.into(), now.into(), organisation.into(), delivery.into(), now.into()];
    let rows = uow.rows(uow.context().database().statement(&sql, values)).await?;
    let endpoints: Vec<Uuid> = read_all(&rows, |row| row.try_get_by_index(0))?;
    let is_cancelled = !endpoints.is_empty();
    // The next of its entity may be sent now.
    queues::touch(uow, endpoints.into_iter().map(|endpoint| (endpoint, now))).await?;
    Ok(is_cancelled)
}

/// Where a delivery of the organisation that is called in stands; none where there is no such.
pub(crate) async fn status(uow: &UnitOfWork, delivery: Uuid) -> Result<Option<Status>> {
    let sql = "SELECT status FROM webhooks_deliveries \
               WHERE organisation_id = ? AND status <> 4 AND id = ?";
    let values = [uow.context().organisation()?.0.into(), delivery.into()];
    let rows = uow.rows(uow.context().database().statement(sql, values)).await?;
    rows.first().map(|row| column(row, 0)).transpose()
}

/// Cancels the next deliveries of an endpoint that were made before a mark; answers with their
/// number, and where to go on: none at the end. One that is being sent may have arrived, and says so;
/// its outcome is dropped.
pub(crate) async fn step(
    uow: &UnitOfWork,
    endpoint: Uuid,
    Mark { to, until_us, sentence }: &Mark,
    place: Place,
) -> Result<(u64, Option<Place>)> {
    let database = uow.context().database();
    let now = uow.context().clock().now_us();
    // Whoever records an outcome has the row for a moment, and it is looked at again later.
    let lock = database.backend().locking(" FOR UPDATE OF d SKIP LOCKED");
    let sql = format!(
        "UPDATE webhooks_deliveries SET status = {cancelled}, finished_at_us = ?, claim = NULL, \
         claimed_until_us = NULL, error = CASE WHEN claimed_until_us > ? \
         THEN ? ELSE ? END WHERE id IN (SELECT d.id FROM webhooks_deliveries d \
         WHERE d.endpoint_id = ? AND d.status = {status} AND d.id > ? AND d.id < ? \
         AND (d.queued_us IS NULL OR d.queued_us <= ?) \
         ORDER BY d.id LIMIT {STEP}{lock}) RETURNING id",
        cancelled = Status::Cancelled.code(),
        status = place.status,
    );
    let values: [Value; 8] = [
        now.into(),
        now.into(),
        format!("{sentence} while it was being sent; it may have arrived").into(),
        sentence.as_str().into(),
        endpoint.into(),
        place.after.into(),
        (*to).into(),
        (*until_us).into(),
    ];
    let rows = uow.rows(database.statement(&sql, values)).await?;
    let cancelled: Vec<Uuid> = read_all(&rows, |row| row.try_get_by_index(0))?;
    let count = u64::try_from(cancelled.len()).unwrap_or(u64::MAX);
    queues::touch(uow, (count > 0).then_some((endpoint, now))).await?;
    let next = place.behind(&cancelled, cancelled.len() < STEP);
    Ok((count, (next.status < Status::Delivered.code()).then_some(next)))
}

/// Cancels what was claimed, of what its endpoint's mark says that it was cancelled; answers with what.
pub(crate) async fn claimed(
    uow: &UnitOfWork,
    claimed: impl IntoIterator<Item = &Claimed>,
) -> Result<BTreeSet<Uuid>> {
    let database = uow.context().database();
    let now = uow.context().clock().now_us();
    let (tokens, deliveries): (BTreeSet<Uuid>, Vec<Uuid>) =
        claimed.into_iter().map(|one| (one.claim.token, one.id)).unzip();
    if deliveries.is_empty() {
        return Ok(BTreeSet::new());
    }
    let own = "FROM webhooks_endpoints e WHERE e.id = webhooks_deliveries.endpoint_id";
    let sql = format!(
        "UPDATE webhooks_deliveries SET status = {}, finished_at_us = ?, claim = NULL, \
         claimed_until_us = NULL, error = (SELECT e.cancelled_by {own}) \
         WHERE status < 2 AND {} AND {} AND EXISTS (SELECT 1 {own} \
         AND webhooks_deliveries.id < e.cancelled_to \
         AND (webhooks_deliveries.queued_us IS NULL \
         OR webhooks_deliveries.queued_us <= e.cancelled_us)) RETURNING id, endpoint_id",
        Status::Cancelled.code(),
        is_one_of(database.backend(), "id"),
        is_one_of(database.backend(), "claim"),
    );
    let values: [Value; 3] = [now.into(), ids(deliveries), ids(tokens)];
    let rows = uow.rows(database.statement(&sql, values)).await?;
    let cancelled: Vec<(Uuid, Uuid)> =
        read_all(&rows, |row| Ok((row.try_get_by_index(0)?, row.try_get_by_index(1)?)))?;
    // What comes behind them may be sent now.
    let endpoints: BTreeSet<Uuid> = cancelled.iter().map(|(_, endpoint)| *endpoint).collect();
    queues::touch(uow, endpoints.into_iter().map(|endpoint| (endpoint, now))).await?;
    Ok(cancelled.into_iter().map(|(delivery, _)| delivery).collect())
}

/// Marks what an endpoint has waiting as cancelled, with a new version of it, so that nothing is sent
/// that was prepared before; answers with the version.
pub(crate) async fn mark(uow: &UnitOfWork, endpoint: Uuid, mark: &Mark) -> Result<i64> {
    let sql = "UPDATE webhooks_endpoints SET version = version + 1, updated_at = ?, \
               cancelled_to = ?, cancelled_us = ?, cancelled_by = ? WHERE id = ? \
               RETURNING version";
    let values: [Value; 5] = [
        uow.context().clock().now().into(),
        mark.to.into(),
        mark.until_us.into(),
        mark.sentence.as_str().into(),
        endpoint.into(),
    ];
    let rows = uow.rows(uow.context().database().statement(sql, values)).await?;
    rows.first().map_or(Ok(i64::MAX), |row| column(row, 0))
}
