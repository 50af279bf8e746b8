//! The endpoints over HTTP.

mod answers;
mod client_authentication;
mod cors;
mod ending;

use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use serde_json::Value;
use svc_core::{App, Result};
use svc_http::{ApiResult, HttpState, OpenApiRouter, public_routes};

use super::authorize::{self, see};
use super::form::Form;
use super::signing_keys::SigningKeys;
use super::tokens::{Tokens, about_person};
use super::{discovery, issuer, token};
use crate::pages::answer::or_page;
use crate::pages::visit::Visit;
use crate::presented::bearer_token;
use answers::{challenge, published, refuse, secret};
use client_authentication::authenticate;
use cors::{Cors, preflights};

pub(super) fn routes() -> OpenApiRouter<HttpState> {
    OpenApiRouter::new()
        .routes(public_routes!(
            "clients read what the provider is before anybody signs in";
            openid_configuration, openid_configuration_preflight
        ))
        .routes(public_routes!(
            "clients read what the provider is before anybody signs in";
            oauth_metadata, oauth_metadata_preflight
        ))
        .routes(public_routes!(
            "whoever is given a token checks it with these keys";
            public_keys, public_keys_preflight
        ))
        .routes(public_routes!(
            "it leads whoever isn't signed in to the page for it";
            authorize_by_get, authorize_by_post
        ))
        .routes(public_routes!(
            "the client proves itself, and the code or token is looked at";
            tokens_for, tokens_for_preflight
        ))
        .routes(public_routes!(
            "browsers ask without a credential whether they may send one";
            userinfo_by_get, userinfo_by_post, userinfo_preflight
        ))
        .routes(public_routes!(
            "the client proves itself, and only takes back what is its own";
            ending::revoke, ending::revoke_preflight
        ))
        .routes(public_routes!(
            "the issuer proves itself by what it signs";
            ending::hear_logout
        ))
        .routes(public_routes!(
            "signing out asks the person, unless the client brings who it was signed in for";
            ending::logout_by_get, ending::logout_by_post
        ))
}

preflights! {
    openid_configuration_preflight, "/.well-known/openid-configuration";
    oauth_metadata_preflight, "/.well-known/oauth-authorization-server";
    public_keys_preflight, "/.well-known/jwks.json";
    tokens_for_preflight, "/connect/token";
    userinfo_preflight, "/connect/userinfo";
}

/// Describes the provider to clients (OpenID Connect Discovery, section 4).
#[utoipa::path(
    get,
    path = "/.well-known/openid-configuration",
    tag = "sign-in",
    responses((status = 200, description = "The provider's addresses and abilities.", body = Value)),
)]
async fn openid_configuration(State(app): State<App>, headers: HeaderMap) -> ApiResult<Response> {
    Ok(published(&discovery::metadata(&issuer::issuer_for(&app, &headers)?)))
}

/// The same under the name that OAuth gives it (RFC 8414, section 3).
#[utoipa::path(
    get,
    path = "/.well-known/oauth-authorization-server",
    tag = "sign-in",
    responses((status = 200, description = "The provider's addresses and abilities.", body = Value)),
)]
async fn oauth_metadata(State(app): State<App>, headers: HeaderMap) -> ApiResult<Response> {
    Ok(published(&discovery::metadata(&issuer::issuer_for(&app, &headers)?)))
}

/// The keys that tokens are checked with (RFC 7517, section 5).
#[utoipa::path(
    get,
    path = "/.well-known/jwks.json",
    tag = "sign-in",
    responses((status = 200, description = "The public keys.", body = Value)),
)]
async fn public_keys(State(app): State<App>) -> ApiResult<Response> {
    Ok(published(&app.service::<SigningKeys>()?.keys().await?.document))
}

/// Signs a browser in for a client, and sends it back with a code (RFC 6749, section 4.1.1).
#[utoipa::path(
    get,
    path = "/connect/authorize",
    tag = "sign-in",
    responses(
        (status = 303, description = "Back to the client with a code or an error, or to the sign-in page."),
        (status = 400, description = "The client, or the address to go back to, isn't known."),
    ),
)]
async fn authorize_by_get(
    visit: Visit,
    State(app): State<App>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> ApiResult<Response> {
    or_page(visit, authorize::authorize(&app, &headers, query.as_deref()).await)
}

/// The same for a client that sends its parameters as a form (OpenID Connect Core, section 3.1.2.1).
/// It goes on with GET, with which the browser sends the person's session.
#[utoipa::path(
    post,
    path = "/connect/authorize",
    tag = "sign-in",
    request_body(content = String, content_type = "application/x-www-form-urlencoded"),
    responses((status = 303, description = "To the same address with the parameters in it.")),
)]
async fn authorize_by_post(headers: HeaderMap, body: Bytes) -> Response {
    match Form::of_body(&headers, &body) {
        Ok(form) => see(&format!("{}?{}", authorize::PATH, form.without(&[], &[]))),
        Err(refusal) => refuse(&refusal, false),
    }
}

