//! `/health/live` (the process answers), `/health/ready` (it can answer requests) and
//! `/health/workers` (what goes on beside requests does). The crate's README says who asks for
//! which.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use http::StatusCode;
use http::header::CACHE_CONTROL;
use serde::Serialize;
use svc_core::{App, Assembly, Error, Result, WorkerState, WorkerStatus};
use svc_database::{Database, database_error};

use crate::state::HttpState;

/// How long one condition may take to be looked at.
const CHECK_TIMEOUT: Duration = Duration::from_secs(2);

/// A condition of being ready: something without which this node can't answer requests, and others
/// may. What all nodes lack alike (a mail server) belongs into a measurement instead, or the
/// balancer would take all of them away.
#[async_trait]
pub trait HealthCheck: Send + Sync + 'static {
    /// The name in the answer, such as `outbox`.
    fn name(&self) -> &'static str;

    /// Looks whether the condition holds.
    ///
    /// # Errors
    ///
    /// The reason why not, for the log; the answer only tells that it failed.
    async fn check(&self, app: &App) -> Result<()>;
}

/// How long an answer serves further questions: whoever asks in a loop loads nothing.
const LIFE: Duration = Duration::from_secs(1);

/// All conditions of being ready.
pub(crate) struct Health {
    checks: Vec<Arc<dyn HealthCheck>>,
    /// What was found last, and when. Who asks meanwhile waits for that.
    found: tokio::sync::Mutex<Option<(Instant, Vec<CheckResult>)>>,
}

impl Health {
    /// The database's conditions, and those of modules.
    pub(crate) fn new(assembly: &Assembly, added: Vec<Arc<dyn HealthCheck>>) -> Self {
        let mut migrations = Vec::new();
        for module in assembly.modules() {
            let steps = module.contributions.iter();
            let steps =
                steps.filter(|contribution| contribution.kind == svc_data::kinds::MIGRATION);
            migrations.extend(steps.map(|step| (module.name.clone(), step.name.clone())));
        }
        let mut checks: Vec<Arc<dyn HealthCheck>> =
            vec![Arc::new(DatabaseCheck), Arc::new(MigrationsCheck { expected: migrations })];
        checks.extend(added);
        Self { checks, found: tokio::sync::Mutex::default() }
    }

    async fn look(&self, app: &App) -> Vec<CheckResult> {
        let mut found = self.found.lock().await;
        if let Some((at, checks)) = &*found
            && at.elapsed() < LIFE
        {
            return checks.clone();
        }
        let checks = self.look_now(app).await;
        *found = Some((Instant::now(), checks.clone()));
        checks
    }

    async fn look_now(&self, app: &App) -> Vec<CheckResult> {
        let each = self.checks.iter().map(|check| async {
            let outcome = tokio::time::timeout(CHECK_TIMEOUT, check.check(app)).await;
            let late = |_| Err(Error::unavailable("the check took too long"));
            let status = match outcome.unwrap_or_else(late) {
                Ok(()) => Status::Ok,
                Err(error) => {
                    tracing::warn!(
                        check = check.name(),
                        error = error.report(),
                        "a health check failed"
                    );
                    Status::Failed
                }
            };
            CheckResult { name: check.name(), status }
        });
        futures::future::join_all(each).await
    }
}

/// The answer of a health check.
#[derive(Serialize)]
struct Report {
    status: Status,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    checks: Vec<CheckResult>,
}

#[derive(Clone, Serialize)]
struct CheckResult {
    name: &'static str,
    status: Status,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
enum Status {
    Ok,
    Failed,
    Draining,
}

pub(crate) fn routes(health: Arc<Health>) -> Router<HttpState> {
    let ready = move |State(state): State<HttpState>| ready(Arc::clone(&health), state);
    Router::new()
        .route("/health/live", get(live))
        .route("/health/ready", get(ready))
        .route("/health/workers", get(workers))
}

async fn live() -> Response {
    answer(Report { status: Status::Ok, checks: Vec::new() })
}

async fn ready(health: Arc<Health>, state: HttpState) -> Response {
    if state.is_draining() {
        return answer(Report { status: Status::Draining, checks: Vec::new() });
    }
    let checks = health.look(state.app()).await;
    let all_hold = checks.iter().all(|check| check.status == Status::Ok);
    answer(Report { status: if all_hold { Status::Ok } else { Status::Failed }, checks })
}

/// The answer about workers. Why one fails stands in the log: it may name tables and addresses.
#[derive(Serialize)]
struct WorkersReport {
    status: Status,
    workers: Vec<WorkerReport>,
}

#[derive(Serialize)]
struct WorkerReport {
    name: &'static str,
    status: WorkerState,
    failures: u64,
}

impl From<WorkerStatus> for WorkerReport {
    fn from(WorkerStatus { name, state, failures }: WorkerStatus) -> Self {
        Self { name, status: state, failures }
    }
}

async fn workers(State(state): State<HttpState>) -> Response {
    let statuses = state.app().worker_statuses();
    let is_failing = statuses.iter().any(|worker| worker.state == WorkerState::Failing);
    let status = if is_failing { Status::Failed } else { Status::Ok };
    let workers = statuses.into_iter().map(WorkerReport::from).collect();
    answer_as(status, WorkersReport { status, workers })
}

fn answer(report: Report) -> Response {
    answer_as(report.status, report)
}

fn answer_as(status: Status, report: impl Serialize) -> Response {
    let status = match status {
        Status::Ok => StatusCode::OK,
        Status::Failed | Status::Draining => StatusCode::SERVICE_UNAVAILABLE,
    };
    (status, [(CACHE_CONTROL, "no-store")], Json(report)).into_response()
}

/// The database answers.
struct DatabaseCheck;

#[async_trait]
impl HealthCheck for DatabaseCheck {
    fn name(&self) -> &'static str {
        "database"
    }

    async fn check(&self, app: &App) -> Result<()> {
        app.service::<Database>()?.ping().await
    }
}

/// Every migration that this program knows has been applied: a database that was put back to an
/// older state behind the program's back is noticed here.
struct MigrationsCheck {
    expected: Vec<(String, String)>,
}

#[async_trait]
impl HealthCheck for MigrationsCheck {
    fn name(&self) -> &'static str {
        "migrations"
    }

    async fn check(&self, app: &App) -> Result<()> {
        if self.expected.is_empty() {
            return Ok(());
        }
        let database = app.service::<Database>()?.essential();
        let statement = database.statement("SELECT module, name FROM svc_migrations", []);
        let rows = database.rows(statement).await?;
        let applied = rows
            .iter()
            .map(|row| Ok((row.try_get_by_index(0)?, row.try_get_by_index(1)?)))
            .collect::<Result<std::collections::HashSet<(String, String)>, sea_orm::DbErr>>()
            .map_err(database_error)?;
        match self.expected.iter().find(|step| !applied.contains(*step)) {
            None => Ok(()),
            Some((module, name)) => Err(Error::unavailable(format!(
                "the migration `{name}` of module `{module}` is not applied"
            ))),
        }
    }
}
