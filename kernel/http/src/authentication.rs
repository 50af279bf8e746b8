//! Who calls: the extractor for handlers.

use std::sync::Arc;

use axum::extract::{FromRequestParts, OptionalFromRequestParts};
use http::header::AUTHORIZATION;
use http::request::Parts;
use svc_core::{Error, Means, Result};
use svc_data::Context;

use crate::authenticator::CookieCredential;
use crate::host::admission::Admission;
use crate::host::guard::check_origin;
use crate::host::ids::RequestIds;
use crate::problem::{ApiError, ApiResult};
use crate::state::HttpState;

/// The caller, who must be signed in, as the context to act in.
///
/// `Option<Ctx>` is for routes that also serve callers without a credential.
#[derive(Clone, Debug)]
pub struct Ctx(pub Context);

impl FromRequestParts<HttpState> for Ctx {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &HttpState) -> ApiResult<Self> {
        let caller = caller(parts, state).await?;
        caller.ok_or_else(|| Error::unauthenticated("sign in, or send an API key").into())
    }
}

impl OptionalFromRequestParts<HttpState> for Ctx {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &HttpState) -> ApiResult<Option<Self>> {
        Ok(caller(parts, state).await?)
    }
}

/// Asks the authenticators in their order; the first that knows the credential decides. Whoever it is
/// has a place among the requests of its person from then on.
pub(crate) async fn caller(parts: &mut Parts, state: &HttpState) -> Result<Option<Ctx>> {
    if let Some(known) = parts.extensions.get::<Ctx>() {
        return Ok(Some(known.clone()));
    }
    for authenticator in state.authenticators() {
        if let Some(mut principal) = authenticator.authenticate(state.app(), parts).await? {
            if parts.extensions.get::<CookieCredential>().is_some() {
                principal = principal.known_by(Means::Cookie);
            }
            check_origin(&principal, parts, state.settings().public_url.as_ref())?;
            if let Some(admission) = parts.extensions.get::<Admission>() {
                admission.admit(state.requests(), &principal).await?;
            }
            let ids = parts.extensions.get::<RequestIds>();
            let correlation = ids.map_or_else(|| state.app().clock().new_id(), RequestIds::trace);
            let mut context = Context::new(state.app(), Arc::new(principal), correlation)?;
            if ids.is_none_or(RequestIds::is_alone_in_trace) {
                context = context.with_correlation_of_its_own();
            }
            let known = Ctx(context.within_share());
            parts.extensions.insert(known.clone());
            return Ok(Some(known));
        }
    }
    if parts.headers.contains_key(AUTHORIZATION) {
        return Err(Error::unauthenticated(
            "the credential in `Authorization` is of no kind that is known here; send `Bearer` \
             with an API key",
        ));
    }
    Ok(None)
}