/// Gives tokens for a code, a refresh token, or a client's own credentials (RFC 6749, section 3.2).
#[utoipa::path(
    post,
    path = "/connect/token",
    tag = "sign-in",
    request_body(content = String, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, description = "Tokens (RFC 6749, section 5.1).", body = Value),
        (status = 400, description = "Why there are none (RFC 6749, section 5.2).", body = Value),
        (status = 401, description = "The client didn't prove who it is.", body = Value),
    ),
)]
async fn tokens_for(
    State(app): State<App>,
    headers: HeaderMap,
    body: Bytes,
) -> ApiResult<Response> {
    Ok(give_tokens(&app, &headers, &body).await?)
}

async fn give_tokens(app: &App, headers: &HeaderMap, body: &[u8]) -> Result<Response> {
    let form = match Form::of_body(headers, body) {
        Ok(form) => form,
        Err(refusal) => return Ok(refuse(&refusal, false)),
    };
    let issuer = issuer::issuer_for(app, headers)?;
    let client = match authenticate(app, &issuer, headers, &form).await? {
        Ok(client) => client,
        Err((refusal, by_header)) => {
            return Ok(Cors::of(app, headers).await?.add(refuse(&refusal, by_header)));
        }
    };
    let response = match token::answer(app, &issuer, &client, &form).await? {
        Ok(answer) => secret(axum::Json(answer).into_response()),
        Err(refusal) => refuse(&refusal, false),
    };
    Ok(Cors::of_client(&client, headers).add(response))
}

/// Says who the person of an access token is (OpenID Connect Core, section 5.3).
#[utoipa::path(
    get,
    path = "/connect/userinfo",
    tag = "sign-in",
    responses(
        (status = 200, description = "Claims, by the scopes of the token.", body = Value),
        (status = 401, description = "The access token opens nothing (RFC 6750, section 3.1).", body = Value),
        (status = 403, description = "It isn't for the scope `openid`.", body = Value),
    ),
    security(("bearer" = []))
)]
async fn userinfo_by_get(State(app): State<App>, headers: HeaderMap) -> ApiResult<Response> {
    let answered = userinfo(&app, &headers).await?;
    Ok(Cors::of(&app, &headers).await?.add(answered))
}

/// The same by POST (OpenID Connect Core, section 5.3.1).
#[utoipa::path(
    post,
    path = "/connect/userinfo",
    tag = "sign-in",
    responses(
        (status = 200, description = "Claims, by the scopes of the token.", body = Value),
        (status = 401, description = "The access token opens nothing (RFC 6750, section 3.1).", body = Value),
        (status = 403, description = "It isn't for the scope `openid`.", body = Value),
    ),
    security(("bearer" = []))
)]
async fn userinfo_by_post(State(app): State<App>, headers: HeaderMap) -> ApiResult<Response> {
    let answered = userinfo(&app, &headers).await?;
    Ok(Cors::of(&app, &headers).await?.add(answered))
}

async fn userinfo(app: &App, headers: &HeaderMap) -> Result<Response> {
    let mut credentials = headers.get_all(http::header::AUTHORIZATION).iter();
    let (presented, None) = (credentials.next(), credentials.next()) else {
        return Ok(challenge(StatusCode::BAD_REQUEST, Some("invalid_request")));
    };
    let Some(presented) = presented else {
        return Ok(challenge(StatusCode::UNAUTHORIZED, None));
    };
    let tokens = app.service::<Tokens>()?;
    let token = match presented.to_str().ok().and_then(bearer_token) {
        Some(token) => tokens.check_access(app, token).await?.ok(),
        None => None,
    };
    let organisation = match &token {
        Some(token) => tokens.organisation(app, token).await?,
        None => None,
    };
    let (Some(token), Some(organisation)) = (token, organisation) else {
        return Ok(challenge(StatusCode::UNAUTHORIZED, Some("invalid_token")));
    };
    if !token.has_scope("openid") {
        return Ok(challenge(StatusCode::FORBIDDEN, Some("insufficient_scope")));
    }
    let directory = app.service::<dyn svc_core::Directory>()?;
    if directory.principal(token.user, organisation).await?.is_none() {
        return Ok(challenge(StatusCode::UNAUTHORIZED, Some("invalid_token")));
    }
    let mut claims = about_person(app, token.user, organisation, token.scope()).await?;
    claims.insert("sub".to_owned(), token.user.to_string().into());
    claims.insert("org".to_owned(), organisation.to_string().into());
    Ok(secret(axum::Json(Value::Object(claims)).into_response()))
}
