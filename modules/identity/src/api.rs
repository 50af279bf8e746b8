//! `/api/v1/identity/…`

mod api_keys;
mod me;
mod organisation;
mod roles;
mod users;

use serde::{Deserialize, Deserializer, Serialize};
use svc_http::{HttpState, OpenApiRouter, routes};
use utoipa::ToSchema;
use uuid::Uuid;

pub(crate) fn routes() -> OpenApiRouter<HttpState> {
    OpenApiRouter::new()
        .routes(routes!(me::get_me))
        .routes(routes!(me::get_access, me::change_me))
        .routes(routes!(organisation::get_organisation, organisation::change_organisation))
        .routes(routes!(organisation::list_permissions))
        .routes(routes!(users::list_users, users::create_user))
        .routes(routes!(users::invite_user))
        .routes(routes!(users::get_user, users::change_user, users::remove_user))
        .routes(routes!(roles::list_roles, roles::create_role))
        .routes(routes!(roles::get_role, roles::change_role, roles::delete_role))
        .routes(routes!(api_keys::list_api_keys, api_keys::create_api_key))
        .routes(routes!(api_keys::get_api_key, api_keys::revoke_api_key))
}

/// A role, an organisation or a person in short.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = IdentityReference)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Reference {
    /// Its id.
    pub(crate) id: Uuid,
    /// Its name.
    pub(crate) name: String,
}

/// Reads a field that may be left out but not be null.
pub(crate) fn present<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    T::deserialize(deserializer).map(Some)
}

/// The header that says where a new record is.
pub(crate) fn location(kind: &str, id: Uuid) -> [(http::HeaderName, String); 1] {
    [(http::header::LOCATION, format!("/api/v1/identity/{kind}/{id}"))]
}
