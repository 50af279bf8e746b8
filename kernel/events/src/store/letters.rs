//! The SQL of those who look after the outbox: dead letters and statistics.

use sea_orm::{DbErr, QueryResult, Value};
use svc_core::{Error, OrganisationId, Result, micros};
use svc_data::{Context, UnitOfWork};
use svc_database::{Database, database_error};
use uuid::Uuid;

use super::{Stored, count, message};
use crate::dead_letter::{DeadLetter, Selection, Undone};
use crate::message::Message;

/// Waiting messages of one handler are counted up to here.
pub(crate) const COUNTED_AT_MOST: i64 = 10_000;

/// Which letter: its event and its handler. The default is before all.
pub(crate) type Key = (Uuid, String);

/// Letters that one unit of work tries again or removes: no more, so that nobody else waits long to write.
const AT_ONCE: i64 = 1_000;

/// Dead letters, the newest first, after the one with this identifier and handler.
pub(crate) async fn dead(
    ctx: &Context,
    selection: &Selection,
    after: Option<Key>,
    limit: u64,
) -> Result<Vec<DeadLetter>> {
    let (mut condition, mut values) = matching(selection);
    if let Some((id, handler)) = after {
        condition.push_str(" AND (id, handler) < (?, ?)");
        values.extend([id.into(), handler.into()]);
    }
    let sql = format!(
        "SELECT id, handler, name, organisation_id, attempts, created_at_us, available_at_us, \
         last_error FROM events_outbox WHERE {condition} ORDER BY id DESC, handler DESC LIMIT ?"
    );
    values.push(i64::try_from(limit).unwrap_or(i64::MAX).into());
    let rows = ctx.run(ctx.database().statement(&sql, values)).await?;
    rows.iter().map(letter).collect::<Result<_, DbErr>>().map_err(database_error)
}

fn letter(row: &QueryResult) -> Result<DeadLetter, DbErr> {
    let error: Option<String> = row.try_get_by_index(7)?;
    Ok(DeadLetter {
        id: row.try_get_by_index(0)?,
        handler: row.try_get_by_index(1)?,
        name: row.try_get_by_index(2)?,
        organisation: OrganisationId::unless_nil(row.try_get_by_index(3)?),
        attempts: count(row, 4)?,
        time: micros::to_time(row.try_get_by_index(5)?),
        failed_at: micros::to_time(row.try_get_by_index(6)?),
        error: error.unwrap_or_default(),
    })
}

/// A message of the outbox, dead or waiting.
pub(crate) async fn find(database: &Database, id: Uuid, handler: &str) -> Result<Option<Message>> {
    let sql = "SELECT id, name, organisation_id, correlation, created_at_us, content, attempts \
               FROM events_outbox WHERE id = ? AND handler = ?";
    let statement = database.statement(sql, [id.into(), handler.into()]);
    let rows = database.rows(statement).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    message(row, handler, count(row, 6).map_err(database_error)?).map(Some)
}

/// Stores a message as a dead letter. One of which there is a row already has come back by another way.
pub(crate) async fn insert(uow: &UnitOfWork, undone: Undone<'_>, error: &str) -> Result<()> {
    let context = uow.context();
    let now_us = context.clock().now_us();
    let own = context.principal().organisation();
    let (organisation, correlation, time_us, text) =
        match serde_json::from_str::<Message>(undone.message) {
            Ok(message) => {
                let time_us = micros::of_time(message.time);
                let Message { organisation, actor, correlation, trace, payload: body, .. } =
                    message;
                let text = serde_json::to_string(&Stored { actor, trace, body });
                let text = text.map_err(|error| {
                    Error::internal("a message can't be made JSON").caused_by(error)
                })?;
                (organisation, correlation, time_us, text)
            }
            Err(_) => (own, context.correlation(), now_us, undone.message.to_owned()),
        };
    let sql = "INSERT INTO events_outbox (id, handler, name, organisation_id, correlation, state, \
               attempts, available_at_us, created_at_us, last_error, content) \
               VALUES (?, ?, ?, ?, ?, 'dead', 1, ?, ?, ?, ?) ON CONFLICT (id, handler) DO NOTHING";
    let values: [Value; 9] = [
        undone.id.into(),
        undone.handler.into(),
        undone.name.into(),
        OrganisationId::or_nil(organisation).into(),
        correlation.into(),
        now_us.into(),
        time_us.into(),
        error.into(),
        text.into(),
    ];
    uow.execute(context.database().statement(sql, values)).await.map(drop)
}

