//! New messages and deliveries.

use std::collections::BTreeMap;

use bytes::Bytes;
use svc_core::trace::TraceContext;
use svc_core::{OrganisationId, Result};
use svc_data::UnitOfWork;
use svc_database::{Cell, CellKind, ROWS_AT_ONCE, RowTable};
use uuid::Uuid;

use super::{ids, is_one_of, log, queues, read_all};
use crate::entity::Entity;
use crate::message::{Body, Message};
use crate::model::{Lane, Status};
use crate::names::WAKE_TOPIC;

/// Deliveries that one unit of work makes of events at most: what costs more is told step by step.
pub(crate) const AT_ONCE: usize = 4_096;

/// What is stored of an event.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Content {
    /// The bytes that are sent.
    Body(String),
    /// The event itself, where nobody was there to make the body for.
    Source(String),
}

impl Content {
    /// The bytes that are sent; empty where there are none yet.
    pub(crate) fn body(&self) -> &str {
        match self {
            Self::Body(body) => body,
            Self::Source(_) => "",
        }
    }

    /// How much is stored of it.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Body(text) | Self::Source(text) => text.len(),
        }
    }

    fn source(&self) -> Option<&str> {
        match self {
            Self::Body(_) => None,
            Self::Source(source) => Some(source),
        }
    }
}

