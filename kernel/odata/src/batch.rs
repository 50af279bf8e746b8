//! `$batch`: many requests in one, as JSON or multipart (Protocol 4.01, 11.7; JSON Format 4.01,
//! 19). Only the envelope: what is in it is served by whoever serves single requests.
//!
//! Both forms become the same list. Requests with the same [`BatchRequest::group`] succeed or fail
//! together; a request waits for what it [depends on](BatchRequest::depends_on) and is not
//! performed (424) when that failed.

mod json;
mod multipart;

use std::fmt::Write as _;

pub use json::{JsonResponses, parse_json, write_json_responses};
pub use multipart::{MultipartResponses, boundary, parse_multipart, write_multipart_responses};

/// A request within a batch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BatchRequest {
    /// Its id, unique within the batch; in multipart the `Content-ID`, or its number.
    pub id: String,
    /// The method in upper case.
    pub method: String,
    /// The URL: absolute, from the host's root, from the service root, or `$id/…`. What a URL can't
    /// hold is percent-encoded, which not every client does for requests within a batch.
    pub url: String,
    /// The headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body; empty for none.
    pub body: Vec<u8>,
    /// The group of requests that succeed or fail together.
    pub group: Option<String>,
    /// The ids of requests or groups that must have succeeded before.
    pub depends_on: Vec<String>,
}

impl BatchRequest {
    /// The value of a header, by its name in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The id of the request whose result the URL begins with (`$1/Items`), and what follows it.
    #[must_use]
    pub fn referenced(&self) -> Option<(&str, &str)> {
        let rest = self.url.strip_prefix('/').unwrap_or(&self.url).strip_prefix('$')?;
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (id, rest) = rest.split_at(end);
        let is_resource = matches!(id, "metadata" | "batch" | "entity" | "all") || id.contains('(');
        (!id.is_empty() && !is_resource).then_some((id, rest))
    }
}

/// A response within a batch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BatchResponse {
    /// The id of the request.
    pub id: String,
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: Vec<(String, String)>,
    /// The body; empty for none.
    pub body: Vec<u8>,
    /// The group of the request.
    pub group: Option<String>,
}

/// Why a batch is refused as a whole.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BatchError {
    /// Not a batch.
    #[error("the batch is malformed: {0}")]
    Malformed(String),
    /// Uses a part of OData that is not served. 501.
    #[error("{0} is not supported")]
    Unsupported(&'static str),
    /// Two requests have the same id.
    #[error("the id `{0}` occurs twice in the batch")]
    DuplicateId(String),
    /// A request depends on one that does not come before it.
    #[error("request `{id}` depends on `{on}`, which does not come before it")]
    UnknownDependency {
        /// The request.
        id: String,
        /// What it depends on.
        on: String,
    },
    /// More requests than are served at once.
    #[error("more than {0} requests in a batch; send several")]
    TooMany(usize),
}

impl BatchError {
    /// The HTTP status that fits.
    #[must_use]
    pub fn status(&self) -> u16 {
        if matches!(self, Self::Unsupported(_)) { 501 } else { 400 }
    }
}

/// A URL with what it can't hold percent-encoded; what is encoded already stays as it is.
fn encoded(url: &str) -> String {
    let mut out = String::with_capacity(url.len());
    for byte in url.bytes() {
        match byte {
            b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}' => {
                let _ = write!(out, "%{byte:02X}");
            }
            b'!'..=b'~' => out.push(byte.into()),
            _ => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

/// Checks what both forms have in common: ids, groups and dependencies.
fn check(requests: &[BatchRequest], limit: usize) -> Result<(), BatchError> {
    if requests.len() > limit {
        return Err(BatchError::TooMany(limit));
    }
    let mut known: Vec<&str> = Vec::new();
    let mut group: Option<&str> = None;
    for request in requests {
        let current = request.group.as_deref();
        if current != group {
            if let Some(current) = current {
                // The requests of a group stand together, so that it can be one transaction.
                if known.contains(&current) {
                    return Err(BatchError::DuplicateId(current.to_owned()));
                }
                known.push(current);
            }
            group = current;
        }
        if known.contains(&request.id.as_str()) {
            return Err(BatchError::DuplicateId(request.id.clone()));
        }
        for on in &request.depends_on {
            let own_group = current == Some(on.as_str());
            if own_group || !known.contains(&on.as_str()) {
                return Err(BatchError::UnknownDependency {
                    id: request.id.clone(),
                    on: on.clone(),
                });
            }
        }
        known.push(&request.id);
    }
    Ok(())
}
