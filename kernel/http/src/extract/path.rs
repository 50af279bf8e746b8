use axum::extract::{FromRequestParts, Path};
use http::request::Parts;
use serde::de::DeserializeOwned;
use svc_core::Error;

use crate::problem::{ApiError, ApiResult};
use crate::state::HttpState;

/// The parameters of a path. One that can't be read names nothing that exists: 404. So does one
/// with the character U+0000, which PostgreSQL has in no text.
#[derive(Clone, Copy, Debug)]
pub struct ApiPath<T>(pub T);

impl<T: DeserializeOwned + Send> FromRequestParts<HttpState> for ApiPath<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &HttpState) -> ApiResult<Self> {
        let nothing = || ApiError::from(Error::not_found("there is no such record"));
        if parts.uri.path().contains("%00") {
            return Err(nothing());
        }
        match Path::<T>::from_request_parts(parts, state).await {
            Ok(Path(parameters)) => Ok(Self(parameters)),
            Err(rejection) if rejection.status().is_client_error() => Err(nothing()),
            // The handler asks for other parameters than its route has.
            Err(rejection) => Err(Error::internal(rejection.body_text()).into()),
        }
    }
}
