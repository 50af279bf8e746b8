//! The patterns that endpoints listed, a row for each.

use svc_core::Result;
use svc_data::UnitOfWork;
use uuid::Uuid;

use crate::subscription::EventPatterns;

/// Stores the patterns of an endpoint of the organisation that is called in.
pub(crate) async fn add(
    uow: &UnitOfWork,
    endpoint: Uuid,
    subscription: &EventPatterns,
) -> Result<()> {
    let organisation = uow.context().organisation()?.0;
    let patterns = subscription.patterns();
    let sql = format!(
        "INSERT INTO webhooks_subscriptions (pattern, organisation_id, endpoint_id) VALUES {}",
        vec!["(?, ?, ?)"; patterns.len()].join(", ")
    );
    let values = patterns
        .iter()
        .flat_map(|pattern| [pattern.as_str().into(), organisation.into(), endpoint.into()]);
    uow.execute(uow.context().database().statement(&sql, values)).await.map(drop)
}

/// Removes all patterns of an endpoint.
pub(crate) async fn remove(uow: &UnitOfWork, endpoint: Uuid) -> Result<()> {
    let sql = "DELETE FROM webhooks_subscriptions WHERE endpoint_id = ?";
    uow.execute(uow.context().database().statement(sql, [endpoint.into()])).await.map(drop)
}
