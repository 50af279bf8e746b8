//! Headers: versions, preferences, entity tags, formats.
//!
//! Each takes the text of a header and gives plain data. What is optional for a server to
//! understand is ignored where it is malformed (preferences, RFC 7240); what would change the
//! meaning of a request is refused.

mod etag;
mod format;
mod prefer;
mod version;

pub use etag::{EntityTag, TagCondition};
pub use format::{
    FormatError, JsonFormat, MetadataFormat, MetadataLevel, negotiate_json, negotiate_metadata,
    parse_content_type,
};
pub use prefer::{Preferences, ReturnPreference};
pub use version::{Version, VersionError, negotiate_version};

/// Splits at a separator, but not within quotes.
fn split_unquoted(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    let mut escaped = false;
    text.split(move |next: char| {
        if escaped {
            escaped = false;
        } else if quoted && next == '\\' {
            escaped = true;
        } else if next == '"' {
            quoted = !quoted;
        } else if next == separator && !quoted {
            return true;
        }
        false
    })
    .map(str::trim)
    .filter(|part| !part.is_empty())
}

/// The value of a parameter without its quotes.
fn unquote(value: &str) -> String {
    match value.strip_prefix('"').and_then(|value| value.strip_suffix('"')) {
        Some(inner) => {
            let mut plain = String::with_capacity(inner.len());
            let mut escaped = false;
            for next in inner.chars() {
                if next == '\\' && !escaped {
                    escaped = true;
                } else {
                    plain.push(next);
                    escaped = false;
                }
            }
            plain
        }
        None => value.to_owned(),
    }
}
