//! Sets of which all records are told to an endpoint, and how far each is.

use sea_orm::{ActiveEnum as _, DbErr, QueryResult, Value};
use svc_core::{Result, micros};
use svc_data::UnitOfWork;
use svc_database::Database;
use uuid::Uuid;

use super::read_all;
use crate::model::backfill::{Backfill, BackfillState};

const COLUMNS: &str = "id, endpoint_id, set_name, state, after_key, records, queued, total, error, \
    started_us, ended_us";

/// Reads a row of [`COLUMNS`].
fn read(row: &QueryResult) -> Result<Backfill, DbErr> {
    let state: i16 = row.try_get_by_index(3)?;
    Ok(Backfill {
        id: row.try_get_by_index(0)?,
        endpoint: row.try_get_by_index(1)?,
        set: row.try_get_by_index(2)?,
        state: BackfillState::try_from_value(&state)?,
        after: row.try_get_by_index(4)?,
        records: row.try_get_by_index(5)?,
        queued: row.try_get_by_index(6)?,
        total: row.try_get_by_index(7)?,
        error: row.try_get_by_index(8)?,
        started_at: micros::to_time(row.try_get_by_index(9)?),
        ended_at: row.try_get_by_index::<Option<i64>>(10)?.map(micros::to_time),
    })
}

/// Notes one that begins, unless one of the set is under way for the endpoint; answers with the one that is
/// then.
pub(crate) async fn begin(
    uow: &UnitOfWork,
    id: Uuid,
    endpoint: Uuid,
    set: &str,
) -> Result<Option<Backfill>> {
    let database = uow.context().database();
    let sql = "INSERT INTO webhooks_backfills \
               (id, organisation_id, endpoint_id, set_name, state, records, queued, started_us) \
               VALUES (?, ?, ?, ?, 0, 0, 0, ?) \
               ON CONFLICT (endpoint_id, set_name) WHERE state = 0 DO NOTHING";
    let values: [Value; 5] = [
        id.into(),
        uow.context().organisation()?.0.into(),
        endpoint.into(),
        set.into(),
        uow.context().clock().now_us().into(),
    ];
    uow.execute(database.statement(sql, values)).await?;
    let sql = format!(
        "SELECT {COLUMNS} FROM webhooks_backfills \
         WHERE endpoint_id = ? AND set_name = ? AND state = 0"
    );
    let rows = uow.rows(database.statement(&sql, [endpoint.into(), set.into()])).await?;
    Ok(read_all(&rows, read)?.pop())
}

/// One of them.
pub(crate) async fn of(database: &Database, id: Uuid) -> Result<Option<Backfill>> {
    let sql = format!("SELECT {COLUMNS} FROM webhooks_backfills WHERE id = ?");
    Ok(read_all(&database.rows(database.statement(&sql, [id.into()])).await?, read)?.pop())
}

/// Those of an endpoint, the newest first.
pub(crate) async fn of_endpoint(
    database: &Database,
    endpoint: Uuid,
    before: Option<Uuid>,
    most: u64,
) -> Result<Vec<Backfill>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM webhooks_backfills WHERE endpoint_id = ? AND id < ? \
         ORDER BY id DESC LIMIT {most}"
    );
    let values = [endpoint.into(), before.unwrap_or(Uuid::max()).into()];
    read_all(&database.rows(database.statement(&sql, values)).await?, read)
}

/// Locks one that is under way until the unit of work ends, where it is still where it was seen.
pub(crate) async fn hold(uow: &UnitOfWork, seen: &Backfill) -> Result<bool> {
    let database = uow.context().database();
    let lock = database.backend().locking(" FOR UPDATE");
    let sql = format!(
        "SELECT after_key FROM webhooks_backfills WHERE id = ? AND state = 0 AND records = ?{lock}"
    );
    let rows = uow.rows(database.statement(&sql, [seen.id.into(), seen.records.into()])).await?;
    Ok(!rows.is_empty())
}

/// Stores how far one is that is held.
pub(crate) async fn pass(uow: &UnitOfWork, now: &Backfill) -> Result<()> {
    let sql = "UPDATE webhooks_backfills SET after_key = ?, records = ?, queued = ?, total = ? \
               WHERE id = ?";
    let values: [Value; 5] = [
        now.after.clone().into(),
        now.records.into(),
        now.queued.into(),
        now.total.into(),
        now.id.into(),
    ];
    uow.execute(uow.context().database().statement(sql, values)).await.map(drop)
}

/// Ends one that is under way, for an endpoint; says whether it was.
pub(crate) async fn end(
    uow: &UnitOfWork,
    (endpoint, id): (Uuid, Uuid),
    state: BackfillState,
    error: Option<&str>,
) -> Result<bool> {
    let sql = "UPDATE webhooks_backfills SET state = ?, error = ?, ended_us = ? \
               WHERE id = ? AND endpoint_id = ? AND state = 0";
    let values: [Value; 5] = [
        state.to_value().into(),
        error.into(),
        uow.context().clock().now_us().into(),
        id.into(),
        endpoint.into(),
    ];
    Ok(uow.execute(uow.context().database().statement(sql, values)).await? > 0)
}

/// Forgets those of an endpoint that is deleted.
pub(crate) async fn forget(uow: &UnitOfWork, endpoint: Uuid) -> Result<()> {
    let sql = "DELETE FROM webhooks_backfills WHERE endpoint_id = ?";
    uow.execute(uow.context().database().statement(sql, [endpoint.into()])).await.map(drop)
}
