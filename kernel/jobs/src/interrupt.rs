use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

/// Why a running job should end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// The application stops.
    Stopping,
    /// Somebody cancelled the job.
    Cancelled,
}

/// Asks a running job to end, and breaks it off when it doesn't.
#[derive(Clone, Default)]
pub(crate) struct Interrupt {
    ask: CancellationToken,
    abandon: CancellationToken,
    reason: Arc<AtomicU8>,
}

impl Interrupt {
    /// Asks the job to end. A cancellation outweighs a stop, since it is what a person wants.
    pub(crate) fn ask(&self, reason: Reason) {
        let code = match reason {
            Reason::Stopping => 1,
            Reason::Cancelled => 2,
        };
        self.reason.fetch_max(code, Ordering::SeqCst);
        self.ask.cancel();
    }

    /// Breaks the job off at once: its lease is lost, and another node may be running it.
    pub(crate) fn abandon(&self) {
        self.abandon.cancel();
        self.ask.cancel();
    }

    pub(crate) fn reason(&self) -> Option<Reason> {
        match self.reason.load(Ordering::SeqCst) {
            0 => None,
            1 => Some(Reason::Stopping),
            _ => Some(Reason::Cancelled),
        }
    }

    pub(crate) fn is_abandoned(&self) -> bool {
        self.abandon.is_cancelled()
    }

    /// The token that the handler looks at.
    pub(crate) fn asked(&self) -> &CancellationToken {
        &self.ask
    }

    /// Waits until the job has to be broken off.
    pub(crate) async fn over(&self, grace: Grace) {
        let asked_in_vain = async {
            self.ask.cancelled().await;
            let span = match self.reason() {
                Some(Reason::Cancelled) => grace.cancelled,
                _ => grace.stopping,
            };
            tokio::time::sleep(span).await;
        };
        tokio::select! {
            () = self.abandon.cancelled() => {}
            () = asked_in_vain => {}
        }
    }
}

/// How long a job may go on after it was asked to end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grace {
    pub(crate) cancelled: Duration,
    pub(crate) stopping: Duration,
}
