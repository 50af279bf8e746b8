//! The loop of one node: settles what has ended, keeps its leases, claims what is due.
//!
//! Everything that touches the queue happens one after the other in [`Runner::step`], so that no
//! two statements of a node meet; only handlers run beside it. What has ended stays in
//! `unsettled` until the database has taken it, so that a database that goes away for a while
//! costs nothing but time.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use svc_core::{App, Backoff, Error, OrganisationId, Principal, Result, micros};
use svc_data::Context;
use tokio::sync::Notify;
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;
use uuid::Uuid;

use super::attempt::{Ended, How, attempt};
use super::places::Places;
use super::settlement::{Attempted, Verdict, hand_back};
use super::turns::Turns;
use crate::context::{JobContext, RunningJob};
use crate::counters::Counted;
use crate::error::JobError;
use crate::fence::LeaseFence;
use crate::interrupt::{Grace, Interrupt, Reason};
use crate::job::JobState;
use crate::progress::ProgressCell;
use crate::registration::JobKind;
use crate::service::{CANCEL_TOPIC, Jobs, PROGRESS_TOPIC, TOPIC};
use crate::settings::JobsSettings;
use crate::store::{CLEAN_BATCH, Claim, Claimed, Lease, Renewed, Settled, Settlement};

/// How long progress is collected before it is stored.
const PROGRESS_PAUSE: Duration = Duration::from_millis(250);

/// How long a node that has more to do than places waits for further places to become free.
const GATHERING: Duration = Duration::from_millis(1);

/// How often ended jobs are looked through, in the clock's time.
const CLEAN_EVERY: Duration = Duration::from_mins(10);

/// Pauses while the database can't be reached.
const PAUSES: Backoff = Backoff { first: Duration::from_millis(250), cap: Duration::from_secs(2) };

/// How often a stopping node tries to settle before it leaves its jobs to their leases.
const LAST_TRIES: u32 = 3;

/// One run of a node.
pub(super) struct Runner {
    app: App,
    jobs: Arc<Jobs>,
    settings: Arc<JobsSettings>,
    /// This run; another one of the same process would not know what this one claimed.
    owner: Uuid,
    tasks: JoinSet<Ended>,
    running: HashMap<Id, Running>,
    unsettled: Vec<Settlement>,
    turns: Turns,
    /// Whether to look who was cancelled.
    renew: bool,
    next_due_us: Option<i64>,
    next_heartbeat_us: i64,
    next_clean_us: i64,
    next_poll: Instant,
    progress_told: Arc<Notify>,
    flush_at: Option<Instant>,
    stopping: bool,
    attempts: usize,
}

/// A job that runs here.
struct Running {
    lease: Lease,
    organisation: Option<OrganisationId>,
    kind: Arc<JobKind>,
    attempted: Attempted,
    interrupt: Interrupt,
    progress: ProgressCell,
}

impl Runner {
    pub(super) fn new(app: App, jobs: Arc<Jobs>) -> Self {
        let settings = app.settings::<JobsSettings>();
        Self {
            owner: app.clock().new_id(),
            tasks: JoinSet::new(),
            running: HashMap::new(),
            unsettled: Vec::new(),
            turns: Turns::new(jobs.store().clone()),
            renew: true,
            next_due_us: None,
            next_heartbeat_us: i64::MIN,
            next_clean_us: i64::MIN,
            next_poll: Instant::now() + settings.poll_interval,
            progress_told: Arc::default(),
            flush_at: None,
            stopping: false,
            attempts: 0,
            app,
            jobs,
            settings,
        }
    }

    /// Runs jobs until `stop`, then finishes or hands back what runs.
    pub(super) async fn serve(mut self, stop: CancellationToken) {
        let mut failures = 0;
        loop {
            if stop.is_cancelled() && !self.stopping {
                self.stopping = true;
                self.running.values().for_each(|job| job.interrupt.ask(Reason::Stopping));
            }
            self.take_ended();
            match self.step().await {
                Ok(()) => failures = 0,
                Err(error) => {
                    failures += 1;
                    let error = error.report();
                    tracing::warn!(failures, error, "the queue of jobs can't be reached");
                    self.pause(PAUSES.delay(failures), &stop).await;
                }
            }
            let idle = self.running.is_empty();
            if self.stopping && idle && self.unsettled.is_empty() {
                return;
            }
            if self.stopping && idle && failures >= LAST_TRIES {
                tracing::error!(
                    jobs = self.unsettled.len(),
                    "what became of some jobs can't be stored; they run again when their leases end"
                );
                return;
            }
            if failures == 0 {
                self.wait(&stop).await;
            }
        }
    }

