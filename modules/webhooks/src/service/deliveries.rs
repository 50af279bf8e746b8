//! The log of deliveries, and sending again.

use sea_orm::{QueryResult, Value};
use svc_core::{Error, OrganisationId, Result};
use svc_data::{Context, UnitOfWork};
use svc_http::{Listing, Page};
use time::OffsetDateTime;
use uuid::Uuid;

use super::{Service, owner};
use crate::log_text;
use crate::model::{Lane, Status};
use crate::store::insert::{self, NewDelivery};
use crate::store::{column, ids, is_one_of, moment, read_all};

/// The columns of a delivery in a list, with its event and its endpoint.
const COLUMNS: &str = "d.id, d.endpoint_id, e.url, m.event_id, m.event_type, d.status, \
    d.status_code, d.attempts, d.due_us, d.duration_ms, d.error, d.redelivery_of, e.is_active, \
    d.lane";

/// Where deliveries are read from. One whose endpoint is gone is gone too.
const FROM: &str = "webhooks_deliveries d JOIN webhooks_endpoints e ON e.id = d.endpoint_id \
    JOIN webhooks_messages m ON m.id = d.message_id";

/// A delivery in the log.
#[derive(Clone, Debug)]
pub(crate) struct Delivery {
    pub(crate) id: Uuid,
    pub(crate) endpoint: Uuid,
    pub(crate) url: String,
    pub(crate) event_id: Uuid,
    pub(crate) event_type: String,
    pub(crate) queued_at: OffsetDateTime,
    pub(crate) status: Status,
    pub(crate) status_code: Option<i16>,
    pub(crate) attempts: i32,
    pub(crate) next_attempt_at: Option<OffsetDateTime>,
    pub(crate) duration_ms: Option<i32>,
    pub(crate) error: Option<String>,
    pub(crate) redelivery_of: Option<Uuid>,
}

/// A delivery with the request and the response of its last attempt.
pub(crate) struct DeliveryDetail {
    pub(crate) delivery: Delivery,
    pub(crate) request_headers: Vec<(String, String)>,
    pub(crate) request_body: String,
    pub(crate) response_headers: Option<Vec<(String, String)>>,
    pub(crate) response_body: Option<String>,
}

/// Which deliveries to list.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeliveryFilter {
    pub(crate) endpoint: Option<Uuid>,
    pub(crate) status: Option<Status>,
    pub(crate) event_type: Option<String>,
}

/// A delivery that is to be sent again.
pub(crate) struct Redelivery {
    pub(crate) id: Uuid,
    pub(crate) endpoint: Uuid,
    pub(crate) message: Uuid,
    pub(crate) lane: Lane,
}

impl Service {
    /// The deliveries of the organisation, the newest first.
    pub(crate) async fn deliveries(
        &self,
        ctx: &Context,
        page: &Page,
        filter: &DeliveryFilter,
    ) -> Result<Listing<Delivery>> {
        let mut conditions = "d.organisation_id = ? AND d.status <> 4".to_owned();
        let mut values: Vec<Value> = vec![ctx.organisation()?.0.into()];
        let mut add = |condition: &str, value: Value| {
            conditions.push_str(condition);
            values.push(value);
        };
        if let Some(endpoint) = filter.endpoint {
            // An endpoint of another organisation is unknown, and an unknown one has no log.
            self.find(ctx, endpoint).await?;
            add(" AND d.endpoint_id = ?", endpoint.into());
        }
        if let Some(status) = filter.status {
            add(" AND d.status = ?", status.code().into());
        }
        if let Some(event_type) = &filter.event_type {
            add(" AND m.event_type = ?", event_type.as_str().into());
        }
        if let Some(after) = page.cursor::<Uuid>()? {
            add(" AND d.id < ?", after.into());
        }
        let limit = page.limit();
        let sql = format!(
            "SELECT {COLUMNS} FROM {FROM} WHERE {conditions} ORDER BY d.id DESC LIMIT {limit}"
        );
        let rows = ctx.database().rows(ctx.database().statement(&sql, values)).await?;
        let deliveries = rows.iter().map(read).collect::<Result<Vec<Delivery>>>()?;
        Ok(page.list(deliveries, |delivery| delivery.id))
    }

    /// One delivery with its request and response.
    pub(crate) async fn delivery(&self, ctx: &Context, id: Uuid) -> Result<DeliveryDetail> {
        let sql = format!(
            "SELECT {COLUMNS}, d.request_headers, m.body, d.response_headers, d.response_body \
             FROM {FROM} WHERE d.organisation_id = ? AND d.status <> 4 AND d.id = ?"
        );
        let values = [ctx.organisation()?.0.into(), id.into()];
        let rows = ctx.database().rows(ctx.database().statement(&sql, values)).await?;
        let row = rows.first().ok_or_else(no_delivery)?;
        let sent: Option<String> = column(row, 14)?;
        let body: String = column(row, 15)?;
        let received: Option<String> = column(row, 16)?;
        Ok(DeliveryDetail {
            delivery: read(row)?,
            request_headers: sent.map(|json| pairs(&json)).unwrap_or_default(),
            request_body: log_text::cut(&body, self.settings().log_limit()).to_owned(),
            response_headers: received.map(|json| pairs(&json)),
            response_body: column(row, 17)?,
        })
    }

