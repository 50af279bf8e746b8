//! What is asked, and by whom.

use http::header::{CONTENT_TYPE, HeaderName, IF_MATCH, IF_NONE_MATCH};
use http::request::Parts;
use sha2::{Digest as _, Sha256};
use svc_core::hex;
use svc_data::Context;

/// What is asked, and by whom under which key.
pub(super) struct Asked {
    /// Whose key it is, as a hash.
    pub(super) person: String,
    /// The key, and whose it is, as a hash.
    pub(super) id: String,
    /// The request, as a hash.
    pub(super) request: String,
    /// What the person may see, as a hash.
    pub(super) rights: String,
}

impl Asked {
    pub(super) fn new(ctx: &Context, key: &str, parts: &Parts, body: &[u8]) -> Self {
        let who = ctx.principal();
        let organisation = who.organisation().map_or(0, |id| id.0.as_u128());
        let user = who.user_id().map_or(0, |id| id.0.as_u128());
        let header = |name: HeaderName| parts.headers.get(name).map_or(&[][..], |it| it.as_bytes());
        let uri = parts.uri.path_and_query().map_or("", |uri| uri.as_str());
        let (organisation, user) = (organisation.to_be_bytes(), user.to_be_bytes());
        Self {
            person: hash([&organisation[..], &user]),
            id: hash([&organisation[..], &user, key.as_bytes()]),
            request: hash([
                parts.method.as_str().as_bytes(),
                uri.as_bytes(),
                header(CONTENT_TYPE),
                header(IF_MATCH),
                header(IF_NONE_MATCH),
                body,
            ]),
            rights: hash([who.rights().as_bytes()]),
        }
    }
}

/// A hash of texts, in which the end of each counts.
fn hash<const N: usize>(texts: [&[u8]; N]) -> String {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update((text.len() as u64).to_be_bytes());
        hash.update(text);
    }
    hex(&hash.finalize())
}

#[cfg(test)]
mod tests {
    use super::hash;

    #[test]
    fn the_end_of_each_text_counts() {
        assert_ne!(hash([b"ab", b"c"]), hash([b"a", b"bc"]));
    }
}
