//! Answers that a client may have already (RFC 9110, section 13.1.2).

use http::HeaderMap;
use http::header::IF_NONE_MATCH;
use svc_odata::headers::{EntityTag, TagCondition};

/// What never changes may be kept for a year.
pub(crate) const FOR_GOOD: &str = "public, max-age=31536000, immutable";

/// Whether the client has what a tag stands for. What it says about that and can't be read is left aside: then it gets
/// the answer once more.
pub(crate) fn has_already(headers: &HeaderMap, tag: &EntityTag) -> bool {
    let condition = headers.get(IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    condition.and_then(TagCondition::parse).is_some_and(|condition| condition.matches(Some(tag)))
}
