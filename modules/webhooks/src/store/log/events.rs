//! Deliveries of one event, or of all events about one entity.
//!
//! They are found by their messages: an index of the messages tells those of the event or the entity,
//! newest first, and another one the deliveries of a message, of which there are never more than one
//! unit of work makes. So a list goes by message, and within one by delivery, and a page looks at a
//! bounded number of both.

use std::fmt::Write as _;

use sea_orm::Value;
use serde::{Deserialize, Serialize};
use svc_core::{Result, micros};
use svc_database::Database;
use uuid::Uuid;

use super::{AT_ONCE, Filter, LOOKED_AT, Log, details, wide};
use crate::entity::Entity;
use crate::model::delivery::Delivery;
use crate::store::{as_old_as, ids, is_one_of, read_all};

/// Messages among whose deliveries a page looks at most.
const MESSAGES: usize = 1_024;

/// Messages whose deliveries one statement looks for.
const MESSAGES_AT_ONCE: usize = 64;

/// How long after its message a delivery may be stored, in microseconds: far longer than a unit of
/// work takes.
const STORED_WITHIN_US: i64 = 60 * 60 * 1_000_000;

/// What the events are that are looked for.
#[derive(Clone, Debug)]
pub(crate) enum About {
    /// This one.
    Event(Uuid),
    /// All about this entity.
    Entity(Entity),
}

/// A delivery, and the message that it is of: where a list goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Place {
    message: Uuid,
    delivery: Uuid,
}

impl Place {
    fn of(delivery: &Delivery) -> Self {
        Self { message: delivery.message, delivery: delivery.id }
    }

    /// Behind all deliveries of a message.
    fn behind(message: Uuid) -> Self {
        Self { message, delivery: Uuid::nil() }
    }
}

/// The newest deliveries of these events behind a place that a filter names, `take` at most, and where
/// to go on: none at the end.
pub(crate) async fn page(
    log: Log<'_>,
    (about, filter): (&About, &Filter),
    after: Option<Place>,
    take: usize,
) -> Result<(Vec<Delivery>, Option<Place>)> {
    let Log { database, organisation, .. } = log;
    let (sql, values) = messages_statement(organisation, (about, filter), after);
    let rows = database.rows(database.statement(&sql, values)).await?;
    let mut messages: Vec<Uuid> = read_all(&rows, |row| row.try_get_by_index(0))?;
    let has_more = messages.len() > MESSAGES;
    messages.truncate(MESSAGES);
    let mut listed: Vec<Delivery> = Vec::new();
    let mut looked_at = 0;
    for part in messages.chunks(MESSAGES_AT_ONCE) {
        let (sql, values) = deliveries_statement(database, part, filter, after);
        let rows = database.rows(database.statement(&sql, values)).await?;
        let places: Vec<Place> = read_all(&rows, |row| {
            Ok(Place { message: row.try_get_by_index(0)?, delivery: row.try_get_by_index(1)? })
        })?;
        for some in places.chunks(usize::try_from(AT_ONCE).unwrap_or(usize::MAX)) {
            let found = some.iter().map(|place| place.delivery).collect();
            let mut found = details(log, filter, found).await?;
            found.sort_unstable_by_key(|delivery| std::cmp::Reverse(Place::of(delivery)));
            listed.extend(found);
            if listed.len() > take {
                listed.truncate(take);
                let next = listed.last().map(Place::of);
                return Ok((listed, next));
            }
        }
        looked_at += wide(places.len());
        if looked_at >= LOOKED_AT {
            return Ok((listed, places.last().copied()));
        }
    }
    let next = messages.last().filter(|_| has_more).map(|last| Place::behind(*last));
    Ok((listed, next))
}

/// The statement that finds the newest messages, with its values.
pub(super) fn messages_statement(
    organisation: Uuid,
    (about, filter): (&About, &Filter),
    after: Option<Place>,
) -> (String, Vec<Value>) {
    let mut values: Vec<Value> = vec![organisation.into()];
    let mut sql = "SELECT m.id FROM webhooks_messages m WHERE m.organisation_id = ?".to_owned();
    match about {
        About::Event(event) => {
            sql.push_str(" AND m.event_id = ?");
            values.push((*event).into());
        }
        About::Entity(Entity { kind, id }) => {
            sql.push_str(" AND m.entity_type = ? AND m.entity_id = ?");
            values.extend([kind.as_str().into(), id.as_str().into()]);
        }
    }
    let earliest = |since: Uuid| micros::first_id(micros::of_id(since) - STORED_WITHIN_US);
    // A message is never younger than its deliveries, but for the digits below a millisecond.
    let latest = |before: Uuid| as_old_as(before, Uuid::max());
    let bounds = [
        (" AND m.id <= ?", after.map(|place| place.message)),
        (" AND m.id <= ?", filter.before.map(latest)),
        (" AND m.id >= ?", filter.since.map(earliest)),
    ];
    for (condition, bound) in bounds {
        if let Some(bound) = bound {
            sql.push_str(condition);
            values.push(bound.into());
        }
    }
    // Writing to a `String` never fails.
    let _ = write!(sql, " ORDER BY m.id DESC LIMIT {}", MESSAGES + 1);
    (sql, values)
}

/// The statement that finds deliveries of messages behind a place, with its values.
pub(super) fn deliveries_statement(
    database: &Database,
    messages: &[Uuid],
    filter: &Filter,
    after: Option<Place>,
) -> (String, Vec<Value>) {
    let is_listed = is_one_of(database.backend(), "d.message_id");
    let mut sql = format!("SELECT d.message_id, d.id FROM webhooks_deliveries d WHERE {is_listed}");
    let mut values = vec![ids(messages.iter().copied())];
    if let Some(Place { message, delivery }) = after {
        sql.push_str(" AND (d.message_id <> ? OR d.id < ?)");
        values.extend([message.into(), delivery.into()]);
    }
    for (condition, bound) in [(" AND d.id < ?", filter.before), (" AND d.id >= ?", filter.since)] {
        if let Some(bound) = bound {
            sql.push_str(condition);
            values.push(bound.into());
        }
    }
    let _ = write!(sql, " ORDER BY d.message_id DESC, d.id DESC LIMIT {LOOKED_AT}");
    (sql, values)
}