    /// Runs everything that is due to the end, and says how many attempts that took.
    pub(super) async fn drain(mut self) -> Result<usize> {
        let never = CancellationToken::new();
        loop {
            self.turns.look = true;
            self.step().await?;
            if self.running.is_empty() && self.unsettled.is_empty() && !self.turns.look {
                return Ok(self.attempts);
            }
            self.wait(&never).await;
        }
    }

    async fn step(&mut self) -> Result<()> {
        self.settle().await?;
        let now_us = self.app.clock().now_us();
        if self.renew || now_us >= self.next_heartbeat_us {
            self.heartbeat(now_us).await?;
        }
        if self.flush_at.is_some_and(|at| at <= Instant::now()) {
            self.store_progress().await?;
        }
        if !self.stopping {
            self.claim().await?;
        }
        // What was found to be another's, or of an unknown kind, goes back at once.
        self.settle().await
    }

    /// Stores what became of jobs that have ended.
    async fn settle(&mut self) -> Result<()> {
        if self.unsettled.is_empty() {
            return Ok(());
        }
        let now_us = self.app.clock().now_us();
        self.jobs.store().settle(&self.unsettled, now_us).await?;
        if self.unsettled.iter().any(|settlement| matches!(settlement.to, Settled::Kept { .. })) {
            self.app.wakes().call(PROGRESS_TOPIC);
        }
        for settlement in std::mem::take(&mut self.unsettled) {
            match settlement.to {
                Settled::Kept { state: JobState::Waiting, run_at_us: Some(at_us), .. } => {
                    self.next_due_us = Some(self.next_due_us.map_or(at_us, |due| due.min(at_us)));
                }
                Settled::Kept { state: JobState::Waiting, run_at_us: None, .. } => {
                    // Somebody else may take it over at once.
                    self.app.wakes().call(TOPIC);
                }
                Settled::Kept { .. } | Settled::Deleted => {}
            }
        }
        Ok(())
    }

    /// Claims due jobs for the free places, and starts them.
    async fn claim(&mut self) -> Result<()> {
        let clock = self.app.clock().clone();
        let now_us = clock.now_us();
        let due = self.next_due_us.is_some_and(|due| due <= now_us);
        if self.free() == 0 || !(self.turns.look || due) {
            return Ok(());
        }
        let taken = self.running.values().map(|job| job.organisation);
        let mut places = Places::new(self.free(), taken);
        let chosen = self.turns.choose(now_us, &mut places).await?;
        if !chosen.is_empty() {
            let until_us = now_us.saturating_add(micros::of_span(self.settings.lease));
            let claim = Claim { owner: self.owner, token: clock.new_id(), now_us, until_us };
            let claimed = self.jobs.store().claim(claim, &chosen).await;
            // What wasn't claimed is still due.
            self.turns.look |= claimed.is_err();
            for job in claimed? {
                self.start(job);
            }
        }
        if !self.turns.look {
            self.next_due_us = self.jobs.store().next_due_us(now_us).await?;
        }
        Ok(())
    }

    fn free(&self) -> usize {
        usize::from(self.settings.concurrency).saturating_sub(self.running.len())
    }

    fn start(&mut self, job: Claimed) {
        let Ok(kind) = self.jobs.catalogue().kind(&job.kind).cloned() else {
            return self.postpone(&job);
        };
        let principal = match job.organisation {
            Some(organisation) => Principal::system_in(organisation),
            None => Principal::system(),
        };
        let context = match Context::new(&self.app, Arc::new(principal), job.correlation) {
            Ok(context) => context,
            Err(error) => {
                tracing::error!(error = error.report(), "a job can't be started");
                return self.return_to_queue(job.lease, None);
            }
        };
        let context = context.within_work(job.lease.id.0, Arc::new(LeaseFence(job.lease)));
        let interrupt = Interrupt::default();
        let progress = ProgressCell::new(Arc::clone(&self.progress_told));
        let ctx = JobContext::new(
            context,
            RunningJob {
                id: job.lease.id,
                attempt: job.attempt,
                max_attempts: job.max_attempts,
                enqueued_at: micros::to_time(job.created_at_us),
                enqueuer: job.enqueuer,
                interrupt: interrupt.clone(),
                progress: progress.clone(),
            },
        );
        let span = tracing::info_span!(
            "job",
            job.kind = kind.name,
            job.id = %job.lease.id,
            job.attempt = job.attempt,
            correlation = %job.correlation,
        );
        let grace =
            Grace { cancelled: self.settings.cancel_grace, stopping: self.settings.shutdown_grace };
        let work = attempt(Arc::clone(&kind), ctx, job.payload, interrupt.clone(), grace);
        let task = self.tasks.spawn(work.instrument(span)).id();
        let attempted = Attempted {
            attempt: job.attempt,
            max_attempts: job.max_attempts,
            watched: job.watched,
            backoff: kind.backoff,
            correlation: job.correlation,
            asked: None,
            now_us: 0,
        };
        self.attempts += 1;
        let Claimed { lease, organisation, .. } = job;
        let running = Running { lease, organisation, kind, attempted, interrupt, progress };
        self.running.insert(task, running);
    }

