//! What became of attempts, and what that means for their endpoints.

use std::collections::HashSet;

use sea_orm::Value;
use svc_core::Result;
use svc_data::UnitOfWork;
use svc_database::{Backend, Cell, CellKind, ROWS_AT_ONCE, RowTable, column};
use time::OffsetDateTime;
use uuid::Uuid;

use super::claim::Claimed;
use super::read_all;
use crate::model::{Lane, Status};

/// The outcome of one attempt, as it is stored with its delivery.
#[derive(Debug)]
pub(crate) struct Attempt<'a> {
    pub(crate) claimed: &'a Claimed,
    pub(crate) status: Status,
    /// When it is tried again.
    pub(crate) due_us: Option<i64>,
    pub(crate) finished_us: Option<i64>,
    /// When it ended.
    pub(crate) attempted_us: i64,
    pub(crate) code: Option<u16>,
    pub(crate) duration_ms: u64,
    pub(crate) error: Option<String>,
    /// Where it went; none where nothing was sent.
    pub(crate) url: Option<&'a str>,
    pub(crate) sent: Option<&'a str>,
    pub(crate) headers: Option<&'a str>,
    pub(crate) body: Option<&'a str>,
}

/// An [`Attempt`] as a row.
const COLUMNS: [(&str, CellKind); 13] = [
    ("id", CellKind::Uuid),
    ("token", CellKind::Uuid),
    ("status", CellKind::SmallInt),
    ("due_us", CellKind::BigInt),
    ("finished_us", CellKind::BigInt),
    ("code", CellKind::SmallInt),
    ("duration_ms", CellKind::Integer),
    ("error", CellKind::Text),
    ("sent", CellKind::Text),
    ("headers", CellKind::Text),
    ("body", CellKind::Text),
    ("attempted_us", CellKind::BigInt),
    ("url", CellKind::Text),
];

impl Attempt<'_> {
    fn cells(&self) -> [Cell<'_>; 13] {
        [
            self.claimed.id.into(),
            self.claimed.claim.token.into(),
            self.status.code().into(),
            self.due_us.into(),
            self.finished_us.into(),
            self.code.map(i32::from).into(),
            i32::try_from(self.duration_ms).unwrap_or(i32::MAX).into(),
            self.error.as_deref().into(),
            self.sent.into(),
            self.headers.into(),
            self.body.into(),
            self.attempted_us.into(),
            self.url.into(),
        ]
    }

    /// The same without what a receiver had a say in.
    pub(crate) fn without_texts(&self) -> Self {
        Self {
            error: self.error.is_some().then(|| "the outcome could not be stored".to_owned()),
            sent: None,
            headers: None,
            body: None,
            ..*self
        }
    }
}

