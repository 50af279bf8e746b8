//! Whether something may have been stored by work that was broken off.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

tokio::task_local! {
    static CURRENT: Arc<AtomicU32>;
}

/// Counts the commits of work that may be dropped before it ends. Whoever drops it, such as a host
/// whose patience is over, asks afterwards what to tell about it.
#[derive(Clone, Debug, Default)]
pub struct Commits(Arc<AtomicU32>);

impl Commits {
    /// Runs `work`, counting what it commits in its own task.
    pub fn watch<F: Future>(&self, work: F) -> impl Future<Output = F::Output> + use<F> {
        CURRENT.scope(Arc::clone(&self.0), work)
    }

    /// Whether a commit began that didn't fail: what it holds is stored, or may be.
    #[must_use]
    pub fn may_have_stored(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }
}

/// A commit begins, of which the outcome is not known until [`failed`] says so.
pub(crate) fn begins() {
    let _ = CURRENT.try_with(|count| count.fetch_add(1, Ordering::Relaxed));
}

/// Nothing of a commit that began was stored.
pub(crate) fn failed() {
    let _ = CURRENT.try_with(|count| count.fetch_sub(1, Ordering::Relaxed));
}