    /// Queues a delivery again, as a new one with the same body under the same event id.
    pub(crate) async fn redeliver(&self, ctx: &Context, id: Uuid) -> Result<DeliveryDetail> {
        let new = ctx
            .transact(async |uow| {
                let sql = format!(
                    "SELECT d.id, d.endpoint_id, d.message_id, d.lane FROM {FROM} \
                     WHERE d.organisation_id = ? AND d.status <> 4 AND d.id = ?"
                );
                let values = [ctx.organisation()?.0.into(), id.into()];
                let rows = uow.rows(ctx.database().statement(&sql, values)).await?;
                let originals = read_redeliveries(&rows)?;
                if let Some(original) = originals.first() {
                    let endpoint = self.find(uow.context(), original.endpoint).await?;
                    owner::require(&uow, endpoint.owner_id).await?;
                }
                let new = redeliver_all(&uow, ctx.organisation()?, &originals).await?;
                new.first().copied().ok_or_else(no_delivery)
            })
            .await?;
        self.delivery(ctx, new).await
    }
}

/// Reads `id, endpoint_id, message_id, lane`.
pub(super) fn read_redeliveries(rows: &[QueryResult]) -> Result<Vec<Redelivery>> {
    read_all(rows, |row| {
        Ok(Redelivery {
            id: row.try_get_by_index(0)?,
            endpoint: row.try_get_by_index(1)?,
            message: row.try_get_by_index(2)?,
            lane: match row.try_get_by_index::<i16>(3)? {
                1 => Lane::Test,
                _ => Lane::Ordinary,
            },
        })
    })
}

/// Queues deliveries again. Their messages are copied, so that a message is always as old as its
/// deliveries, and both are deleted by age alone.
pub(super) async fn redeliver_all(
    uow: &UnitOfWork,
    organisation: OrganisationId,
    originals: &[Redelivery],
) -> Result<Vec<Uuid>> {
    let ctx = uow.context();
    let mut copies = std::collections::BTreeMap::new();
    for original in originals {
        copies.entry(original.message).or_insert_with(|| ctx.clock().new_id());
    }
    copy_messages(uow, &copies).await?;
    let new: Vec<NewDelivery> = originals
        .iter()
        .map(|original| NewDelivery {
            id: ctx.clock().new_id(),
            organisation,
            endpoint: original.endpoint,
            message: copies[&original.message],
            status: Status::Queued,
            lane: original.lane,
            redelivery_of: Some(original.id),
            order: None,
        })
        .collect();
    insert::deliveries(uow, &new).await?;
    Ok(new.into_iter().map(|delivery| delivery.id).collect())
}

async fn copy_messages(
    uow: &UnitOfWork,
    copies: &std::collections::BTreeMap<Uuid, Uuid>,
) -> Result<()> {
    let database = uow.context().database();
    let sql = format!(
        "SELECT id, organisation_id, event_id, event_type, time_us, trace, body FROM webhooks_messages \
         WHERE {}",
        is_one_of(database.backend(), "id")
    );
    let rows = uow.rows(database.statement(&sql, [ids(copies.keys().copied())])).await?;
    let messages = read_all(&rows, |row| {
        let original: Uuid = row.try_get_by_index(0)?;
        Ok(insert::NewMessage {
            id: copies.get(&original).copied().unwrap_or_default(),
            organisation: OrganisationId(row.try_get_by_index(1)?),
            event_id: row.try_get_by_index(2)?,
            event_type: row.try_get_by_index(3)?,
            time_us: row.try_get_by_index(4)?,
            trace: row.try_get_by_index::<Option<String>>(5)?.and_then(|text| text.parse().ok()),
            body: row.try_get_by_index(6)?,
        })
    })?;
    insert::messages(uow, &messages).await
}

fn no_delivery() -> Error {
    Error::not_found("there is no such delivery")
}

fn pairs(json: &str) -> Vec<(String, String)> {
    serde_json::from_str(json).unwrap_or_default()
}

fn read(row: &QueryResult) -> Result<Delivery> {
    let id: Uuid = column(row, 0)?;
    let status = Status::from_code(column(row, 5)?)?;
    let is_active: bool = column(row, 12)?;
    let lane: i16 = column(row, 13)?;
    let is_held = !is_active && lane != Lane::Test.code();
    let waits = matches!(status, Status::Queued | Status::Retrying) && !is_held;
    let due: i64 = column(row, 8)?;
    Ok(Delivery {
        id,
        endpoint: column(row, 1)?,
        url: column(row, 2)?,
        event_id: column(row, 3)?,
        event_type: column(row, 4)?,
        queued_at: time_of(id),
        status,
        status_code: column(row, 6)?,
        attempts: column(row, 7)?,
        next_attempt_at: waits.then(|| moment(due)),
        duration_ms: column(row, 9)?,
        error: column(row, 10)?,
        redelivery_of: column(row, 11)?,
    })
}

/// When an identifier was made, which a UUIDv7 tells in milliseconds.
fn time_of(id: Uuid) -> OffsetDateTime {
    let milliseconds = i64::try_from(id.as_u128() >> 80).unwrap_or(0);
    moment(milliseconds.saturating_mul(1_000))
}