/// What becomes of dead letters.
#[derive(Clone, Copy)]
pub(crate) enum Fate {
    /// They are due at this time, as if they had never been tried.
    Ready(i64),
    /// They are removed for good.
    Gone,
}

/// Settles the next letters behind one; says how many, and which the last of them was: none when all are settled.
pub(crate) async fn settle(
    uow: &UnitOfWork,
    selection: &Selection,
    fate: Fate,
    (id, handler): &Key,
) -> Result<(u64, Option<Key>)> {
    let database = uow.context().database();
    let (condition, values) = matching(selection);
    let part = format!("{condition} AND (id, handler) > (?, ?)");
    let values = values.into_iter().chain([Value::from(*id), handler.as_str().into()]);
    let values: Vec<Value> = values.collect();
    let last = format!(
        "SELECT id, handler FROM (SELECT id, handler FROM events_outbox WHERE {part} \
         ORDER BY id, handler LIMIT {AT_ONCE}) AS part ORDER BY id DESC, handler DESC LIMIT 1"
    );
    let rows = uow.rows(database.statement(&last, values.clone())).await?;
    let Some(row) = rows.first() else { return Ok((0, None)) };
    let read =
        || -> Result<Key, DbErr> { Ok((row.try_get_by_index(0)?, row.try_get_by_index(1)?)) };
    let last = read().map_err(database_error)?;
    let (head, due) = match fate {
        Fate::Ready(due_us) => (
            "UPDATE events_outbox SET state = 'ready', attempts = 0, available_at_us = ?",
            Some(Value::from(due_us)),
        ),
        Fate::Gone => ("DELETE FROM events_outbox", None),
    };
    let sql = format!("{head} WHERE {part} AND (id, handler) <= (?, ?)");
    let end = [Value::from(last.0), last.1.as_str().into()];
    let values = due.into_iter().chain(values).chain(end);
    let count = uow.execute(database.statement(&sql, values)).await?;
    Ok((count, Some(last)))
}

/// Sets messages aside that wait since before `since_us` for a handler that nobody registers.
pub(crate) async fn bury(
    database: &Database,
    handler: &str,
    since_us: i64,
    now_us: i64,
) -> Result<u64> {
    let error = "no module registers this handler any more";
    let mut buried = 0;
    for part in PARTS {
        let sql = format!(
            "UPDATE events_outbox SET state = 'dead', available_at_us = ?, last_error = ? \
             WHERE state = 'ready' AND {part} AND handler = ? AND available_at_us <= ?"
        );
        let values = [now_us.into(), error.into(), handler.into(), since_us.into()];
        buried += database.execute(database.statement(&sql, values)).await?;
    }
    Ok(buried)
}

fn matching(selection: &Selection) -> (String, Vec<Value>) {
    let mut condition = "state = 'dead'".to_owned();
    let mut values = Vec::new();
    let mut narrow = |column: &str, value: Option<Value>| {
        if let Some(value) = value {
            condition.push_str(" AND ");
            condition.push_str(column);
            condition.push_str(" = ?");
            values.push(value);
        }
    };
    narrow("id", selection.id.map(Value::from));
    narrow("handler", selection.handler.as_deref().map(Value::from));
    narrow("organisation_id", selection.organisation.map(|organisation| organisation.0.into()));
    (condition, values)
}

/// How much waits for a handler.
pub(crate) struct Waiting {
    pub(crate) handler: String,
    pub(crate) count: u64,
    pub(crate) oldest_due_us: i64,
}

/// What waits, as two indexes have it: what is fresh, and what was tried.
const PARTS: [&str; 2] = ["attempts = 0", "attempts > 0"];

