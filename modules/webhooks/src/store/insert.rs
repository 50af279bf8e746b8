//! New messages and deliveries.

use std::collections::HashSet;

use sea_orm::Value;
use serde::Serialize;
use svc_core::trace::TraceContext;
use svc_core::{Error, OrganisationId, Result};
use svc_data::UnitOfWork;
use uuid::Uuid;

use super::claim::Claim;
use super::{hex, json_rows};
use crate::model::{Lane, Status};

/// The most rows that one INSERT carries; the others are halves of it, so that there are few
/// texts to prepare.
const MESSAGES_AT_ONCE: usize = 64;

/// What is sent, once for all endpoints that get the same.
pub(crate) struct NewMessage {
    pub(crate) id: Uuid,
    pub(crate) organisation: OrganisationId,
    pub(crate) event_id: Uuid,
    pub(crate) event_type: String,
    pub(crate) time_us: i64,
    /// Where the event happened, for the spans of its attempts.
    pub(crate) trace: Option<TraceContext>,
    pub(crate) body: String,
}

/// A delivery of a message to one endpoint.
pub(crate) struct NewDelivery {
    pub(crate) id: Uuid,
    pub(crate) organisation: OrganisationId,
    pub(crate) endpoint: Uuid,
    pub(crate) message: Uuid,
    pub(crate) status: Status,
    pub(crate) lane: Lane,
    pub(crate) redelivery_of: Option<Uuid>,
    /// The entity and the event, where deliveries of one entity follow each other.
    pub(crate) order: Option<(String, Uuid)>,
}

#[derive(Serialize)]
struct Row<'a> {
    id: String,
    organisation: String,
    endpoint: String,
    message: String,
    status: i16,
    lane: i16,
    original: Option<String>,
    order_key: Option<&'a str>,
    order_event: Option<String>,
    taken: u8,
}

/// Stores messages.
pub(crate) async fn messages(uow: &UnitOfWork, mut messages: &[NewMessage]) -> Result<()> {
    while !messages.is_empty() {
        let mut size = MESSAGES_AT_ONCE;
        while size > messages.len() {
            size /= 2;
        }
        let (chunk, rest) = messages.split_at(size);
        messages = rest;
        let sql = format!(
            "INSERT INTO webhooks_messages (id, organisation_id, event_id, event_type, time_us, \
             trace, body) VALUES {}",
            vec!["(?, ?, ?, ?, ?, ?, ?)"; chunk.len()].join(", ")
        );
        let values = chunk.iter().flat_map(|message| {
            [
                message.id.into(),
                message.organisation.0.into(),
                message.event_id.into(),
                message.event_type.as_str().into(),
                message.time_us.into(),
                message.trace.map(|trace| trace.to_string()).into(),
                message.body.as_str().into(),
            ]
        });
        uow.execute(uow.context().database().statement(&sql, values)).await?;
    }
    Ok(())
}

/// Stores deliveries, due at once, and wakes the dispatcher after the commit.
pub(crate) async fn deliveries(uow: &UnitOfWork, deliveries: &[NewDelivery]) -> Result<()> {
    claimed(uow, deliveries, Claim::NONE, &HashSet::new()).await
}

/// Stores deliveries, due at once: those of `taken` as claimed by this node, which gets them in
/// memory; for the others it wakes the dispatcher after the commit.
pub(crate) async fn claimed(
    uow: &UnitOfWork,
    deliveries: &[NewDelivery],
    claim: Claim,
    taken: &HashSet<Uuid>,
) -> Result<()> {
    if deliveries.is_empty() {
        return Ok(());
    }
    let rows: Vec<Row> =
        deliveries.iter().map(|delivery| row(delivery, taken.contains(&delivery.id))).collect();
    let rows = serde_json::to_string(&rows)
        .map_err(|error| Error::internal("deliveries can't be written as JSON").caused_by(error))?;
    let database = uow.context().database();
    let table = json_rows(
        database.backend(),
        &[
            ("id", "uuid"),
            ("organisation", "uuid"),
            ("endpoint", "uuid"),
            ("message", "uuid"),
            ("status", "smallint"),
            ("lane", "smallint"),
            ("original", "uuid"),
            ("order_key", "text"),
            ("order_event", "uuid"),
            ("taken", "smallint"),
        ],
    );
    let sql = format!(
        "INSERT INTO webhooks_deliveries (id, organisation_id, endpoint_id, message_id, status, \
         lane, attempts, due_us, claim, claimed_until_us, redelivery_of, order_key, order_event) \
         SELECT r.id, r.organisation, r.endpoint, r.message, r.status, r.lane, 0, ?, \
         CASE WHEN r.taken = 1 THEN ? END, CASE WHEN r.taken = 1 THEN ? END, \
         r.original, r.order_key, r.order_event FROM {table}"
    );
    let now = uow.context().clock().now_us();
    let values: [Value; 4] = [now.into(), claim.token.into(), claim.until_us.into(), rows.into()];
    uow.execute(database.statement(&sql, values)).await?;
    let waits =
        |delivery: &NewDelivery| delivery.status == Status::Queued && !taken.contains(&delivery.id);
    if deliveries.iter().any(waits) {
        uow.wake_after_commit(crate::WAKE_TOPIC);
    }
    Ok(())
}

fn row(delivery: &NewDelivery, is_taken: bool) -> Row<'_> {
    Row {
        id: hex(delivery.id),
        organisation: hex(delivery.organisation.0),
        endpoint: hex(delivery.endpoint),
        message: hex(delivery.message),
        status: delivery.status.code(),
        lane: delivery.lane.code(),
        original: delivery.redelivery_of.map(hex),
        order_key: delivery.order.as_ref().map(|(key, _)| key.as_str()),
        order_event: delivery.order.as_ref().map(|(_, event)| hex(*event)),
        taken: u8::from(is_taken),
    }
}
