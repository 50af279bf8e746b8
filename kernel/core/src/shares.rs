//! What there is only so much of, given out so that nobody takes it from everybody.
//!
//! Whoever wants a place names its [`Share`]: a person in an organisation, or the application's own
//! background work. Each person and each organisation has at most so many places at once, and all
//! together have at most so many ([`ShareLimits`]).
//!
//! | What is asked for | What happens |
//! | --- | --- |
//! | a place that is free, within all limits | it is given at once |
//! | one more than there are | waits: in turn with other organisations, there in turn with other people, and behind what the same person asked for before |
//! | more waits of one person than may wait | refused at once, as too many requests |
//! | nothing came free in time | refused: as too many requests where the limit was the person's or the organisation's, as unavailable where everybody's |
//!
//! So somebody who asks for a thousand at once makes others wait for one of them, not for all.
//! Giving, taking and turning are each a few steps, however many wait.

mod state;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::oneshot;
use uuid::Uuid;

use crate::{Error, ErrorKind, OrganisationId, Principal, Result, UserId};
use state::State;

/// Whose a place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Share {
    organisation: Option<OrganisationId>,
    person: Option<UserId>,
}

impl Share {
    /// The share of the application's own work.
    pub const BACKGROUND: Self = Self { organisation: None, person: None };

    /// The share of a principal: a person has one in each organisation, whatever the keys that it
    /// calls with; the system has that of background work.
    #[must_use]
    pub fn of(principal: &Principal) -> Self {
        match principal.user_id() {
            Some(person) => Self { organisation: principal.organisation(), person: Some(person) },
            None => Self::BACKGROUND,
        }
    }

    /// The share of somebody who is known by a name alone, such as an address: that of a person in an
    /// organisation of its own. Names that nobody can choose, such as hashes, keep such shares apart from
    /// those of principals.
    #[must_use]
    pub const fn of_name(name: Uuid) -> Self {
        Self { organisation: Some(OrganisationId(name)), person: Some(UserId(name)) }
    }
}

/// How much there is, and how much of it one may have.
#[derive(Clone, Copy, Debug)]
pub struct ShareLimits {
    /// What is given out, for refusals: `requests`, `database connections`.
    pub of: &'static str,
    /// The setting that says how much a person may have, for refusals.
    pub setting: &'static str,
    /// Places in all.
    pub total: usize,
    /// Places of an organisation.
    pub organisation: usize,
    /// Places of a person, or of background work.
    pub person: usize,
    /// How many places a person may wait for at once. Background work waits without this limit.
    pub waiting: usize,
    /// How long anybody waits.
    pub patience: Duration,
}

/// Gives out places. Cheap to clone.
#[derive(Clone)]
pub struct Shares(Arc<Inner>);

struct Inner {
    limits: ShareLimits,
    state: Mutex<State>,
}

impl Shares {
    /// Nothing is given out yet.
    #[must_use]
    pub fn new(limits: ShareLimits) -> Self {
        Self(Arc::new(Inner { limits, state: Mutex::new(State::new(limits)) }))
    }

    /// A place, as soon as it is its turn.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::TooManyRequests`] when the share is used up and nothing came free in time, or
    /// too many wait already; [`ErrorKind::Unavailable`], transient, when everything is used up.
    pub async fn take(&self, share: Share) -> Result<Place> {
        let granted = {
            let mut state = self.state();
            if state.take_now(share) {
                return Ok(self.place(share));
            }
            if share != Share::BACKGROUND && state.waits_of(share) >= self.0.limits.waiting {
                drop(state);
                return Err(self.refusal("are being served or waited for"));
            }
            let (grant, granted) = oneshot::channel();
            state.wait(share, grant);
            granted
        };
        let _waiting = Waiting { shares: self, share };
        match tokio::time::timeout(self.0.limits.patience, granted).await {
            Ok(Ok(place)) => Ok(place),
            _ => Err(self.lateness(share)),
        }
    }

    fn place(&self, share: Share) -> Place {
        Place { shares: Some(self.clone()), share }
    }

    fn give_back(&self, share: Share) {
        let mut state = self.state();
        state.give_back(share);
        self.serve(&mut state);
    }

    /// Gives what is free to those whose turn it is.
    fn serve(&self, state: &mut State) {
        while let Some((share, grant)) = state.next() {
            if let Err(mut unwanted) = grant.send(self.place(share)) {
                // It must not give itself back: the state is locked here.
                unwanted.shares = None;
                state.give_back(share);
            }
        }
    }

    fn lateness(&self, share: Share) -> Error {
        let ShareLimits { of, total, organisation, person, .. } = self.0.limits;
        // Where one may have all, it was others who had it.
        let has_parts = organisation.min(person) < total;
        if has_parts && share != Share::BACKGROUND && self.state().is_used_up(share) {
            return self.refusal("are being served");
        }
        let message = format!("all {of} are in use at the moment; try again in a while");
        Error::unavailable(message).retry_after(Duration::from_secs(1)).transient()
    }

    fn refusal(&self, how: &str) -> Error {
        let ShareLimits { of, setting, .. } = self.0.limits;
        let message = format!(
            "as many {of} as you or your organisation may have {how} at once; wait for answers \
             before you send more (`{setting}`)"
        );
        Error::new(ErrorKind::TooManyRequests, message).retry_after(Duration::from_secs(1))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock()
    }
}

impl std::fmt::Debug for Shares {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Shares").field(&self.0.limits).finish()
    }
}

/// A place, until it is dropped.
#[must_use = "it is given back when it is dropped"]
#[derive(Debug)]
pub struct Place {
    /// None for one that nobody gives back.
    shares: Option<Shares>,
    share: Share,
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(shares) = self.shares.take() {
            shares.give_back(self.share);
        }
    }
}

/// Somebody who waits; who stops waiting is forgotten.
struct Waiting<'a> {
    shares: &'a Shares,
    share: Share,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut state = self.shares.state();
        state.forget_gone(self.share);
        self.shares.serve(&mut state);
    }
}
