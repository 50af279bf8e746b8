//! Whether an endpoint's owner may still receive anything.
//!
//! What an owner may see is judged when an event is fanned out, and the bytes made then are those
//! that are sent, also again. What is judged anew before something is sent *again* is whether the
//! owner is still there: one who is disabled, or has left the organisation, receives nothing.

use std::collections::HashMap;

use svc_core::{Directory, OrganisationId, Result, UserId};
use svc_data::UnitOfWork;
use uuid::Uuid;

use crate::errors;
use crate::store::read_all;

/// Refuses to send again to an endpoint whose owner is gone.
pub(super) async fn require(uow: &UnitOfWork, owner: Uuid) -> Result<()> {
    let organisation = uow.context().organisation()?;
    if is_here(uow, UserId(owner), organisation).await? {
        return Ok(());
    }
    Err(errors::OWNER_GONE.error(
        "the owner of the endpoint is disabled or has left the organisation; save the endpoint to \
         become its owner",
    ))
}

/// The endpoints of an organisation whose owners are gone.
pub(super) async fn abandoned(uow: &UnitOfWork, organisation: OrganisationId) -> Result<Vec<Uuid>> {
    let sql = "SELECT id, owner_id FROM webhooks_endpoints WHERE organisation_id = ?";
    let statement = uow.context().database().statement(sql, [organisation.0.into()]);
    let rows = uow.rows(statement).await?;
    let endpoints = read_all(&rows, |row| {
        Ok((row.try_get_by_index::<Uuid>(0)?, row.try_get_by_index::<Uuid>(1)?))
    })?;
    let mut owners: HashMap<Uuid, bool> = HashMap::new();
    let mut abandoned = Vec::new();
    for (endpoint, owner) in endpoints {
        let known = owners.get(&owner).copied();
        let is_here = match known {
            Some(known) => known,
            None => is_here(uow, UserId(owner), organisation).await?,
        };
        owners.insert(owner, is_here);
        if !is_here {
            abandoned.push(endpoint);
        }
    }
    Ok(abandoned)
}

async fn is_here(uow: &UnitOfWork, owner: UserId, organisation: OrganisationId) -> Result<bool> {
    let directory = uow.context().app().service::<dyn Directory>()?;
    Ok(directory.principal(owner, organisation).await?.is_some())
}
