//! Proof Key for Code Exchange (RFC 7636), with the method S256 alone: `plain` proves nothing to who
//! reads the authorization request (RFC 9700, section 2.1.1).

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use svc_core::random_token;

/// What a client keeps until it has a code (RFC 7636, section 4.1). `Debug` shows nothing of it.
#[derive(Clone, PartialEq, Eq)]
pub struct CodeVerifier(String);

/// What a client sends ahead: the SHA-256 of its verifier in base64 without padding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeChallenge(String);

impl CodeVerifier {
    /// A new one of 256 random bits.
    #[must_use]
    pub fn random() -> Self {
        Self(random_token::<32>())
    }

    /// One that a client presents: 43 to 128 unreserved characters.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let permitted = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        let is_one = (43..=128).contains(&text.len()) && text.bytes().all(permitted);
        is_one.then(|| Self(text.to_owned()))
    }

    /// The verifier itself.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What is sent ahead of it.
    #[must_use]
    pub fn challenge(&self) -> CodeChallenge {
        CodeChallenge(URL_SAFE_NO_PAD.encode(Sha256::digest(self.0.as_bytes())))
    }
}

impl fmt::Debug for CodeVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CodeVerifier(***)")
    }
}

impl CodeChallenge {
    /// One that a client sends: 32 bytes in base64 without padding.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        (bytes.len() == 32).then(|| Self(text.to_owned()))
    }

    /// Its text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it was made of this verifier.
    #[must_use]
    pub fn fits(&self, verifier: &CodeVerifier) -> bool {
        verifier.challenge().0.as_bytes().ct_eq(self.0.as_bytes()).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_standard_fits() {
        // RFC 7636, appendix B.
        let verifier = CodeVerifier::parse("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk").unwrap();
        let challenge =
            CodeChallenge::parse("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM").unwrap();
        assert!(challenge.fits(&verifier));
        assert!(!challenge.fits(&CodeVerifier::random()));
    }

    #[test]
    fn what_has_another_form_is_refused() {
        for text in ["", &"a".repeat(42), &"a".repeat(129), &format!("{}/", "a".repeat(43))] {
            assert!(CodeVerifier::parse(text).is_none(), "{text}");
        }
        for text in ["", "abc", &"a".repeat(44), &format!("{}=", "a".repeat(43))] {
            assert!(CodeChallenge::parse(text).is_none(), "{text}");
        }
    }
}
