//! Answers `$batch`: each request in it is served as if it had come alone, by the same caller.
//!
//! Requests of one group (a change set) are one unit of work: when one of them fails, nothing that
//! the group did is stored, and the others are answered with 424. After a failure the rest is not
//! performed, unless the caller prefers to go on (`continue-on-error`).

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use axum::response::Response;
use http::header::{HOST, LOCATION};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri};
use svc_core::{Error, ErrorKind, Result};
use svc_data::Context;
use svc_odata::batch::{
    BatchError, BatchRequest, BatchResponse, boundary, parse_json, parse_multipart,
    write_json_responses, write_multipart_responses,
};
use svc_odata::headers::{Preferences, negotiate_version, parse_content_type};
use svc_odata::json::{ErrorBody, ErrorDetail};

use super::answer::Answer;
use super::request::ROOT;
use super::{ODataSettings, is_batch, serve_one};
use crate::problem::{Failure, problem_parts};
use crate::state::HttpState;

/// What separates the parts of a multipart answer; no JSON of ours begins a line with it.
const BOUNDARY: &str = "batchresponse";

/// A batch that is being answered.
struct Batch<'a> {
    state: &'a HttpState,
    ctx: &'a Context,
    /// The host that the batch was sent to, and so is each request in it.
    host: Option<&'a HeaderValue>,
    /// What each answered request can be referred to by: the address of its entity.
    addresses: HashMap<String, String>,
    /// The requests and groups that failed, or were not performed.
    failed: HashSet<String>,
}

