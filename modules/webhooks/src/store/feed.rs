//! Deliveries that their receiver fetches.
//!
//! What is fetched is claimed, as what is sent is: others who fetch get other deliveries meanwhile, and it
//! comes again when the claim ends and nobody has said that it arrived.

use sea_orm::Value;
use svc_core::Result;
use svc_data::UnitOfWork;
use uuid::Uuid;

use super::claim::{Claim, Claimed, On, Quota};
use super::ordered::{self, Heads};
use super::{cancel, ids, is_one_of};
use crate::model::{Lane, Status};

/// Claims the next deliveries of an endpoint, at most so many; of one that is switched off its test events.
pub(crate) async fn claim_next(
    uow: &UnitOfWork,
    endpoint: &Quota,
    is_active: bool,
    claim: Claim,
) -> Result<Vec<Claimed>> {
    let mut claimed: Vec<Claimed> = Vec::new();
    loop {
        let before = claimed.len();
        claim_more(uow, endpoint, is_active, claim, &mut claimed).await?;
        let cancelled = cancel::claimed(uow, &claimed[before..]).await?;
        claimed.retain(|one| !cancelled.contains(&one.id));
        if cancelled.is_empty() {
            return Ok(claimed);
        }
    }
}

/// Claims as many as are missing.
async fn claim_more(
    uow: &UnitOfWork,
    endpoint: &Quota,
    is_active: bool,
    claim: Claim,
    claimed: &mut Vec<Claimed>,
) -> Result<()> {
    for lane in [Lane::Test, Lane::Ordinary, Lane::Ordered, Lane::Replay] {
        let quota = Quota { lane, count: endpoint.count - claimed.len(), ..*endpoint };
        if quota.count == 0 || !is_active && lane != Lane::Test {
            continue;
        }
        let on = On::Work(uow);
        let taken = ordered::claim_of_any(on, &quota, claim, &Heads::default()).await?;
        claimed.extend(taken.claimed);
    }
    Ok(())
}

/// Notes that deliveries arrived that were fetched under a claim; those that others fetched since are theirs.
pub(crate) async fn arrived(
    uow: &UnitOfWork,
    endpoint: Uuid,
    token: Uuid,
    deliveries: &[Uuid],
) -> Result<u64> {
    let database = uow.context().database();
    let now_us = uow.context().clock().now_us();
    let sql = format!(
        "UPDATE webhooks_deliveries SET status = {}, attempts = attempts + 1, claim = NULL, \
         claimed_until_us = NULL, error = NULL, attempted_us = ?, finished_at_us = ? \
         WHERE endpoint_id = ? AND claim = ? AND status < 2 AND {}",
        Status::Delivered.code(),
        is_one_of(database.backend(), "id")
    );
    let values: [Value; 5] = [
        now_us.into(),
        now_us.into(),
        endpoint.into(),
        token.into(),
        ids(deliveries.iter().copied()),
    ];
    uow.execute(database.statement(&sql, values)).await
}
