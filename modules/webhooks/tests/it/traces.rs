//! From a request to its deliveries, in spans that link to each other.

use std::cell::Cell;
use std::sync::Once;
use std::thread;

use http::Method;
use opentelemetry::trace::{SpanId, SpanKind, Status, TraceId, TracerProvider as _};
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SdkTracerProvider, SpanData, SpanExporter};
use parking_lot::Mutex;
use serde_json::json;
use svc_core::trace::set_exporting;
use svc_testing::on_both_databases;
use tracing::subscriber::set_global_default;
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::{LevelFilter, dynamic_filter_fn};
use tracing_subscriber::layer::SubscriberExt as _;

use crate::fixture::{World, path, until};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";

thread_local! {
    /// Whether what this thread does is exported.
    static EXPORTS: Cell<bool> = const { Cell::new(false) };
}

/// What was exported, of all threads.
static EXPORTED: Mutex<Vec<SpanData>> = Mutex::new(Vec::new());

#[derive(Debug)]
struct Exporter;

impl SpanExporter for Exporter {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        EXPORTED.lock().extend(batch);
        Ok(())
    }
}

/// The spans that a thread's work exports, on whichever thread they end.
struct Spans {
    /// The name of the thread.
    thread: String,
}

impl Spans {
    /// Begins to export. A test and what it awaits run on one thread.
    ///
    /// All threads have one subscriber, as in a program: `tracing` ends a span by that of the thread on which its last child
    /// has ended, which may be a connection's own.
    fn begin() -> Self {
        static SUBSCRIBER: Once = Once::new();
        SUBSCRIBER.call_once(|| {
            let provider = SdkTracerProvider::builder().with_simple_exporter(Exporter).build();
            let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("test"));
            let layer = layer.with_filter(dynamic_filter_fn(|_, _| EXPORTS.get()));
            let subscriber = tracing_subscriber::registry().with(LevelFilter::INFO).with(layer);
            set_global_default(subscriber).expect("no other subscriber");
            set_exporting(true);
        });
        let spans = Self { thread: thread::current().name().unwrap().to_owned() };
        EXPORTED.lock().retain(|span| !spans.has(span));
        EXPORTS.set(true);
        spans
    }

    fn all(&self) -> Vec<SpanData> {
        let exported = EXPORTED.lock();
        exported.iter().filter(|span| self.has(span)).cloned().collect()
    }

    fn has(&self, span: &SpanData) -> bool {
        attribute(span, "thread.name") == self.thread
    }

    fn named(&self, name: &str) -> Vec<SpanData> {
        self.all().into_iter().filter(|span| span.name == name).collect()
    }

    fn one(&self, name: &str) -> SpanData {
        let found = self.named(name);
        assert_eq!(found.len(), 1, "spans `{name}` among {:?}", self.names());
        found[0].clone()
    }

    /// A span, once it has ended: the one of a request does so when all that worked in it have let go
    /// of it, and a connection's own thread does that a little behind its answer.
    async fn ended(&self, id: SpanId) -> SpanData {
        let found = || self.all().into_iter().find(|span| span.span_context.span_id() == id);
        let missing = || format!("no span {id} has ended, but {:?}", self.names());
        until(async || found().map(|_| ()).ok_or_else(missing)).await;
        found().expect("it was there")
    }

    fn names(&self) -> Vec<String> {
        self.all().iter().map(|span| span.name.to_string()).collect()
    }
}

impl Drop for Spans {
    fn drop(&mut self) {
        EXPORTS.set(false);
    }
}

fn links(span: &SpanData) -> Vec<(TraceId, SpanId)> {
    let context = |link: &opentelemetry::trace::Link| {
        (link.span_context.trace_id(), link.span_context.span_id())
    };
    span.links.iter().map(context).collect()
}

fn attribute(span: &SpanData, name: &str) -> String {
    let found = span.attributes.iter().find(|attribute| attribute.key.as_str() == name);
    found.map(|attribute| attribute.value.to_string()).unwrap_or_default()
}

