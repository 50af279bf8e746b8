use std::sync::Arc;

use axum::Json;
use http::StatusCode;
use serde::{Deserialize, Serialize};
use svc_core::{Permission, Result};
use svc_data::Context;
use svc_http::{ApiPath, ApiResult, Ctx, Listing, May, Page, Paged};
use svc_jobs::{Cancellation, JobFilter, JobId, JobState, JobStatus, Jobs};
use time::OffsetDateTime;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

/// A background job.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct JobAnswer {
    /// The job.
    id: Uuid,
    /// Its name, such as `webhooks.recover`.
    kind: String,
    /// Where it stands: `waiting`, `running`, `dead`, `cancelled` or `finished`.
    state: &'static str,
    /// Whether it was asked to end and hasn't yet.
    cancel_requested: bool,
    /// When it runs next, or was to run last.
    #[serde(with = "time::serde::rfc3339")]
    run_at: OffsetDateTime,
    /// Attempts so far.
    attempts: u32,
    /// Attempts at most.
    max_attempts: u32,
    /// How far it is, in percent; null where it doesn't say.
    progress: Option<u8>,
    /// What it is doing, in its own words.
    message: Option<String>,
    /// Why the last attempt failed.
    last_error: Option<String>,
    /// When it was enqueued.
    #[serde(with = "time::serde::rfc3339")]
    created_at: OffsetDateTime,
    /// When it ended.
    #[serde(with = "time::serde::rfc3339::option")]
    finished_at: Option<OffsetDateTime>,
}

impl From<JobStatus> for JobAnswer {
    fn from(job: JobStatus) -> Self {
        Self {
            id: job.id.0,
            kind: job.kind,
            state: job.state.as_str(),
            cancel_requested: job.cancel_requested,
            run_at: job.run_at,
            attempts: job.attempts,
            max_attempts: job.max_attempts,
            progress: job.progress.percent,
            message: job.progress.message,
            last_error: job.last_error,
            created_at: job.created_at,
            finished_at: job.finished_at,
        }
    }
}

/// Which jobs to list.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Which {
    /// Only those of this name.
    kind: Option<String>,
    /// Only those in this state.
    #[param(value_type = Option<String>)]
    state: Option<State>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
enum State {
    Waiting,
    Running,
    Dead,
    Cancelled,
    Finished,
}

impl From<State> for JobState {
    fn from(state: State) -> Self {
        match state {
            State::Waiting => Self::Waiting,
            State::Running => Self::Running,
            State::Dead => Self::Dead,
            State::Cancelled => Self::Cancelled,
            State::Finished => Self::Finished,
        }
    }
}

/// To see the jobs of everybody.
pub(super) struct ViewJobs;

impl Permission for ViewJobs {
    const NAME: &'static str = svc_jobs::VIEW;
}

/// To cancel, retry and discard the jobs of everybody.
pub(super) struct ManageJobs;

impl Permission for ManageJobs {
    const NAME: &'static str = svc_jobs::MANAGE;
}

fn jobs(ctx: &Context) -> Result<Arc<Jobs>> {
    ctx.app().service::<Jobs>()
}

/// Lists background jobs, the newest first.
#[utoipa::path(
    get,
    path = "/jobs",
    params(Page, Which),
    responses((status = 200, description = "The jobs.", body = Listing<JobAnswer>)),
)]
pub(super) async fn list_jobs(
    May { ctx, .. }: May<ViewJobs>,
    Paged(page, which): Paged<Which>,
) -> ApiResult<Json<Listing<JobAnswer>>> {
    let filter = JobFilter {
        state: which.state.map(Into::into),
        kind: which.kind,
        after: page.cursor::<Uuid>()?.map(JobId),
        take: u32::try_from(page.limit()).ok(),
    };
    let found = jobs(&ctx)?.list(&ctx, &filter).await?;
    let listed = page.list(found.jobs, |job| job.id.0);
    let items = listed.items.into_iter().map(Into::into).collect();
    Ok(Json(Listing { items, next: listed.next }))
}

/// Tells where a background job stands. Whoever enqueued it may ask without the permission.
#[utoipa::path(
    get,
    path = "/jobs/{id}",
    params(("id" = Uuid, Path, description = "The job.")),
    responses((status = 200, description = "The job.", body = JobAnswer)),
    security(("bearer" = ["Jobs.View"]))
)]
pub(super) async fn get_job(
    Ctx(ctx): Ctx,
    ApiPath(id): ApiPath<Uuid>,
) -> ApiResult<Json<JobAnswer>> {
    Ok(Json(jobs(&ctx)?.status(&ctx, JobId(id)).await?.into()))
}

/// Cancels a background job. One that runs is asked to end, which it does when it can. Whoever enqueued it
/// needs no permission for it.
#[utoipa::path(
    post,
    path = "/jobs/{id}/cancel",
    params(("id" = Uuid, Path, description = "The job.")),
    responses(
        (status = 202, description = "It runs, and was asked to end."),
        (status = 204, description = "It won't run."),
        (status = 409, description = "It has ended already."),
    ),
    security(("bearer" = ["Jobs.Manage"]))
)]
pub(super) async fn cancel_job(Ctx(ctx): Ctx, ApiPath(id): ApiPath<Uuid>) -> ApiResult<StatusCode> {
    Ok(match jobs(&ctx)?.cancel(&ctx, JobId(id)).await? {
        Cancellation::Cancelled => StatusCode::NO_CONTENT,
        Cancellation::Requested => StatusCode::ACCEPTED,
    })
}

/// Runs a background job again that has failed for good or was cancelled.
#[utoipa::path(
    post,
    path = "/jobs/{id}/retry",
    params(("id" = Uuid, Path, description = "The job.")),
    responses(
        (status = 204, description = "It waits to run."),
        (status = 409, description = "It has not ended, or another job took its place."),
    ),
)]
pub(super) async fn retry_job(
    May { ctx, .. }: May<ManageJobs>,
    ApiPath(id): ApiPath<Uuid>,
) -> ApiResult<StatusCode> {
    jobs(&ctx)?.retry(&ctx, JobId(id)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Discards a background job that has ended.
#[utoipa::path(
    delete,
    path = "/jobs/{id}",
    params(("id" = Uuid, Path, description = "The job.")),
    responses(
        (status = 204, description = "It is gone."),
        (status = 409, description = "It has not ended; cancel it first."),
    ),
)]
pub(super) async fn discard_job(
    May { ctx, .. }: May<ManageJobs>,
    ApiPath(id): ApiPath<Uuid>,
) -> ApiResult<StatusCode> {
    jobs(&ctx)?.discard(&ctx, JobId(id)).await?;
    Ok(StatusCode::NO_CONTENT)
}
