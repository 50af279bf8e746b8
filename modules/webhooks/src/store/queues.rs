//! Endpoints for which something waits, and when to look at each.
//!
//! A look goes along those whose time has come, the one that is due longest first, and asks each for
//! its next delivery. So it costs by what is due: what waits for later, or for an endpoint that is
//! switched off, is passed by, however much it is.
//!
//! Whoever stores a delivery that waits, gives one back or puts one off touches its endpoint's row in
//! the same transaction. Only a look puts the time of a row off, and only if nobody has touched it since
//! it was read. Rows are touched last in a transaction, in the order of their endpoints, so that nobody
//! waits in a circle; a look doesn't wait for them at all.

use std::collections::{BTreeMap, BTreeSet};
use std::iter;

use sea_orm::{Iterable as _, QueryResult, Value};
use svc_core::Result;
use svc_data::UnitOfWork;
use svc_database::{Backend, Cell, CellKind, Database, ROWS_AT_ONCE, RowTable, column};
use uuid::Uuid;

use super::{deliveries_that_wait, ids, is_one_of, read_all};
use crate::model::Lane;
use crate::pace::Pace;

/// Endpoints that one look goes along; the next look goes on behind them.
const ENDPOINTS_AT_ONCE: usize = 256;

/// The time of an endpoint of which nothing becomes due until it is touched.
const NEVER: i64 = i64::MAX;

/// Where a walk along the endpoints is: by the time to look at one, and its identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    look_us: i64,
    endpoint: Uuid,
}

impl Place {
    /// Before the first.
    pub(crate) const START: Self = Self { look_us: i64::MIN, endpoint: Uuid::nil() };
}

/// A queue of an endpoint that has something waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Waiting {
    pub(crate) endpoint: Uuid,
    pub(crate) lane: Lane,
    /// When the first that nobody has claimed is due; of a queue with order, the first of all.
    pub(crate) first_us: i64,
    /// The endpoint's version.
    pub(crate) version: i64,
    /// The endpoint's limit.
    pub(crate) max_per_second: Option<i32>,
    pub(crate) organisation: Uuid,
    /// Before that its pace lets nothing begin.
    pace_us: i64,
}

impl Waiting {
    /// When something may be sent.
    pub(crate) fn due_us(&self) -> i64 {
        self.first_us.max(self.pace_us)
    }

    pub(crate) fn is_due(&self, now_us: i64) -> bool {
        self.due_us() <= now_us
    }
}

/// An endpoint that a look went by.
pub(crate) struct Seen {
    pub(crate) endpoint: Uuid,
    look_us: i64,
    /// How often its row was touched.
    touches: i64,
    pub(crate) waiting: Vec<Waiting>,
    /// When the claims end of what is at the front of its queues.
    claimed_until_us: Option<i64>,
}

impl Seen {
    fn place(&self) -> Place {
        Place { look_us: self.look_us, endpoint: self.endpoint }
    }

    /// When to look at it again; `ordered_us` is when something of the queue with order becomes due,
    /// where that was asked.
    fn next_us(&self, now_us: i64, ordered_us: Option<i64>) -> i64 {
        let due = self.waiting.iter().map(|waiting| match (waiting.lane, ordered_us) {
            (Lane::Ordered, Some(due_us)) => due_us,
            _ => waiting.due_us(),
        });
        let claimed = self.claimed_until_us.filter(|until| *until > now_us);
        due.chain(claimed).min().unwrap_or(NEVER)
    }
}

/// What one look found.
pub(crate) struct Look {
    pub(crate) seen: Vec<Seen>,
    /// Where the next look goes on; none when this one came to the end.
    pub(crate) next: Option<Place>,
}

/// What is asked of an endpoint `q`; holds `?` three times, each for the time of now.
///
/// One that is switched off has nothing but its test events, and one that is gone, or whose receiver fetches
/// what it is told, has nothing.
fn state(backend: Backend) -> String {
    let of = |lane: Lane, what: &str, condition: &str| {
        let sql = format!(
            "(SELECT d.{what} FROM {} WHERE d.status < 2 AND d.endpoint_id = e.id \
             AND d.lane = {}{condition} ORDER BY d.due_us, d.id LIMIT 1)",
            deliveries_that_wait(backend),
            lane.code()
        );
        let is_sent = if lane == Lane::Test { "" } else { "e.is_active AND " };
        format!("CASE WHEN {is_sent}NOT e.is_polled THEN {sql} END")
    };
    let unclaimed = " AND (d.claimed_until_us IS NULL OR d.claimed_until_us <= ?)";
    let first = |lane| of(lane, "due_us", if lane == Lane::Ordered { "" } else { unclaimed });
    let front = |lane| of(lane, "claimed_until_us", "");
    format!(
        "q.endpoint_id, q.look_us, q.touches, e.version, e.max_per_second, p.next_us, \
         {}, {}, {}, {}, {}, {}, {}, e.organisation_id",
        first(Lane::Test),
        first(Lane::Ordinary),
        first(Lane::Ordered),
        first(Lane::Replay),
        front(Lane::Test),
        front(Lane::Ordinary),
        front(Lane::Replay),
    )
}

