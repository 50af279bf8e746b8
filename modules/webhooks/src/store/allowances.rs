//! What organisations that have limits used of them.
//!
//! | Who | Does what | A crash right after leaves |
//! | --- | --- | --- |
//! | a claim for endpoints of an organisation | locks its row, claims as many as may begin, counts them | the claims, counted |
//! | a recording of attempts | locks it, counts the bytes that were sent | before the commit: attempts that are made again, and count then |
//! | whoever registers an endpoint | locks it, and counts the endpoints | nothing, or the endpoint |
//!
//! Rows are locked in the order of their organisations, before those of endpoints' paces and queues.

use std::collections::{BTreeMap, HashMap};

use sea_orm::{QueryResult, Value};
use svc_core::{App, OrganisationId, Result};
use svc_data::{Context, UnitOfWork};
use svc_database::Database;
use svc_events::Publish as _;
use uuid::Uuid;

use super::claim::{self, Claim, Claimed, On, Quota};
use super::ordered::{self, Heads, Taken};
use super::{ids, is_one_of, pace, read_all};
use crate::allowance::{Allowance, Limit, share};
use crate::events::WebhookLimitReached;
use crate::limits::Limits;
use crate::model::Lane;
use crate::permissions::MANAGE;

const COLUMNS: &str =
    "organisation_id, next_us, at_endpoint, minute, begun, bytes, bytes_us, reached";

fn read(rows: &[QueryResult]) -> Result<HashMap<Uuid, Allowance>> {
    let read = read_all(rows, |row| {
        let reached: Option<String> = row.try_get_by_index(7)?;
        let reached = reached.and_then(|json| serde_json::from_str(&json).ok());
        let allowance = Allowance {
            next_us: row.try_get_by_index(1)?,
            at_endpoint: row.try_get_by_index(2)?,
            minute: row.try_get_by_index(3)?,
            begun: row.try_get_by_index(4)?,
            bytes: row.try_get_by_index(5)?,
            bytes_us: row.try_get_by_index(6)?,
            reached: reached.unwrap_or_default(),
        };
        Ok((row.try_get_by_index(0)?, allowance))
    })?;
    Ok(read.into_iter().collect())
}

/// What organisations used; one that used nothing is left out.
pub(crate) async fn of(
    database: &Database,
    organisations: impl IntoIterator<Item = Uuid>,
) -> Result<HashMap<Uuid, Allowance>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM webhooks_allowances WHERE {}",
        is_one_of(database.backend(), "organisation_id")
    );
    read(&database.rows(database.statement(&sql, [ids(organisations)])).await?)
}

/// Locks what an organisation used until the unit of work ends, and reads it.
pub(crate) async fn lock(uow: &UnitOfWork, organisation: Uuid) -> Result<Allowance> {
    let database = uow.context().database();
    let sql = "INSERT INTO webhooks_allowances \
               (organisation_id, next_us, at_endpoint, minute, begun, bytes, bytes_us) \
               VALUES (?, 0, ?, 0, 0, 0, 0) ON CONFLICT (organisation_id) DO NOTHING";
    uow.execute(database.statement(sql, [organisation.into(), Uuid::nil().into()])).await?;
    let lock = database.backend().locking(" FOR UPDATE");
    let sql = format!("SELECT {COLUMNS} FROM webhooks_allowances WHERE organisation_id = ?{lock}");
    let rows = uow.rows(database.statement(&sql, [organisation.into()])).await?;
    Ok(read(&rows)?.remove(&organisation).unwrap_or_default())
}

/// Stores what an organisation used, and raises what is to be told of a limit.
pub(crate) async fn save(
    uow: &UnitOfWork,
    organisation: Uuid,
    used: &Allowance,
    told: Option<WebhookLimitReached>,
) -> Result<()> {
    let database = uow.context().database();
    let sql = "UPDATE webhooks_allowances SET next_us = ?, at_endpoint = ?, minute = ?, begun = ?, \
               bytes = ?, bytes_us = ?, reached = ? WHERE organisation_id = ?";
    let values: [Value; 8] = [
        used.next_us.into(),
        used.at_endpoint.into(),
        used.minute.into(),
        used.begun.into(),
        used.bytes.into(),
        used.bytes_us.into(),
        serde_json::to_string(&used.reached).ok().into(),
        organisation.into(),
    ];
    uow.execute(database.statement(sql, values)).await?;
    let Some(event) = told else { return Ok(()) };
    let context = Context::system_in(uow.context().app(), OrganisationId(organisation))?;
    context.transact(async move |uow| uow.raise_domain(event)).await
}

/// What is told of a limit that is near, or reached.
pub(crate) fn told(limit: Limit, percent: Option<i64>, most: i64) -> Option<WebhookLimitReached> {
    let limit = limit.as_str();
    percent.map(|percent| WebhookLimitReached { limit, percent, most, permission: MANAGE })
}

/// What was claimed for endpoints of an organisation.
#[derive(Default)]
pub(crate) struct Shared {
    /// By quota, with what it was allowed.
    pub(crate) taken: Vec<(Quota, Taken)>,
    /// When it is the turn of endpoints of which nothing more may begin now.
    pub(crate) held: BTreeMap<Uuid, i64>,
}

