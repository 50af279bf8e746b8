//! The table `events_outbox`: all of its SQL that writes and takes messages.
//!
//! What looks for messages names the state as a literal, so that both databases use the partial
//! indexes. It also asks for the index's order where any row would do: PostgreSQL may otherwise
//! read the whole table, hoping to meet a fitting row soon.
//! Lists of identifiers are filled up to a power of two by repeating the last, so that there are
//! few different statements to prepare.

use sea_orm::{DbErr, QueryResult, Value};
use serde::{Deserialize, Serialize};
use svc_core::trace::TraceContext;
use svc_core::{Actor, Error, OrganisationId, Result, micros};
use svc_data::UnitOfWork;
use svc_database::{Database, FirstOfEach, database_error};
use uuid::Uuid;

use crate::message::{Message, Payload};

pub(crate) mod letters;

/// The most rows that one INSERT carries: seven values each stay below SQLite's limit of 32,766.
const ROWS_AT_ONCE: usize = 1_000;

/// What the column `content` holds.
#[derive(Serialize, Deserialize)]
pub(crate) struct Stored {
    pub(crate) actor: Actor,
    /// Where it happened, while traces are exported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) trace: Option<TraceContext>,
    pub(crate) body: Payload,
}

/// A message for one handler that is about to be stored.
pub(crate) struct NewRow {
    pub(crate) id: Uuid,
    pub(crate) handler: String,
    pub(crate) name: String,
    pub(crate) organisation: Option<OrganisationId>,
    pub(crate) content: String,
}

/// Stores messages in the unit of work that they tell of, due at once.
pub(crate) async fn insert(uow: &UnitOfWork, rows: &[NewRow]) -> Result<()> {
    const ROW: &str = "(?, ?, ?, ?, ?, 'ready', 0, ?, ?, ?)";
    let context = uow.context();
    let now = context.clock().now_us();
    for chunk in rows.chunks(ROWS_AT_ONCE) {
        let sql = format!(
            "INSERT INTO events_outbox (id, handler, name, organisation_id, correlation, state, \
             attempts, available_at_us, created_at_us, content) VALUES {}",
            vec![ROW; chunk.len()].join(", ")
        );
        let values = chunk.iter().flat_map(|row| {
            [
                row.id.into(),
                row.handler.as_str().into(),
                row.name.as_str().into(),
                OrganisationId::or_nil(row.organisation).into(),
                context.correlation().into(),
                now.into(),
                now.into(),
                row.content.as_str().into(),
            ]
        });
        uow.execute(context.database().statement(&sql, values)).await?;
    }
    Ok(())
}

/// What a handler's lane is told when it looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outlook {
    /// The handler's place in the list that was asked about.
    pub(crate) lane: usize,
    /// Whether a message is due.
    pub(crate) is_due: bool,
    /// When the next message becomes due that isn't yet.
    pub(crate) next_us: Option<i64>,
}

/// Asks for all handlers in one statement, by a few steps into indexes for each.
pub(crate) async fn look(
    database: &Database,
    handlers: &[&str],
    now_us: i64,
) -> Result<Vec<Outlook>> {
    let lanes: Vec<String> = (0..handlers.len()).map(|lane| format!("({lane}, ?)")).collect();
    let sql = format!(
        "WITH lanes (lane, handler) AS (VALUES {}) SELECT lane, \
         (SELECT 1 FROM events_outbox m WHERE m.state = 'ready' AND m.attempts = 0 \
             AND m.handler = lanes.handler ORDER BY m.organisation_id LIMIT 1), \
         (SELECT m.available_at_us FROM events_outbox m WHERE m.state = 'ready' \
             AND m.attempts > 0 AND m.handler = lanes.handler \
             ORDER BY m.available_at_us LIMIT 1), \
         (SELECT m.available_at_us FROM events_outbox m WHERE m.state = 'ready' \
             AND m.attempts > 0 AND m.handler = lanes.handler AND m.available_at_us > ? \
             ORDER BY m.available_at_us LIMIT 1) \
         FROM lanes",
        lanes.join(", ")
    );
    let names = handlers.iter().map(|handler| Value::from(*handler));
    let values = names.chain([now_us.into()]);
    let rows = database.rows(database.statement(&sql, values)).await?;
    let read = |row: QueryResult| {
        let lane: i32 = row.try_get_by_index(0)?;
        let fresh: Option<i32> = row.try_get_by_index(1)?;
        let first_us: Option<i64> = row.try_get_by_index(2)?;
        Ok(Outlook {
            lane: usize::try_from(lane).unwrap_or_default(),
            is_due: fresh.is_some() || first_us.is_some_and(|time| time <= now_us),
            next_us: row.try_get_by_index(3)?,
        })
    };
    rows.into_iter().map(read).collect::<Result<_, DbErr>>().map_err(database_error)
}

