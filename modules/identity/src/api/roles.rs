use axum::Json;
use axum::response::IntoResponse;
use http::StatusCode;
use svc_http::{ApiJson, ApiPath, ApiResult, Listing, May, Page};

use super::shared::location;
use crate::ids::RoleId;
use crate::permissions::Manage;
use crate::roles::{self, NewRole, Role, RoleChange};

/// Lists the roles in the order in which they were made.
#[utoipa::path(
    get,
    path = "/identity/roles",
    tag = "identity",
    params(Page),
    responses(
        (status = 200, description = "A page of the roles.", body = Listing<Role>),
    ),
)]
pub(crate) async fn list_roles(
    May { ctx, .. }: May<Manage>,
    page: Page,
) -> ApiResult<Json<Listing<Role>>> {
    let roles = roles::list(&ctx, page.cursor::<RoleId>()?, page.limit()).await?;
    Ok(Json(page.list(roles, |role| role.id.0)))
}

/// Makes a role.
#[utoipa::path(
    post,
    path = "/identity/roles",
    tag = "identity",
    request_body = NewRole,
    responses(
        (status = 201, description = "The new role; `Location` says where it is.", body = Role),
        (
            status = 403,
            description = "The caller lacks `Identity.Manage`, or one of the permissions."
        ),
        (status = 409, description = "Another role has this name."),
    ),
)]
pub(crate) async fn create_role(
    May { ctx, .. }: May<Manage>,
    ApiJson(new): ApiJson<NewRole>,
) -> ApiResult<impl IntoResponse> {
    let id = roles::create(&ctx, new).await?;
    let role = roles::get(&ctx, id).await?;
    Ok((StatusCode::CREATED, location("roles", id.0), Json(role)))
}

/// Shows a role.
#[utoipa::path(
    get,
    path = "/identity/roles/{id}",
    tag = "identity",
    params(("id" = Uuid, Path, description = "The role.")),
    responses(
        (status = 200, description = "The role.", body = Role),
    ),
)]
pub(crate) async fn get_role(
    May { ctx, .. }: May<Manage>,
    ApiPath(id): ApiPath<RoleId>,
) -> ApiResult<Json<Role>> {
    Ok(Json(roles::get(&ctx, id).await?))
}

/// Changes a role; whoever holds it has its new permissions at once.
#[utoipa::path(
    put,
    path = "/identity/roles/{id}",
    tag = "identity",
    params(("id" = Uuid, Path, description = "The role.")),
    request_body = RoleChange,
    responses(
        (status = 200, description = "The role as it is now.", body = Role),
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
    ApiJson(change): ApiJson<RoleChange>,
) -> ApiResult<Json<Role>> {
    roles::change(&ctx, id, change).await?;
    Ok(Json(roles::get(&ctx, id).await?))
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
