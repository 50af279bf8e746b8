//! Headers that an endpoint asks for besides ours. They may carry tokens, so they are kept as
//! secrets are.

use std::collections::BTreeMap;

use http::{HeaderMap, HeaderName, HeaderValue};
use svc_client::is_connection_header;
use svc_core::{FieldErrors, KeyRing, Result};
use uuid::Uuid;

use crate::model::endpoint;
use crate::sealed;

/// The most headers of an endpoint.
const MAX_HEADERS: usize = 20;
/// The longest value.
const MAX_VALUE: usize = 2_048;

/// Checks headers; the messages are by field, such as `headers.X-Token`.
///
/// # Errors
///
/// For each header that is none, that comes twice, or whose name is ours or the connection's.
pub(crate) fn check(given: &BTreeMap<String, String>) -> Result<HeaderMap, FieldErrors> {
    let mut errors = FieldErrors::new();
    let mut headers = HeaderMap::new();
    if given.len() > MAX_HEADERS {
        let message = format!("must have at most {MAX_HEADERS} headers");
        errors.insert("headers".to_owned(), vec![message]);
    }
    for (name, value) in given {
        let mut refuse = |problem: &str| {
            let field = format!("headers.{}", name.chars().take(100).collect::<String>());
            errors.entry(field).or_default().push(problem.to_owned());
        };
        match check_one(name, value) {
            // Names may differ in their case alone.
            Ok((name, _)) if headers.contains_key(&name) => refuse("comes twice"),
            Ok((name, value)) => drop(headers.insert(name, value)),
            Err(problem) => refuse(problem),
        }
    }
    if errors.is_empty() { Ok(headers) } else { Err(errors) }
}

fn check_one(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), &'static str> {
    let name: HeaderName = name.parse().map_err(|_| "isn't a name of a header")?;
    if is_reserved(&name) {
        return Err("is set by the sender; choose another name");
    }
    if value.len() > MAX_VALUE {
        return Err("must have a value of at most 2048 characters");
    }
    let mut value: HeaderValue =
        value.parse().map_err(|_| "must have a value of visible ASCII characters")?;
    value.set_sensitive(true);
    Ok((name, value))
}

/// Whether the sender sets the header itself, or it changes what the request means.
fn is_reserved(name: &HeaderName) -> bool {
    is_connection_header(name)
        || name.as_str().starts_with("webhook-")
        || matches!(
            name.as_str(),
            "content-type" | "content-encoding" | "user-agent" | "accept-encoding" | "cookie"
        )
}

/// The headers in the form in which they are stored; none when there are none.
pub(crate) fn protect(
    ring: &KeyRing,
    endpoint: Uuid,
    given: &BTreeMap<String, String>,
) -> Result<Option<String>> {
    (!given.is_empty()).then(|| sealed::protect_json(ring, endpoint, given)).transpose()
}

/// The stored headers by name.
pub(crate) fn reveal_map(
    ring: &KeyRing,
    stored: &endpoint::Model,
) -> Result<BTreeMap<String, String>> {
    sealed::reveal_json(ring, stored.id, stored.headers.as_deref())
}

/// The stored headers, ready for sending.
pub(crate) fn reveal(ring: &KeyRing, stored: &endpoint::Model) -> Result<HeaderMap> {
    // They were checked when they were saved; one that is refused by now is left out.
    let given = reveal_map(ring, stored)?;
    Ok(given.iter().filter_map(|(name, value)| check_one(name, value).ok()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(name: &str, value: &str) -> Option<String> {
        let given = BTreeMap::from([(name.to_owned(), value.to_owned())]);
        check(&given).err().map(|errors| errors[&format!("headers.{name}")].join("; "))
    }

    #[test]
    fn names_that_are_ours_or_the_connection_s_are_refused() {
        for name in [
            "Host",
            "content-length",
            "Transfer-Encoding",
            "Webhook-Id",
            "webhook-anything",
            "Content-Type",
            "User-Agent",
            "Connection",
            "Cookie",
        ] {
            assert!(problem(name, "x").unwrap().contains("choose another"), "{name}");
        }
        assert_eq!(problem("X-Token", "abc"), None);
        assert_eq!(problem("Authorization", "Bearer abc"), None);
    }

    #[test]
    fn a_name_comes_once_in_whatever_case() {
        let given = ["X-Token", "x-token"].map(|name| (name.to_owned(), "abc".to_owned()));
        let errors = check(&BTreeMap::from(given)).unwrap_err();
        assert_eq!(errors["headers.x-token"], ["comes twice"]);
        assert_eq!(errors.len(), 1);
    }

    #[test]
    fn what_would_end_a_header_is_refused() {
        assert!(problem("X-A", "a\r\nX-B: c").is_some());
        assert!(problem("X A", "a").is_some());
        assert!(problem("", "a").is_some());
        assert!(problem("X-A", &"x".repeat(2_049)).is_some());
    }
}
