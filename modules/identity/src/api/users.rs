use std::collections::BTreeSet;

use axum::Json;
use axum::response::IntoResponse;
use http::StatusCode;
use serde::{Deserialize, Serialize};
use svc_core::UserId;
use svc_core::settings::Secret;
use svc_http::{ApiJson, ApiPath, ApiResult, Ctx, Listing, Page};
use time::OffsetDateTime;
use utoipa::ToSchema;
use uuid::Uuid;

use super::{Reference, location, present};
use crate::ids::RoleId;
use crate::users::{self, Claims, NewUser, User, UserChange};

/// A member of the organisation.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = IdentityUser)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UserBody {
    /// The person's id.
    id: Uuid,
    /// The mail address, unique without regard to case.
    email: String,
    /// The name that people know the person by.
    display_name: String,
    /// Since when the person can't sign in or use keys; null for who can.
    #[serde(with = "time::serde::rfc3339::option")]
    disabled_at: Option<OffsetDateTime>,
    /// The roles in this organisation.
    roles: Vec<Reference>,
    /// The claims in this organisation, which row filters compare with: values by name.
    claims: Claims,
    /// When the person was made known.
    #[serde(with = "time::serde::rfc3339")]
    created_at: OffsetDateTime,
    /// When address, name or state were last changed.
    #[serde(with = "time::serde::rfc3339")]
    updated_at: OffsetDateTime,
}

/// A person to make known.
#[derive(Deserialize, ToSchema)]
#[schema(as = IdentityNewUser)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NewUserBody {
    /// The mail address, unique without regard to case.
    #[schema(max_length = 254)]
    email: String,
    /// The name that people know the person by.
    #[schema(min_length = 1, max_length = 200)]
    display_name: String,
    /// The password; without one the person can't sign in with a password.
    #[schema(write_only, format = Password, max_length = 128)]
    password: Option<String>,
    /// The ids of roles; the caller must hold the permissions of each.
    #[serde(default)]
    roles: BTreeSet<RoleId>,
    /// The claims: values by name.
    #[serde(default)]
    claims: Claims,
}

/// What changes; a field that is left out stays as it is.
#[derive(Deserialize, ToSchema)]
#[schema(as = IdentityUserChange)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UserChangeBody {
    /// A new mail address.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false, max_length = 254)]
    email: Option<String>,
    /// A new name.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false, min_length = 1, max_length = 200)]
    display_name: Option<String>,
    /// A new password.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false, write_only, format = Password, max_length = 128)]
    password: Option<String>,
    /// Whether the person is disabled.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false)]
    disabled: Option<bool>,
    /// The ids of roles in place of those that the person has.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false)]
    roles: Option<BTreeSet<RoleId>>,
    /// The claims in place of those that the person has.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false)]
    claims: Option<Claims>,
}

impl From<User> for UserBody {
    fn from(user: User) -> Self {
        let role = |(id, name): (RoleId, String)| Reference { id: id.0, name };
        Self {
            id: user.id.0,
            email: user.email,
            display_name: user.display_name,
            disabled_at: user.disabled_at,
            roles: user.roles.into_iter().map(role).collect(),
            claims: user.claims,
            created_at: user.created_at,
            updated_at: user.updated_at,
        }
    }
}

/// Lists the members in the order in which they were made known.
#[utoipa::path(
    get,
    path = "/identity/users",
    tag = "identity",
    params(Page),
    responses(
        (status = 200, description = "A page of the members.", body = Listing<UserBody>),
    ),
    security(("bearer" = ["Identity.Manage"]))
)]
pub(crate) async fn list_users(Ctx(ctx): Ctx, page: Page) -> ApiResult<Json<Listing<UserBody>>> {
    let after = page.cursor::<UserId>()?;
    let users = users::list(&ctx, after, page.limit()).await?;
    Ok(Json(page.list(users.into_iter().map(UserBody::from).collect(), |user| user.id)))
}

/// Makes a person known, as a member of the organisation.
#[utoipa::path(
    post,
    path = "/identity/users",
    tag = "identity",
    request_body = NewUserBody,
    responses(
        (status = 201, description = "The new member; `Location` says where.", body = UserBody),
        (
            status = 403,
            description = "The caller lacks `Identity.Manage`, or a permission of a role."
        ),
        (status = 409, description = "The mail address is in use."),
    ),
    security(("bearer" = ["Identity.Manage"]))
)]
pub(crate) async fn create_user(
    Ctx(ctx): Ctx,
    ApiJson(body): ApiJson<NewUserBody>,
) -> ApiResult<impl IntoResponse> {
    let NewUserBody { email, display_name, password, roles, claims } = body;
    let password = password.map(Secret::from);
    let id = users::create(&ctx, NewUser { email, display_name, password, roles, claims }).await?;
    let user = UserBody::from(users::get(&ctx, id).await?);
    Ok((StatusCode::CREATED, location("users", id.0), Json(user)))
}

/// Shows a member.
#[utoipa::path(
    get,
    path = "/identity/users/{id}",
    tag = "identity",
    params(("id" = Uuid, Path, description = "The person.")),
    responses(
        (status = 200, description = "The member.", body = UserBody),
    ),
    security(("bearer" = ["Identity.Manage"]))
)]
pub(crate) async fn get_user(
    Ctx(ctx): Ctx,
    ApiPath(id): ApiPath<UserId>,
) -> ApiResult<Json<UserBody>> {
    Ok(Json(users::get(&ctx, id).await?.into()))
}

/// Changes a member: who it is, whether it is disabled, its roles and claims. It takes effect at
/// once.
#[utoipa::path(
    put,
    path = "/identity/users/{id}",
    tag = "identity",
    params(("id" = Uuid, Path, description = "The person.")),
    request_body = UserChangeBody,
    responses(
        (status = 200, description = "The member as it is now.", body = UserBody),
        (
            status = 403,
            description = "The caller lacks `Identity.Manage`, or a permission of the member or of \
                           a role."
        ),
        (
            status = 409,
            description = "The mail address is in use, it is the last administrator, or the person \
                           also belongs to another organisation."
        ),
    ),
    security(("bearer" = ["Identity.Manage"]))
)]
pub(crate) async fn change_user(
    Ctx(ctx): Ctx,
    ApiPath(id): ApiPath<UserId>,
    ApiJson(body): ApiJson<UserChangeBody>,
) -> ApiResult<Json<UserBody>> {
    let UserChangeBody { email, display_name, password, disabled, roles, claims } = body;
    let password = password.map(Secret::from);
    let change = UserChange { email, display_name, password, disabled, roles, claims };
    users::change(&ctx, id, change).await?;
    Ok(Json(users::get(&ctx, id).await?.into()))
}

/// Takes a member out of the organisation, with roles, claims and API keys. Who is no member of any
/// other is forgotten altogether.
#[utoipa::path(
    delete,
    path = "/identity/users/{id}",
    tag = "identity",
    params(("id" = Uuid, Path, description = "The person.")),
    responses(
        (status = 204, description = "The person is no member any more."),
        (
            status = 403,
            description = "The caller lacks `Identity.Manage`, or a permission of the member."
        ),
        (status = 409, description = "It is the last administrator."),
    ),
    security(("bearer" = ["Identity.Manage"]))
)]
pub(crate) async fn remove_user(
    Ctx(ctx): Ctx,
    ApiPath(id): ApiPath<UserId>,
) -> ApiResult<StatusCode> {
    users::remove(&ctx, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
