//! Organisations.

use sea_orm::{ActiveValue::Set, IntoActiveModel as _};
use svc_core::{Error, OrganisationId, PrincipalKind, Result};
use svc_data::Context;

use crate::acting::{actor, lock, within};
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
