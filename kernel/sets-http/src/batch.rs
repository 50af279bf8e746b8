//! Answers `$batch`: each request in it is served as if it had come alone, by the same caller.
//!
//! Requests of one group (a change set) are one unit of work: when one of them fails, nothing that
//! the group did is stored, and the others are answered with 424. After a failure the rest is not
//! performed, unless the caller prefers to go on (`continue-on-error`).
//!
//! The answer of each request, or group, is written before the next one begins, and sent like every
//! long answer (see [`stream`](super::stream)). All requests together have the
//! [budget](svc_data::Budget) and the time (`Svc:Http:RequestTimeout`) of one. What exceeds either is
//! answered with its error. Paths of modules below sets, such as `$export`, are served by themselves alone: what they
//! send has no bound.

use std::collections::{HashMap, HashSet};

use axum::response::Response;
use http::header::{HOST, LOCATION};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri};
use http_body_util::LengthLimitError;
use parking_lot::Mutex;
use svc_core::{Error, ErrorKind, Result};
use svc_data::{Context, Expense};
use svc_http::{Failure, HttpState, problem_parts};
use svc_odata::batch::{
    BatchError, BatchRequest, BatchResponse, JsonResponses, MultipartResponses, boundary,
    parse_json, parse_multipart,
};
use svc_odata::headers::{Preferences, negotiate_version, parse_content_type};
use svc_odata::json::{ErrorBody, ErrorDetail};
use svc_odata::syntax::path_of_query;
use svc_sets::{ODataSettings, ROOT, Sets};
use tokio::time::Instant;

use super::answer::Answer;
use super::paths::ServedPaths;
use super::request::refuse_options;
use super::stream::{self, Out, Streaming};
use super::{is_batch, serve_one};

/// What separates the parts of a multipart answer; no JSON of ours begins a line with it.
const BOUNDARY: &str = "batchresponse";

/// A batch that is being answered.
struct Batch<'a> {
    state: &'a HttpState,
    ctx: &'a Context,
    /// The host that the batch was sent to, and so is each request in it.
    host: Option<&'a HeaderValue>,
    /// When its requests must be answered.
    until: Instant,
    /// What each answered request can be referred to by: the address of its entity.
    addresses: HashMap<String, String>,
    /// The requests and groups that failed, or were not performed.
    failed: HashSet<String>,
}

/// The form of an answer.
enum Form {
    Json(JsonResponses),
    Multipart(MultipartResponses<'static>),
}

impl Form {
    fn push(&mut self, out: &mut Vec<u8>, responses: Vec<BatchResponse>) {
        match self {
            Self::Json(writer) => writer.push(out, &responses),
            Self::Multipart(writer) => writer.push(out, &single_failures(responses)),
        }
    }

