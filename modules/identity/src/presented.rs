//! What callers present: secrets by their hash, and tokens before anything of them is known to be true.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

/// What a secret of ours is looked up and compared by. It is as random as a key, so a fast hash is enough.
pub(crate) fn hash(secret: &str) -> [u8; 32] {
    Sha256::digest(secret.as_bytes()).into()
}

/// The token in the value of a header, where it has the form of one: three parts with dots between them.
pub(crate) fn bearer_token(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    let token = token.trim_matches(' ');
    let permitted = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let is_one = scheme.eq_ignore_ascii_case("bearer")
        && token.bytes().filter(|byte| *byte == b'.').count() == 2
        && token.bytes().all(permitted);
    is_one.then_some(token)
}

#[derive(Deserialize)]
struct Issued {
    iss: String,
}

/// Who a token says has made it, before anything of it is known to be true.
pub(crate) fn issuer_of(token: &str) -> Option<String> {
    let mut parts = token.split('.');
    let (Some(_), Some(claims), Some(_), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return None;
    };
    if claims.len() > 16 * 1024 {
        return None;
    }
    let claims = URL_SAFE_NO_PAD.decode(claims).ok()?;
    serde_json::from_slice::<Issued>(&claims).ok().map(|issued| issued.iss)
}

#[cfg(test)]
mod tests {
    use super::bearer_token;

    #[test]
    fn only_what_looks_like_a_token_is_taken() {
        assert_eq!(bearer_token("Bearer a.b.c"), Some("a.b.c"));
        assert_eq!(bearer_token("bearer  a.b. "), Some("a.b."));
        for other in ["Bearer svck_a.b.c/", "Bearer svck_abc", "Basic a.b.c", "Bearer a.b", "a.b.c"]
        {
            assert_eq!(bearer_token(other), None, "{other}");
        }
    }
}
