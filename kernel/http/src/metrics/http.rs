use std::fmt::Write as _;
use std::hash::{Hash, Hasher};
use std::time::Duration;

use axum::extract::MatchedPath;
use http::Method;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

/// The route of requests that no route serves, in logs and metrics.
pub(crate) const UNMATCHED: &str = "unmatched";

/// From 1 ms to 16 s: below is noise of the network, above is the request's timeout.
const BUCKETS: [f64; 10] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.25, 1.0, 4.0, 16.0];

/// Requests by method, route and status, and how long they took.
///
/// The labels are few by construction: routes as templates, the methods that HTTP defines.
pub(crate) struct HttpMetrics {
    requests: Family<Outcome, Counter>,
    durations: Family<Target, Histogram>,
    in_flight: Gauge,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Target {
    method: &'static str,
    route: Route,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Outcome {
    method: &'static str,
    route: Route,
    status: u32,
}

/// A route's template, kept without copying its text.
#[derive(Clone, Debug)]
struct Route(Option<MatchedPath>);

impl Route {
    fn as_str(&self) -> &str {
        self.0.as_ref().map_or(UNMATCHED, MatchedPath::as_str)
    }
}

impl PartialEq for Route {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Route {}

impl Hash for Route {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl EncodeLabelValue for Route {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> Result<(), std::fmt::Error> {
        encoder.write_str(self.as_str())
    }
}

impl Default for HttpMetrics {
    fn default() -> Self {
        Self {
            requests: Family::default(),
            durations: Family::new_with_constructor(|| Histogram::new(BUCKETS)),
            in_flight: Gauge::default(),
        }
    }
}

impl HttpMetrics {
    pub(super) fn register(&self, registry: &mut Registry) {
        registry.register("svc_http_requests", "Answered requests", self.requests.clone());
        registry.register_with_unit(
            "svc_http_request_duration",
            "Time from a request's head to its answer's head",
            Unit::Seconds,
            self.durations.clone(),
        );
        let text = "Requests that are being served";
        registry.register("svc_http_requests_in_flight", text, self.in_flight.clone());
    }

    /// A request begins.
    pub(crate) fn begin(&self) {
        self.in_flight.inc();
    }

    /// A request is no longer served, however it ended.
    pub(crate) fn leave(&self) {
        self.in_flight.dec();
    }

    /// A request has its answer.
    pub(crate) fn end(
        &self,
        method: &Method,
        route: Option<&MatchedPath>,
        status: u16,
        took: Duration,
    ) {
        let method = known(method);
        let route = Route(route.cloned());
        let target = Target { method, route: route.clone() };
        self.durations.get_or_create(&target).observe(took.as_secs_f64());
        self.requests.get_or_create(&Outcome { method, route, status: status.into() }).inc();
    }
}

/// Callers can invent methods, which must not become labels without end.
fn known(method: &Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "POST" => "POST",
        "PUT" => "PUT",
        "PATCH" => "PATCH",
        "DELETE" => "DELETE",
        "OPTIONS" => "OPTIONS",
        _ => "other",
    }
}