    /// Hands back a job that this release doesn't know. Another node may: while releases change,
    /// soon; when the module was taken out, never. So the older it is, the longer it waits.
    fn postpone(&mut self, job: &Claimed) {
        let now_us = self.app.clock().now_us();
        let age_us = now_us.saturating_sub(job.created_at_us);
        let (minute, day) = (Duration::from_mins(1), Duration::from_hours(24));
        let delay_us = age_us.clamp(micros::of_span(minute), micros::of_span(day));
        tracing::warn!(
            job.kind = job.kind,
            job.id = %job.lease.id,
            delay_s = delay_us / 1_000_000,
            "nobody here runs this kind of job; it is handed back, and looked at again later"
        );
        self.return_to_queue(job.lease, Some(now_us.saturating_add(delay_us)));
    }

    /// Gives a job back as if it had not been claimed.
    fn return_to_queue(&mut self, lease: Lease, run_at_us: Option<i64>) {
        let to = hand_back(run_at_us).to;
        self.unsettled.push(Settlement { lease, to, progress: None });
    }

    /// Notes how a task ended.
    fn ended(&mut self, joined: Result<(Id, Ended), JoinError>) {
        let (task, ended) = match joined {
            Ok(ended) => ended,
            Err(error) => {
                // A handler's own panic is caught, so something that it held panicked when it
                // was dropped.
                let task = error.id();
                let fault = Error::internal("the task of the job broke").caused_by(error);
                let how = How::Returned(Err(JobError::retry(fault)));
                (task, Ended { how, took: Duration::ZERO })
            }
        };
        let Some(job) = self.running.remove(&task) else { return };
        self.turns.place_is_free();
        if job.interrupt.is_abandoned() {
            return;
        }
        let attempted = Attempted {
            asked: job.interrupt.reason(),
            now_us: self.app.clock().now_us(),
            ..job.attempted
        };
        let verdict = attempted.verdict(ended.how);
        report(&job.kind, job.lease, &verdict);
        if let Some(counted) = verdict.counted {
            job.kind.counters.count(counted, ended.took);
        }
        let progress = job.progress.take();
        self.unsettled.push(Settlement { lease: job.lease, to: verdict.to, progress });
    }

    /// Prolongs this node's leases, hears who was cancelled, and takes over from nodes that are
    /// gone. Its own leases come first: after a jump of the clock they have run out as well.
    async fn heartbeat(&mut self, now_us: i64) -> Result<()> {
        let until_us = now_us.saturating_add(micros::of_span(self.settings.lease));
        let renewed = self.jobs.store().renew(self.owner, until_us).await?;
        self.renew = false;
        self.next_heartbeat_us = now_us.saturating_add(micros::of_span(self.settings.heartbeat));
        let cancelled: HashMap<Lease, bool> =
            renewed.iter().map(|renewed| (renewed.lease, renewed.cancel_requested)).collect();
        for job in self.running.values() {
            match cancelled.get(&job.lease) {
                Some(false) => {}
                Some(true) => job.interrupt.ask(Reason::Cancelled),
                None => {
                    let id = job.lease.id;
                    tracing::warn!(job.id = %id, "another node took the job; it is broken off here");
                    job.interrupt.abandon();
                }
            }
        }
        self.hand_back_unknown(&renewed);
        if self.stopping {
            return Ok(());
        }
        for swept in self.jobs.store().sweep(now_us).await? {
            let state = swept.state.as_str();
            tracing::warn!(
                job.kind = swept.kind,
                job.id = %swept.id,
                state,
                "took a job from a node that is gone"
            );
            self.turns.look = true;
        }
        self.clean(now_us).await
    }

    /// Hands back what was claimed in vain: the database did it, but its answer was lost.
    fn hand_back_unknown(&mut self, renewed: &[Renewed]) {
        let known: HashSet<Lease> = self
            .running
            .values()
            .map(|job| job.lease)
            .chain(self.unsettled.iter().map(|settlement| settlement.lease))
            .collect();
        let unknown = renewed.iter().map(|renewed| renewed.lease);
        for lease in unknown.filter(|lease| !known.contains(lease)) {
            tracing::warn!(job.id = %lease.id, "handing back a job whose claim was not answered");
            self.return_to_queue(lease, None);
        }
    }

