//! Receivers of our own, on loopback, that answer as no library would.

pub(crate) mod hanging;
pub(crate) mod receiver;
pub(crate) mod tls;

use std::time::Duration;

/// Waits until something holds at a real network boundary.
pub(crate) async fn eventually(what: &str, holds: impl Fn() -> bool) {
    let deadline = tokio::time::Instant::now() + Duration::from_secs(10);
    while !holds() {
        assert!(tokio::time::Instant::now() < deadline, "in vain: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