/// Stores the outcomes of attempts whose claims still hold, and says which deliveries these were.
/// One whose endpoint was deleted meanwhile is gone, and one whose claim ended is another's.
pub(crate) async fn attempts(uow: &UnitOfWork, attempts: &[&Attempt<'_>]) -> Result<HashSet<Uuid>> {
    let database = uow.context().database();
    let id = match database.backend() {
        Backend::Postgres => "q.id",
        // SQLite knows no table names in RETURNING.
        Backend::Sqlite => "id",
    };
    let mut recorded = HashSet::with_capacity(attempts.len());
    for part in attempts.chunks(ROWS_AT_ONCE) {
        keep_last(uow, part).await?;
        let RowTable { sql, values } =
            RowTable::new(database.backend(), &COLUMNS, part.iter().map(|attempt| attempt.cells()));
        let sql = format!(
            "UPDATE webhooks_deliveries AS q SET status = r.status, attempts = q.attempts + 1, \
             due_us = COALESCE(r.due_us, q.due_us), finished_at_us = r.finished_us, claim = NULL, \
             claimed_until_us = NULL, status_code = r.code, duration_ms = r.duration_ms, \
             error = r.error, request_headers = r.sent, response_headers = r.headers, \
             response_body = r.body, attempted_us = r.attempted_us, url = r.url FROM {sql} WHERE q.id = r.id AND q.claim = r.token \
             RETURNING {id}"
        );
        let rows = uow.rows(database.statement(&sql, values)).await?;
        recorded.extend(read_all(&rows, |row| row.try_get_by_index::<Uuid>(0))?);
    }
    Ok(recorded)
}

const CLAIMS: [(&str, CellKind); 2] = [("id", CellKind::Uuid), ("token", CellKind::Uuid)];

/// Keeps the attempts that others are about to take the place of, as the log has them.
async fn keep_last(uow: &UnitOfWork, attempts: &[&Attempt<'_>]) -> Result<()> {
    let again: Vec<&Claimed> =
        attempts.iter().map(|one| one.claimed).filter(|claimed| claimed.attempts > 0).collect();
    if again.is_empty() {
        return Ok(());
    }
    let database = uow.context().database();
    let cells = again.iter().map(|one| [Cell::from(one.id), one.claim.token.into()]);
    let RowTable { sql, values } = RowTable::new(database.backend(), &CLAIMS, cells);
    // One that is there was kept by a commit that nobody was told of, since the connection was lost.
    let sql = format!(
        "INSERT INTO webhooks_attempts (delivery_id, number, attempted_us, status_code, \
         duration_ms, error, request_headers, response_headers, response_body, url) \
         SELECT q.id, q.attempts, q.attempted_us, q.status_code, q.duration_ms, q.error, \
         q.request_headers, q.response_headers, q.response_body, q.url FROM {sql} \
         JOIN webhooks_deliveries q ON q.id = r.id AND q.claim = r.token WHERE q.attempts > 0 \
         ON CONFLICT (delivery_id, number) DO NOTHING"
    );
    uow.execute(database.statement(&sql, values)).await.map(drop)
}

/// A delivery of a hand-over that gets a row of its own.
pub(crate) enum First<'a> {
    /// Its first attempt has ended.
    Ended(&'a Attempt<'a>),
    /// It is sent, or about to be: claimed.
    Taken(&'a Claimed),
    /// It waits for anybody.
    Waiting(&'a Claimed),
}

/// A [`First`] as a row.
const FIRST: [(&str, CellKind); 19] = [
    ("id", CellKind::Uuid),
    ("organisation", CellKind::Uuid),
    ("endpoint", CellKind::Uuid),
    ("message", CellKind::Uuid),
    ("attempts", CellKind::SmallInt),
    ("claim", CellKind::Uuid),
    ("until_us", CellKind::BigInt),
    ("queued_us", CellKind::BigInt),
    ("status", CellKind::SmallInt),
    ("due_us", CellKind::BigInt),
    ("finished_us", CellKind::BigInt),
    ("code", CellKind::SmallInt),
    ("duration_ms", CellKind::Integer),
    ("error", CellKind::Text),
    ("sent", CellKind::Text),
    ("headers", CellKind::Text),
    ("body", CellKind::Text),
    ("attempted_us", CellKind::BigInt),
    ("url", CellKind::Text),
];

impl First<'_> {
    pub(crate) fn claimed(&self) -> &Claimed {
        match self {
            Self::Ended(attempt) => attempt.claimed,
            Self::Taken(claimed) | Self::Waiting(claimed) => claimed,
        }
    }

    fn cells(&self) -> [Cell<'_>; 19] {
        let Claimed { id, organisation, endpoint, message, claim, .. } = *self.claimed();
        let (attempts, is_taken) = match self {
            Self::Ended(_) => (1, false),
            Self::Taken(_) => (0, true),
            Self::Waiting(_) => (0, false),
        };
        let outcome = match self {
            Self::Ended(attempt) => attempt.cells(),
            Self::Taken(_) | Self::Waiting(_) => {
                let mut cells = [const { Cell::Null }; 13];
                cells[2] = Status::Queued.code().into();
                cells
            }
        };
        let [
            _,
            _,
            status,
            due,
            finished,
            code,
            duration,
            error,
            sent,
            headers,
            body,
            attempted,
            url,
        ] = outcome;
        [
            id.into(),
            organisation.into(),
            endpoint.into(),
            message.into(),
            attempts.into(),
            is_taken.then_some(claim.token).into(),
            is_taken.then_some(claim.until_us).into(),
            claim.now_us.into(),
            status,
            due,
            finished,
            code,
            duration,
            error,
            sent,
            headers,
            body,
            attempted,
            url,
        ]
    }
}

/// Stores rows of deliveries whose hand-overs and endpoints are held. One that has a row already was
/// stored by a commit that nobody was told of, since the connection was lost.
pub(crate) async fn first(uow: &UnitOfWork, rows: &[&First<'_>]) -> Result<()> {
    let database = uow.context().database();
    for part in rows.chunks(ROWS_AT_ONCE) {
        let RowTable { sql, values } =
            RowTable::new(database.backend(), &FIRST, part.iter().map(|row| row.cells()));
        let sql = format!(
            "INSERT INTO webhooks_deliveries (id, organisation_id, endpoint_id, message_id, \
             status, lane, attempts, due_us, claim, claimed_until_us, status_code, duration_ms, \
             error, request_headers, response_headers, response_body, attempted_us, \
             finished_at_us, url) \
             SELECT r.id, r.organisation, r.endpoint, r.message, r.status, {lane}, r.attempts, \
             COALESCE(r.due_us, r.queued_us), r.claim, r.until_us, r.code, r.duration_ms, \
             r.error, r.sent, r.headers, r.body, r.attempted_us, r.finished_us, r.url FROM {sql} \
             WHERE true ON CONFLICT (id) DO NOTHING",
            lane = Lane::Ordinary.code()
        );
        uow.execute(database.statement(&sql, values)).await?;
    }
    Ok(())
}

/// Sets the counter of an endpoint that had a delivery succeed back to zero.
pub(crate) async fn reset_failures(uow: &UnitOfWork, endpoint: Uuid) -> Result<()> {
    let sql =
        "UPDATE webhooks_endpoints SET consecutive_failures = 0, last_error = NULL WHERE id = ?";
    uow.execute(uow.context().database().statement(sql, [endpoint.into()])).await.map(drop)
}

/// An endpoint after a delivery to it failed for good.
pub(crate) struct Failing {
    pub(crate) failures: i32,
    pub(crate) is_active: bool,
    pub(crate) owner: Uuid,
    pub(crate) description: String,
    pub(crate) url: String,
}

/// Counts one delivery that failed for good at an address; none when the endpoint is gone, or is at another by now,
/// of which that says nothing.
pub(crate) async fn count_failure(
    uow: &UnitOfWork,
    endpoint: Uuid,
    url: &str,
    error: &str,
) -> Result<Option<Failing>> {
    let sql = "UPDATE webhooks_endpoints SET consecutive_failures = consecutive_failures + 1, \
               last_error = ? WHERE id = ? AND url = ? \
               RETURNING consecutive_failures, is_active, owner_id, description, url";
    let values: [Value; 3] = [error.into(), endpoint.into(), url.into()];
    let rows = uow.rows(uow.context().database().statement(sql, values)).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    Ok(Some(Failing {
        failures: column(row, 0)?,
        is_active: column(row, 1)?,
        owner: column(row, 2)?,
        description: column(row, 3)?,
        url: column(row, 4)?,
    }))
}

/// Switches an endpoint off.
pub(crate) async fn switch_off(
    uow: &UnitOfWork,
    endpoint: Uuid,
    at: OffsetDateTime,
    reason: &str,
) -> Result<()> {
    let sql = "UPDATE webhooks_endpoints SET is_active = ?, disabled_at = ?, updated_at = ?, \
               disabled_reason = ?, version = version + 1 WHERE id = ?";
    let values: [Value; 5] = [false.into(), at.into(), at.into(), reason.into(), endpoint.into()];
    uow.execute(uow.context().database().statement(sql, values)).await.map(drop)
}
