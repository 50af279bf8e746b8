//! Mail addresses by which people are known.

use svc_core::Error;
use svc_data::semantic_type::{EMAIL, is_mail_address};

/// A mail address as its owner writes it, and the form in which two are compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Email {
    text: String,
}

impl Email {
    /// Reads an address; spaces around it are dropped.
    pub(crate) fn parse(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        if is_mail_address(text) {
            Ok(Self { text: text.to_owned() })
        } else {
            Err(Error::invalid("the mail address is not valid").field("email", EMAIL.refusal))
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
}
