//! The dispatcher's life: everything that may happen, and what is done about it.

use std::time::Duration;

use futures::future::{BoxFuture, OptionFuture, join};
use svc_core::{Result, micros};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::Dispatcher;
use super::flight::Flight;
use super::settle::Settled;
use super::taken::Turn;
use crate::hand_over::Handed;
use crate::in_flight::Intake;
use crate::names::{ENDPOINTS_TOPIC, WAKE_TOPIC};

/// How long requests that are in flight may go on when the application stops.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(5);

/// How long the first outcome waits for others to be recorded with.
const GATHERING: Duration = Duration::from_millis(10);

/// How long a look waits after the one before began, so that a stream of wake-ups, or of requests
/// that end, costs little.
const LOOK_PAUSE: Duration = Duration::from_millis(5);

/// How long a look waits after one that failed because the database is away. What is in memory is
/// sent and kept meanwhile.
const AWAY: Duration = Duration::from_secs(1);

/// Outcomes that are recorded without waiting for more.
const GATHERED: usize = 256;

/// Outcomes that are not recorded, above which no request begins.
const UNRECORDED: usize = 4_096;

/// What the dispatcher waits for besides requests.
struct Pending<'a> {
    look: Option<BoxFuture<'a, Result<Turn>>>,
    recording: Option<BoxFuture<'a, Result<Settled>>>,
    /// Whether something may have become due.
    wants_look: bool,
    /// When the next look may begin.
    look_at: Instant,
    /// Whether one waits for that.
    is_put_off: bool,
    /// Whether the last look stopped on the way.
    is_cut_short: bool,
    /// When the next delivery becomes due that isn't yet.
    next_us: Option<i64>,
    /// When to look without being told to.
    poll_at: Instant,
    /// When to record what has ended.
    record_at: Option<Instant>,
}

impl Pending<'_> {
    /// What is due is not known yet.
    fn new(poll_interval: Duration) -> Self {
        let now = Instant::now();
        Self {
            look: None,
            recording: None,
            wants_look: true,
            look_at: now,
            is_put_off: false,
            is_cut_short: false,
            next_us: None,
            poll_at: now + poll_interval,
            record_at: None,
        }
    }

    fn is_due_at(&mut self, next_us: Option<i64>) {
        self.next_us = [self.next_us, next_us].into_iter().flatten().min();
    }
}

impl Dispatcher {
    /// Works until the application stops.
    pub(super) async fn fly(
        &self,
        stop: &CancellationToken,
        handed: &mut UnboundedReceiver<Handed>,
        flight: &mut Flight,
    ) -> Result<()> {
        let app = self.app.get()?;
        let wake = app.wakes().topic(WAKE_TOPIC);
        let changed = app.wakes().topic(ENDPOINTS_TOPIC);
        let mut pending = Pending::new(self.settings.poll_interval);
        // Whether no request begins until outcomes are recorded.
        let mut is_paused = false;
        loop {
            let is_full = flight.unrecorded() >= UNRECORDED;
            if std::mem::replace(&mut is_paused, is_full) != is_full {
                let intake = if is_full { Intake::Paused } else { Intake::Open };
                self.in_flight.set_intake(intake);
            }
            if !is_full {
                self.start(&app, flight);
            }
            self.begin(flight, &mut pending, stop);
            let next = micros::to_time(pending.next_us.unwrap_or(i64::MAX));
            let record_at = [pending.record_at, flight.closing_at()].into_iter().flatten().min();
            let record_at = record_at.filter(|_| pending.recording.is_none());
            tokio::select! {
                () = stop.cancelled() => break,
                () = flight.join(&self.in_flight), if !flight.sends.is_empty() => {}
                Some(first) = handed.recv() => {
                    self.accept(&app, first, flight).await?;
                    while let Ok(further) = handed.try_recv() {
                        self.accept(&app, further, flight).await?;
                    }
                }
                turn = of(&mut pending.look) => {
                    pending.look = None;
                    match turn {
                        Ok(turn) => {
                            pending.is_cut_short = turn.is_cut_short;
                            pending.is_due_at(turn.next_us);
                            flight.take(turn.jobs);
                        }
                        Err(error) if error.is_transient() => {
                            tracing::warn!(error = error.report(), "can't look what is due");
                            pending.wants_look = true;
                            pending.look_at = Instant::now() + AWAY;
                        }
                        Err(error) => return Err(error),
                    }
                }
                settled = of(&mut pending.recording) => {
                    pending.recording = None;
                    let settled = settled?;
                    pending.is_due_at(settled.next_us);
                    // The next of an entity may be sent, now that this one is through.
                    pending.wants_look |= settled.had_ordered || settled.had_returned;
                    for endpoint in settled.switched_off {
                        flight.withdraw(endpoint);
                    }
                }
                () = wake.notified() => pending.wants_look = true,
                () = changed.notified() => self.turn_changed_away(&app).await?,
                () = app.clock().sleep_until(next), if pending.next_us.is_some() => {
                    pending.next_us = None;
                    pending.wants_look = true;
                }
                () = tokio::time::sleep_until(pending.poll_at) => {
                    pending.wants_look = true;
                    self.turn_changed_away(&app).await?;
                }
                () = tokio::time::sleep_until(pending.look_at), if pending.is_put_off => {}
                () = tokio::time::sleep_until(record_at.unwrap_or(pending.poll_at)),
                    if record_at.is_some() => {}
            }
        }
        // What a look has claimed must be known, to be given back.
        let (looked, recorded) = both(pending.look, pending.recording).await;
        flight.take(looked.transpose()?.unwrap_or_default().jobs);
        recorded.transpose().map(drop)
    }

