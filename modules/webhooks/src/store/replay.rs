//! Walks along deliveries that are to be sent again, in windows that cost the same wherever in the
//! table they lie, and however few of their rows are wanted.

use sea_orm::Value;
use svc_core::Result;
use svc_data::UnitOfWork;
use svc_database::{Backend, column};
use uuid::Uuid;

use super::{ids, is_one_of, queues, read_all};
use crate::model::{Lane, Status};

/// Deliveries that one look takes in, and one unit of work queues.
pub(crate) const WINDOW: usize = 500;

/// Whose deliveries a walk looks at.
#[derive(Clone, Copy)]
pub(crate) enum Scope {
    /// Those of an endpoint.
    Endpoint(Uuid),
    /// Those of an organisation.
    Organisation(Uuid),
}

/// Which deliveries of a window are wanted.
#[derive(Clone, Copy, Default)]
pub(crate) struct Wish<'a> {
    /// Only those of this event type.
    pub(crate) event_type: Option<&'a str>,
    /// Only those that were not sent again.
    pub(crate) is_open: bool,
    /// Only events, and no tests.
    pub(crate) no_tests: bool,
    /// Only those that repeat no other.
    pub(crate) no_repeats: bool,
}

/// A window: deliveries of one status, from one identifier up to another.
#[derive(Clone, Copy)]
pub(crate) struct Window<'a> {
    pub(crate) scope: Scope,
    pub(crate) status: Status,
    pub(crate) from: Uuid,
    pub(crate) to: Uuid,
    pub(crate) wish: Wish<'a>,
}

/// A delivery of a window.
pub(crate) struct Candidate {
    pub(crate) id: Uuid,
    pub(crate) endpoint: Uuid,
    pub(crate) message: Uuid,
    pub(crate) lane: Lane,
    /// Whether its message is an event of which no body was made.
    pub(crate) has_source: bool,
    pub(crate) is_wanted: bool,
}

/// The first deliveries of a window, in their order; fewer than [`WINDOW`] at its end.
pub(crate) async fn look(uow: &UnitOfWork, window: Window<'_>) -> Result<Vec<Candidate>> {
    let mut wanted = "m.id IS NOT NULL".to_owned();
    let mut values: Vec<Value> = Vec::new();
    if window.wish.no_tests {
        wanted.push_str(" AND c.lane <> 1");
    }
    if let Some(event_type) = window.wish.event_type {
        wanted.push_str(" AND m.event_type = ?");
        values.push(event_type.into());
    }
    if window.wish.is_open {
        wanted.push_str(
            " AND NOT EXISTS (SELECT 1 FROM webhooks_deliveries again \
             WHERE again.redelivery_of = c.id)",
        );
    }
    if window.wish.no_repeats {
        wanted.push_str(" AND c.redelivery_of IS NULL");
    }
    let (column, id) = match window.scope {
        Scope::Endpoint(id) => ("endpoint_id", id),
        Scope::Organisation(id) => ("organisation_id", id),
    };
    let sql = format!(
        "SELECT c.id, c.endpoint_id, c.message_id, c.lane, \
         CASE WHEN m.source IS NOT NULL THEN 1 ELSE 0 END, CASE WHEN {wanted} THEN 1 ELSE 0 END \
         FROM (SELECT d.id, d.endpoint_id, d.message_id, d.lane, d.redelivery_of \
         FROM webhooks_deliveries d WHERE d.{column} = ? AND d.status = {status} AND d.id >= ? AND d.id < ? \
         ORDER BY d.id LIMIT {WINDOW}) AS c \
         LEFT JOIN webhooks_messages m ON m.id = c.message_id ORDER BY c.id",
        status = window.status.code()
    );
    values.extend([id.into(), window.from.into(), window.to.into()]);
    let rows = uow.rows(uow.context().database().statement(&sql, values)).await?;
    read_all(&rows, |row| {
        Ok(Candidate {
            id: row.try_get_by_index(0)?,
            endpoint: row.try_get_by_index(1)?,
            message: row.try_get_by_index(2)?,
            lane: row.try_get_by_index(3)?,
            has_source: row.try_get_by_index::<i32>(4)? == 1,
            is_wanted: row.try_get_by_index::<i32>(5)? == 1,
        })
    })
}

/// A delivery that is to be sent again.
pub(crate) struct Redelivery {
    pub(crate) id: Uuid,
    pub(crate) endpoint: Uuid,
    pub(crate) message: Uuid,
    /// The queue of the one that repeats it, or its own.
    pub(crate) lane: Lane,
}

