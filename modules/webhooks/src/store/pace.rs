//! The paces of endpoints ([`crate::pace`]): when the next request of each may begin is stored.
//!
//! Whoever claims locks the row, so a pace holds over all nodes. Those of organisations stand in
//! [`super::allowances`].

use svc_core::{App, Result};
use svc_data::{Context, UnitOfWork};
use svc_database::column;

use super::claim::{Claim, On, Quota};
use super::ordered::{self, Heads, Taken};
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
    let mut taken = ordered::claim_of_any(On::Work(uow), &allowed, claim, heads).await?;
    let next_us = pace.after(next_us, claim.now_us, taken.claimed.len());
    let database = uow.context().database();
    let sql = "UPDATE webhooks_paces SET next_us = ? WHERE endpoint_id = ?";
    uow.execute(database.statement(sql, [next_us.into(), quota.endpoint.into()])).await?;
    if taken.has_more || taken.has_recovered {
        taken.is_due_at(pace.ready_us(next_us));
    }
    Ok(taken)
}

/// Locks the endpoint's pace until the unit of work ends, and reads it.
async fn lock(uow: &UnitOfWork, quota: &Quota) -> Result<i64> {
    let database = uow.context().database();
    let sql = "INSERT INTO webhooks_paces (endpoint_id, next_us) VALUES (?, 0) \
               ON CONFLICT (endpoint_id) DO NOTHING";
    uow.execute(database.statement(sql, [quota.endpoint.into()])).await?;
    let lock = database.backend().locking(" FOR UPDATE");
    let sql = format!("SELECT next_us FROM webhooks_paces WHERE endpoint_id = ?{lock}");
    let rows = uow.rows(database.statement(&sql, [quota.endpoint.into()])).await?;
    rows.first().map_or(Ok(0), |row| column(row, 0))
}
