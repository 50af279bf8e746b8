//! The secret of a browser's cookie, which its forms carry: under a mask that is new in each page, since the
//! length of a compressed page must tell nothing about it.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{HeaderMap, HeaderValue};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use svc_core::{random_array, random_token};

use crate::sessions::{cookie, set_cookie};

const COOKIE: &str = "svc-form";

/// How long a page may be open until its form is sent, in seconds.
const LIFETIME: u64 = 24 * 60 * 60;

/// What a browser proves with that a form is from one of our pages.
pub(crate) struct FormSecret {
    value: String,
    /// The browser had one already.
    pub(super) is_known: bool,
}

impl FormSecret {
    /// The browser's, or a new one.
    pub(super) fn of(is_plain: bool, headers: &HeaderMap) -> Self {
        match cookie(is_plain, headers, COOKIE).filter(|value| value.len() == 43) {
            Some(value) => Self { value, is_known: true },
            None => Self { value: random_token::<32>(), is_known: false },
        }
    }

    /// The cookie, where the browser doesn't have it yet.
    pub(super) fn new_cookie(&self, is_plain: bool) -> Option<HeaderValue> {
        (!self.is_known).then(|| set_cookie(is_plain, COOKIE, &self.value, LIFETIME))
    }

    /// What a form carries.
    pub(super) fn token(&self) -> String {
        let mask = random_array::<32>();
        let mut bytes = [0; 64];
        for (place, (mask, hash)) in mask.iter().zip(self.hash()).enumerate() {
            bytes[place] = *mask;
            bytes[32 + place] = mask ^ hash;
        }
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// What a challenge for this browser is bound to.
    pub(super) fn binding(&self) -> [u8; 32] {
        Sha256::new().chain_update("svc-passkey ").chain_update(&self.value).finalize().into()
    }

    pub(super) fn is_in(&self, token: &str) -> bool {
        let Ok(bytes) = URL_SAFE_NO_PAD.decode(token) else { return false };
        let Some((mask, masked)) = bytes.split_at_checked(32) else { return false };
        let hash: Vec<u8> = mask.iter().zip(masked).map(|(mask, masked)| mask ^ masked).collect();
        bytes.len() == 64 && bool::from(hash.ct_eq(&self.hash()))
    }

    fn hash(&self) -> [u8; 32] {
        Sha256::new().chain_update("svc-form ").chain_update(&self.value).finalize().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_page_carries_the_secret_in_another_form() {
        let secret = FormSecret { value: "a".repeat(43), is_known: true };
        let (one, other) = (secret.token(), secret.token());
        assert_ne!(one, other);
        assert!(secret.is_in(&one) && secret.is_in(&other));
        let foreign = FormSecret { value: "b".repeat(43), is_known: true };
        assert!(!foreign.is_in(&one));
        for nonsense in ["", "a", &one[1..], &format!("{one}AA"), "ä"] {
            assert!(!secret.is_in(nonsense), "{nonsense}");
        }
    }
}
