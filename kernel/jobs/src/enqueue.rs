//! Enqueuing as part of a unit of work: the job is there if, and only if, the changes are.

use std::future::IntoFuture;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use sea_orm::Value;
use svc_core::{Error, OrganisationId, Result, micros};
use svc_data::UnitOfWork;
use svc_database::{ROWS_AT_ONCE, column};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::enqueuer::Enqueuer;
use crate::job::{Job, JobId};
use crate::registration::{JobKind, unserialisable};
use crate::service::{Jobs, TOPIC};
use crate::store::TWIN;

/// The most bytes of a job's data as JSON.
const MAX_PAYLOAD: usize = 1024 * 1024;

/// The words for background work on a unit of work.
pub trait EnqueueJobs {
    /// Enqueues a job when awaited. It runs once the unit of work has committed, as the system
    /// within the organisation, and remembers who enqueued it.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::TooLarge`](svc_core::ErrorKind::TooLarge) when the data is more than 1 MiB;
    /// [`ErrorKind::Internal`](svc_core::ErrorKind::Internal) when nobody runs such jobs, or the
    /// data can't be written as JSON; a fault of the database.
    fn enqueue<J: Job>(&self, job: J) -> Enqueue<'_, J>;

    /// Enqueues many jobs at once, with the same options. Answers with the identifiers of those
    /// that are new, in their order.
    ///
    /// # Errors
    ///
    /// As [`EnqueueJobs::enqueue`].
    fn enqueue_many<J: Job>(&self, jobs: impl IntoIterator<Item = J>) -> EnqueueMany<'_, J>;
}

impl EnqueueJobs for UnitOfWork {
    fn enqueue<J: Job>(&self, job: J) -> Enqueue<'_, J> {
        Enqueue { uow: self, job, key: None, options: Options::default() }
    }

    fn enqueue_many<J: Job>(&self, jobs: impl IntoIterator<Item = J>) -> EnqueueMany<'_, J> {
        let jobs = jobs.into_iter().map(|job| (job, None)).collect();
        EnqueueMany { uow: self, jobs, options: Options::default() }
    }
}

/// What becomes of a job that was enqueued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Enqueued {
    /// The job, or the one that had its unique key already.
    pub id: JobId,
    /// Whether the job is new.
    pub is_new: bool,
}

#[derive(Clone, Default)]
pub(crate) struct Options {
    run_at: Option<RunAt>,
    unique: Unique,
    max_attempts: Option<u32>,
    watched: bool,
    organisation: Option<OrganisationId>,
}

#[derive(Clone, Copy)]
enum RunAt {
    Time(OffsetDateTime),
    In(Duration),
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Unique {
    #[default]
    WhileRunning,
    WhileWaiting,
}

/// Enqueues a job when awaited.
#[must_use = "a job is enqueued when this is awaited"]
pub struct Enqueue<'a, J> {
    uow: &'a UnitOfWork,
    job: J,
    key: Option<String>,
    options: Options,
}

/// Enqueues many jobs when awaited.
#[must_use = "jobs are enqueued when this is awaited"]
pub struct EnqueueMany<'a, J> {
    uow: &'a UnitOfWork,
    jobs: Vec<(J, Option<String>)>,
    options: Options,
}

/// The options that one job and many have in common.
macro_rules! options {
    ($name:ident) => {
        impl<J: Job> $name<'_, J> {
            /// Runs at this time, or right away when it has passed.
            pub fn run_at(mut self, time: OffsetDateTime) -> Self {
                self.options.run_at = Some(RunAt::Time(time));
                self
            }

            /// Runs after this span of the application's clock.
            pub fn run_in(mut self, span: Duration) -> Self {
                self.options.run_at = Some(RunAt::In(span));
                self
            }

            /// Attempts in all, in place of the registered number.
            pub fn max_attempts(mut self, attempts: u32) -> Self {
                self.options.max_attempts = Some(attempts);
                self
            }

            /// Keeps the job in the list for `Svc:Jobs:FinishedRetention` after it has finished,
            /// so that whoever watches it sees the end. Other jobs are gone when they finish.
            pub fn watched(mut self) -> Self {
                self.options.watched = true;
                self
            }

            /// Runs within this organisation. Only the system across organisations may choose.
            pub fn in_organisation(mut self, organisation: OrganisationId) -> Self {
                self.options.organisation = Some(organisation);
                self
            }
        }
    };
}

options!(Enqueue);
options!(EnqueueMany);

impl<J: Job> Enqueue<'_, J> {
    /// Enqueues nothing when a job of the kind with this key already waits or runs in the
    /// organisation: never two at once.
    ///
    /// The job that runs may have read its data before the change of this unit of work. Where it
    /// must see the change, use [`Enqueue::unique_while_waiting`].
    pub fn unique(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self.options.unique = Unique::WhileRunning;
        self
    }

    /// Enqueues nothing when a job of the kind with this key already waits in the organisation;
    /// one that has started doesn't count, so this one runs after the change in any case.
    pub fn unique_while_waiting(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self.options.unique = Unique::WhileWaiting;
        self
    }
}

