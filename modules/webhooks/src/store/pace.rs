//! The paces of endpoints ([`crate::pace`]): when the next request of each may begin is stored.
//!
//! Whoever claims locks the row, so a pace holds over all nodes. Those of organisations stand in
//! [`super::allowances`].

use svc_core::{App, Result};
use svc_data::{Context, UnitOfWork};
use svc_database::Backend;

use super::claim::{self, Claim, On, Quota};
use super::ordered::{self, Heads, Taken};
use super::read_all;
use crate::model::Lane;
use crate::pace::Pace;

/// Claims as many as the endpoint's pace allows.
pub(crate) async fn claim(app: &App, quota: &Quota, claim: Claim, heads: &Heads) -> Result<Taken> {
    let context = Context::system(app)?;
    context.transact_retrying(|uow| async move { claim_in(&uow, quota, claim, heads).await }).await
}

/// The same within a unit of work.
pub(crate) async fn claim_in(
    uow: &UnitOfWork,
    quota: &Quota,
    claim: Claim,
    heads: &Heads,
) -> Result<Taken> {
    let Some(pace) = quota.max_per_second.and_then(Pace::new) else { return Ok(Taken::default()) };
    let next_us = lock(uow, quota).await?;
    let count = pace.allowed(next_us, claim.now_us).min(quota.count);
    if count == 0 {
        return Ok(Taken { next_us: Some(pace.ready_us(next_us)), ..Taken::default() });
    }
    let allowed = Quota { count, ..*quota };
    let mut taken = match quota.lane {
        Lane::Ordered => ordered::claim(On::Work(uow), &allowed, claim, heads).await?,
        Lane::Ordinary | Lane::Test | Lane::Replay => {
            let claimed = claim::claim(On::Work(uow), &[allowed], claim).await?;
            let has_more = claimed.len() >= count;
            Taken { claimed, next_us: None, has_more }
        }
    };
    let next_us = pace.after(next_us, claim.now_us, taken.claimed.len());
    let database = uow.context().database();
    let sql = "UPDATE webhooks_paces SET next_us = ? WHERE endpoint_id = ?";
    uow.execute(database.statement(sql, [next_us.into(), quota.endpoint.into()])).await?;
    if taken.has_more {
        let ready = pace.ready_us(next_us);
        taken.next_us = Some(taken.next_us.map_or(ready, |us| us.min(ready)));
    }
    Ok(taken)
}

/// Locks the endpoint's pace until the unit of work ends, and reads it.
async fn lock(uow: &UnitOfWork, quota: &Quota) -> Result<i64> {
    let database = uow.context().database();
    let sql = "INSERT INTO webhooks_paces (endpoint_id, next_us) VALUES (?, 0) \
               ON CONFLICT (endpoint_id) DO NOTHING";
    uow.execute(database.statement(sql, [quota.endpoint.into()])).await?;
    let sql = match database.backend() {
        Backend::Postgres => "SELECT next_us FROM webhooks_paces WHERE endpoint_id = ? FOR UPDATE",
        Backend::Sqlite => "SELECT next_us FROM webhooks_paces WHERE endpoint_id = ?",
    };
    let rows = uow.rows(database.statement(sql, [quota.endpoint.into()])).await?;
    let rows = read_all(&rows, |row| row.try_get_by_index(0))?;
    Ok(rows.first().copied().unwrap_or_default())
}
