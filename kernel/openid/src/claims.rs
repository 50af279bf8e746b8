//! What a token says, and what is expected of it.

use serde::de::{Error as _, Unexpected};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// What a logout token says that it is about (OpenID Connect Back-Channel Logout, section 2.4).
pub const LOGOUT_EVENT: &str = "http://schemas.openid.net/event/backchannel-logout";

/// The end of what a double keeps to the second.
const LATEST: f64 = 9_007_199_254_740_992.0;

/// What kind of token it is, as its header says (`typ`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenType {
    /// An ID token, which says `JWT` or nothing.
    Id,
    /// An access token of the built-in provider (RFC 9068, section 2.1): `at+jwt`.
    Access,
    /// An access token of a provider that may not know RFC 9068: `at+jwt`, `JWT` or nothing.
    ForeignAccess,
    /// A logout token (OpenID Connect Back-Channel Logout, section 2.4): `logout+jwt`, or what
    /// providers send that are older than that.
    Logout,
}

impl TokenType {
    /// What the header says of one that is made here.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Id => "JWT",
            Self::Access | Self::ForeignAccess => "at+jwt",
            Self::Logout => "logout+jwt",
        }
    }

    /// Whether a header says this kind. Letters may be of either case, and `application/` may
    /// stand before it (RFC 7515, section 4.1.9).
    pub(crate) fn takes(self, typ: Option<&str>) -> bool {
        let said = typ.map(str::to_ascii_lowercase);
        let said = said.as_deref().map(|typ| typ.strip_prefix("application/").unwrap_or(typ));
        match self {
            Self::Id => matches!(said, None | Some("jwt")),
            Self::Access => said == Some("at+jwt"),
            Self::ForeignAccess => matches!(said, None | Some("jwt" | "at+jwt")),
            Self::Logout => matches!(said, None | Some("jwt" | "logout+jwt")),
        }
    }
}

/// One text or several, as `aud` is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

/// What a checked token says.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Claims {
    /// Who made it.
    pub iss: String,
    /// Whom it is about; a logout token may name a session alone.
    #[serde(default)]
    pub sub: String,
    aud: OneOrMany,
    /// Until when it holds, in whole seconds of Unix time.
    #[serde(default, deserialize_with = "date_if_any")]
    pub exp: Option<i64>,
    /// When it was made.
    #[serde(deserialize_with = "date")]
    pub iat: i64,
    /// Before when it doesn't hold.
    #[serde(default, deserialize_with = "date_if_any")]
    pub nbf: Option<i64>,
    /// For whom it was made, where it is for several.
    #[serde(default)]
    pub azp: Option<String>,
    /// What the client sent to recognise its own request.
    #[serde(default)]
    pub nonce: Option<String>,
    /// The session at the provider.
    #[serde(default)]
    pub sid: Option<String>,
    /// Everything else.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// Reads a date, which may have a fraction of a second (RFC 7519, section 2, `NumericDate`): that is left out.
fn date<'de, D: Deserializer<'de>>(from: D) -> Result<i64, D::Error> {
    let number = serde_json::Number::deserialize(from)?;
    if let Some(seconds) = number.as_i64() {
        return Ok(seconds);
    }
    let seconds = number.as_f64().map(f64::floor).filter(|seconds| seconds.abs() < LATEST);
    let wrong = || D::Error::invalid_value(Unexpected::Other("such a number"), &"seconds");
    #[expect(clippy::cast_possible_truncation, reason = "it is whole, and within the bounds")]
    seconds.map(|seconds| seconds as i64).ok_or_else(wrong)
}

/// Reads a date, where there is one.
fn date_if_any<'de, D: Deserializer<'de>>(from: D) -> Result<Option<i64>, D::Error> {
    #[derive(Deserialize)]
    struct Date(#[serde(deserialize_with = "date")] i64);
    Ok(Option::<Date>::deserialize(from)?.map(|Date(seconds)| seconds))
}

impl Claims {
    /// Whether databases take the names of the person and the session, and look for them: PostgreSQL knows no
    /// U+0000.
    #[must_use]
    pub fn is_storable(&self) -> bool {
        !self.sub.contains('\0') && !self.sid.as_ref().is_some_and(|sid| sid.contains('\0'))
    }

    /// Whether it is for `audience`.
    #[must_use]
    pub fn is_for(&self, audience: &str) -> bool {
        self.audience().any(|each| each == audience)
    }

    /// For whom it is.
    pub fn audience(&self) -> impl Iterator<Item = &str> {
        let all: &[String] = match &self.aud {
            OneOrMany::One(one) => std::slice::from_ref(one),
            OneOrMany::Many(many) => many,
        };
        all.iter().map(String::as_str)
    }

    /// Whether it says that somebody has signed out: of a person or a session, as an event, and without a
    /// `nonce`, so that no ID token passes for one (OpenID Connect Back-Channel Logout, section 2.6).
    #[must_use]
    pub fn is_logout(&self) -> bool {
        let event = self.more.get("events").and_then(|events| events.get(LOGOUT_EVENT));
        let names_somebody = !self.sub.is_empty() || self.sid.is_some();
        event.is_some_and(Value::is_object) && names_somebody && self.nonce.is_none()
    }

    /// The text of another claim.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.more.get(name)?.as_str()
    }
}

/// What is expected of a token.
#[derive(Clone, Copy, Debug)]
pub struct Expected<'a> {
    /// The kind.
    pub kind: TokenType,
    /// Who must have made it.
    pub issuer: &'a str,
    /// For whom it must be.
    pub audience: &'a str,
    /// The time, in seconds of Unix time.
    pub now: i64,
    /// How far clocks may differ, in seconds.
    pub tolerance: i64,
    /// Whether a token counts whose time is over: an ID token tells who signs out.
    pub may_be_over: bool,
}
