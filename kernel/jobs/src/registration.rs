//! What a module says about its background work: `registry.job::<…>(…)` and
//! `registry.schedule(…)`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use svc_core::settings::duration;
use svc_core::{Backoff, Error, Registry, Result};

use crate::counters::Counters;
use crate::cron::{Timetable, UTC};
use crate::handler::{JobHandler, StoredJobHandler, check_data, erase};
use crate::job::Job;
use crate::kinds;

/// Attempts of a job whose registration says nothing else.
const MAX_ATTEMPTS: u32 = 10;
/// Delays of a job whose registration says nothing else.
const BACKOFF: Backoff = Backoff { first: Duration::from_secs(15), cap: Duration::from_hours(1) };
/// Time for an attempt of a job whose registration says nothing else.
const TIMEOUT: Duration = Duration::from_hours(1);

/// The words for background work in a module's `configure`.
pub trait JobsRegistry {
    /// Says who runs jobs of a kind.
    ///
    /// The answer is a builder; what it describes takes effect when it is dropped, at the end of
    /// the statement. Without more words a job has 10 attempts, delays from 15 seconds doubling
    /// up to an hour, and an hour for each attempt.
    fn job<J: Job>(&mut self, handler: impl JobHandler<J>) -> JobBuilder<'_>;

    /// Enqueues a job whenever a cron pattern comes, once across all nodes.
    ///
    /// The pattern has six fields (seconds, minutes, hours, day of month, month, day of week) or
    /// five without seconds, in UTC unless [`ScheduleBuilder::time_zone`] says otherwise. Ticks
    /// that were missed while no node ran are made up for by one job, and a tick is left out
    /// while the job of the one before still waits or runs.
    fn schedule<J: Job>(
        &mut self,
        name: &str,
        cron: &str,
        job: impl Fn() -> J + Send + Sync + 'static,
    ) -> ScheduleBuilder<'_>;
}

impl JobsRegistry for Registry {
    fn job<J: Job>(&mut self, handler: impl JobHandler<J>) -> JobBuilder<'_> {
        let kind = JobKind {
            name: J::NAME,
            run: erase(handler),
            check: check_data::<J>,
            max_attempts: MAX_ATTEMPTS,
            backoff: BACKOFF,
            timeout: Some(TIMEOUT),
            counters: Counters::default(),
        };
        JobBuilder { registry: self, kind: Some(kind) }
    }

    fn schedule<J: Job>(
        &mut self,
        name: &str,
        cron: &str,
        job: impl Fn() -> J + Send + Sync + 'static,
    ) -> ScheduleBuilder<'_> {
        let make = move || {
            serde_json::to_string(&job()).map_err(|cause| unserialisable(J::NAME).caused_by(cause))
        };
        ScheduleBuilder {
            registry: self,
            name: name.to_owned(),
            cron: cron.to_owned(),
            zone: UTC.to_owned(),
            job: J::NAME,
            in_each_organisation: false,
            make: Some(Box::new(make)),
        }
    }
}

pub(crate) fn unserialisable(kind: &str) -> Error {
    Error::internal(format!("the data of a `{kind}` job can't be written as JSON"))
}

/// Describes how jobs of a kind are run.
pub struct JobBuilder<'a> {
    registry: &'a mut Registry,
    /// Taken when the builder is dropped.
    kind: Option<JobKind>,
}

#[expect(clippy::return_self_not_must_use, reason = "takes effect when it is dropped")]
impl JobBuilder<'_> {
    fn with(mut self, change: impl FnOnce(&mut JobKind)) -> Self {
        self.kind.as_mut().map(change);
        self
    }

    /// Attempts in all, the first included; at least 1.
    pub fn max_attempts(self, attempts: u32) -> Self {
        self.with(|kind| kind.max_attempts = attempts)
    }

    /// The delays between attempts.
    pub fn backoff(self, backoff: Backoff) -> Self {
        self.with(|kind| kind.backoff = backoff)
    }

    /// How long one attempt may take, in real time; then it is broken off and has failed.
    pub fn timeout(self, timeout: Duration) -> Self {
        self.with(|kind| kind.timeout = Some(timeout))
    }

    /// Lets an attempt take as long as it likes. One that hangs then keeps its place for ever.
    pub fn without_timeout(self) -> Self {
        self.with(|kind| kind.timeout = None)
    }
}

impl Drop for JobBuilder<'_> {
    fn drop(&mut self) {
        let Some(kind) = self.kind.take().filter(|_| !std::thread::panicking()) else { return };
        if !is_name(kind.name) {
            self.registry.problem(format!(
                "the job `{}` has no proper name; write the module, a dot and a verb in lower \
                 case, such as `webhooks.deliver`",
                kind.name
            ));
        }
        if !(1..=1_000).contains(&kind.max_attempts) {
            let attempts = kind.max_attempts;
            let name = kind.name;
            self.registry
                .problem(format!("the job `{name}` has {attempts} attempts; give it 1 to 1,000"));
        }
        self.registry.contribute(kinds::JOB, kind.name, kind.describe());
        self.registry.part::<JobParts>().add(|parts| parts.kinds.push(kind));
    }
}

/// Describes a schedule.
pub struct ScheduleBuilder<'a> {
    registry: &'a mut Registry,
    name: String,
    cron: String,
    zone: String,
    job: &'static str,
    in_each_organisation: bool,
    /// Taken when the builder is dropped.
    make: Option<MakePayload>,
}

