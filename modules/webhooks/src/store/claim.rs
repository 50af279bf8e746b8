//! Who sends what is due.
//!
//! Claiming takes a few from the front of each queue, so it costs the same whether an endpoint has one
//! delivery waiting or a million.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::time::Duration;

use bytes::Bytes;
use sea_orm::{QueryResult, Statement, Value};
use svc_core::{Clock, Result, micros};
use svc_data::UnitOfWork;
use svc_database::{Backend, Database, column};
use uuid::Uuid;

use super::{deliveries_that_wait, ids, is_one_of, queues, read_all};
use crate::message::{Body, HELD_BODY, Message};
use crate::model::Lane;

/// The most queues that one statement claims from.
const QUEUES_AT_ONCE: usize = 64;

/// How many deliveries to take from a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Quota {
    pub(crate) endpoint: Uuid,
    pub(crate) lane: Lane,
    pub(crate) version: i64,
    pub(crate) max_per_second: Option<i32>,
    pub(crate) organisation: Uuid,
    /// When the first of it became due.
    pub(crate) first_us: i64,
    pub(crate) count: usize,
    /// How many of these at most may be recovered, of a queue with order.
    pub(crate) recovered: usize,
}

/// A claim: whose it is, and until when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Claim {
    pub(crate) token: Uuid,
    pub(crate) now_us: i64,
    pub(crate) until_us: i64,
}

impl Claim {
    /// One that begins now, and holds for a while.
    pub(crate) fn begin(clock: &Clock, lease: Duration) -> Self {
        let now_us = clock.now_us();
        let lease_us = micros::of_span(lease);
        Self { token: clock.new_id(), now_us, until_us: now_us.saturating_add(lease_us) }
    }
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
        Ok(Claimed {
            id,
            organisation: row.try_get_by_index(1)?,
            endpoint: row.try_get_by_index(2)?,
            message: row.try_get_by_index(3)?,
            attempts: row.try_get_by_index(4)?,
            lane: row.try_get_by_index(5)?,
            queued_us: queued_us.unwrap_or_else(|| micros::of_id(id)),
            claim,
        })
    })?;
    claimed.sort_unstable_by_key(|claimed| claimed.id);
    Ok(claimed)
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
    let lock = backend.locking(" FOR UPDATE OF d SKIP LOCKED");
    let waiting = deliveries_that_wait(backend);
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
            "SELECT id FROM (SELECT d.id FROM {waiting} WHERE d.status < 2 \
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

/// The messages of these identifiers, with their bodies up to [`HELD_BODY`].
pub(crate) async fn messages(
    database: &Database,
    wanted: impl IntoIterator<Item = Uuid>,
) -> Result<HashMap<Uuid, Message>> {
    let sql = format!(
        "SELECT id, event_id, event_type, trace, CAST(OCTET_LENGTH(body) AS BIGINT), \
         CASE WHEN OCTET_LENGTH(body) <= {HELD_BODY} THEN body END FROM webhooks_messages WHERE {}",
        is_one_of(database.backend(), "id")
    );
    let rows = database.rows(database.statement(&sql, [ids(wanted)])).await?;
    let read = read_all(&rows, |row| {
        let id: Uuid = row.try_get_by_index(0)?;
        let trace: Option<String> = row.try_get_by_index(3)?;
        let bytes: i64 = row.try_get_by_index(4)?;
        let body: Option<String> = row.try_get_by_index(5)?;
        let stored =
            Body::Stored { message: id, bytes: usize::try_from(bytes).unwrap_or(usize::MAX) };
        let message = Message {
            event: row.try_get_by_index(1)?,
            event_type: row.try_get_by_index::<String>(2)?.into(),
            trace: trace.and_then(|text| text.parse().ok()),
            body: body.map_or(stored, |body| Body::Held(body.into())),
        };
        Ok((id, message))
    })?;
    Ok(read.into_iter().collect())
}

/// The bytes of a message; none when it is gone.
pub(crate) async fn body(database: &Database, body: &Body) -> Result<Option<Bytes>> {
    let message = match body {
        Body::Held(body) => return Ok(Some(body.clone())),
        Body::Stored { message, .. } => *message,
    };
    let sql = "SELECT body FROM webhooks_messages WHERE id = ?";
    let rows = database.rows(database.statement(sql, [message.into()])).await;
    let rows = rows.map_err(|error| error.context(format!("message {message}")))?;
    rows.first().map(|row| column::<String>(row, 0).map(Bytes::from)).transpose()
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

/// Gives back what a process before this one had claimed, and has its endpoints looked at. Only SQLite,
/// where there is no other process, may do so.
pub(crate) async fn release_all(uow: &UnitOfWork) -> Result<()> {
    let sql = "UPDATE webhooks_deliveries SET claim = NULL, claimed_until_us = NULL \
               WHERE status < 2 AND claim IS NOT NULL RETURNING endpoint_id";
    let rows = uow.rows(uow.context().database().statement(sql, [])).await?;
    let endpoints: Vec<Uuid> = read_all(&rows, |row| row.try_get_by_index(0))?;
    let now_us = uow.context().clock().now_us();
    queues::touch(uow, endpoints.into_iter().map(|endpoint| (endpoint, now_us))).await
}
