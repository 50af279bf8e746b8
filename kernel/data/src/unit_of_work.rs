//! One transaction that all writes of a command go through.
//!
//! | Step | Who | What a crash leaves |
//! | --- | --- | --- |
//! | begin | [`Context::transact`] | nothing |
//! | write, raise, publish | the command | nothing: the transaction is open |
//! | commit hooks | outbox, history, jobs: they store rows about what was captured | nothing |
//! | fence | what the work's lease hangs on ([`Fence`]) | nothing |
//! | commit | the database | everything, or nothing |
//! | after commit | wake-ups and [`UnitOfWork::after_commit`] | the rows; a slow poll finds them |
//!
//! A unit of work is a handle: clones are the same transaction. It ends when `transact` does, and
//! a clone that was kept answers with an error from then on.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use futures::future::BoxFuture;
use parking_lot::{Mutex, MutexGuard};
use sea_orm::{ConnectionTrait as _, QueryResult, Statement};
use svc_core::{Actor, Error, Opaque, OrganisationId, Result, opaque};
use svc_database::joined::{self, Joined};
use svc_database::{Backend, Transaction, database_error};
use uuid::Uuid;

use crate::context::{Context, Data};
use crate::record::Change;

mod again;
mod forgetting;
mod refusal;
mod typed;
mod write;

pub(crate) use again::MIGRATION as REMOVED_VERSIONS;
pub(crate) use forgetting::Forgetting;
pub(crate) use typed::model_from;
pub use write::{Expected, NewValues, expect_version};

tokio::task_local! {
    /// The unit of work that this task is in.
    static CURRENT: UnitOfWork;
}

/// Takes part in every commit: stores what must be there if, and only if, the changes are.
#[async_trait]
pub trait CommitHook: Send + Sync + 'static {
    /// Is called before the commit with what was captured since it was last called. What it
    /// changes through the unit of work is captured too, and told in a further round.
    ///
    /// # Errors
    ///
    /// Any error rolls the unit of work back.
    async fn before_commit(&self, uow: &UnitOfWork, captured: &Captured) -> Result<()>;
}

/// Decides right before a commit whether it may still happen: whoever works under a lease may have
/// lost it meanwhile.
#[async_trait]
pub trait Fence: Send + Sync + 'static {
    /// Looks, within the transaction, and holds what it has seen until the commit.
    ///
    /// # Errors
    ///
    /// Any error rolls the unit of work back.
    async fn check(&self, uow: &UnitOfWork) -> Result<()>;
}

/// What a unit of work has captured.
#[derive(Debug, Default)]
pub struct Captured {
    /// The changes of records, in their order.
    pub changes: Vec<Change>,
    /// The events, in their order.
    pub events: Vec<RaisedEvent>,
}

impl Captured {
    fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.events.is_empty()
    }
}

/// An event that was raised within a unit of work.
#[derive(Clone, Debug)]
pub struct RaisedEvent {
    /// The registered name, such as `stock.low` or `WorkflowTransitioned`.
    pub name: String,
    /// The organisation it belongs to; none only for the system across organisations.
    pub organisation: Option<OrganisationId>,
    /// Who raised it: the innermost that acted.
    pub actor: Actor,
    /// Its data.
    pub data: serde_json::Value,
}

/// One transaction: reads what it has written, captures what it changes, and stores all or
/// nothing.
#[derive(Clone)]
pub struct UnitOfWork {
    shared: Opaque<Shared>,
    context: Context,
}

struct Shared {
    id: Uuid,
    data: Arc<Data>,
    /// None after the end.
    transaction: Mutex<Option<Arc<Transaction>>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    captured: Captured,
    /// What runs right before the commit.
    last: Vec<Statement>,
    wakes: BTreeSet<&'static str>,
    after_commit: Vec<Box<dyn FnOnce() + Send>>,
    /// Whether commit hooks wrote, too.
    hooks_wrote: bool,
    /// Whether the work must not be done again.
    is_done_once: bool,
}

/// How much was captured when nested work began.
#[derive(Clone, Copy)]
pub(crate) struct Savepoint {
    changes: usize,
    events: usize,
    after_commit: usize,
}

