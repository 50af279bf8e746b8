//! Syntax trees as text that parses to the same tree.

mod apply;
mod expr;
mod options;
mod resource;
mod search;

use std::fmt::{self, Write as _};

pub use options::encode_option;

/// Writes items with a separator between them.
pub(super) fn joined<T: fmt::Display>(
    formatter: &mut fmt::Formatter<'_>,
    items: impl IntoIterator<Item = T>,
    separator: &str,
) -> fmt::Result {
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            formatter.write_str(separator)?;
        }
        write!(formatter, "{item}")?;
    }
    Ok(())
}

/// Writes a text in single quotes.
pub(super) fn quoted(formatter: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    write!(formatter, "'{}'", text.replace('\'', "''"))
}

/// Writes a text in double quotes, as JSON does.
pub(super) fn json_string(formatter: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    let quoted = serde_json::Value::from(text);
    write!(formatter, "{quoted}")
}

/// Percent-encodes what would end or change a value in the query of a URL.
pub(super) fn encode_query(text: &str) -> String {
    encode(text, |byte| byte.is_ascii_alphanumeric() || b"-._~!*'(),;:@/?$=".contains(&byte))
}

/// Percent-encodes what would end or change a segment of a URL's path.
#[must_use]
pub fn encode_segment(text: &str) -> String {
    encode(text, |byte| byte.is_ascii_alphanumeric() || b"-._~!*'(),;:@$&=".contains(&byte))
}

fn encode(text: &str, is_plain: impl Fn(u8) -> bool) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if is_plain(byte) {
            encoded.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}
