//! One request and its answer over an open connection.

use std::error::Error;
use std::io;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode, header};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;

use super::connection::{Connection, Http1};
use super::{AttemptFailure, AttemptOutcome, ClientRequest, Phase};
use crate::address::TargetUrl;

/// What an attempt has seen so far; outlives the attempt's future, so that a timeout keeps it.
pub(super) struct Record {
    phase: Phase,
    status: Option<StatusCode>,
    headers: HeaderMap,
    body: Vec<u8>,
    body_complete: bool,
    limits: Limits,
}

/// How much of an answer's body is read, and how much of that is kept.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    pub(super) read: usize,
    pub(super) kept: usize,
}

impl Record {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            phase: Phase::Address,
            status: None,
            headers: HeaderMap::new(),
            body: Vec::new(),
            body_complete: false,
            limits,
        }
    }

    pub(super) fn enter(&mut self, phase: Phase) {
        self.phase = phase;
    }

    /// The outcome; no `result` means that the time was up.
    pub(super) fn into_outcome(
        self,
        result: Option<Result<(), AttemptFailure>>,
        duration: Duration,
    ) -> AttemptOutcome {
        let failure = match (result, self.status) {
            (None, _) => Some(AttemptFailure::Timeout(self.phase)),
            (Some(Err(failure)), _) => Some(failure),
            (Some(Ok(())), Some(status)) if status.is_success() => None,
            (Some(Ok(())), Some(status)) => Some(AttemptFailure::Status(status)),
            (Some(Ok(())), None) => Some(AttemptFailure::Closed),
        };
        AttemptOutcome {
            status: self.status,
            headers: self.headers,
            body: self.body,
            body_complete: self.body_complete,
            duration,
            failure,
        }
    }

    /// Bytes that are still kept.
    fn room(&self) -> usize {
        self.limits.kept.min(self.limits.read).saturating_sub(self.body.len())
    }
}

/// Why no answer came over a connection.
#[derive(Debug)]
pub(super) struct ExchangeError(hyper::Error);

impl ExchangeError {
    /// Whether a connection that had been idle may simply have been closed meanwhile. Anything
    /// but an unreadable answer counts: no byte of an answer had come.
    pub(super) fn may_be_stale(&self) -> bool {
        !self.0.is_parse()
    }
}

impl From<ExchangeError> for AttemptFailure {
    fn from(ExchangeError(error): ExchangeError) -> Self {
        let is_closed = error.is_incomplete_message()
            || error.is_closed()
            || error.is_canceled()
            || error.is_user()
            || error.source().is_some_and(<dyn Error>::is::<io::Error>);
        if is_closed {
            return Self::Closed;
        }
        Self::Protocol(match error.source() {
            Some(source) => format!("{error}: {source}"),
            None => error.to_string(),
        })
    }
}

/// Sends a request and reads its answer into `record`.
///
/// Returns the connection when it can serve another request and is not shared anyway.
pub(super) async fn exchange(
    connection: Connection,
    url: &TargetUrl,
    sent: ClientRequest,
    record: &mut Record,
) -> Result<Option<Http1>, ExchangeError> {
    match connection {
        Connection::Http1(mut connection) => {
            let mut request = request(sent);
            request.headers_mut().insert(header::HOST, url.authority().clone());
            *request.uri_mut() = url.path_and_query().clone();
            let answer = connection.sender.send_request(request).await.map_err(ExchangeError)?;
            let finished = read(answer, record).await;
            let upgraded = record.status == Some(StatusCode::SWITCHING_PROTOCOLS);
            Ok((finished && !upgraded).then_some(connection))
        }
        Connection::Http2(mut lease) => {
            let mut request = request(sent);
            *request.uri_mut() = url.absolute_uri().clone();
            let answer = lease.sender().send_request(request).await.map_err(ExchangeError)?;
            if read(answer, record).await {
                lease.finish();
            }
            Ok(None)
        }
    }
}

fn request(sent: ClientRequest) -> Request<Full<Bytes>> {
    let mut request = Request::new(Full::new(sent.body));
    *request.method_mut() = sent.method;
    *request.headers_mut() = sent.headers;
    request
}

/// Records the answer's head, then its body until that ends, breaks off or exceeds the limit.
/// Returns whether it ended.
async fn read(answer: http::Response<Incoming>, record: &mut Record) -> bool {
    let (head, mut body) = answer.into_parts();
    record.enter(Phase::Response);
    record.status = Some(head.status);
    record.headers = head.headers;
    let mut total = 0_usize;
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return false };
        let Ok(data) = frame.into_data() else { continue };
        total = total.saturating_add(data.len());
        let kept = data.len().min(record.room());
        record.body.extend_from_slice(&data[..kept]);
        if total > record.limits.read {
            return false;
        }
    }
    record.body_complete = true;
    true
}
