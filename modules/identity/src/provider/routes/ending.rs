//! Taking tokens back, and signing out here and elsewhere.

use axum::extract::{Path, RawQuery, State};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use svc_core::{App, Error, Result};
use svc_data::Context;
use svc_http::ApiResult;

use super::answers::{refuse, secret};
use super::client_authentication::authenticate;
use super::cors::{Cors, preflights};
use crate::external::heard::hear;
use crate::external::issuers::ExternalIssuers;
use crate::external::sign_out::sign_out;
use crate::pages::answer::or_page;
use crate::pages::visit::Visit;
use crate::presented::hash;
use crate::provider::authorize::see;
use crate::provider::clients::{Clients, KnownClient};
use crate::provider::errors::BAD_SIGN_IN_REQUEST;
use crate::provider::form::{Form, Refused, address_with, refused};
use crate::provider::tokens::Tokens;
use crate::provider::{grants, issuer};
use crate::sessions;

/// Where a person confirms a sign-out that nobody vouches for.
const SIGN_OUT: &str = "/account/sign-out";

preflights! {
    revoke_preflight, "/connect/revocation";
}

/// Takes back a refresh or access token, with all that was granted with it (RFC 7009, section 2.1).
#[utoipa::path(
    post,
    path = "/connect/revocation",
    tag = "sign-in",
    request_body(content = String, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, description = "The token opens nothing any more, if it ever did."),
        (status = 400, description = "The request can't be read (RFC 6749, section 5.2).", body = Value),
        (status = 401, description = "The client didn't prove who it is.", body = Value),
    ),
)]
pub(super) async fn revoke(
    State(app): State<App>,
    headers: HeaderMap,
    body: Bytes,
) -> ApiResult<Response> {
    let answered = take_back(&app, &headers, &body).await?;
    Ok(Cors::of(&app, &headers).await?.add(answered))
}

async fn take_back(app: &App, headers: &HeaderMap, body: &[u8]) -> Result<Response> {
    let form = match Form::of_body(headers, body) {
        Ok(form) => form,
        Err(refusal) => return Ok(refuse(&refusal, false)),
    };
    let issuer = issuer::issuer_for(app, headers)?;
    let client = match authenticate(app, &issuer, headers, &form).await? {
        Ok(client) => client,
        Err((refusal, by_header)) => return Ok(refuse(&refusal, by_header)),
    };
    let token = match form.need("token") {
        Ok(token) => token,
        Err(refusal) => return Ok(refuse(&refusal, false)),
    };
    let access = app.service::<Tokens>()?.check_access(app, token).await?.ok();
    let of_access = access.filter(|token| token.client == client.id).and_then(|it| it.grant());
    Context::system(app)?
        .transact(async |uow| {
            let of_refresh = grants::refresh_token(&uow, hash(token)).await?;
            let Some(id) = of_access.or(of_refresh.map(|it| it.grant)) else { return Ok(()) };
            // Somebody else's token stays (RFC 7009, section 2.1), and the answer doesn't say so.
            match grants::hold(&uow, id).await? {
                Some(grant) if grant.client == client.id => grants::end(&uow, id).await,
                _ => Ok(()),
            }
        })
        .await?;
    Ok(secret(StatusCode::OK.into_response()))
}

