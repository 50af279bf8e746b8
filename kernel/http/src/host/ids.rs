use http::HeaderMap;
use svc_core::Clock;
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
    parent: Option<TraceParent>,
}

/// The caller's place in a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TraceParent {
    pub(crate) trace: u128,
    pub(crate) span: u64,
    pub(crate) flags: u8,
}

impl RequestIds {
    /// The ids of a request with these headers.
    pub(crate) fn of(headers: &HeaderMap, clock: &Clock) -> Self {
        let request = clock.new_id();
        let parent = headers.get("traceparent").and_then(|value| parse(value.as_bytes()));
        let trace = parent.map_or(request, |parent| Uuid::from_u128(parent.trace));
        Self { trace, request, parent }
    }

    /// The trace, which is also the correlation of the request's context.
    #[must_use]
    pub fn trace(&self) -> Uuid {
        self.trace
    }

    /// The request.
    #[must_use]
    pub fn request(&self) -> Uuid {
        self.request
    }

    pub(crate) fn parent(&self) -> Option<TraceParent> {
        self.parent
    }

    pub(crate) fn with_trace(self, trace: u128) -> Self {
        Self { trace: Uuid::from_u128(trace), ..self }
    }
}

/// Reads `traceparent` (W3C Trace Context, section 3.2); none where it is not valid, which the
/// specification wants ignored.
fn parse(text: &[u8]) -> Option<TraceParent> {
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
    (trace != 0 && span != 0).then_some(TraceParent { trace, span, flags })
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
        let parent = parse(VALID.as_bytes()).unwrap();
        assert_eq!(parent.trace, 0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736);
        assert_eq!(parent.span, 0x00f0_67aa_0ba9_02b7);
        assert_eq!(parent.flags, 1);
        let later = VALID.replacen("00", "01", 1) + "-more";
        assert_eq!(parse(later.as_bytes()), Some(parent));
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
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }
}
