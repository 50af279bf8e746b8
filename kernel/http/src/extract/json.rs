use axum::extract::{FromRequest, Request};
use bytes::Bytes;
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use serde::de::DeserializeOwned;
use svc_core::{Error, ErrorKind};

use super::{fields, strict};
use crate::problem::{ApiError, ApiResult};
use crate::state::HttpState;

/// The body of a request, strictly as JSON.
///
/// | What is wrong | Status |
/// | --- | --- |
/// | no JSON media type | 415 |
/// | larger than `Svc:Http:MaxBodySize`, or the route's own limit (`registry.route_body_limit`) | 413 |
/// | not well-formed, or a key twice in one object | 400 |
/// | an unknown key, a missing one, a value of the wrong type | 422, by field |
///
/// A list is no structure, whatever serde thinks of that, but for structures within an enumeration with `#[serde(tag = "…")]` or
/// `untagged`, and within what is flattened: serde reads those by itself.
#[derive(Clone, Copy, Debug)]
pub struct ApiJson<T>(pub T);

impl<T: DeserializeOwned> FromRequest<HttpState> for ApiJson<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &HttpState) -> ApiResult<Self> {
        Ok(Self(parse(&read(request, state).await?)?))
    }
}

/// The body of a request, which is any JSON document, as its text. What is refused is as with
/// [`ApiJson`], but for what only a type can ask.
#[derive(Clone, Debug)]
pub struct JsonText(pub String);

impl FromRequest<HttpState> for JsonText {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &HttpState) -> ApiResult<Self> {
        let text = read(request, state).await?;
        // The check reads all of it, and JSON is UTF-8.
        let text = String::from_utf8(text.into());
        Ok(Self(text.map_err(|error| Error::malformed("the body is not UTF-8").caused_by(error))?))
    }
}

/// Reads a body that is JSON by its media type and its form.
async fn read(request: Request, state: &HttpState) -> ApiResult<Bytes> {
    check_media_type(request.headers())?;
    let text = Bytes::from_request(request, state).await.map_err(|rejection| {
        if rejection.status() == http::StatusCode::PAYLOAD_TOO_LARGE {
            Error::new(ErrorKind::TooLarge, "the body is larger than allowed")
        } else {
            Error::malformed("the body ended before it was complete")
        }
    })?;
    if text.is_empty() {
        return Err(Error::malformed("the request has no body; send JSON").into());
    }
    strict::check(&text)?;
    Ok(text)
}

fn parse<T: DeserializeOwned>(text: &[u8]) -> Result<T, Error> {
    let mut reader = serde_json::Deserializer::from_slice(text);
    fields::read(&mut reader)
        .map_err(|errors| Error::invalid("the request is not valid").with_fields(errors))
}

/// Accepts `application/json` and `application/<anything>+json`, in UTF-8.
fn check_media_type(headers: &HeaderMap) -> Result<(), Error> {
    let given = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let (essence, parameters) = given.split_once(';').unwrap_or((given, ""));
    let essence = essence.trim().to_ascii_lowercase();
    let is_json = essence == "application/json"
        || (essence.starts_with("application/") && essence.ends_with("+json"));
    let mut parameters = parameters.split(';').filter_map(|parameter| parameter.split_once('='));
    let is_utf8 = parameters.all(|(name, value)| {
        !name.trim().eq_ignore_ascii_case("charset")
            || value.trim().trim_matches('"').eq_ignore_ascii_case("utf-8")
    });
    if is_json && is_utf8 {
        return Ok(());
    }
    let message = "send the body as `application/json` in UTF-8";
    Err(Error::new(ErrorKind::UnsupportedMediaType, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_types_of_json_are_told_from_others() {
        let check = |text: &str| {
            let headers = HeaderMap::from_iter([(CONTENT_TYPE, text.parse().unwrap())]);
            check_media_type(&headers).is_ok()
        };
        for text in [
            "application/json",
            "Application/JSON; charset=UTF-8",
            "application/json;charset=\"utf-8\"; profile=x",
            "application/merge-patch+json",
        ] {
            assert!(check(text), "{text}");
        }
        for text in ["", "text/plain", "application/json; charset=latin1", "text/json", "json"] {
            assert!(!check(text), "{text}");
        }
        assert!(check_media_type(&HeaderMap::new()).is_err());
    }
}
