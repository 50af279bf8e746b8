use axum::extract::FromRequestParts;
use http::request::Parts;
use serde::de::DeserializeOwned;
use svc_core::{Error, FieldErrors};

use super::fields;
use crate::problem::{ApiError, ApiResult};
use crate::state::HttpState;

/// The query of a request. An unknown parameter, one that comes twice, and one that can't be read
/// are refused with 400, which names it; so is the character U+0000, which PostgreSQL refuses in
/// text. For lists that page see [`Paged`](super::Paged).
#[derive(Clone, Copy, Debug)]
pub struct ApiQuery<T>(pub T);

impl<T: DeserializeOwned> FromRequestParts<HttpState> for ApiQuery<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &HttpState) -> ApiResult<Self> {
        Ok(Self(parse(parts.uri.query().unwrap_or_default())?))
    }
}

/// Reads a query string as a type.
pub(super) fn parse<T: DeserializeOwned>(query: &str) -> Result<T, Error> {
    if let Some((name, _)) = form_pairs(query).find(|(_, value)| value.contains('\0')) {
        let message = "must not contain the character U+0000".to_owned();
        return Err(refuse(FieldErrors::from([(name.into_owned(), vec![message])])));
    }
    let pairs = form_pairs(query);
    fields::read(serde_urlencoded::Deserializer::new(pairs)).map_err(refuse)
}

fn form_pairs(query: &str) -> form_urlencoded::Parse<'_> {
    form_urlencoded::parse(query.as_bytes())
}

/// The refusal of parameters, which are malformed rather than invalid: no form was filled in.
pub(super) fn refuse(errors: FieldErrors) -> Error {
    let named: Vec<String> = errors
        .iter()
        .map(|(name, messages)| format!("the query parameter `{name}`: {}", messages.join("; ")))
        .collect();
    let target = errors.keys().next().cloned().unwrap_or_default();
    Error::malformed(named.join(", ")).with_fields(errors).target(target)
}
