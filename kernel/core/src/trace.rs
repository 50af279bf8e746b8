//! Where work stands in a trace, as it travels from the request to what it leads to later.
//!
//! A request's span, and what runs within it, is one trace. What happens after the commit (handlers
//! of the outbox, deliveries) runs in spans of its own that *link* to the place in the trace where
//! it was caused: one attempt handles many changes, so none of them could be its parent.

use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};

use opentelemetry::trace::{
    SpanContext, SpanId, TraceContextExt as _, TraceFlags, TraceId, TraceState,
};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;

/// Whether somebody exports traces; without, nothing but requests has a span.
static EXPORTING: AtomicBool = AtomicBool::new(false);

/// A place in a trace (W3C Trace Context). Its text is that of the header `traceparent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceContext {
    trace: u128,
    span: u64,
    flags: u8,
}

impl TraceContext {
    /// The span that runs now; none where no exporter watches it.
    #[must_use]
    pub fn current() -> Option<Self> {
        is_exporting().then(|| Self::of(&Span::current())).flatten()
    }

    /// The place of a span; none where no exporter watches it.
    #[must_use]
    pub fn of(span: &Span) -> Option<Self> {
        let context = span.context();
        let span = context.span();
        let context = span.span_context();
        context.is_valid().then(|| Self {
            trace: u128::from_be_bytes(context.trace_id().to_bytes()),
            span: u64::from_be_bytes(context.span_id().to_bytes()),
            flags: context.trace_flags().to_u8(),
        })
    }

    /// The identifier of the trace.
    #[must_use]
    pub fn trace(&self) -> u128 {
        self.trace
    }

    /// Makes a span that has not begun yet a child of this place.
    pub fn adopt(&self, span: &Span) {
        let context = opentelemetry::Context::new().with_remote_span_context(self.remote());
        // A span that nobody exports has no parent to set.
        let _ = span.set_parent(context);
    }

    /// Says of a span that what happened here caused it.
    pub fn link(&self, span: &Span) {
        span.add_link(self.remote());
    }

    fn remote(&self) -> SpanContext {
        SpanContext::new(
            TraceId::from_bytes(self.trace.to_be_bytes()),
            SpanId::from_bytes(self.span.to_be_bytes()),
            TraceFlags::new(self.flags),
            true,
            TraceState::default(),
        )
    }
}

/// Whether somebody exports traces. Spans that serve nothing else are left out otherwise.
#[must_use]
pub fn is_exporting() -> bool {
    EXPORTING.load(Ordering::Relaxed)
}

/// Says whether somebody exports traces, which whoever installs an exporter does.
pub fn set_exporting(exporting: bool) {
    EXPORTING.store(exporting, Ordering::Relaxed);
}

/// A text that is no `traceparent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a `traceparent` of W3C Trace Context")]
pub struct NoTraceContext;

impl FromStr for TraceContext {
    type Err = NoTraceContext;

    fn from_str(text: &str) -> Result<Self, NoTraceContext> {
        parse(text.as_bytes()).ok_or(NoTraceContext)
    }
}

impl fmt::Display for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{:032x}-{:016x}-{:02x}", self.trace, self.span, self.flags)
    }
}

impl Serialize for TraceContext {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TraceContext {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'_, str>::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

/// Reads `traceparent` (W3C Trace Context, section 3.2); none where it is not valid, which the
/// specification wants ignored.
fn parse(text: &[u8]) -> Option<TraceContext> {
    let version = hexadecimal(text.get(..2)?)?;
    let has_end = match version {
        0xff => return None,
        0 => text.len() == 55,
        // A later version may add fields behind another dash.
        _ => text.len() == 55 || text.get(55) == Some(&b'-'),
    };
    let dashes = [2, 35, 52].iter().all(|place| text.get(*place) == Some(&b'-'));
    if !has_end || !dashes {
        return None;
    }
    let trace = hexadecimal(&text[3..35])?;
    let span = u64::try_from(hexadecimal(&text[36..52])?).ok()?;
    let flags = u8::try_from(hexadecimal(&text[53..55])?).ok()?;
    (trace != 0 && span != 0).then_some(TraceContext { trace, span, flags })
}

/// Lower-case hexadecimal digits, at most 32.
fn hexadecimal(digits: &[u8]) -> Option<u128> {
    digits.iter().try_fold(0, |number: u128, digit| {
        let value = match digit {
            b'0'..=b'9' => digit - b'0',
            b'a'..=b'f' => digit - b'a' + 10,
            _ => return None,
        };
        Some(number << 4 | u128::from(value))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALID: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn a_trace_of_the_caller_goes_on() {
        let parent: TraceContext = VALID.parse().unwrap();
        assert_eq!(parent.trace, 0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736);
        assert_eq!(parent.span, 0x00f0_67aa_0ba9_02b7);
        assert_eq!(parent.flags, 1);
        assert_eq!(parent.to_string(), VALID);
        let later = VALID.replacen("00", "01", 1) + "-more";
        assert_eq!(later.parse(), Ok(parent));
        let json = serde_json::to_string(&parent).unwrap();
        assert_eq!(serde_json::from_str::<TraceContext>(&json).unwrap(), parent);
    }

    #[test]
    fn what_is_no_trace_is_ignored() {
        for text in [
            "",
            "00",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "00-4bf92f3577b34da6a3ce929d0e0e4736+00f067aa0ba902b7-01",
            "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01more",
        ] {
            assert!(text.parse::<TraceContext>().is_err(), "{text}");
        }
    }
}
