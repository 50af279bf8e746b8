//! The form of API keys.
//!
//! ```text
//! svck_ Ab3dEf9h 43 random characters                        Checks
//!       shown in  the secret: 62^43 > 2^256 possibilities    first 32 bits of the
//!       lists                                                SHA-256 of all before
//! ```
//!
//! The fixed prefix and the checksum let scanners of source code find a leaked key without guessing
//! (`svck_[0-9A-Za-z]{57}`), and let a mistyped one be refused without asking the database. Only
//! letters and digits, so that a double click selects all of it.
//!
//! A key is stored as its SHA-256. A slow hash protects secrets that people think up, which can be
//! guessed; nobody searches 2^256 possibilities, and a slow hash on every request would be a gift
//! to whoever wants to keep the server busy.
//!
//! An operator may choose the key of an unattended set-up: `svck_` and at least 32 characters of
//! what a bearer token may hold. Such a key has no checksum, and its strength is the operator's
//! duty.

use std::fmt;

use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

const PREFIX: &str = "svck_";
const ID: usize = 8;
const SECRET: usize = 43;
const CHECKSUM: usize = 6;
const GENERATED: usize = ID + SECRET + CHECKSUM;
const CHOSEN_MIN: usize = 32;
const CHOSEN_MAX: usize = 200;
/// How much of a chosen key is shown in lists; it has no part that is meant for that.
const CHOSEN_SHOWN: usize = 4;
const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The SHA-256 of a key, the only form in which it is stored and kept in memory.
#[derive(Clone, Copy, Eq, Hash, PartialEq)]
pub(crate) struct KeyHash([u8; 32]);

impl KeyHash {
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Compares with a stored hash in a time that doesn't depend on where they differ.
    pub(crate) fn matches(&self, stored: &[u8]) -> bool {
        self.0.ct_eq(stored).into()
    }
}

impl fmt::Debug for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyHash(***)")
    }
}

/// A new API key, which is shown once. `Debug` shows only what lists show.
#[derive(Clone)]
pub struct ApiKeySecret(String);

impl ApiKeySecret {
    /// Makes a key of random bytes.
    pub(crate) fn generate() -> Self {
        let mut text = String::with_capacity(PREFIX.len() + GENERATED);
        text.push_str(PREFIX);
        push_random_digits(&mut text, ID + SECRET);
        text.push_str(&checksum(&text));
        Self(text)
    }

    /// The key itself.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// The key in the form in which it is looked up.
    pub(crate) fn presented(&self) -> PresentedKey<'_> {
        PresentedKey { text: &self.0, shown: PREFIX.len() + ID }
    }
}

impl fmt::Debug for ApiKeySecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ApiKeySecret({}…)", self.presented().shown())
    }
}

/// Why a text is no API key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum KeyProblem {
    #[error("it doesn't begin with `svck_`")]
    Prefix,
    #[error("it has too few or too many characters, or others than a bearer token may have")]
    Form,
    #[error("its checksum doesn't hold")]
    Checksum,
}

impl KeyProblem {
    /// What was expected instead, to stand behind "expected".
    pub(crate) fn expectation(self) -> &'static str {
        match self {
            Self::Prefix | Self::Form => {
                "`svck_` and 32 to 200 letters, digits or any of `-._~+/`, chosen at random"
            }
            Self::Checksum => {
                "a key whose last characters are the checksum of the others, since it has the form \
                 of a key that the product made; copy it again, or choose one of another length"
            }
        }
    }
}

/// A text that has the form of a key; whether there is such a key is for the store to say.
#[derive(Clone, Copy)]
pub(crate) struct PresentedKey<'a> {
    text: &'a str,
    shown: usize,
}

impl<'a> PresentedKey<'a> {
    /// Reads a key, made by the product or chosen by an operator.
    pub(crate) fn parse(text: &'a str) -> Result<Self, KeyProblem> {
        let rest = text.strip_prefix(PREFIX).ok_or(KeyProblem::Prefix)?;
        if rest.len() == GENERATED && rest.bytes().all(|digit| digit.is_ascii_alphanumeric()) {
            let (body, check) = text.split_at(text.len() - CHECKSUM);
            return if checksum(body) == check {
                Ok(Self { text, shown: PREFIX.len() + ID })
            } else {
                Err(KeyProblem::Checksum)
            };
        }
        let permitted = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/".contains(&byte);
        if (CHOSEN_MIN..=CHOSEN_MAX).contains(&rest.len()) && rest.bytes().all(permitted) {
            Ok(Self { text, shown: PREFIX.len() + CHOSEN_SHOWN })
        } else {
            Err(KeyProblem::Form)
        }
    }

