//! Which methods an address takes, and what else comes before a request is read.

use axum::response::{IntoResponse as _, Response};
use http::header::{ALLOW, CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use svc_core::{Error, ErrorKind, Result};
use svc_http::ApiError;
use svc_odata::bind::ResourceKind;
use svc_odata::model::OperationKind;
use svc_odata::syntax::path_of_query;

use super::answer::Answer;
use super::request::Request;

/// The longest query in a body, in bytes: with the path it is an address, and none is longer.
const LONGEST_QUERY: usize = 65_000;

const READS: &str = "GET, HEAD, OPTIONS";

fn allowed(request: &Request) -> &'static str {
    let model = request.sets.model();
    let can = request.resource.set.map(|set| &model.set(set).capabilities);
    let is_viewed_only = can.is_some_and(|can| !can.insertable && !can.updatable && !can.deletable);
    match request.resource.kind {
        ResourceKind::Entities | ResourceKind::Entity | ResourceKind::Property(..)
            if is_viewed_only =>
        {
            READS
        }
        ResourceKind::Entities if can.is_some_and(|can| !can.insertable) => READS,
        ResourceKind::Entities => "GET, HEAD, OPTIONS, POST",
        ResourceKind::Entity => "GET, HEAD, OPTIONS, PATCH, PUT, DELETE",
        ResourceKind::Property(..) => "DELETE, GET, HEAD, OPTIONS, PUT",
        ResourceKind::References { .. } => super::reference::changes(request),
        ResourceKind::Batch => "OPTIONS, POST",
        ResourceKind::Operation(operation) => match model.operation(operation).kind {
            OperationKind::Action => "OPTIONS, POST",
            OperationKind::Function => READS,
        },
        _ => READS,
    }
}

/// The answer to `OPTIONS`, and to a method that the address doesn't take; none where the request
/// is to be served.
pub(super) fn answer(request: &Request, method: &Method) -> Result<Option<Response>> {
    let allowed = allowed(request);
    if *method == Method::OPTIONS {
        let answer = Answer::empty(StatusCode::NO_CONTENT, request.version);
        return answer.header(ALLOW, allowed).map(|answer| Some(answer.finish()));
    }
    if allowed.split(", ").any(|known| known == method.as_str()) {
        return Ok(None);
    }
    let message = format!("`{method}` doesn't fit this address; it takes {allowed}");
    let error = Error::new(ErrorKind::MethodNotAllowed, message);
    let mut refusal = ApiError::from(error).into_response();
    refusal.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    Ok(Some(refusal))
}

/// Refuses a body that is compressed: it would be read as it is.
pub(super) fn check_coding(headers: &HeaderMap) -> Result<()> {
    match headers.get(CONTENT_ENCODING) {
        Some(coding) if coding != "identity" => Err(Error::new(
            ErrorKind::UnsupportedMediaType,
            "a body with a `Content-Encoding` is not read; send it uncompressed",
        )),
        _ => Ok(()),
    }
}

/// Refuses an address that is too long.
pub(super) fn check_length(uri: &Uri, limit: usize) -> Result<()> {
    let length = uri.path().len() + uri.query().map_or(0, |query| query.len() + 1);
    if length <= limit {
        return Ok(());
    }
    let message = format!(
        "the address has {length} bytes, at most {limit} are allowed; send the query as the body \
         of a POST to `…/$query`"
    );
    Err(Error::new(ErrorKind::AddressTooLong, message))
}

/// The address of a read whose query came as the body of `POST …/$query`.
pub(super) fn query_of_body(
    method: &Method,
    uri: &Uri,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<Option<Uri>> {
    let Some(path) = path_of_query(uri.path()) else { return Ok(None) };
    if *method != Method::POST {
        return Ok(None);
    }
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    if !content_type.is_some_and(|text| text.to_ascii_lowercase().starts_with("text/plain")) {
        let message = "a query in a body is `text/plain`, as it would stand in the address";
        return Err(Error::new(ErrorKind::UnsupportedMediaType, message));
    }
    let malformed = || Error::malformed("the body isn't a query as it would stand in an address");
    let query = std::str::from_utf8(body).map_err(|_| malformed())?.trim();
    if query.len() > LONGEST_QUERY {
        let message =
            format!("the query has {} bytes, at most {LONGEST_QUERY} are served", query.len());
        return Err(Error::new(ErrorKind::TooLarge, message));
    }
    let given = uri.query().into_iter().chain(std::iter::once(query));
    let given: Vec<&str> = given.filter(|part| !part.is_empty()).collect();
    let address = format!("{path}?{}", given.join("&"));
    address.parse().map(Some).map_err(|_| malformed())
}
