//! Where something is done, and by whom: the organisation that is acted in, and who acts.

use std::sync::Arc;

use svc_core::{Error, OrganisationId, Principal, Result};
use svc_data::{Context, UnitOfWork};

use crate::model::organisation;

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

/// Who acts, for the log: the id of a person, or `system`.
pub(crate) fn actor(ctx: &Context) -> String {
    ctx.principal().user_id().map_or_else(|| "system".to_owned(), |user| user.to_string())
}
