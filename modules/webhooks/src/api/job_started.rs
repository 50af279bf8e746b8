use serde::Serialize;
use svc_jobs::JobId;
use utoipa::ToSchema;
use uuid::Uuid;

/// A background job that was begun.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebhookJobStarted)]
#[serde(rename_all = "camelCase")]
pub(crate) struct JobStartedBody {
    /// The job, whose progress is among the background jobs.
    job_id: Uuid,
}

impl JobStartedBody {
    pub(super) fn new(job: JobId) -> Self {
        Self { job_id: job.0 }
    }
}
