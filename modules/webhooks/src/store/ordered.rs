//! Claims from endpoints that want order.
//!
//! The head of an entity is the earliest of its events that waits or is being sent; only heads are
//! sent. Claiming steps from entity to entity in the index and looks at each head, so its cost
//! depends on how many entities wait, and not on how many events wait for one of them.
//!
//! First it goes along the entities of which something new waits, and then along those of which something is
//! recovered. What is new waits for what is recovered of its own entity alone, which is claimed with the first; of
//! the second never more is taken on than may be in flight, as of all that is sent again.
//!
//! Several nodes take messages off the outbox, so a later event of an entity may be told while an
//! earlier one isn't yet. No head is sent while the outbox holds an event before it, of the same organisation or of
//! none, that nothing went wrong with.

use std::collections::HashMap;

use parking_lot::Mutex;
use sea_orm::Value;
use svc_core::{OrganisationId, Result};
use svc_database::Backend;
use svc_events::first_unhandled;
use uuid::Uuid;

use super::claim::{CLAIMED, Claim, Claimed, On, Quota, read_claimed};
use super::{ids, is_one_of, read_all};
use crate::model::Lane;
use crate::names::HANDLER;

/// Entities that one statement steps along.
const HEADS_AT_ONCE: usize = 256;

/// The most statements of a look; the next one goes on behind them.
const LOOKS: usize = 16;

/// When to go on where many entities wait whose heads are not due.
const PAUSE_US: i64 = 1_000_000;

/// When to look again whether an event before a head was told. Whoever tells it wakes the dispatcher
/// sooner, if it makes a delivery.
const BEFORE_US: i64 = 50_000;

/// Entities of which something waits; one may be among both.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Part {
    New,
    Recovered,
}

impl Part {
    /// Its deliveries of an endpoint that wait, in the words of their index: SQLite would rather take another.
    fn waiting(self, backend: Backend) -> String {
        let (index, condition) = match self {
            Self::New => ("webhooks_deliveries_ordered", "IS NULL"),
            Self::Recovered => ("webhooks_deliveries_recovered", "IS NOT NULL"),
        };
        let along = match backend {
            Backend::Postgres => String::new(),
            Backend::Sqlite => format!(" INDEXED BY {index}"),
        };
        format!(
            "FROM webhooks_deliveries AS d{along} WHERE d.status < 2 AND d.order_key IS NOT NULL \
             AND d.queued_us {condition} AND d.endpoint_id = ?"
        )
    }
}

/// Where the next look at a part of an endpoint goes on: behind this entity.
#[derive(Default)]
pub(crate) struct Heads(Mutex<HashMap<(Uuid, Part), String>>);

impl Heads {
    fn place(&self, endpoint: Uuid, part: Part) -> String {
        let places = self.0.lock();
        places.get(&(endpoint, part)).cloned().unwrap_or_default()
    }

    fn go_on(&self, endpoint: Uuid, part: Part, place: String) {
        let mut places = self.0.lock();
        if place.is_empty() {
            places.remove(&(endpoint, part));
        } else {
            places.insert((endpoint, part), place);
        }
    }
}

/// What was claimed from an endpoint.
#[derive(Default)]
pub(crate) struct Taken {
    pub(crate) claimed: Vec<Claimed>,
    /// When to look again for what is not due yet, or is claimed.
    pub(crate) next_us: Option<i64>,
    /// Whether more may be due.
    pub(crate) has_more: bool,
    /// Whether more of what is recovered may be due, of a queue with order.
    pub(crate) has_recovered: bool,
}

impl Taken {
    pub(super) fn is_due_at(&mut self, next_us: i64) {
        self.next_us = Some(self.next_us.map_or(next_us, |us| us.min(next_us)));
    }
}

/// The first event of an entity.
struct Head {
    entity: String,
    delivery: Uuid,
    due_us: i64,
    claimed_until_us: Option<i64>,
    /// Whether an event before it may still be told.
    must_wait: bool,
}

/// Claims heads that are due.
pub(crate) async fn claim(on: On<'_>, quota: &Quota, claim: Claim, heads: &Heads) -> Result<Taken> {
    let mut taken = Taken::default();
    taken.has_more =
        go_along(on, (quota, Part::New, quota.count), claim, heads, &mut taken).await?;
    let left = quota.count.saturating_sub(taken.claimed.len());
    let most = left.min(quota.recovered);
    let part = (quota, Part::Recovered, most);
    taken.has_recovered = go_along(on, part, claim, heads, &mut taken).await?;
    Ok(taken)
}

