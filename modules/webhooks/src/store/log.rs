//! The log of deliveries, read so that a page costs the same however long the log is.
//!
//! Two indexes of the log tell deliveries by status, so that what is rare is found among what is
//! not, and a page of several statuses takes the newest of each. Two more tell those whose answer was
//! no 2xx by its code. What no index tells (the event's type, a code of success, several of these at
//! once) is looked for among a bounded number of deliveries for each page; the next page goes on
//! behind them. Deliveries of one event, or of one entity, are found by their messages ([`events`]).

pub(crate) mod events;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use sea_orm::{DbErr, QueryResult, Value};
use svc_core::{Result, micros};
use svc_database::{Backend, Database, column, database_error};
use uuid::Uuid;

use super::{ids, listed, read_all};
use crate::entity::Entity;
use crate::log_text;
use crate::model::delivery::{Delivery, DeliveryDetail, EarlierAttempt, Exchange, Header};
use crate::model::{Lane, Status};
use crate::schedule::{self, Schedule};
use crate::settings::WebhooksSettings;

/// Deliveries among which one statement looks.
const AT_ONCE: u64 = 1_000;

/// Deliveries among which a page looks at most.
const LOOKED_AT: u64 = 3_000;

/// What the log shows: all but what was missed.
const SHOWN: [Status; 5] =
    [Status::Queued, Status::Retrying, Status::Delivered, Status::Failed, Status::Cancelled];

/// From here on an index tells the code of an answer.
const INDEXED_CODE: i16 = 300;

/// The columns of a delivery in a list, with its event and its endpoint: one whose endpoint is gone is
/// gone too. The address is the one that the last attempt went to.
const COLUMNS: &str = "d.id, d.endpoint_id, COALESCE(d.url, e.url), m.event_id, m.event_type, d.status, \
    d.status_code, d.attempts, d.due_us, d.duration_ms, d.error, d.redelivery_of, e.is_active, \
    d.lane, m.id, m.entity_type, m.entity_id, e.retry_delays_s";

/// Whose log is read, and the settings that hold where an endpoint says nothing of its own.
#[derive(Clone, Copy)]
pub(crate) struct Log<'a> {
    pub(crate) database: &'a Database,
    pub(crate) organisation: Uuid,
    pub(crate) settings: &'a WebhooksSettings,
}

/// Which deliveries to list, of one organisation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filter {
    pub(crate) endpoint: Option<Uuid>,
    pub(crate) status: Option<Status>,
    pub(crate) event_type: Option<String>,
    pub(crate) status_code: Option<i16>,
    /// Only those behind this identifier.
    pub(crate) since: Option<Uuid>,
    /// Only those before this identifier.
    pub(crate) before: Option<Uuid>,
}

impl Filter {
    /// The code that an index tells.
    fn indexed_code(&self) -> Option<i16> {
        self.status_code.filter(|code| *code >= INDEXED_CODE)
    }

    /// Whether a delivery is wanted.
    fn wants(&self, delivery: &Delivery) -> bool {
        self.endpoint.is_none_or(|endpoint| delivery.subscription_id == endpoint)
            && self.status.is_none_or(|status| delivery.status == status)
            && self.event_type.as_ref().is_none_or(|name| delivery.event_type == *name)
            && self.status_code.is_none_or(|code| delivery.status_code == Some(code))
    }

    /// Whether more is wanted than the index tells that a page goes along.
    fn is_searched(&self) -> bool {
        let has_code = self.status_code.is_some();
        let is_by_code = self.indexed_code().is_some();
        self.event_type.is_some() || has_code && (!is_by_code || self.status.is_some())
    }
}

/// The newest deliveries that a filter names, `take` at most, and before which one to go on: none at the
/// end.
pub(crate) async fn page(
    log: Log<'_>,
    filter: &Filter,
    take: usize,
) -> Result<(Vec<Delivery>, Option<Uuid>)> {
    let mut window = if filter.is_searched() { AT_ONCE } else { wide(take).saturating_add(1) };
    let mut deliveries = Vec::new();
    let mut next = filter.before;
    let mut looked_at = 0;
    while looked_at < LOOKED_AT {
        let found = newest(log, filter, next, window).await?;
        looked_at += window;
        let last = found.last().copied();
        let has_more = wide(found.len()) >= window;
        deliveries.extend(details(log, filter, found).await?);
        if deliveries.len() > take {
            deliveries.truncate(take);
            next = deliveries.last().map(|delivery| delivery.id);
            break;
        }
        next = last.filter(|_| has_more);
        if next.is_none() {
            break;
        }
        window = AT_ONCE;
    }
    Ok((deliveries, next))
}

