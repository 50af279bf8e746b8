//! One attempt of one job: the handler against its timeout and its interruption.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use svc_core::Error;
use tokio::time::Instant;

use crate::context::JobContext;
use crate::error::JobError;
use crate::interrupt::{Grace, Interrupt};
use crate::registration::JobKind;

/// How an attempt ended.
pub(crate) struct Ended {
    pub(crate) how: How,
    pub(crate) took: Duration,
}

pub(crate) enum How {
    /// The handler came to its end, or failed, panicked or took too long.
    Returned(Result<(), JobError>),
    /// The handler was asked to end, and broken off when it did not.
    BrokenOff,
}

/// Makes one attempt. The timeout is real time: it protects the node.
pub(crate) async fn attempt(
    kind: Arc<JobKind>,
    ctx: JobContext,
    payload: String,
    interrupt: Interrupt,
    grace: Grace,
) -> Ended {
    let started = Instant::now();
    let work = AssertUnwindSafe((kind.run)(ctx, payload)).catch_unwind();
    let how = tokio::select! {
        // The work first: most of it is done before a timer would be worth setting.
        biased;
        outcome = work => How::Returned(outcome.unwrap_or_else(|panic| Err(panicked(&*panic)))),
        error = timed_out(kind.timeout) => How::Returned(Err(error)),
        () = interrupt.over(grace) => How::BrokenOff,
    };
    Ended { how, took: started.elapsed() }
}

async fn timed_out(timeout: Option<Duration>) -> JobError {
    let Some(timeout) = timeout else { return std::future::pending().await };
    tokio::time::sleep(timeout).await;
    let limit = svc_core::settings::duration::format(timeout);
    JobError::retry(Error::unavailable(format!("the attempt took longer than `{limit}`")))
}

fn panicked(panic: &(dyn Any + Send)) -> JobError {
    let message = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without a message");
    JobError::retry(Error::internal(format!("the handler panicked: {message}")))
}