impl UnitOfWork {
    pub(crate) fn begin(context: &Context) -> BoxFuture<'_, Result<Self>> {
        Box::pin(async move {
            let data = Arc::clone(context.data());
            let transaction = Arc::new(context.database().begin().await?);
            let shared = Shared {
                id: context.new_unit_id(),
                data,
                transaction: Mutex::new(Some(transaction)),
                state: Mutex::default(),
            };
            Ok(Self { shared: opaque(shared), context: context.clone() })
        })
    }

    /// Runs `work` in this unit of work: what it writes by way of its contexts, or of the database, is
    /// part of it.
    pub(crate) fn within<F: Future>(&self, work: F) -> impl Future<Output = F::Output> + use<F> {
        let database = self.shared.data.database.clone();
        let work = joined::within(database, Arc::new(self.clone()), work);
        CURRENT.scope(self.clone(), work)
    }

    /// The unit of work that this task is in.
    pub(crate) fn current() -> Option<Self> {
        CURRENT.try_with(Clone::clone).ok()
    }

    pub(crate) fn is_of(&self, data: &Arc<Data>) -> bool {
        Arc::ptr_eq(&self.shared.data, data)
    }

    /// The same transaction, seen by another context.
    pub(crate) fn seen_by(&self, context: &Context) -> Self {
        Self { shared: Arc::clone(&self.shared), context: context.clone() }
    }

    /// What tells this unit of work apart from all others; nested ones are parts of it.
    #[must_use]
    pub fn id(&self) -> Uuid {
        self.shared.id
    }

    /// Who acts. Queries and nested commands through this context are part of the unit of work.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// The transaction, for what the unit of work doesn't offer. What is written through it
    /// directly is *not observed*: no event, no history, no organisation filter.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Internal`](svc_core::ErrorKind::Internal) after the unit of work has ended;
    /// [`ErrorKind::Unavailable`](svc_core::ErrorKind::Unavailable) after a statement of it took
    /// too long.
    pub fn transaction(&self) -> Result<Arc<Transaction>> {
        let transaction = self.shared.transaction.lock().clone().ok_or_else(ended)?;
        self.shared.data.database.check_transaction()?;
        Ok(transaction)
    }

    /// Raises an event under its registered name; the outbox stores it with the changes.
    pub fn raise(&self, name: impl Into<String>, data: serde_json::Value) {
        let organisation = self.context.principal().organisation();
        let actor = self.context.principal().actor();
        let event = RaisedEvent { name: name.into(), organisation, actor, data };
        self.state().captured.events.push(event);
    }

    /// Wakes whoever waits for `topic` once the commit has happened.
    pub fn wake_after_commit(&self, topic: &'static str) {
        self.state().wakes.insert(topic);
    }

    /// Runs `work` once the commit has happened. A crash in between loses it, so this is for
    /// what only concerns this process, such as a cache.
    pub fn after_commit(&self, work: impl FnOnce() + Send + 'static) {
        self.state().after_commit.push(Box::new(work));
    }

    /// Says that what follows must not be done again when the unit of work fails, since it isn't
    /// only stored: it asks or tells somebody outside of the database.
    pub fn do_once(&self) {
        self.state().is_done_once = true;
    }

    pub(crate) fn is_done_once(&self) -> bool {
        self.state().is_done_once
    }

    /// Runs a statement that answers with rows.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    #[must_use]
    pub fn rows(&self, statement: Statement) -> BoxFuture<'_, Result<Vec<QueryResult>>> {
        Box::pin(async move {
            self.transaction()?.query_all_raw(statement).await.map_err(database_error)
        })
    }

    /// As [`UnitOfWork::rows`], of which only the first is of interest.
    pub(crate) fn row(&self, statement: Statement) -> BoxFuture<'_, Result<Option<QueryResult>>> {
        Box::pin(async move {
            self.transaction()?.query_one_raw(statement).await.map_err(database_error)
        })
    }

    /// Runs a statement and says how many rows it touched. Not observed.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    #[must_use]
    pub fn execute(&self, statement: Statement) -> BoxFuture<'_, Result<u64>> {
        Box::pin(async move {
            let outcome = self.transaction()?.execute_raw(statement).await;
            outcome.map(|outcome| outcome.rows_affected()).map_err(database_error)
        })
    }

    /// Waits until no other unit of work that named this number is under way, and keeps others waiting until this one ends. What is
    /// read after it isn't older than what any of them wrote. SQLite has one writer anyway.
    ///
    /// Numbers are of all modules together: take one that nobody else happens on, such as a word in ASCII.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn take_turn(&self, number: i64) -> Result<()> {
        let database = self.context.database();
        if database.backend() == Backend::Postgres {
            let sql = "SELECT 1 FROM pg_advisory_xact_lock(?)";
            self.rows(database.statement(sql, [number.into()])).await?;
        }
        Ok(())
    }

    /// Runs a statement of a commit hook whose outcome nobody needs: right before the commit, or before
    /// the next round of hooks, and on SQLite in one message with the COMMIT. Not observed.
    ///
    /// A fault of it rolls the unit of work back.
    pub fn execute_last(&self, statement: Statement) {
        self.state().last.push(statement);
    }

    /// Runs what was left to the commit, for whoever may read it before.
    async fn execute_left(&self) -> Result<()> {
        let last = std::mem::take(&mut self.state().last);
        for statement in last {
            self.execute(statement).await?;
        }
        Ok(())
    }

    /// Whether commit hooks changed records as well: then a record that was answered before the
    /// commit may not be what is stored. Before the commit nobody knows, and it is false.
    #[must_use]
    pub fn hooks_wrote(&self) -> bool {
        self.state().hooks_wrote
    }

    pub(crate) fn capture(&self, change: Change) {
        self.state().captured.changes.push(change);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock()
    }

    pub(crate) fn begin_nested(&self) -> BoxFuture<'_, Result<Savepoint>> {
        Box::pin(async move {
            self.transaction()?.begin_nested().await?;
            let state = self.state();
            Ok(Savepoint {
                changes: state.captured.changes.len(),
                events: state.captured.events.len(),
                after_commit: state.after_commit.len(),
            })
        })
    }

    pub(crate) fn end_nested(
        &self,
        savepoint: Savepoint,
        succeeded: bool,
    ) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            let Some(transaction) = self.shared.transaction.lock().clone() else { return Ok(()) };
            // One is held here, another by the unit of work.
            if Arc::strong_count(&transaction) > 2 {
                transaction.spoil().await;
                return Err(still_running());
            }
            let ended = if succeeded {
                transaction.commit_nested().await
            } else {
                transaction.rollback_nested().await
            };
            if !succeeded || ended.is_err() {
                let mut state = self.state();
                state.captured.changes.truncate(savepoint.changes);
                state.captured.events.truncate(savepoint.events);
                state.after_commit.truncate(savepoint.after_commit);
            }
            ended
        })
    }

    pub(crate) fn commit(self) -> BoxFuture<'static, Result<()>> {
        Box::pin(async move {
            let ready = match self.run_hooks().await {
                Ok(()) => self.pass_fence().await,
                Err(error) => Err(error),
            };
            if let Err(error) = ready.and_then(|()| self.shared.data.database.check_transaction()) {
                self.rollback().await;
                return Err(error);
            }
            let transaction = self.shared.transaction.lock().take();
            let Some(transaction) = transaction else { return Ok(()) };
            let transaction = Arc::into_inner(transaction).ok_or_else(still_running)?;
            let last = std::mem::take(&mut self.state().last);
            transaction.commit_after(last).await?;
            let (wakes, after_commit) = {
                let mut state = self.state();
                (std::mem::take(&mut state.wakes), std::mem::take(&mut state.after_commit))
            };
            for work in after_commit {
                work();
            }
            for topic in wakes {
                self.context.app().wakes().call(topic);
            }
            Ok(())
        })
    }

    async fn pass_fence(&self) -> Result<()> {
        match self.context.fence() {
            Some(fence) => fence.check(self).await,
            None => Ok(()),
        }
    }

    async fn run_hooks(&self) -> Result<()> {
        for round in 0..10 {
            let captured = std::mem::take(&mut self.state().captured);
            if captured.is_empty() {
                return Ok(());
            }
            if round > 0 {
                self.state().hooks_wrote = true;
                self.execute_left().await?;
            }
            for hook in &self.shared.data.commit_hooks {
                hook.before_commit(self, &captured).await?;
            }
        }
        Err(Error::internal("commit hooks change records again and again; one must stop"))
    }

    pub(crate) fn rollback(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let transaction = self.shared.transaction.lock().take();
            let Some(transaction) = transaction.and_then(Arc::into_inner) else { return };
            // A transaction that can't even be rolled back is gone with its connection.
            if let Err(error) = transaction.rollback().await {
                tracing::debug!(error = error.report(), "a rollback failed");
            }
        })
    }
}

#[async_trait]
impl Joined for UnitOfWork {
    async fn execute(&self, statement: Statement) -> Result<u64> {
        Self::execute(self, statement).await
    }

    async fn rows(&self, statement: Statement) -> Result<Vec<QueryResult>> {
        Self::rows(self, statement).await
    }
}

fn ended() -> Error {
    Error::internal("the unit of work has ended; begin another")
}

fn still_running() -> Error {
    Error::internal("the unit of work ended while a statement of it was still running")
}
