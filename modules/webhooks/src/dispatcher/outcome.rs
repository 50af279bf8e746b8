//! How one attempt ended: answered, failed out there, or not sent at all.

use std::time::Duration;

use http::StatusCode;
use svc_client::{AttemptFailure, AttemptOutcome};
use time::OffsetDateTime;

use super::tokens::TokenError;
use crate::backoff::retry_after;
use crate::log_text;
use crate::owner::Standing;

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
    /// What became of the endpoint's owner, where the delivery is kept as missed for it.
    pub(super) missed: Option<Standing>,
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
    /// Whether it is ours, so that nothing is said of the endpoint.
    pub(super) is_ours: bool,
    /// Whether another attempt would fail in the same way: the delivery has failed for good.
    pub(super) is_final: bool,
}

impl Outcome {
    pub(super) fn of(
        outcome: AttemptOutcome,
        sent: String,
        now: OffsetDateTime,
        log_limit: usize,
    ) -> Self {
        let retry_after =
            outcome.status.and_then(|status| retry_after(status, &outcome.headers, now));
        Self {
            status: outcome.status,
            duration: outcome.duration,
            finished_at: now,
            received: outcome.status.map(|_| log_text::headers(&outcome.headers, log_limit)),
            body: log_text::lossy(&outcome.body, log_limit, outcome.body_complete),
            sent: Some(sent),
            missed: None,
            failure: outcome.failure.map(|failure| Failure {
                code: failure.code(),
                sentence: failure.to_string(),
                retry_after,
                timed_out: matches!(failure, AttemptFailure::Timeout(_)),
                is_ours: false,
                is_final: false,
            }),
        }
    }

    pub(super) fn too_large(bytes: usize, limit: usize, now: OffsetDateTime) -> Self {
        let sentence = format!(
            "the body has `{bytes}` bytes, more than the `{limit}` of `Svc:Webhooks:MaxPayloadBytes`; \
             raise that and redeliver, or tell less of the record"
        );
        Self::unsent("payload_too_large", sentence, now).of_ours(true)
    }

    /// The time that the endpoint may take was up.
    pub(super) fn timed_out(time: Duration, sent: String, now: OffsetDateTime) -> Self {
        let sentence =
            format!("no complete answer within the `{}` seconds of the endpoint", time.as_secs());
        let mut outcome = Self::unsent("timeout", sentence, now);
        outcome.failure.iter_mut().for_each(|failure| failure.timed_out = true);
        Self { sent: Some(sent), duration: time, ..outcome }
    }

    /// There was no token to send with.
    pub(super) fn without_token(error: &TokenError, now: OffsetDateTime) -> Self {
        let mut outcome = Self::unsent("token_failed", error.to_string(), now);
        outcome.failure.iter_mut().for_each(|failure| failure.timed_out = error.timed_out());
        outcome
    }

    /// It waited for longer than the endpoint wants to hear of it.
    pub(super) fn expired(now: OffsetDateTime) -> Self {
        let sentence = "it waited until the endpoint's time for it had passed; redeliver it";
        Self::unsent("expired", sentence.to_owned(), now).of_ours(true)
    }

    /// The endpoint's owner is gone. A test event is nothing that anybody misses.
    pub(super) fn to_nobody(standing: Standing, is_test: bool, now: OffsetDateTime) -> Self {
        let sentence = format!("{}; save the endpoint to become its owner", standing.sentence());
        let outcome = Self::unsent("owner_gone", sentence, now).of_ours(true);
        Self { missed: (!is_test).then_some(standing), ..outcome }
    }

    /// It met a fault of this program.
    pub(super) fn panicked(now: OffsetDateTime) -> Self {
        let sentence =
            "the application met a fault of its own while it was sending; its log says which";
        Self::unsent("panicked", sentence.to_owned(), now).of_ours(false)
    }

    /// It says nothing of the endpoint.
    pub(super) fn of_ours(mut self, is_final: bool) -> Self {
        if let Some(failure) = &mut self.failure {
            failure.is_ours = true;
            failure.is_final = is_final;
        }
        self
    }

    pub(super) fn unsent(code: &'static str, sentence: String, now: OffsetDateTime) -> Self {
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
                is_final: false,
            }),
            sent: None,
            received: None,
            body: String::new(),
            missed: None,
        }
    }
}
