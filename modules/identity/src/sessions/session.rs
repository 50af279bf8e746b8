//! A session as it is, and by what its person has proved who it is.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use svc_core::{App, Directory, OrganisationId, Principal, Result, UserId};
use time::OffsetDateTime;

use crate::ids::SessionId;

/// Browsers, by what stands in the description that they give of themselves. Several claim to be others
/// too, so the first that is found counts.
const BROWSERS: [(&str, &str); 7] = [
    ("Edg/", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
];

/// Systems, likewise.
const SYSTEMS: [(&str, &str); 8] = [
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("CrOS", "ChromeOS"),
    ("Windows", "Windows"),
    ("Macintosh", "macOS"),
    ("Linux", "Linux"),
    ("X11", "Unix"),
];

/// A person in a browser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// The session; tokens carry it as `sid`.
    pub id: SessionId,
    /// The person.
    pub user: UserId,
    /// The organisation that the person has chosen.
    pub organisation: OrganisationId,
    /// When the person last proved who it is: `auth_time`.
    pub authenticated_at: OffsetDateTime,
    /// By what, in the order in which it was used.
    pub methods: Vec<Method>,
    /// When it began.
    pub created_at: OffsetDateTime,
    /// When it was last used, to the minute.
    pub used_at: OffsetDateTime,
    /// When it ends, however much it is used.
    pub ends_at: OffsetDateTime,
    /// What the browser calls itself.
    pub user_agent: String,
    /// From where it began.
    pub address: Option<IpAddr>,
}

/// By what a person has proved who it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Method {
    /// The password.
    Password,
    /// A code of an authenticator app.
    OneTimeCode,
    /// One of the recovery codes.
    RecoveryCode,
    /// A passkey that has checked that the person is there.
    Passkey,
    /// A link that was sent to the person, or shown to who started the application.
    Link,
    /// An account at an issuer that somebody else runs.
    External,
}

impl Method {
    /// The name under which it is stored.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Password => "password",
            Self::OneTimeCode => "one-time-code",
            Self::RecoveryCode => "recovery-code",
            Self::Passkey => "passkey",
            Self::Link => "link",
            Self::External => "external",
        }
    }

    pub(super) fn parse(name: &str) -> Option<Self> {
        let all = [
            Self::Password,
            Self::OneTimeCode,
            Self::RecoveryCode,
            Self::Passkey,
            Self::Link,
            Self::External,
        ];
        all.into_iter().find(|method| method.as_str() == name)
    }

    /// Its value for the claim `amr` (RFC 8176, section 2); none for an account elsewhere, of which only
    /// its issuer knows how it was proved.
    #[must_use]
    pub fn amr(self) -> Option<&'static str> {
        match self {
            Self::Password => Some("pwd"),
            Self::OneTimeCode | Self::RecoveryCode | Self::Link => Some("otp"),
            Self::Passkey => Some("swk"),
            Self::External => None,
        }
    }
}

impl Session {
    /// The values of the claim `amr`, with `mfa` where there was more than one factor (RFC 8176, section
    /// 2). A passkey counts as two, since it is unlocked first.
    #[must_use]
    pub fn amr(&self) -> Vec<&'static str> {
        let mut values: Vec<&str> = Vec::new();
        for value in self.methods.iter().filter_map(|method| method.amr()) {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        if self.methods.len() > 1 || self.methods.contains(&Method::Passkey) {
            values.push("mfa");
        }
        values
    }

    /// The browser, by the name that people know it by; none for one that isn't known.
    #[must_use]
    pub fn browser(&self) -> Option<&'static str> {
        self.named(&BROWSERS)
    }

    /// The system that the browser runs on, likewise.
    #[must_use]
    pub fn system(&self) -> Option<&'static str> {
        self.named(&SYSTEMS)
    }

    fn named(&self, known: &[(&str, &'static str)]) -> Option<&'static str> {
        known.iter().find(|(mark, _)| self.user_agent.contains(mark)).map(|(_, name)| *name)
    }

    /// Who the person is in the chosen organisation now; none where the person is disabled or no
    /// member any more.
    ///
    /// # Errors
    ///
    /// A fault of the store.
    pub async fn principal(&self, app: &App) -> Result<Option<Principal>> {
        app.service::<dyn Directory>()?.principal(self.user, self.organisation).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_is_stored_under_a_name_that_is_read_again() {
        for method in [Method::Password, Method::Passkey, Method::Link, Method::External] {
            assert_eq!(Method::parse(method.as_str()), Some(method));
        }
        assert_eq!(Method::parse("magic"), None);
    }
}
