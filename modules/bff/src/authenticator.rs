//! Who calls with the cookie of a sign-in.
//!
//! | What could forge a request | What stops it |
//! | --- | --- |
//! | a form or a script of another site | `X-CSRF`, which a browser doesn't send for another origin unasked; it is needed for reading, too |
//! | a page of a neighbouring host | `Sec-Fetch-Site` must be `same-origin`; `SameSite=Lax` |
//! | a cookie that was tossed in | `__Host-`, and two of the name count as none |
//! | a header that says to come from here | nothing is read but `Sec-Fetch-*` and `Origin`, which pages can't set |
//!
//! A cookie counts only for routes that ask who calls: there is no list of paths that an address could be
//! written past. `Authorization`, where it is sent, goes before the cookie.

use async_trait::async_trait;
use http::HeaderMap;
use http::header::AUTHORIZATION;
use http::request::Parts;
use svc_core::{App, Means, Principal, Result};
use svc_http::Authenticator;

use crate::errors::{FOREIGN_PAGE, NEEDS_HEADER};
use crate::service::Host;

/// The header that a page of this application adds.
const CSRF: &str = "x-csrf";

/// Knows browsers by the cookie of their sign-in.
pub(crate) struct CookieAuthenticator;

#[async_trait]
impl Authenticator for CookieAuthenticator {
    async fn authenticate(&self, app: &App, request: &Parts) -> Result<Option<Principal>> {
        if request.headers.contains_key(AUTHORIZATION) {
            return Ok(None);
        }
        let host = Host::of(app)?;
        let Some(session) = host.session(app, &request.headers).await? else { return Ok(None) };
        let principal = host.issuer.embedded()?.principal(&session.tokens.access).await?;
        let Some(principal) = principal else { return Ok(None) };
        // Asked of who is signed in alone: whoever isn't learns that first.
        check_page(&request.headers)?;
        Ok(Some(principal.known_by(Means::Cookie)))
    }
}

/// Refuses what a page of another site could have made a browser send.
pub(crate) fn check_page(headers: &HeaderMap) -> Result<()> {
    if !headers.contains_key(CSRF) {
        return Err(NEEDS_HEADER
            .error("a request by a signed-in browser needs the header `X-CSRF`, with any value"));
    }
    if headers.get("sec-fetch-site").is_some_and(|site| site != "same-origin") {
        return Err(FOREIGN_PAGE
            .error("a request by a signed-in browser must come from a page of this application"));
    }
    Ok(())
}