/// The statement that finds the newest deliveries by what the indexes tell, with its values.
fn newest_statement(
    organisation: Uuid,
    filter: &Filter,
    before: Option<Uuid>,
    count: u64,
) -> (String, Vec<Value>) {
    let (column, owner) = match filter.endpoint {
        Some(endpoint) => ("endpoint_id", endpoint),
        None => ("organisation_id", organisation),
    };
    let mut values: Vec<Value> = Vec::new();
    let mut part = |condition: &str, code: Option<i16>, name: i16| {
        let mut sql = format!(
            "SELECT * FROM (SELECT d.id FROM webhooks_deliveries d WHERE d.{column} = ?{condition}"
        );
        values.push(owner.into());
        values.extend(code.map(Value::from));
        for (condition, bound) in [(" AND d.id < ?", before), (" AND d.id >= ?", filter.since)] {
            if let Some(bound) = bound {
                sql.push_str(condition);
                values.push(bound.into());
            }
        }
        // Writing to a `String` never fails.
        let _ = write!(sql, " ORDER BY d.id DESC LIMIT {count}) AS of_{name}");
        sql
    };
    let parts: Vec<String> = match filter.indexed_code() {
        // The second condition is what the index says of its rows.
        Some(code) => {
            let condition = format!(" AND d.status_code = ? AND d.status_code >= {INDEXED_CODE}");
            vec![part(&condition, Some(code), INDEXED_CODE)]
        }
        None => SHOWN
            .into_iter()
            .filter(|status| filter.status.is_none_or(|one| one == *status))
            .map(|status| part(&format!(" AND d.status = {}", status.code()), None, status.code()))
            .collect(),
    };
    let sql = format!(
        "SELECT id FROM ({}) AS newest ORDER BY id DESC LIMIT {count}",
        parts.join(" UNION ALL ")
    );
    (sql, values)
}

async fn newest(
    Log { database, organisation, .. }: Log<'_>,
    filter: &Filter,
    before: Option<Uuid>,
    count: u64,
) -> Result<Vec<Uuid>> {
    let (sql, values) = newest_statement(organisation, filter, before, count);
    let rows = database.rows(database.statement(&sql, values)).await?;
    read_all(&rows, |row| row.try_get_by_index(0))
}

/// These deliveries, as far as the rest of the filter wants them, the newest first.
async fn details(log: Log<'_>, filter: &Filter, found: Vec<Uuid>) -> Result<Vec<Delivery>> {
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let (sql, values) = details_statement(log.database.backend(), log.organisation, found);
    let rows = log.database.rows(log.database.statement(&sql, values)).await?;
    let mut deliveries =
        rows.iter().map(|row| read(row, log.settings)).collect::<Result<Vec<_>>>()?;
    // A statement with these conditions might be planned along an index that tells them.
    deliveries.retain(|delivery| filter.wants(delivery));
    Ok(deliveries)
}

/// The statement that reads deliveries by their identifiers, with its values.
fn details_statement(
    backend: Backend,
    organisation: Uuid,
    found: Vec<Uuid>,
) -> (String, Vec<Value>) {
    let sql = format!(
        "SELECT {COLUMNS} FROM {} CROSS JOIN webhooks_deliveries d \
         CROSS JOIN webhooks_endpoints e CROSS JOIN webhooks_messages m \
         WHERE d.id = listed.id AND e.id = d.endpoint_id AND m.id = d.message_id \
         AND d.organisation_id = ? AND d.status <> {} ORDER BY d.id DESC",
        listed(backend),
        Status::Missed.code()
    );
    (sql, vec![ids(found), organisation.into()])
}

/// One delivery with its attempts.
pub(crate) async fn one(log: Log<'_>, id: Uuid) -> Result<Option<DeliveryDetail>> {
    let Log { database, organisation, settings } = log;
    let sql = format!(
        "SELECT {COLUMNS}, d.request_headers, m.body, d.response_headers, d.response_body, d.attempted_us \
         FROM webhooks_deliveries d JOIN webhooks_endpoints e ON e.id = d.endpoint_id \
         JOIN webhooks_messages m ON m.id = d.message_id \
         WHERE d.organisation_id = ? AND d.status <> 4 AND d.id = ?"
    );
    let values = [organisation.into(), id.into()];
    let rows = database.rows(database.statement(&sql, values)).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    let delivery = read(row, settings)?;
    // Only what was attempted more than once has others.
    let earlier = if delivery.attempts > 1 { earlier(database, id).await? } else { Vec::new() };
    let body: String = column(row, 19)?;
    Ok(Some(DeliveryDetail {
        delivery,
        request: Exchange {
            headers: headers(column(row, 18)?).unwrap_or_default(),
            body: log_text::cut(&body, settings.log_limit()).to_owned(),
        },
        response: response(column(row, 20)?, column(row, 21)?),
        attempted_at: column::<Option<i64>>(row, 22)?.map(micros::to_time),
        earlier_attempts: earlier,
    }))
}

