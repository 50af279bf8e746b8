//! Organisations.

use sea_orm::{ActiveValue::Set, IntoActiveModel as _};
use svc_core::{Error, OrganisationId, PrincipalKind, Result};
use svc_data::Context;
use svc_database::column;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::acting::{actor, lock, within};
use crate::model::organisation;
use crate::permissions::MANAGE;
use crate::{roles, text};

/// An organisation among others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Organisation {
    /// The organisation.
    pub id: OrganisationId,
    /// Its name.
    pub name: String,
    /// How many members it has, those of programs among them.
    pub members: i64,
    /// When it was made.
    pub created_at: OffsetDateTime,
}

/// The first organisations that were made after one, in the order in which they were. Only the system sees them
/// together: an organisation's administrators have nothing to do with another.
///
/// # Errors
///
/// [`ErrorKind::Forbidden`](svc_core::ErrorKind::Forbidden) for anybody else.
pub async fn list(
    ctx: &Context,
    after: Option<OrganisationId>,
    most: u32,
) -> Result<Vec<Organisation>> {
    if ctx.principal().kind() != PrincipalKind::System {
        return Err(Error::forbidden("only the application itself sees all organisations"));
    }
    // Ids carry the time at which they were made.
    let after = after.map_or(Uuid::nil(), |after| after.0);
    let database = ctx.database();
    let sql = format!(
        "SELECT o.id, o.name, o.created_at, \
         (SELECT COUNT(*) FROM identity_memberships m WHERE m.organisation_id = o.id) \
         FROM identity_organisations o WHERE o.id > ? ORDER BY o.id LIMIT {most}"
    );
    let rows = database.rows(database.statement(&sql, [after.into()])).await?;
    let read = |row| {
        Ok(Organisation {
            id: OrganisationId(column(row, 0)?),
            name: column(row, 1)?,
            created_at: column(row, 2)?,
            members: column(row, 3)?,
        })
    };
    rows.iter().map(read).collect()
}

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
