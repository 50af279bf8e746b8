//! The worker `outbox`: decides when which lane walks.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use svc_core::{Clock, Result, Worker, micros};
use time::OffsetDateTime;
use tokio::task::{JoinError, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::WAKE_TOPIC;
use crate::handling::Processor;

/// How often messages of unknown handlers are looked for.
const TIDY_INTERVAL: Duration = Duration::from_hours(1);

/// How long handlers may go on with their batch when the application stops.
const GRACE: Duration = Duration::from_secs(5);

/// Runs the lanes of the outbox on this node.
pub(crate) struct OutboxWorker(pub(crate) Arc<Processor>);

#[async_trait]
impl Worker for OutboxWorker {
    fn name(&self) -> &'static str {
        "outbox"
    }

    async fn run(&self, stop: CancellationToken) -> Result<()> {
        // What stops the lanes when one of them fails, or the application stops.
        let halt = stop.child_token();
        let mut lanes = Lanes::new(Arc::clone(&self.0), halt.clone());
        let outcome = lanes.run().await;
        halt.cancel();
        lanes.end().await;
        outcome
    }

    async fn drain(&self) -> Result<usize> {
        self.0.bury_unknown().await?;
        let never = CancellationToken::new();
        let mut worked = 0;
        for outlook in self.0.look().await? {
            if outlook.is_due {
                worked += self.0.walk(outlook.lane, &never).await?;
            }
        }
        Ok(worked)
    }
}

type LaneEnd = (usize, Result<usize>);

/// The lanes that walk at the moment.
struct Lanes {
    processor: Arc<Processor>,
    halt: CancellationToken,
    tasks: JoinSet<LaneEnd>,
    walking: BTreeSet<usize>,
    /// When the first message becomes due that isn't yet.
    next: Option<OffsetDateTime>,
}

impl Lanes {
    fn new(processor: Arc<Processor>, halt: CancellationToken) -> Self {
        Self { processor, halt, tasks: JoinSet::new(), walking: BTreeSet::new(), next: None }
    }

    async fn run(&mut self) -> Result<()> {
        let app = self.processor.app()?;
        let wake = app.wakes().topic(WAKE_TOPIC);
        let poll = self.processor.settings().poll_interval;
        let mut tidy_at = Instant::now();
        loop {
            if Instant::now() >= tidy_at {
                self.processor.bury_unknown().await?;
                tidy_at = Instant::now() + TIDY_INTERVAL;
            }
            self.start_due().await?;
            let poll_at = Instant::now() + poll;
            loop {
                // A lane that walked in vain found its messages taken by another node: looking
                // at once would find the same, so it waits for a wake-up like the others.
                tokio::select! {
                    () = self.halt.cancelled() => return Ok(()),
                    () = wake.notified() => break,
                    () = due(app.clock(), self.next) => break,
                    () = tokio::time::sleep_until(poll_at) => break,
                    Some(end) = self.tasks.join_next() => {
                        if self.lane_ended(end)? {
                            break;
                        }
                    }
                }
            }
        }
    }

    /// Lets what was begun finish, for a while; what is dropped then is rolled back, and handled by
    /// another node or after the next start.
    async fn end(&mut self) {
        let all = async { while self.tasks.join_next().await.is_some() {} };
        if tokio::time::timeout(GRACE, all).await.is_err() {
            tracing::info!("handing back messages whose handlers take long");
            self.tasks.shutdown().await;
        }
    }

    /// Starts a walk in each lane that has something due.
    async fn start_due(&mut self) -> Result<()> {
        let outlooks = self.processor.look().await?;
        let next = outlooks.iter().filter_map(|outlook| outlook.next_us).min();
        self.next = next.map(micros::to_time);
        for outlook in outlooks.iter().filter(|outlook| outlook.is_due) {
            let lane = outlook.lane;
            if !self.walking.insert(lane) {
                self.processor.note_passed(lane);
                continue;
            }
            let (processor, halt) = (Arc::clone(&self.processor), self.halt.clone());
            self.tasks.spawn(async move { (lane, processor.walk(lane, &halt).await) });
        }
        Ok(())
    }

    /// Whether it makes sense to look again now that a walk has ended.
    fn lane_ended(&mut self, end: Result<LaneEnd, JoinError>) -> Result<bool> {
        let (lane, outcome) = match end {
            Ok(end) => end,
            // Handlers' panics are caught, so this one is ours; the supervisor starts anew.
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => return Ok(false),
            },
        };
        self.walking.remove(&lane);
        let was_passed = self.processor.take_passed(lane);
        Ok(outcome? > 0 || was_passed)
    }
}

/// Waits until a time; for ever when there is none.
async fn due(clock: &Clock, time: Option<OffsetDateTime>) {
    match time {
        Some(time) => clock.sleep_until(time).await,
        None => std::future::pending().await,
    }
}
