//! Who calls: the extractors for handlers.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{ConnectInfo, FromRequestParts, OptionalFromRequestParts};
use http::Request;
use http::header::AUTHORIZATION;
use http::request::Parts;
use svc_core::{Error, ErrorKind, Means, Principal, Result};
use svc_data::Context;

use crate::authenticator::CookieCredential;
use crate::host::admission::Admission;
use crate::host::guard::{check_organisation, check_origin};
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

/// What a caller came with: for answers that go on for long, and ask again whether it still holds.
#[derive(Clone)]
pub struct Presented {
    state: HttpState,
    /// The request as authenticators look at it, without what belongs to its handling, such as its
    /// place among those of its person.
    request: Parts,
}

impl Presented {
    /// Whom it speaks for, with the rights of this moment; nobody where it opens nothing any more: a
    /// key that was revoked or has ended, a session that was left, a person who was disabled.
    ///
    /// # Errors
    ///
    /// A fault of whoever is asked.
    pub async fn principal(&self) -> Result<Option<Principal>> {
        match authenticated(&self.request, &self.state).await {
            Err(error) if error.kind() == ErrorKind::Unauthenticated => Ok(None),
            outcome => outcome,
        }
    }
}

impl FromRequestParts<HttpState> for Presented {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &HttpState) -> Result<Self, Infallible> {
        let (mut request, ()) = Request::new(()).into_parts();
        request.method = parts.method.clone();
        request.uri = parts.uri.clone();
        request.headers = parts.headers.clone();
        if let Some(peer) = parts.extensions.get::<ConnectInfo<SocketAddr>>() {
            request.extensions.insert(*peer);
        }
        if let Some(cookie) = parts.extensions.get::<CookieCredential>() {
            request.extensions.insert(*cookie);
        }
        Ok(Self { state: state.clone(), request })
    }
}

/// Asks the authenticators in their order; the first that knows the credential decides.
async fn authenticated(parts: &Parts, state: &HttpState) -> Result<Option<Principal>> {
    for authenticator in state.authenticators() {
        if let Some(principal) = authenticator.authenticate(state.app(), parts).await? {
            let by_cookie = parts.extensions.get::<CookieCredential>().is_some();
            return Ok(Some(if by_cookie { principal.known_by(Means::Cookie) } else { principal }));
        }
    }
    Ok(None)
}

/// Who calls. Whoever it is has a place among the requests of its person from then on.
pub(crate) async fn caller(parts: &mut Parts, state: &HttpState) -> Result<Option<Ctx>> {
    if let Some(known) = parts.extensions.get::<Ctx>() {
        return Ok(Some(known.clone()));
    }
    let Some(principal) = authenticated(parts, state).await? else {
        if parts.headers.contains_key(AUTHORIZATION) {
            return Err(Error::unauthenticated(
                "the credential in `Authorization` is of no kind that is known here; send `Bearer` \
                 with an API key",
            ));
        }
        return Ok(None);
    };
    check_origin(&principal, parts, state.settings().public_url.as_ref())?;
    check_organisation(&principal, &parts.headers)?;
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
    Ok(Some(known))
}
