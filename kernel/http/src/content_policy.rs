//! What a page may do in a browser (Content Security Policy, level 3).

use std::fmt::Write as _;

use http::HeaderValue;
use svc_core::random_token;

/// What a page may do in a browser: nothing, but for what is allowed one by one. Its text is the value of
/// `Content-Security-Policy`.
///
/// An answer without a policy of its own gets the host's, under which a page may do nothing at all.
///
/// ```
/// use svc_http::ContentPolicy;
///
/// let policy = ContentPolicy::closed().scripts("'self'").styles("'self'").posts_to("'self'");
/// assert_eq!(
///     policy.to_string(),
///     "default-src 'none'; base-uri 'none'; frame-ancestors 'none'; script-src 'self'; style-src 'self'; \
///      form-action 'self'"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentPolicy(Vec<(&'static str, Vec<String>)>);

impl ContentPolicy {
    /// Nothing at all.
    #[must_use]
    pub fn closed() -> Self {
        let none = |directive| (directive, vec!["'none'".to_owned()]);
        Self(["default-src", "base-uri", "frame-ancestors", "form-action"].map(none).into())
    }

    /// Allows something: a directive such as `worker-src`, and a source expression such as `'self'` or an origin.
    #[must_use]
    pub fn allow(mut self, directive: &'static str, source: impl Into<String>) -> Self {
        let known = self.0.iter().position(|(known, _)| *known == directive);
        let mut sources = known.map(|place| self.0.remove(place).1).unwrap_or_default();
        sources.retain(|known| known != "'none'");
        sources.push(source.into());
        self.0.push((directive, sources));
        self
    }

    /// Allows scripts from a source.
    #[must_use]
    pub fn scripts(self, source: impl Into<String>) -> Self {
        self.allow("script-src", source)
    }

    /// Allows style sheets from a source.
    #[must_use]
    pub fn styles(self, source: impl Into<String>) -> Self {
        self.allow("style-src", source)
    }

    /// Allows pictures from a source, such as `data:`.
    #[must_use]
    pub fn pictures(self, source: impl Into<String>) -> Self {
        self.allow("img-src", source)
    }

    /// Allows fonts from a source.
    #[must_use]
    pub fn fonts(self, source: impl Into<String>) -> Self {
        self.allow("font-src", source)
    }

    /// Allows scripts to send requests to a source.
    #[must_use]
    pub fn requests_to(self, source: impl Into<String>) -> Self {
        self.allow("connect-src", source)
    }

    /// Allows forms to be sent to a source. Redirects of what they send count as well.
    #[must_use]
    pub fn posts_to(self, source: impl Into<String>) -> Self {
        self.allow("form-action", source)
    }

    /// Allows pages of other origins within frames of this page.
    #[must_use]
    pub fn frames(self, source: impl Into<String>) -> Self {
        self.allow("frame-src", source)
    }

    /// Allows pages of these origins to show this one in a frame; none lets nobody.
    #[must_use]
    pub fn framed_by(self, origins: impl IntoIterator<Item = impl Into<String>>) -> Self {
        origins.into_iter().fold(self, |policy, origin| policy.allow("frame-ancestors", origin))
    }

    /// Allows the scripts and style elements of the page that carry the nonce.
    #[must_use]
    pub fn with_nonce(self, nonce: &Nonce) -> Self {
        let source = format!("'nonce-{}'", nonce.0);
        self.scripts(source.clone()).styles(source)
    }

    /// Has browsers refuse texts where the page's scripts could turn them into scripts, but through the policies of these
    /// names (Trusted Types).
    #[must_use]
    pub fn trusted_types(self, policies: impl IntoIterator<Item = &'static str>) -> Self {
        let mut names: Vec<String> = policies.into_iter().map(str::to_owned).collect();
        if names.is_empty() {
            names.push("'none'".to_owned());
        }
        let mut policy = self.allow("require-trusted-types-for", "'script'");
        policy.0.push(("trusted-types", names));
        policy
    }

    /// The value of the header.
    #[must_use]
    pub fn header(&self) -> HeaderValue {
        // A source that can't stand in a header, or would end its directive and begin another, closes
        // the page rather than the gate.
        let mut sources = self.0.iter().flat_map(|(_, sources)| sources);
        let text = sources.all(|source| !source.contains([';', ','])).then(|| self.to_string());
        text.and_then(|text| HeaderValue::from_str(&text).ok())
            .unwrap_or(HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"))
    }
}

impl std::fmt::Display for ContentPolicy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (place, (directive, sources)) in self.0.iter().enumerate() {
            let separator = if place == 0 { "" } else { "; " };
            write!(f, "{separator}{directive}")?;
            for source in sources {
                f.write_char(' ')?;
                f.write_str(source)?;
            }
        }
        Ok(())
    }
}

/// The origins whose pages may show pages of the application in a frame: a service that a module may provide, for all who
/// write pages. Without it nobody may.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrameAncestors(pub Vec<String>);

/// A word that an answer gives its own scripts and style elements, for this one time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nonce(String);

impl Nonce {
    /// A new one.
    #[must_use]
    pub fn random() -> Self {
        Self(random_token::<16>())
    }

    /// The word, for the attribute `nonce`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_allowed_stands_in_place_of_nothing() {
        let policy = ContentPolicy::closed()
            .framed_by(["https://a.example", "https://b.example"])
            .pictures("'self'")
            .pictures("data:")
            .trusted_types(["lit-html"]);
        assert_eq!(
            policy.to_string(),
            "default-src 'none'; base-uri 'none'; form-action 'none'; \
             frame-ancestors https://a.example https://b.example; img-src 'self' data:; \
             require-trusted-types-for 'script'; trusted-types lit-html"
        );
        assert_eq!(ContentPolicy::closed().framed_by([""; 0]), ContentPolicy::closed());
    }

    #[test]
    fn a_source_that_is_none_closes_the_page() {
        let policy = ContentPolicy::closed().scripts("'self'\nx: y");
        assert_eq!(policy.header(), "default-src 'none'; frame-ancestors 'none'");
    }

    #[test]
    fn a_source_allows_nothing_beside_itself() {
        let closed = "default-src 'none'; frame-ancestors 'none'";
        for source in ["https://a.example; script-src *", "https://a.example, *", ";", "a,b", "\0"]
        {
            let policy = ContentPolicy::closed().framed_by([source]);
            assert_eq!(policy.header(), closed, "{source:?}");
            assert_eq!(ContentPolicy::closed().allow("img-src", source).header(), closed);
        }
        let good = ContentPolicy::closed().framed_by(["https://a.example:8443/x?y=1"]);
        assert_eq!(good.header().to_str().unwrap(), good.to_string());
    }

    #[test]
    fn a_nonce_is_for_scripts_and_styles_beside_what_else_is_allowed() {
        let nonce = Nonce::random();
        assert_ne!(nonce, Nonce::random());
        let policy = ContentPolicy::closed().scripts("'self'").with_nonce(&nonce);
        assert_eq!(
            policy.to_string(),
            format!(
                "default-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'; \
                 script-src 'self' 'nonce-{0}'; style-src 'nonce-{0}'",
                nonce.as_str()
            )
        );
        let nobody = ContentPolicy::closed().trusted_types([]).to_string();
        assert!(nobody.ends_with("; require-trusted-types-for 'script'; trusted-types 'none'"));
    }
}
