use axum::Json;
use http::HeaderMap;
use http::header::ACCEPT_LANGUAGE;
use serde::{Deserialize, Serialize};
use svc_core::settings::Secret;
use svc_core::{Error, ErrorKind, PermissionSet, Principal, PrincipalKind};
use svc_data::Context;
use svc_http::fields::present;
use svc_http::{ApiJson, ApiResult, Ctx};
use svc_messages::Messages;
use utoipa::ToSchema;
use uuid::Uuid;

use super::shared::Reference;
use crate::email::Email;
use crate::own::{self, Asked};
use crate::permissions::MANAGE;
use crate::text::{self, secret};
use crate::{members, users};

/// The caller.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = IdentityMe)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Me {
    /// `user` for somebody who signed in, `apiKey` for a key.
    #[schema(value_type = String, example = "apiKey")]
    kind: PrincipalKind,
    /// The person.
    user: MyUser,
    /// The organisation that everything read or written belongs to.
    organisation: Reference,
    /// Whether the person belongs to others, too, and may change to one of them.
    has_other_organisations: bool,
    /// The person's roles in it.
    roles: Vec<Reference>,
    /// What the caller may do; with a key, what its scope leaves of it.
    permissions: Vec<String>,
}

/// The person who calls.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = IdentityMyUser)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MyUser {
    /// The person's id.
    id: Uuid,
    /// The mail address.
    email: String,
    /// The name that people know the person by.
    display_name: String,
}

/// Says who calls, and what the caller may do.
#[utoipa::path(
    get,
    path = "/identity/me",
    tag = "identity",
    responses(
        (status = 200, description = "The caller.", body = Me),
    ),
)]
pub(crate) async fn get_me(Ctx(ctx): Ctx) -> ApiResult<Json<Me>> {
    Ok(Json(me(&ctx).await?))
}

/// What a desktop asks of the caller: who it is, and what to show and to hide.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = IdentityAccess)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Access {
    /// The person.
    identity: AccessIdentity,
    /// The organisation that everything read or written belongs to.
    organisation_id: Uuid,
    /// The names of the person's roles in the organisation.
    roles: Vec<String>,
    /// What the caller may do; with a key, what its scope leaves of it.
    permissions: Vec<String>,
}

/// What a desktop calls the permission to see and change people and roles.
const MANAGE_IDENTITY: &str = "shell.identity.manage";

/// The person, as a desktop shows it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = IdentityAccessIdentity)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AccessIdentity {
    /// The person's id.
    id: Uuid,
    /// The name that people know the person by.
    display_name: String,
    /// The mail address.
    email: String,
}

/// What the person who calls changes of the own account; a field that is left out stays as it is.
#[derive(Deserialize, ToSchema)]
#[schema(as = IdentityOwnChange)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OwnChange {
    /// A new name.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false, min_length = 1, max_length = 200)]
    display_name: Option<String>,
    /// A new mail address. It counts once the person has opened the link that is sent there.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false, max_length = 254)]
    email: Option<String>,
    /// The password, which a new address takes of who has one.
    #[serde(default, deserialize_with = "secret")]
    #[schema(value_type = Option<String>, nullable = false, max_length = 128)]
    current_password: Secret,
}

/// Says who calls with which roles and permissions, in the form that the desktop asks for.
#[utoipa::path(
    get,
    path = "/me",
    tag = "identity",
    responses(
        (status = 200, description = "The caller.", body = Access),
    ),
)]
pub(crate) async fn get_access(Ctx(ctx): Ctx) -> ApiResult<Json<Access>> {
    Ok(Json(access(&ctx).await?))
}

/// Changes the name or the mail address of the person who calls, who must have signed in: an API key can't.
#[utoipa::path(
    put,
    path = "/me",
    tag = "identity",
    request_body = OwnChange,
    responses(
        (status = 200, description = "The caller as it is now, with the old address until the new one is confirmed.", body = Access),
        (status = 403, description = "An API key calls."),
        (status = 429, description = "The password was wrong, or a link was asked for, too often."),
    ),
)]
pub(crate) async fn change_me(
    Ctx(ctx): Ctx,
    headers: HeaderMap,
    ApiJson(change): ApiJson<OwnChange>,
) -> ApiResult<Json<Access>> {
    let principal = ctx.principal();
    let user = principal.user_id().filter(|_| principal.kind() == PrincipalKind::User);
    let key = || Error::forbidden("an API key can't change its owner; sign in");
    let user = user.ok_or_else(key)?;
    let app = ctx.app();
    let name = change.display_name.map(|name| text::name("displayName", &name)).transpose()?;
    if let Some(email) = change.email {
        let email = Email::parse(&email)?;
        let messages = app.service::<Messages>()?;
        let accepted = headers.get(ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
        let texts = messages.texts(&messages.negotiate(None, accepted));
        match own::ask_for_address(app, user, &email, change.current_password, &texts).await? {
            Asked::Sent => {}
            Asked::Wrong => {
                let error = Error::invalid("the password is not right");
                return Err(error.field("currentPassword", "is another").into());
            }
            Asked::Wait(wait) => {
                let error = Error::new(ErrorKind::TooManyRequests, "too many attempts; try later");
                return Err(error.retry_after(wait).into());
            }
        }
    }
    if let Some(name) = name {
        own::rename(app, user, ctx.organisation()?, &name).await?;
    }
    Ok(Json(access(&ctx).await?))
}

async fn access(ctx: &Context) -> Result<Access, Error> {
    let Me { user, organisation, roles, mut permissions, .. } = me(ctx).await?;
    if ctx.principal().can(MANAGE) {
        permissions.push(MANAGE_IDENTITY.to_owned());
    }
    Ok(Access {
        identity: AccessIdentity {
            id: user.id,
            display_name: user.display_name,
            email: user.email,
        },
        organisation_id: organisation.id,
        roles: roles.into_iter().map(|role| role.name).collect(),
        permissions,
    })
}

async fn me(ctx: &Context) -> Result<Me, Error> {
    let principal: &Principal = ctx.principal();
    let nobody = || Error::forbidden("the caller is not a person");
    let user = users::view(ctx, principal.user_id().ok_or_else(nobody)?).await?;
    let here = ctx.organisation()?;
    let (name, others) = members::organisation_and_others(ctx.app(), user.id, here).await?;
    let roles = user.roles.into_iter().map(|(id, name)| Reference { id: id.0, name });
    Ok(Me {
        kind: principal.kind(),
        user: MyUser { id: user.id.0, email: user.email, display_name: user.display_name },
        organisation: Reference { id: here.0, name },
        has_other_organisations: others && principal.means().api_key().is_none(),
        roles: roles.collect(),
        permissions: names(principal.permissions()),
    })
}

fn names(permissions: &PermissionSet) -> Vec<String> {
    permissions.names().map(str::to_owned).collect()
}
