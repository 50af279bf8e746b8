//! What of a request and a response goes into the delivery log.
//!
//! Whatever a receiver answers becomes text that a database can store and a page can show: cut
//! after a number of characters, never within one; invalid UTF-8 and NUL (which PostgreSQL
//! refuses in text) shown as U+FFFD.

use std::borrow::Cow;

use http::{HeaderMap, HeaderName, HeaderValue, header};
use serde::Serializer as _;

use crate::signing;

/// The first `limit` characters (Unicode scalar values) of a text.
#[must_use]
pub fn cut(text: &str, limit: usize) -> &str {
    // A text of no more bytes than that cannot have more characters, and need not be walked.
    if text.len() <= limit {
        return text;
    }
    text.char_indices().nth(limit).map_or(text, |(end, _)| &text[..end])
}

/// The first `limit` characters of what should be UTF-8.
///
/// `complete` says whether `bytes` is all there was: a character that only the end of an
/// incomplete text breaks is left out instead of being shown as invalid.
#[must_use]
pub fn lossy(bytes: &[u8], limit: usize, complete: bool) -> String {
    let bytes = if complete { bytes } else { without_broken_end(bytes) };
    let text = String::from_utf8_lossy(bytes);
    let text = cut(&text, limit);
    if text.contains('\0') { text.replace('\0', "\u{fffd}") } else { text.to_owned() }
}

/// Headers as the log stores them: a JSON list of names and values, in the order received. Signatures
/// are masked, and so are cookies that a receiver sets, and what is marked as sensitive; each value is cut after `limit` characters.
#[must_use]
pub fn headers(headers: &HeaderMap, limit: usize) -> String {
    let shown = headers.iter().map(|(name, value)| (name.as_str(), shown(name, value, limit)));
    let mut json = Vec::with_capacity(headers.len() * 48);
    let written = serde_json::Serializer::new(&mut json).collect_seq(shown);
    debug_assert!(written.is_ok(), "a list of texts is always JSON");
    String::from_utf8(json).unwrap_or_default()
}

fn shown<'a>(name: &HeaderName, value: &'a HeaderValue, limit: usize) -> Cow<'a, str> {
    // What the receiver would know its visitors by opens a session to whoever reads it.
    if value.is_sensitive() || *name == header::SET_COOKIE {
        return "***".into();
    }
    let text = String::from_utf8_lossy(value.as_bytes());
    if *name == signing::WEBHOOK_SIGNATURE {
        let masked = signing::mask(&text);
        return cut(&masked, limit).to_owned().into();
    }
    match text {
        Cow::Borrowed(text) => cut(text, limit).into(),
        Cow::Owned(text) => cut(&text, limit).to_owned().into(),
    }
}

/// Drops an incomplete character from the end; invalid bytes elsewhere stay.
fn without_broken_end(bytes: &[u8]) -> &[u8] {
    // A UTF-8 sequence has at most four bytes, so its first stands among the last three when it
    // is incomplete.
    let earliest = bytes.len().saturating_sub(3);
    for start in (earliest..bytes.len()).rev() {
        if bytes[start] & 0b1100_0000 == 0b1000_0000 {
            continue;
        }
        let broken =
            std::str::from_utf8(&bytes[start..]).is_err_and(|error| error.error_len().is_none());
        return if broken { &bytes[..start] } else { bytes };
    }
    bytes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn cuts_after_characters_not_bytes() {
        for (text, limit, expected) in [
            ("hello", 10, "hello"),
            ("hello", 5, "hello"),
            ("hello", 4, "hell"),
            ("hello", 0, ""),
            ("grün", 3, "grü"),
            ("日本語", 2, "日本"),
            ("日本語", 3, "日本語"),
            ("🦀🦀", 1, "🦀"),
            ("", 0, ""),
        ] {
            assert_eq!(cut(text, limit), expected, "{text} {limit}");
        }
    }

    #[test]
    fn invalid_bytes_and_nul_are_shown_lossily() {
        for (bytes, limit, complete, expected) in [
            (&b"ok"[..], 9, true, "ok"),
            (b"a\xffb", 9, true, "a\u{fffd}b"),
            (b"a\xff\xfeb", 2, true, "a\u{fffd}"),
            (b"a\0b", 9, true, "a\u{fffd}b"),
            (b"gr\xc3", 9, true, "gr\u{fffd}"),
            (b"gr\xc3", 9, false, "gr"),
            (b"x\xe6\x97", 9, false, "x"),
            (b"x\xf0\x9f\xa6", 9, false, "x"),
            (b"x\xf0\x9f\xa6\x80", 9, false, "x🦀"),
            (b"x\xff", 9, false, "x\u{fffd}"),
            (b"\x80\x80\x80\x80", 9, false, "\u{fffd}\u{fffd}\u{fffd}\u{fffd}"),
            (b"", 9, false, ""),
        ] {
            assert_eq!(lossy(bytes, limit, complete), expected, "{bytes:?}");
        }
    }

    #[test]
    fn headers_are_lossy_cut_and_masked() {
        let mut map = HeaderMap::new();
        map.insert("x-latin", HeaderValue::from_bytes(b"caf\xe9").unwrap());
        map.insert("x-long", HeaderValue::from_static("0123456789abcdef"));
        map.insert("webhook-signature", HeaderValue::from_static("v1,aGVsbG8="));
        let mut token = HeaderValue::from_static("Bearer 1");
        token.set_sensitive(true);
        map.insert("authorization", token);
        map.insert("set-cookie", HeaderValue::from_static("session=1; HttpOnly"));
        assert_eq!(
            headers(&map, 12),
            r#"[["x-latin","caf�"],["x-long","0123456789ab"],["webhook-signature","v1,***"],["authorization","***"],["set-cookie","***"]]"#
        );
    }

    proptest! {
        #[test]
        fn a_cut_prefix_is_the_prefix_of_the_whole(text in "\\PC{0,40}", end in 0_usize..160) {
            let bytes = text.as_bytes();
            let end = end.min(bytes.len());
            let shown = lossy(&bytes[..end], 1_000, end == bytes.len());
            prop_assert!(text.starts_with(&shown));
        }
    }
}