impl<J: Job> EnqueueMany<'_, J> {
    /// As [`Enqueue::unique`], with a key for each job.
    pub fn unique_by(mut self, key: impl Fn(&J) -> String) -> Self {
        self.jobs.iter_mut().for_each(|(job, place)| *place = Some(key(job)));
        self.options.unique = Unique::WhileRunning;
        self
    }

    /// As [`Enqueue::unique_while_waiting`], with a key for each job.
    pub fn unique_while_waiting_by(mut self, key: impl Fn(&J) -> String) -> Self {
        self.jobs.iter_mut().for_each(|(job, place)| *place = Some(key(job)));
        self.options.unique = Unique::WhileWaiting;
        self
    }
}

type Pending<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

impl<'a, J: Job> IntoFuture for Enqueue<'a, J> {
    type Output = Result<Enqueued>;
    type IntoFuture = Pending<'a, Enqueued>;

    fn into_future(self) -> Self::IntoFuture {
        let Self { uow, job, key, options } = self;
        let payload = write(&job);
        Box::pin(async move {
            let queue = Queue::of(uow, J::NAME)?;
            queue.enqueue(Payload { json: payload?, key, organisation: None }, &options).await
        })
    }
}

impl<'a, J: Job> IntoFuture for EnqueueMany<'a, J> {
    type Output = Result<Vec<JobId>>;
    type IntoFuture = Pending<'a, Vec<JobId>>;

    fn into_future(self) -> Self::IntoFuture {
        let Self { uow, jobs, options } = self;
        let write = |(job, key)| Ok(Payload { json: write(&job)?, key, organisation: None });
        let payloads: Result<Vec<Payload>> = jobs.into_iter().map(write).collect();
        Box::pin(async move {
            let queue = Queue::of(uow, J::NAME)?;
            let mut ids = Vec::new();
            for batch in payloads?.chunks(ROWS_AT_ONCE) {
                ids.extend(queue.insert(batch, &options).await?);
            }
            Ok(ids)
        })
    }
}

fn write<J: Job>(job: &J) -> Result<String> {
    let payload =
        serde_json::to_string(job).map_err(|cause| unserialisable(J::NAME).caused_by(cause))?;
    check_size(J::NAME, payload)
}

fn check_size(kind: &str, payload: String) -> Result<String> {
    if payload.len() > MAX_PAYLOAD {
        return Err(Error::new(
            svc_core::ErrorKind::TooLarge,
            format!(
                "the data of a `{kind}` job is {} bytes long, and {MAX_PAYLOAD} are allowed; store \
                 it, and enqueue its key",
                payload.len()
            ),
        ));
    }
    Ok(payload)
}

/// The data of a job as it is stored.
pub(crate) struct Payload {
    json: String,
    key: Option<String>,
    /// The organisation that it runs in, where the options name none.
    organisation: Option<OrganisationId>,
}

/// Enqueues the job of a schedule, unless that of an earlier tick still waits or runs.
pub(crate) async fn enqueue_scheduled(
    uow: &UnitOfWork,
    kind: &'static str,
    schedule: &str,
    payload: String,
) -> Result<Enqueued> {
    let key = Some(format!("schedule {schedule}"));
    let payload = Payload { json: check_size(kind, payload)?, key, organisation: None };
    Queue::of(uow, kind)?.enqueue(payload, &Options::default()).await
}

/// Enqueues the job of a schedule in organisations, unless that of an earlier tick still waits or runs there. Answers
/// with how many are new.
pub(crate) async fn enqueue_scheduled_in(
    uow: &UnitOfWork,
    kind: &'static str,
    schedule: &str,
    payload: &str,
    organisations: &[OrganisationId],
) -> Result<usize> {
    let json = check_size(kind, payload.to_owned())?;
    let queue = Queue::of(uow, kind)?;
    let mut new = 0;
    for batch in organisations.chunks(ROWS_AT_ONCE) {
        let payload = |organisation: &OrganisationId| Payload {
            json: json.clone(),
            key: Some(format!("schedule {schedule}")),
            organisation: Some(*organisation),
        };
        let payloads: Vec<Payload> = batch.iter().map(payload).collect();
        new += queue.insert(&payloads, &Options::default()).await?.len();
    }
    Ok(new)
}

/// Enqueues a job whose data somebody gave as JSON.
pub(crate) async fn enqueue_given(
    uow: &UnitOfWork,
    kind: &'static str,
    data: String,
) -> Result<Enqueued> {
    let payload = Payload { json: check_size(kind, data)?, key: None, organisation: None };
    Queue::of(uow, kind)?.enqueue(payload, &Options::default()).await
}

