//! Keeps the application's clock at the database's, all the time.
//!
//! Once it follows PostgreSQL's, the clock counts by the machine's monotonic time, so that no step of
//! the machine's wall clock moves it. What is left is drift, and the time that a machine was asleep,
//! which monotonic time leaves out:
//!
//! | What happens | The database is asked |
//! | --- | --- |
//! | [`INTERVAL`] is over | once more |
//! | wall and monotonic time went apart by [`APART`] since they were last compared | at once |
//! | it couldn't be asked | again in [`LOOK`] |

use std::time::{Duration, Instant};

use async_trait::async_trait;
use svc_core::{Clock, Result, Worker};
use tokio_util::sync::CancellationToken;

use crate::database::Database;

/// How often the database is asked.
const INTERVAL: Duration = Duration::from_mins(1);

/// How often wall and monotonic time are compared.
const LOOK: Duration = Duration::from_secs(1);

/// How far they may go apart meanwhile.
const APART: time::Duration = time::Duration::milliseconds(500);

/// Follows the database's clock.
pub struct FollowClock {
    database: Database,
    clock: Clock,
}

impl FollowClock {
    /// Makes `clock` follow that of `database`.
    #[must_use]
    pub fn new(database: Database, clock: Clock) -> Self {
        Self { database, clock }
    }
}

#[async_trait]
impl Worker for FollowClock {
    fn name(&self) -> &'static str {
        "clock"
    }

    async fn run(&self, stop: CancellationToken) -> Result<()> {
        let wall = Clock::system();
        let mut asked = Instant::now();
        let mut before = (wall.now(), Instant::now());
        let mut is_due = false;
        loop {
            tokio::select! {
                () = stop.cancelled() => return Ok(()),
                () = tokio::time::sleep(LOOK) => {}
            }
            let now = (wall.now(), Instant::now());
            is_due |= asked.elapsed() >= INTERVAL || have_gone_apart(before, now);
            before = now;
            if !is_due {
                continue;
            }
            match self.database.synchronise(&self.clock).await {
                Ok(()) => (is_due, asked) = (false, Instant::now()),
                Err(error) => {
                    tracing::debug!(
                        error = error.report(),
                        "the database can't be asked for its time"
                    );
                }
            }
        }
    }
}

/// Whether the wall clock went another way than time did.
fn have_gone_apart(
    before: (time::OffsetDateTime, Instant),
    now: (time::OffsetDateTime, Instant),
) -> bool {
    let apart = (now.0 - before.0) - (now.1 - before.1);
    apart.abs() >= APART
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_of_the_wall_clock_is_noticed_in_either_direction() {
        let (wall, begun) = (time::OffsetDateTime::UNIX_EPOCH, Instant::now());
        let at = |wall_ms, real_ms| {
            let now = begun + Duration::from_millis(real_ms);
            have_gone_apart((wall, begun), (wall + time::Duration::milliseconds(wall_ms), now))
        };
        assert!(!at(1_000, 1_000) && !at(1_100, 1_000));
        assert!(at(61_000, 1_000) && at(-60_000, 1_000));
    }
}
