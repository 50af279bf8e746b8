//! Mail addresses, as far as they can be judged without sending a message.

use svc_core::Error;

/// The most characters of an address (RFC 5321, section 4.5.3.1.3, less the angle brackets).
const MAX_LENGTH: usize = 254;

/// A mail address as its owner writes it, and the form in which two are compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Email {
    text: String,
}

impl Email {
    /// Reads an address; spaces around it are dropped.
    ///
    /// Only what every address has is asked for: something on both sides of one `@`, no spaces, and
    /// no empty label in the domain. Whether it is somebody's is found out by writing to it.
    pub(crate) fn parse(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        let plain =
            !text.chars().any(|c| c.is_whitespace() || c.is_control() || "<>,;".contains(c));
        let parts = text.rsplit_once('@').is_some_and(|(local, domain)| {
            !local.is_empty() && !local.contains('@') && domain.split('.').all(|l| !l.is_empty())
        });
        if plain && parts && text.chars().count() <= MAX_LENGTH {
            Ok(Self { text: text.to_owned() })
        } else {
            Err(Error::invalid("the mail address is not valid")
                .field("email", "must be a mail address, such as `ada@shop.example`"))
        }
    }

    /// The address as it is shown and written to.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// The form in which addresses are compared: lower case, by Unicode, on both databases alike.
    pub(crate) fn key(&self) -> String {
        self.text.to_lowercase()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_compared_without_regard_to_case() {
        let email = Email::parse(" Ada.Lovelace@Example.COM ").unwrap();
        assert_eq!(email.as_str(), "Ada.Lovelace@Example.COM");
        assert_eq!(email.key(), "ada.lovelace@example.com");
        assert_eq!(Email::parse("JÖRG@example.com").unwrap().key(), "jörg@example.com");
    }

    #[test]
    fn what_can_be_no_address_is_refused() {
        let long = format!("{}@example.com", "a".repeat(250));
        for text in [
            "",
            "ada",
            "@example.com",
            "ada@",
            "ada@a..b",
            "a@b@c",
            "a b@c",
            "<a@b>",
            "a@b,c@d",
            &long,
        ] {
            assert!(Email::parse(text).is_err(), "{text}");
        }
    }
}
