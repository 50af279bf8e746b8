//! Batches as `multipart/mixed` (RFC 2046 with `application/http` parts).

use std::fmt::Write as _;

use super::{BatchError, BatchRequest, BatchResponse, check, encoded};

/// The boundary that a `Content-Type` names; none if it is not multipart.
#[must_use]
pub fn boundary(content_type: &str) -> Option<String> {
    let mut parts = content_type.split(';').map(str::trim);
    if !parts.next()?.eq_ignore_ascii_case("multipart/mixed") {
        return None;
    }
    parts.find_map(|part| {
        let (name, value) = part.split_once('=')?;
        let value = value.trim().trim_matches('"');
        let fits = !value.is_empty() && value.len() <= 70;
        (name.trim().eq_ignore_ascii_case("boundary") && fits).then(|| value.to_owned())
    })
}

/// Headers, names in lower case, and what follows the empty line after them.
struct Part<'b> {
    headers: Vec<(String, String)>,
    content: &'b [u8],
}

impl<'b> Part<'b> {
    fn parse(bytes: &'b [u8]) -> Result<Self, BatchError> {
        let mut headers = Vec::new();
        let mut rest = bytes;
        loop {
            let (line, after) = line(rest);
            rest = after;
            if line.is_empty() {
                return Ok(Self { headers, content: rest });
            }
            let text = std::str::from_utf8(line).map_err(|_| malformed("a header is not text"))?;
            let (name, value) =
                text.split_once(':').ok_or_else(|| malformed("a header has no colon"))?;
            headers.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
        }
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

fn malformed(message: &str) -> BatchError {
    BatchError::Malformed(message.to_owned())
}

/// The first line without its end, and what follows.
fn line(bytes: &[u8]) -> (&[u8], &[u8]) {
    match bytes.iter().position(|&byte| byte == b'\n') {
        Some(end) => (bytes[..end].strip_suffix(b"\r").unwrap_or(&bytes[..end]), &bytes[end + 1..]),
        None => (bytes, &[]),
    }
}

/// The parts between boundaries, without the line end that belongs to the boundary.
fn parts<'b>(bytes: &'b [u8], boundary: &str) -> Result<Vec<&'b [u8]>, BatchError> {
    let delimiter = format!("--{boundary}");
    let mut parts = Vec::new();
    let mut start: Option<usize> = None;
    let mut at = 0;
    while at < bytes.len() {
        let (line, rest) = line(&bytes[at..]);
        let next = bytes.len() - rest.len();
        let text = line.trim_ascii_end();
        let after = text.strip_prefix(delimiter.as_bytes());
        if let Some(after) = after.filter(|after| after.is_empty() || *after == b"--") {
            if let Some(start) = start {
                let part = &bytes[start..at.max(start)];
                let part = part.strip_suffix(b"\n").unwrap_or(part);
                parts.push(part.strip_suffix(b"\r").unwrap_or(part));
            }
            if after == b"--" {
                return Ok(parts);
            }
            start = Some(next);
        }
        at = next;
    }
    Err(malformed("the closing boundary is missing"))
}

/// Reads a batch of at most `limit` requests. A change set becomes a group.
///
/// # Errors
/// When it is not a batch, or one that contradicts itself.
pub fn parse_multipart(
    body: &[u8],
    boundary: &str,
    limit: usize,
) -> Result<Vec<BatchRequest>, BatchError> {
    let mut requests = Vec::new();
    let mut groups = 0;
    for bytes in parts(body, boundary)? {
        let part = Part::parse(bytes)?;
        let content_type = part.header("content-type").unwrap_or_default();
        if let Some(inner) = self::boundary(content_type) {
            groups += 1;
            let group = format!("changeset-{groups}");
            for bytes in parts(part.content, &inner)? {
                let request = request(&Part::parse(bytes)?, requests.len(), Some(group.clone()))?;
                if request.method == "GET" {
                    return Err(malformed("a change set must not read"));
                }
                requests.push(request);
                refuse_many(&requests, limit)?;
            }
        } else {
            let request = request(&part, requests.len(), None)?;
            requests.push(request);
            refuse_many(&requests, limit)?;
        }
    }
    for place in 0..requests.len() {
        depend_on_referenced(&mut requests, place);
    }
    check(&requests, limit)?;
    Ok(requests)
}

fn refuse_many(requests: &[BatchRequest], limit: usize) -> Result<(), BatchError> {
    if requests.len() > limit { Err(BatchError::TooMany(limit)) } else { Ok(()) }
}

/// Multipart says what a request depends on only by its URL.
fn depend_on_referenced(requests: &mut [BatchRequest], place: usize) {
    let (before, rest) = requests.split_at_mut(place);
    let Some(request) = rest.first_mut() else { return };
    let referenced = request.referenced().map(|(id, _)| id.to_owned());
    if let Some(id) = referenced.filter(|id| before.iter().any(|other| other.id == *id)) {
        request.depends_on.push(id);
    }
}

