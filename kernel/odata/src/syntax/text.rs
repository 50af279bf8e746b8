//! Percent-decoding that remembers where each byte came from.

use super::error::{Position, SyntaxError, SyntaxErrorKind};

/// A piece of a URL, decoded, with the raw offset of every byte.
///
/// OData splits a URL at `/`, `?` and `&` first and decodes the pieces after. What was encoded is
/// still known here, because `;` ends a search word and `%3B` is part of one.
pub(crate) struct Text {
    /// The decoded text.
    decoded: String,
    /// For every decoded byte, and for the end, the offset of its raw form.
    raw: Vec<u32>,
}

impl Text {
    /// Decodes `piece`, which began `base` bytes into the raw text.
    pub(crate) fn percent_decoded(piece: &str, base: usize) -> Result<Self, SyntaxError> {
        Self::decode(piece, base, false)
    }

    /// Decodes a piece of a form-encoded query, where `+` is a space.
    pub(crate) fn form_decoded(piece: &str, base: usize) -> Result<Self, SyntaxError> {
        Self::decode(piece, base, true)
    }

    /// Takes a text that isn't encoded as it is.
    pub(crate) fn plain(text: &str) -> Self {
        Self::plain_at(text, 0)
    }

    /// Takes a text that isn't encoded, which began `base` bytes into the raw text.
    pub(crate) fn plain_at(text: &str, base: usize) -> Self {
        let raw = (base..=base + text.len()).map(offset).collect();
        Self { decoded: text.to_owned(), raw }
    }

    fn decode(piece: &str, base: usize, form: bool) -> Result<Self, SyntaxError> {
        let error = |at: usize, kind| SyntaxError::new(Position::new(at), kind);
        let bytes = piece.as_bytes();
        let mut decoded = Vec::with_capacity(bytes.len());
        let mut raw = Vec::with_capacity(bytes.len() + 1);
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            raw.push(offset(base + at));
            let (value, length) = match byte {
                b'%' => {
                    let digits = bytes.get(at + 1..at + 3).and_then(hex_pair);
                    let value =
                        digits.ok_or_else(|| error(base + at, SyntaxErrorKind::Encoding))?;
                    (value, 3)
                }
                b'#' => return Err(error(base + at, SyntaxErrorKind::Unencoded('#'))),
                b'+' if form => (b' ', 1),
                _ => (byte, 1),
            };
            // A null character is never meant, and databases refuse it in texts.
            if value == 0 {
                return Err(error(base + at, SyntaxErrorKind::Encoding));
            }
            decoded.push(value);
            at += length;
        }
        raw.push(offset(base + bytes.len()));
        match String::from_utf8(decoded) {
            Ok(decoded) => Ok(Self { decoded, raw }),
            Err(cause) => {
                let at = raw[cause.utf8_error().valid_up_to()] as usize;
                Err(error(at, SyntaxErrorKind::Encoding))
            }
        }
    }

    /// The decoded text.
    pub(crate) fn as_str(&self) -> &str {
        &self.decoded
    }

    /// Where the decoded byte at `index` stood in the raw text.
    pub(crate) fn position(&self, index: usize) -> Position {
        Position::new(self.raw[index.min(self.decoded.len())] as usize)
    }

    /// The decoded character that stood at a place in the raw text, from 1.
    pub(crate) fn character(&self, at: Position) -> usize {
        let index = self.raw.partition_point(|&raw| (raw as usize) < at.offset());
        1 + self.decoded.char_indices().take_while(|&(start, _)| start < index).count()
    }

    /// Whether the decoded byte at `index` was written percent-encoded.
    pub(crate) fn was_encoded(&self, index: usize) -> bool {
        match (self.raw.get(index), self.raw.get(index + 1)) {
            (Some(start), Some(end)) => end - start == 3,
            _ => false,
        }
    }
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

fn hex_pair(digits: &[u8]) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let value = digit(digits[0])? * 16 + digit(digits[1])?;
    u8::try_from(value).ok()
}

/// Whether a query was written by a form encoder (`application/x-www-form-urlencoded`), as several
/// client libraries do, so that `+` means a space.
///
/// OData itself writes a space as `%20` and knows no `+` for it. A form encoder leaves only
/// letters, digits, `*-._~` and `+` as they are; a client that follows OData's rules and escapes
/// even quotes and commas escapes a plus as well. So the two can be told apart. The names of
/// options may keep their `$`: curl's `--data-urlencode` encodes nothing but values.
pub(crate) fn is_form_encoded(query: &str) -> bool {
    let is_left = |byte: u8| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'*' | b'-' | b'.' | b'_' | b'~' | b'%' | b'+' | b'=')
    };
    query.contains('+')
        && !query.contains("%20")
        && query.split('&').all(|option| {
            let name = option.strip_prefix('$').unwrap_or(option);
            name.bytes().all(is_left)
        })
}