const JOINS: &str = "LEFT JOIN webhooks_endpoints e ON e.id = q.endpoint_id \
    LEFT JOIN webhooks_paces p ON p.endpoint_id = q.endpoint_id";

fn read(rows: &[QueryResult]) -> Result<Vec<Seen>> {
    read_all(rows, |row| {
        let endpoint: Uuid = row.try_get_by_index(0)?;
        let mut seen = Seen {
            endpoint,
            look_us: row.try_get_by_index(1)?,
            touches: row.try_get_by_index(2)?,
            waiting: Vec::new(),
            claimed_until_us: None,
        };
        let Some(version) = row.try_get_by_index::<Option<i64>>(3)? else { return Ok(seen) };
        let max_per_second: Option<i32> = row.try_get_by_index(4)?;
        let next_us: Option<i64> = row.try_get_by_index(5)?;
        let pace = max_per_second.and_then(Pace::new);
        let pace_us = pace.map_or(i64::MIN, |pace| pace.ready_us(next_us.unwrap_or(i64::MIN)));
        let max_per_second = max_per_second.filter(|_| pace.is_some());
        let organisation: Uuid = row.try_get_by_index(13)?;
        // What is sent again takes what the others leave.
        let lanes = [Lane::Test, Lane::Ordinary, Lane::Ordered, Lane::Replay];
        for (index, lane) in lanes.into_iter().enumerate() {
            let Some(first_us) = row.try_get_by_index::<Option<i64>>(6 + index)? else { continue };
            seen.waiting.push(Waiting {
                endpoint,
                lane,
                first_us,
                version,
                max_per_second,
                organisation,
                pace_us,
            });
        }
        for index in 10..13 {
            let until_us: Option<i64> = row.try_get_by_index(index)?;
            seen.claimed_until_us = [seen.claimed_until_us, until_us].into_iter().flatten().min();
        }
        Ok(seen)
    })
}

fn look_statement(backend: Backend, after: Place, until_us: i64) -> (String, Vec<Value>) {
    let sql = format!(
        "SELECT {} FROM (SELECT endpoint_id, look_us, touches FROM webhooks_queues \
         WHERE look_us <= ? AND (look_us, endpoint_id) > (?, ?) \
         ORDER BY look_us, endpoint_id LIMIT {ENDPOINTS_AT_ONCE}) AS q {JOINS} \
         ORDER BY q.look_us, q.endpoint_id",
        state(backend)
    );
    let now = Value::from(until_us);
    let values = vec![
        now.clone(),
        now.clone(),
        now.clone(),
        now,
        after.look_us.into(),
        after.endpoint.into(),
    ];
    (sql, values)
}

/// Looks at the endpoints behind a place whose time has come.
pub(crate) async fn look(database: &Database, after: Place, until_us: i64) -> Result<Look> {
    let (sql, values) = look_statement(database.backend(), after, until_us);
    let seen = read(&database.rows(database.statement(&sql, values)).await?)?;
    let next = seen.last().map(Seen::place).filter(|_| seen.len() >= ENDPOINTS_AT_ONCE);
    Ok(Look { seen, next })
}

