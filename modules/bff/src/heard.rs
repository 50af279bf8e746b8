//! Hearing from the issuer that somebody has signed out there (OpenID Connect Back-Channel Logout), for a host
//! whose issuer is in another process.
//!
//! The application behind the host asks with each request whether a session of its own provider still is, and
//! so needs no word. An issuer that somebody else runs sends its logout tokens here. They are signed by it and
//! for this host, and end only what was begun before they were made: one that is sent again keeps nobody out.

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use http::StatusCode;
use http::header::CACHE_CONTROL;
use svc_core::{App, Error, micros};
use svc_data::Context;
use svc_http::ApiResult;
use svc_openid::TOLERANCE_S;

use crate::errors::LOGOUT_REFUSED;
use crate::names::TOPIC;
use crate::service::Host;
use crate::settings::BffSettings;
use crate::store::{self, Named};

/// Ends the sign-ins that a logout token of the issuer names.
#[utoipa::path(
    post,
    path = "/bff/back-channel-logout",
    tag = "bff",
    request_body(content = String, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, description = "What the token names has ended."),
        (status = 400, description = "The logout token doesn't hold."),
        (status = 503, description = "The issuer can't be asked for its keys; send it again later."),
    ),
)]
pub(crate) async fn back_channel_logout(
    State(app): State<App>,
    body: Bytes,
) -> ApiResult<Response> {
    let refused = || LOGOUT_REFUSED.error("the logout token doesn't hold");
    let host = Host::of(&app)?;
    let token = form_urlencoded::parse(&body).find(|(name, _)| name == "logout_token");
    let (_, token) = token.ok_or_else(refused)?;
    let claims = host.issuer.check_logout_token(&token).await?;
    let claims = claims.map_err(|fault| refused().context(fault.as_str()))?;
    // Nobody has such a name here.
    if !claims.is_storable() {
        return Err(refused().context("claims").into());
    }
    let lifetime_us = micros::of_span(app.settings::<BffSettings>().absolute_timeout);
    let made_us = claims.iat.saturating_add(TOLERANCE_S).saturating_mul(1_000_000);
    let named = Named {
        issuer: &claims.iss,
        subject: Some(claims.sub.as_str()).filter(|subject| !subject.is_empty()),
        sid: claims.sid.as_deref(),
        ends_before_us: made_us.saturating_add(lifetime_us),
    };
    let ended = Context::system(&app)?
        .transact(async |uow| {
            uow.wake_after_commit(TOPIC);
            store::delete_named(&uow, &named).await
        })
        .await
        .map_err(|error: Error| error.context("sign-ins could not be ended"))?;
    tracing::info!(ended, "somebody has signed out at the issuer");
    Ok((StatusCode::OK, [(CACHE_CONTROL, "no-store")]).into_response())
}
