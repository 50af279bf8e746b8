//! Members whom an issuer that somebody else runs describes.

use std::collections::BTreeSet;

use sea_orm::{ActiveValue::Set, IntoActiveModel as _};
use svc_core::{Result, UserId};
use svc_data::{Context, UnitOfWork};
use svc_database::column;
use uuid::Uuid;

use super::changing::{Changing, replace_roles};
use super::rows::{find_membership, find_user, insert_membership, role_rows};
use crate::acting::lock;
use crate::audit::{self, RightsChange};
use crate::email::Email;
use crate::ids::RoleId;
use crate::model::membership;

/// Whoever has an address for certain, or was invited by it to the organisation that is acted in: then it
/// is confirmed from now on.
pub(crate) async fn by_trusted_address(uow: &UnitOfWork, email: &Email) -> Result<Option<UserId>> {
    let database = uow.context().database();
    let sql = "SELECT id FROM identity_users WHERE email_key = ? AND confirmed_at IS NOT NULL";
    let rows = uow.rows(database.statement(sql, [email.key().into()])).await?;
    if let Some(row) = rows.first() {
        return Ok(Some(UserId(column(row, 0)?)));
    }
    let statement = database.statement(
        "SELECT u.id FROM identity_users u JOIN identity_memberships m ON m.user_id = u.id \
         WHERE u.email_key = ? AND m.organisation_id = ? AND u.disabled_at IS NULL \
         AND NOT EXISTS (SELECT 1 FROM identity_external_accounts a WHERE a.user_id = u.id)",
        [email.key().into(), uow.context().organisation()?.0.into()],
    );
    let rows = uow.rows(statement).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    let invited: Uuid = column(row, 0)?;
    let mut record = find_user(uow.context(), UserId(invited)).await?.into_active_model();
    record.confirmed_at = Set(Some(uow.context().clock().now()));
    uow.update(record).await?;
    Ok(Some(UserId(invited)))
}

/// Whether somebody has an account at another issuer.
pub(crate) async fn signs_in_elsewhere(uow: &UnitOfWork, id: UserId) -> Result<bool> {
    let sql = "SELECT 1 FROM identity_external_accounts WHERE user_id = ? LIMIT 1";
    Ok(!uow.rows(uow.context().database().statement(sql, [id.0.into()])).await?.is_empty())
}

/// Makes somebody a member of the organisation that is acted in, where it isn't one.
pub(crate) async fn take_in(ctx: &Context, id: UserId) -> Result<()> {
    if is_member(ctx, id).await? {
        return Ok(());
    }
    ctx.transact(async |uow| {
        lock(&uow).await?;
        if is_member(uow.context(), id).await? {
            return Ok(());
        }
        insert_membership(&uow, id).await?;
        audit::person_changed(&uow, id, RightsChange::Added)
    })
    .await
}

async fn is_member(ctx: &Context, id: UserId) -> Result<bool> {
    let query = ctx.query::<membership::Entity>().filter(membership::COLUMN.user_id.eq(id.0));
    Ok(query.one().await?.is_some())
}

/// Gives a member these roles and no others, where it hasn't them.
///
/// # Errors
///
/// [`LAST_ADMINISTRATOR`](crate::errors::LAST_ADMINISTRATOR) where that would take the last one away.
pub(crate) async fn set_roles(ctx: &Context, id: UserId, wanted: BTreeSet<RoleId>) -> Result<()> {
    let membership = find_membership(ctx, id).await?.id;
    let held = role_rows(ctx, &[membership]).await?;
    let held: BTreeSet<RoleId> = held.iter().map(|row| RoleId(row.role_id)).collect();
    if held == wanted {
        return Ok(());
    }
    ctx.transact(async |uow| {
        let changing = Changing::begin(&uow, id).await?;
        replace_roles(&uow, changing.membership, &wanted).await?;
        changing.keep_an_administrator().await?;
        audit::person_changed(&uow, id, RightsChange::Changed)
    })
    .await
}
