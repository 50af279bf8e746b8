//! Where something is done, and by whom: the organisation that is acted in, who acts, and with which key.

use std::sync::Arc;

use svc_core::{Error, OrganisationId, Principal, Result};
use svc_data::{Context, UnitOfWork};

use crate::errors;
use crate::model::{api_key, organisation};

/// The organisation that is acted in.
///
/// # Errors
///
/// A fault of the store.
pub(crate) async fn current(ctx: &Context) -> Result<organisation::Model> {
    ctx.find::<organisation::Entity>(ctx.organisation()?.0).await
}

/// Locks the organisation until the unit of work ends, so that two changes of its people or roles
/// follow one another: each of them then sees whether the other took an administrator away.
pub(crate) async fn lock(uow: &UnitOfWork) -> Result<organisation::Model> {
    let id = uow.context().organisation()?;
    let query = uow.query::<organisation::Entity>().filter(organisation::COLUMN.id.eq(id.0));
    let missing = || Error::not_found("there is no such organisation");
    query.for_update().one().await?.ok_or_else(missing)
}

/// The system within an organisation, in the same request.
pub(crate) fn within(ctx: &Context, organisation: OrganisationId) -> Context {
    ctx.acting_as(Arc::new(Principal::system_in(organisation)))
}

/// The key that the caller called with, where it was one.
///
/// # Errors
///
/// [`ErrorKind::Unauthenticated`](svc_core::ErrorKind::Unauthenticated) for a key that is gone meanwhile.
pub(crate) async fn own_key(ctx: &Context) -> Result<Option<api_key::Model>> {
    let Some(id) = ctx.principal().means().api_key() else { return Ok(None) };
    let gone = || Error::unauthenticated("the API key is gone");
    ctx.get::<api_key::Entity>(id).await?.ok_or_else(gone).map(Some)
}

/// Insists that the caller's way in has no end of its own. A key that ends gives nobody what has none: people
/// and their invitations, roles and claims, clients. Whoever had it could go on by them.
///
/// # Errors
///
/// [`KEY_ENDS`](errors::KEY_ENDS) for a key with an end.
pub(crate) async fn require_without_end(ctx: &Context) -> Result<()> {
    match own_key(ctx).await? {
        Some(key) if key.expires_at.is_some() => Err(errors::KEY_ENDS.error(
            "the API key ends, and what it would give here doesn't; sign in, or use a key without an \
             end",
        )),
        _ => Ok(()),
    }
}

/// Who acts, for the log: the id of a person, or `system`.
pub(crate) fn actor(ctx: &Context) -> String {
    ctx.principal().user_id().map_or_else(|| "system".to_owned(), |user| user.to_string())
}
