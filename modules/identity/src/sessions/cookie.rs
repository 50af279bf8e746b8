//! The cookie that a browser keeps of its session.

use std::net::IpAddr;
use std::time::Duration;

use http::header::{COOKIE, HOST, SET_COOKIE};
use http::{HeaderMap, HeaderName, HeaderValue};
use svc_core::App;
use svc_core::settings::WebUrl;
use svc_http::HttpSettings;

const NAME: &str = "svc-session";

/// How long a value is: 32 bytes in base64 without padding.
const LENGTH: usize = 43;

/// A `Set-Cookie` for a browser. `Debug` shows nothing of its value.
#[derive(Clone)]
pub struct SessionCookie(HeaderValue);

impl SessionCookie {
    pub(super) fn new(app: &App, headers: &HeaderMap, token: &str, lifetime: Duration) -> Self {
        Self::set(app, headers, token, lifetime.as_secs())
    }

    /// The one that makes a browser forget its session.
    pub(super) fn none(app: &App, headers: &HeaderMap) -> Self {
        Self::set(app, headers, "", 0)
    }

    fn set(app: &App, headers: &HeaderMap, value: &str, seconds: u64) -> Self {
        let text = set_cookie(is_plain_loopback(app, headers), NAME, value, seconds);
        let mut value = text;
        value.set_sensitive(true);
        Self(value)
    }

    /// The header, for an answer.
    #[must_use]
    pub fn header(&self) -> (HeaderName, HeaderValue) {
        (SET_COOKIE, self.0.clone())
    }
}

impl std::fmt::Debug for SessionCookie {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SessionCookie(***)")
    }
}

/// A cookie for this host alone. `name` and `value` are of characters that need no quotes.
pub(crate) fn set_cookie(is_plain: bool, name: &str, value: &str, seconds: u64) -> HeaderValue {
    let name = full_name(is_plain, name);
    let secure = if is_plain { "" } else { "; Secure" };
    let text = format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly{secure}; SameSite=Lax");
    HeaderValue::try_from(text).expect("names and values are of visible letters")
}

fn full_name(is_plain: bool, name: &str) -> String {
    if is_plain { name.to_owned() } else { format!("__Host-{name}") }
}

/// What the browser presents as its session.
pub(super) fn presented(app: &App, headers: &HeaderMap) -> Option<String> {
    let value = cookie(is_plain_loopback(app, headers), headers, NAME)?;
    (value.len() == LENGTH).then_some(value)
}

/// The value of a cookie of ours; none where there are several of the name, of which one is not ours.
pub(crate) fn cookie(is_plain: bool, headers: &HeaderMap, name: &str) -> Option<String> {
    let name = full_name(is_plain, name);
    let mut values = headers
        .get_all(COOKIE)
        .iter()
        .filter_map(|header| header.to_str().ok())
        .flat_map(|header| header.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .filter(|(known, _)| *known == name)
        .map(|(_, value)| value.to_owned());
    values.next().filter(|_| values.next().is_none())
}

/// Whether a browser reaches the application on its own machine without TLS: then its cookies can't
/// have the prefix `__Host-`.
#[must_use]
pub fn is_plain_loopback(app: &App, headers: &HeaderMap) -> bool {
    let settings = app.settings::<HttpSettings>();
    if settings.public_url.as_ref().is_some_and(WebUrl::is_https) {
        return false;
    }
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    host.is_some_and(is_loopback)
}

fn is_loopback(authority: &str) -> bool {
    let host = match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(cookies: &[&'static str]) -> HeaderMap {
        cookies.iter().map(|text| (COOKIE, HeaderValue::from_static(text))).collect()
    }

    #[test]
    fn a_cookie_is_found_among_others_by_its_whole_name() {
        let several = headers(&["a=1; __Host-svc-session=abc; b=2"]);
        assert_eq!(cookie(false, &several, NAME).as_deref(), Some("abc"));
        assert_eq!(cookie(true, &several, NAME), None);
        let split = headers(&["a=1", "svc-session=abc"]);
        assert_eq!(cookie(true, &split, NAME).as_deref(), Some("abc"));
        assert_eq!(cookie(false, &split, NAME), None);
    }

    #[test]
    fn a_second_cookie_of_the_name_makes_both_worthless() {
        let tossed = headers(&["svc-session=abc; svc-session=def"]);
        assert_eq!(cookie(true, &tossed, NAME), None);
    }

    #[test]
    fn only_the_own_machine_does_without_tls() {
        for host in ["localhost", "LOCALHOST:5080", "127.0.0.1:80", "127.8.9.1", "[::1]:5080"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in
            ["localhost.example", "example.com", "10.0.0.1", "[::2]", "", "127.0.0.1.nip.io"]
        {
            assert!(!is_loopback(host), "{host}");
        }
        let set = set_cookie(false, NAME, "abc", 60);
        let expected = "__Host-svc-session=abc; Path=/; Max-Age=60; HttpOnly; Secure; SameSite=Lax";
        assert_eq!(set, expected);
    }
}