/// Answers a batch.
///
/// # Errors
///
/// [`ErrorKind::Malformed`] for what is no batch, [`ErrorKind::UnsupportedMediaType`] for a body
/// that is neither JSON nor multipart.
pub(super) async fn answer(
    state: &HttpState,
    ctx: &Context,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<Response> {
    let settings = state.app().settings::<ODataSettings>();
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let version = negotiate_version(text("odata-version"), text("odata-maxversion"))
        .map_err(|error| Error::malformed(error.to_string()))?;
    let content_type = text("content-type").unwrap_or_default();
    let boundary = boundary(content_type);
    let requests = match &boundary {
        Some(boundary) => parse_multipart(body, boundary, settings.max_batch_requests),
        None if is_json(content_type) => parse_json(body, settings.max_batch_requests),
        None => {
            let message = "a batch is `application/json` or `multipart/mixed` with a boundary";
            return Err(Error::new(ErrorKind::UnsupportedMediaType, message));
        }
    };
    let requests = requests.map_err(|error| refused(&error))?;
    let preferences = text("prefer").map(Preferences::parse).unwrap_or_default();
    let goes_on = preferences.continue_on_error == Some(true);
    let (addresses, failed) = (HashMap::new(), HashSet::new());
    let mut batch = Batch { state, ctx, host: headers.get(HOST), addresses, failed };
    let responses = batch.perform(&requests, goes_on).await;
    let (content_type, body) = match boundary {
        Some(_) => {
            let content_type = format!("multipart/mixed;boundary={BOUNDARY}");
            (content_type, write_multipart_responses(&single_failures(responses), BOUNDARY))
        }
        None => ("application/json".to_owned(), write_json_responses(&responses)),
    };
    let content_type = HeaderValue::from_str(&content_type)
        .map_err(|error| Error::internal("a header can't be written").caused_by(error))?;
    let answer = Answer::with_body(StatusCode::OK, version, content_type, body);
    match preferences.continue_on_error {
        Some(goes_on) => {
            let applied = format!("odata.continue-on-error={goes_on}");
            let name = HeaderName::from_static("preference-applied");
            answer.header(name, &applied).map(Answer::finish)
        }
        None => Ok(answer.finish()),
    }
}

/// Whether a body is JSON; one without a type is no batch.
fn is_json(content_type: &str) -> bool {
    !content_type.trim().is_empty() && parse_content_type(Some(content_type)).is_ok()
}

fn refused(error: &BatchError) -> Error {
    let kind = if error.status() == 501 { ErrorKind::NotImplemented } else { ErrorKind::Malformed };
    Error::new(kind, error.to_string())
}

/// In multipart a change set that failed has a single answer: that of the request that failed.
fn single_failures(responses: Vec<BatchResponse>) -> Vec<BatchResponse> {
    let mut kept: Vec<BatchResponse> = Vec::with_capacity(responses.len());
    for response in responses {
        let group = response.group.clone();
        let place = kept.iter().position(|other| {
            group.is_some()
                && other.group == group
                && (other.status >= 400 || response.status >= 400)
        });
        match place {
            Some(place) if kept[place].status == 424 => kept[place] = response,
            Some(_) => {}
            None => kept.push(response),
        }
    }
    kept
}

impl Batch<'_> {
    async fn perform(&mut self, requests: &[BatchRequest], goes_on: bool) -> Vec<BatchResponse> {
        let mut responses = Vec::with_capacity(requests.len());
        let mut rest = requests;
        while let Some(first) = rest.first() {
            let length = match &first.group {
                Some(group) => {
                    rest.iter().take_while(|other| other.group.as_ref() == Some(group)).count()
                }
                None => 1,
            };
            let (unit, after) = rest.split_at(length);
            rest = after;
            let answered = if first.group.is_some() {
                self.group(unit).await
            } else {
                vec![self.one(first).await.unwrap_or_else(|error| Self::failure(first, &error))]
            };
            let failed = answered.iter().any(|response| response.status >= 400);
            for response in &answered {
                if failed {
                    self.failed.insert(response.id.clone());
                    self.failed.extend(response.group.clone());
                }
            }
            responses.extend(answered);
            if failed && !goes_on {
                break;
            }
        }
        responses
    }

    /// Performs the requests of a group as one unit of work.
    async fn group(&mut self, requests: &[BatchRequest]) -> Vec<BatchResponse> {
        let outcome: Mutex<(Vec<BatchResponse>, HashMap<String, String>)> = Mutex::default();
        let ctx = self.ctx;
        let (outcome_of, this) = (&outcome, &*self);
        let work = ctx.transact_retrying(|_| async move {
            let mut inner = Batch {
                state: this.state,
                ctx: this.ctx,
                host: this.host,
                addresses: this.addresses.clone(),
                failed: this.failed.clone(),
            };
            let mut responses = Vec::with_capacity(requests.len());
            let mut failed = false;
            for request in requests {
                // What begins anew is the whole group.
                let response = match inner.one(request).await {
                    Err(error) if error.is_transient() => return Err(error),
                    Err(error) => Self::failure(request, &error),
                    Ok(response) => response,
                };
                failed = response.status >= 400;
                responses.push(response);
                if failed {
                    break;
                }
            }
            *outcome_of.lock().unwrap_or_else(PoisonError::into_inner) =
                (responses, inner.addresses);
            if failed { Err(Error::conflict("a request of the group failed")) } else { Ok(()) }
        });
        let stored = work.await;
        let (mut responses, addresses) =
            outcome.into_inner().unwrap_or_else(PoisonError::into_inner);
        let Err(error) = stored else {
            self.addresses = addresses;
            return responses;
        };
        let culprit = match responses.pop().filter(|last| last.status >= 400) {
            Some(culprit) => culprit,
            // The commit itself failed, or the group could not begin.
            None => Self::failure(&requests[requests.len() - 1], &error),
        };
        let skipped = Error::conflict("another request of the group failed");
        let all = requests.iter().map(|request| {
            if request.id == culprit.id {
                culprit.clone()
            } else {
                BatchResponse { status: 424, ..Self::failure(request, &skipped) }
            }
        });
        all.collect()
    }

    /// Performs one request; the error is left to the caller, who may begin anew.
    async fn one(&mut self, request: &BatchRequest) -> Result<BatchResponse> {
        if request.depends_on.iter().any(|on| self.failed.contains(on)) {
            let error = Error::conflict("a request that this depends on failed");
            return Ok(BatchResponse { status: 424, ..Self::failure(request, &error) });
        }
        let uri = self.address_of(request)?;
        let method = Method::from_bytes(request.method.as_bytes())
            .map_err(|_| Error::malformed(format!("`{}` is no method", request.method)))?;
        let mut headers = headers_of(request)?;
        if let Some(host) = self.host {
            headers.insert(HOST, host.clone());
        }
        let address = uri.to_string();
        let body = request.body.clone().into();
        let served = serve_one(self.state, self.ctx.clone(), method, &uri, headers, body).await?;
        if let Some(Failure(error)) = served.extensions().get() {
            return Ok(Self::failure(request, error));
        }
        let response = batch_response(request, served).await?;
        let location = response.headers.iter().find(|(name, _)| name == LOCATION.as_str());
        let entity = location.map_or(address, |(_, location)| location.clone());
        self.addresses.insert(request.id.clone(), entity);
        Ok(response)
    }

    /// The address of a request within the service: absolute, from the host's root, from the
    /// service's root, or of what another request made.
    fn address_of(&self, request: &BatchRequest) -> Result<Uri> {
        let wrong = || Error::malformed(format!("`{}` is no address of this service", request.url));
        let referenced = match request.referenced() {
            Some((id, rest)) => {
                let unknown = || Error::malformed(format!("there is no request `{id}` before"));
                Some(format!("{}{rest}", self.addresses.get(id).ok_or_else(unknown)?))
            }
            None => None,
        };
        let text = referenced.as_ref().unwrap_or(&request.url);
        let path = match text.split_once("://") {
            Some((_, rest)) => rest.find('/').map(|start| &rest[start..]).ok_or_else(wrong)?,
            None => text,
        };
        let path = match path.strip_prefix('/') {
            Some(_) => path.to_owned(),
            None => format!("{ROOT}/{path}"),
        };
        let below = path.strip_prefix(ROOT).is_some_and(|rest| rest.starts_with(['/', '?']));
        let uri: Uri = if below { path.parse().map_err(|_| wrong())? } else { return Err(wrong()) };
        if is_batch(&uri) {
            return Err(Error::malformed("a batch can't hold a batch"));
        }
        Ok(uri)
    }

    /// The answer of a request that failed, in OData's format.
    fn failure(request: &BatchRequest, error: &Error) -> BatchResponse {
        let parts = problem_parts(error);
        if parts.status == StatusCode::INTERNAL_SERVER_ERROR {
            tracing::error!(
                method = request.method,
                error = error.report(),
                "a request of a batch failed"
            );
        }
        let mut body = ErrorBody::new(parts.code, parts.summary());
        body.target = parts.target.map(str::to_owned);
        for (field, messages) in parts.fields {
            body.details.extend(messages.iter().map(|message| ErrorDetail {
                code: parts.code.to_owned(),
                message: message.clone(),
                target: Some(field.clone()),
            }));
        }
        BatchResponse {
            id: request.id.clone(),
            status: parts.status.as_u16(),
            headers: vec![("content-type".to_owned(), "application/json".to_owned())],
            body: body.to_json().into_bytes(),
            group: request.group.clone(),
        }
    }
}

fn headers_of(request: &BatchRequest) -> Result<HeaderMap> {
    let mut headers = HeaderMap::with_capacity(request.headers.len());
    for (name, value) in &request.headers {
        let wrong = || Error::malformed(format!("the header `{name}` can't be read"));
        let value = HeaderValue::from_str(value).map_err(|_| wrong())?;
        headers.append(HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?, value);
    }
    Ok(headers)
}

async fn batch_response(request: &BatchRequest, response: Response) -> Result<BatchResponse> {
    let (parts, body) = response.into_parts();
    let unreadable = |error| Error::internal("an answer can't be read").caused_by(error);
    let body = axum::body::to_bytes(body, usize::MAX).await.map_err(unreadable)?;
    let headers = parts.headers.iter().filter_map(|(name, value)| {
        Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
    });
    Ok(BatchResponse {
        id: request.id.clone(),
        status: parts.status.as_u16(),
        headers: headers.collect(),
        body: if request.method == "HEAD" { Vec::new() } else { body.to_vec() },
        group: request.group.clone(),
    })
}