type MakePayload = Box<dyn Fn() -> Result<String> + Send + Sync>;

#[expect(
    clippy::must_use_candidate,
    clippy::return_self_not_must_use,
    reason = "takes effect when it is dropped"
)]
impl ScheduleBuilder<'_> {
    /// The zone in whose time the pattern is meant, such as `Europe/Berlin`.
    pub fn time_zone(mut self, zone: &str) -> Self {
        zone.clone_into(&mut self.zone);
        self
    }

    /// Enqueues a job in each organisation that there is when the time comes, as the system within
    /// it. A tick is left out where the job of the one before still waits or runs.
    pub fn in_each_organisation(mut self) -> Self {
        self.in_each_organisation = true;
        self
    }
}

impl Drop for ScheduleBuilder<'_> {
    fn drop(&mut self) {
        let Some(make) = self.make.take().filter(|_| !std::thread::panicking()) else { return };
        let name = std::mem::take(&mut self.name);
        if !is_name(&name) {
            self.registry.problem(format!(
                "the schedule `{name}` has no proper name; write the module, a dot and what it \
                 does in lower case, such as `webhooks.retention`"
            ));
        }
        match Timetable::parse(&self.cron, &self.zone) {
            Ok(timetable) => {
                let Self { job, in_each_organisation, .. } = *self;
                let where_to = if in_each_organisation { " in each organisation" } else { "" };
                let detail = format!("{timetable}: {job}{where_to}");
                self.registry.contribute(kinds::SCHEDULE, &name, detail);
                let schedule = Schedule { name, timetable, job, in_each_organisation, make };
                self.registry.part::<JobParts>().add(|parts| parts.schedules.push(schedule));
            }
            Err(problem) => self.registry.problem(format!("the schedule `{name}` {problem}")),
        }
    }
}

fn is_name(name: &str) -> bool {
    let is_word = |word: &str| {
        let is_letter = |letter: char| {
            letter.is_ascii_lowercase() || letter.is_ascii_digit() || "_-".contains(letter)
        };
        !word.is_empty() && word.chars().all(is_letter)
    };
    name.contains('.') && name.len() <= 100 && name.split('.').all(is_word)
}

/// A registered kind of job.
pub(crate) struct JobKind {
    pub(crate) name: &'static str,
    pub(crate) run: StoredJobHandler,
    /// Says what is wrong with data that isn't that of such a job.
    pub(crate) check: fn(&str) -> std::result::Result<(), String>,
    pub(crate) max_attempts: u32,
    pub(crate) backoff: Backoff,
    pub(crate) timeout: Option<Duration>,
    pub(crate) counters: Counters,
}

impl JobKind {
    fn describe(&self) -> String {
        let attempts = match self.max_attempts {
            1 => "1 attempt".to_owned(),
            count => format!("{count} attempts"),
        };
        match self.timeout {
            Some(timeout) => format!("{attempts} of {}", duration::format(timeout)),
            None => attempts,
        }
    }
}

/// A registered schedule.
pub(crate) struct Schedule {
    pub(crate) name: String,
    pub(crate) timetable: Timetable,
    pub(crate) job: &'static str,
    /// Whether it is enqueued in each organisation, and not once across them.
    pub(crate) in_each_organisation: bool,
    pub(crate) make: MakePayload,
}

/// What modules register, until the application is built. Shared, because the module that builds
/// comes before those that register.
#[derive(Clone, Default)]
pub(crate) struct JobParts(Arc<Mutex<Parts>>);

#[derive(Default)]
struct Parts {
    kinds: Vec<JobKind>,
    schedules: Vec<Schedule>,
}

impl JobParts {
    fn add(&self, change: impl FnOnce(&mut Parts)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Everything that was registered.
    pub(crate) fn catalogue(&self) -> Result<JobCatalogue> {
        let Parts { kinds, schedules } =
            std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        let kinds: BTreeMap<_, _> =
            kinds.into_iter().map(|kind| (kind.name, Arc::new(kind))).collect();
        for schedule in &schedules {
            if !kinds.contains_key(schedule.job) {
                return Err(Error::internal(format!(
                    "the schedule `{}` enqueues `{}`, which nobody runs; register it with \
                     `registry.job`",
                    schedule.name, schedule.job
                )));
            }
        }
        Ok(JobCatalogue { kinds, schedules })
    }
}

/// Every kind of job and every schedule of the application.
pub(crate) struct JobCatalogue {
    pub(crate) kinds: BTreeMap<&'static str, Arc<JobKind>>,
    pub(crate) schedules: Vec<Schedule>,
}

impl JobCatalogue {
    pub(crate) fn kind(&self, name: &str) -> Result<&Arc<JobKind>> {
        self.kinds.get(name).ok_or_else(|| {
            Error::internal(format!("nobody runs `{name}` jobs; register it with `registry.job`"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_a_module_and_a_verb() {
        assert!(is_name("webhooks.deliver"));
        assert!(is_name("data-transfer.import.step_2"));
        for name in ["", "deliver", "webhooks.", ".deliver", "Webhooks.Deliver", "a. b"] {
            assert!(!is_name(name), "{name}");
        }
    }
}
