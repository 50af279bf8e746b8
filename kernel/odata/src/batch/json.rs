//! Batches as JSON.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{BatchError, BatchRequest, BatchResponse, check, encoded};
use crate::json::{push_name, push_string};

#[derive(Deserialize)]
struct Envelope {
    requests: Vec<Request>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Request {
    id: String,
    method: String,
    url: String,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    body: Option<Box<RawValue>>,
    #[serde(default)]
    atomicity_group: Option<String>,
    #[serde(default)]
    depends_on: Vec<String>,
    #[serde(default, rename = "if")]
    condition: Option<Box<RawValue>>,
}

/// Reads a batch of at most `limit` requests.
///
/// A body that is JSON is taken as it is; one of another type is a string, of `text/…` the text
/// itself, of other types base64url.
///
/// # Errors
/// When it is not a batch, or one that contradicts itself.
pub fn parse_json(body: &[u8], limit: usize) -> Result<Vec<BatchRequest>, BatchError> {
    let envelope: Envelope =
        serde_json::from_slice(body).map_err(|cause| BatchError::Malformed(cause.to_string()))?;
    if envelope.requests.len() > limit {
        return Err(BatchError::TooMany(limit));
    }
    let requests = envelope.requests.into_iter().map(request).collect::<Result<Vec<_>, _>>()?;
    check(&requests, limit)?;
    Ok(requests)
}

fn request(request: Request) -> Result<BatchRequest, BatchError> {
    let Request { id, method, url, headers, body, atomicity_group, depends_on, condition } =
        request;
    if id.is_empty() || id.starts_with('$') {
        return Err(BatchError::Malformed(format!("`{id}` isn't an id of a request")));
    }
    if condition.is_some() {
        return Err(BatchError::Unsupported("`if` of a request in a batch"));
    }
    let mut headers: Vec<_> =
        headers.into_iter().map(|(name, value)| (name.to_ascii_lowercase(), value)).collect();
    let content_type = headers.iter().find(|(name, _)| name == "content-type");
    let is_json = content_type.is_none_or(|(_, value)| is_json(value));
    let content = match body.as_deref().map(RawValue::get) {
        None | Some("null") => Vec::new(),
        Some(raw) if is_json => raw.as_bytes().to_vec(),
        Some(raw) => {
            let text: String = serde_json::from_str(raw).map_err(|_| {
                BatchError::Malformed(format!(
                    "the body of request `{id}` is not JSON, so it must be a string"
                ))
            })?;
            decoded(text, content_type.map_or("", |(_, value)| value), &id)?
        }
    };
    if !content.is_empty() && content_type.is_none() {
        headers.push(("content-type".to_owned(), "application/json".to_owned()));
    }
    let method = method.to_ascii_uppercase();
    let url = encoded(&url);
    Ok(BatchRequest { id, method, url, headers, body: content, group: atomicity_group, depends_on })
}

fn media_type(content_type: &str) -> String {
    content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

fn is_json(content_type: &str) -> bool {
    let media_type = media_type(content_type);
    media_type == "application/json" || media_type.ends_with("+json")
}

fn decoded(text: String, content_type: &str, id: &str) -> Result<Vec<u8>, BatchError> {
    if media_type(content_type).starts_with("text/") {
        return Ok(text.into_bytes());
    }
    match crate::value::parse_primitive(crate::model::PrimitiveType::Binary, &text) {
        Ok(crate::value::Value::Binary(bytes)) => Ok(bytes),
        _ => Err(BatchError::Malformed(format!("the body of request `{id}` is not base64url"))),
    }
}

/// Writes the responses of a batch.
#[must_use]
pub fn write_json_responses(responses: &[BatchResponse]) -> Vec<u8> {
    let (mut out, mut writer) = (Vec::new(), JsonResponses::default());
    writer.push(&mut out, responses);
    writer.end(&mut out);
    out
}

/// Writes the answer of a batch as JSON, response by response.
#[derive(Debug, Default)]
pub struct JsonResponses {
    has_begun: bool,
}

impl JsonResponses {
    /// Writes responses behind those before.
    pub fn push(&mut self, out: &mut Vec<u8>, responses: &[BatchResponse]) {
        let mut text = String::new();
        for response in responses {
            text.push_str(if self.has_begun { "," } else { "{\"responses\":[" });
            self.has_begun = true;
            push_response(&mut text, response);
        }
        out.extend_from_slice(text.as_bytes());
    }

    /// Writes what comes behind the last.
    pub fn end(self, out: &mut Vec<u8>) {
        out.extend_from_slice(if self.has_begun { b"]}" } else { b"{\"responses\":[]}" });
    }
}

fn push_response(out: &mut String, response: &BatchResponse) {
    out.push('{');
    push_name(out, "id");
    push_string(out, &response.id);
    if let Some(group) = &response.group {
        out.push(',');
        push_name(out, "atomicityGroup");
        push_string(out, group);
    }
    out.push(',');
    push_name(out, "status");
    out.push_str(&response.status.to_string());
    if !response.headers.is_empty() {
        out.push(',');
        push_name(out, "headers");
        out.push('{');
        for (place, (name, value)) in response.headers.iter().enumerate() {
            if place > 0 {
                out.push(',');
            }
            push_name(out, &name.to_ascii_lowercase());
            push_string(out, value);
        }
        out.push('}');
    }
    if !response.body.is_empty() {
        out.push(',');
        push_name(out, "body");
        push_body(out, response);
    }
    out.push('}');
}

/// JSON as it is, text as a string, anything else as base64url.
fn push_body(out: &mut String, response: &BatchResponse) {
    let content_type =
        response.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    let content_type = content_type.map_or("", |(_, value)| value.as_str());
    match std::str::from_utf8(&response.body) {
        Ok(text) if is_json(content_type) && serde_json::from_str::<&RawValue>(text).is_ok() => {
            out.push_str(text);
        }
        Ok(text) if media_type(content_type).starts_with("text/") => push_string(out, text),
        _ => {
            let binary = crate::value::Value::Binary(response.body.clone());
            push_string(out, &crate::value::write_text(&binary));
        }
    }
}
