use std::sync::Arc;

use svc_core::{Actor, App, Clock, Directory, Error, OrganisationId, Principal, Result};
use svc_data::{Context, UnitOfWork};
use time::OffsetDateTime;
use tokio_util::sync::CancellationToken;

use crate::enqueuer::Enqueuer;
use crate::error::JobError;
use crate::interrupt::Interrupt;
use crate::job::JobId;
use crate::progress::{Progress, ProgressCell};
use crate::text;

/// What a handler works with. Cheap to clone.
///
/// Two contexts come with it, and a handler says which one it means: [`JobContext::context`] is the system's, within
/// the organisation that the job was enqueued in (across organisations for a job of the system itself), with the
/// correlation of the request that enqueued it; [`JobContext::as_enqueuer`] has the rights of the person.
///
/// What is written through either, and through every context made of them, is stored only while this node
/// holds the job: each commit looks at the lease, and fails with
/// [`ErrorKind::Conflict`](svc_core::ErrorKind::Conflict) once another node has taken the job.
#[derive(Clone)]
pub struct JobContext {
    context: Context,
    job: Arc<RunningJob>,
}

/// What a context knows of its job.
pub(crate) struct RunningJob {
    pub(crate) id: JobId,
    pub(crate) attempt: u32,
    pub(crate) max_attempts: u32,
    pub(crate) enqueued_at: OffsetDateTime,
    pub(crate) enqueuer: Enqueuer,
    pub(crate) interrupt: Interrupt,
    pub(crate) progress: ProgressCell,
}

impl JobContext {
    pub(crate) fn new(context: Context, job: RunningJob) -> Self {
        Self { context, job: Arc::new(job) }
    }

    /// The context of the system: it may do everything in the organisation.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// The application.
    #[must_use]
    pub fn app(&self) -> &App {
        self.context.app()
    }

    /// The application's clock.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        self.context.clock()
    }

    /// The organisation that the job was enqueued in.
    ///
    /// # Errors
    ///
    /// As [`Context::organisation`], for a job of the system across organisations.
    pub fn organisation(&self) -> Result<OrganisationId> {
        self.context.organisation()
    }

    /// The context of the system within one organisation, for a job that goes through all of them.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Internal`](svc_core::ErrorKind::Internal) when the job is another organisation's.
    pub fn in_organisation(&self, organisation: OrganisationId) -> Result<Context> {
        match self.context.principal().organisation() {
            Some(own) if own != organisation => {
                Err(Error::internal("a job of one organisation has no business in another"))
            }
            _ => Ok(self.context.acting_as(Arc::new(Principal::system_in(organisation)))),
        }
    }

    /// Does `work` in a unit of work of the system, which is stored only while this node holds the job.
    ///
    /// # Errors
    ///
    /// As [`Context::transact`]; [`ErrorKind::Conflict`](svc_core::ErrorKind::Conflict) once another
    /// node has taken the job.
    pub async fn transact<T, F>(&self, work: F) -> Result<T>
    where
        F: AsyncFnOnce(UnitOfWork) -> Result<T>,
    {
        self.context.transact(work).await
    }

    /// The job.
    #[must_use]
    pub fn job_id(&self) -> JobId {
        self.job.id
    }

    /// Which attempt this is, from 1.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.job.attempt
    }

    /// Attempts at most. A handler that wants to tell somebody of a failure for good does so when
    /// the attempt has this number.
    #[must_use]
    pub fn max_attempts(&self) -> u32 {
        self.job.max_attempts
    }

    /// When the job was enqueued.
    #[must_use]
    pub fn enqueued_at(&self) -> OffsetDateTime {
        self.job.enqueued_at
    }

    /// Who enqueued the job.
    #[must_use]
    pub fn enqueued_by(&self) -> &Actor {
        &self.job.enqueuer.actor
    }

    /// A context of whoever enqueued the job, with the rights that hold *now*; those of an API
    /// key go no further than what it could then. For a job of the system it is the system's.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Forbidden`](svc_core::ErrorKind::Forbidden) when the person is disabled or no
    /// longer a member; a fault of the [`Directory`], or that nobody provides one.
    pub async fn as_enqueuer(&self) -> Result<Context> {
        let Some(user) = self.job.enqueuer.actor.user else { return Ok(self.context.clone()) };
        let directory = self.app().service::<dyn Directory>()?;
        let principal =
            directory.principal(user, self.organisation()?).await?.ok_or_else(|| {
                Error::forbidden("the person who enqueued the job is no longer a member")
            })?;
        Ok(self.context.acting_as(Arc::new(self.job.enqueuer.narrow(principal))))
    }

    /// Says how far the job is, in percent (more than 100 counts as 100) and in words. Costs next
    /// to nothing: it is stored a few times a second at most, and the last word wins.
    pub fn progress(&self, percent: u8, message: impl AsRef<str>) {
        self.tell(Some(percent.min(100)), message.as_ref());
    }

    /// Says what the job is doing, where it can't tell how far it is.
    pub fn progress_message(&self, message: impl AsRef<str>) {
        self.tell(None, message.as_ref());
    }

    fn tell(&self, percent: Option<u8>, message: &str) {
        let message = Some(text::storable(message)).filter(|message| !message.is_empty());
        self.job.progress.tell(Progress { percent, message });
    }

    /// Is cancelled when the job should end: somebody cancelled it, or the application stops.
    ///
    /// A handler that looks at it ends with [`JobError::interrupted`]; one that doesn't is given
    /// `Svc:Jobs:CancelGrace` or `Svc:Jobs:ShutdownGrace` to finish, and is then dropped at the
    /// place where it waits.
    #[must_use]
    pub fn interruption(&self) -> CancellationToken {
        self.job.interrupt.asked().clone()
    }

    /// Ends the handler, with `?`, when the job should end: for the head of a loop.
    ///
    /// # Errors
    ///
    /// [`JobError::interrupted`].
    pub fn check_interruption(&self) -> Result<(), JobError> {
        if self.job.interrupt.asked().is_cancelled() {
            return Err(JobError::interrupted());
        }
        Ok(())
    }
}

impl std::fmt::Debug for JobContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JobContext")
            .field("id", &self.job.id)
            .field("attempt", &self.job.attempt)
            .finish_non_exhaustive()
    }
}