/// A message that is due, as far as it matters for whom to hand it to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Due {
    pub(crate) id: Uuid,
    pub(crate) available_at_us: i64,
    pub(crate) organisation: Option<OrganisationId>,
    pub(crate) correlation: Uuid,
    pub(crate) attempts: u32,
}

const DUE: &str = "m.id, m.available_at_us, m.organisation_id, m.correlation, m.attempts";

/// Reads the columns [`DUE`] behind so many others.
fn read_due(row: &QueryResult, first: usize) -> Result<Due, DbErr> {
    Ok(Due {
        id: row.try_get_by_index(first)?,
        available_at_us: row.try_get_by_index(first + 1)?,
        organisation: OrganisationId::unless_nil(row.try_get_by_index(first + 2)?),
        correlation: row.try_get_by_index(first + 3)?,
        attempts: count(row, first + 4)?,
    })
}

/// Organisations whose fresh messages one statement reads.
pub(crate) const ORGANISATIONS_AT_ONCE: usize = 64;

/// Fresh messages of a handler, those of an organisation together.
pub(crate) struct Fresh {
    pub(crate) by_organisation: Vec<Vec<Due>>,
    /// Where to go on; none when these were the last.
    pub(crate) behind: Option<Uuid>,
}

/// The next organisations behind one, with so many messages of each that nobody has tried yet. They may be
/// taken meanwhile.
pub(crate) async fn fresh(
    database: &Database,
    handler: &str,
    behind: Option<Uuid>,
    limit: usize,
) -> Result<Fresh> {
    let statement = FirstOfEach {
        table: "events_outbox",
        group: "organisation_id",
        among: "m.state = 'ready' AND m.attempts = 0 AND m.handler = ?",
        told: None,
        order: "m.id",
        columns: DUE,
        groups: ORGANISATIONS_AT_ONCE,
    };
    let sql = statement.sql(database.backend(), behind.is_some());
    let values = [
        handler.into(),
        behind.unwrap_or_default().into(),
        handler.into(),
        handler.into(),
        i64::try_from(limit).unwrap_or(i64::MAX).into(),
    ];
    let rows = database.rows(database.statement(&sql, values)).await?;
    let mut by_organisation: Vec<Vec<Due>> = Vec::new();
    let mut last = 0;
    for row in &rows {
        let number: i32 = row.try_get_by_index(0).map_err(database_error)?;
        if std::mem::replace(&mut last, number) != number {
            by_organisation.push(Vec::new());
        }
        let due = read_due(row, 1).map_err(database_error)?;
        if let Some(messages) = by_organisation.last_mut() {
            messages.push(due);
        }
    }
    let is_full = usize::try_from(last).is_ok_and(|last| last == ORGANISATIONS_AT_ONCE);
    let last = by_organisation.last().and_then(|messages| messages.first());
    let behind = last.filter(|_| is_full).map(|due| OrganisationId::or_nil(due.organisation));
    Ok(Fresh { by_organisation, behind })
}

/// The next fresh messages of an organisation, behind one.
pub(crate) async fn fresh_behind(
    database: &Database,
    handler: &str,
    last: &Due,
    limit: usize,
) -> Result<Vec<Due>> {
    let sql = format!(
        "SELECT {DUE} FROM events_outbox m WHERE m.state = 'ready' AND m.attempts = 0 \
         AND m.handler = ? AND m.organisation_id = ? AND m.id > ? ORDER BY m.id LIMIT ?"
    );
    let values = [
        handler.into(),
        OrganisationId::or_nil(last.organisation).into(),
        last.id.into(),
        i64::try_from(limit).unwrap_or(i64::MAX).into(),
    ];
    read_all_due(database, &sql, values).await
}

/// Where a walk along the messages that are tried again has come to.
pub(crate) type Place = (i64, Uuid);

/// Before all messages.
pub(crate) const START: Place = (i64::MIN, Uuid::nil());