/// Hears that somebody has signed out at an issuer that people sign in with (OpenID Connect Back-Channel
/// Logout, sections 2.5 to 2.8).
#[utoipa::path(
    post,
    path = "/connect/external/{name}/logout",
    tag = "sign-in",
    params(("name" = String, Path, description = "The issuer, as the settings name it.")),
    request_body(content = String, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, description = "Whatever was begun by the account has ended."),
        (status = 400, description = "The logout token doesn't hold.", body = Value),
        (status = 404, description = "There is no such issuer."),
        (status = 503, description = "The issuer can't be asked for its keys; send it again later."),
    ),
)]
pub(super) async fn hear_logout(
    State(app): State<App>,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> ApiResult<Response> {
    let issuers = app.service::<ExternalIssuers>()?;
    let issuer = issuers.named(&name).ok_or_else(|| Error::not_found("there is no such issuer"))?;
    let form = match Form::of_body(&headers, &body) {
        Ok(form) => form,
        Err(refusal) => return Ok(refuse(&refusal, false)),
    };
    let token = match form.need("logout_token") {
        Ok(token) => token,
        Err(refusal) => return Ok(refuse(&refusal, false)),
    };
    Ok(match hear(&app, issuer, token).await? {
        Ok(sessions) => {
            tracing::info!(sessions, issuer = issuer.name, "somebody has signed out at an issuer");
            secret(StatusCode::OK.into_response())
        }
        Err(reason) => {
            tracing::info!(reason, issuer = issuer.name, "a logout token was refused");
            refuse(&refused("invalid_request", "the logout token doesn't hold"), false)
        }
    })
}

/// Signs a person out (OpenID Connect RP-Initiated Logout, section 2).
#[utoipa::path(
    get,
    path = "/connect/logout",
    tag = "sign-in",
    responses(
        (status = 303, description = "Back to the client, or to the page that asks whether to sign out."),
        (status = 400, description = "The request can't be read, or the address isn't the client's."),
    ),
)]
pub(super) async fn logout_by_get(
    visit: Visit,
    State(app): State<App>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> ApiResult<Response> {
    or_page(visit, logout(&app, &headers, Form::of_query(query.as_deref())).await)
}

/// The same by POST, which a client's page may send.
#[utoipa::path(
    post,
    path = "/connect/logout",
    tag = "sign-in",
    request_body(content = String, content_type = "application/x-www-form-urlencoded"),
    responses((status = 303, description = "To the same address with the parameters in it.")),
)]
pub(super) async fn logout_by_post(headers: HeaderMap, body: Bytes) -> Response {
    match Form::of_body(&headers, &body) {
        Ok(form) => see(&format!("/connect/logout?{}", form.without(&[], &[]))),
        Err(refusal) => refuse(&refusal, false),
    }
}

/// Signs out here, and at the issuer by whose account the session was begun. Whoever has an ID token of the session vouches for the sign-out; every other request could be
/// made by a page that wants to annoy, so the person is asked.
async fn logout(app: &App, headers: &HeaderMap, form: Result<Form, Refused>) -> Result<Response> {
    let form = form.map_err(|refusal| BAD_SIGN_IN_REQUEST.error(refusal.description))?;
    let issuer = issuer::issuer_for(app, headers)?;
    let (client, vouched) = vouched(app, &issuer, &form).await?;
    let back = match form.get("post_logout_redirect_uri") {
        None => None,
        Some(address) => {
            let is_own = client.as_deref().is_some_and(|client| client.may_end_at(address));
            if !is_own {
                return Err(crate::provider::errors::FOREIGN_REDIRECT.error(
                    "the address to go to after signing out isn't registered for the program that \
                     asks for it",
                ));
            }
            Some(match form.get("state") {
                Some(state) => address_with(address, &[("state", state)]),
                None => address.to_owned(),
            })
        }
    };
    let home = back.as_deref().unwrap_or("/");
    let Some(session) = sessions::of(app, headers).await? else { return Ok(see(home)) };
    if vouched.as_deref() != Some(session.id.to_string().as_str()) {
        return Ok(see(SIGN_OUT));
    }
    let there = sign_out(app, headers, &session, home).await?;
    let mut response = see(there.as_deref().unwrap_or(home));
    let (name, value) = sessions::no_cookie(app, headers).header();
    response.headers_mut().append(name, value);
    Ok(response)
}

/// The client that asks, and the session that its ID token is of.
async fn vouched(
    app: &App,
    issuer: &str,
    form: &Form,
) -> Result<(Option<std::sync::Arc<KnownClient>>, Option<String>)> {
    let hint = form.get("id_token_hint");
    let named = match (form.get("client_id"), hint) {
        (Some(id), _) => Some(id.to_owned()),
        (None, Some(hint)) => audience_of(hint),
        (None, None) => None,
    };
    let Some(id) = named else { return Ok((None, None)) };
    let Some(client) = app.service::<Clients>()?.find(&id, issuer).await? else {
        return Ok((None, None));
    };
    let Some(hint) = hint else { return Ok((Some(client), None)) };
    let checked = app.service::<Tokens>()?.check_id(issuer, &client.id, hint, true).await?;
    match checked {
        Ok(claims) => Ok((Some(client), claims.sid)),
        // Neither client nor session are known by a token that doesn't hold.
        Err(_) => Ok((None, None)),
    }
}

/// For whom an ID token says that it is, to find the client that it is then checked for.
fn audience_of(token: &str) -> Option<String> {
    use base64::Engine as _;
    let claims = token.split('.').nth(1).filter(|text| text.len() <= 16 * 1024)?;
    let claims = base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(claims).ok()?;
    let claims: serde_json::Value = serde_json::from_slice(&claims).ok()?;
    claims.get("aud")?.as_str().map(str::to_owned)
}
