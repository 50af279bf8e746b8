//! Values that must not show up in logs, messages or lists.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use crate::bounds::TextLength;
use crate::declare::SettingType;
use crate::given::Given;
use crate::problem::{MASK, one_line};
use crate::reader::Reader;

/// A text that only [`Secret::expose`] shows: `Debug`, `Display` and `Serialize` write `***`.
///
/// A field of this type is a secret by its type alone. On a command line a secret is visible to
/// every user of the machine, so it belongs into a file or an environment variable.
#[derive(Clone, Default)]
pub struct Secret(String);

impl Secret {
    /// The secret itself.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether the secret is the empty text.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Secret({MASK})")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(MASK)
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(MASK)
    }
}

impl TextLength for Secret {
    fn text_length(&self) -> usize {
        self.expose().chars().count()
    }
}

impl SettingType for Secret {
    type Element = Self;
    const SECRET: bool = true;
    const TEXTUAL: bool = true;

    fn expected(bounds: &str) -> String {
        format!("a secret text {bounds}").trim_end().to_owned()
    }

    fn read(given: &Given<'_>, _: Option<&Self>, reader: &mut Reader) -> Option<Self> {
        reader.text(given, |text| Some(Self::from(text)))
    }

    fn elements(&self) -> Vec<(Option<String>, &Self::Element)> {
        vec![(None, self)]
    }

    /// An empty secret is shown as such, since "not set" is what one looks for in a list.
    fn show(&self) -> String {
        if self.is_empty() { String::new() } else { MASK.to_owned() }
    }
}

/// Address of a database or another server, `scheme:…`, that may carry a password.
///
/// `Debug`, `Display`, `Serialize` and messages show it with its passwords masked: the one in
/// `//user:password@`, and every query parameter whose name contains `password`, `secret`, `token`
/// or `key`. Where that cannot be told apart, all but the scheme is masked.
#[derive(Clone)]
pub struct ConnectionString(String);

impl ConnectionString {
    /// The whole address, with its password.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// What comes before the first colon, in lower case: `postgres`, `sqlite`.
    #[must_use]
    pub fn scheme(&self) -> String {
        self.0.split(':').next().unwrap_or_default().to_ascii_lowercase()
    }

    fn masked(text: &str) -> String {
        let Some((scheme, rest)) = text.split_once(':').filter(|(name, _)| is_scheme(name)) else {
            return MASK.to_owned();
        };
        let (address, query) = match rest.split_once('?') {
            Some((address, query)) => (address, Some(query)),
            None => (rest, None),
        };
        // An `@` behind the question mark may mean that the question mark was part of a password.
        if query.is_some_and(|query| query.contains('@')) {
            return format!("{scheme}:{MASK}");
        }
        let mut shown = format!("{scheme}:{}", mask_user_information(address));
        if let Some(query) = query {
            let parameters: Vec<String> = query.split('&').map(mask_parameter).collect();
            shown.push('?');
            shown.push_str(&parameters.join("&"));
        }
        shown
    }
}

/// Masks what stands between the first colon and the last `@`. The last one is taken even behind a
/// slash, since people forget to encode an `@` or a `/` in a password.
fn mask_user_information(address: &str) -> String {
    let Some((user_information, host)) = address.rsplit_once('@') else {
        return address.to_owned();
    };
    match user_information.split_once(':') {
        Some((user, _)) => format!("{user}:{MASK}@{host}"),
        None => format!("{user_information}@{host}"),
    }
}

fn mask_parameter(parameter: &str) -> String {
    let Some((name, _)) = parameter.split_once('=') else {
        return parameter.to_owned();
    };
    let lower = name.to_ascii_lowercase();
    if ["password", "secret", "token", "key"].iter().any(|word| lower.contains(word)) {
        format!("{name}={MASK}")
    } else {
        parameter.to_owned()
    }
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.chars().all(|each| each.is_ascii_alphanumeric() || "+-.".contains(each))
}

/// A text is not a connection string.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected an address that begins with its scheme, such as `postgres://host/database`")]
pub struct ConnectionStringError;

impl FromStr for ConnectionString {
    type Err = ConnectionStringError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let valid =
            text.split_once(':').is_some_and(|(name, rest)| is_scheme(name) && !rest.is_empty());
        let plain = !text.chars().any(|each| each.is_control() || each.is_whitespace());
        if valid && plain { Ok(Self(text.to_owned())) } else { Err(ConnectionStringError) }
    }
}

impl fmt::Debug for ConnectionString {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ConnectionString({self})")
    }
}

impl fmt::Display for ConnectionString {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&Self::masked(&self.0))
    }
}

impl Serialize for ConnectionString {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl SettingType for ConnectionString {
    type Element = Self;
    // A value that cannot be parsed cannot be masked in part either.
    const SECRET: bool = true;
    const TEXTUAL: bool = true;

    fn expected(_: &str) -> String {
        "an address without spaces that begins with its scheme, such as `postgres://host/database`"
            .to_owned()
    }

    fn read(given: &Given<'_>, _: Option<&Self>, reader: &mut Reader) -> Option<Self> {
        reader.text(given, |text| text.parse().ok())
    }

    fn elements(&self) -> Vec<(Option<String>, &Self::Element)> {
        vec![(None, self)]
    }

    fn show(&self) -> String {
        one_line(&self.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::{ConnectionString, Secret};

    #[test]
    fn a_secret_shows_itself_only_when_asked() {
        let secret = Secret::from("hunter2");
        assert_eq!(format!("{secret} {secret:?}"), "*** Secret(***)");
        assert_eq!(serde_json::to_string(&secret).unwrap(), "\"***\"");
        assert_eq!(secret.expose(), "hunter2");
    }

    #[test]
    fn a_connection_string_hides_its_passwords() {
        for (text, shown) in [
            ("sqlite:data/shop.db?mode=rwc", "sqlite:data/shop.db?mode=rwc"),
            ("postgres://db/shop", "postgres://db/shop"),
            ("postgres://svc@db/shop", "postgres://svc@db/shop"),
            ("postgres://svc:hunter2@db:5432/shop", "postgres://svc:***@db:5432/shop"),
            ("postgres://svc:hun@ter:2@db/shop", "postgres://svc:***@db/shop"),
            ("postgres://svc:hun/ter@db/shop", "postgres://svc:***@db/shop"),
            (
                "postgres://svc@db/shop?password=hunter2&sslmode=require",
                "postgres://svc@db/shop?password=***&sslmode=require",
            ),
            ("postgres://db/shop?sslPassword=hunter2", "postgres://db/shop?sslPassword=***"),
        ] {
            let address: ConnectionString = text.parse().unwrap();
            assert_eq!(address.to_string(), shown);
            assert_eq!(address.expose(), text);
            assert!(!format!("{address:?}").contains("hunter2"));
        }
        let odd: ConnectionString = "postgres://svc:hun?ter2@db/shop".parse().unwrap();
        assert_eq!(odd.to_string(), "postgres:***");
    }

    #[test]
    fn a_connection_string_needs_a_scheme() {
        for text in ["", "shop.db", ":memory:", "postgres:", "hunter2 secret", "p q:x", "a:b\nc"] {
            assert!(text.parse::<ConnectionString>().is_err(), "{text}");
        }
        assert_eq!("SQLite:x.db".parse::<ConnectionString>().unwrap().scheme(), "sqlite");
    }
}