    fn end(self, out: &mut Vec<u8>) {
        match self {
            Self::Json(writer) => writer.end(out),
            Self::Multipart(writer) => writer.end(out),
        }
    }
}

/// Answers a batch.
///
/// # Errors
///
/// [`ErrorKind::Malformed`] for what is no batch, or has options that mean nothing to one;
/// [`ErrorKind::NotFound`] for a version of the schema that isn't there;
/// [`ErrorKind::UnsupportedMediaType`] for a body that is neither JSON nor multipart.
pub(super) async fn answer(
    state: &HttpState,
    ctx: Context,
    uri: &Uri,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<Response> {
    let sets = state.app().service::<Sets>()?;
    // The version is one of the whole batch; a part may name it once more.
    refuse_options(&sets.understand_options(uri.query().unwrap_or_default())?)?;
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
    let (content_type, form) = match boundary {
        Some(_) => {
            let content_type = format!("multipart/mixed;boundary={BOUNDARY}");
            (content_type, Form::Multipart(MultipartResponses::new(BOUNDARY)))
        }
        None => ("application/json".to_owned(), Form::Json(JsonResponses::default())),
    };
    let streaming = Streaming {
        in_pieces: !ctx.is_in_unit_of_work(),
        reader_timeout: settings.reader_timeout,
        trailers: Streaming::takes_trailers(headers),
    };
    let work = {
        let (state, host) = (state.clone(), headers.get(HOST).cloned());
        move |out| async move {
            let until = Instant::now() + state.settings().request_timeout;
            let (addresses, failed) = (HashMap::new(), HashSet::new());
            let host = host.as_ref();
            let batch = Batch { state: &state, ctx: &ctx, host, until, addresses, failed };
            batch.perform(&requests, goes_on, form, out).await
        }
    };
    let (body, more) = stream::body(streaming, work).await?;
    let content_type = HeaderValue::from_str(&content_type)
        .map_err(|error| Error::internal("a header can't be written").caused_by(error))?;
    let answer = Answer::with_body(StatusCode::OK, version, content_type, body).headers(more);
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
    /// Performs requests, and writes the answer of each before the next one begins.
    async fn perform(
        mut self,
        requests: &[BatchRequest],
        goes_on: bool,
        mut form: Form,
        mut out: Out,
    ) -> Result<Out> {
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
            form.push(&mut out.raw, answered);
            out.send(|| Ok(())).await?;
            if failed && !goes_on {
                break;
            }
        }
        form.end(&mut out.raw);
        Ok(out)
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
                until: this.until,
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
            *outcome_of.lock() = (responses, inner.addresses);
            if failed { Err(Error::conflict("a request of the group failed")) } else { Ok(()) }
        });
        let stored = work.await;
        let (mut responses, addresses) = outcome.into_inner();
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
        refuse_misplaced(request)?;
        if request.depends_on.iter().any(|on| self.failed.contains(on)) {
            let error = Error::conflict("a request that this depends on failed");
            return Ok(BatchResponse { status: 424, ..Self::failure(request, &error) });
        }
        let uri = self.address_of(request)?;
        let method = Method::from_bytes(request.method.as_bytes())
            .map_err(|_| Error::malformed(format!("`{}` isn't a method", request.method)))?;
        let mut headers = headers_of(request)?;
        if let Some(host) = self.host {
            headers.insert(HOST, host.clone());
        }
        let address = uri.path();
        let body = request.body.clone().into();
        let answered = async {
            let served =
                serve_one(self.state, self.ctx.clone(), method, &uri, headers, body).await?;
            if let Some(Failure(error)) = served.extensions().get() {
                return Ok((Self::failure(request, error), false));
            }
            self.response(request, served).await.map(|response| (response, true))
        };
        let answered = tokio::time::timeout_at(self.until, answered).await;
        let too_long =
            |_| Error::unavailable("the batch took too long; send its requests in smaller ones");
        let (response, has_succeeded) = answered.map_err(too_long)??;
        if !has_succeeded {
            return Ok(response);
        }
        let location = response.headers.iter().find(|(name, _)| name == LOCATION.as_str());
        // What was asked of the entity is no part of its address.
        let entity = location.map_or(address, |(_, location)| location.as_str());
        self.addresses.insert(request.id.clone(), entity.to_owned());
        Ok(response)
    }

    /// An answer as a part of the batch's. The bytes of all parts are bounded together.
    async fn response(&self, request: &BatchRequest, served: Response) -> Result<BatchResponse> {
        let (parts, body) = served.into_parts();
        let left = self.ctx.budget().map_or(u64::MAX, |budget| budget.left(Expense::HeldBytes));
        let left = usize::try_from(left).unwrap_or(usize::MAX - 1);
        let body = axum::body::to_bytes(body, left).await;
        let body =
            body.map_err(|error| match self.ctx.spend(Expense::HeldBytes, left as u64 + 1) {
                Err(refused) if is_too_long(&error) => refused,
                _ => Error::internal("an answer can't be read").caused_by(error),
            })?;
        self.ctx.spend(Expense::HeldBytes, body.len() as u64)?;
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

    /// The address of a request within the service: absolute, from the host's root, from the
    /// service's root, or of what another request made.
    fn address_of(&self, request: &BatchRequest) -> Result<Uri> {
        let wrong =
            || Error::malformed(format!("`{}` isn't an address of this service", request.url));
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
        if let Some((alone, _)) = self.state.app().service::<ServedPaths>()?.of(&uri) {
            let name = alone.name();
            let message = format!("`${name}` isn't served within a batch; ask for it by itself");
            return Err(Error::malformed(message));
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

/// Refuses what has no place in a batch, or in a group of one.
fn refuse_misplaced(request: &BatchRequest) -> Result<()> {
    // A change set holds changes alone (OData 4.01, Part 1, 11.7): while it lasts nobody else may write on
    // SQLite.
    let path = request.url.split('?').next().unwrap_or_default();
    let reads = matches!(request.method.as_str(), "GET" | "HEAD") || path_of_query(path).is_some();
    if request.group.is_some() && reads {
        return Err(Error::malformed(
            "a group holds changes alone; put what reads before or behind it",
        ));
    }
    if request.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("idempotency-key")) {
        return Err(Error::malformed(
            "`Idempotency-Key` is a header of the whole batch, and has no meaning for a part",
        ));
    }
    Ok(())
}

/// Whether a body is longer than was allowed, and not just unreadable.
fn is_too_long(error: &axum::Error) -> bool {
    std::error::Error::source(error).is_some_and(<dyn std::error::Error>::is::<LengthLimitError>)
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
