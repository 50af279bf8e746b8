//! What is due, and who sends it.
//!
//! Looking steps from endpoint to endpoint in the index of what waits, and asks each for its next
//! delivery; claiming takes a few from the front of each queue. So both cost the same whether an
//! endpoint has one delivery waiting or a million.

use std::fmt::Write as _;

use sea_orm::{QueryResult, Statement, Value};
use svc_core::Result;
use svc_data::UnitOfWork;
use svc_database::{Backend, Database, column};
use uuid::Uuid;

use super::pace::Pace;
use super::{ids, is_one_of, made_us, read_all};
use crate::model::Lane;

/// Endpoints that one look steps along; the next look goes on behind them.
const ENDPOINTS_AT_ONCE: i32 = 256;

/// The most queues that one statement claims from.
const QUEUES_AT_ONCE: usize = 64;

/// A queue of an endpoint that has something waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Waiting {
    pub(crate) endpoint: Uuid,
    pub(crate) lane: Lane,
    /// When the first that nobody has claimed is due; of a queue with order, the first of all.
    first_us: i64,
    /// The endpoint's version.
    pub(crate) version: i64,
    /// The endpoint's limit.
    pub(crate) max_per_second: Option<i32>,
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

/// What one look found.
pub(crate) struct Look {
    pub(crate) waiting: Vec<Waiting>,
    /// Where the next look goes on; none when this one came to the end.
    pub(crate) next: Option<Uuid>,
}

/// Looks which endpoints behind `after` have something waiting. Those that are switched off are
/// left out, except for their test events; those that are gone are left out altogether.
pub(crate) async fn look(database: &Database, after: Uuid, now_us: i64) -> Result<Look> {
    const FIRST: &str = "SELECT d.due_us FROM webhooks_deliveries d WHERE d.status < 2 \
        AND d.endpoint_id = e.id AND d.lane = {lane}{unclaimed} ORDER BY d.due_us, d.id LIMIT 1";
    const UNCLAIMED: &str = " AND (d.claimed_until_us IS NULL OR d.claimed_until_us <= ?)";
    const NEXT: &str = "SELECT d.endpoint_id FROM webhooks_deliveries d WHERE d.status < 2 \
        AND d.endpoint_id > {place} ORDER BY d.endpoint_id LIMIT 1";
    let first = |lane: Lane, unclaimed| {
        FIRST.replace("{lane}", &lane.code().to_string()).replace("{unclaimed}", unclaimed)
    };
    let sql = format!(
        "WITH RECURSIVE steps (endpoint_id, number) AS (\
         SELECT ({first_step}), 1 UNION ALL \
         SELECT ({next_step}), steps.number + 1 FROM steps \
         WHERE steps.endpoint_id IS NOT NULL AND steps.number < {ENDPOINTS_AT_ONCE}) \
         SELECT steps.endpoint_id, e.version, e.max_per_second, p.next_us, ({test}), \
         CASE WHEN e.is_active THEN ({ordinary}) END, CASE WHEN e.is_active THEN ({ordered}) END, \
         CASE WHEN e.is_active THEN ({replay}) END FROM steps LEFT JOIN webhooks_endpoints e ON e.id = steps.endpoint_id \
         LEFT JOIN webhooks_paces p ON p.endpoint_id = steps.endpoint_id \
         WHERE steps.endpoint_id IS NOT NULL ORDER BY steps.number",
        first_step = NEXT.replace("{place}", "?"),
        next_step = NEXT.replace("{place}", "steps.endpoint_id"),
        test = first(Lane::Test, UNCLAIMED),
        ordinary = first(Lane::Ordinary, UNCLAIMED),
        ordered = first(Lane::Ordered, ""),
        replay = first(Lane::Replay, UNCLAIMED),
    );
    let values = [Value::from(after), now_us.into(), now_us.into(), now_us.into()];
    let rows = database.rows(database.statement(&sql, values)).await?;
    let steps = read_all(&rows, |row| {
        Ok((
            row.try_get_by_index::<Uuid>(0)?,
            row.try_get_by_index::<Option<i64>>(1)?,
            row.try_get_by_index::<Option<i32>>(2)?,
            row.try_get_by_index::<Option<i64>>(3)?,
            [
                row.try_get_by_index(4)?,
                row.try_get_by_index(5)?,
                row.try_get_by_index(6)?,
                row.try_get_by_index(7)?,
            ],
        ))
    })?;
    let is_full = steps.len() >= usize::try_from(ENDPOINTS_AT_ONCE).unwrap_or(usize::MAX);
    let next = steps.last().map(|step| step.0).filter(|_| is_full);
    let mut waiting = Vec::new();
    for (endpoint, version, max_per_second, next_us, firsts) in steps {
        let Some(version) = version else { continue };
        let pace = max_per_second.and_then(Pace::new);
        let pace_us = pace.map_or(i64::MIN, |pace| pace.ready_us(next_us.unwrap_or(i64::MIN)));
        let max_per_second = max_per_second.filter(|_| pace.is_some());
        // What is sent again takes what the others leave.
        let lanes = [Lane::Test, Lane::Ordinary, Lane::Ordered, Lane::Replay];
        for (lane, first_us) in lanes.into_iter().zip::<[Option<i64>; 4]>(firsts) {
            let Some(first_us) = first_us else { continue };
            waiting.push(Waiting { endpoint, lane, first_us, version, max_per_second, pace_us });
        }
    }
    Ok(Look { waiting, next })
}

