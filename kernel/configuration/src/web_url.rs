//! Web addresses as settings.

use std::fmt;
use std::net::Ipv6Addr;
use std::str::FromStr;

use serde::{Serialize, Serializer};

/// An absolute `http` or `https` address without user name, password and fragment, kept as written.
///
/// It is a checked text, so that the kernel needs no URL library; who needs the parts parses it.
///
/// # Examples
/// ```
/// use svc_configuration::WebUrl;
///
/// let issuer: WebUrl = "https://login.example.com/tenant".parse()?;
/// assert_eq!(issuer.as_str(), "https://login.example.com/tenant");
/// assert!("login.example.com".parse::<WebUrl>().is_err());
/// # Ok::<(), svc_configuration::WebUrlError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WebUrl(String);

/// A text is not a web address that settings accept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected a web address such as `https://example.com/path`, without user name, password and `#`"
)]
pub struct WebUrlError;

impl WebUrl {
    /// The address as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the scheme is `https`.
    #[must_use]
    pub fn is_https(&self) -> bool {
        self.0.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https:"))
    }
}

impl FromStr for WebUrl {
    type Err = WebUrlError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if is_web_url(text) { Ok(Self(text.to_owned())) } else { Err(WebUrlError) }
    }
}

fn is_web_url(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once("://") else { return false };
    let scheme_is_known = ["http", "https"].iter().any(|name| scheme.eq_ignore_ascii_case(name));
    // A backslash is a slash to browsers and a part of the host to others.
    let characters_are_plain = text.chars().all(|each| each.is_ascii_graphic() && each != '\\');
    let end_of_authority = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    scheme_is_known
        && characters_are_plain
        && !text.contains('#')
        && is_authority(&rest[..end_of_authority])
}

fn is_authority(authority: &str) -> bool {
    if let Some(rest) = authority.strip_prefix('[') {
        return rest.split_once(']').is_some_and(|(address, port)| {
            address.parse::<Ipv6Addr>().is_ok()
                && (port.is_empty() || port.strip_prefix(':').is_some_and(is_port))
        });
    }
    match authority.split_once(':') {
        Some((host, port)) => is_host(host) && is_port(port),
        None => is_host(authority),
    }
}

fn is_host(host: &str) -> bool {
    let is_label = |label: &str| {
        !label.is_empty()
            && label.chars().all(|each| each.is_ascii_alphanumeric() || "-_".contains(each))
    };
    host.len() <= 253 && host.strip_suffix('.').unwrap_or(host).split('.').all(is_label)
}

fn is_port(port: &str) -> bool {
    port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok_and(|port| port > 0)
}

impl fmt::Display for WebUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl Serialize for WebUrl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

crate::text_setting!(
    WebUrl,
    "a web address such as `https://example.com/path`, without user name, password and `#`"
);

#[cfg(test)]
mod tests {
    use super::WebUrl;

    #[test]
    fn web_addresses_are_told_from_other_texts() {
        for text in [
            "https://example.com",
            "http://localhost:8080/",
            "HTTPS://Example.com/a?b=c:d@e",
            "https://[::1]:8443/x",
            "https://[2001:db8::1]",
            "http://127.0.0.1:5000",
            "https://xn--bro-hoa.example/",
            "https://example.com./",
            "http://my_host/",
        ] {
            assert_eq!(text.parse::<WebUrl>().unwrap().as_str(), text);
        }
        for text in [
            "",
            "example.com",
            "//example.com",
            "ftp://example.com",
            "https://",
            "https:///path",
            "https://user@example.com",
            "https://user:pass@example.com",
            "https://example.com/#top",
            "https://example.com:0",
            "https://example.com:65536",
            "https://example.com:+80",
            "https://example.com:",
            "https://exa mple.com",
            "https://example..com",
            "https://büro.de",
            "https://[::1",
            "https://[::g]",
            "https://[::1]x",
            "https://a\\b",
            "https:// example.com",
        ] {
            assert!(text.parse::<WebUrl>().is_err(), "{text}");
        }
        assert!("Https://a".parse::<WebUrl>().unwrap().is_https());
        assert!(!"http://a".parse::<WebUrl>().unwrap().is_https());
    }
}