    /// Deletes what ended long ago.
    async fn clean(&mut self, now_us: i64) -> Result<()> {
        if now_us < self.next_clean_us {
            return Ok(());
        }
        let JobsSettings { finished_retention, dead_retention, .. } = *self.settings;
        let mut full = false;
        for (state, retention) in [
            (JobState::Finished, finished_retention),
            (JobState::Cancelled, finished_retention),
            (JobState::Dead, dead_retention),
        ] {
            if state == JobState::Dead && retention.is_zero() {
                continue;
            }
            let before_us = now_us.saturating_sub(micros::of_span(retention));
            full |= self.jobs.store().clean(state, before_us).await? >= CLEAN_BATCH.unsigned_abs();
        }
        // A batch at a time, so that a long list is no burst of deletes.
        if !full {
            self.next_clean_us = now_us.saturating_add(micros::of_span(CLEAN_EVERY));
        }
        Ok(())
    }

    async fn store_progress(&mut self) -> Result<()> {
        self.flush_at = None;
        let said = |job: &Running| Some((job.lease, job.progress.take()?));
        let said: Vec<_> = self.running.values().filter_map(said).collect();
        if said.is_empty() {
            return Ok(());
        }
        self.jobs.store().store_progress(&said).await?;
        self.app.wakes().call(PROGRESS_TOPIC);
        Ok(())
    }

    /// Waits until there is something to do.
    async fn wait(&mut self, stop: &CancellationToken) {
        let can_claim = !self.stopping && self.free() > 0;
        if self.turns.look && can_claim {
            return;
        }
        let clock = self.app.clock().clone();
        let wake = self.app.wakes().topic(TOPIC);
        let cancelled = self.app.wakes().topic(CANCEL_TOPIC);
        let told = Arc::clone(&self.progress_told);
        let next_due_us = self.next_due_us.filter(|_| can_claim).unwrap_or(i64::MAX);
        let due = micros::to_time(next_due_us.min(self.next_heartbeat_us));
        let flush_at = self.flush_at;
        tokio::select! {
            Some(joined) = self.tasks.join_next_with_id() => {
                self.ended(joined);
                self.gather().await;
            }
            () = wake.notified() => self.turns.look = true,
            () = cancelled.notified() => self.renew = true,
            () = clock.sleep_until(due) => {}
            () = tokio::time::sleep_until(self.next_poll) => {
                self.next_poll = Instant::now() + self.settings.poll_interval;
                self.turns.look = true;
                self.renew |= !self.running.is_empty();
            }
            () = told.notified(), if flush_at.is_none() => {
                self.flush_at = Some(Instant::now() + PROGRESS_PAUSE);
            }
            () = tokio::time::sleep_until(flush_at.unwrap_or(self.next_poll)),
                if flush_at.is_some() => {}
            () = stop.cancelled(), if !self.stopping => {}
        }
    }

    /// Takes in what has ended.
    fn take_ended(&mut self) {
        while let Some(joined) = self.tasks.try_join_next_with_id() {
            self.ended(joined);
        }
    }

    /// Takes in what else has ended, or is about to while more jobs are due: they are settled,
    /// and their places filled, in one statement each.
    async fn gather(&mut self) {
        self.take_ended();
        let until = Instant::now() + GATHERING;
        while self.turns.look && !self.stopping {
            let Ok(Some(joined)) =
                tokio::time::timeout_at(until, self.tasks.join_next_with_id()).await
            else {
                return;
            };
            self.ended(joined);
        }
    }

    /// Waits while the database can't be reached.
    async fn pause(&self, span: Duration, stop: &CancellationToken) {
        tokio::select! {
            () = tokio::time::sleep(span) => {}
            () = stop.cancelled(), if !self.stopping => {}
        }
    }
}

fn report(kind: &JobKind, lease: Lease, verdict: &Verdict) {
    let error = verdict.error.as_ref().map(Error::report);
    match verdict.counted {
        Some(Counted::Failed) => {
            tracing::warn!(job.kind = kind.name, job.id = %lease.id, error, "a job failed, and is tried again");
        }
        Some(Counted::Dead) => {
            tracing::error!(job.kind = kind.name, job.id = %lease.id, error, "a job is dead");
        }
        Some(Counted::Cancelled) => {
            tracing::info!(job.kind = kind.name, job.id = %lease.id, error, "a job was cancelled");
        }
        Some(Counted::Finished) | None => {}
    }
}
