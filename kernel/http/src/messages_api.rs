//! `/api/v1/messages`: texts for browsers, and the extractor of texts for handlers.

use axum::Json;
use axum::extract::FromRequestParts;
use axum::response::{IntoResponse, Response};
use http::header::{ACCEPT_LANGUAGE, CACHE_CONTROL, CONTENT_TYPE, ETAG, VARY};
use http::request::Parts;
use http::{HeaderMap, StatusCode};
use serde::{Deserialize, Serialize};
use svc_core::{Error, ErrorKind};
use svc_messages::{BrowserTexts, Messages, Texts};
use svc_odata::headers::EntityTag;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;

use crate::authentication::{Ctx, caller};
use crate::conditional::FOR_GOOD;
use crate::conditional::has_already;
use crate::extract::{ApiPath, ApiQuery};
use crate::problem::{ApiError, ApiResult};
use crate::public_routes;
use crate::state::HttpState;

pub(crate) fn routes() -> OpenApiRouter<HttpState> {
    OpenApiRouter::default()
        .routes(public_routes!("pages show texts before anybody has signed in"; list_languages))
        .routes(public_routes!("pages show texts before anybody has signed in"; get_messages))
}

/// The texts in the language of whoever calls: the person's setting `Interface.Language`, then `Accept-Language`, then
/// `Svc:Languages:Default`.
///
/// Somebody whose credential doesn't hold is spoken to like somebody without one: the page that says so has texts, too.
#[derive(Clone, Debug)]
pub struct InLanguage(pub Texts);

impl FromRequestParts<HttpState> for InLanguage {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &HttpState) -> ApiResult<Self> {
        let messages = state.app().service::<Messages>()?;
        let known = match caller(parts, state).await {
            Err(error) if error.kind() == ErrorKind::Unauthenticated => None,
            known => known?,
        };
        let accepted = accepted_languages(&parts.headers);
        let texts = match known {
            Some(Ctx(ctx)) => messages.texts_for(&ctx, accepted.as_deref()).await?,
            None => messages.texts(&messages.negotiate(None, accepted.as_deref())),
        };
        Ok(Self(texts))
    }
}

/// The languages that a request asks for, also where it says so in several lines: for `Messages::texts_for`.
#[must_use]
pub fn accepted_languages(headers: &HeaderMap) -> Option<String> {
    let lines = headers.get_all(ACCEPT_LANGUAGE).iter().filter_map(|line| line.to_str().ok());
    lines.map(str::to_owned).reduce(|all, line| all + "," + &line)
}

/// The languages that there are texts in.
#[derive(Serialize, ToSchema)]
struct Languages {
    /// The one that fits whoever calls.
    language: String,
    /// All of them, by their tags.
    languages: Vec<LanguageTexts>,
}

/// A language that there are texts in.
#[derive(Serialize, ToSchema)]
struct LanguageTexts {
    /// Its tag, such as `de`.
    language: String,
    /// The address of the texts as they are now, which can be kept for good.
    href: String,
}

/// Lists the languages that there are texts in.
#[utoipa::path(
    get,
    path = "/messages",
    tag = "messages",
    responses((status = 200, description = "The languages, and which of them fits the caller.", body = Languages)),
)]
async fn list_languages(
    InLanguage(texts): InLanguage,
    axum::extract::State(state): axum::extract::State<HttpState>,
) -> ApiResult<impl IntoResponse> {
    let messages = state.app().service::<Messages>()?;
    let of = |texts: &BrowserTexts| LanguageTexts {
        language: texts.language().to_string(),
        href: format!("/api/v1/messages/{}?v={}", texts.language(), texts.hash()),
    };
    let languages = messages.languages().iter();
    let languages = languages.filter_map(|each| messages.for_browser(each.as_str())).map(of);
    let body = Languages { language: texts.language().to_string(), languages: languages.collect() };
    let headers =
        [(CACHE_CONTROL, "private, no-cache"), (VARY, "accept-language, authorization, cookie")];
    Ok((headers, Json(body)))
}

/// Which content of the texts.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Which {
    /// The hash of the content, as the list of languages has it.
    v: Option<String>,
}

/// Reads all texts in a language, as a Fluent resource.
///
/// What isn't translated is in it in English. The address with the hash of the present content can be kept for good.
#[utoipa::path(
    get,
    path = "/messages/{language}",
    tag = "messages",
    params(
        ("language" = String, Path, description = "The tag of the language, such as `de`."),
        Which,
        ("If-None-Match" = Option<String>, Header, description = "The tags that the client has."),
    ),
    responses(
        (status = 200, description = "The texts, with their `ETag`.", body = String, content_type = "text/plain"),
        (status = 304, description = "The client has them already."),
    ),
)]
async fn get_messages(
    axum::extract::State(state): axum::extract::State<HttpState>,
    ApiPath(language): ApiPath<String>,
    ApiQuery(Which { v }): ApiQuery<Which>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let messages = state.app().service::<Messages>()?;
    let texts = messages.for_browser(&language).ok_or_else(|| {
        Error::not_found(
            "there are no texts in this language; `/api/v1/messages` lists those there are",
        )
    })?;
    let is_named = v.as_deref() == Some(texts.hash());
    let tag = EntityTag { weak: false, tag: texts.hash().to_owned() };
    let cache = if is_named { FOR_GOOD } else { "public, no-cache" };
    let about = [(ETAG, tag.to_string()), (CACHE_CONTROL, cache.to_owned())];
    if has_already(&headers, &tag) {
        return Ok((StatusCode::NOT_MODIFIED, about).into_response());
    }
    let kind = [(CONTENT_TYPE, "text/plain; charset=utf-8")];
    Ok((about, kind, texts.resource().to_owned()).into_response())
}