/// The next messages of a handler that were tried before and are due again, after `place`. They may be taken
/// meanwhile.
pub(crate) async fn again(
    database: &Database,
    handler: &str,
    now_us: i64,
    place: Place,
    limit: usize,
) -> Result<Vec<Due>> {
    let sql = format!(
        "SELECT {DUE} FROM events_outbox m WHERE m.state = 'ready' AND m.attempts > 0 \
         AND m.handler = ? AND m.available_at_us <= ? AND (m.available_at_us, m.id) > (?, ?) \
         ORDER BY m.available_at_us, m.id LIMIT ?"
    );
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let values =
        [Value::from(handler), now_us.into(), place.0.into(), place.1.into(), limit.into()];
    read_all_due(database, &sql, values).await
}

async fn read_all_due(
    database: &Database,
    sql: &str,
    values: impl IntoIterator<Item = Value>,
) -> Result<Vec<Due>> {
    let rows = database.rows(database.statement(sql, values)).await?;
    let read = |row: &QueryResult| read_due(row, 0);
    rows.iter().map(read).collect::<Result<_, DbErr>>().map_err(database_error)
}

/// Messages of one handler that have been tried equally often.
#[derive(Clone, Debug)]
pub(crate) struct Taken<'a> {
    pub(crate) handler: &'a str,
    pub(crate) ids: Vec<Uuid>,
    /// Attempts that are counted in their rows.
    pub(crate) attempts: u32,
    /// Whether to wait for rows that somebody holds, instead of passing over them.
    pub(crate) waits: bool,
}

impl Taken<'_> {
    /// The rows, unless they have moved on since; found by the primary key. Saying `<> 'dead'`
    /// keeps PostgreSQL from the index of what is ready, which it would walk from end to end.
    fn condition(&self) -> (String, Vec<Value>) {
        let size = self.ids.len().next_power_of_two();
        let marks = vec!["?"; size].join(", ");
        let last = self.ids.last().copied().unwrap_or_default();
        let padding = std::iter::repeat_n(last, size - self.ids.len());
        let ids = self.ids.iter().copied().chain(padding).map(Value::from);
        let values = [self.handler.into(), i64::from(self.attempts).into()];
        (
            format!("id IN ({marks}) AND handler = ? AND attempts = ? AND state <> 'dead'"),
            ids.chain(values).collect(),
        )
    }
}

/// The error of a message while an attempt at it is made that was counted before it began.
const BEGUN: &str = "the process ended while it handled the message";

/// The event that a handler comes to next of those that an organisation hears of, its own and those of no
/// organisation, as an SQL expression and its values: the first that nothing has gone wrong with, although a
/// process may have ended over it. Null when there is none.
///
/// Read by the statement that reads what the handler made of others, it tells what may still come
/// between: a message stays until the unit of work commits that stores its effects.
#[must_use]
pub fn first_unhandled(handler: &str, organisation: OrganisationId) -> (String, Vec<Value>) {
    let first = |condition: &str| {
        format!(
            "SELECT id FROM (SELECT m.id FROM events_outbox m WHERE m.state = 'ready' AND {condition} \
             AND m.handler = ? AND m.organisation_id = ? ORDER BY m.id LIMIT 1)"
        )
    };
    let parts =
        ["m.attempts = 0".to_owned(), format!("m.attempts = 1 AND m.last_error = '{BEGUN}'")];
    let mut queries = Vec::new();
    let mut values = Vec::new();
    for (number, part) in parts.iter().chain(&parts).enumerate() {
        queries.push(format!("{} AS part_{number}", first(part)));
        let organisation = (number < parts.len()).then_some(organisation);
        values.extend([handler.into(), OrganisationId::or_nil(organisation).into()]);
    }
    let sql = queries.join(" UNION ALL ");
    (format!("(SELECT id FROM ({sql}) AS next ORDER BY id LIMIT 1)"), values)
}

