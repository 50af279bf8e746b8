//! How a background job goes along the deliveries that it sends again.

use std::fmt::Write as _;

use svc_jobs::JobContext;
use uuid::Uuid;

use crate::retention;
use crate::store::replay::{Candidate, WINDOW};

/// What one unit of work did.
#[derive(Default)]
pub(super) struct Step {
    /// Deliveries that it queued.
    pub(super) queued: u64,
    /// The last that it looked at; none at the end.
    pub(super) last: Option<Uuid>,
    /// Why events can't be read, one for each.
    pub(super) unread: Vec<String>,
}

impl Step {
    /// What was queued of a window; `is_cut` where not all of it was looked at.
    pub(super) fn of(window: &[Candidate], queued: u64, is_cut: bool) -> Self {
        let has_more = is_cut || window.len() >= WINDOW;
        let last = window.last().map(|last| last.id).filter(|_| has_more);
        Self { queued, last, unread: Vec::new() }
    }
}

/// A walk from one identifier up to another. What lies before was queued already, and is not looked
/// at again for each step. At the end it begins anew, since something stored by work that took long
/// to commit may have come to lie before; a walk that queues nothing is the last.
pub(super) struct Walk {
    start: Uuid,
    to: Uuid,
    pub(super) next: Uuid,
    queued_on_the_way: bool,
    queued: u64,
    /// Events that a walk found unreadable, that this one has so far, and why the first of them is.
    unread: usize,
    unread_on_the_way: usize,
    why_unread: Option<String>,
    percent: u8,
    /// The part of the whole that this walk is, in percent: from, and how much.
    share: (u8, u8),
}

impl Walk {
    /// Nothing is older than the log keeps, so no walk begins before.
    pub(super) fn new(ctx: &JobContext, from: Uuid, to: Uuid) -> Self {
        let start = from.max(retention::oldest(ctx.context()));
        Self {
            start,
            to,
            next: start,
            queued_on_the_way: false,
            queued: 0,
            unread: 0,
            unread_on_the_way: 0,
            why_unread: None,
            percent: 0,
            share: (0, 100),
        }
    }

    /// The same for another walk over the same span, after this one.
    pub(super) fn again(self, share: (u8, u8)) -> Self {
        Self { next: self.start, queued_on_the_way: false, share, ..self }
    }

    /// Which part of the whole this walk is.
    pub(super) fn with_share(self, share: (u8, u8)) -> Self {
        Self { share, ..self }
    }

    /// Goes on behind a step; false when all is done.
    pub(super) fn pass(&mut self, ctx: &JobContext, step: Step) -> bool {
        self.queued += step.queued;
        self.queued_on_the_way |= step.queued > 0;
        self.unread_on_the_way += step.unread.len();
        self.unread = self.unread.max(self.unread_on_the_way);
        self.why_unread = self.why_unread.take().or_else(|| step.unread.into_iter().next());
        let goes_on = if let Some(last) = step.last {
            self.next = Uuid::from_u128(last.as_u128().saturating_add(1));
            true
        } else {
            self.next = self.start;
            self.unread_on_the_way = 0;
            std::mem::take(&mut self.queued_on_the_way)
        };
        // How far it is by time: counting would walk all of it once more.
        let (from, share) = self.share;
        let part = part(self.start, self.next, self.to) * u128::from(share) / 100;
        let percent = u8::try_from(part).unwrap_or(100).saturating_add(from);
        self.percent = self.percent.max(percent.min(99));
        self.tell(ctx, self.percent);
        goes_on
    }

    pub(super) fn end(&self, ctx: &JobContext) {
        self.tell(ctx, 100);
    }

    fn tell(&self, ctx: &JobContext, percent: u8) {
        let mut message = format!("{} deliveries queued", self.queued);
        if let Some(why) = &self.why_unread {
            let unread = self.unread;
            // Writing to a `String` never fails.
            let _ = write!(message, "; {unread} events can't be read and stay missed: {why}");
        }
        ctx.progress(percent, message);
    }
}

/// How far an identifier is between two others by their times, in percent.
fn part(start: Uuid, at: Uuid, to: Uuid) -> u128 {
    let time = |id: Uuid| id.as_u128() >> 80;
    let whole = time(to).saturating_sub(time(start));
    let done = time(at).saturating_sub(time(start));
    (done * 100).checked_div(whole).unwrap_or(100).min(100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_told_by_time() {
        let at = |milliseconds: u128| Uuid::from_u128(milliseconds << 80);
        assert_eq!(part(at(1_000), at(1_000), at(2_000)), 0);
        assert_eq!(part(at(1_000), at(1_250), at(2_000)), 25);
        assert_eq!(part(at(1_000), at(3_000), at(2_000)), 100);
        assert_eq!(part(at(1_000), at(1_000), at(1_000)), 100);
    }
}
