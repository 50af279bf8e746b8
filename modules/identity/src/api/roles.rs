use std::collections::BTreeSet;

use axum::Json;
use axum::response::IntoResponse;
use http::StatusCode;
use serde::{Deserialize, Serialize};
use svc_http::fields::present;
use svc_http::{ApiJson, ApiPath, ApiResult, Listing, May, Page};
use time::OffsetDateTime;
use utoipa::ToSchema;
use uuid::Uuid;

use super::shared::location;
use crate::ids::RoleId;
use crate::permissions::Manage;
use crate::roles::{self, NewRole, Role, RoleChange};

/// A role.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = IdentityRole)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RoleBody {
    /// Its id.
    id: Uuid,
    /// Its name, unique in the organisation without regard to case.
    name: String,
    /// What it is for; may be empty.
    description: String,
    /// Whether it holds every permission there is; then it can't be changed or deleted.
    is_administrator: bool,
    /// Its permissions, by name.
    permissions: Vec<String>,
    /// When it was made.
    #[serde(with = "time::serde::rfc3339")]
    created_at: OffsetDateTime,
    /// When its name or description was last changed.
    #[serde(with = "time::serde::rfc3339")]
    updated_at: OffsetDateTime,
}

/// A role to make.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = IdentityNewRole)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NewRoleBody {
    /// Its name, unique in the organisation without regard to case.
    #[schema(min_length = 1, max_length = 200)]
    name: String,
    /// What it is for.
    #[serde(default)]
    #[schema(max_length = 1000)]
    description: String,
    /// Its permissions; the caller must hold each of them.
    permissions: BTreeSet<String>,
}

/// What changes; a field that is left out stays as it is.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = IdentityRoleChange)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RoleChangeBody {
    /// A new name.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false, min_length = 1, max_length = 200)]
    name: Option<String>,
    /// A new description.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false, max_length = 1000)]
    description: Option<String>,
    /// The permissions in place of those it has; the caller must hold each that is added.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false)]
    permissions: Option<BTreeSet<String>>,
}

impl From<Role> for RoleBody {
    fn from(role: Role) -> Self {
        Self {
            id: role.id.0,
            name: role.name,
            description: role.description,
            is_administrator: role.is_administrator,
            permissions: role.permissions.into_iter().collect(),
            created_at: role.created_at,
            updated_at: role.updated_at,
        }
    }
}

/// Lists the roles in the order in which they were made.
#[utoipa::path(
    get,
    path = "/identity/roles",
    tag = "identity",
    params(Page),
    responses(
        (status = 200, description = "A page of the roles.", body = Listing<RoleBody>),
    ),
)]
pub(crate) async fn list_roles(
    May { ctx, .. }: May<Manage>,
    page: Page,
) -> ApiResult<Json<Listing<RoleBody>>> {
    let roles = roles::list(&ctx, page.cursor::<RoleId>()?, page.limit()).await?;
    Ok(Json(page.list(roles.into_iter().map(RoleBody::from).collect(), |role| role.id)))
}

/// Makes a role.
#[utoipa::path(
    post,
    path = "/identity/roles",
    tag = "identity",
    request_body = NewRoleBody,
    responses(
        (status = 201, description = "The new role; `Location` says where it is.", body = RoleBody),
        (
            status = 403,
            description = "The caller lacks `Identity.Manage`, or one of the permissions."
        ),
        (status = 409, description = "Another role has this name."),
    ),
)]
pub(crate) async fn create_role(
    May { ctx, .. }: May<Manage>,
    ApiJson(body): ApiJson<NewRoleBody>,
) -> ApiResult<impl IntoResponse> {
    let NewRoleBody { name, description, permissions } = body;
    let id = roles::create(&ctx, NewRole { name, description, permissions }).await?;
    let role = RoleBody::from(roles::get(&ctx, id).await?);
    Ok((StatusCode::CREATED, location("roles", id.0), Json(role)))
}

/// Shows a role.
#[utoipa::path(
    get,
    path = "/identity/roles/{id}",
    tag = "identity",
    params(("id" = Uuid, Path, description = "The role.")),
    responses(
        (status = 200, description = "The role.", body = RoleBody),
    ),
)]
pub(crate) async fn get_role(
    May { ctx, .. }: May<Manage>,
    ApiPath(id): ApiPath<RoleId>,
) -> ApiResult<Json<RoleBody>> {
    Ok(Json(roles::get(&ctx, id).await?.into()))
}

/// Changes a role; whoever holds it has its new permissions at once.
#[utoipa::path(
    put,
    path = "/identity/roles/{id}",
    tag = "identity",
    params(("id" = Uuid, Path, description = "The role.")),
    request_body = RoleChangeBody,
    responses(
        (status = 200, description = "The role as it is now.", body = RoleBody),
        (
            status = 403,
            description = "The caller lacks `Identity.Manage`, or a permission that is added."
        ),
        (
            status = 409,
            description = "Another role has this name, or it is the Administrator role."
        ),
    ),
)]
pub(crate) async fn change_role(
    May { ctx, .. }: May<Manage>,
    ApiPath(id): ApiPath<RoleId>,
    ApiJson(body): ApiJson<RoleChangeBody>,
) -> ApiResult<Json<RoleBody>> {
    let RoleChangeBody { name, description, permissions } = body;
    roles::change(&ctx, id, RoleChange { name, description, permissions }).await?;
    Ok(Json(roles::get(&ctx, id).await?.into()))
}

/// Deletes a role that nobody holds.
#[utoipa::path(
    delete,
    path = "/identity/roles/{id}",
    tag = "identity",
    params(("id" = Uuid, Path, description = "The role.")),
    responses(
        (status = 204, description = "The role is gone."),
        (status = 409, description = "Somebody holds it, or it is the Administrator role."),
    ),
)]
pub(crate) async fn delete_role(
    May { ctx, .. }: May<Manage>,
    ApiPath(id): ApiPath<RoleId>,
) -> ApiResult<StatusCode> {
    roles::delete(&ctx, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