/// What is sent, once for all endpoints that get the same.
pub(crate) struct NewMessage {
    pub(crate) id: Uuid,
    pub(crate) organisation: OrganisationId,
    pub(crate) event_id: Uuid,
    pub(crate) event_type: String,
    pub(crate) time_us: i64,
    /// Where the event happened, for the spans of its attempts.
    pub(crate) trace: Option<TraceContext>,
    /// What the event is about, by which it is found.
    pub(crate) entity: Option<Entity>,
    pub(crate) content: Content,
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

impl From<NewMessage> for Message {
    fn from(new: NewMessage) -> Self {
        Self {
            event: new.event_id,
            event_type: new.event_type.into(),
            trace: new.trace,
            body: Body::Held(match new.content {
                Content::Body(body) => body.into(),
                Content::Source(_) => Bytes::new(),
            }),
        }
    }
}

const MESSAGE: [(&str, CellKind); 10] = [
    ("id", CellKind::Uuid),
    ("organisation", CellKind::Uuid),
    ("event", CellKind::Uuid),
    ("event_type", CellKind::Text),
    ("time_us", CellKind::BigInt),
    ("trace", CellKind::Text),
    ("entity_type", CellKind::Text),
    ("entity_id", CellKind::Text),
    ("body", CellKind::Text),
    ("source", CellKind::Text),
];

impl NewMessage {
    fn cells(&self) -> [Cell<'_>; 10] {
        let entity = self.entity.as_ref().filter(|entity| entity.is_short());
        [
            self.id.into(),
            self.organisation.0.into(),
            self.event_id.into(),
            self.event_type.as_str().into(),
            self.time_us.into(),
            self.trace.map(|trace| trace.to_string()).into(),
            entity.map(|entity| entity.kind.as_str()).into(),
            entity.map(|entity| entity.id.as_str()).into(),
            self.content.body().into(),
            self.content.source().into(),
        ]
    }
}

const DELIVERY: [(&str, CellKind); 9] = [
    ("id", CellKind::Uuid),
    ("organisation", CellKind::Uuid),
    ("endpoint", CellKind::Uuid),
    ("message", CellKind::Uuid),
    ("status", CellKind::SmallInt),
    ("lane", CellKind::SmallInt),
    ("original", CellKind::Uuid),
    ("order_key", CellKind::Text),
    ("order_event", CellKind::Uuid),
];

impl NewDelivery {
    fn cells(&self) -> [Cell<'_>; 9] {
        [
            self.id.into(),
            self.organisation.0.into(),
            self.endpoint.into(),
            self.message.into(),
            self.status.code().into(),
            self.lane.code().into(),
            self.redelivery_of.into(),
            self.order.as_ref().map(|(key, _)| key.as_str()).into(),
            self.order.as_ref().map(|(_, event)| *event).into(),
        ]
    }
}

/// Stores messages.
pub(crate) async fn messages(uow: &UnitOfWork, messages: &[NewMessage]) -> Result<()> {
    let database = uow.context().database();
    for part in messages.chunks(ROWS_AT_ONCE) {
        let RowTable { sql, values } =
            RowTable::new(database.backend(), &MESSAGE, part.iter().map(NewMessage::cells));
        let sql = format!(
            "INSERT INTO webhooks_messages (id, organisation_id, event_id, event_type, time_us, \
             trace, entity_type, entity_id, body, source) SELECT r.id, r.organisation, r.event, \
             r.event_type, r.time_us, r.trace, r.entity_type, r.entity_id, r.body, r.source \
             FROM {sql}"
        );
        uow.execute(database.statement(&sql, values)).await?;
    }
    Ok(())
}

/// Copies messages, each under the identifier that is given for it.
pub(crate) async fn copies(uow: &UnitOfWork, new_ids: &BTreeMap<Uuid, Uuid>) -> Result<()> {
    let database = uow.context().database();
    let sql = format!(
        "SELECT id, organisation_id, event_id, event_type, time_us, trace, body, entity_type, \
         entity_id FROM webhooks_messages WHERE {}",
        is_one_of(database.backend(), "id")
    );
    let rows = uow.rows(database.statement(&sql, [ids(new_ids.keys().copied())])).await?;
    let copied = read_all(&rows, |row| {
        let original: Uuid = row.try_get_by_index(0)?;
        Ok(NewMessage {
            id: new_ids.get(&original).copied().unwrap_or_default(),
            organisation: OrganisationId(row.try_get_by_index(1)?),
            event_id: row.try_get_by_index(2)?,
            event_type: row.try_get_by_index(3)?,
            time_us: row.try_get_by_index(4)?,
            trace: row.try_get_by_index::<Option<String>>(5)?.and_then(|text| text.parse().ok()),
            entity: log::entity_of(row, 7)?,
            content: Content::Body(row.try_get_by_index(6)?),
        })
    })?;
    messages(uow, &copied).await
}

/// Stores deliveries, due at once, and wakes the dispatcher after the commit: the last thing that a
/// unit of work does.
pub(crate) async fn deliveries(uow: &UnitOfWork, deliveries: &[NewDelivery]) -> Result<()> {
    untouched(uow, deliveries).await?;
    let now_us = uow.context().clock().now_us();
    let queued = deliveries.iter().filter(|delivery| delivery.status == Status::Queued);
    queues::touch(uow, queued.map(|delivery| (delivery.endpoint, now_us))).await
}

/// The same for a unit of work that goes on: it touches the endpoints of what waits in the end.
pub(crate) async fn untouched(uow: &UnitOfWork, deliveries: &[NewDelivery]) -> Result<()> {
    let database = uow.context().database();
    let now = uow.context().clock().now_us();
    for part in deliveries.chunks(ROWS_AT_ONCE) {
        let rows = part.iter().map(NewDelivery::cells);
        let RowTable { sql, values } = RowTable::new(database.backend(), &DELIVERY, rows);
        let sql = format!(
            "INSERT INTO webhooks_deliveries (id, organisation_id, endpoint_id, message_id, \
             status, lane, attempts, due_us, redelivery_of, order_key, order_event) \
             SELECT r.id, r.organisation, r.endpoint, r.message, r.status, r.lane, 0, ?, \
             r.original, r.order_key, r.order_event FROM {sql}"
        );
        let values = std::iter::once(now.into()).chain(values);
        uow.execute(database.statement(&sql, values)).await?;
    }
    if deliveries.iter().any(|delivery| delivery.status == Status::Queued) {
        uow.wake_after_commit(WAKE_TOPIC);
    }
    Ok(())
}
