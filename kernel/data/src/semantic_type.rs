//! What the values of a column mean, beyond how they are stored: a mail address, a telephone number, the name of a file.
//!
//! A [`SemanticType`] is a value, so that any module makes its own beside those that stand here. A set says of a column that it holds such
//! values with [`EntitySetBuilder::semantic_type`](crate::EntitySetBuilder::semantic_type). Then nothing else is written, on any way in;
//! `$metadata` names the type (`SemanticType`), and so do OpenAPI (`format`), the types for TypeScript and the text for people. Clients choose by the
//! name how they show and edit a value.

use sea_orm::Value;

use crate::value::ValueKind;

/// What values mean.
#[derive(Clone, Copy, Debug)]
pub struct SemanticType {
    /// The name by which clients know it. Where JSON Schema has a `format` for such values, it is that one's (draft 2020-12, Validation, 7.3); one
    /// of a module begins with the module's name: `files.picture`.
    pub name: &'static str,
    /// Whether a column of a kind can hold such values.
    pub fits: fn(ValueKind) -> bool,
    /// Whether a value is one; asked of each that is written and isn't null.
    pub holds: fn(&Value) -> bool,
    /// What a value that isn't one is told, behind the name of its property: `must be …`.
    pub refusal: &'static str,
}

/// A mail address, as far as it can be judged without sending a message: see [`is_mail_address`].
pub const EMAIL: SemanticType = SemanticType {
    name: "email",
    fits: is_text,
    holds: |value| text_of(value).is_some_and(is_mail_address),
    refusal: "must be a mail address, such as `ada@shop.example`",
};

/// A telephone number as people write it: digits, which spaces, `-`, `.`, `/` and parentheses may group, with `+` in front where the country's code
/// is said. 3 to 15 digits (ITU-T E.164, 6.2), and an extension behind `x` or `ext.`, if any.
pub const PHONE: SemanticType = SemanticType {
    name: "phone",
    fits: is_text,
    holds: |value| text_of(value).is_some_and(is_phone_number),
    refusal: "must be a telephone number, such as `+44 20 5550 0100`",
};

/// The most characters of a mail address (RFC 5321, section 4.5.3.1.3, less the angle brackets).
const LONGEST_ADDRESS: usize = 254;

fn is_text(kind: ValueKind) -> bool {
    matches!(kind, ValueKind::Text { .. })
}

fn text_of(value: &Value) -> Option<&str> {
    match value {
        Value::String(Some(text)) => Some(text),
        _ => None,
    }
}

/// Whether a text can be a mail address.
///
/// Only what every address has is asked for: something on both sides of one `@`, no spaces, and no empty
/// label in the domain. Whether it is somebody's is found out by writing to it.
#[must_use]
pub fn is_mail_address(text: &str) -> bool {
    let is_plain = !text.chars().any(|c| c.is_whitespace() || c.is_control() || "<>,;".contains(c));
    let has_parts = text.rsplit_once('@').is_some_and(|(local, domain)| {
        !local.is_empty() && !local.contains('@') && domain.split('.').all(|l| !l.is_empty())
    });
    is_plain && has_parts && text.chars().count() <= LONGEST_ADDRESS
}

fn is_phone_number(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let (number, extension) = match lower.split_once(" ext.").or_else(|| lower.split_once(" x")) {
        Some((number, extension)) => (number, Some(extension.trim_start())),
        None => (lower.as_str(), None),
    };
    let number = number.strip_prefix('+').unwrap_or(number);
    let digits = number.chars().filter(char::is_ascii_digit).count();
    let is_grouped = number.chars().all(|c| c.is_ascii_digit() || " -./()".contains(c));
    let begins = number.starts_with(|c: char| c.is_ascii_digit() || c == '(');
    let extends = |digits: &str| {
        (1..=11).contains(&digits.len()) && digits.chars().all(|c| c.is_ascii_digit())
    };
    is_grouped && begins && (3..=15).contains(&digits) && extension.is_none_or(extends)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(semantic_type: &SemanticType, text: &str) -> bool {
        (semantic_type.holds)(&Value::from(text))
    }

    #[test]
    fn mail_addresses_are_told_from_what_can_be_none() {
        for text in ["ada@example.com", "ada+shop@example", "jörg@bücher.example"] {
            assert!(holds(&EMAIL, text), "{text}");
        }
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
            assert!(!holds(&EMAIL, text), "{text}");
        }
        assert!(!(EMAIL.holds)(&Value::from(7)));
    }

    #[test]
    fn telephone_numbers_are_told_from_what_can_be_none() {
        for text in
            ["112", "+44 20 5550 0100", "(030) 555-01.00", "030/555 0100 x12", "555 0100 ext. 7"]
        {
            assert!(holds(&PHONE, text), "{text}");
        }
        let long = "1".repeat(16);
        for text in
            ["", "12", "+", "call me", "++49 1", "49+1 22", "555 0100 x", "555 x 12 34", &long]
        {
            assert!(!holds(&PHONE, text), "{text}");
        }
    }
}
