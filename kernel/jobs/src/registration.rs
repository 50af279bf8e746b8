//! What a module says about its background work: `registry.job::<…>(…)` and
//! `registry.schedule(…)`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use svc_core::settings::duration;
use svc_core::{Backoff, Error, Registry, Result};

use crate::counters::Counters;
use crate::cron::{Timetable, UTC};
use crate::handler::{JobHandler, StoredJobHandler, check_data, erase};
use crate::job::Job;
use crate::kinds;

/// The words for background work in a module's `configure`.
pub trait JobsRegistry {
    /// Says who runs jobs of a kind.
    fn job<J: Job>(&mut self, handler: impl JobHandler<J>);

    /// Enqueues a job whenever a cron pattern comes, once across all nodes: `"0 30 3 * * *"`, or a
    /// [`Schedule`] that says more.
    ///
    /// Ticks that were missed while no node ran are made up for by one job, and a tick is left out
    /// while the job of the one before still waits or runs.
    fn schedule<J: Job>(
        &mut self,
        name: &str,
        schedule: impl Into<Schedule>,
        job: impl Fn() -> J + Send + Sync + 'static,
    );
}

impl JobsRegistry for Registry {
    fn job<J: Job>(&mut self, handler: impl JobHandler<J>) {
        let kind = JobKind {
            name: J::NAME,
            run: erase(handler),
            check: check_data::<J>,
            max_attempts: J::MAX_ATTEMPTS,
            backoff: J::BACKOFF,
            timeout: J::TIMEOUT,
            counters: Counters::default(),
        };
        let JobKind { name, max_attempts, .. } = kind;
        if !is_name(name) {
            self.problem(format!(
                "the job `{name}` has no proper name; write the module, a dot and a verb in lower \
                 case, such as `webhooks.deliver`"
            ));
        }
        if !(1..=1_000).contains(&max_attempts) {
            self.problem(format!(
                "the job `{name}` has {max_attempts} attempts; give it 1 to 1,000"
            ));
        }
        self.contribute(kinds::JOB, name, kind.describe());
        self.part::<JobParts>().add(|parts| parts.kinds.push(kind));
    }

    fn schedule<J: Job>(
        &mut self,
        name: &str,
        schedule: impl Into<Schedule>,
        job: impl Fn() -> J + Send + Sync + 'static,
    ) {
        let Schedule { cron, zone, in_each_organisation } = schedule.into();
        if !is_name(name) {
            self.problem(format!(
                "the schedule `{name}` has no proper name; write the module, a dot and what it \
                 does in lower case, such as `webhooks.retention`"
            ));
        }
        let timetable = match Timetable::parse(&cron, &zone) {
            Ok(timetable) => timetable,
            Err(problem) => return self.problem(format!("the schedule `{name}` {problem}")),
        };
        let where_to = if in_each_organisation { " in each organisation" } else { "" };
        self.contribute(kinds::SCHEDULE, name, format!("{timetable}: {}{where_to}", J::NAME));
        let make = move || {
            serde_json::to_string(&job()).map_err(|cause| unserialisable(J::NAME).caused_by(cause))
        };
        let (name, make) = (name.to_owned(), Box::new(make));
        let schedule =
            RegisteredSchedule { name, timetable, job: J::NAME, in_each_organisation, make };
        self.part::<JobParts>().add(|parts| parts.schedules.push(schedule));
    }
}

/// When and where a schedule enqueues its job.
#[derive(Clone, Debug)]
#[must_use]
pub struct Schedule {
    cron: String,
    zone: String,
    in_each_organisation: bool,
}

impl Schedule {
    /// By a cron pattern of six fields (seconds, minutes, hours, day of month, month, day of week) or
    /// five without seconds, in UTC.
    pub fn cron(pattern: &str) -> Self {
        Self { cron: pattern.to_owned(), zone: UTC.to_owned(), in_each_organisation: false }
    }

    /// Means the pattern in the time of a zone, such as `Europe/Berlin`.
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

impl From<&str> for Schedule {
    fn from(pattern: &str) -> Self {
        Self::cron(pattern)
    }
}

pub(crate) fn unserialisable(kind: &str) -> Error {
    Error::internal(format!("the data of a `{kind}` job can't be written as JSON"))
}

type MakePayload = Box<dyn Fn() -> Result<String> + Send + Sync>;

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
pub(crate) struct RegisteredSchedule {
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
    schedules: Vec<RegisteredSchedule>,
}

impl JobParts {
    fn add(&self, change: impl FnOnce(&mut Parts)) {
        change(&mut self.0.lock());
    }

    /// Everything that was registered.
    pub(crate) fn catalogue(&self) -> Result<JobCatalogue> {
        let Parts { kinds, schedules } = std::mem::take(&mut *self.0.lock());
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
    pub(crate) schedules: Vec<RegisteredSchedule>,
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
