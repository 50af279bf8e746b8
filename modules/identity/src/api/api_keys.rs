use std::collections::BTreeSet;

use axum::Json;
use axum::response::IntoResponse;
use http::StatusCode;
use http::header::{CACHE_CONTROL, HeaderValue};
use serde::{Deserialize, Serialize};
use svc_core::{Error, UserId};
use svc_data::Context;
use svc_http::{ApiJson, ApiPath, ApiResult, Ctx, Listing, Page, Paged};
use time::OffsetDateTime;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::shared::location;
use crate::api_keys::{self, ApiKey, NewApiKey};
use crate::ids::ApiKeyId;

/// An API key, without what makes it one.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = IdentityApiKey)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ApiKeyBody {
    /// Its id.
    id: Uuid,
    /// The id of the person it speaks for.
    user_id: Uuid,
    /// What the owner calls it.
    name: String,
    /// Its beginning, by which people tell keys apart.
    prefix: String,
    /// The permissions that it is limited to; null for all that the owner may do.
    permissions: Option<Vec<String>>,
    /// When it was made.
    #[serde(with = "time::serde::rfc3339")]
    created_at: OffsetDateTime,
    /// From when on it is refused; null for a key without an end.
    #[serde(with = "time::serde::rfc3339::option")]
    expires_at: Option<OffsetDateTime>,
    /// Since when it is revoked.
    #[serde(with = "time::serde::rfc3339::option")]
    revoked_at: Option<OffsetDateTime>,
    /// When it was last used, to the minute.
    #[serde(with = "time::serde::rfc3339::option")]
    last_used_at: Option<OffsetDateTime>,
}

/// A new API key with what makes it one.
#[derive(Serialize, ToSchema)]
#[schema(as = IdentityCreatedApiKey)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CreatedApiKeyBody {
    /// The key as lists show it.
    #[serde(flatten)]
    api_key: ApiKeyBody,
    /// The key itself, for `Authorization: Bearer`. It is shown only here.
    #[schema(example = "svck_…")]
    key: String,
}

/// An API key to make.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = IdentityNewApiKey)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NewApiKeyBody {
    /// What the owner calls it.
    #[schema(min_length = 1, max_length = 200)]
    name: String,
    /// The permissions to limit it to; left out or null, all that the owner may do.
    permissions: Option<BTreeSet<String>>,
    /// From when on it is refused; left out or null, it has no end.
    #[serde(default, with = "time::serde::rfc3339::option")]
    expires_at: Option<OffsetDateTime>,
    /// Whom it is to speak for; left out, the caller. Somebody else needs `Identity.ManageKeys`, and the
    /// key of another person must name its permissions.
    user_id: Option<Uuid>,
}

/// Whose keys are listed.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Owner {
    /// The id of a person; the caller's own keys where it is left out. Keys of others need
    /// `Identity.Manage` or `Identity.ManageKeys`.
    user_id: Option<Uuid>,
}

impl From<ApiKey> for ApiKeyBody {
    fn from(key: ApiKey) -> Self {
        Self {
            id: key.id.0,
            user_id: key.user.0,
            name: key.name,
            prefix: key.prefix,
            permissions: key.scope.map(|scope| scope.into_iter().collect()),
            created_at: key.created_at,
            expires_at: key.expires_at,
            revoked_at: key.revoked_at,
            last_used_at: key.last_used_at,
        }
    }
}

/// Lists API keys in the order in which they were made.
#[utoipa::path(
    get,
    path = "/identity/api-keys",
    tag = "identity",
    params(Page, Owner),
    responses(
        (status = 200, description = "A page of the keys.", body = Listing<ApiKeyBody>),
        (
            status = 403,
            description = "The keys are somebody else's, or the caller's key has a scope, and the \
                           caller lacks `Identity.Manage`."
        ),
    ),
)]
pub(crate) async fn list_api_keys(
    Ctx(ctx): Ctx,
    Paged(page, owner): Paged<Owner>,
) -> ApiResult<Json<Listing<ApiKeyBody>>> {
    let owner = match owner.user_id {
        Some(id) => UserId(id),
        None => caller(&ctx)?,
    };
    let keys = api_keys::list(&ctx, owner, page.cursor::<ApiKeyId>()?, page.limit()).await?;
    Ok(Json(page.list(keys.into_iter().map(ApiKeyBody::from).collect(), |key| key.id)))
}

/// Makes an API key, for the caller or for somebody else. The answer is the only place where the key is shown.
#[utoipa::path(
    post,
    path = "/identity/api-keys",
    tag = "identity",
    request_body = NewApiKeyBody,
    responses(
        (
            status = 201,
            description = "The new key; `Location` says where it is.",
            body = CreatedApiKeyBody
        ),
        (
            status = 403,
            description = "The key would have more rights, or a longer life, than the caller has; \
                           the caller's key has a scope without `Identity.Manage`; or the owner is \
                           somebody else and the caller lacks `Identity.ManageKeys`, or a permission \
                           of the owner."
        ),
        (status = 409, description = "The caller has too many keys."),
    ),
)]
pub(crate) async fn create_api_key(
    Ctx(ctx): Ctx,
    ApiJson(body): ApiJson<NewApiKeyBody>,
) -> ApiResult<impl IntoResponse> {
    let NewApiKeyBody { name, permissions, expires_at, user_id } = body;
    let new = NewApiKey { name, scope: permissions, expires_at };
    let owner = match user_id {
        Some(id) => UserId(id),
        None => caller(&ctx)?,
    };
    let (id, secret) = api_keys::create(&ctx, owner, new).await?;
    let api_key = ApiKeyBody::from(api_keys::get(&ctx, id).await?);
    let body = CreatedApiKeyBody { api_key, key: secret.expose().to_owned() };
    let never_kept = [(CACHE_CONTROL, HeaderValue::from_static("no-store"))];
    Ok((StatusCode::CREATED, location("api-keys", id.0), never_kept, Json(body)))
}

/// Shows an API key, without what makes it one.
#[utoipa::path(
    get,
    path = "/identity/api-keys/{id}",
    tag = "identity",
    params(("id" = Uuid, Path, description = "The key.")),
    responses(
        (status = 200, description = "The key.", body = ApiKeyBody),
        (status = 403, description = "The caller's key has a scope without `Identity.Manage`."),
        (
            status = 404,
            description = "There is no such key, or it is somebody else's and the caller lacks \
                           `Identity.Manage`."
        ),
    ),
)]
pub(crate) async fn get_api_key(
    Ctx(ctx): Ctx,
    ApiPath(id): ApiPath<ApiKeyId>,
) -> ApiResult<Json<ApiKeyBody>> {
    Ok(Json(api_keys::get(&ctx, id).await?.into()))
}

/// Revokes an API key: it is refused from then on, and stays in the list.
#[utoipa::path(
    delete,
    path = "/identity/api-keys/{id}",
    tag = "identity",
    params(("id" = Uuid, Path, description = "The key.")),
    responses(
        (status = 204, description = "The key is revoked."),
        (status = 403, description = "The caller's key has a scope without `Identity.Manage`."),
        (
            status = 404,
            description = "There is no such key, or it is somebody else's and the caller lacks \
                           `Identity.Manage`."
        ),
    ),
)]
pub(crate) async fn revoke_api_key(
    Ctx(ctx): Ctx,
    ApiPath(id): ApiPath<ApiKeyId>,
) -> ApiResult<StatusCode> {
    api_keys::revoke(&ctx, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn caller(ctx: &Context) -> Result<UserId, Error> {
    let nobody = || Error::forbidden("only people have API keys");
    ctx.principal().user_id().ok_or_else(nobody)
}
