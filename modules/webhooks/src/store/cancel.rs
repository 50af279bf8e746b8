//! Cancels what waits.

use sea_orm::Value;
use svc_core::Result;
use svc_data::UnitOfWork;
use svc_database::column;
use uuid::Uuid;

use super::{Place, queues, read_all};
use crate::model::Status;

/// Deliveries that one unit of work cancels: few enough that nobody waits for it.
pub(crate) const STEP: usize = 500;

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

/// Cancels the next deliveries of an endpoint that were made before another one; answers with their
/// number, and where to go on: none at the end. One that is being sent may have arrived, and says so;
/// its outcome is dropped.
pub(crate) async fn step(
    uow: &UnitOfWork,
    endpoint: Uuid,
    to: Uuid,
    place: Place,
    sentence: &str,
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
         ORDER BY d.id LIMIT {STEP}{lock}) RETURNING id",
        cancelled = Status::Cancelled.code(),
        status = place.status,
    );
    let values: [Value; 7] = [
        now.into(),
        now.into(),
        format!("{sentence} while it was being sent; it may have arrived").into(),
        sentence.into(),
        endpoint.into(),
        place.after.into(),
        to.into(),
    ];
    let rows = uow.rows(database.statement(&sql, values)).await?;
    let cancelled: Vec<Uuid> = read_all(&rows, |row| row.try_get_by_index(0))?;
    let count = u64::try_from(cancelled.len()).unwrap_or(u64::MAX);
    queues::touch(uow, (count > 0).then_some((endpoint, now))).await?;
    let next = place.behind(&cancelled, cancelled.len() < STEP);
    Ok((count, (next.status < Status::Delivered.code()).then_some(next)))
}

/// Makes a new version of an endpoint, so that nothing of it is sent that was prepared before;
/// answers with it.
pub(crate) async fn renew(uow: &UnitOfWork, endpoint: Uuid) -> Result<i64> {
    let sql = "UPDATE webhooks_endpoints SET version = version + 1, updated_at = ? WHERE id = ? \
               RETURNING version";
    let values: [Value; 2] = [uow.context().clock().now().into(), endpoint.into()];
    let rows = uow.rows(uow.context().database().statement(sql, values)).await?;
    rows.first().map_or(Ok(i64::MAX), |row| column(row, 0))
}
