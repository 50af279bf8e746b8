use std::pin::Pin;
use std::sync::Arc;

use svc_core::Error;

use crate::context::JobContext;
use crate::error::JobError;
use crate::job::Job;

/// Runs the jobs of one kind. Any `async fn(JobContext, J) -> Result<(), E>` is one, where `E`
/// is [`JobError`] or [`svc_core::Error`].
///
/// A job runs *at least* once: a node that dies after the work, but before it could say so, makes
/// it run again. So what a handler does must do no harm when it is done twice.
pub trait JobHandler<J: Job>: Send + Sync + 'static {
    /// Makes one attempt.
    fn run(&self, ctx: JobContext, job: J) -> impl Future<Output = Result<(), JobError>> + Send;
}

impl<J, F, Fut, E> JobHandler<J> for F
where
    J: Job,
    F: Fn(JobContext, J) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), E>> + Send,
    E: Into<JobError>,
{
    async fn run(&self, ctx: JobContext, job: J) -> Result<(), JobError> {
        self(ctx, job).await.map_err(Into::into)
    }
}

type Attempt = Pin<Box<dyn Future<Output = Result<(), JobError>> + Send>>;

/// A handler that takes the job as it is stored.
pub(crate) type StoredJobHandler = Arc<dyn Fn(JobContext, String) -> Attempt + Send + Sync>;

pub(crate) fn erase<J: Job>(handler: impl JobHandler<J>) -> StoredJobHandler {
    let handler = Arc::new(handler);
    Arc::new(move |ctx, payload| {
        let handler = Arc::clone(&handler);
        Box::pin(async move {
            // A newer release may have written it, and may be the next to try.
            let job: J = serde_json::from_str(&payload).map_err(|cause| {
                let context = format!("the stored data of a `{}` job can't be read", J::NAME);
                JobError::retry(Error::internal(context).caused_by(cause))
            })?;
            handler.run(ctx, job).await
        })
    })
}

/// Says what is wrong with data that isn't that of a `J`.
pub(crate) fn check_data<J: Job>(data: &str) -> Result<(), String> {
    serde_json::from_str::<J>(data).map(drop).map_err(|error| error.to_string())
}
