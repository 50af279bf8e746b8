//! `/bff/…`

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, SET_COOKIE, VARY};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde::{Deserialize, Serialize};
use svc_core::{App, Error, Result};
use svc_http::{ApiQuery, ApiResult, Ctx, HttpState, OpenApiRouter, public_routes, routes};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::authenticator::check_page;
use crate::cookie::{Cookies, SESSION};
use crate::heard;
use crate::login::{self, Answer};
use crate::names::SUFFIX;
use crate::person::{Identity, Person};
use crate::service::Host;
use crate::settings::BffSettings;

pub(crate) fn routes() -> OpenApiRouter<HttpState> {
    OpenApiRouter::new()
        .routes(public_routes!("it begins a sign-in"; sign_in))
        .routes(public_routes!("a sign-in ends here, with a state that the browser must know"; callback))
        .routes(routes!(user))
        .routes(public_routes!("it ends the session of the cookie that it comes with, and no other"; sign_out))
        .routes(public_routes!("the page before a sign-in loads it"; loading_script))
        .routes(public_routes!("the page before a sign-in loads it"; loading_logo))
}

/// The same for a host before the application, which asks that who is signed in.
pub(crate) fn before_application() -> OpenApiRouter<HttpState> {
    OpenApiRouter::new()
        .routes(public_routes!("it begins a sign-in"; sign_in))
        .routes(public_routes!("a sign-in ends here, with a state that the browser must know"; callback))
        .routes(public_routes!("it knows the cookie that it comes with, and no other"; far_user))
        .routes(public_routes!("it ends the session of the cookie that it comes with, and no other"; sign_out))
        .routes(public_routes!("the page before a sign-in loads it"; loading_script))
        .routes(public_routes!("a token that the issuer signed says what ends"; heard::back_channel_logout))
        .routes(public_routes!("the page before a sign-in loads it"; loading_logo))
}

/// Where a sign-in leads to.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase")]
struct Wanted {
    /// A path of this application to lead back to. Default: `Svc:Bff:AppUrl`.
    return_url: Option<String>,
}

/// Signs a browser in: sends it to the sign-in page, and back to where it came from.
#[utoipa::path(
    get,
    path = "/bff/login",
    tag = "bff",
    params(Wanted),
    responses(
        (status = 303, description = "To the provider."),
        (status = 400, description = "`returnUrl` isn't a path of this application."),
    ),
)]
async fn sign_in(
    State(app): State<App>,
    headers: HeaderMap,
    ApiQuery(Wanted { return_url }): ApiQuery<Wanted>,
) -> ApiResult<Response> {
    Ok(login::begin(&app, &headers, return_url.as_deref()).await?)
}

/// What the provider sends a browser back with.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Back {
    /// What the sign-in was begun with.
    state: Option<String>,
    /// The code.
    code: Option<String>,
    /// Who answers.
    iss: Option<String>,
    /// Why there is no code.
    error: Option<String>,
    /// The same for a developer.
    error_description: Option<String>,
}

/// Ends a sign-in: the browser gets its cookie, and goes back to where it came from.
#[utoipa::path(
    get,
    path = "/bff/callback",
    tag = "bff",
    params(Back),
    responses(
        (status = 303, description = "Signed in; to where the sign-in was begun."),
        (status = 400, description = "The sign-in was not begun in this browser, or took too long."),
        (status = 403, description = "The provider doesn't sign the person in."),
    ),
)]
async fn callback(
    State(app): State<App>,
    headers: HeaderMap,
    ApiQuery(back): ApiQuery<Back>,
) -> ApiResult<Response> {
    let Back { state, code, iss, error, error_description } = back;
    if let Some(description) = &error_description {
        tracing::debug!(error, description, "the provider refused a sign-in");
    }
    let answer = Answer {
        state: state.as_deref(),
        code: code.as_deref(),
        iss: iss.as_deref(),
        error: error.as_deref(),
    };
    Ok(login::end(&app, &headers, &answer).await?)
}

/// Who is signed in.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = BffUser)]
#[serde(rename_all = "camelCase")]
struct User {
    /// The person.
    identity: Identity,
    /// The organisation that everything read or written belongs to.
    organisation_id: Option<Uuid>,
    /// The names of the person's roles in it.
    roles: Vec<String>,
    /// What the person may do.
    permissions: Vec<String>,
    /// When the sign-in ends if it isn't used any more, in milliseconds of Unix time.
    expires_at: i64,
    /// Where the web client stands.
    app_url: String,
}

/// Says who is signed in in this browser.
#[utoipa::path(
    get,
    path = "/bff/user",
    tag = "bff",
    responses(
        (status = 200, description = "Who is signed in.", body = User),
        (status = 401, description = "Nobody is."),
    ),
)]
async fn user(Ctx(ctx): Ctx, headers: HeaderMap) -> ApiResult<Response> {
    Ok(signed_in(ctx.app(), &headers).await?)
}

