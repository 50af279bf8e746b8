//! Writes answers.
//!
//! The tag of a version, `W/"5"`, stands in the body (`@odata.etag`) and says what a change is for. What is read of an
//! entity hangs on more: on the question, on related entities, and on what the caller may see today. So the tag of an
//! answer to a read names what was sent, too, `W/"5.1f0c9b3ad2e45a77"`, and only who has exactly that is told that
//! nothing changed. A change takes either.

use axum::body::Body;
use axum::response::Response;
use http::header::{CACHE_CONTROL, CONTENT_LANGUAGE, CONTENT_TYPE, ETAG, LOCATION, VARY};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use sha2::{Digest as _, Sha256};
use svc_core::{Error, Result, hex};
use svc_odata::headers::{EntityTag, JsonFormat, TagCondition, Version};

/// What an answer depends on besides its address (RFC 9110, 12.5.5; RFC 7240, 2).
const VARIES_BY: &str = "Accept, Authorization, Cookie, OData-MaxVersion, OData-Version, Prefer";

/// How many headers an answer has, as a rule.
const HEADERS: usize = 12;

/// An answer in the making.
pub(super) struct Answer(Response);

impl Answer {
    /// An answer without a body.
    pub(super) fn empty(status: StatusCode, version: Version) -> Self {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = status;
        let headers = response.headers_mut();
        // With those that the host adds to every answer.
        headers.reserve(HEADERS);
        let version = HeaderValue::from_static(version.as_str());
        headers.insert(HeaderName::from_static("odata-version"), version);
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
        headers.insert(VARY, HeaderValue::from_static(VARIES_BY));
        Self(response)
    }

    /// An answer with a body of this type.
    pub(super) fn with_body(
        status: StatusCode,
        version: Version,
        content_type: HeaderValue,
        body: impl Into<Body>,
    ) -> Self {
        let mut answer = Self::empty(status, version);
        answer.0.headers_mut().insert(CONTENT_TYPE, content_type);
        *answer.0.body_mut() = body.into();
        answer
    }

    /// An answer in OData's JSON.
    pub(super) fn json(
        status: StatusCode,
        version: Version,
        format: JsonFormat,
        body: impl Into<Body>,
    ) -> Self {
        Self::with_body(status, version, content_type(format), body)
    }

    /// Names the language of the answer, which was chosen by what the caller asks for.
    pub(super) fn in_language(self, language: &str) -> Result<Self> {
        let mut answer = self.header(CONTENT_LANGUAGE, language)?;
        answer.0.headers_mut().append(VARY, HeaderValue::from_static("Accept-Language"));
        Ok(answer)
    }

    /// Names the version of the entity.
    pub(super) fn tagged(self, version: i64) -> Result<Self> {
        self.header(ETAG, &tag_of(version).to_string())
    }

    /// Names the address of the entity.
    pub(super) fn located(self, location: &str) -> Result<Self> {
        self.header(LOCATION, location)
    }

    /// Adds a header.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Internal`](svc_core::ErrorKind::Internal) for a value that is none.
    pub(super) fn header(mut self, name: HeaderName, value: &str) -> Result<Self> {
        let value = HeaderValue::from_str(value)
            .map_err(|error| Error::internal("a header can't be written").caused_by(error))?;
        self.0.headers_mut().insert(name, value);
        Ok(self)
    }

    /// Adds headers.
    pub(super) fn headers(mut self, headers: HeaderMap) -> Self {
        self.0.headers_mut().extend(headers);
        self
    }

    /// The answer.
    pub(super) fn finish(self) -> Response {
        self.0
    }
}

/// The tag of an entity of a version as it was read: what was sent of it makes the tag.
pub(super) fn tag_of_read(version: i64, body: &str) -> EntityTag {
    EntityTag::weak(format!("{version}.{}", hex(&Sha256::digest(body)[..8])))
}

/// The version that a tag names.
pub(super) fn version_in(tag: &EntityTag) -> Option<i64> {
    let text = tag.tag.split_once('.').map_or(tag.tag.as_str(), |(version, _)| version);
    // Other ways to write the number are other tags.
    text.parse().ok().filter(|version: &i64| version.to_string() == text)
}

/// Whether a condition names a version.
pub(super) fn names(condition: &TagCondition, version: i64) -> bool {
    match condition {
        TagCondition::Any => true,
        TagCondition::Tags(tags) => tags.iter().any(|tag| version_in(tag) == Some(version)),
    }
}

/// The tag of an entity's version.
pub(super) fn tag_of(version: i64) -> EntityTag {
    EntityTag::weak(version.to_string())
}

/// The type of an answer.
fn content_type(format: JsonFormat) -> HeaderValue {
    HeaderValue::from_str(&format.content_type())
        .unwrap_or(HeaderValue::from_static("application/json"))
}
