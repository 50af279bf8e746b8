//! The queue as a table: the only part that knows SQL.

use std::sync::Arc;

use sea_orm::{QueryResult, Statement, Value};
use svc_core::{Actor, Error, OrganisationId, Result, UserId};
use svc_database::{Cell, Database, ROWS_AT_ONCE, RowTable, column};
use uuid::Uuid;

use crate::enqueuer::Enqueuer;
use crate::job::{JobId, JobState};
use crate::progress::Progress;

mod sql;
#[cfg(test)]
mod tests;

pub(crate) use sql::TWIN;
use sql::{CLEAN, NEXT_DUE, RENEW, Sql};

/// Organisations whose due jobs one statement reads.
const ORGANISATIONS_AT_ONCE: usize = 64;

/// How many rows are cleaned away in one statement.
pub(crate) const CLEAN_BATCH: i64 = 1_000;

/// Reads and moves the rows of the queue. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Store {
    database: Database,
    sql: Arc<Sql>,
}

/// What proves that a node runs a job: only the claim with this token may settle it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Lease {
    pub(crate) id: JobId,
    pub(crate) token: Uuid,
}

/// A job that this node has claimed.
pub(crate) struct Claimed {
    pub(crate) lease: Lease,
    pub(crate) kind: String,
    pub(crate) payload: String,
    pub(crate) organisation: Option<OrganisationId>,
    pub(crate) attempt: u32,
    pub(crate) max_attempts: u32,
    pub(crate) run_at_us: i64,
    pub(crate) created_at_us: i64,
    pub(crate) watched: bool,
    pub(crate) enqueuer: Enqueuer,
    pub(crate) correlation: Uuid,
}

/// A job that is due; another node may claim it meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Due {
    pub(crate) id: JobId,
    pub(crate) organisation: Option<OrganisationId>,
}

/// What is due of some organisations, the oldest of each first.
pub(crate) struct DueByTurns {
    pub(crate) by_organisation: Vec<Vec<Due>>,
    /// The last organisation that was looked at; none when no further one has anything that waits.
    pub(crate) behind: Option<Uuid>,
}

/// Who claims, and until when.
#[derive(Clone, Copy)]
pub(crate) struct Claim {
    pub(crate) owner: Uuid,
    pub(crate) token: Uuid,
    pub(crate) now_us: i64,
    pub(crate) until_us: i64,
}

/// A lease that was prolonged.
pub(crate) struct Renewed {
    pub(crate) lease: Lease,
    pub(crate) cancel_requested: bool,
}

/// What becomes of a claimed job.
pub(crate) struct Settlement {
    pub(crate) lease: Lease,
    pub(crate) to: Settled,
    /// What the job said last, where that isn't stored yet.
    pub(crate) progress: Option<Progress>,
}

pub(crate) enum Settled {
    /// Finished, and nobody watches: nothing is left.
    Deleted,
    /// Stays, in this state.
    Kept {
        state: JobState,
        /// When it runs again; none leaves the time as it is.
        run_at_us: Option<i64>,
        /// Whether the attempt doesn't count.
        handed_back: bool,
        error: Option<String>,
    },
}

/// A job that was taken from a node which is gone.
pub(crate) struct Swept {
    pub(crate) id: JobId,
    pub(crate) kind: String,
    pub(crate) state: JobState,
}

impl Settlement {
    /// The row of a job that stays; none of one that is deleted.
    fn cells(&self) -> Option<[Cell<'_>; 9]> {
        let Settled::Kept { state, run_at_us, handed_back, error } = &self.to else { return None };
        let progress = self.progress.as_ref();
        Some([
            self.lease.id.0.into(),
            self.lease.token.into(),
            state.code().into(),
            (*run_at_us).into(),
            (*handed_back).into(),
            error.as_deref().into(),
            progress.is_some().into(),
            progress.and_then(|progress| progress.percent).map(i16::from).into(),
            progress.and_then(|progress| progress.message.as_deref()).into(),
        ])
    }
}

impl Store {
    pub(crate) fn new(database: Database) -> Self {
        let sql = Arc::new(Sql::of(database.backend()));
        Self { database, sql }
    }

    pub(crate) fn database(&self) -> &Database {
        &self.database
    }

    /// The statement that adds jobs; it answers with the identifiers of those it added.
    pub(crate) fn insert<'a>(
        &self,
        values: impl IntoIterator<Item = Value>,
        rows: impl IntoIterator<Item = [Cell<'a>; 4]>,
    ) -> Statement {
        let RowTable { sql, values: rows } =
            RowTable::new(self.database.backend(), &sql::NEW, rows);
        self.database.statement(&sql::insert(&sql), values.into_iter().chain(rows))
    }