/// The attempts at a delivery before the last one, in their order.
async fn earlier(database: &Database, delivery: Uuid) -> Result<Vec<EarlierAttempt>> {
    let sql = "SELECT number, attempted_us, status_code, duration_ms, error, request_headers, \
               response_headers, response_body, url FROM webhooks_attempts WHERE delivery_id = ? \
               ORDER BY number";
    let rows = database.rows(database.statement(sql, [delivery.into()])).await?;
    read_all(&rows, |row| {
        Ok(EarlierAttempt {
            number: row.try_get_by_index(0)?,
            ended_at: row.try_get_by_index::<Option<i64>>(1)?.map(micros::to_time),
            status_code: row.try_get_by_index(2)?,
            duration_ms: row.try_get_by_index(3)?,
            error: row.try_get_by_index(4)?,
            url: row.try_get_by_index(8)?,
            request_headers: headers(row.try_get_by_index(5)?).unwrap_or_default(),
            response: response(row.try_get_by_index(6)?, row.try_get_by_index(7)?),
        })
    })
}

/// Headers, which are stored as JSON lists of names and values; none where none are stored.
fn headers(json: Option<String>) -> Option<Vec<Header>> {
    json.map(|json| serde_json::from_str(&json).unwrap_or_default())
}

/// What was answered; none where nothing was.
fn response(json: Option<String>, body: Option<String>) -> Option<Exchange> {
    headers(json).map(|headers| Exchange { headers, body: body.unwrap_or_default() })
}

/// What became of a delivery, for those who judge an endpoint by many.
pub(crate) struct Ended {
    pub(crate) id: Uuid,
    pub(crate) status: Status,
    pub(crate) duration_ms: Option<i32>,
    pub(crate) finished_us: Option<i64>,
}

/// The newest deliveries of an endpoint behind an identifier, `count` at most.
pub(crate) async fn newest_of(
    database: &Database,
    endpoint: Uuid,
    since: Uuid,
    count: u64,
) -> Result<Vec<Ended>> {
    let (sql, values) = newest_of_statement(endpoint, since, count);
    let rows = database.rows(database.statement(&sql, values)).await?;
    read_all(&rows, |row| {
        Ok(Ended {
            id: row.try_get_by_index(0)?,
            status: row.try_get_by_index(1)?,
            duration_ms: row.try_get_by_index(2)?,
            finished_us: row.try_get_by_index(3)?,
        })
    })
}

/// The statement that finds how deliveries of an endpoint ended, with its values: all of it stands in
/// an index.
fn newest_of_statement(endpoint: Uuid, since: Uuid, count: u64) -> (String, Vec<Value>) {
    let parts: Vec<String> = SHOWN
        .iter()
        .map(|status| {
            format!(
                "SELECT * FROM (SELECT d.id, d.status, d.duration_ms, d.finished_at_us \
                 FROM webhooks_deliveries d WHERE d.endpoint_id = ? AND d.status = {code} \
                 AND d.id >= ? ORDER BY d.id DESC LIMIT {count}) AS of_{code}",
                code = status.code()
            )
        })
        .collect();
    let sql = format!(
        "SELECT id, status, duration_ms, finished_at_us FROM ({}) AS newest \
         ORDER BY id DESC LIMIT {count}",
        parts.join(" UNION ALL ")
    );
    let values = SHOWN.iter().flat_map(|_| [Value::from(endpoint), since.into()]);
    (sql, values.collect())
}

fn read(row: &QueryResult, settings: &WebhooksSettings) -> Result<Delivery> {
    let id: Uuid = column(row, 0)?;
    let status: Status = column(row, 5)?;
    let is_active: bool = column(row, 12)?;
    let lane: Lane = column(row, 13)?;
    let is_held = !is_active && lane != Lane::Test;
    let waits = matches!(status, Status::Queued | Status::Retrying) && !is_held;
    let due: i64 = column(row, 8)?;
    let delays: Option<String> = column(row, 17)?;
    let delays_s = delays.as_deref().map(schedule::read);
    let entity = entity_of(row, 15).map_err(database_error)?;
    let (entity_type, entity_id) = entity.map(|Entity { kind, id }| (kind, id)).unzip();
    Ok(Delivery {
        id,
        subscription_id: column(row, 1)?,
        url: column(row, 2)?,
        event_id: column(row, 3)?,
        event_type: column(row, 4)?,
        entity_type,
        entity_id,
        time: micros::to_time(micros::of_id(id)),
        status,
        status_code: column(row, 6)?,
        attempts: column(row, 7)?,
        max_attempts: Schedule { delays_s, ..Schedule::default() }.attempts(settings),
        next_attempt_at: waits.then(|| micros::to_time(due)),
        duration_ms: column(row, 9)?,
        error: column(row, 10)?,
        redelivery_of: column(row, 11)?,
        message: column(row, 14)?,
    })
}

/// The entity whose type stands in a column, and its key in the next.
pub(crate) fn entity_of(row: &QueryResult, index: usize) -> Result<Option<Entity>, DbErr> {
    let kind: Option<String> = row.try_get_by_index(index)?;
    let id: Option<String> = row.try_get_by_index(index + 1)?;
    Ok(kind.zip(id).map(|(kind, id)| Entity { kind, id }))
}

fn wide(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
