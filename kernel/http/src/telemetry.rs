//! Logs on standard error, and traces to an OpenTelemetry collector where one is set.

use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::{Protocol, WithExportConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use svc_core::trace::{TraceContext, set_exporting};
use svc_core::{Error, Result};
use tracing::Span;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer, Registry};

use crate::settings::{LogFormat, TelemetrySettings};

/// Keeps logs and traces going; what was not exported yet is sent when it is dropped.
#[must_use = "traces are exported until this is dropped"]
#[derive(Debug)]
pub struct Telemetry {
    provider: Option<SdkTracerProvider>,
}

impl Drop for Telemetry {
    fn drop(&mut self) {
        let Some(provider) = self.provider.take() else { return };
        set_exporting(false);
        if let Err(error) = provider.shutdown() {
            tracing::warn!(%error, "the last traces could not be exported");
        }
    }
}

/// Begins to log and to trace, for the whole process. `application` names the service in traces
/// where the settings don't.
///
/// Call it once, in `main`, before anything is served.
///
/// # Errors
///
/// [`ErrorKind::Conflict`](svc_core::ErrorKind::Conflict) when the process logs elsewhere already;
/// [`ErrorKind::Invalid`](svc_core::ErrorKind::Invalid) when the exporter can't be made.
pub fn init_telemetry(settings: &TelemetrySettings, application: &str) -> Result<Telemetry> {
    let filter = EnvFilter::try_new(&settings.log_filter).map_err(|error| {
        Error::invalid("`Svc:Telemetry:LogFilter` can't be read").caused_by(error)
    })?;
    let provider = exporter(settings, application)?;
    // What is traced doesn't hang on how much is logged.
    let traces = provider.as_ref().map(|provider| {
        let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("svc"));
        layer.with_filter(LevelFilter::INFO)
    });
    let log = log(settings.log_format).with_filter(filter);
    let subscriber = tracing_subscriber::registry().with(log);
    let installed = subscriber.with(traces).try_init();
    installed.map_err(|error| {
        Error::new(svc_core::ErrorKind::Conflict, "the process logs elsewhere already")
            .caused_by(error)
    })?;
    set_exporting(provider.is_some());
    Ok(Telemetry { provider })
}

fn log(format: LogFormat) -> Box<dyn Layer<Registry> + Send + Sync> {
    let layer = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    match format {
        LogFormat::Text => {
            let is_terminal = std::io::IsTerminal::is_terminal(&std::io::stderr());
            layer.with_ansi(is_terminal).boxed()
        }
        LogFormat::Json => layer.json().flatten_event(true).boxed(),
    }
}

fn exporter(settings: &TelemetrySettings, application: &str) -> Result<Option<SdkTracerProvider>> {
    let Some(endpoint) = &settings.otlp_endpoint else { return Ok(None) };
    let endpoint = format!("{}/v1/traces", endpoint.as_str().trim_end_matches('/'));
    let exporter = opentelemetry_otlp::SpanExporter::builder()
        .with_http()
        .with_protocol(Protocol::HttpBinary)
        .with_endpoint(endpoint)
        .build()
        .map_err(|error| {
            Error::invalid("the exporter of `Svc:Telemetry:OtlpEndpoint` can't be made")
                .caused_by(error)
        })?;
    let name = settings.service_name.clone().unwrap_or_else(|| application.to_owned());
    let provider = SdkTracerProvider::builder()
        .with_batch_exporter(exporter)
        .with_resource(Resource::builder().with_service_name(name).build())
        .build();
    Ok(Some(provider))
}

/// Makes a request's span part of the caller's trace, and says which trace it is in; none when
/// no exporter watches the span.
pub(crate) fn join_trace(span: &Span, parent: Option<TraceContext>) -> Option<u128> {
    if let Some(parent) = parent {
        parent.adopt(span);
    }
    TraceContext::of(span).map(|context| context.trace())
}