/// Endpoints among which the oldest is looked for: a scrape never walks all of them.
const ENDPOINTS_MEASURED: i32 = 1_000;

/// When the delivery that is due longest became due, of endpoints that are switched on.
pub(crate) async fn oldest_due(database: &Database) -> Result<Option<i64>> {
    const NEXT: &str = "SELECT d.endpoint_id FROM webhooks_deliveries d WHERE d.status < 2 \
        AND d.endpoint_id > {place} ORDER BY d.endpoint_id LIMIT 1";
    let firsts = Lane::ALL.map(|lane| {
        format!(
            "SELECT (SELECT MIN(d.due_us) FROM webhooks_deliveries d WHERE d.status < 2 \
             AND d.endpoint_id = e.id AND d.lane = {}) AS due_us FROM on_now e",
            lane.code()
        )
    });
    let sql = format!(
        "WITH RECURSIVE steps (endpoint_id, number) AS (\
         SELECT ({first_step}), 1 UNION ALL \
         SELECT ({next_step}), steps.number + 1 FROM steps \
         WHERE steps.endpoint_id IS NOT NULL AND steps.number < {ENDPOINTS_MEASURED}), \
         on_now (id) AS (SELECT e.id FROM steps JOIN webhooks_endpoints e \
         ON e.id = steps.endpoint_id WHERE e.is_active) \
         SELECT MIN(due_us) FROM ({firsts}) AS firsts",
        first_step = NEXT.replace("{place}", "?"),
        next_step = NEXT.replace("{place}", "steps.endpoint_id"),
        firsts = firsts.join(" UNION ALL "),
    );
    let rows = database.rows(database.statement(&sql, [Uuid::nil().into()])).await?;
    rows.first().map_or(Ok(None), |row| column(row, 0))
}

/// How many deliveries to take from a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Quota {
    pub(crate) endpoint: Uuid,
    pub(crate) lane: Lane,
    pub(crate) version: i64,
    pub(crate) max_per_second: Option<i32>,
    pub(crate) count: usize,
}

/// A claim: whose it is, and until when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Claim {
    pub(crate) token: Uuid,
    pub(crate) now_us: i64,
    pub(crate) until_us: i64,
}

/// A delivery that was claimed.
#[derive(Clone, Debug)]
pub(crate) struct Claimed {
    pub(crate) id: Uuid,
    pub(crate) organisation: Uuid,
    pub(crate) endpoint: Uuid,
    pub(crate) message: Uuid,
    /// Attempts made so far.
    pub(crate) attempts: i32,
    pub(crate) lane: Lane,
    /// When it was queued.
    pub(crate) queued_us: i64,
    pub(crate) claim: Claim,
}

/// Where statements run.
#[derive(Clone, Copy)]
pub(crate) enum On<'a> {
    /// Each by itself.
    Database(&'a Database),
    /// In a transaction.
    Work(&'a UnitOfWork),
}

impl On<'_> {
    pub(crate) fn database(&self) -> &Database {
        match self {
            Self::Database(database) => database,
            Self::Work(uow) => uow.context().database(),
        }
    }

    pub(crate) async fn rows(&self, statement: Statement) -> Result<Vec<QueryResult>> {
        match self {
            Self::Database(database) => database.execute_returning(statement).await,
            Self::Work(uow) => uow.rows(statement).await,
        }
    }
}

/// What a claim answers with.
pub(crate) const CLAIMED: &str =
    "id, organisation_id, endpoint_id, message_id, attempts, lane, queued_us";

/// Reads rows of [`CLAIMED`], in the order in which the events were stored.
pub(crate) fn read_claimed(rows: &[QueryResult], claim: Claim) -> Result<Vec<Claimed>> {
    let mut claimed = read_all(rows, |row| {
        let id: Uuid = row.try_get_by_index(0)?;
        let queued_us: Option<i64> = row.try_get_by_index(6)?;
        Ok((
            Claimed {
                id,
                organisation: row.try_get_by_index(1)?,
                endpoint: row.try_get_by_index(2)?,
                message: row.try_get_by_index(3)?,
                attempts: row.try_get_by_index(4)?,
                lane: Lane::Ordinary,
                queued_us: queued_us.unwrap_or_else(|| made_us(id)),
                claim,
            },
            row.try_get_by_index::<i16>(5)?,
        ))
    })?;
    for (claimed, lane) in &mut claimed {
        claimed.lane = Lane::from_code(*lane)?;
    }
    claimed.sort_unstable_by_key(|(claimed, _)| claimed.id);
    Ok(claimed.into_iter().map(|(claimed, _)| claimed).collect())
}