/// Puts off when to look at endpoints, after what was due of them was claimed. Those of which something
/// was claimed are asked once more; `ordered` tells when something of queues with order becomes due, and
/// `held` before when nothing of an endpoint may begin. Answers with the first of these times that is yet
/// to come.
pub(crate) async fn put_off(
    database: &Database,
    now_us: i64,
    seen: &[&Seen],
    claimed: &BTreeSet<Uuid>,
    ordered: &BTreeMap<Uuid, i64>,
    held: &BTreeMap<Uuid, i64>,
) -> Result<Option<i64>> {
    let mut rows: Vec<(Uuid, i64, i64)> = Vec::new();
    let mut add = |one: &Seen, touches: i64| {
        let next_us = one.next_us(now_us, ordered.get(&one.endpoint).copied());
        let held_us = held.get(&one.endpoint).filter(|_| next_us < NEVER);
        let next_us = held_us.map_or(next_us, |held_us| next_us.max(*held_us));
        if next_us != one.look_us {
            rows.push((one.endpoint, touches, next_us));
        }
    };
    let mut touches = BTreeMap::new();
    for one in seen {
        if claimed.contains(&one.endpoint) {
            touches.insert(one.endpoint, one.touches);
        } else {
            add(one, one.touches);
        }
    }
    if !touches.is_empty() {
        let sql = format!(
            "SELECT {} FROM webhooks_queues q {JOINS} WHERE {}",
            state(database.backend()),
            is_one_of(database.backend(), "q.endpoint_id")
        );
        let now = Value::from(now_us);
        let values = [now.clone(), now.clone(), now, ids(touches.keys().copied())];
        for one in &read(&database.rows(database.statement(&sql, values)).await?)? {
            // What was touched meanwhile keeps the time that it was given.
            add(one, touches.get(&one.endpoint).copied().unwrap_or(one.touches));
        }
    }
    for part in rows.chunks(ROWS_AT_ONCE) {
        pass(database, part).await?;
    }
    let times = rows.iter().map(|(.., next_us)| *next_us);
    Ok(times.filter(|next_us| *next_us > now_us && *next_us < NEVER).min())
}

/// Moves endpoints of which more is due behind all others that are due by now. It holds for those, too, that were
/// touched meanwhile, as the end of a request does that has another look begin: what is due of them stays so.
pub(crate) async fn go_behind(
    database: &Database,
    now_us: i64,
    endpoints: &BTreeSet<Uuid>,
) -> Result<()> {
    if endpoints.is_empty() {
        return Ok(());
    }
    let backend = database.backend();
    // In the order in which others touch them.
    let lock = backend.locking(" ORDER BY endpoint_id FOR UPDATE");
    let sql = format!(
        "UPDATE webhooks_queues SET look_us = ? WHERE endpoint_id IN \
         (SELECT endpoint_id FROM webhooks_queues WHERE {} AND look_us < ?{lock})",
        is_one_of(backend, "endpoint_id")
    );
    let values = [now_us.into(), ids(endpoints.iter().copied()), now_us.into()];
    database.execute(database.statement(&sql, values)).await.map(drop)
}

const PASSED: [(&str, CellKind); 3] =
    [("endpoint", CellKind::Uuid), ("touches", CellKind::BigInt), ("next_us", CellKind::BigInt)];

/// Gives rows that were touched so often, and no oftener, another time.
async fn pass(database: &Database, rows: &[(Uuid, i64, i64)]) -> Result<()> {
    let cells = rows.iter().map(|(endpoint, touches, next_us)| {
        [Cell::from(*endpoint), (*touches).into(), (*next_us).into()]
    });
    let RowTable { sql: table, values } = RowTable::new(database.backend(), &PASSED, cells);
    let same = "q.endpoint_id = r.endpoint AND q.touches = r.touches";
    let sql = match database.backend() {
        // One that somebody is touching keeps its time.
        Backend::Postgres => format!(
            "WITH still AS MATERIALIZED (SELECT q.endpoint_id, r.next_us FROM webhooks_queues q \
             JOIN {table} ON {same} FOR UPDATE OF q SKIP LOCKED) \
             UPDATE webhooks_queues AS own SET look_us = still.next_us FROM still \
             WHERE own.endpoint_id = still.endpoint_id"
        ),
        Backend::Sqlite => {
            format!("UPDATE webhooks_queues AS q SET look_us = r.next_us FROM {table} WHERE {same}")
        }
    };
    database.execute(database.statement(&sql, values)).await.map(drop)
}

/// When the next endpoint is to be looked at, behind a time.
pub(crate) async fn next_us(database: &Database, behind_us: i64) -> Result<Option<i64>> {
    let sql = "SELECT look_us FROM webhooks_queues WHERE look_us > ? AND look_us < ? \
               ORDER BY look_us LIMIT 1";
    let rows = database.rows(database.statement(sql, [behind_us.into(), NEVER.into()])).await?;
    rows.first().map(|row| column(row, 0)).transpose()
}

const TOUCHED: [(&str, CellKind); 2] =
    [("endpoint", CellKind::Uuid), ("look_us", CellKind::BigInt)];

/// What is done with a row that is there.
const SOONER: &str = "ON CONFLICT (endpoint_id) DO UPDATE SET touches = webhooks_queues.touches + 1, \
    look_us = CASE WHEN excluded.look_us < webhooks_queues.look_us \
    THEN excluded.look_us ELSE webhooks_queues.look_us END";

