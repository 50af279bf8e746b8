//! Roles: named sets of permissions, within an organisation.
//!
//! Nobody puts a permission into a role that they don't hold themselves: who may manage roles could
//! otherwise make themselves an administrator.

use std::collections::{BTreeMap, BTreeSet};

use sea_orm::{ActiveValue::Set, IntoActiveModel as _};
use serde::{Deserialize, Serialize};
use svc_core::{Error, ErrorKind, Result};
use svc_data::{Context, UnitOfWork};
use svc_http::fields::present;
use time::OffsetDateTime;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::acting::{actor, lock, require_without_end};
use crate::audit::{self, RightsChange};
use crate::errors;
use crate::ids::RoleId;
use crate::model::{membership_role, role, role_permission};
use crate::permissions::{MANAGE, check_known, require_all};
use crate::service::IdentityService;
use crate::text;

/// The name of the role that holds every permission there is. It can't be changed or deleted.
pub const ADMINISTRATOR: &str = "Administrator";

/// A role.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = IdentityRole)]
#[serde(rename_all = "camelCase")]
pub struct Role {
    /// Its id.
    #[schema(value_type = Uuid)]
    pub id: RoleId,
    /// Its name, unique in the organisation without regard to case.
    pub name: String,
    /// What it is for; may be empty.
    pub description: String,
    /// Whether it holds every permission there is; then it can't be changed or deleted.
    pub is_administrator: bool,
    /// Its permissions, by name.
    pub permissions: BTreeSet<String>,
    /// When it was made.
    #[serde(with = "time::serde::rfc3339")]
    pub created_at: OffsetDateTime,
    /// When its name or description was last changed.
    #[serde(with = "time::serde::rfc3339")]
    pub updated_at: OffsetDateTime,
}

/// A role to make.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[schema(as = IdentityNewRole)]
#[serde(rename_all = "camelCase")]
pub struct NewRole {
    /// Its name, unique in the organisation without regard to case.
    #[schema(min_length = 1, max_length = 200)]
    pub name: String,
    /// What it is for.
    #[serde(default)]
    #[schema(max_length = 1000)]
    pub description: String,
    /// Its permissions; the caller must hold each of them.
    pub permissions: BTreeSet<String>,
}

/// What changes; a field that is left out stays as it is.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[schema(as = IdentityRoleChange)]
#[serde(rename_all = "camelCase")]
pub struct RoleChange {
    /// A new name.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false, min_length = 1, max_length = 200)]
    pub name: Option<String>,
    /// A new description.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false, max_length = 1000)]
    pub description: Option<String>,
    /// The permissions in place of those it has; the caller must hold each that is added.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false)]
    pub permissions: Option<BTreeSet<String>>,
}

/// Makes a role.
///
/// # Errors
///
/// [`ErrorKind::Forbidden`] without `Identity.Manage`, or for a permission that the caller doesn't
/// hold; [`ErrorKind::Invalid`] for a bad name or an unknown permission; [`ErrorKind::Conflict`]
/// for a name that is taken.
pub async fn create(ctx: &Context, new: NewRole) -> Result<RoleId> {
    ctx.require(MANAGE)?;
    let name = text::name("name", &new.name)?;
    let description = text::description("description", &new.description)?;
    check_known(&new.permissions, IdentityService::of(ctx)?.permissions())?;
    require_all(ctx.principal(), new.permissions.iter().map(String::as_str))?;
    ctx.transact(async |uow| {
        lock(&uow).await?;
        let id = insert(&uow, name, description, false).await?;
        add_permissions(&uow, id, new.permissions.iter()).await?;
        audit::role_changed(&uow, id.0, RightsChange::Added)?;
        let actor = actor(ctx);
        uow.after_commit(move || {
            tracing::info!(role.id = %id, actor.id = actor, "a role was made");
        });
        Ok(id)
    })
    .await
}

/// Makes the Administrator role of a new organisation.
pub(crate) async fn create_administrator(ctx: &Context) -> Result<RoleId> {
    let description = "Holds every permission there is.".to_owned();
    ctx.transact(async |uow| insert(&uow, ADMINISTRATOR.to_owned(), description, true).await).await
}

/// The Administrator role of the organisation that is acted in.
///
/// # Errors
///
/// A fault of the store.
pub async fn administrator(ctx: &Context) -> Result<RoleId> {
    let query = ctx.query::<role::Entity>().filter(role::COLUMN.is_administrator.eq(true));
    let role = query.one().await?;
    let missing = || Error::internal("the organisation has no Administrator role");
    role.map(|role| RoleId(role.id)).ok_or_else(missing)
}

