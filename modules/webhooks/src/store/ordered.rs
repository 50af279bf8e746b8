//! Claims from endpoints that want order.
//!
//! The head of an entity is the earliest of its events that waits or is being sent; only heads are
//! sent. Claiming steps from entity to entity in the index and looks at each head, so its cost
//! depends on how many entities wait, and not on how many events wait for one of them.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use sea_orm::Value;
use svc_core::Result;
use svc_data::Backend;
use uuid::Uuid;

use super::claim::{CLAIMED, Claim, Claimed, On, Quota, read_claimed};
use super::{ids, is_one_of, read_all};

/// Entities that one statement steps along.
const HEADS_AT_ONCE: usize = 256;

/// The most statements of a look; the next one goes on behind them.
const LOOKS: usize = 16;

/// When to go on where many entities wait whose heads are not due.
const PAUSE_US: i64 = 1_000_000;

/// Where the next look at an endpoint goes on: behind this entity.
#[derive(Default)]
pub(crate) struct Heads(Mutex<HashMap<Uuid, String>>);

impl Heads {
    fn place(&self, endpoint: Uuid) -> String {
        let places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        places.get(&endpoint).cloned().unwrap_or_default()
    }

    fn go_on(&self, endpoint: Uuid, place: String) {
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if place.is_empty() {
            places.remove(&endpoint);
        } else {
            places.insert(endpoint, place);
        }
    }
}

/// What was claimed from an endpoint.
#[derive(Default)]
pub(crate) struct Taken {
    pub(crate) claimed: Vec<Claimed>,
    /// When to look again for what is not due yet.
    pub(crate) next_us: Option<i64>,
    /// Whether more may be due.
    pub(crate) has_more: bool,
}

/// The first event of an entity.
struct Head {
    entity: String,
    delivery: Uuid,
    due_us: i64,
    claimed_until_us: Option<i64>,
}

/// Claims heads that are due.
pub(crate) async fn claim(on: On<'_>, quota: &Quota, claim: Claim, heads: &Heads) -> Result<Taken> {
    let mut taken = Taken::default();
    let mut place = heads.place(quota.endpoint);
    let mut has_wrapped = place.is_empty();
    for look in 0.. {
        let found = look_along(on, quota.endpoint, &place).await?;
        let is_end = found.len() < HEADS_AT_ONCE;
        let mut due = Vec::new();
        for head in found {
            let is_free = head.claimed_until_us.is_none_or(|until| until <= claim.now_us);
            if is_free && head.due_us <= claim.now_us {
                if taken.claimed.len() + due.len() >= quota.count {
                    taken.has_more = true;
                    break;
                }
                due.push(head.delivery);
            } else if is_free {
                taken.next_us = Some(taken.next_us.map_or(head.due_us, |us| us.min(head.due_us)));
            }
            place = head.entity;
        }
        if !due.is_empty() {
            taken.claimed.extend(take(on, &due, claim).await?);
        }
        if taken.has_more {
            break;
        }
        if is_end {
            place = String::new();
            if std::mem::replace(&mut has_wrapped, true) {
                break;
            }
        } else if look >= LOOKS {
            let soon = claim.now_us.saturating_add(PAUSE_US);
            taken.next_us = Some(taken.next_us.map_or(soon, |us| us.min(soon)));
            break;
        }
    }
    heads.go_on(quota.endpoint, place);
    Ok(taken)
}

/// The heads of the next entities behind `place`.
async fn look_along(on: On<'_>, endpoint: Uuid, place: &str) -> Result<Vec<Head>> {
    const WAITING: &str = "FROM webhooks_deliveries d WHERE d.status < 2 \
        AND d.order_key IS NOT NULL AND d.endpoint_id = ?";
    let sql = format!(
        "WITH RECURSIVE entities (order_key, number) AS (\
         SELECT (SELECT d.order_key {WAITING} AND d.order_key > ? ORDER BY d.order_key LIMIT 1), 1 \
         UNION ALL SELECT (SELECT d.order_key {WAITING} AND d.order_key > entities.order_key \
         ORDER BY d.order_key LIMIT 1), entities.number + 1 FROM entities \
         WHERE entities.order_key IS NOT NULL AND entities.number < {HEADS_AT_ONCE}) \
         SELECT entities.order_key, head.id, head.due_us, head.claimed_until_us FROM entities \
         JOIN webhooks_deliveries head ON head.id = (SELECT d.id {WAITING} \
         AND d.order_key = entities.order_key ORDER BY d.order_event, d.id LIMIT 1) \
         WHERE entities.order_key IS NOT NULL ORDER BY entities.number"
    );
    let values: [Value; 4] = [endpoint.into(), place.into(), endpoint.into(), endpoint.into()];
    let rows = on.rows(on.database().statement(&sql, values)).await?;
    read_all(&rows, |row| {
        Ok(Head {
            entity: row.try_get_by_index(0)?,
            delivery: row.try_get_by_index(1)?,
            due_us: row.try_get_by_index(2)?,
            claimed_until_us: row.try_get_by_index(3)?,
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
        match backend {
            Backend::Postgres => " FOR UPDATE OF d SKIP LOCKED",
            Backend::Sqlite => "",
        }
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