/// Counts an attempt that is about to begin, so that it stays counted whatever becomes of this
/// process, and puts the messages off to `next_us`. Says which ones are still there to be tried.
pub(crate) async fn begin_attempt(
    database: &Database,
    taken: &Taken<'_>,
    next_us: i64,
) -> Result<Vec<Uuid>> {
    let (condition, values) = taken.condition();
    let lock = skip_locked(database);
    let sql = format!(
        "UPDATE events_outbox SET attempts = attempts + 1, available_at_us = ?, last_error = ? \
         WHERE handler = ? AND id IN (SELECT id FROM events_outbox WHERE {condition}{lock}) \
         RETURNING id"
    );
    let head = [next_us.into(), BEGUN.into(), taken.handler.into()];
    let statement = database.statement(&sql, head.into_iter().chain(values));
    let rows = database.execute_returning(statement).await?;
    let mut begun: Vec<Uuid> = rows
        .iter()
        .map(|row| row.try_get_by_index(0))
        .collect::<Result<_, DbErr>>()
        .map_err(database_error)?;
    begun.sort_unstable();
    Ok(begun)
}

/// Locks messages until the unit of work ends, and reads those that nobody else has taken.
pub(crate) async fn lock(
    uow: &UnitOfWork,
    taken: &Taken<'_>,
    attempt: u32,
) -> Result<Vec<Message>> {
    let database = uow.context().database();
    let (condition, values) = taken.condition();
    let sql = format!(
        "SELECT id, name, organisation_id, correlation, created_at_us, content \
         FROM events_outbox WHERE {condition} ORDER BY id{}",
        if taken.waits { database.backend().locking(" FOR UPDATE") } else { skip_locked(database) }
    );
    let rows = uow.rows(database.statement(&sql, values)).await?;
    rows.iter().map(|row| message(row, taken.handler, attempt)).collect()
}

/// Removes messages that were handled, within the unit of work that stores the effects.
pub(crate) async fn remove(uow: &UnitOfWork, taken: &Taken<'_>) -> Result<u64> {
    let (condition, values) = taken.condition();
    let sql = format!("DELETE FROM events_outbox WHERE {condition}");
    uow.execute(uow.context().database().statement(&sql, values)).await
}

/// What is recorded of a failure.
pub(crate) struct Failure {
    /// Attempts so far, this one included.
    pub(crate) attempts: u32,
    /// When the message is due again, or when it died.
    pub(crate) at_us: i64,
    /// Whether it was the last attempt.
    pub(crate) is_dead: bool,
    /// What went wrong.
    pub(crate) error: String,
}

/// Records a failure, outside of the unit of work that it undid, and says whether there was
/// something to record: another node may be done with the message meanwhile. It waits for whoever
/// holds the row, which may still be the transaction that is just being rolled back.
pub(crate) async fn fail(database: &Database, taken: &Taken<'_>, failure: Failure) -> Result<bool> {
    let (condition, values) = taken.condition();
    let sql = format!(
        "UPDATE events_outbox SET state = ?, attempts = ?, available_at_us = ?, last_error = ? \
         WHERE {condition}"
    );
    let head = [
        if failure.is_dead { "dead" } else { "ready" }.into(),
        i64::from(failure.attempts).into(),
        failure.at_us.into(),
        failure.error.into(),
    ];
    let statement = database.statement(&sql, head.into_iter().chain(values));
    Ok(database.execute(statement).await? > 0)
}

fn skip_locked(database: &Database) -> &'static str {
    database.backend().locking(" FOR UPDATE SKIP LOCKED")
}

/// `id, name, organisation_id, correlation, created_at_us, content`.
type Columns = (Uuid, String, Uuid, Uuid, i64, String);

/// Reads a row of [`Columns`].
fn message(row: &QueryResult, handler: &str, attempt: u32) -> Result<Message> {
    let columns = || -> Result<Columns, DbErr> {
        Ok((
            row.try_get_by_index(0)?,
            row.try_get_by_index(1)?,
            row.try_get_by_index(2)?,
            row.try_get_by_index(3)?,
            row.try_get_by_index(4)?,
            row.try_get_by_index(5)?,
        ))
    };
    let (id, name, organisation, correlation, created_at_us, content) =
        columns().map_err(database_error)?;
    let stored: Stored = serde_json::from_str(&content).map_err(|error| {
        Error::internal(format!("the content of message `{id}` can't be read")).caused_by(error)
    })?;
    Ok(Message {
        id,
        handler: handler.to_owned(),
        name,
        organisation: OrganisationId::unless_nil(organisation),
        actor: stored.actor,
        correlation,
        trace: stored.trace,
        time: micros::to_time(created_at_us),
        attempt,
        payload: stored.body,
    })
}

fn count(row: &QueryResult, index: usize) -> Result<u32, DbErr> {
    let count: i32 = row.try_get_by_index(index)?;
    Ok(u32::try_from(count).unwrap_or_default())
}