/// A delivery of the organisation that is called in, in its own lane; none where there is no such.
pub(crate) async fn original(uow: &UnitOfWork, id: Uuid) -> Result<Option<Redelivery>> {
    let sql = "SELECT d.id, d.endpoint_id, d.message_id, d.lane FROM webhooks_deliveries d \
               WHERE d.organisation_id = ? AND d.status <> 4 AND d.id = ?";
    let values = [uow.context().organisation()?.0.into(), id.into()];
    let rows = uow.rows(uow.context().database().statement(sql, values)).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    Ok(Some(Redelivery {
        id: column(row, 0)?,
        endpoint: column(row, 1)?,
        message: column(row, 2)?,
        lane: column(row, 3)?,
    }))
}

/// Queues deliveries that never were, as far as nobody else has; says how many. The last thing that a
/// unit of work does.
pub(crate) async fn queue_missed(
    uow: &UnitOfWork,
    deliveries: impl IntoIterator<Item = Uuid>,
) -> Result<u64> {
    let database = uow.context().database();
    let sql = format!(
        "UPDATE webhooks_deliveries SET status = {}, due_us = ?, queued_us = ?, \
         lane = CASE WHEN lane = {ordered} THEN {ordered} ELSE {replay} END \
         WHERE status = {} AND {} RETURNING endpoint_id",
        Status::Queued.code(),
        Status::Missed.code(),
        is_one_of(database.backend(), "id"),
        ordered = Lane::Ordered.code(),
        replay = Lane::Replay.code(),
    );
    let now = uow.context().clock().now_us();
    let values = [now.into(), now.into(), ids(deliveries)];
    let rows = uow.rows(database.statement(&sql, values)).await?;
    let endpoints: Vec<Uuid> = read_all(&rows, |row| row.try_get_by_index(0))?;
    queues::touch(uow, endpoints.into_iter().map(|endpoint| (endpoint, now))).await?;
    Ok(u64::try_from(rows.len()).unwrap_or(u64::MAX))
}

/// An event of which no body was made.
pub(crate) struct Source {
    pub(crate) message: Uuid,
    pub(crate) event_type: String,
    /// The event as the outbox told it, JSON.
    pub(crate) told: String,
}

/// The events of these messages.
pub(crate) async fn sources(
    uow: &UnitOfWork,
    messages: impl IntoIterator<Item = Uuid>,
) -> Result<Vec<Source>> {
    let database = uow.context().database();
    let sql = format!(
        "SELECT id, event_type, source FROM webhooks_messages WHERE source IS NOT NULL AND {}",
        is_one_of(database.backend(), "id")
    );
    let rows = uow.rows(database.statement(&sql, [ids(messages)])).await?;
    read_all(&rows, |row| {
        Ok(Source {
            message: row.try_get_by_index(0)?,
            event_type: row.try_get_by_index(1)?,
            told: row.try_get_by_index(2)?,
        })
    })
}

/// Gives a delivery that was missed a message of its own.
pub(crate) async fn give_message(uow: &UnitOfWork, delivery: Uuid, message: Uuid) -> Result<()> {
    let sql = "UPDATE webhooks_deliveries SET message_id = ? WHERE id = ? AND status = 4";
    let values = [message.into(), delivery.into()];
    uow.execute(uow.context().database().statement(sql, values)).await.map(drop)
}

/// Forgets deliveries that were missed.
pub(crate) async fn forget_missed(
    uow: &UnitOfWork,
    deliveries: impl IntoIterator<Item = Uuid>,
) -> Result<()> {
    let database = uow.context().database();
    let sql = format!(
        "DELETE FROM webhooks_deliveries WHERE status = 4 AND {}",
        is_one_of(database.backend(), "id")
    );
    uow.execute(database.statement(&sql, [ids(deliveries)])).await.map(drop)
}

/// Holds endpoints against others who send again until the unit of work ends, and against nobody else; says
/// whether somebody else may have done so meanwhile. On SQLite there is one writer at a time.
pub(crate) async fn hold(
    uow: &UnitOfWork,
    endpoints: impl IntoIterator<Item = Uuid>,
) -> Result<bool> {
    let database = uow.context().database();
    let mut endpoints = endpoints.into_iter().peekable();
    if endpoints.peek().is_none() || database.backend() == Backend::Sqlite {
        return Ok(false);
    }
    let sql = format!(
        "SELECT id FROM webhooks_endpoints WHERE {} ORDER BY id FOR NO KEY UPDATE",
        is_one_of(database.backend(), "id")
    );
    uow.rows(database.statement(&sql, [ids(endpoints)])).await.map(|_| true)
}