    /// Begins to look, and to record, where there is reason to and it isn't being done.
    fn begin<'a>(
        &'a self,
        flight: &mut Flight,
        pending: &mut Pending<'a>,
        stop: &'a CancellationToken,
    ) {
        let now = Instant::now();
        let is_wanted = self.in_flight.is_worth_a_look(pending.is_cut_short)
            || pending.wants_look && self.in_flight.free() > 0;
        pending.is_put_off = is_wanted && pending.look.is_none() && now < pending.look_at;
        if is_wanted && pending.look.is_none() && !pending.is_put_off {
            pending.wants_look = false;
            pending.look_at = now + LOOK_PAUSE;
            pending.poll_at = now + self.settings.poll_interval;
            // What becomes due later is found anew by each look that goes all the way round.
            pending.next_us = pending.next_us.filter(|_| pending.is_cut_short);
            pending.look = Some(Box::pin(self.turn()));
        }
        let must_close = flight.closing_at().is_some_and(|at| at <= now);
        if !flight.has_ended() && !must_close {
            return;
        }
        let record_at = *pending.record_at.get_or_insert(now + GATHERING);
        // With nothing else in flight there is nothing to wait for.
        let is_time = must_close
            || now >= record_at
            || flight.unrecorded() >= GATHERED
            || flight.sends.is_empty();
        if pending.recording.is_none() && is_time {
            pending.record_at = None;
            pending.recording = Some(Box::pin(self.settle_in_time(flight.record(now), stop)));
        }
    }

    /// Lets requests in flight end for a while, and gives back the claims of the others.
    pub(super) async fn wind_down(
        &self,
        mut handed: UnboundedReceiver<Handed>,
        mut flight: Flight,
    ) -> Result<()> {
        let app = self.app.get()?;
        while let Ok(handed) = handed.try_recv() {
            self.accept(&app, handed, &mut flight).await?;
        }
        let grace = tokio::time::sleep(SHUTDOWN_GRACE);
        tokio::pin!(grace);
        while !flight.sends.is_empty() {
            tokio::select! {
                () = flight.join(&self.in_flight) => {}
                () = &mut grace => break,
            }
        }
        flight.sends.shutdown().await;
        flight.give_up();
        self.settle(&flight.record(Instant::now())).await.map(drop)
    }
}

/// What became of both, where they were begun. They go on beside each other: one may have what the other waits for,
/// such as SQLite's turn to write.
async fn both<L, R>(
    look: Option<BoxFuture<'_, L>>,
    recording: Option<BoxFuture<'_, R>>,
) -> (Option<L>, Option<R>) {
    join(OptionFuture::from(look), OptionFuture::from(recording)).await
}

/// Waits for work that may be under way; for ever when there is none.
async fn of<T>(work: &mut Option<BoxFuture<'_, T>>) -> T {
    match work {
        Some(work) => work.await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use futures::FutureExt as _;
    use tokio::sync::Mutex;

    use super::*;

    #[tokio::test]
    async fn what_was_begun_ends_whichever_of_both_has_what_the_other_waits_for() {
        for look_is_first in [true, false] {
            let turn = Mutex::new(());
            let (mut look, mut recording) = (turn.lock().boxed(), turn.lock().boxed());
            let held = turn.lock().await;
            // Who asks first is given it next, and has it while nobody asks how far that has come.
            let (first, second) = if look_is_first {
                (&mut look, &mut recording)
            } else {
                (&mut recording, &mut look)
            };
            assert!(first.now_or_never().is_none());
            assert!(second.now_or_never().is_none());
            drop(held);
            let look = async move { drop(look.await) }.boxed();
            let recording = async move { drop(recording.await) }.boxed();
            let mut ending = pin!(both(Some(look), Some(recording)));
            // The end of one lets the other go on, which is found out by asking again.
            let first = ending.as_mut().now_or_never();
            let ended = first.or_else(|| ending.now_or_never());
            assert_eq!(ended, Some((Some(()), Some(()))), "{look_is_first}");
        }
        let none = both::<(), ()>(None, None).now_or_never();
        assert_eq!(none, Some((None, None)));
    }
}
