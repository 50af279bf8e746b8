//! Members, and the rows that they are made of.

use std::collections::{BTreeMap, BTreeSet};

use sea_orm::ActiveValue::Set;
use svc_core::{Error, Result, UserId};
use svc_data::{Context, UnitOfWork};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::ids::RoleId;
use crate::model::{claim, membership, membership_role, role, user};
use crate::roles::{self, Role};

/// Values by the name of a claim, which row filters compare with.
pub type Claims = BTreeMap<String, Vec<String>>;

/// A member of an organisation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// The person.
    pub id: UserId,
    /// The mail address, unique without regard to case; empty for a machine user.
    pub email: String,
    /// The name that people know the person by.
    pub display_name: String,
    /// Whether it acts for a program, and nobody signs in as it.
    pub is_machine: bool,
    /// Since when the person can't sign in or use keys; none for who can.
    pub disabled_at: Option<OffsetDateTime>,
    /// Since when the address is known to be the person's; none for who was invited and hasn't come yet.
    pub confirmed_at: Option<OffsetDateTime>,
    /// The roles in this organisation: their ids and names.
    pub roles: BTreeMap<RoleId, String>,
    /// The claims in this organisation.
    pub claims: Claims,
    /// When the person was made known.
    pub created_at: OffsetDateTime,
    /// When the person was last changed; roles and claims don't count.
    pub updated_at: OffsetDateTime,
}

pub(super) async fn insert_membership(uow: &UnitOfWork, id: UserId) -> Result<Uuid> {
    let record = membership::ActiveModel { user_id: Set(id.0), ..Default::default() };
    Ok(uow.insert(record).await?.id)
}

pub(super) async fn find_membership(ctx: &Context, id: UserId) -> Result<membership::Model> {
    let query = ctx.query::<membership::Entity>().filter(membership::COLUMN.user_id.eq(id.0));
    query.one().await?.ok_or_else(missing_user)
}

pub(super) async fn find_user(ctx: &Context, id: UserId) -> Result<user::Model> {
    ctx.get::<user::Entity>(id.0).await?.ok_or_else(missing_user)
}

fn missing_user() -> Error {
    Error::not_found("there is no such person")
}

pub(super) async fn roles_of(ctx: &Context, member: Uuid) -> Result<Vec<Role>> {
    let rows = role_rows(ctx, &[member]).await?;
    roles::by_ids(ctx, &rows.iter().map(|row| RoleId(row.role_id)).collect()).await
}

pub(super) async fn role_rows(
    ctx: &Context,
    members: &[Uuid],
) -> Result<Vec<membership_role::Model>> {
    let of_members = membership_role::COLUMN.membership_id.is_in(members.to_vec());
    ctx.query::<membership_role::Entity>().filter(of_members).all().await
}

pub(super) async fn claim_rows(ctx: &Context, members: &[Uuid]) -> Result<Vec<claim::Model>> {
    let of_members = claim::COLUMN.membership_id.is_in(members.to_vec());
    let query = ctx.query::<claim::Entity>().filter(of_members);
    query.order_by(claim::COLUMN.name).order_by(claim::COLUMN.claim_value).all().await
}

pub(super) async fn views(ctx: &Context, memberships: Vec<membership::Model>) -> Result<Vec<User>> {
    let people: Vec<Uuid> = memberships.iter().map(|row| row.user_id).collect();
    let members: Vec<Uuid> = memberships.iter().map(|row| row.id).collect();
    let users = ctx.query::<user::Entity>().filter(user::COLUMN.id.is_in(people)).all().await?;
    let mut users: BTreeMap<Uuid, user::Model> =
        users.into_iter().map(|user| (user.id, user)).collect();
    let rows = role_rows(ctx, &members).await?;
    let held: BTreeSet<Uuid> = rows.iter().map(|row| row.role_id).collect();
    let held = ctx.query::<role::Entity>().filter(role::COLUMN.id.is_in(held)).all().await?;
    let names: BTreeMap<Uuid, String> = held.into_iter().map(|role| (role.id, role.name)).collect();
    let mut roles: BTreeMap<Uuid, BTreeMap<RoleId, String>> = BTreeMap::new();
    for row in rows {
        let name = names.get(&row.role_id).cloned().unwrap_or_default();
        roles.entry(row.membership_id).or_default().insert(RoleId(row.role_id), name);
    }
    let mut claims: BTreeMap<Uuid, Claims> = BTreeMap::new();
    for row in claim_rows(ctx, &members).await? {
        let of_member = claims.entry(row.membership_id).or_default();
        of_member.entry(row.name).or_default().push(row.claim_value);
    }
    let view = |member: membership::Model| {
        let user = users.remove(&member.user_id)?;
        Some(User {
            id: UserId(user.id),
            email: user.email,
            display_name: user.display_name,
            is_machine: user.is_machine,
            disabled_at: user.disabled_at,
            confirmed_at: user.confirmed_at,
            roles: roles.remove(&member.id).unwrap_or_default(),
            claims: claims.remove(&member.id).unwrap_or_default(),
            created_at: user.created_at,
            updated_at: user.updated_at,
        })
    };
    Ok(memberships.into_iter().filter_map(view).collect())
}
