//! `/api/v1/identity/…`

mod api_keys;
mod me;
mod organisation;
mod roles;
mod sessions;
pub(crate) mod shared;
mod users;

use svc_http::{HttpState, OpenApiRouter, routes};

pub(crate) fn routes() -> OpenApiRouter<HttpState> {
    OpenApiRouter::new()
        .routes(routes!(me::get_me))
        .routes(routes!(me::get_access, me::change_me))
        .routes(routes!(organisation::get_organisation, organisation::change_organisation))
        .routes(routes!(organisation::list_permissions))
        .routes(routes!(users::list_users, users::create_user))
        .routes(routes!(users::invite_user))
        .routes(routes!(sessions::list_sessions, sessions::end_sessions))
        .routes(routes!(sessions::end_session))
        .routes(routes!(users::get_user, users::change_user, users::remove_user))
        .routes(routes!(roles::list_roles, roles::create_role))
        .routes(routes!(roles::get_role, roles::change_role, roles::delete_role))
        .routes(routes!(api_keys::list_api_keys, api_keys::create_api_key))
        .routes(routes!(api_keys::get_api_key, api_keys::revoke_api_key))
}