/// Roles in the order in which they were made, at most `take` of those behind `after`.
///
/// # Errors
///
/// [`ErrorKind::Forbidden`] without `Identity.Manage`.
pub async fn list(ctx: &Context, after: Option<RoleId>, take: u64) -> Result<Vec<Role>> {
    ctx.require(MANAGE)?;
    let mut query = ctx.query::<role::Entity>().order_by(role::COLUMN.id).take(take);
    if let Some(after) = after {
        query = query.filter(role::COLUMN.id.gt(after.0));
    }
    with_permissions(ctx, query.all().await?).await
}

/// One role.
///
/// # Errors
///
/// [`ErrorKind::Forbidden`] without `Identity.Manage`; [`ErrorKind::NotFound`] when it is unknown
/// or of another organisation.
pub async fn get(ctx: &Context, id: RoleId) -> Result<Role> {
    ctx.require(MANAGE)?;
    let role = find(ctx, id).await?;
    let missing = || Error::internal("a role got lost");
    with_permissions(ctx, vec![role]).await?.pop().ok_or_else(missing)
}

/// Changes a role; those who hold it have its new permissions from then on.
///
/// # Errors
///
/// As [`create`]; [`ErrorKind::Forbidden`] for a further permission by a key that ends;
/// [`ErrorKind::NotFound`] when it is unknown or of another organisation;
/// [`ErrorKind::Conflict`] for the Administrator role.
pub async fn change(ctx: &Context, id: RoleId, change: RoleChange) -> Result<()> {
    ctx.require(MANAGE)?;
    let name = change.name.map(|name| text::name("name", &name)).transpose()?;
    let description = change.description.map(|text| text::description("description", &text));
    let description = description.transpose()?;
    if let Some(permissions) = &change.permissions {
        check_known(permissions, IdentityService::of(ctx)?.permissions())?;
    }
    ctx.transact(async |uow| {
        lock(&uow).await?;
        let record = changeable(&uow, id).await?;
        require_held(&uow, id).await?;
        let mut record = record.into_active_model();
        if let Some(name) = name {
            record.name_key = Set(name.to_lowercase());
            record.name = Set(name);
        }
        if let Some(description) = description {
            record.description = Set(description);
        }
        uow.update(record).await.map_err(name_taken)?;
        if let Some(permissions) = &change.permissions {
            replace_permissions(&uow, id, permissions).await?;
            audit::role_changed(&uow, id.0, RightsChange::Changed)?;
        }
        let actor = actor(ctx);
        uow.after_commit(move || {
            tracing::info!(role.id = %id, actor.id = actor, "a role was changed");
        });
        Ok(())
    })
    .await
}

/// Deletes a role that nobody holds.
///
/// # Errors
///
/// [`ErrorKind::Forbidden`] without `Identity.Manage`; [`ErrorKind::NotFound`] when it is unknown
/// or of another organisation; [`ErrorKind::Conflict`] for the Administrator role, and while
/// somebody holds it.
pub async fn delete(ctx: &Context, id: RoleId) -> Result<()> {
    ctx.require(MANAGE)?;
    ctx.transact(async |uow| {
        lock(&uow).await?;
        changeable(&uow, id).await?;
        require_held(&uow, id).await?;
        let held = uow.query::<membership_role::Entity>();
        match held.filter(membership_role::COLUMN.role_id.eq(id.0)).count().await? {
            0 => {}
            count => {
                let message = format!("{count} people hold this role; take it from them first");
                return Err(errors::ROLE_IN_USE.error(message).with("count", count));
            }
        }
        for row in permission_rows(uow.context(), &[id.0]).await? {
            uow.delete::<role_permission::Entity>(row.id).await?;
        }
        uow.delete::<role::Entity>(id.0).await?;
        audit::role_changed(&uow, id.0, RightsChange::Removed)?;
        let actor = actor(ctx);
        uow.after_commit(move || {
            tracing::info!(role.id = %id, actor.id = actor, "a role was deleted");
        });
        Ok(())
    })
    .await
}

/// The roles with these ids, with their permissions.
///
/// # Errors
///
/// [`ErrorKind::Invalid`] for the field `roles` when one is unknown or of another organisation.
pub(crate) async fn by_ids(ctx: &Context, ids: &BTreeSet<RoleId>) -> Result<Vec<Role>> {
    let wanted: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
    let roles = ctx.query::<role::Entity>().filter(role::COLUMN.id.is_in(wanted)).all().await?;
    let found: BTreeSet<Uuid> = roles.iter().map(|role| role.id).collect();
    if let Some(unknown) = ids.iter().find(|id| !found.contains(&id.0)) {
        return Err(Error::invalid("a role is not known")
            .field("roles", format!("`{unknown}` is not a role of this organisation")));
    }
    with_permissions(ctx, roles).await
}

