//! `/api/v1/profile`: a document that a client keeps for the person who calls.

use axum::response::{IntoResponse, Response};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_MATCH, IF_NONE_MATCH};
use http::{HeaderMap, HeaderName, StatusCode};
use serde::Deserialize;
use svc_core::{Error, Result};
use svc_odata::headers::{EntityTag, TagCondition};
use svc_settings::{Expected, Profiles};
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;

use crate::authentication::Ctx;
use crate::extract::{ApiQuery, JsonText};
use crate::problem::ApiResult;
use crate::routes;
use crate::state::HttpState;

pub(crate) fn routes() -> OpenApiRouter<HttpState> {
    OpenApiRouter::default().routes(routes!(get_profile, put_profile))
}

/// Which document.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Which {
    /// The client's name for the document, 1 to 200 characters. Whose it is doesn't depend on it.
    key: String,
}

/// Reads a document that a client keeps for the caller.
#[utoipa::path(
    get,
    path = "/profile",
    tag = "profile",
    params(Which, ("If-None-Match" = Option<String>, Header, description = "The tags that the client has.")),
    responses(
        (status = 200, description = "The document, with its `ETag`.", body = serde_json::Value),
        (status = 204, description = "There is none."),
        (status = 304, description = "The client has it already."),
    ),
)]
async fn get_profile(
    Ctx(ctx): Ctx,
    ApiQuery(Which { key }): ApiQuery<Which>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let profiles = ctx.app().service::<Profiles>()?;
    let Some(profile) = profiles.load(&ctx, &key).await? else {
        return Ok(StatusCode::NO_CONTENT.into_response());
    };
    let tag = tag(profile.version);
    let known = condition(&headers, &IF_NONE_MATCH)?.is_some_and(|has| has.matches(Some(&tag)));
    // Always asked anew: the next person at this browser has another profile.
    let about = [(ETAG, tag.to_string()), (CACHE_CONTROL, "private, no-cache".to_owned())];
    if known {
        return Ok((StatusCode::NOT_MODIFIED, about).into_response());
    }
    Ok((about, [(CONTENT_TYPE, "application/json")], profile.document).into_response())
}

/// Saves a document for the caller: any JSON.
#[utoipa::path(
    put,
    path = "/profile",
    tag = "profile",
    params(
        Which,
        ("If-Match" = Option<String>, Header, description = "Saves only over this version, or with `*` over any."),
        ("If-None-Match" = Option<String>, Header, description = "With `*`, saves only where there is none."),
    ),
    request_body = serde_json::Value,
    responses(
        (status = 204, description = "It is saved; `ETag` is its tag."),
        (status = 412, description = "It was changed since it was read."),
    ),
)]
async fn put_profile(
    Ctx(ctx): Ctx,
    ApiQuery(Which { key }): ApiQuery<Which>,
    headers: HeaderMap,
    JsonText(document): JsonText,
) -> ApiResult<Response> {
    let profiles = ctx.app().service::<Profiles>()?;
    let version = profiles.save(&ctx, &key, &document, expected(&headers)?).await?;
    Ok((StatusCode::NO_CONTENT, [(ETAG, tag(version).to_string())]).into_response())
}

fn tag(version: i64) -> EntityTag {
    EntityTag { weak: false, tag: version.to_string() }
}

fn condition(headers: &HeaderMap, name: &HeaderName) -> Result<Option<TagCondition>> {
    let Some(value) = headers.get(name) else { return Ok(None) };
    let condition = value.to_str().ok().and_then(TagCondition::parse);
    let refusal = || Error::malformed(format!("`{name}` needs `*` or tags such as `\"5\"`"));
    condition.map(Some).ok_or_else(refusal)
}

fn expected(headers: &HeaderMap) -> Result<Expected> {
    match (condition(headers, &IF_MATCH)?, condition(headers, &IF_NONE_MATCH)?) {
        (None, None) => Ok(Expected::Anything),
        (Some(TagCondition::Any), None) => Ok(Expected::Something),
        (None, Some(TagCondition::Any)) => Ok(Expected::Nothing),
        (Some(TagCondition::Tags(tags)), None) => match &tags[..] {
            // A tag that this server doesn't give stands for a version that there never was.
            [tag] => Ok(Expected::Version(tag.tag.parse().unwrap_or_default())),
            _ => Err(Error::malformed("`If-Match` takes one tag here")),
        },
        _ => Err(Error::malformed("use `If-Match`, or `If-None-Match: *`")),
    }
}
