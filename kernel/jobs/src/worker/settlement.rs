//! What becomes of a job after an attempt. Pure: time and attempt come in.

use std::time::Duration;

use svc_core::{Backoff, Error, ErrorKind, micros};
use uuid::Uuid;

use super::attempt::How;
use crate::counters::Counted;
use crate::error::{Decision, JobError};
use crate::interrupt::Reason;
use crate::job::JobState;
use crate::store::Settled;
use crate::text;

/// What is needed to decide.
pub(crate) struct Attempted {
    pub(crate) attempt: u32,
    pub(crate) max_attempts: u32,
    pub(crate) watched: bool,
    pub(crate) backoff: Backoff,
    pub(crate) correlation: Uuid,
    /// Why the job was asked to end, where it was.
    pub(crate) asked: Option<Reason>,
    pub(crate) now_us: i64,
}

/// What becomes of a job.
pub(crate) struct Verdict {
    pub(crate) to: Settled,
    /// What the attempt counts as; one that was handed back doesn't count.
    pub(crate) counted: Option<Counted>,
    /// Why it failed, for the log.
    pub(crate) error: Option<Error>,
}

impl Attempted {
    /// Decides what becomes of the job.
    pub(crate) fn verdict(&self, how: How) -> Verdict {
        let failure = match how {
            How::Returned(Ok(())) => return self.finished(),
            How::Returned(Err(failure)) => failure,
            How::BrokenOff => JobError::interrupted(),
        };
        match (self.asked, failure.decision) {
            (Some(Reason::Cancelled), _) => self.cancelled(failure),
            (Some(Reason::Stopping), Decision::Interrupted) => hand_back(None),
            (_, Decision::GiveUp) => self.dead(failure),
            _ if self.attempt >= self.max_attempts => self.dead(failure),
            (_, decision) => self.again(self.delay(decision), failure),
        }
    }

    fn finished(&self) -> Verdict {
        let to = if self.watched { kept(JobState::Finished, None, None) } else { Settled::Deleted };
        Verdict { to, counted: Some(Counted::Finished), error: None }
    }

    fn cancelled(&self, failure: JobError) -> Verdict {
        let error = (failure.decision != Decision::Interrupted).then_some(failure.error);
        let message = error.as_ref().map(|error| self.message(error));
        let to = kept(JobState::Cancelled, None, message);
        Verdict { to, counted: Some(Counted::Cancelled), error }
    }

    fn dead(&self, failure: JobError) -> Verdict {
        let to = kept(JobState::Dead, None, Some(self.message(&failure.error)));
        Verdict { to, counted: Some(Counted::Dead), error: Some(failure.error) }
    }

    fn again(&self, delay: Duration, failure: JobError) -> Verdict {
        let delay_us = micros::of_span(delay);
        let run_at_us = self.now_us.saturating_add(delay_us);
        let to = kept(JobState::Waiting, Some(run_at_us), Some(self.message(&failure.error)));
        Verdict { to, counted: Some(Counted::Failed), error: Some(failure.error) }
    }

    fn delay(&self, decision: Decision) -> Duration {
        let backoff = self.backoff.delay(self.attempt);
        match decision {
            Decision::RetryAfter(delay) => delay,
            Decision::Retry { at_least } => backoff.max(at_least),
            Decision::GiveUp | Decision::Interrupted => backoff,
        }
    }

    /// What is stored of an error: what any caller may read.
    fn message(&self, error: &Error) -> String {
        use std::fmt::Write as _;
        let mut message = error.message().to_owned();
        for (field, problems) in error.fields() {
            let _ = write!(message, "; `{field}` {}", problems.join(", "));
        }
        if error.kind() == ErrorKind::Internal {
            let _ = write!(message, "; the log tells more under `{}`", self.correlation);
        }
        text::storable(&message)
    }
}

/// Gives a job back as if it had not been claimed.
pub(crate) fn hand_back(run_at_us: Option<i64>) -> Verdict {
    let to = Settled::Kept { state: JobState::Waiting, run_at_us, handed_back: true, error: None };
    Verdict { to, counted: None, error: None }
}

fn kept(state: JobState, run_at_us: Option<i64>, error: Option<String>) -> Settled {
    Settled::Kept { state, run_at_us, handed_back: false, error }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_US: i64 = 1_000_000;

    fn attempted(attempt: u32, asked: Option<Reason>) -> Attempted {
        Attempted {
            attempt,
            max_attempts: 3,
            watched: false,
            backoff: Backoff { first: Duration::from_secs(10), cap: Duration::from_secs(15) },
            correlation: Uuid::nil(),
            asked,
            now_us: 0,
        }
    }

    fn state_and_time(verdict: &Verdict) -> (Option<JobState>, Option<i64>, bool) {
        match &verdict.to {
            Settled::Deleted => (None, None, false),
            Settled::Kept { state, run_at_us, handed_back, .. } => {
                (Some(*state), *run_at_us, *handed_back)
            }
        }
    }

    fn failed(error: JobError) -> How {
        How::Returned(Err(error))
    }

    #[test]
    fn a_failure_is_tried_again_until_the_attempts_are_used_up() {
        let after = |attempt, error| {
            state_and_time(&attempted(attempt, None).verdict(failed(JobError::from(error))))
        };
        let bug = || Error::internal("a bug");
        assert_eq!(after(1, bug()), (Some(JobState::Waiting), Some(10 * SECOND_US), false));
        assert_eq!(after(2, bug()), (Some(JobState::Waiting), Some(15 * SECOND_US), false));
        assert_eq!(after(3, bug()), (Some(JobState::Dead), None, false));
        assert_eq!(after(1, Error::invalid("no")), (Some(JobState::Dead), None, false));
        let later = Error::unavailable("busy").retry_after(Duration::from_mins(1));
        assert_eq!(after(1, later), (Some(JobState::Waiting), Some(60 * SECOND_US), false));
    }

    #[test]
    fn a_stop_hands_back_and_a_cancellation_ends() {
        let outcome = |asked, how| state_and_time(&attempted(3, Some(asked)).verdict(how));
        let handed_back = (Some(JobState::Waiting), None, true);
        assert_eq!(outcome(Reason::Stopping, How::BrokenOff), handed_back);
        assert_eq!(outcome(Reason::Stopping, failed(JobError::interrupted())), handed_back);
        assert_eq!(outcome(Reason::Stopping, How::Returned(Ok(()))), (None, None, false));
        let cancelled = (Some(JobState::Cancelled), None, false);
        assert_eq!(outcome(Reason::Cancelled, How::BrokenOff), cancelled);
        assert_eq!(outcome(Reason::Cancelled, failed(Error::internal("x").into())), cancelled);
        // A failure of its own while the application stops is a failure.
        let failure = outcome(Reason::Stopping, failed(Error::internal("x").into()));
        assert_eq!(failure, (Some(JobState::Dead), None, false));
    }

    #[test]
    fn what_is_stored_of_an_error_is_what_a_caller_may_read() {
        let error = Error::internal("password `hunter2`");
        let verdict = attempted(1, None).verdict(failed(error.into()));
        let Settled::Kept { error: Some(stored), .. } = &verdict.to else { panic!("is kept") };
        assert!(!stored.contains("hunter2"));
        assert!(stored.contains(&Uuid::nil().to_string()));
    }
}