/// The queue of one kind of job, seen from a unit of work.
struct Queue<'a> {
    uow: &'a UnitOfWork,
    jobs: Arc<Jobs>,
    kind: Arc<JobKind>,
}

impl<'a> Queue<'a> {
    fn of(uow: &'a UnitOfWork, kind: &str) -> Result<Self> {
        let jobs = uow.context().app().service::<Jobs>()?;
        let kind = Arc::clone(jobs.catalogue().kind(kind)?);
        Ok(Self { uow, jobs, kind })
    }

    async fn enqueue(&self, payload: Payload, options: &Options) -> Result<Enqueued> {
        let key = stored_key(payload.key.as_deref(), self.organisation(&payload, options)?)?;
        let payload = [payload];
        // Between the insert that meets a twin and the look for it, the twin may finish.
        for _ in 0..5 {
            if let [id] = *self.insert(&payload, options).await? {
                return Ok(Enqueued { id, is_new: true });
            }
            let values: [Value; 2] = [self.kind.name.into(), key.clone().into()];
            let twin = self.jobs.store().database().statement(TWIN, values);
            if let Some(row) = self.uow.rows(twin).await?.first() {
                return Ok(Enqueued { id: JobId(column::<Uuid>(row, 0)?), is_new: false });
            }
        }
        Err(Error::conflict("jobs with the same unique key come and go; try again").transient())
    }

    /// Inserts jobs, and answers with the identifiers of those whose unique key was free.
    async fn insert(&self, payloads: &[Payload], options: &Options) -> Result<Vec<JobId>> {
        let context = self.uow.context();
        let now = context.clock().now();
        let run_at = match options.run_at {
            Some(RunAt::Time(time)) => time,
            Some(RunAt::In(span)) => now + span,
            None => now,
        };
        let mut rows = Vec::with_capacity(payloads.len());
        for payload in payloads {
            let organisation = self.organisation(payload, options)?;
            let key = stored_key(payload.key.as_deref(), organisation)?;
            let organisation = OrganisationId::or_nil(organisation);
            rows.push((context.clock().new_id(), organisation, payload.json.as_str(), key));
        }
        // Whoever takes several keys takes them in the same order, or two could wait for each other.
        rows.sort_by(|(.., one), (.., other)| one.cmp(other));
        let Enqueuer { actor, scope } = Enqueuer::of(context.principal());
        let scope = scope.map(|scope| serde_json::to_string(&scope)).transpose();
        let scope = scope.map_err(|cause| {
            Error::internal("the scope of an API key can't be written as JSON").caused_by(cause)
        })?;
        let max_attempts = options.max_attempts.unwrap_or(self.kind.max_attempts).clamp(1, 1_000);
        let values: [Value; 10] = [
            self.kind.name.into(),
            micros::of_time(run_at).into(),
            i32::try_from(max_attempts).unwrap_or(1_000).into(),
            (options.unique == Unique::WhileRunning).into(),
            options.watched.into(),
            micros::of_time(now).into(),
            actor.user.map(|user| user.0).into(),
            actor.display_name.into(),
            scope.into(),
            context.correlation().into(),
        ];
        let rows = rows.into_iter().map(|(id, organisation, payload, key)| {
            [id.into(), organisation.into(), payload.into(), key.into()]
        });
        let statement = self.jobs.store().insert(values, rows);
        let inserted = self.uow.rows(statement).await?;
        let read = |row| Ok(JobId(column::<Uuid>(row, 0)?));
        let mut ids: Vec<JobId> = inserted.iter().map(read).collect::<Result<_>>()?;
        // Identifiers are given in the order of the jobs, and sort in it.
        ids.sort_unstable();
        if !ids.is_empty() {
            self.uow.wake_after_commit(TOPIC);
        }
        Ok(ids)
    }

    fn organisation(&self, payload: &Payload, options: &Options) -> Result<Option<OrganisationId>> {
        let own = self.uow.context().principal().organisation();
        match (own, options.organisation.or(payload.organisation)) {
            (own, None) => Ok(own),
            (None, Some(chosen)) => Ok(Some(chosen)),
            (Some(own), Some(chosen)) if own == chosen => Ok(Some(own)),
            (Some(_), Some(_)) => {
                Err(Error::internal("only the system may enqueue a job in another organisation"))
            }
        }
    }
}

/// The key as it is stored: those of different organisations never meet.
fn stored_key(key: Option<&str>, organisation: Option<OrganisationId>) -> Result<Option<String>> {
    let Some(key) = key else { return Ok(None) };
    if key.len() > 500 || key.contains('\0') {
        return Err(Error::internal(
            "a job's unique key must have at most 500 bytes and no NUL; hash what is longer",
        ));
    }
    Ok(Some(match organisation {
        Some(organisation) => format!("{organisation} {key}"),
        None => format!("- {key}"),
    }))
}