on_both_databases! {
    async fn attempts_link_to_the_request_that_made_the_change(backend) {
        let world = World::new(backend).await;
        let endpoint = world.endpoint(&["products.*"]).await;
        world.endpoint(&["*"]).await;
        let spans = Spans::begin();
        let product = json!({"sku": "A-1", "region": "EU", "price": 5, "costPrice": 3});
        let parent = format!("00-{TRACE}-{PARENT}-01");
        let headers = [("traceparent", parent.as_str())];
        let client = world.client();
        let answer = client.send_json(Method::POST, "/odata/v1/Products", &headers, product).await;
        let _ = answer.expect(201);
        world.receiver.answer_with([204, 500]);
        assert_eq!(world.deliver().await.len(), 2);

        let trace = TraceId::from_hex(TRACE).unwrap();
        let stored = spans.one("outbox.store");
        assert_eq!(stored.span_context.trace_id(), trace, "the commit is in the request's trace");
        assert_eq!(stored.span_kind, SpanKind::Producer);
        let request = spans.ended(stored.parent_span_id).await;
        assert_eq!(request.span_kind, SpanKind::Server);
        assert_eq!(request.parent_span_id, SpanId::from_hex(PARENT).unwrap());

        let cause = (trace, stored.span_context.span_id());
        let fan_out = spans.one("handle webhooks.fan_out");
        assert_eq!(links(&fan_out), [cause]);
        assert_ne!(fan_out.span_context.trace_id(), trace, "it may be of many changes");
        assert_eq!(fan_out.span_kind, SpanKind::Consumer);

        let attempts = spans.named("POST webhook");
        assert_eq!(attempts.len(), 2);
        assert!(attempts.iter().all(|attempt| links(attempt) == [cause]));
        let mut codes: Vec<String> =
            attempts.iter().map(|span| attribute(span, "http.response.status_code")).collect();
        codes.sort();
        assert_eq!(codes, ["204", "500"]);
        let failed = attempts.iter().find(|span| span.status != Status::Unset).unwrap();
        assert_eq!(attribute(failed, "error.type"), "status");
        assert_eq!(attribute(failed, "server.address"), "127.0.0.1");

        // A retry and a redelivery have spans of their own, with the same cause.
        assert_eq!(world.after(30).await.len(), 1);
        let log = client.get("/api/v1/webhooks/deliveries?take=1").await.expect(200);
        let delivery = log["items"][0]["id"].as_str().unwrap();
        let again = format!("/api/v1/webhooks/deliveries/{delivery}/redeliver");
        let _ = client.post(&again, json!({})).await.expect(202);
        assert_eq!(world.deliver().await.len(), 1);
        let attempts = spans.named("POST webhook");
        assert_eq!(attempts.len(), 4);
        assert!(attempts.iter().all(|attempt| links(attempt) == [cause]));

        let _ = client.post(&path(&endpoint, "/test"), json!({})).await.expect(202);
        assert_eq!(world.deliver().await.len(), 1);
        let attempts = spans.named("POST webhook");
        assert_eq!(links(attempts.last().unwrap()).len(), 1, "to the request of the test event");
    }

    async fn receivers_are_told_nothing_of_traces(backend) {
        let world = World::new(backend).await;
        world.endpoint(&["*"]).await;
        let spans = Spans::begin();
        world.create("A-1").await;
        let received = world.deliver().await;
        assert_eq!(spans.named("POST webhook").len(), 1);
        for header in ["traceparent", "tracestate", "baggage", "x-request-id"] {
            assert!(!received[0].headers.contains_key(header), "{header}");
        }
    }

    async fn a_batch_links_to_every_change_that_it_handles(backend) {
        let world = World::new(backend).await;
        world.endpoint(&["products.*"]).await;
        let spans = Spans::begin();
        for sku in ["A-1", "A-2", "A-3"] {
            world.create(sku).await;
        }
        assert_eq!(world.deliver().await.len(), 3);
        let mut causes: Vec<(TraceId, SpanId)> = spans
            .named("outbox.store")
            .iter()
            .map(|span| (span.span_context.trace_id(), span.span_context.span_id()))
            .collect();
        let mut linked = links(&spans.one("handle webhooks.fan_out"));
        causes.sort_by_key(|(_, span)| span.to_bytes());
        linked.sort_by_key(|(_, span)| span.to_bytes());
        assert_eq!(linked, causes);
    }
}