/// Has endpoints looked at when deliveries of them become due, each with its time: the last thing that
/// a unit of work does.
pub(crate) async fn touch(
    uow: &UnitOfWork,
    due: impl IntoIterator<Item = (Uuid, i64)>,
) -> Result<()> {
    let mut first: BTreeMap<Uuid, i64> = BTreeMap::new();
    for (endpoint, due_us) in due {
        let known = first.entry(endpoint).or_insert(due_us);
        *known = due_us.min(*known);
    }
    let database = uow.context().database();
    let rows: Vec<(Uuid, i64)> = first.into_iter().collect();
    for part in rows.chunks(ROWS_AT_ONCE) {
        let cells = part.iter().map(|(endpoint, at)| [Cell::from(*endpoint), (*at).into()]);
        let RowTable { sql: table, values } = RowTable::new(database.backend(), &TOUCHED, cells);
        let sql = format!(
            "INSERT INTO webhooks_queues (endpoint_id, look_us, touches) \
             SELECT r.endpoint, r.look_us, 1 FROM {table} WHERE true {SOONER}"
        );
        uow.execute(database.statement(&sql, values)).await?;
    }
    Ok(())
}

/// Forgets an endpoint that is gone.
pub(crate) async fn forget(uow: &UnitOfWork, endpoint: Uuid) -> Result<()> {
    let sql = "DELETE FROM webhooks_queues WHERE endpoint_id = ?";
    uow.execute(uow.context().database().statement(sql, [endpoint.into()])).await.map(drop)
}

/// How many deliveries wait for an endpoint, in one of its queues or in all, counted up to a number.
pub(crate) async fn waiting_for(
    database: &Database,
    endpoint: Uuid,
    lane: Option<Lane>,
    most: i64,
) -> Result<i64> {
    let in_lane = if lane.is_some() { "AND d.lane = ?" } else { "" };
    let sql = format!(
        "SELECT COUNT(*) FROM (SELECT 1 FROM {} \
         WHERE d.status < 2 AND d.endpoint_id = ? {in_lane} LIMIT ?) AS waiting",
        deliveries_that_wait(database.backend())
    );
    let lane: Option<Value> = lane.map(|lane| lane.code().into());
    let values = iter::once(endpoint.into()).chain(lane).chain([most.into()]);
    let rows = database.rows(database.statement(&sql, values)).await?;
    rows.first().map_or(Ok(0), |row| column(row, 0))
}

/// How many deliveries wait or are being sent, those in the queue counted up to a number. What was
/// handed over may have been recorded in part; it is gone in a moment.
pub(crate) async fn waiting(database: &Database, most: i64) -> Result<i64> {
    let sql = "SELECT COUNT(*) + \
               COALESCE((SELECT CAST(SUM(h.count) AS BIGINT) FROM webhooks_hand_overs h), 0) \
               FROM (SELECT 1 FROM webhooks_deliveries d WHERE d.status < 2 LIMIT ?) AS w";
    let rows = database.rows(database.statement(sql, [most.into()])).await?;
    rows.first().map_or(Ok(0), |row| column(row, 0))
}

/// Endpoints among which the oldest is looked for: a scrape never walks all of them.
const ENDPOINTS_MEASURED: i32 = 1_000;

/// When the delivery that is due longest became due, of endpoints that are switched on.
pub(crate) async fn oldest_due(database: &Database, now_us: i64) -> Result<Option<i64>> {
    let firsts = Lane::iter().map(|lane| {
        format!(
            "SELECT (SELECT MIN(d.due_us) FROM {} WHERE d.status < 2 \
             AND d.endpoint_id = due.id AND d.lane = {}) AS due_us FROM due",
            deliveries_that_wait(database.backend()),
            lane.code()
        )
    });
    let sql = format!(
        "WITH due (id) AS (SELECT e.id FROM (SELECT endpoint_id FROM webhooks_queues \
         WHERE look_us <= ? ORDER BY look_us LIMIT {ENDPOINTS_MEASURED}) AS q \
         JOIN webhooks_endpoints e ON e.id = q.endpoint_id WHERE e.is_active AND NOT e.is_polled) \
         SELECT MIN(due_us) FROM ({}) AS firsts",
        firsts.collect::<Vec<String>>().join(" UNION ALL ")
    );
    let rows = database.rows(database.statement(&sql, [now_us.into()])).await?;
    rows.first().map_or(Ok(None), |row| column(row, 0))
}

#[cfg(test)]
mod tests;