/// Steps from handler to handler along the indexes, however many messages wait for each, into `lanes`. PostgreSQL
/// would read all of them for `MIN(handler)` while it still takes the table for an empty one.
fn lanes() -> String {
    let [fresh, again] = PARTS.map(|part| {
        let next = |beyond: &str| {
            format!(
                "(SELECT m.handler FROM events_outbox m WHERE m.state = 'ready' AND m.{part} {beyond} \
                 ORDER BY m.handler LIMIT 1)"
            )
        };
        format!("SELECT {} UNION ALL SELECT {} FROM", next(""), next("AND m.handler > s.handler"))
    });
    format!(
        "WITH RECURSIVE fresh (handler) AS ({fresh} fresh AS s WHERE s.handler IS NOT NULL), \
         again (handler) AS ({again} again AS s WHERE s.handler IS NOT NULL), \
         lanes (handler) AS (SELECT handler FROM fresh WHERE handler IS NOT NULL \
         UNION SELECT handler FROM again WHERE handler IS NOT NULL)"
    )
}

/// The handlers that messages wait for.
pub(crate) async fn awaited(database: &Database) -> Result<Vec<String>> {
    let sql = format!("{} SELECT handler FROM lanes ORDER BY handler", lanes());
    let rows = database.rows(database.statement(&sql, [])).await?;
    let read = |row: QueryResult| row.try_get_by_index(0);
    rows.into_iter().map(read).collect::<Result<_, DbErr>>().map_err(database_error)
}

/// What waits, by handler.
pub(crate) async fn waiting(database: &Database) -> Result<Vec<Waiting>> {
    let [fresh, again] = PARTS.map(|part| {
        format!("FROM events_outbox m WHERE m.state = 'ready' AND m.{part} AND m.handler = lanes.handler")
    });
    // Event identifiers tell the time.
    let sql = format!(
        "{} SELECT handler, \
         (SELECT COUNT(*) FROM (SELECT 1 {fresh} ORDER BY m.organisation_id LIMIT ?) AS counted), \
         (SELECT COUNT(*) FROM (SELECT 1 {again} ORDER BY m.available_at_us LIMIT ?) AS counted), \
         (SELECT f.id FROM (SELECT m.id {fresh} ORDER BY m.organisation_id LIMIT ?) AS f \
             ORDER BY f.id LIMIT 1), \
         (SELECT m.available_at_us {again} ORDER BY m.available_at_us LIMIT 1) \
         FROM lanes ORDER BY handler",
        lanes()
    );
    let most = Value::from(COUNTED_AT_MOST);
    let values = [most.clone(), most.clone(), most];
    let rows = database.rows(database.statement(&sql, values)).await?;
    let read = |row: QueryResult| {
        let (fresh, again): (i64, i64) = (row.try_get_by_index(1)?, row.try_get_by_index(2)?);
        let first: Option<Uuid> = row.try_get_by_index(3)?;
        let second: Option<i64> = row.try_get_by_index(4)?;
        let count = fresh.saturating_add(again).min(COUNTED_AT_MOST);
        Ok(Waiting {
            handler: row.try_get_by_index(0)?,
            count: u64::try_from(count).unwrap_or_default(),
            oldest_due_us: first
                .map(micros::of_id)
                .into_iter()
                .chain(second)
                .min()
                .unwrap_or_default(),
        })
    };
    rows.into_iter().map(read).collect::<Result<_, DbErr>>().map_err(database_error)
}

/// The number of dead letters by handler.
pub(crate) async fn dead_counts(database: &Database) -> Result<Vec<(String, u64)>> {
    let sql = "SELECT handler, COUNT(*) FROM events_outbox WHERE state = 'dead' \
               GROUP BY handler ORDER BY handler";
    let rows = database.rows(database.statement(sql, [])).await?;
    let read = |row: QueryResult| {
        let count: i64 = row.try_get_by_index(1)?;
        Ok((row.try_get_by_index(0)?, u64::try_from(count).unwrap_or_default()))
    };
    rows.into_iter().map(read).collect::<Result<_, DbErr>>().map_err(database_error)
}