    /// The beginning, by which a person tells keys apart.
    pub(crate) fn shown(&self) -> &'a str {
        &self.text[..self.shown]
    }

    pub(crate) fn hash(&self) -> KeyHash {
        KeyHash(Sha256::digest(self.text.as_bytes()).into())
    }
}

impl fmt::Debug for PresentedKey<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PresentedKey({}…)", self.shown())
    }
}

/// Appends random digits, each as likely as the others: bytes that would favour some are dropped.
fn push_random_digits(text: &mut String, count: usize) {
    let fair = 256 - 256 % DIGITS.len();
    let mut left = count;
    while left > 0 {
        let bytes = svc_core::random_array::<64>();
        for byte in bytes.into_iter().map(usize::from).filter(|byte| *byte < fair).take(left) {
            text.push(char::from(DIGITS[byte % DIGITS.len()]));
            left -= 1;
        }
    }
}

fn checksum(body: &str) -> String {
    let digest = Sha256::digest(body.as_bytes());
    let mut number = u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]]);
    let mut digits = [b'0'; CHECKSUM];
    for digit in digits.iter_mut().rev() {
        *digit = DIGITS[(number % 62) as usize];
        number /= 62;
    }
    digits.iter().copied().map(char::from).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_new_key_has_the_documented_form() {
        let key = ApiKeySecret::generate();
        let text = key.expose();
        assert_eq!(text.len(), 62);
        assert!(text.strip_prefix("svck_").unwrap().bytes().all(|b| b.is_ascii_alphanumeric()));
        let read = PresentedKey::parse(text).unwrap();
        assert_eq!(read.shown(), &text[..13]);
        assert_eq!(read.hash(), key.presented().hash());
        // The secret alone has at least 256 bits.
        assert!(f64::from(u32::try_from(SECRET).unwrap()) * 62_f64.log2() >= 256.0);
    }

    #[test]
    fn keys_that_were_given_out_stay_valid() {
        // Computed once, outside of this program.
        let key = "svck_AbCdEf010123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefg0jxxqj";
        assert_eq!(PresentedKey::parse(key).unwrap().shown(), "svck_AbCdEf01");
    }

    #[test]
    fn keys_differ_and_use_every_digit() {
        let keys: BTreeSet<String> =
            (0..200).map(|_| ApiKeySecret::generate().expose().to_owned()).collect();
        assert_eq!(keys.len(), 200);
        let used: BTreeSet<char> = keys.iter().flat_map(|key| key[5..56].chars()).collect();
        assert_eq!(used.len(), 62);
    }

    #[test]
    fn one_wrong_character_is_noticed_without_a_database() {
        let key = ApiKeySecret::generate();
        for place in 5..key.expose().len() {
            let mut typed = key.expose().to_owned().into_bytes();
            typed[place] = if typed[place] == b'x' { b'y' } else { b'x' };
            let typed = String::from_utf8(typed).unwrap();
            assert_eq!(PresentedKey::parse(&typed).unwrap_err(), KeyProblem::Checksum, "{place}");
        }
    }

    #[test]
    fn an_operator_may_choose_a_long_key() {
        let long_enough = format!("svck_{}", "k".repeat(32));
        assert_eq!(PresentedKey::parse(&long_enough).unwrap().shown(), "svck_kkkk");
        for (text, problem) in [
            (format!("svck_{}", "k".repeat(31)), KeyProblem::Form),
            (format!("svck_{}", "k".repeat(201)), KeyProblem::Form),
            (format!("svck_{} ", "k".repeat(32)), KeyProblem::Form),
            (format!("svck_{}ü", "k".repeat(32)), KeyProblem::Form),
            (format!("svck_{}", "k".repeat(57)), KeyProblem::Checksum),
            ("k".repeat(40), KeyProblem::Prefix),
            (String::new(), KeyProblem::Prefix),
        ] {
            assert_eq!(PresentedKey::parse(&text).unwrap_err(), problem, "{text}");
        }
    }

    #[test]
    fn debugging_never_shows_a_key() {
        let key = ApiKeySecret::generate();
        let secret = &key.expose()[13..];
        for shown in [format!("{key:?}"), format!("{:?}", key.presented())] {
            assert!(!shown.contains(secret) && shown.contains("svck_"), "{shown}");
        }
        assert_eq!(format!("{:?}", key.presented().hash()), "KeyHash(***)");
    }

    #[test]
    fn a_hash_matches_only_itself() {
        let (one, two) = (ApiKeySecret::generate(), ApiKeySecret::generate());
        let hash = one.presented().hash();
        assert!(hash.matches(one.presented().hash().as_bytes()));
        assert!(!hash.matches(two.presented().hash().as_bytes()));
        assert!(!hash.matches(b""));
    }
}
