use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use sea_orm::{QueryResult, Statement};
use svc_core::{App, Clock, Error, ErrorKind, OrganisationId, Principal, Result, Share};
use svc_database::{Database, FirstRows, ReadLimit};
use uuid::Uuid;

use crate::budget::{Budget, Expense};
use crate::catalogue::Catalogue;
use crate::record::Author;
use crate::sight::Viewer;
use crate::unit_of_work::{CommitHook, Fence, UnitOfWork};

/// How long work is done anew. A file that is busy for `Svc:Database:BusyTimeout` is tried once more;
/// a database that gave no connection for `Svc:Database:AcquireTimeout` is not (by their defaults).
const RETRYING: Duration = Duration::from_secs(6);

/// What every context shares: the database, the catalogue, and who takes part in commits.
pub struct Data {
    /// The database.
    pub database: Database,
    /// The registered entities.
    pub catalogue: Catalogue,
    pub(crate) commit_hooks: Vec<Arc<dyn CommitHook>>,
}

/// Who acts, in which application: what every command and every query begins with.
///
/// A context reads and writes within its principal's organisation, always: there is no call that
/// leaves the condition out.
#[derive(Clone)]
pub struct Context {
    app: App,
    data: Arc<Data>,
    /// The database, by the way that this context takes to it.
    database: Database,
    principal: Arc<Principal>,
    correlation: Uuid,
    /// Whether a unit of work has taken the correlation as its identifier; none where others have the
    /// same correlation.
    correlation_taken: Option<Arc<AtomicBool>>,
    work: Option<Work>,
    /// What the request may cost; none for work of the application's own.
    budget: Option<Budget>,
}

/// A piece of background work that a context is used in.
#[derive(Clone)]
struct Work {
    id: Uuid,
    fence: Arc<dyn Fence>,
}

impl Context {
    /// A context of a principal, for a request or a piece of background work that is told apart
    /// in logs and messages by `correlation`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Internal`](svc_core::ErrorKind::Internal) when the application has no
    /// database.
    pub fn new(app: &App, principal: Arc<Principal>, correlation: Uuid) -> Result<Self> {
        let data = app.service::<Data>()?;
        let database = data.database.clone();
        Ok(Self {
            app: app.clone(),
            data,
            database,
            principal,
            correlation,
            correlation_taken: None,
            work: None,
            budget: None,
        })
    }

    /// A context of the system across organisations.
    ///
    /// # Errors
    ///
    /// As [`Context::new`].
    pub fn system(app: &App) -> Result<Self> {
        Self::new(app, Arc::new(Principal::system()), app.clock().new_id())
    }

    /// A context of the system within one organisation.
    ///
    /// # Errors
    ///
    /// As [`Context::new`].
    pub fn system_in(app: &App, organisation: OrganisationId) -> Result<Self> {
        Self::new(app, Arc::new(Principal::system_in(organisation)), app.clock().new_id())
    }

    /// The same application and correlation for another principal.
    #[must_use]
    pub fn acting_as(&self, principal: Arc<Principal>) -> Self {
        Self { principal, ..self.clone() }
    }

    /// The same context for a request: it takes no more connections at once than its principal and
    /// the organisation may have. Background work has none of this.
    #[must_use]
    pub fn within_share(&self) -> Self {
        let database = self.data.database.shared_by(Share::of(&self.principal));
        Self { database, ..self.clone() }
    }

    /// The same context, whose correlation was made for it and is nobody else's: the first unit of work
    /// has it as its identifier. So what one request did by one unit of work is found by either.
    #[must_use]
    pub fn with_correlation_of_its_own(self) -> Self {
        Self { correlation_taken: Some(Arc::default()), ..self }
    }

    /// What the next unit of work is told apart by.
    pub(crate) fn new_unit_id(&self) -> Uuid {
        match &self.correlation_taken {
            Some(taken) if !taken.swap(true, Ordering::Relaxed) => self.correlation,
            _ => self.clock().new_id(),
        }
    }

    /// The same context within a piece of background work, such as a job: changes say that it made
    /// them, and none is stored that `fence` doesn't let through. So is it for every context that is
    /// made of this one.
    #[must_use]
    pub fn within_work(&self, id: Uuid, fence: Arc<dyn Fence>) -> Self {
        Self { work: Some(Work { id, fence }), ..self.clone() }
    }

