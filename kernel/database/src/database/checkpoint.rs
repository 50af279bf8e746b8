//! Moves what SQLite wrote to its log into the database file, beside the writer.
//!
//! SQLite does so itself, within the commit that finds more than a thousand pages in the log: that
//! commit, and all that wait behind it, take as long as writing these pages to the disk. Here a
//! reading connection does it while the writer goes on:
//!
//! | | |
//! | --- | --- |
//! | work of the writer has ended | it is looked how much of the log isn't in the database yet, at most once in [`PAUSE`] |
//! | that is [`ENOUGH`] | it is moved there, as far as no reader needs the older state (`PASSIVE`) |
//! | all is there, and the writer begins | it writes to the beginning of the log again |
//! | the log reaches [`MOST`] pages, since the writer never paused, a reader stays, or this here failed | the commit moves what is left, as it would have before |
//!
//! So the log stays bounded as it does without this. Two connections at work on one log need the
//! SQLite 3.51.3 that is built in: before it, one that begins the log anew while another moves it could
//! spoil the file (<https://sqlite.org/wal.html#walresetbug>).

use std::sync::Arc;
use std::time::{Duration, Instant};

use sea_orm::{DbBackend, Statement};
use sqlx::Error;
use tokio::sync::Notify;
use tokio::task::JoinSet;

use super::kept::Connections;
use super::statistics;

/// Pages in the log that are worth being moved.
const ENOUGH: i64 = 1_000;

/// Pages in the log from which on the writer moves them itself: 32 MiB.
pub(super) const MOST: u32 = 8_192;

/// How long it isn't looked again.
const PAUSE: Duration = Duration::from_millis(20);

/// The same after a failure: the writer sees to the log meanwhile.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_secs(5);

/// The task that moves the log; it ends when this is dropped.
pub(super) struct Checkpoints {
    _task: JoinSet<()>,
}

impl Checkpoints {
    /// Begins, with connections that read and write; `written` tells that the writer has done
    /// something. What was written may also have outdated the [`statistics`].
    pub(super) fn begin(readers: Connections, writers: Connections, written: Arc<Notify>) -> Self {
        let mut task = JoinSet::new();
        task.spawn(async move {
            let mut gathered = Instant::now();
            loop {
                written.notified().await;
                if gathered.elapsed() >= statistics::PAUSE {
                    if let Err(error) = statistics::gather(&writers).await {
                        tracing::warn!(%error, "SQLite's planner gets no new statistics");
                    }
                    gathered = Instant::now();
                }
                let pause = match look(&readers).await {
                    Ok(()) => PAUSE,
                    Err(Error::PoolClosed) => return,
                    Err(error) => {
                        tracing::warn!(
                            %error,
                            "SQLite's log can't be moved beside the writer, which does it meanwhile"
                        );
                        PAUSE_AFTER_FAILURE
                    }
                };
                tokio::time::sleep(pause).await;
            }
        });
        Self { _task: task }
    }
}

/// Moves the log where there is enough of it.
async fn look(readers: &Connections) -> Result<(), Error> {
    if checkpoint(readers, "NOOP").await? >= ENOUGH {
        checkpoint(readers, "PASSIVE").await?;
    }
    Ok(())
}

/// Makes a checkpoint of a kind, and says how many pages of the log aren't in the database then.
async fn checkpoint(readers: &Connections, kind: &str) -> Result<i64, Error> {
    let mut connection = readers.take(None).await?;
    let sql = format!("PRAGMA wal_checkpoint({kind})");
    let row = connection.row(Statement::from_string(DbBackend::Sqlite, sql)).await?;
    connection.keep();
    let Some(row) = row else { return Ok(0) };
    let column = |index| row.try_get_by_index::<i64>(index).unwrap_or_default();
    Ok(column(1) - column(2))
}
