//! Organisations.

use std::sync::Arc;

use sea_orm::{ActiveValue::Set, IntoActiveModel as _};
use svc_core::{Error, OrganisationId, Principal, PrincipalKind, Result};
use svc_data::{Context, UnitOfWork};

use crate::model::organisation;
use crate::permissions::MANAGE;
use crate::{roles, text};

/// Makes an organisation with its Administrator role, and without people. Only the system may: the
/// set-up, the application's own code, tests.
///
/// # Errors
///
/// [`ErrorKind::Forbidden`](svc_core::ErrorKind::Forbidden) for anybody else;
/// [`ErrorKind::Invalid`](svc_core::ErrorKind::Invalid) for a bad name.
pub async fn create(ctx: &Context, name: &str) -> Result<OrganisationId> {
    if ctx.principal().kind() != PrincipalKind::System {
        return Err(Error::forbidden("only the application itself makes organisations"));
    }
    let name = text::name("name", name)?;
    ctx.transact(async |uow| {
        let record = organisation::ActiveModel { name: Set(name), ..Default::default() };
        let id = OrganisationId(uow.insert(record).await?.id);
        roles::create_administrator(&within(ctx, id)).await?;
        uow.after_commit(move || {
            tracing::info!(organisation.id = %id, "an organisation was made");
        });
        Ok(id)
    })
    .await
}

/// The organisation that is acted in.
///
/// # Errors
///
/// A fault of the store.
pub(crate) async fn current(ctx: &Context) -> Result<organisation::Model> {
    ctx.find::<organisation::Entity>(ctx.organisation()?.0).await
}

/// Renames the organisation that is acted in.
///
/// # Errors
///
/// [`ErrorKind::Forbidden`](svc_core::ErrorKind::Forbidden) without `Identity.Manage`;
/// [`ErrorKind::Invalid`](svc_core::ErrorKind::Invalid) for a bad name.
pub async fn rename(ctx: &Context, name: &str) -> Result<()> {
    ctx.require(MANAGE)?;
    let name = text::name("name", name)?;
    ctx.transact(async |uow| {
        let mut record = lock(&uow).await?.into_active_model();
        record.name = Set(name);
        let record = uow.update(record).await?;
        let (id, actor) = (record.id, actor(ctx));
        uow.after_commit(move || {
            tracing::info!(organisation.id = %id, actor.id = actor, "an organisation was renamed");
        });
        Ok(())
    })
    .await
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
