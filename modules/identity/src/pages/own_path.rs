//! Where the pages are, and where one leads afterwards: only to this application.

use serde::Deserialize;

/// Where the pages are.
pub(crate) const PREFIX: &str = "/account";

/// The longest address that is followed, in bytes.
const LONGEST: usize = 4_000;

/// An address within this application: a path, with a query perhaps.
///
/// It is followed by a browser as it stands, so it must not be read as another host's by any of them:
/// `//host`, `/\host` and what browsers drop while they read (tabs, line ends) are no paths of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OwnPath(String);

impl OwnPath {
    /// Reads an address that a request names; the application's first page where it is none of ours.
    pub(crate) fn parse(text: &str) -> Self {
        let is_ours = text.len() <= LONGEST
            && text.starts_with('/')
            && !text[1..].starts_with(['/', '\\'])
            && text.chars().all(|letter| letter.is_ascii_graphic() && letter != '\\');
        Self(if is_ours { text.to_owned() } else { "/".to_owned() })
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is the `OpenID` provider's, which leads on to the application that asked for the
    /// sign-in: perhaps on another host, where a form may not lead (`form-action`).
    pub(crate) fn leads_on(&self) -> bool {
        self.0.starts_with("/connect/")
    }

    /// The address of a page that leads there in the end.
    pub(crate) fn behind(&self, page: &str) -> String {
        if self.0 == "/" {
            return page.to_owned();
        }
        let query = serde_urlencoded::to_string([("return", &self.0)]);
        format!("{page}?{}", query.unwrap_or_default())
    }
}

/// Where a page is asked to lead afterwards.
#[derive(Deserialize)]
pub(super) struct Back {
    #[serde(default)]
    pub(super) r#return: String,
    /// The address that a program expects to sign in (OpenID Connect Core, section 3.1.2.1): no more than
    /// what stands in the field at first.
    #[serde(default)]
    pub(super) login_hint: String,
}

impl Back {
    pub(super) fn path(&self) -> OwnPath {
        OwnPath::parse(&self.r#return)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_of_this_application_are_followed() {
        for own in ["/", "/account", "/connect/authorize?a=b%2F%2Fc&d=https://x.example", "/a//b"] {
            assert_eq!(OwnPath::parse(own).as_str(), own);
        }
        let long = format!("/{}", "a".repeat(LONGEST));
        for other in [
            "",
            "https://evil.example",
            "//evil.example",
            "/\\evil.example",
            "\\\\evil.example",
            "/\t/evil.example",
            "/\n/evil.example",
            " /evil",
            "javascript:alert(1)",
            "account",
            "/ä",
            "/a b",
            "/a\\b",
            &long,
        ] {
            assert_eq!(OwnPath::parse(other).as_str(), "/", "{other:?}");
        }
    }

    #[test]
    fn a_page_is_told_where_to_lead() {
        let path = OwnPath::parse("/connect/authorize?a=b&c=d");
        let expected = "/account/sign-in?return=%2Fconnect%2Fauthorize%3Fa%3Db%26c%3Dd";
        assert_eq!(path.behind("/account/sign-in"), expected);
        assert_eq!(OwnPath::parse("/").behind("/account/sign-in"), "/account/sign-in");
    }
}
