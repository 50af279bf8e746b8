use std::time::Duration;

use tokio::time::Instant;

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Waits until something holds that happens beyond a real boundary: on another task, a socket, another
/// connection to the database.
///
/// # Panics
///
/// When it doesn't within ten seconds, with what was waited for.
pub async fn eventually(what: &str, holds: impl AsyncFn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds().await {
        assert!(Instant::now() < deadline, "did not happen in time: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
