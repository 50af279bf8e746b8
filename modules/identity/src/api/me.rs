use axum::Json;
use serde::Serialize;
use svc_core::{Error, PermissionSet, Principal, PrincipalKind};
use svc_data::Context;
use svc_http::{ApiResult, Ctx};
use utoipa::ToSchema;
use uuid::Uuid;

use super::Reference;
use crate::{organisations, users};

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
    security(("bearer" = []))
)]
pub(crate) async fn get_me(Ctx(ctx): Ctx) -> ApiResult<Json<Me>> {
    Ok(Json(me(&ctx).await?))
}

/// What a desktop asks of the caller: who it is, and what to show and to hide.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = IdentityAccess)]
pub(crate) struct Access {
    /// The person.
    identity: AccessIdentity,
    /// The names of the person's roles in the organisation.
    roles: Vec<String>,
    /// What the caller may do; with a key, what its scope leaves of it.
    permissions: Vec<String>,
}

/// The person, as a desktop shows it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = IdentityAccessIdentity)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AccessIdentity {
    /// The person's id.
    id: Uuid,
    /// The name that people know the person by.
    display_name: String,
}

/// Says who calls with which roles and permissions, in the form that the desktop asks for.
#[utoipa::path(
    get,
    path = "/me",
    tag = "identity",
    responses(
        (status = 200, description = "The caller.", body = Access),
    ),
    security(("bearer" = []))
)]
pub(crate) async fn get_access(Ctx(ctx): Ctx) -> ApiResult<Json<Access>> {
    let Me { user, roles, permissions, .. } = me(&ctx).await?;
    Ok(Json(Access {
        identity: AccessIdentity { id: user.id, display_name: user.display_name },
        roles: roles.into_iter().map(|role| role.name).collect(),
        permissions,
    }))
}

async fn me(ctx: &Context) -> Result<Me, Error> {
    let principal: &Principal = ctx.principal();
    let nobody = || Error::forbidden("the caller is not a person");
    let user = users::view(ctx, principal.user_id().ok_or_else(nobody)?).await?;
    let organisation = organisations::current(ctx).await?;
    let roles = user.roles.into_iter().map(|(id, name)| Reference { id: id.0, name });
    Ok(Me {
        kind: principal.kind(),
        user: MyUser { id: user.id.0, email: user.email, display_name: user.display_name },
        organisation: Reference { id: organisation.id, name: organisation.name },
        roles: roles.collect(),
        permissions: names(principal.permissions()),
    })
}

fn names(permissions: &PermissionSet) -> Vec<String> {
    permissions.names().map(str::to_owned).collect()
}