/// Says who is signed in in this browser.
#[utoipa::path(
    get,
    path = "/bff/user",
    tag = "bff",
    responses(
        (status = 200, description = "Who is signed in.", body = User),
        (status = 401, description = "Nobody is."),
        (status = 403, description = "The request didn't come from a page of this application."),
        (status = 429, description = "The person, or everybody, asks for too much; `Retry-After` says when to come back."),
        (status = 503, description = "The application can't be reached or can't answer; `Retry-After` says when to come back."),
    ),
)]
async fn far_user(State(app): State<App>, headers: HeaderMap) -> ApiResult<Response> {
    Ok(signed_in(&app, &headers).await?)
}

async fn signed_in(app: &App, headers: &HeaderMap) -> Result<Response> {
    let nobody = || Error::unauthenticated("nobody is signed in in this browser");
    let host = Host::of(app)?;
    let session = host.session(app, headers).await?.ok_or_else(nobody)?;
    check_page(headers)?;
    let Person { identity, organisation_id, roles, permissions } =
        Person::of(app, &host, &session).await?.ok_or_else(nobody)?;
    let user = User {
        identity,
        organisation_id,
        roles,
        permissions,
        expires_at: host.ends_ms(&session),
        app_url: app.settings::<BffSettings>().app_url.clone(),
    };
    Ok((personal(), Json(user)).into_response())
}

/// Where a browser goes after signing out.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = BffSignedOut)]
struct SignedOut {
    /// Where it signs out at the provider, too.
    url: String,
}

/// Signs a browser out here, and says where it signs out at the provider.
#[utoipa::path(
    post,
    path = "/bff/logout",
    tag = "bff",
    responses(
        (status = 200, description = "Signed out here.", body = SignedOut),
        (status = 403, description = "The request didn't come from a page of this application."),
    ),
)]
async fn sign_out(State(app): State<App>, headers: HeaderMap) -> ApiResult<Response> {
    Ok(end(&app, &headers).await?)
}

async fn end(app: &App, headers: &HeaderMap) -> Result<Response> {
    check_page(headers)?;
    let host = Host::of(app)?;
    let address = host.issuer.address(headers)?;
    let session = host.session(app, headers).await?;
    let home = format!("{address}/");
    let parameters = match &session {
        Some(session) => vec![
            ("id_token_hint", session.tokens.id.as_str()),
            ("post_logout_redirect_uri", home.as_str()),
        ],
        None => Vec::new(),
    };
    let url = host.issuer.end_session_address(&address, &parameters).await?;
    if let Some(id) = host.presented(headers) {
        host.end(app, id).await?;
    }
    let mut response = (personal(), Json(SignedOut { url })).into_response();
    let forget = Cookies::under(&address).forget(SESSION);
    response.headers_mut().append(SET_COOKIE, forget);
    Ok(response)
}

/// What is about this person and is kept by nobody.
fn personal() -> [(HeaderName, HeaderValue); 2] {
    [
        (CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (VARY, HeaderValue::from_static("Cookie")),
    ]
}

/// What a page knows of the person before its client is loaded.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct LoadingScreenDto {
    name: String,
    logo: &'static str,
    signed_in: bool,
}

const LOGO: &str = "/bff/loading-screen/logo";

/// What a page shows while its client loads, as a script: it sets `svcLoadingScreen`.
#[utoipa::path(
    get,
    path = "/bff/loading-screen/script.js",
    tag = "bff",
    responses((status = 200, description = "A script that sets `svcLoadingScreen`.", content_type = "text/javascript")),
)]
async fn loading_script(State(app): State<App>, headers: HeaderMap) -> ApiResult<Response> {
    let host = Host::of(&app)?;
    let is_signed_in = match host.session(&app, &headers).await? {
        Some(session) => Person::of(&app, &host, &session).await?.is_some(),
        None => false,
    };
    Ok(loading(&app, is_signed_in)?)
}

fn loading(app: &App, signed_in: bool) -> Result<Response> {
    let name = app.name().trim_end_matches(SUFFIX).to_owned();
    let screen = LoadingScreenDto { name, logo: LOGO, signed_in };
    let fault = |error| Error::internal("the loading screen can't be written").caused_by(error);
    let json = serde_json::to_string(&screen).map_err(fault)?;
    let mut response =
        (personal(), format!("globalThis.svcLoadingScreen = {json};\n")).into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/javascript; charset=utf-8"));
    // A page of another site can't find out by it whether somebody is signed in.
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    Ok(response)
}

/// The picture of the loading screen.
#[utoipa::path(
    get,
    path = "/bff/loading-screen/logo",
    tag = "bff",
    responses((status = 200, description = "A picture.", content_type = "image/svg+xml")),
)]
async fn loading_logo() -> Response {
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static("image/svg+xml")),
        (CACHE_CONTROL, HeaderValue::from_static("public, max-age=3600")),
    ];
    (StatusCode::OK, headers, include_str!("logo.svg")).into_response()
}
