//! Deliveries of endpoints that were deleted.
//!
//! An endpoint goes in one short transaction that notes it here; nothing reads a delivery without its
//! endpoint. The rows of its deliveries go after it, a few at a time, so that nobody's outcomes wait
//! for the size of a stranger's log.

use sea_orm::ActiveEnum as _;
use svc_core::{OrganisationId, Result};
use svc_data::UnitOfWork;
use svc_database::{Database, column};
use uuid::Uuid;

use super::{Place, backfills, ids, is_one_of, queues, read_all};
use crate::model::Status;

/// Rows that one step deletes: short enough that nothing waits for it.
const STEP: u64 = 500;

/// Notes that an endpoint is deleted.
pub(crate) async fn note(uow: &UnitOfWork, endpoint: Uuid) -> Result<()> {
    let database = uow.context().database();
    let sql = "DELETE FROM webhooks_paces WHERE endpoint_id = ?";
    uow.execute(database.statement(sql, [endpoint.into()])).await?;
    backfills::forget(uow, endpoint).await?;
    let sql = "INSERT INTO webhooks_deletions (endpoint_id, organisation_id, deleted_us, is_swept) \
               VALUES (?, ?, ?, ?)";
    let organisation = uow.context().organisation()?.0;
    let now_us = uow.context().clock().now_us();
    let values = [endpoint.into(), organisation.into(), now_us.into(), false.into()];
    uow.execute(database.statement(sql, values)).await.map(drop)
}

/// The endpoint of an organisation that was deleted first, of those whose deliveries are still there.
pub(crate) async fn next(
    database: &Database,
    organisation: OrganisationId,
) -> Result<Option<Uuid>> {
    let sql = "SELECT endpoint_id FROM webhooks_deletions WHERE organisation_id = ? \
               AND NOT is_swept ORDER BY deleted_us, endpoint_id LIMIT 1";
    let rows = database.rows(database.statement(sql, [organisation.0.into()])).await?;
    rows.first().map(|row| column(row, 0)).transpose()
}

/// Notes that the deliveries of an endpoint are deleted.
pub(crate) async fn is_swept(uow: &UnitOfWork, endpoint: Uuid) -> Result<()> {
    let sql = "UPDATE webhooks_deletions SET is_swept = ? WHERE endpoint_id = ?";
    let values = [true.into(), endpoint.into()];
    uow.execute(uow.context().database().statement(sql, values)).await.map(drop)
}

/// Deletes the next deliveries of an endpoint; answers with their number, and where to go on: none at
/// the end.
pub(crate) async fn step(
    uow: &UnitOfWork,
    endpoint: Uuid,
    place: Place,
) -> Result<(u64, Option<Place>)> {
    let database = uow.context().database();
    let sql = format!(
        "DELETE FROM webhooks_deliveries WHERE id IN (SELECT id FROM webhooks_deliveries \
         WHERE endpoint_id = ? AND status = {} AND id > ? ORDER BY id LIMIT {STEP}) RETURNING id",
        place.status
    );
    let rows = uow.rows(database.statement(&sql, [endpoint.into(), place.after.into()])).await?;
    let deleted: Vec<Uuid> = read_all(&rows, |row| row.try_get_by_index(0))?;
    let count = u64::try_from(deleted.len()).unwrap_or(u64::MAX);
    let sql = format!(
        "DELETE FROM webhooks_attempts WHERE {}",
        is_one_of(database.backend(), "delivery_id")
    );
    let listed = ids(deleted.iter().copied());
    uow.execute(database.statement(&sql, [listed])).await?;
    let next = place.behind(&deleted, count < STEP);
    Ok((count, Status::try_from_value(&next.status).is_ok().then_some(next)))
}

/// Endpoints that were deleted, and since when.
pub(crate) async fn all(database: &Database) -> Result<Vec<(Uuid, i64)>> {
    let sql = "SELECT endpoint_id, deleted_us FROM webhooks_deletions ORDER BY endpoint_id";
    let rows = database.rows(database.statement(sql, [])).await?;
    read_all(&rows, |row| Ok((row.try_get_by_index(0)?, row.try_get_by_index(1)?)))
}

/// Forgets an endpoint of which nothing is left, and nothing can come any more.
pub(crate) async fn forget(uow: &UnitOfWork, endpoint: Uuid) -> Result<()> {
    queues::forget(uow, endpoint).await?;
    let sql = "DELETE FROM webhooks_deletions WHERE endpoint_id = ?";
    uow.execute(uow.context().database().statement(sql, [endpoint.into()])).await.map(drop)
}

/// What is deleted by its age.
#[derive(Clone, Copy)]
pub(crate) enum Aged {
    Attempts,
    Deliveries,
    Messages,
    Backfills,
}

/// Deliveries, or messages, that one step deletes by age.
const AGED_STEP: u64 = 1_000;

/// Deletes the oldest that were made before an identifier; answers with their number.
pub(crate) async fn aged(uow: &UnitOfWork, what: Aged, before: Uuid) -> Result<u64> {
    let (table, id) = match what {
        Aged::Attempts => ("webhooks_attempts", "delivery_id"),
        Aged::Deliveries => ("webhooks_deliveries", "id"),
        Aged::Messages => ("webhooks_messages", "id"),
        // One that is under way for so long is forgotten with what it told.
        Aged::Backfills => ("webhooks_backfills", "id"),
    };
    let sql = format!(
        "DELETE FROM {table} WHERE {id} IN \
         (SELECT {id} FROM {table} WHERE {id} < ? ORDER BY {id} LIMIT {AGED_STEP})"
    );
    uow.execute(uow.context().database().statement(&sql, [before.into()])).await
}