    async fn rows(&self, statement: Statement) -> Result<Vec<QueryResult>> {
        self.database.execute_returning(statement).await
    }

    async fn execute(&self, statement: Statement) -> Result<u64> {
        self.database.execute(statement).await
    }

    /// What is due, oldest first, so many at most.
    pub(crate) async fn due(&self, now_us: i64, limit: usize) -> Result<Vec<Due>> {
        let values = [now_us.into(), as_limit(limit)];
        let read = |row: &QueryResult| {
            let organisation = OrganisationId::unless_nil(column(row, 1)?);
            Ok(Due { id: JobId(column(row, 0)?), organisation })
        };
        let rows = self.database.rows(self.database.statement(sql::DUE, values)).await?;
        rows.iter().map(read).collect()
    }

    /// What is due of the next organisations behind one, so many jobs of each at most.
    pub(crate) async fn turns(
        &self,
        behind: Option<Uuid>,
        now_us: i64,
        limit: usize,
    ) -> Result<DueByTurns> {
        let [from_behind, from_start] = &self.sql.turns;
        let sql = if behind.is_some() { from_behind } else { from_start };
        let values = [behind.unwrap_or_default().into(), now_us.into(), as_limit(limit)];
        let mut by_organisation = Vec::new();
        let mut last = (0, Uuid::nil());
        for row in self.database.rows(self.database.statement(sql, values)).await? {
            let number: i32 = column(&row, 0)?;
            if number != last.0 {
                last = (number, column(&row, 1)?);
                by_organisation.push(Vec::new());
            }
            let id: Option<Uuid> = column(&row, 2)?;
            if let (Some(id), Some(due)) = (id, by_organisation.last_mut()) {
                let organisation = OrganisationId::unless_nil(last.1);
                due.push(Due { id: JobId(id), organisation });
            }
        }
        let is_full = by_organisation.len() == ORGANISATIONS_AT_ONCE;
        Ok(DueByTurns { by_organisation, behind: is_full.then_some(last.1) })
    }

    /// Claims jobs that are still due.
    pub(crate) async fn claim(&self, claim: Claim, due: &[Due]) -> Result<Vec<Claimed>> {
        let mut claimed: Vec<Claimed> = Vec::with_capacity(due.len());
        for part in due.chunks(ROWS_AT_ONCE) {
            for row in self.rows(self.claim_statement(claim, part)).await? {
                claimed.push(read_claimed(&row, claim.token)?);
            }
        }
        // The order in which rows come back from an update is nobody's promise.
        claimed.sort_unstable_by_key(|job| (job.run_at_us, job.lease.id));
        Ok(claimed)
    }

    fn claim_statement(&self, claim: Claim, due: &[Due]) -> Statement {
        let backend = self.database.backend();
        let rows = due.iter().map(|due| [due.id.0.into()]);
        let RowTable { sql, values } = RowTable::new(backend, &sql::CHOSEN, rows);
        let set = [claim.token.into(), claim.owner.into(), claim.until_us.into()];
        let values = set.into_iter().chain(values).chain([claim.now_us.into()]);
        self.database.statement(&sql::claim(backend, &sql), values)
    }

    /// The next time that a job waits for.
    pub(crate) async fn next_due_us(&self, now_us: i64) -> Result<Option<i64>> {
        let statement = self.database.statement(NEXT_DUE, [now_us.into()]);
        let rows = self.database.rows(statement).await?;
        rows.first().map(|row| column(row, 0)).transpose()
    }

    /// Prolongs all leases of a node.
    pub(crate) async fn renew(&self, owner: Uuid, until_us: i64) -> Result<Vec<Renewed>> {
        let statement = self.database.statement(RENEW, [until_us.into(), owner.into()]);
        let read = |row: &QueryResult| {
            let lease = Lease { id: JobId(column(row, 0)?), token: column(row, 1)? };
            Ok(Renewed { lease, cancel_requested: column(row, 2)? })
        };
        self.rows(statement).await?.iter().map(read).collect()
    }