/// The roles with these names, without regard to case; those that don't exist are left out.
pub(crate) async fn by_names(ctx: &Context, names: &BTreeSet<String>) -> Result<BTreeSet<RoleId>> {
    let keys: Vec<String> = names.iter().map(|name| name.to_lowercase()).collect();
    let found = ctx.query::<role::Entity>().filter(role::COLUMN.name_key.is_in(keys)).all().await?;
    Ok(found.into_iter().map(|role| RoleId(role.id)).collect())
}

async fn find(ctx: &Context, id: RoleId) -> Result<role::Model> {
    let missing = || Error::not_found("there is no such role");
    ctx.get::<role::Entity>(id.0).await?.ok_or_else(missing)
}

async fn changeable(uow: &UnitOfWork, id: RoleId) -> Result<role::Model> {
    let role = find(uow.context(), id).await?;
    if role.is_administrator {
        return Err(errors::ROLE_IS_FIXED.error(
            "the Administrator role always holds every permission; make another role instead",
        ));
    }
    Ok(role)
}

/// Insists that the caller holds all that a role does: whoever may less doesn't take rights from who may
/// more.
async fn require_held(uow: &UnitOfWork, id: RoleId) -> Result<()> {
    let service = IdentityService::of(uow.context())?;
    let rows = permission_rows(uow.context(), &[id.0]).await?;
    let held = rows.iter().map(|row| row.permission.as_str());
    // What no module declares any more gives nothing, and nobody can hold it.
    let held = held.filter(|name| service.permissions().contains(name));
    require_all(uow.context().principal(), held)
}

async fn insert(
    uow: &UnitOfWork,
    name: String,
    description: String,
    is_administrator: bool,
) -> Result<RoleId> {
    let record = role::ActiveModel {
        name_key: Set(name.to_lowercase()),
        name: Set(name),
        description: Set(description),
        is_administrator: Set(is_administrator),
        ..Default::default()
    };
    Ok(RoleId(uow.insert(record).await.map_err(name_taken)?.id))
}

fn name_taken(error: Error) -> Error {
    match error.kind() {
        ErrorKind::Conflict if !error.is_transient() => {
            errors::ROLE_NAME_TAKEN.error("another role has this name already").caused_by(error)
        }
        _ => error,
    }
}

async fn add_permissions(
    uow: &UnitOfWork,
    role: RoleId,
    names: impl Iterator<Item = &String>,
) -> Result<()> {
    let records = names.map(|name| role_permission::ActiveModel {
        role_id: Set(role.0),
        permission: Set(name.clone()),
        ..Default::default()
    });
    uow.insert_many(records.collect::<Vec<_>>()).await.map(drop)
}

async fn replace_permissions(
    uow: &UnitOfWork,
    role: RoleId,
    wanted: &BTreeSet<String>,
) -> Result<()> {
    let rows = permission_rows(uow.context(), &[role.0]).await?;
    let held: BTreeSet<String> = rows.iter().map(|row| row.permission.clone()).collect();
    let added: Vec<&String> = wanted.difference(&held).collect();
    require_all(uow.context().principal(), added.iter().map(|name| name.as_str()))?;
    if !added.is_empty() {
        require_without_end(uow.context()).await?;
    }
    for row in rows.iter().filter(|row| !wanted.contains(&row.permission)) {
        uow.delete::<role_permission::Entity>(row.id).await?;
    }
    add_permissions(uow, role, added.into_iter()).await
}

async fn permission_rows(ctx: &Context, roles: &[Uuid]) -> Result<Vec<role_permission::Model>> {
    let of_roles = role_permission::COLUMN.role_id.is_in(roles.to_vec());
    ctx.query::<role_permission::Entity>().filter(of_roles).all().await
}

async fn with_permissions(ctx: &Context, roles: Vec<role::Model>) -> Result<Vec<Role>> {
    let service = IdentityService::of(ctx)?;
    let ids: Vec<Uuid> = roles.iter().map(|role| role.id).collect();
    let mut granted: BTreeMap<Uuid, Vec<String>> = BTreeMap::new();
    for row in permission_rows(ctx, &ids).await? {
        granted.entry(row.role_id).or_default().push(row.permission);
    }
    let role = |role: role::Model| {
        let granted = granted.remove(&role.id).unwrap_or_default();
        let permissions = service.effective(role.is_administrator, granted);
        Role {
            id: RoleId(role.id),
            name: role.name,
            description: role.description,
            is_administrator: role.is_administrator,
            permissions: permissions.names().map(str::to_owned).collect(),
            created_at: role.created_at,
            updated_at: role.updated_at,
        }
    };
    Ok(roles.into_iter().map(role).collect())
}
