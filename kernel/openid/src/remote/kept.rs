//! What was read of an issuer, for as long as it counts.

use std::sync::Arc;

use parking_lot::RwLock;
use svc_core::{Clock, Error, Result};

/// How long it takes until something is read again that isn't there, or doesn't serve.
const PAUSE_US: i64 = 30_000_000;

/// How long something counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lifetime {
    /// Until it is read anew.
    pub(super) fresh_us: i64,
    /// How much longer it counts where that fails.
    pub(super) stale_us: i64,
}

/// One thing that was read.
pub(super) struct Kept<T> {
    clock: Clock,
    state: RwLock<State<T>>,
    turn: tokio::sync::Mutex<()>,
}

struct State<T> {
    value: Option<(Arc<T>, i64)>,
    tried_at_us: Option<i64>,
}

enum Found<T> {
    Value(Arc<T>),
    /// It is to be read; what is there meanwhile.
    Due(Option<Arc<T>>),
    /// There is none, and it was tried just now.
    Nothing,
}

impl<T> Kept<T> {
    pub(super) fn new(clock: Clock) -> Self {
        let state = State { value: None, tried_at_us: None };
        Self { clock, state: RwLock::new(state), turn: tokio::sync::Mutex::default() }
    }

    /// What is kept where it `serves`, or else what `read` brings. Of those that want the same one
    /// reads, and none more often than every [`PAUSE_US`].
    pub(super) async fn get<R: Future<Output = Result<T>>>(
        &self,
        lifetime: Lifetime,
        serves: impl Fn(&T) -> bool,
        read: impl FnOnce() -> R,
    ) -> Result<Arc<T>> {
        let turn = match self.find(lifetime, &serves) {
            Found::Value(value) => return Ok(value),
            Found::Nothing => return Err(not_now()),
            Found::Due(old) => match (self.turn.try_lock(), old) {
                (Ok(turn), _) => turn,
                (Err(_), Some(old)) if serves(&old) => return Ok(old),
                (Err(_), _) => self.turn.lock().await,
            },
        };
        // Whoever was before may have read it.
        let old = match self.find(lifetime, &serves) {
            Found::Value(value) => return Ok(value),
            Found::Nothing => return Err(not_now()),
            Found::Due(old) => old,
        };
        let now_us = self.clock.now_us();
        self.change(|state| state.tried_at_us = Some(now_us));
        let outcome = match (read().await, old) {
            (Ok(value), _) => {
                let value = Arc::new(value);
                self.change(|state| state.value = Some((Arc::clone(&value), now_us)));
                Ok(value)
            }
            (Err(error), Some(old)) => {
                tracing::warn!(error = error.report(), "what was read of an issuer is kept on");
                Ok(old)
            }
            (Err(error), None) => Err(error),
        };
        drop(turn);
        outcome
    }

    fn find(&self, lifetime: Lifetime, serves: &impl Fn(&T) -> bool) -> Found<T> {
        let state = self.state.read();
        let now_us = self.clock.now_us();
        let was_tried = state.tried_at_us.is_some_and(|at_us| now_us - at_us < PAUSE_US);
        let counts = |(_, at_us): &&(Arc<T>, i64)| {
            now_us - at_us < lifetime.fresh_us.saturating_add(lifetime.stale_us)
        };
        match state.value.as_ref().filter(counts) {
            Some((value, at_us)) if now_us - at_us < lifetime.fresh_us && serves(value) => {
                Found::Value(Arc::clone(value))
            }
            Some((value, _)) if was_tried => Found::Value(Arc::clone(value)),
            Some((value, _)) => Found::Due(Some(Arc::clone(value))),
            None if was_tried => Found::Nothing,
            None => Found::Due(None),
        }
    }

    fn change(&self, change: impl FnOnce(&mut State<T>)) {
        change(&mut self.state.write());
    }
}

fn not_now() -> Error {
    super::ISSUER_UNAVAILABLE
        .error("the issuer that people sign in with couldn't be used just now")
        .retry_after(std::time::Duration::from_secs(30))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use svc_core::Clock;
    use time::macros::datetime;

    use super::*;

    const SHORT: Lifetime = Lifetime { fresh_us: 600_000_000, stale_us: 600_000_000 };

    fn kept() -> (Kept<usize>, Clock) {
        let clock = Clock::manual(datetime!(2026-11-20 12:00 UTC));
        (Kept::new(clock.clone()), clock)
    }

    #[tokio::test]
    async fn many_tokens_of_unknown_keys_cost_one_request_in_half_a_minute() {
        let (kept, clock) = kept();
        let reads = AtomicUsize::new(0);
        let read = || async { Ok(reads.fetch_add(1, Ordering::Relaxed)) };
        for _ in 0..1_000 {
            kept.get(SHORT, |_| false, read).await.expect("a value");
        }
        assert_eq!(reads.load(Ordering::Relaxed), 1);
        clock.advance(Duration::from_secs(30));
        kept.get(SHORT, |_| false, read).await.expect("a value");
        assert_eq!(reads.load(Ordering::Relaxed), 2);
    }

    #[tokio::test]
    async fn what_was_read_counts_on_while_nobody_answers_but_not_for_ever() {
        let (kept, clock) = kept();
        let fails = || async { Err(Error::unavailable("nobody answers")) };
        assert!(kept.get(SHORT, |_| true, fails).await.is_err());
        // A second one doesn't ask at once.
        assert!(kept.get(SHORT, |_| true, || async { Ok(1) }).await.is_err());
        clock.advance(Duration::from_secs(30));
        assert_eq!(*kept.get(SHORT, |_| true, || async { Ok(1) }).await.expect("a value"), 1);
        clock.advance(Duration::from_mins(11));
        assert_eq!(*kept.get(SHORT, |_| true, fails).await.expect("the old value"), 1);
        clock.advance(Duration::from_mins(10));
        assert!(kept.get(SHORT, |_| true, fails).await.is_err());
    }
}
