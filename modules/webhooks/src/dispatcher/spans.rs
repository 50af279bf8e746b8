//! The span of one attempt, while traces are exported. It links to where the event happened.
//!
//! Receivers learn nothing of it: no `traceparent` is sent, which would tell strangers how requests
//! of an organisation hang together, and what runs in which process.

use svc_core::trace::is_exporting;
use tracing::{Span, field};

use super::job::Job;
use super::outcome::Outcome;

/// Begins the span. Of the address it names the host alone: the rest may hold tokens.
pub(super) fn attempt(job: &Job) -> Span {
    if !is_exporting() {
        return Span::none();
    }
    let span = tracing::info_span!(
        parent: None,
        "webhooks.attempt",
        otel.name = "POST webhook",
        otel.kind = "client",
        otel.status_code = field::Empty,
        http.request.method = "POST",
        http.response.status_code = field::Empty,
        server.address = field::Empty,
        error.type = field::Empty,
        event.id = %job.message.event,
        event.type = &*job.message.event_type,
        delivery.id = %job.claimed.id,
        endpoint.id = %job.claimed.endpoint,
        attempt = job.claimed.attempts + 1,
    );
    if let Ok(url) = &job.endpoint.url {
        span.record("server.address", field::display(url.host()));
    }
    if let Some(trace) = job.message.trace {
        trace.link(&span);
    }
    span
}

/// Records how the attempt of the current span ended.
pub(super) fn ended(outcome: &Outcome) {
    if !is_exporting() {
        return;
    }
    let span = Span::current();
    if let Some(status) = outcome.status {
        span.record("http.response.status_code", status.as_u16());
    }
    if let Some(failure) = &outcome.failure {
        span.record("error.type", failure.code);
        span.record("otel.status_code", "ERROR");
    }
}
