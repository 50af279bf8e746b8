//! Measurements in the `OpenMetrics` text format at `/metrics`.
//!
//! What counts as it happens registers its counters once ([`Metrics::register`]). What is looked up
//! (the length of a queue) is a [`MetricsSource`]: it is asked when somebody scrapes, at most once
//! a second, and never holds a scrape up for longer than two seconds.

mod http;
mod process;
mod workers;

use std::sync::Arc;
use std::time::{Duration, Instant};

use ::http::HeaderMap;
use ::http::header::{AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE};
use async_trait::async_trait;
use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use parking_lot::Mutex;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::registry::Registry;
use subtle::ConstantTimeEq as _;
use svc_core::settings::Secret;
use svc_core::{App, Error, Result};

use crate::problem::ApiResult;
use crate::state::HttpState;

pub(crate) use http::{HttpMetrics, UNMATCHED};

/// How long one source may take before a scrape goes on without it.
const SAMPLE_TIMEOUT: Duration = Duration::from_secs(2);

/// How long samples serve further scrapes, so that scraping in a loop doesn't load the database.
const SAMPLE_LIFE: Duration = Duration::from_secs(1);

/// Gives measurements that are looked up when they are asked for.
///
/// ```
/// # use async_trait::async_trait;
/// use std::sync::atomic::AtomicI64;
///
/// use prometheus_client::{metrics::gauge::Gauge, registry::Registry};
/// use svc_core::{App, Result};
/// use svc_http::MetricsSource;
///
/// #[derive(Default)]
/// struct Backlog(Gauge<i64, AtomicI64>);
///
/// #[async_trait]
/// impl MetricsSource for Backlog {
///     fn register(&self, registry: &mut Registry) {
///         registry.register("svc_backlog", "Messages that wait", self.0.clone());
///     }
///
///     async fn sample(&self, _app: &App) -> Result<()> {
///         self.0.set(3);
///         Ok(())
///     }
/// }
/// ```
#[async_trait]
pub trait MetricsSource: Send + Sync + 'static {
    /// What the log calls it: its type.
    fn name(&self) -> &'static str {
        std::any::type_name::<Self>()
    }

    /// Registers the collectors, once.
    fn register(&self, registry: &mut Registry);

    /// Brings them up to date.
    ///
    /// # Errors
    ///
    /// A fault that keeps the values from being known; they then stay as they were.
    async fn sample(&self, app: &App) -> Result<()> {
        let _ = app;
        Ok(())
    }
}

/// The application's measurements, a service of the [`App`].
pub struct Metrics {
    registry: Mutex<Registry>,
    sources: Mutex<Vec<Arc<dyn MetricsSource>>>,
    http: Arc<HttpMetrics>,
    failures: Counter,
    sampled: tokio::sync::Mutex<Option<Instant>>,
}

impl Metrics {
    /// Measurements of the process and of HTTP; others join them.
    #[must_use]
    pub(crate) fn new(app: &App) -> Self {
        let mut registry = Registry::default();
        let http = Arc::new(HttpMetrics::default());
        http.register(&mut registry);
        let started = app.clock().now_us();
        registry.register_collector(Box::new(process::Process::new(started)));
        registry.register_collector(Box::new(workers::Workers::new(app.downgrade())));
        let failures = Counter::default();
        registry.register(
            "svc_metrics_failures",
            "Sources of measurements that failed or took too long",
            failures.clone(),
        );
        Self {
            registry: Mutex::new(registry),
            sources: Mutex::default(),
            http,
            failures,
            sampled: tokio::sync::Mutex::new(None),
        }
    }

    /// Registers collectors that are kept up to date by whoever registers them.
    pub fn register(&self, register: impl FnOnce(&mut Registry)) {
        register(&mut self.registry.lock());
    }

    /// Adds measurements that are looked up.
    pub fn add_source(&self, source: Arc<dyn MetricsSource>) {
        self.register(|registry| source.register(registry));
        self.sources.lock().push(source);
    }

    /// All measurements as `OpenMetrics` text.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Internal`](svc_core::ErrorKind::Internal) when a collector can't be written.
    pub async fn render(&self, app: &App) -> Result<String> {
        self.sample(app).await;
        let mut text = String::with_capacity(4096);
        let registry = self.registry.lock();
        prometheus_client::encoding::text::encode(&mut text, &registry)
            .map_err(|error| Error::internal("a collector can't be written").caused_by(error))?;
        Ok(text)
    }

    async fn sample(&self, app: &App) {
        let mut sampled = self.sampled.lock().await;
        if sampled.is_some_and(|at| at.elapsed() < SAMPLE_LIFE) {
            return;
        }
        let sources = self.sources.lock().clone();
        let each = sources.iter().map(|source| async {
            let problem = match tokio::time::timeout(SAMPLE_TIMEOUT, source.sample(app)).await {
                Ok(Ok(())) => return,
                Ok(Err(error)) => error.report(),
                Err(_) => "it took too long".to_owned(),
            };
            self.failures.inc();
            let source = source.name();
            tracing::warn!(source, error = problem, "measurements are as old as they were");
        });
        futures::future::join_all(each).await;
        *sampled = Some(Instant::now());
    }

    pub(crate) fn http(&self) -> Arc<HttpMetrics> {
        Arc::clone(&self.http)
    }
}

impl std::fmt::Debug for Metrics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

pub(crate) fn routes(metrics: Arc<Metrics>) -> Router<HttpState> {
    let scrape = move |State(state): State<HttpState>, headers: HeaderMap| {
        scrape(Arc::clone(&metrics), state, headers)
    };
    Router::new().route("/metrics", get(scrape))
}

async fn scrape(
    metrics: Arc<Metrics>,
    state: HttpState,
    headers: HeaderMap,
) -> ApiResult<Response> {
    if let Some(token) = &state.settings().metrics_token {
        check_token(token, &headers)?;
    }
    let text = metrics.render(state.app()).await?;
    let media_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(([(CONTENT_TYPE, media_type), (CACHE_CONTROL, "no-store")], text).into_response())
}

fn check_token(token: &Secret, headers: &HeaderMap) -> Result<()> {
    let given = headers.get(AUTHORIZATION).map(::http::HeaderValue::as_bytes).unwrap_or_default();
    let given = given.strip_prefix(b"Bearer ").unwrap_or_default();
    if bool::from(given.ct_eq(token.expose().as_bytes())) {
        return Ok(());
    }
    Err(Error::unauthenticated("send the token of `Svc:Http:MetricsToken` as `Bearer`"))
}