fn request(
    part: &Part<'_>,
    place: usize,
    group: Option<String>,
) -> Result<BatchRequest, BatchError> {
    let content_type = part.header("content-type").unwrap_or_default().to_ascii_lowercase();
    if !content_type.starts_with("application/http") {
        return Err(malformed("a part is neither `application/http` nor a change set"));
    }
    let (first, rest) = line(part.content);
    let first = std::str::from_utf8(first).map_err(|_| malformed("a request line is not text"))?;
    let (method, rest_of_line) = first.trim().split_once(' ').unwrap_or((first, ""));
    // Some clients leave spaces in URLs, so the version is what stands at the end.
    let url = match rest_of_line.rsplit_once(' ') {
        Some((url, version)) if version.starts_with("HTTP/") => url.trim(),
        _ => rest_of_line.trim(),
    };
    if url.is_empty() || url.starts_with("HTTP/") {
        return Err(malformed("a request line has no method and URL"));
    }
    let inner = Part::parse(rest)?;
    // The id stands at the part, some clients put it among the request's headers.
    let id = part.header("content-id").or_else(|| inner.header("content-id"));
    let id = id.map_or_else(|| format!("part-{}", place + 1), str::to_owned);
    let body = match inner.header("content-length").and_then(|length| length.parse::<usize>().ok())
    {
        Some(length) => &inner.content[..length.min(inner.content.len())],
        None => inner.content,
    };
    Ok(BatchRequest {
        id,
        method: method.to_ascii_uppercase(),
        url: encoded(url),
        body: body.to_vec(),
        headers: inner.headers,
        group,
        depends_on: Vec::new(),
    })
}

/// Writes the responses of a batch; those of a group that stand together become one part. A group
/// that failed has a single response, which is written on its own.
#[must_use]
pub fn write_multipart_responses(responses: &[BatchResponse], boundary: &str) -> Vec<u8> {
    let (mut out, mut writer) = (Vec::new(), MultipartResponses::new(boundary));
    writer.push(&mut out, responses);
    writer.end(&mut out);
    out
}

/// Writes the answer of a batch as multipart, response by response.
#[derive(Debug)]
pub struct MultipartResponses<'b> {
    boundary: &'b str,
    /// How many change sets there were.
    sets: usize,
}

impl<'b> MultipartResponses<'b> {
    /// A writer with the boundary between the parts.
    #[must_use]
    pub fn new(boundary: &'b str) -> Self {
        Self { boundary, sets: 0 }
    }

    /// Writes responses behind those before; those of a change set come together.
    pub fn push(&mut self, out: &mut Vec<u8>, responses: &[BatchResponse]) {
        push_responses(out, responses, self.boundary, &mut self.sets);
    }

    /// Writes what comes behind the last.
    pub fn end(self, out: &mut Vec<u8>) {
        out.extend_from_slice(format!("--{}--\r\n", self.boundary).as_bytes());
    }
}

fn push_responses(
    out: &mut Vec<u8>,
    responses: &[BatchResponse],
    boundary: &str,
    sets: &mut usize,
) {
    let mut rest = responses;
    while let Some(first) = rest.first() {
        out.extend_from_slice(format!("--{boundary}\r\n").as_bytes());
        let together = match &first.group {
            Some(group) if first.status < 400 => {
                rest.iter().take_while(|other| other.group.as_ref() == Some(group)).count()
            }
            _ => {
                push_part(out, first);
                rest = &rest[1..];
                continue;
            }
        };
        *sets += 1;
        // Not the outer boundary with an end: readers that compare only beginnings would stop there.
        // There are clients that know a change set's answer by how its boundary begins.
        let inner = format!("changesetresponse_{sets}_{boundary}");
        out.extend_from_slice(
            format!("Content-Type: multipart/mixed; boundary={inner}\r\n\r\n").as_bytes(),
        );
        for response in &rest[..together] {
            out.extend_from_slice(format!("--{inner}\r\n").as_bytes());
            push_part(out, response);
        }
        out.extend_from_slice(format!("--{inner}--\r\n").as_bytes());
        rest = &rest[together..];
    }
}

fn push_part(out: &mut Vec<u8>, response: &BatchResponse) {
    let id = &response.id;
    let mut head = format!(
        "Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\nContent-ID: {id}\r\n\r\nHTTP/1.1 {} {}\r\n",
        response.status,
        reason(response.status),
    );
    for (name, value) in &response.headers {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    head.push_str("\r\n");
    out.extend_from_slice(head.as_bytes());
    out.extend_from_slice(&response.body);
    out.extend_from_slice(b"\r\n");
}

/// The standard's phrase for a status, as multipart responses carry it.
fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        204 => "No Content",
        304 => "Not Modified",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        409 => "Conflict",
        412 => "Precondition Failed",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        422 => "Unprocessable Content",
        424 => "Failed Dependency",
        428 => "Precondition Required",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        503 => "Service Unavailable",
        _ => "Unknown",
    }
}
