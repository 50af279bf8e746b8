//! How endpoints answer, as far as this node has seen.

use std::time::Duration;

use tokio::time::Instant;

/// An endpoint that takes longer gets nothing ahead.
const SLOW: Duration = Duration::from_millis(500);

/// How an endpoint's last request on this node went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Health {
    /// None has ended; the first delivery was taken on then.
    Unknown(Instant),
    /// Answered with 2xx, so soon.
    Well(Duration),
    /// Slow, or failed.
    Troubled,
    /// Ran into the timeout.
    Hanging,
}

impl Health {
    /// What an attempt tells of its endpoint.
    pub(crate) fn of(is_delivered: bool, timed_out: bool, duration: Duration) -> Self {
        match (is_delivered, timed_out) {
            (_, true) => Self::Hanging,
            (true, false) if duration < SLOW => Self::Well(duration),
            _ => Self::Troubled,
        }
    }
}
