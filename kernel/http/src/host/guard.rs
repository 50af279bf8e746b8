//! What is refused before anybody is asked: requests that a page of another site could make a browser
//! send, and bodies that don't say what they are.
//!
//! A browser adds cookies by itself, also to what a foreign page sends. So whoever is known by a
//! cookie changes something only with a request that such a page can't make:
//!
//! | Of an unsafe method by cookie | must be |
//! | --- | --- |
//! | `X-CSRF` | there, whatever it says: a foreign page can't add a header without being asked first |
//! | `Sec-Fetch-Site`, where the browser sends it | `same-origin` |
//! | `Origin`, where it doesn't | that of `Svc:Http:PublicUrl`, or of the `Host` that was asked |
//!
//! Methods are safe that change nothing: GET, HEAD, OPTIONS and TRACE.
//!
//! A cookie stands for whoever signed in last, in whichever organisation. So a page that shows one says which
//! it is (`Svc-Organisation`), and nothing that was meant for it comes to be in another.

use axum::body::HttpBody;
use http::header::{CONTENT_TYPE, HOST, ORIGIN};
use http::request::Parts;
use http::{HeaderMap, Method, Request};
use svc_core::settings::WebUrl;
use svc_core::{Error, ErrorKind, Means, Principal, Result};
use uuid::Uuid;

use crate::errors::OTHER_ORGANISATION;

/// The header that a page of this application adds to whatever changes something.
const CSRF: &str = "x-csrf";

/// The header that says for which organisation a request is meant.
const ORGANISATION: &str = "svc-organisation";

/// Refuses what a page of another site could have made a browser send.
///
/// # Errors
///
/// [`ErrorKind::Forbidden`], saying what is missing.
pub(crate) fn check_origin(
    who: &Principal,
    request: &Parts,
    public_url: Option<&WebUrl>,
) -> Result<()> {
    if who.means() != Means::Cookie || request.method.is_safe() {
        return Ok(());
    }
    if !request.headers.contains_key(CSRF) {
        return Err(Error::forbidden(
            "a change by a signed-in browser needs the header `X-CSRF`, with any value",
        ));
    }
    if comes_from_here(&request.headers, public_url) {
        return Ok(());
    }
    Err(Error::forbidden(
        "a change by a signed-in browser must come from a page of this application",
    ))
}

/// Refuses a request that was meant for another organisation than the caller's.
///
/// # Errors
///
/// [`OTHER_ORGANISATION`].
pub(crate) fn check_organisation(who: &Principal, headers: &HeaderMap) -> Result<()> {
    let Some(meant) = headers.get(ORGANISATION) else { return Ok(()) };
    let meant = meant.to_str().ok().and_then(|meant| meant.parse::<Uuid>().ok());
    if meant.is_some() && meant == who.organisation().map(|organisation| organisation.0) {
        return Ok(());
    }
    Err(OTHER_ORGANISATION.error(
        "the caller works in another organisation than `Svc-Organisation` says; load the page again",
    ))
}

/// Whether a browser says that one of this application's own pages sent the request: for forms, which can
/// have no header of their own. What says nothing about it does not.
#[must_use]
pub fn comes_from_here(headers: &HeaderMap, public_url: Option<&WebUrl>) -> bool {
    if let Some(site) = headers.get("sec-fetch-site") {
        return site == "same-origin";
    }
    let text = |name| headers.get(name).and_then(|value: &http::HeaderValue| value.to_str().ok());
    let Some(origin) = text(ORIGIN) else { return false };
    let asked = text(HOST).is_some_and(|host| {
        origin.split_once("://").is_some_and(|(_, authority)| authority.eq_ignore_ascii_case(host))
    });
    match public_url {
        Some(url) => origin_of(url.as_str()).eq_ignore_ascii_case(origin),
        None => asked,
    }
}

/// The origin of an address: scheme, host and port.
fn origin_of(url: &str) -> &str {
    let start = url.find("://").map_or(0, |place| place + 3);
    url[start..].find('/').map_or(url, |end| &url[..start + end])
}

/// Refuses a body that doesn't say what it is: a browser sends such a one for any page, unasked.
///
/// # Errors
///
/// [`ErrorKind::UnsupportedMediaType`].
pub(super) fn check_body<B: HttpBody>(request: &Request<B>) -> Result<()> {
    let may_change = !request.method().is_safe() && *request.method() != Method::CONNECT;
    if !may_change || request.headers().contains_key(CONTENT_TYPE) || request.body().is_end_stream()
    {
        return Ok(());
    }
    let message = "the body has no `Content-Type`; say what it is, such as `application/json`";
    Err(Error::new(ErrorKind::UnsupportedMediaType, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(method: Method, headers: &[(&str, &str)]) -> Parts {
        let mut request = Request::builder().method(method).uri("/api/v1/things");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(()).unwrap().into_parts().0
    }

    fn check(headers: &[(&str, &str)]) -> bool {
        let who = Principal::system().known_by(Means::Cookie);
        check_origin(&who, &parts(Method::POST, headers), None).is_ok()
    }

    #[test]
    fn a_cookie_changes_something_only_from_a_page_of_this_application() {
        let host = ("host", "svc.example:8080");
        assert!(check(&[("x-csrf", "1"), ("sec-fetch-site", "same-origin")]));
        assert!(check(&[("x-csrf", "1"), ("origin", "https://svc.example:8080"), host]));
        for refused in [
            &[host][..],
            &[("x-csrf", "1"), host],
            &[("sec-fetch-site", "same-origin")],
            &[("x-csrf", "1"), ("sec-fetch-site", "same-site"), host],
            &[
                ("x-csrf", "1"),
                ("sec-fetch-site", "cross-site"),
                ("origin", "https://svc.example:8080"),
                host,
            ],
            &[("x-csrf", "1"), ("origin", "https://svc.example"), host],
            &[("x-csrf", "1"), ("origin", "null"), host],
        ] {
            assert!(!check(refused), "{refused:?}");
        }
    }

    #[test]
    fn what_changes_nothing_and_who_is_known_otherwise_is_not_asked() {
        let cookie = Principal::system().known_by(Means::Cookie);
        assert!(check_origin(&cookie, &parts(Method::GET, &[]), None).is_ok());
        let header = Principal::system().known_by(Means::Header);
        assert!(check_origin(&header, &parts(Method::POST, &[]), None).is_ok());
    }

    #[test]
    fn behind_a_proxy_the_public_address_counts() {
        let url: WebUrl = "https://svc.example/app".parse().unwrap();
        let who = Principal::system().known_by(Means::Cookie);
        let asked = |origin| {
            let headers = [("x-csrf", "1"), ("origin", origin), ("host", "10.0.0.1")];
            check_origin(&who, &parts(Method::DELETE, &headers), Some(&url)).is_ok()
        };
        assert!(asked("https://svc.example"));
        assert!(!asked("https://svc.example:444"));
        assert!(!asked("http://10.0.0.1"));
    }

    #[test]
    fn a_body_says_what_it_is() {
        let request = |method, body: &'static str| {
            let body = axum::body::Body::from(body);
            Request::builder().method(method).body(body).unwrap()
        };
        assert!(check_body(&request(Method::POST, "")).is_ok());
        assert!(check_body(&request(Method::GET, "{}")).is_ok());
        let refused = check_body(&request(Method::POST, "{}")).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::UnsupportedMediaType);
    }
}
