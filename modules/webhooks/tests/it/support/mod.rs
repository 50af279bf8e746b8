//! Receivers of our own, on loopback, that keep whoever sends waiting.

pub(crate) mod hanging;

use std::time::Duration;

/// Waits until something holds at a real network boundary.
pub(crate) async fn eventually(what: &str, holds: impl Fn() -> bool) {
    let deadline = tokio::time::Instant::now() + Duration::from_secs(10);
    while !holds() {
        assert!(tokio::time::Instant::now() < deadline, "in vain: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
