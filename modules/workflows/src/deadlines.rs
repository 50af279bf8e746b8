//! What happens by itself while a record is in a state: a reminder, a deadline that widens who may act, a transition that
//! the application takes.
//!
//! ```text
//! a step into the state ──► the end of each term, by the organisation's calendar: a timer each, same transaction
//! every minute the job `workflows.keep_deadlines`: each timer whose time has come, within its organisation, in a unit of work of its own
//!     remind     ──► `WorkflowReminded` is raised
//!     escalate   ──► the instance is escalated, whose turn it is is stored anew, `WorkflowOverdue` is raised
//!     automatic  ──► the system takes the transition
//! a step out of the state, or the end of the record ──► its timers are gone
//! ```
//!
//! A timer goes in the unit of work that does what it stands for, which holds the record: whoever moves the record first takes its
//! timers along, and a crash leaves them to be done again. One that can't be done now (the condition of its transition doesn't
//! hold, the record is deleted softly, another module refuses) is put off by an hour, so that it holds up no other.

use serde::{Deserialize, Serialize};
use svc_core::{Error, ErrorKind, Result, micros};
use svc_data::{Context, UnitOfWork};
use svc_events::Publish as _;
use svc_jobs::{Job, JobContext, JobError};

use crate::calendar::{Calendar, Term};
use crate::definition::State;
use crate::engine::WorkflowEngine;
use crate::errors::is_refusal;
use crate::events::{WorkflowOverdue, WorkflowReminded};
use crate::store::{self, Timer, TimerKind};
use crate::subject::Subject;

/// How many timers are asked for at once.
const AT_ONCE: u64 = 100;

/// How long what can't be done now is put off, in microseconds.
const PUT_OFF_US: i64 = 60 * 60 * 1_000_000;

/// The job that does what the time has come for.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct KeepDeadlines {}

impl Job for KeepDeadlines {
    const NAME: &'static str = "workflows.keep_deadlines";
}

/// What is to happen to a record in its state, in microseconds since 1970.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Deadlines {
    pub(crate) due_us: Option<i64>,
    pub(crate) timers: Vec<(TimerKind, i64)>,
}

impl Deadlines {
    /// Those of a record that comes into a state now.
    pub(crate) async fn of(ctx: &Context, state: Option<&State>) -> Result<Self> {
        Self::since(ctx, state, ctx.clock().now_us()).await
    }

    /// Those of a record that came into a state then, in microseconds since 1970.
    pub(crate) async fn since(ctx: &Context, state: Option<&State>, at_us: i64) -> Result<Self> {
        let Some(state) = state.filter(|state| state.is_timed()) else {
            return Ok(Self::default());
        };
        let terms = [state.due_in, state.reminds_after, state.automatic_term()];
        let by_calendar = terms.iter().any(|term| matches!(term, Some(Term::WorkingDays(_))));
        let calendar = if by_calendar { Calendar::of(ctx).await? } else { Calendar::default() };
        let [due, remind, automatic] =
            terms.map(|term| term.map(|term| calendar.end_us(at_us, term)));
        let kinds = [TimerKind::Remind, TimerKind::Escalate, TimerKind::Automatic];
        let timers = kinds.into_iter().zip([remind, due, automatic]);
        let timers = timers.filter_map(|(kind, at_us)| Some((kind, at_us?))).collect();
        Ok(Self { due_us: due, timers })
    }
}

/// Runs the job. One that was interrupted finds what is left.
pub(crate) async fn keep_deadlines(job: JobContext, _: KeepDeadlines) -> Result<(), JobError> {
    let engine = job.app().service::<WorkflowEngine>()?;
    loop {
        job.check_interruption()?;
        let timers = store::timers(job.context(), AT_ONCE).await?;
        for timer in &timers {
            keep(&job.in_organisation(timer.organisation)?, &engine, timer).await?;
        }
        if timers.len() < usize::try_from(AT_ONCE).unwrap_or(usize::MAX) {
            return Ok(());
        }
    }
}

/// Does what a timer stands for, or puts it off.
async fn keep(ctx: &Context, engine: &WorkflowEngine, timer: &Timer) -> Result<()> {
    let done = ctx.transact(async |uow| engine.ring(&uow, timer).await).await;
    let error = match done {
        Ok(()) => return Ok(()),
        // Nothing can be stored now; the next run finds it.
        Err(error) if error.kind() == ErrorKind::Unavailable => return Err(error),
        Err(error) => error,
    };
    let (set, record, kind) = (&timer.set, timer.id, timer.kind.as_str());
    let reason = error.report();
    if is_refusal(error.kind()) {
        tracing::info!(set, %record, kind, reason, "a deadline was put off by an hour");
    } else {
        tracing::warn!(set, %record, kind, reason, "a deadline failed, and was put off by an hour");
    }
    let later_us = ctx.clock().now_us() + PUT_OFF_US;
    ctx.transact(async |uow| store::put_off(&uow, timer, later_us).await).await
}

impl WorkflowEngine {
    async fn ring(&self, uow: &UnitOfWork, timer: &Timer) -> Result<()> {
        let ctx = uow.context();
        let subject = self.locked(uow, &timer.set, timer.id).await?;
        // Whoever was faster has moved it, and taken its timers out.
        if !store::take_timer(uow, timer).await? {
            return Ok(());
        }
        let set = timer.set.clone();
        let state = subject.instance.state.clone();
        let due = subject.instance.due_us.map(micros::to_time);
        match timer.kind {
            TimerKind::Remind => uow.raise_domain(WorkflowReminded {
                entity_type: set,
                entity_id: timer.id,
                state,
                due,
            }),
            TimerKind::Escalate => {
                escalate(uow, subject).await?;
                uow.raise_domain(WorkflowOverdue {
                    entity_type: set,
                    entity_id: timer.id,
                    state,
                    due,
                })
            }
            TimerKind::Automatic => {
                let missing = || Error::internal("an automatic transition is missing");
                let transition = subject.automatic().ok_or_else(missing)?;
                self.take(ctx, &timer.set, timer.id, &transition.name, None).await
            }
        }
    }
}

/// Widens whose turn it is.
async fn escalate(uow: &UnitOfWork, mut subject: Subject) -> Result<()> {
    subject.instance.is_escalated = true;
    let (place, instance) = (subject.place(uow.context())?, &subject.instance);
    store::escalate(uow, place).await?;
    let had = Some(instance.claims);
    store::claim(uow, place, instance.stay(), &subject.claims(), had).await
}
