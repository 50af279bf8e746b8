//! The statements on the queue, for either database.
//!
//! Lists of rows travel as a table `r` (`svc_database::RowTable`), so that each statement has few texts,
//! whatever the number of rows. `{…}` in these texts is filled in here, never with data.

use svc_database::{Backend, CellKind, FirstOfEach};

use super::ORGANISATIONS_AT_ONCE;

/// The columns of a claimed job.
const CLAIMED: &str = "q.id, q.kind, q.payload, q.organisation_id, q.attempts, q.max_attempts, \
     q.run_at_us, q.created_at_us, q.watched, q.actor_user_id, q.actor_name, q.actor_scope, \
     q.correlation";

/// The values that leave a row without a lease.
const FREE: &str = "lease_token = NULL, lease_owner = NULL, lease_until_us = NULL, \
     cancel_requested = FALSE";

/// The statements without rows, written for one database.
pub(crate) struct Sql {
    pub(crate) sweep: String,
    /// What is due of organisations behind one, and of the first.
    pub(crate) turns: [String; 2],
}

/// Deletes jobs that ended before a time.
pub(crate) const CLEAN: &str = "DELETE FROM jobs_queue WHERE id IN (SELECT id FROM jobs_queue \
     WHERE state = ? AND finished_at_us < ? ORDER BY finished_at_us LIMIT ?)";

/// The rows of [`insert`].
pub(crate) const NEW: [(&str, CellKind); 4] = [
    ("id", CellKind::Uuid),
    ("organisation", CellKind::Uuid),
    ("payload", CellKind::Text),
    ("key", CellKind::Text),
];

/// The rows of [`claim`].
pub(crate) const CHOSEN: [(&str, CellKind); 1] = [("id", CellKind::Uuid)];

/// The rows of [`delete`].
pub(crate) const LEASED: [(&str, CellKind); 2] =
    [("id", CellKind::Uuid), ("token", CellKind::Uuid)];

/// The rows of [`settle`].
pub(crate) const SETTLED: [(&str, CellKind); 9] = [
    ("id", CellKind::Uuid),
    ("token", CellKind::Uuid),
    ("state", CellKind::SmallInt),
    ("run_at_us", CellKind::BigInt),
    ("returned", CellKind::Integer),
    ("error", CellKind::Text),
    ("told", CellKind::Integer),
    ("percent", CellKind::SmallInt),
    ("message", CellKind::Text),
];

/// The rows of [`progress`].
pub(crate) const PROGRESS: [(&str, CellKind); 4] = [
    ("id", CellKind::Uuid),
    ("token", CellKind::Uuid),
    ("percent", CellKind::SmallInt),
    ("message", CellKind::Text),
];

/// Is true of the row that has already taken a unique key.
pub(crate) const TWIN: &str = "SELECT id FROM jobs_queue \
     WHERE kind = ? AND unique_key = ? AND state IN (0, 1)";

/// Prolongs the leases of a node. A lease that has run out is still the node's as long as no
/// other has taken the job, so it is prolonged too.
pub(crate) const RENEW: &str = "UPDATE jobs_queue SET lease_until_us = ? \
     WHERE state = 1 AND lease_owner = ? RETURNING id, lease_token, cancel_requested";

/// The next time that a job waits for. What is due already is being claimed by other nodes.
pub(crate) const NEXT_DUE: &str = "SELECT run_at_us FROM jobs_queue \
     WHERE state = 0 AND run_at_us > ? ORDER BY run_at_us LIMIT 1";

/// What is due, oldest first.
pub(crate) const DUE: &str = "SELECT id, organisation_id FROM jobs_queue \
     WHERE state = 0 AND run_at_us <= ? ORDER BY run_at_us, id LIMIT ?";

/// What is due of each organisation.
const TURNS: FirstOfEach<'_> = FirstOfEach {
    table: "jobs_queue",
    group: "organisation_id",
    among: "m.state = 0",
    told: Some("m.run_at_us <= ?"),
    order: "m.run_at_us, m.id",
    columns: "turns.id, m.id",
    groups: ORGANISATIONS_AT_ONCE,
};

impl Sql {
    pub(crate) fn of(backend: Backend) -> Self {
        let turns = [true, false].map(|begins_behind| TURNS.sql(backend, begins_behind));
        Self { sweep: sweep(backend), turns }
    }
}