/// Claims deliveries that are due, of queues without order.
pub(crate) async fn claim(on: On<'_>, quotas: &[Quota], claim: Claim) -> Result<Vec<Claimed>> {
    let mut claimed = Vec::new();
    for quotas in quotas.chunks(QUEUES_AT_ONCE) {
        let (sql, values) = claim_statement(on.database().backend(), quotas, claim);
        let rows = on.rows(on.database().statement(&sql, values)).await?;
        claimed.extend(read_claimed(&rows, claim)?);
    }
    Ok(claimed)
}

fn claim_statement(backend: Backend, quotas: &[Quota], claim: Claim) -> (String, Vec<Value>) {
    let lock = match backend {
        Backend::Postgres => " FOR UPDATE OF d SKIP LOCKED",
        Backend::Sqlite => "",
    };
    let mut due = String::new();
    let mut values = vec![claim.token.into(), claim.until_us.into()];
    // The number of queues is filled up to a power of two, so that there are few texts.
    let size = quotas.len().next_power_of_two();
    for index in 0..size {
        let quota = quotas.get(index).copied();
        if index > 0 {
            due.push_str(" UNION ALL ");
        }
        let _ = write!(
            due,
            "SELECT id FROM (SELECT d.id FROM webhooks_deliveries d WHERE d.status < 2 \
             AND d.endpoint_id = ? AND d.lane = ? AND d.due_us <= ? \
             AND (d.claimed_until_us IS NULL OR d.claimed_until_us <= ?) \
             ORDER BY d.due_us, d.id LIMIT ?{lock}) AS queue_{index}"
        );
        let count = quota.map_or(0, |quota| i64::try_from(quota.count).unwrap_or(i64::MAX));
        values.extend([
            quota.map_or(Uuid::nil(), |quota| quota.endpoint).into(),
            quota.map_or(Lane::Ordinary, |quota| quota.lane).code().into(),
            claim.now_us.into(),
            claim.now_us.into(),
            count.into(),
        ]);
    }
    // PostgreSQL takes an array as a few values, whatever it believes the queues to hold.
    let condition = match backend {
        Backend::Postgres => format!("id = ANY(ARRAY({due}))"),
        Backend::Sqlite => format!("id IN ({due})"),
    };
    let sql = format!(
        "UPDATE webhooks_deliveries SET claim = ?, claimed_until_us = ? WHERE {condition} \
         RETURNING {CLAIMED}"
    );
    (sql, values)
}

/// A message that is about to be sent.
pub(crate) struct StoredMessage {
    pub(crate) id: Uuid,
    pub(crate) event_id: Uuid,
    pub(crate) event_type: String,
    /// Where the event happened (`traceparent`).
    pub(crate) trace: Option<String>,
    /// The size of the body.
    pub(crate) bytes: usize,
    /// None when it is larger than was asked for.
    pub(crate) body: Option<String>,
}

/// The messages of these identifiers, with their bodies up to a size in bytes.
pub(crate) async fn messages(
    database: &Database,
    wanted: impl IntoIterator<Item = Uuid>,
    largest: usize,
) -> Result<Vec<StoredMessage>> {
    let sql = format!(
        "SELECT id, event_id, event_type, trace, CAST(OCTET_LENGTH(body) AS BIGINT), \
         CASE WHEN OCTET_LENGTH(body) <= {largest} THEN body END FROM webhooks_messages WHERE {}",
        is_one_of(database.backend(), "id")
    );
    let rows = database.rows(database.statement(&sql, [ids(wanted)])).await?;
    read_all(&rows, |row| {
        Ok(StoredMessage {
            id: row.try_get_by_index(0)?,
            event_id: row.try_get_by_index(1)?,
            event_type: row.try_get_by_index(2)?,
            trace: row.try_get_by_index(3)?,
            bytes: usize::try_from(row.try_get_by_index::<i64>(4)?).unwrap_or(usize::MAX),
            body: row.try_get_by_index(5)?,
        })
    })
}

/// The body of a message; none when it is gone.
pub(crate) async fn body(database: &Database, message: Uuid) -> Result<Option<String>> {
    let sql = "SELECT body FROM webhooks_messages WHERE id = ?";
    let rows = database.rows(database.statement(sql, [message.into()])).await?;
    rows.first().map(|row| column(row, 0)).transpose()
}

/// Gives claimed deliveries back, so that another node, or the next start, sends them at once.
pub(crate) async fn release(
    uow: &UnitOfWork,
    token: Uuid,
    deliveries: impl IntoIterator<Item = Uuid>,
) -> Result<()> {
    let database = uow.context().database();
    let sql = format!(
        "UPDATE webhooks_deliveries SET claim = NULL, claimed_until_us = NULL \
         WHERE claim = ? AND {}",
        is_one_of(database.backend(), "id")
    );
    let statement = database.statement(&sql, [token.into(), ids(deliveries)]);
    uow.execute(statement).await.map(drop)
}

/// Gives back what a process before this one had claimed. Only SQLite, where there is no other
/// process, may do so.
pub(crate) async fn release_all(database: &Database) -> Result<()> {
    let sql = "UPDATE webhooks_deliveries SET claim = NULL, claimed_until_us = NULL \
               WHERE status < 2 AND claim IS NOT NULL";
    let statement = database.statement(sql, []);
    database.execute(statement).await.map(drop)
}
