//! One attempt at one delivery, in a task of its own.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use svc_client::{AttemptFailure, AttemptOutcome, Client, ClientRequest};
use svc_core::Clock;
use svc_database::Database;
use time::OffsetDateTime;
use uuid::Uuid;

use super::{Body, Message, spans};
use crate::backoff::retry_after;
use crate::endpoint::LoadedEndpoint;
use crate::in_flight::Ticket;
use crate::log_text;
use crate::store::claim::{self, Claimed};

/// A claimed delivery with all that is needed to send it.
pub(super) struct Job {
    pub(super) claimed: Claimed,
    pub(super) endpoint: Arc<LoadedEndpoint>,
    pub(super) message: Message,
    /// Why nothing may be sent to the endpoint's host, where the organisation doesn't allow it.
    pub(super) refusal: Option<String>,
    /// Held until the request has ended.
    pub(super) ticket: Ticket,
}

/// Limits of what is sent and kept.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    /// Characters of a text that the log keeps.
    pub(super) log: usize,
    /// Bytes of a body that is sent.
    pub(super) payload: usize,
}

/// A delivery whose body could not be read, so nothing was sent. Its claim ends by itself.
pub(super) struct Unread(pub(super) Uuid);

/// What became of a delivery that was to be sent.
pub(super) type Ended = Result<Finished, Unread>;

/// How an attempt ended.
pub(super) struct Finished {
    pub(super) claimed: Claimed,
    pub(super) endpoint: Arc<LoadedEndpoint>,
    pub(super) event_type: Arc<str>,
    pub(super) outcome: Outcome,
}

/// What is recorded of an attempt.
pub(super) struct Outcome {
    pub(super) status: Option<StatusCode>,
    pub(super) duration: Duration,
    pub(super) finished_at: OffsetDateTime,
    /// Why it failed; none when it was delivered.
    pub(super) failure: Option<Failure>,
    /// The headers that were sent and received, as the log stores them; none where there were none.
    pub(super) sent: Option<String>,
    pub(super) received: Option<String>,
    pub(super) body: String,
}

/// Why an attempt failed.
pub(super) struct Failure {
    /// A stable word for metrics.
    pub(super) code: &'static str,
    /// A sentence for the log of deliveries.
    pub(super) sentence: String,
    /// The delay that the receiver asked for.
    pub(super) retry_after: Option<Duration>,
    /// Whether the time was up.
    pub(super) timed_out: bool,
    /// Whether it is ours, and another attempt would fail in the same way: the delivery has
    /// failed for good, and nothing is said of the endpoint.
    pub(super) is_ours: bool,
}

/// Sends, and never fails: whatever goes wrong out there is an outcome.
pub(super) async fn send(
    sender: Arc<Client>,
    database: Database,
    clock: Clock,
    job: Job,
    limits: Limits,
) -> Ended {
    let Job { claimed, endpoint, message, refusal, ticket } = job;
    let bytes = message.body.bytes();
    let expires_us = endpoint.schedule.expires_us(claimed.queued_us);
    let unsent = if bytes > limits.payload {
        Some(Outcome::too_large(bytes, limits.payload, clock.now()))
    } else if expires_us.is_some_and(|end| end <= clock.now_us()) {
        Some(Outcome::expired(clock.now()))
    } else {
        refusal.map(|why| Outcome::unsent("host_refused", why, clock.now()))
    };
    if let Some(outcome) = unsent {
        spans::ended(&outcome);
        return Ok(Finished { claimed, endpoint, event_type: message.event_type, outcome });
    }
    let Some(body) = read(&database, message.body).await else { return Err(Unread(claimed.id)) };
    let log_limit = limits.log;
    let prepared = match &endpoint.url {
        Ok(url) => endpoint
            .headers(message.event, clock.now(), &body)
            .map(|headers| (url, headers))
            .map_err(|sentence| ("secret_unusable", sentence)),
        Err(error) => Err(("address_refused", error.to_string())),
    };
    let outcome = match prepared {
        Ok((url, headers)) => {
            let sent = log_text::headers(&headers, log_limit);
            // Receivers drop what comes twice by `webhook-id`.
            let request = ClientRequest { may_repeat: true, ..ClientRequest::post(headers, body) };
            match (endpoint.schedule.timeout(), sender.send(url, request)) {
                (None, sending) => Outcome::of(sending.await, sent, clock.now(), log_limit),
                (Some(own), sending) => match tokio::time::timeout(own, sending).await {
                    Ok(outcome) => Outcome::of(outcome, sent, clock.now(), log_limit),
                    Err(_) => Outcome::timed_out(own, sent, clock.now()),
                },
            }
        }
        Err((code, sentence)) => Outcome::unsent(code, sentence, clock.now()),
    };
    drop(ticket);
    spans::ended(&outcome);
    Ok(Finished { claimed, endpoint, event_type: message.event_type, outcome })
}