/// Adds jobs; answers with the identifiers of those it added.
pub(crate) fn insert(rows: &str) -> String {
    // Without the WHERE, SQLite would take ON CONFLICT for the condition of a join.
    format!(
        "INSERT INTO jobs_queue (state, attempts, kind, run_at_us, max_attempts, \
         unique_while_running, watched, created_at_us, actor_user_id, actor_name, actor_scope, \
         correlation, id, organisation_id, payload, unique_key) \
         SELECT 0, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, r.id, r.organisation, r.payload, r.key \
         FROM {rows} WHERE TRUE \
         ON CONFLICT (kind, unique_key) WHERE unique_key IS NOT NULL AND state IN (0, 1) \
         DO NOTHING RETURNING id"
    )
}

/// Claims jobs that are due, those that nobody else has claimed meanwhile.
pub(crate) fn claim(backend: Backend, rows: &str) -> String {
    let set = "UPDATE jobs_queue AS q SET state = 1, attempts = q.attempts + 1, lease_token = ?, \
               lease_owner = ?, lease_until_us = ?, progress_percent = NULL, \
               progress_message = NULL, \
               unique_key = CASE WHEN q.unique_while_running THEN q.unique_key END";
    // With a sum, or PostgreSQL would compare all that is due with each of the rows while it believes that little
    // is: what it knows of a queue is often of an empty one.
    let is_due = "state + 0 = 0 AND run_at_us <= ?";
    match backend {
        Backend::Postgres => format!(
            "{set} WHERE q.id = ANY(ARRAY(SELECT id FROM jobs_queue \
             WHERE id = ANY(ARRAY(SELECT r.id FROM {rows})) AND {is_due} \
             FOR UPDATE SKIP LOCKED)) RETURNING {CLAIMED}"
        ),
        Backend::Sqlite => {
            // SQLite knows no table names in RETURNING.
            let claimed = CLAIMED.replace("q.", "");
            format!(
                "{set} WHERE q.id IN (SELECT r.id FROM {rows}) AND {is_due} RETURNING {claimed}"
            )
        }
    }
}

/// Stores what became of claimed jobs.
pub(crate) fn settle(rows: &str) -> String {
    // A job that is to run again, but was cancelled meanwhile, is cancelled.
    let waits = "r.state = 0 AND NOT q.cancel_requested";
    format!(
        "UPDATE jobs_queue AS q SET \
         state = CASE WHEN r.state = 0 AND q.cancel_requested THEN 3 ELSE r.state END, \
         finished_at_us = CASE WHEN {waits} THEN NULL ELSE ? END, \
         run_at_us = COALESCE(r.run_at_us, q.run_at_us), \
         attempts = q.attempts - r.returned, \
         last_error = COALESCE(r.error, q.last_error), \
         progress_percent = CASE WHEN r.told = 1 THEN r.percent ELSE q.progress_percent END, \
         progress_message = CASE WHEN r.told = 1 THEN r.message ELSE q.progress_message END, \
         {FREE} \
         FROM {rows} WHERE q.id = r.id AND q.lease_token = r.token"
    )
}

/// Deletes claimed jobs.
pub(crate) fn delete(backend: Backend, rows: &str) -> String {
    match backend {
        Backend::Postgres => format!(
            "DELETE FROM jobs_queue AS q USING {rows} WHERE q.id = r.id AND q.lease_token = r.token"
        ),
        Backend::Sqlite => format!(
            "DELETE FROM jobs_queue WHERE rowid IN (SELECT q.rowid FROM {rows} \
             CROSS JOIN jobs_queue AS q WHERE q.id = r.id AND q.lease_token = r.token)"
        ),
    }
}

/// Stores how far running jobs are.
pub(crate) fn progress(rows: &str) -> String {
    format!(
        "UPDATE jobs_queue AS q SET progress_percent = r.percent, progress_message = r.message \
         FROM {rows} WHERE q.id = r.id AND q.lease_token = r.token"
    )
}

fn sweep(backend: Backend) -> String {
    let lock = backend.locking(" FOR UPDATE SKIP LOCKED");
    let ends = "cancel_requested OR attempts >= max_attempts";
    format!(
        "UPDATE jobs_queue SET \
         state = CASE WHEN cancel_requested THEN 3 WHEN attempts >= max_attempts THEN 2 ELSE 0 END, \
         finished_at_us = CASE WHEN {ends} THEN ? END, \
         run_at_us = CASE WHEN {ends} THEN run_at_us ELSE ? END, \
         last_error = ?, {FREE} \
         WHERE id IN (SELECT id FROM jobs_queue WHERE state = 1 AND lease_until_us < ? \
         LIMIT 500{lock}) \
         RETURNING id, kind, state"
    )
}
