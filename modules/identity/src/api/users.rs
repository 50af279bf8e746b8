use std::collections::BTreeSet;

use axum::Json;
use axum::response::IntoResponse;
use http::StatusCode;
use http::header::{CACHE_CONTROL, HeaderValue};
use serde::{Deserialize, Serialize};
use svc_core::UserId;
use svc_http::fields::present;
use svc_http::{ApiJson, ApiPath, ApiResult, Listing, May, Page};
use time::OffsetDateTime;
use utoipa::ToSchema;
use uuid::Uuid;

use super::shared::{Reference, location};
use crate::ids::RoleId;
use crate::invitations;
use crate::permissions::Manage;
use crate::users::{self, Claims, NewUser, User, UserChange};

/// A member of the organisation.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = IdentityUser)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UserBody {
    /// The person's id.
    id: Uuid,
    /// The mail address, unique without regard to case; empty for a machine user.
    email: String,
    /// The name that people know the person by.
    display_name: String,
    /// Whether it acts for a program, and nobody signs in as it.
    is_machine: bool,
    /// Since when the person can't sign in or use keys; null for who can.
    #[serde(with = "time::serde::rfc3339::option")]
    disabled_at: Option<OffsetDateTime>,
    /// Since when the address is known to be the person's; null for who was invited and hasn't come yet.
    #[serde(with = "time::serde::rfc3339::option")]
    confirmed_at: Option<OffsetDateTime>,
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

/// A person who was invited.
#[derive(Serialize, ToSchema)]
#[schema(as = IdentityInvitedUser)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InvitedUserBody {
    /// The member.
    #[serde(flatten)]
    user: UserBody,
    /// The link to accept with, where no module delivers mail: pass it on to the person and to nobody
    /// else. It is shown only here. Null where it was sent.
    invitation_link: Option<String>,
}

/// A person to invite.
#[derive(Deserialize, ToSchema)]
#[schema(as = IdentityNewUser)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NewUserBody {
    /// The mail address, unique without regard to case; left out for a machine user.
    #[serde(default)]
    #[schema(max_length = 254)]
    email: String,
    /// Whether it is to act for a program: a machine user has API keys, and nobody signs in as it.
    #[serde(default)]
    is_machine: bool,
    /// The name that people know the person by.
    #[schema(min_length = 1, max_length = 200)]
    display_name: String,
    /// The ids of roles; the caller must hold the permissions of each.
    #[serde(default)]
    roles: BTreeSet<RoleId>,
    /// The claims: values by name.
    #[serde(default)]
    claims: Claims,
}

/// A link that was sent, or is to be passed on.
#[derive(Serialize, ToSchema)]
#[schema(as = IdentityInvitation)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InvitationBody {
    /// The link to accept with, where no module delivers mail; null where it was sent.
    invitation_link: Option<String>,
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
            is_machine: user.is_machine,
            disabled_at: user.disabled_at,
            confirmed_at: user.confirmed_at,
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
)]
pub(crate) async fn list_users(
    May { ctx, .. }: May<Manage>,
    page: Page,
) -> ApiResult<Json<Listing<UserBody>>> {
    let after = page.cursor::<UserId>()?;
    let users = users::list(&ctx, after, page.limit()).await?;
    Ok(Json(page.list(users.into_iter().map(UserBody::from).collect(), |user| user.id)))
}

/// Invites a person as a member, by a link to set a password with, or makes a machine user.
///
/// The link goes to the mail address. A machine user acts for a program and needs no invitation.
#[utoipa::path(
    post,
    path = "/identity/users",
    tag = "identity",
    request_body = NewUserBody,
    responses(
        (
            status = 201,
            description = "The new member; `Location` says where.",
            body = InvitedUserBody
        ),
        (
            status = 403,
            description = "The caller lacks `Identity.Manage`, a permission of a role, or \
                           `Identity.ManageClaims` for claims, or calls by a key that ends."
        ),
        (status = 409, description = "Another member has the mail address."),
    ),
)]
pub(crate) async fn create_user(
    May { ctx, .. }: May<Manage>,
    ApiJson(body): ApiJson<NewUserBody>,
) -> ApiResult<impl IntoResponse> {
    let NewUserBody { email, is_machine, display_name, roles, claims } = body;
    let new = NewUser { email, display_name, is_machine, password: None, roles, claims };
    let id = users::create(&ctx, new).await?;
    let link = if is_machine { None } else { invitations::send(&ctx, id).await? };
    let user = UserBody::from(users::get(&ctx, id).await?);
    let body = InvitedUserBody { user, invitation_link: link.map(|link| link.expose().to_owned()) };
    let never_kept = [(CACHE_CONTROL, HeaderValue::from_static("no-store"))];
    Ok((StatusCode::CREATED, location("users", id.0), never_kept, Json(body)))
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
)]
pub(crate) async fn get_user(
    May { ctx, .. }: May<Manage>,
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
                           a role, or gives rights by a key that ends."
        ),
        (
            status = 409,
            description = "Another member has the mail address, or the person has confirmed it; it is \
                           the last administrator, or the person also belongs to another \
                           organisation."
        ),
    ),
)]
pub(crate) async fn change_user(
    May { ctx, .. }: May<Manage>,
    ApiPath(id): ApiPath<UserId>,
    ApiJson(body): ApiJson<UserChangeBody>,
) -> ApiResult<Json<UserBody>> {
    let UserChangeBody { email, display_name, disabled, roles, claims } = body;
    let change = UserChange { email, display_name, password: None, disabled, roles, claims };
    users::change(&ctx, id, change).await?;
    Ok(Json(users::get(&ctx, id).await?.into()))
}

/// Sends somebody who was invited a new link, in place of the one before.
#[utoipa::path(
    post,
    path = "/identity/users/{id}/invitation",
    tag = "identity",
    params(("id" = Uuid, Path, description = "The person.")),
    responses(
        (status = 200, description = "The link is sent, or shown.", body = InvitationBody),
        (
            status = 403,
            description = "The caller lacks `Identity.Manage`, or a permission of the member, or calls \
                           by a key that ends."
        ),
        (status = 409, description = "The person has confirmed the address."),
    ),
)]
pub(crate) async fn invite_user(
    May { ctx, .. }: May<Manage>,
    ApiPath(id): ApiPath<UserId>,
) -> ApiResult<impl IntoResponse> {
    let link = invitations::send(&ctx, id).await?;
    let body = InvitationBody { invitation_link: link.map(|link| link.expose().to_owned()) };
    let never_kept = [(CACHE_CONTROL, HeaderValue::from_static("no-store"))];
    Ok((never_kept, Json(body)))
}

/// Takes a member out of the organisation, with roles, claims and API keys. Who is no member of any
/// other is forgotten altogether.
#[utoipa::path(
    delete,
    path = "/identity/users/{id}",
    tag = "identity",
    params(("id" = Uuid, Path, description = "The person.")),
    responses(
        (status = 204, description = "The person isn't a member any more."),
        (
            status = 403,
            description = "The caller lacks `Identity.Manage`, or a permission of the member."
        ),
        (status = 409, description = "It is the last administrator."),
    ),
)]
pub(crate) async fn remove_user(
    May { ctx, .. }: May<Manage>,
    ApiPath(id): ApiPath<UserId>,
) -> ApiResult<StatusCode> {
    users::remove(&ctx, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