/// The bytes that are sent; none when they can't be read, or were deleted meanwhile.
async fn read(database: &Database, body: Body) -> Option<Bytes> {
    let message = match body {
        Body::Held(body) => return Some(body),
        Body::Stored { message, .. } => message,
    };
    match claim::body(database, message).await {
        Ok(body) => body.map(Bytes::from),
        Err(error) => {
            tracing::warn!(%message, error = error.report(), "can't read the body of a message");
            None
        }
    }
}

impl Outcome {
    fn of(outcome: AttemptOutcome, sent: String, now: OffsetDateTime, log_limit: usize) -> Self {
        let retry_after =
            outcome.status.and_then(|status| retry_after(status, &outcome.headers, now));
        Self {
            status: outcome.status,
            duration: outcome.duration,
            finished_at: now,
            received: outcome.status.map(|_| log_text::headers(&outcome.headers, log_limit)),
            body: log_text::lossy(&outcome.body, log_limit, outcome.body_complete),
            sent: Some(sent),
            failure: outcome.failure.map(|failure| Failure {
                code: failure.code(),
                sentence: failure.to_string(),
                retry_after,
                timed_out: matches!(failure, AttemptFailure::Timeout(_)),
                is_ours: false,
            }),
        }
    }

    fn too_large(bytes: usize, limit: usize, now: OffsetDateTime) -> Self {
        let sentence = format!(
            "the body has `{bytes}` bytes, more than the `{limit}` of `Svc:Webhooks:MaxPayloadBytes`; \
             raise that and redeliver, or tell less of the record"
        );
        let mut outcome = Self::unsent("payload_too_large", sentence, now);
        outcome.failure.iter_mut().for_each(|failure| failure.is_ours = true);
        outcome
    }

    /// The endpoint's own time was up.
    fn timed_out(own: Duration, sent: String, now: OffsetDateTime) -> Self {
        let sentence =
            format!("no complete answer within the `{}` seconds of the endpoint", own.as_secs());
        let mut outcome = Self::unsent("timeout", sentence, now);
        outcome.failure.iter_mut().for_each(|failure| failure.timed_out = true);
        Self { sent: Some(sent), duration: own, ..outcome }
    }

    /// It waited for longer than the endpoint wants to hear of it.
    fn expired(now: OffsetDateTime) -> Self {
        let sentence = "it waited until the endpoint's time for it had passed; redeliver it";
        let mut outcome = Self::unsent("expired", sentence.to_owned(), now);
        outcome.failure.iter_mut().for_each(|failure| failure.is_ours = true);
        outcome
    }

    fn unsent(code: &'static str, sentence: String, now: OffsetDateTime) -> Self {
        Self {
            status: None,
            duration: Duration::ZERO,
            finished_at: now,
            failure: Some(Failure {
                code,
                sentence,
                retry_after: None,
                timed_out: false,
                is_ours: false,
            }),
            sent: None,
            received: None,
            body: String::new(),
        }
    }
}