    pub(crate) fn fence(&self) -> Option<&Arc<dyn Fence>> {
        self.work.as_ref().map(|work| &work.fence)
    }

    /// Who makes the changes of this context.
    pub(crate) fn author(&self) -> Author {
        Author {
            actor: self.principal.actor(),
            means: self.principal.means(),
            work: self.work.as_ref().map(|work| work.id),
            correlation: self.correlation,
        }
    }

    /// The same, within what a request may cost.
    #[must_use]
    pub fn within(&self, budget: Budget) -> Self {
        Self { budget: Some(budget), ..self.clone() }
    }

    /// What the request may cost; none for work of the application's own.
    #[must_use]
    pub fn budget(&self) -> Option<&Budget> {
        self.budget.as_ref()
    }

    /// Spends some of what the request may cost, before it is done.
    ///
    /// # Errors
    ///
    /// As [`Budget::spend`].
    pub fn spend(&self, what: Expense, amount: u64) -> Result<()> {
        self.budget.as_ref().map_or(Ok(()), |budget| budget.spend(what, amount))
    }

    /// The application.
    #[must_use]
    pub fn app(&self) -> &App {
        &self.app
    }

    /// The application's clock.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        self.app.clock()
    }

    /// Who acts.
    #[must_use]
    pub fn principal(&self) -> &Arc<Principal> {
        &self.principal
    }

    /// Who looks at sets, for their row filters.
    #[must_use]
    pub fn viewer(&self) -> Viewer<'_> {
        Viewer::new(&self.principal, &self.app)
    }

    /// What tells this request apart in logs, changes and messages.
    #[must_use]
    pub fn correlation(&self) -> Uuid {
        self.correlation
    }

    /// The organisation that is acted in.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Internal`](svc_core::ErrorKind::Internal) for the system across
    /// organisations.
    pub fn organisation(&self) -> Result<OrganisationId> {
        self.principal
            .organisation()
            .ok_or_else(|| Error::internal("this needs an organisation; use `Context::system_in`"))
    }

    /// Insists on a permission.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Forbidden`](svc_core::ErrorKind::Forbidden), naming the permission.
    pub fn require(&self, permission: &str) -> Result<()> {
        self.principal.require(permission)
    }

    /// The registered entities.
    #[must_use]
    pub fn catalogue(&self) -> &Catalogue {
        &self.data.catalogue
    }

    /// The database, for what the context doesn't offer.
    #[must_use]
    pub fn database(&self) -> &Database {
        &self.database
    }

    pub(crate) fn data(&self) -> &Arc<Data> {
        &self.data
    }

    /// Runs `work` in one transaction, and commits when it succeeds.
    ///
    /// All that is written through the unit of work is stored together, with the events that were
    /// raised; when `work` fails, nothing is. Called within another unit of work of the same task,
    /// it joins that one: its writes commit with the outer one, and only they are undone when
    /// `work` fails and the caller goes on.
    ///
    /// # Errors
    ///
    /// The error of `work`, or the fault that kept the transaction from beginning or committing.
    pub async fn transact<T, F>(&self, work: F) -> Result<T>
    where
        F: AsyncFnOnce(UnitOfWork) -> Result<T>,
    {
        if let Some(outer) = self.joined() {
            let inner = outer.seen_by(self);
            let savepoint = inner.begin_nested().await?;
            let outcome = work(inner.clone()).await;
            inner.end_nested(savepoint, outcome.is_ok()).await?;
            return outcome;
        }
        let uow = UnitOfWork::begin(self).await?;
        let outcome = uow.within(work(uow.clone())).await;
        let outcome = match outcome {
            Ok(value) => uow.within(uow.clone().commit()).await.map(|()| value),
            Err(error) => {
                // A statement that was ended says so, and not that it was because the whole took too long.
                let is_ended = error.kind() == ErrorKind::Unavailable;
                let reason = self.database.check_transaction().err().filter(|_| is_ended);
                uow.rollback().await;
                Err(reason.unwrap_or(error))
            }
        };
        outcome.map_err(|error| if uow.is_done_once() { error.settled() } else { error })
    }

    /// Like [`Context::transact`], for work that may safely be done anew: after a deadlock, a
    /// serialisation conflict, a busy file or a lost connection it is tried again, up to five times in
    /// all, but not once six seconds have passed: whoever asked is told so instead of waiting
    /// again. Within another unit of work it is done once, since only the outermost can begin anew;
    /// so is work that says so ([`UnitOfWork::do_once`]). A commit whose outcome is unknown is never
    /// repeated.
    ///
    /// # Errors
    ///
    /// As [`Context::transact`], after the last attempt.
    pub async fn transact_retrying<T, F, Fut>(&self, work: F) -> Result<T>
    where
        F: Fn(UnitOfWork) -> Fut,
        Fut: Future<Output = Result<T>>,
    {
        let began = Instant::now();
        let mut attempt = 1;
        loop {
            let may_be_repeated =
                || attempt < 5 && began.elapsed() < RETRYING && self.joined().is_none();
            match self.transact(async |uow| work(uow).await).await {
                Err(error) if error.is_transient() && may_be_repeated() => {
                    tracing::debug!(attempt, error = error.report(), "trying the work again");
                    tokio::time::sleep(Duration::from_millis(5 << attempt)).await;
                    attempt += 1;
                }
                outcome => return outcome,
            }
        }
    }

    /// The unit of work that this task is in, if it is one of the same database.
    fn joined(&self) -> Option<UnitOfWork> {
        UnitOfWork::current().filter(|current| current.is_of(&self.data))
    }

    /// Runs a statement that answers with rows: within the task's unit of work where there is
    /// one, on a reading connection otherwise.
    ///
    /// # Errors
    ///
    /// A fault of the database, and as [`Context::spend`].
    #[must_use]
    pub fn run(&self, statement: Statement) -> BoxFuture<'_, Result<Vec<QueryResult>>> {
        Box::pin(async move {
            self.spend(Expense::Statements, 1)?;
            match self.joined() {
                Some(uow) => uow.rows(statement).await,
                None => self.database.rows(statement).await,
            }
        })
    }

    /// As [`Context::run`], but no more than a limit allows, give or take a row. Within a unit of work
    /// all are read: what is left couldn't be ended without it.
    ///
    /// # Errors
    ///
    /// As [`Context::run`].
    #[must_use]
    pub fn run_within<'a>(
        &'a self,
        statement: Statement,
        limit: ReadLimit<'a>,
    ) -> BoxFuture<'a, Result<FirstRows>> {
        Box::pin(async move {
            self.spend(Expense::Statements, 1)?;
            match self.joined() {
                Some(uow) => Ok(FirstRows { rows: uow.rows(statement).await?, is_cut: false }),
                None if limit.long.is_empty() => {
                    Ok(FirstRows { rows: self.database.rows(statement).await?, is_cut: false })
                }
                None => self.database.first_rows(statement, limit).await,
            }
        })
    }

    /// As [`Context::run`], refused where the long values of its rows are more than the budget still
    /// lets be held.
    ///
    /// # Errors
    ///
    /// As [`Context::run`] and [`Context::spend`].
    pub async fn run_held(&self, statement: Statement, long: &[usize]) -> Result<Vec<QueryResult>> {
        let Some(budget) = self.budget() else { return self.run(statement).await };
        let bytes = budget.left(Expense::HeldBytes);
        let FirstRows { rows, is_cut } =
            self.run_within(statement, ReadLimit { long, bytes }).await?;
        if is_cut {
            self.spend(Expense::HeldBytes, bytes.saturating_add(1))?;
        }
        Ok(rows)
    }

    /// As [`Context::run`], for a statement of which only the first row is of interest: the driver
    /// doesn't look for others.
    ///
    /// # Errors
    ///
    /// As [`Context::run`].
    #[must_use]
    pub fn run_one(&self, statement: Statement) -> BoxFuture<'_, Result<Option<QueryResult>>> {
        Box::pin(async move {
            self.spend(Expense::Statements, 1)?;
            match self.joined() {
                Some(uow) => uow.row(statement).await,
                None => self.database.row(statement).await,
            }
        })
    }

    /// Whether nothing of an answer is sent before its end, so that all of it is held: within a unit of work, which may
    /// be undone, and within a batch, whose parts stand together.
    #[must_use]
    pub fn holds_answer(&self) -> bool {
        self.is_in_unit_of_work() || self.budget().is_some_and(Budget::is_shared)
    }

    /// Whether what is read here is read within a unit of work of the same task.
    #[must_use]
    pub fn is_in_unit_of_work(&self) -> bool {
        self.joined().is_some()
    }
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context")
            .field("principal", &self.principal.display_name())
            .field("correlation", &self.correlation)
            .finish_non_exhaustive()
    }
}
