//! What makes a change of the history evident: pure, it needs no database.
//!
//! A seal holds a line for each entry, with a digest of all that is stored of it, and its own hash is
//! made of these lines and of the hash before: who changes, removes or adds an entry afterwards would
//! have to make every seal since anew. What is removed or blanked by the rules has a line, too.

use std::fmt;

use sha2::{Digest as _, Sha256};
use svc_core::{Error, Result, hex};
use uuid::Uuid;

/// A line of a seal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// An entry of a set, with its digest.
    Entry { id: Uuid, set: String, digest: String },
    /// An entry that was blanked since, with its digest.
    Blanked { id: Uuid, digest: String },
    /// Entries of a set before an identifier were deleted, as they were kept long enough.
    Deleted { before: Uuid, set: String },
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Entry { id, set, digest } => write!(f, "entry {id} {digest} {set}"),
            Self::Blanked { id, digest } => write!(f, "blanked {id} {digest}"),
            Self::Deleted { before, set } => write!(f, "deleted {before} {set}"),
        }
    }
}

impl Line {
    /// Reads what `Display` wrote.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let unreadable = || Error::conflict(format!("a seal has the unreadable line `{text}`"));
        let mut words = text.splitn(4, ' ');
        let kind = words.next().unwrap_or_default();
        let id = words.next().and_then(|id| id.parse().ok()).ok_or_else(unreadable)?;
        let mut word = || words.next().map(str::to_owned).ok_or_else(unreadable);
        match kind {
            "entry" => {
                let digest = word()?;
                Ok(Self::Entry { id, digest, set: word()? })
            }
            "blanked" => Ok(Self::Blanked { id, digest: word()? }),
            "deleted" => Ok(Self::Deleted { before: id, set: word()? }),
            _ => Err(unreadable()),
        }
    }
}

/// The hash of a seal.
pub(crate) fn hash(previous: &str, number: i64, sealed_us: i64, lines: &str) -> String {
    digest_of([previous, &number.to_string(), &sealed_us.to_string(), lines].map(Some))
}

/// One digest of texts in their order, of which some may be missing.
pub(crate) fn digest_of<'a>(parts: impl IntoIterator<Item = Option<&'a str>>) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        // With its length, so that no two lists are the same text.
        match part {
            Some(text) => {
                hash.update([1]);
                hash.update(u64::try_from(text.len()).unwrap_or(u64::MAX).to_be_bytes());
                hash.update(text);
            }
            None => hash.update([0]),
        }
    }
    hex(&hash.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_they_were_written() {
        let (id, digest) = (Uuid::from_u128(7), "ab".to_owned());
        for line in [
            Line::Entry { id, set: "Products".to_owned(), digest: digest.clone() },
            Line::Blanked { id, digest },
            Line::Deleted { before: id, set: "Products".to_owned() },
        ] {
            assert_eq!(Line::parse(&line.to_string()).unwrap(), line);
        }
        for bad in ["", "entry", "entry x y z", "lost 00000000-0000-0000-0000-000000000007 a"] {
            assert!(Line::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn no_two_lists_have_one_digest() {
        let one = digest_of([Some("ab"), Some("c")]);
        assert_ne!(one, digest_of([Some("a"), Some("bc")]));
        assert_ne!(digest_of([Some(""), None]), digest_of([None, Some("")]));
    }
}
