use std::net::SocketAddr;
use std::time::Duration;

use svc_core::settings::{Secret, SectionProblems, WebUrl};
use tracing_subscriber::EnvFilter;

svc_core::settings_section! {
    /// The HTTP host.
    pub struct HttpSettings in "Svc:Http" {
        /// Address and port to listen on. Port 0 takes any free one.
        pub listen: SocketAddr = SocketAddr::from(([127, 0, 0, 1], 5080));
        /// The address under which callers reach the application, where a proxy stands before it.
        pub public_url: Option<WebUrl> = None;
        /// The largest body of a request in bytes; routes for files have limits of their own.
        pub max_body_size: u64 = mebibytes(4), within(kibibytes(1)..=mebibytes(1024));
        /// The largest body of a request to a route for everybody, such as a form to sign in, in bytes.
        pub public_body_size: u64 = kibibytes(64), within(kibibytes(1)..=mebibytes(1024));
        /// Requests with a body to routes for everybody that are served at once; one more is refused with 503.
        pub public_requests: u32 = 1_024, within(1..=1_000_000);
        /// How long a request may take until its answer begins; then it is answered with 503.
        pub request_timeout: Duration = seconds(30), within(milliseconds(100)..=hours(1));
        /// How long a client may take to send the head of a request, or keep a connection on which nothing happens: one
        /// that is idle, or whose answers it hardly reads (16 KiB in that time).
        pub header_timeout: Duration = seconds(30), within(seconds(1)..=minutes(10));
        /// Connections at most. One more takes the place of the one that has been idle for longest; where all have a
        /// request under way, it is closed at once.
        pub max_connections: u32 = 4_096, within(1..=1_000_000);
        /// Requests of one person in an organisation that are served at once; further ones wait.
        pub person_requests: u32 = 32, within(1..=100_000);
        /// Requests of one organisation that are served at once; its people wait in turn.
        pub organisation_requests: u32 = 256, within(1..=1_000_000);
        /// Requests of one person that may wait; one more is refused with 429.
        pub waiting_requests: u32 = 256, within(0..=100_000);
        /// How long a request waits for its turn until it is refused with 429.
        pub waiting_time: Duration = seconds(10), within(milliseconds(10)..=minutes(5));
        /// How long answers are kept for requests with an `Idempotency-Key`.
        pub idempotency_retention: Duration = hours(24), within(minutes(1)..=hours(720));
        /// The largest body of an answer that is kept for them, in bytes; a larger one is repeated
        /// without its body.
        pub idempotency_max_body: u64 = kibibytes(64), within(0..=mebibytes(4));
        /// Bytes of answers that are kept for one person in an organisation, each of which counts a
        /// kibibyte at least. Beyond that a request with an `Idempotency-Key` is refused with 429.
        pub idempotency_person_bytes: u64 = mebibytes(32), within(kibibytes(1)..=mebibytes(4_096));
        /// On stop: how long readiness says 503 before connections are refused, for load
        /// balancers that need to notice. Zero refuses at once.
        pub shutdown_delay: Duration = seconds(0), within(seconds(0)..=minutes(5));
        /// On stop: how long running requests may take to finish before they are cut off.
        pub shutdown_timeout: Duration = seconds(30), within(seconds(0)..=minutes(10));
        /// Whether answers are compressed for callers that accept it.
        pub compression: bool = true;
        /// Whether files are read from the folders that they were built from, where a folder is known: for developing
        /// pages without building the program. Never for what other people reach.
        pub files_from_disk: bool = false;
        /// Requests that take longer are logged as slow.
        pub slow_request: Duration = seconds(1), within(milliseconds(1)..=hours(1));
        /// Whether everybody may read what there is: `/docs` and `/openapi/v1.json`, with the names of all sets,
        /// properties and permissions. Without it neither is served; the command `openapi` prints the same.
        pub reference: bool = true;
        /// What a scraper of `/metrics` must present as bearer token. None lets everybody read.
        pub metrics_token: Option<Secret> = None, length(16..=200);
    }
}

svc_core::settings_choice! {
    /// The form of log lines.
    pub enum LogFormat {
        /// For people.
        Text = "text",
        /// One JSON object a line.
        Json = "json",
    }
}

svc_core::settings_section! {
    /// Logs and traces.
    pub struct TelemetrySettings in "Svc:Telemetry" {
        /// Base address of an OpenTelemetry collector that takes OTLP over HTTP, such as
        /// `http://127.0.0.1:4318`; traces go to `/v1/traces` below it. None exports nothing.
        pub otlp_endpoint: Option<WebUrl> = None;
        /// The name of the service in traces. None is the application's name.
        pub service_name: Option<String> = None, length(1..=100);
        /// The form of log lines on standard error.
        pub log_format: LogFormat = LogFormat::Text;
        /// What is logged: a level, or levels by target such as `info,svc_http=debug`.
        /// Each read that succeeds is logged at `debug`.
        pub log_filter: String = "info".to_owned(), length(1..=1_000);
    }
    validate: check_filter;
}

fn check_filter(settings: &TelemetrySettings, problems: &mut SectionProblems) {
    if EnvFilter::try_new(&settings.log_filter).is_err() {
        problems.add("LogFilter", "levels such as `info` or `info,svc_http=debug`");
    }
}