/// Claims so many heads of a part at most; says whether more may be due.
async fn go_along(
    on: On<'_>,
    (quota, part, most): (&Quota, Part, usize),
    claim: Claim,
    heads: &Heads,
    taken: &mut Taken,
) -> Result<bool> {
    let mut has_more = false;
    let mut count = 0;
    let mut place = heads.place(quota.endpoint, part);
    let mut has_wrapped = place.is_empty();
    for look in 0.. {
        let found = look_along(on, quota, part, &place).await?;
        let is_end = found.len() < HEADS_AT_ONCE;
        let mut due = Vec::new();
        for head in found {
            let claimed_until = head.claimed_until_us.filter(|until| *until > claim.now_us);
            let is_free = claimed_until.is_none();
            if let Some(until) = claimed_until {
                taken.is_due_at(until);
            }
            if is_free && head.must_wait {
                taken.is_due_at(claim.now_us.saturating_add(BEFORE_US));
            } else if is_free && head.due_us <= claim.now_us {
                if count + due.len() >= most {
                    has_more = true;
                    break;
                }
                due.push(head.delivery);
            } else if is_free {
                taken.is_due_at(head.due_us);
            }
            place = head.entity;
        }
        if !due.is_empty() {
            let claimed = take(on, &due, claim).await?;
            // What comes behind these waits for their outcomes; what others took, for theirs.
            let is_all = claimed.len() == due.len();
            let pause_us = if is_all { claim.until_us } else { claim.now_us + PAUSE_US };
            taken.is_due_at(pause_us);
            count += claimed.len();
            taken.claimed.extend(claimed);
        }
        if has_more {
            break;
        }
        if is_end {
            place = String::new();
            if std::mem::replace(&mut has_wrapped, true) {
                break;
            }
        } else if look >= LOOKS {
            taken.is_due_at(claim.now_us.saturating_add(PAUSE_US));
            break;
        }
    }
    heads.go_on(quota.endpoint, part, place);
    Ok(has_more)
}

/// Claims what is due of a queue, with order or without.
pub(crate) async fn claim_of_any(
    on: On<'_>,
    quota: &Quota,
    claim: Claim,
    heads: &Heads,
) -> Result<Taken> {
    if quota.lane == Lane::Ordered {
        return self::claim(on, quota, claim, heads).await;
    }
    let claimed = super::claim::claim(on, &[*quota], claim).await?;
    let has_more = claimed.len() >= quota.count;
    Ok(Taken { claimed, has_more, ..Taken::default() })
}

/// The heads of the next entities of a part behind `place`.
async fn look_along(on: On<'_>, quota: &Quota, part: Part, place: &str) -> Result<Vec<Head>> {
    let endpoint = quota.endpoint;
    let (unhandled, handled_to) = first_unhandled(HANDLER, OrganisationId(quota.organisation));
    let backend = on.database().backend();
    let own = part.waiting(backend);
    // Each part has an index of its own; the head is in either.
    let first = |part: Part| {
        format!(
            "SELECT * FROM (SELECT d.id, d.order_event {} AND d.order_key = entities.order_key \
             ORDER BY d.order_event, d.id LIMIT 1)",
            part.waiting(backend)
        )
    };
    let sql = format!(
        "WITH RECURSIVE entities (order_key, number) AS (\
         SELECT (SELECT d.order_key {own} AND d.order_key > ? ORDER BY d.order_key LIMIT 1), 1 \
         UNION ALL SELECT (SELECT d.order_key {own} AND d.order_key > entities.order_key \
         ORDER BY d.order_key LIMIT 1), entities.number + 1 FROM entities \
         WHERE entities.order_key IS NOT NULL AND entities.number < {HEADS_AT_ONCE}) \
         SELECT entities.order_key, head.id, head.due_us, head.claimed_until_us, \
         CASE WHEN {unhandled} < head.order_event THEN 1 ELSE 0 END FROM entities \
         JOIN webhooks_deliveries head ON head.id = (SELECT id FROM (\
         {} AS of_new UNION ALL {} AS of_recovered) AS firsts ORDER BY order_event, id LIMIT 1) \
         WHERE entities.order_key IS NOT NULL ORDER BY entities.number",
        first(Part::New),
        first(Part::Recovered),
    );
    let before = [endpoint.into(), place.into(), endpoint.into()];
    let behind = [endpoint.into(), endpoint.into()];
    let values = before.into_iter().chain(handled_to).chain(behind);
    let rows = on.rows(on.database().statement(&sql, values)).await?;
    read_all(&rows, |row| {
        Ok(Head {
            entity: row.try_get_by_index(0)?,
            delivery: row.try_get_by_index(1)?,
            due_us: row.try_get_by_index(2)?,
            claimed_until_us: row.try_get_by_index(3)?,
            must_wait: row.try_get_by_index::<i32>(4)? == 1,
        })
    })
}

/// Claims deliveries, unless somebody else was quicker.
async fn take(on: On<'_>, due: &[Uuid], claim: Claim) -> Result<Vec<Claimed>> {
    let backend = on.database().backend();
    let sql = format!(
        "UPDATE webhooks_deliveries SET claim = ?, claimed_until_us = ? WHERE id IN (\
         SELECT d.id FROM webhooks_deliveries d WHERE {} AND d.status < 2 AND d.due_us <= ? \
         AND (d.claimed_until_us IS NULL OR d.claimed_until_us <= ?){}) RETURNING {CLAIMED}",
        is_one_of(backend, "d.id"),
        backend.locking(" FOR UPDATE OF d SKIP LOCKED"),
    );
    let values: [Value; 5] = [
        claim.token.into(),
        claim.until_us.into(),
        ids(due.iter().copied()),
        claim.now_us.into(),
        claim.now_us.into(),
    ];
    let rows = on.rows(on.database().statement(&sql, values)).await?;
    read_claimed(&rows, claim)
}