    /// Stores what became of claimed jobs. A job whose lease was lost meanwhile is left alone.
    pub(crate) async fn settle(&self, settlements: &[Settlement], now_us: i64) -> Result<()> {
        let is_deleted = |one: &&Settlement| matches!(one.to, Settled::Deleted);
        let deleted: Vec<Lease> =
            settlements.iter().filter(is_deleted).map(|one| one.lease).collect();
        for part in deleted.chunks(ROWS_AT_ONCE) {
            self.execute(self.delete_statement(part)).await?;
        }
        let kept: Vec<[Cell<'_>; 9]> = settlements.iter().filter_map(Settlement::cells).collect();
        for part in kept.chunks(ROWS_AT_ONCE) {
            self.execute(self.settle_statement(part, now_us)).await?;
        }
        Ok(())
    }

    fn delete_statement(&self, leases: &[Lease]) -> Statement {
        let backend = self.database.backend();
        let rows = leases.iter().map(|lease| [lease.id.0.into(), lease.token.into()]);
        let RowTable { sql, values } = RowTable::new(backend, &sql::LEASED, rows);
        self.database.statement(&sql::delete(backend, &sql), values)
    }

    fn settle_statement(&self, kept: &[[Cell<'_>; 9]], now_us: i64) -> Statement {
        let backend = self.database.backend();
        let rows = kept.iter().cloned();
        let RowTable { sql, values } = RowTable::new(backend, &sql::SETTLED, rows);
        let values = std::iter::once(now_us.into()).chain(values);
        self.database.statement(&sql::settle(&sql), values)
    }

    /// Stores how far running jobs are.
    pub(crate) async fn store_progress(&self, progress: &[(Lease, Progress)]) -> Result<()> {
        for part in progress.chunks(ROWS_AT_ONCE) {
            self.execute(self.progress_statement(part)).await?;
        }
        Ok(())
    }

    fn progress_statement(&self, progress: &[(Lease, Progress)]) -> Statement {
        let rows = progress.iter().map(|(lease, Progress { percent, message })| {
            let percent = percent.map(i16::from);
            let message = message.as_deref();
            [lease.id.0.into(), lease.token.into(), percent.into(), message.into()]
        });
        let RowTable { sql, values } = RowTable::new(self.database.backend(), &sql::PROGRESS, rows);
        self.database.statement(&sql::progress(&sql), values)
    }

    /// Takes jobs from nodes whose leases have run out.
    pub(crate) async fn sweep(&self, now_us: i64) -> Result<Vec<Swept>> {
        let why = "the process that ran the job is gone";
        let values = [now_us.into(), now_us.into(), why.into(), now_us.into()];
        let read = |row: &QueryResult| {
            let state = JobState::from_code(column(row, 2)?)?;
            Ok(Swept { id: JobId(column(row, 0)?), kind: column(row, 1)?, state })
        };
        let rows = self.rows(self.database.statement(&self.sql.sweep, values)).await?;
        rows.iter().map(read).collect()
    }

    /// Deletes jobs that ended before a time, a batch at most, and says how many.
    pub(crate) async fn clean(&self, state: JobState, before_us: i64) -> Result<u64> {
        let values = [state.code().into(), before_us.into(), CLEAN_BATCH.into()];
        self.execute(self.database.statement(CLEAN, values)).await
    }
}

fn as_limit(limit: usize) -> Value {
    i64::try_from(limit).unwrap_or(i64::MAX).into()
}

/// A column that counts.
pub(crate) fn count(row: &QueryResult, index: usize) -> Result<u32> {
    let count: i32 = column(row, index)?;
    u32::try_from(count).map_err(|cause| Error::internal("a negative count").caused_by(cause))
}

/// Who enqueued a job, from three columns beginning at `index`.
pub(crate) fn read_enqueuer(row: &QueryResult, index: usize) -> Result<Enqueuer> {
    let user: Option<Uuid> = column(row, index)?;
    let scope: Option<String> = column(row, index + 2)?;
    let scope = scope.map(|scope| serde_json::from_str(&scope)).transpose();
    let scope = scope.map_err(|cause| {
        Error::internal("the stored scope of an API key can't be read").caused_by(cause)
    })?;
    let display_name = column(row, index + 1)?;
    Ok(Enqueuer { actor: Actor { user: user.map(UserId), display_name }, scope })
}

fn read_claimed(row: &QueryResult, token: Uuid) -> Result<Claimed> {
    Ok(Claimed {
        lease: Lease { id: JobId(column(row, 0)?), token },
        kind: column(row, 1)?,
        payload: column(row, 2)?,
        organisation: OrganisationId::unless_nil(column(row, 3)?),
        attempt: count(row, 4)?,
        max_attempts: count(row, 5)?,
        run_at_us: column(row, 6)?,
        created_at_us: column(row, 7)?,
        watched: column(row, 8)?,
        enqueuer: read_enqueuer(row, 9)?,
        correlation: column(row, 12)?,
    })
}
