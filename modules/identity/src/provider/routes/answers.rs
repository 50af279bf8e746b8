//! What the endpoints answer with.

use axum::response::{IntoResponse as _, Response};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, PRAGMA, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};
use serde_json::{Value, json};

use super::cors::for_everybody;
use crate::provider::form::Refused;

/// How long clients may keep what is published.
const PUBLISHED: &str = "public, max-age=3600";

/// Everybody may read what is published, from every page.
pub(super) fn published(document: &Value) -> Response {
    let mut response = axum::Json(document).into_response();
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(PUBLISHED));
    for_everybody(headers);
    response
}

/// What nobody on the way may keep (RFC 6749, section 5.1).
pub(super) fn secret(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(PRAGMA, HeaderValue::from_static("no-cache"));
    response
}

/// A refusal as RFC 6749, section 5.2 writes it.
pub(super) fn refuse(Refused { code, description }: &Refused, by_header: bool) -> Response {
    let status =
        if *code == "invalid_client" { StatusCode::UNAUTHORIZED } else { StatusCode::BAD_REQUEST };
    let body = axum::Json(json!({ "error": code, "error_description": description }));
    let mut response = secret((status, body).into_response());
    if by_header {
        let challenge = HeaderValue::from_static("Basic realm=\"client\", charset=\"UTF-8\"");
        response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    }
    response
}

/// A refusal of an access token, as RFC 6750, section 3 writes it.
pub(super) fn challenge(status: StatusCode, error: Option<&str>) -> Response {
    let text =
        error.map_or_else(|| "Bearer".to_owned(), |error| format!("Bearer error=\"{error}\""));
    let body = axum::Json(json!({ "error": error.unwrap_or("invalid_token") }));
    let mut response = secret((status, [(CONTENT_TYPE, "application/json")], body).into_response());
    if let Ok(value) = HeaderValue::from_str(&text) {
        response.headers_mut().insert(WWW_AUTHENTICATE, value);
    }
    response
}
