use http::HeaderMap;
use svc_core::Clock;
use svc_core::trace::TraceContext;
use uuid::Uuid;

/// What tells a request apart: in logs, in the answer, in problem details and in messages that it
/// leads to.
///
/// The trace goes through all systems that take part (W3C Trace Context); the request is this one
/// alone, and `X-Request-Id` of the answer says it. A request without `traceparent` begins a trace
/// of its own, with one id for both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestIds {
    trace: Uuid,
    request: Uuid,
    parent: Option<TraceContext>,
}

impl RequestIds {
    /// The ids of a request with these headers.
    pub(crate) fn of(headers: &HeaderMap, clock: &Clock) -> Self {
        let request = clock.new_id();
        let parent = headers.get("traceparent").and_then(|value| value.to_str().ok());
        let parent: Option<TraceContext> = parent.and_then(|text| text.parse().ok());
        let trace = parent.map_or(request, |parent| Uuid::from_u128(parent.trace()));
        Self { trace, request, parent }
    }

    /// The trace, which is also the correlation of the request's context.
    #[must_use]
    pub fn trace(&self) -> Uuid {
        self.trace
    }

    /// Whether the trace begins with the request, so that nothing before it has the same id.
    pub(crate) fn is_alone_in_trace(&self) -> bool {
        self.trace == self.request
    }

    /// The request.
    #[must_use]
    pub fn request(&self) -> Uuid {
        self.request
    }

    pub(crate) fn parent(&self) -> Option<TraceContext> {
        self.parent
    }

    pub(crate) fn with_trace(self, trace: u128) -> Self {
        Self { trace: Uuid::from_u128(trace), ..self }
    }
}