/// Claims as many as the limits of an organisation allow, and the paces of its endpoints.
pub(crate) async fn claim(
    app: &App,
    (organisation, limits): (Uuid, &Limits),
    quotas: &[Quota],
    claim: Claim,
    heads: &Heads,
) -> Result<Shared> {
    let context = Context::system_in(app, OrganisationId(organisation))?;
    context
        .transact_retrying(|uow| async move {
            let mut used = lock(&uow, organisation).await?;
            let allowed = used.allowed(limits, claim.now_us);
            let quotas = in_turn(quotas, used.at_endpoint);
            let has_waited = quotas.iter().any(|quota| quota.first_us < used.next_us);
            let granted = grant(&quotas, allowed);
            let taken = take(&uow, granted, claim, heads).await?;
            let last = taken.iter().rev().find(|(_, taken)| !taken.claimed.is_empty());
            if let Some((quota, _)) = last {
                used.at_endpoint = quota.endpoint;
            }
            let count = taken.iter().map(|(_, taken)| taken.claimed.len()).sum();
            let percent = used.begin(limits, claim.now_us, count, has_waited);
            let most = limits.per_second.unwrap_or_default();
            save(&uow, organisation, &used, told(Limit::PerSecond, percent, most.into())).await?;
            let mut held = BTreeMap::new();
            if count >= allowed {
                for quota in in_turn(&quotas, used.at_endpoint) {
                    let turn_us = used.turn_us(limits, claim.now_us, held.len());
                    held.entry(quota.endpoint).or_insert(turn_us);
                }
            }
            Ok(Shared { taken, held })
        })
        .await
}

/// Quotas in the order of their turns: what is new before what is sent again, and endpoints behind the
/// one that was last.
fn in_turn(quotas: &[Quota], last: Uuid) -> Vec<Quota> {
    let mut quotas = quotas.to_vec();
    quotas
        .sort_by_key(|quota| (quota.lane == Lane::Replay, quota.endpoint <= last, quota.endpoint));
    quotas
}

/// The quotas with what each may claim: what is sent again gets what the others leave.
fn grant(quotas: &[Quota], allowed: usize) -> Vec<Quota> {
    let new = quotas.partition_point(|quota| quota.lane != Lane::Replay);
    let mut left = allowed;
    let mut granted = Vec::with_capacity(quotas.len());
    for part in [&quotas[..new], &quotas[new..]] {
        let wanted: Vec<usize> = part.iter().map(|quota| quota.count).collect();
        for (quota, count) in part.iter().zip(share(left, &wanted)) {
            left -= count;
            granted.push(Quota { count, ..*quota });
        }
    }
    granted
}

async fn take(
    uow: &UnitOfWork,
    granted: Vec<Quota>,
    claim: Claim,
    heads: &Heads,
) -> Result<Vec<(Quota, Taken)>> {
    let is_plain = |quota: &Quota| quota.max_per_second.is_none() && quota.lane != Lane::Ordered;
    let plain: Vec<Quota> =
        granted.iter().filter(|quota| quota.count > 0 && is_plain(quota)).copied().collect();
    let mut claimed: HashMap<(Uuid, i16), Vec<Claimed>> = HashMap::new();
    for one in claim::claim(On::Work(uow), &plain, claim).await? {
        claimed.entry((one.endpoint, one.lane.code())).or_default().push(one);
    }
    let mut all = Vec::with_capacity(granted.len());
    for quota in granted {
        let taken = if quota.count == 0 {
            Taken::default()
        } else if quota.max_per_second.is_some() {
            pace::claim_in(uow, &quota, claim, heads).await?
        } else if quota.lane == Lane::Ordered {
            ordered::claim(On::Work(uow), &quota, claim, heads).await?
        } else {
            let claimed = claimed.remove(&(quota.endpoint, quota.lane.code())).unwrap_or_default();
            let has_more = claimed.len() >= quota.count;
            Taken { claimed, has_more, ..Taken::default() }
        };
        all.push((quota, taken));
    }
    Ok(all)
}

/// Counts bytes that were sent, by organisation, as far as these have limits; answers with those that may
/// send no more, and from when on they may again.
pub(crate) async fn count_bytes(
    uow: &UnitOfWork,
    counted: &BTreeMap<Uuid, (Limits, i64)>,
) -> Result<Vec<(Uuid, i64)>> {
    let now_us = uow.context().clock().now_us();
    let mut spent = Vec::new();
    for (organisation, (limits, bytes)) in counted {
        let mut used = lock(uow, *organisation).await?;
        let percent = used.send(limits, now_us, *bytes);
        let most = limits.bytes_per_day.unwrap_or_default();
        save(uow, *organisation, &used, told(Limit::BytesPerDay, percent, most)).await?;
        if used.allowed(&Limits { per_second: None, ..*limits }, now_us) == 0 {
            spent.push((*organisation, used.ready_us(limits)));
        }
    }
    Ok(spent)
}
