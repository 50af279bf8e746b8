use axum::Json;
use serde::{Deserialize, Serialize};
use svc_core::Result;
use svc_data::Context;
use svc_http::fields::present;
use svc_http::{ApiJson, ApiResult, May};
use time::OffsetDateTime;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::permissions::Manage;
use crate::service::IdentityService;
use crate::{acting, organisations};

/// An organisation.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = IdentityOrganisation)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OrganisationBody {
    /// Its id.
    id: Uuid,
    /// Its name.
    name: String,
    /// When it was made.
    #[serde(with = "time::serde::rfc3339")]
    created_at: OffsetDateTime,
    /// When it was last changed.
    #[serde(with = "time::serde::rfc3339")]
    updated_at: OffsetDateTime,
}

/// What changes; a field that is left out stays as it is.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = IdentityOrganisationChange)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OrganisationChange {
    /// A new name.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false, min_length = 1, max_length = 200)]
    name: Option<String>,
}

/// A permission that a module declares.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = IdentityPermission)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PermissionBody {
    /// Its name.
    name: String,
    /// What it allows.
    description: String,
}

/// Shows the organisation of the caller.
#[utoipa::path(
    get,
    path = "/identity/organisation",
    tag = "identity",
    responses(
        (status = 200, description = "The organisation.", body = OrganisationBody),
    ),
)]
pub(crate) async fn get_organisation(
    May { ctx, .. }: May<Manage>,
) -> ApiResult<Json<OrganisationBody>> {
    Ok(Json(current(&ctx).await?))
}

async fn current(ctx: &Context) -> Result<OrganisationBody> {
    let organisation = acting::current(ctx).await?;
    Ok(OrganisationBody {
        id: organisation.id,
        name: organisation.name,
        created_at: organisation.created_at,
        updated_at: organisation.updated_at,
    })
}

/// Changes the organisation of the caller.
#[utoipa::path(
    put,
    path = "/identity/organisation",
    tag = "identity",
    request_body = OrganisationChange,
    responses(
        (status = 200, description = "The organisation as it is now.", body = OrganisationBody),
    ),
)]
pub(crate) async fn change_organisation(
    May { ctx, .. }: May<Manage>,
    ApiJson(change): ApiJson<OrganisationChange>,
) -> ApiResult<Json<OrganisationBody>> {
    if let Some(name) = &change.name {
        organisations::rename(&ctx, name).await?;
    }
    Ok(Json(current(&ctx).await?))
}

/// Lists every permission that the application knows, by name.
#[utoipa::path(
    get,
    path = "/identity/permissions",
    tag = "identity",
    responses(
        (status = 200, description = "The permissions.", body = [PermissionBody]),
    ),
)]
pub(crate) async fn list_permissions(
    May { ctx, .. }: May<Manage>,
) -> ApiResult<Json<Vec<PermissionBody>>> {
    let service = IdentityService::of(&ctx)?;
    let body = |(name, description): &(String, String)| PermissionBody {
        name: name.clone(),
        description: description.clone(),
    };
    Ok(Json(service.permissions().all().iter().map(body).collect()))
}
