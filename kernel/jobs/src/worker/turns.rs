//! Which jobs start next: the oldest, or where more is due than finds a place, one organisation's after the other's.

use std::collections::HashMap;

use svc_core::{OrganisationId, Result};
use uuid::Uuid;

use super::places::Places;
use crate::store::{Due, Store};

/// What one node knows of what is due.
pub(super) struct Turns {
    store: Store,
    /// Whether to look for due jobs: a wake-up came, or the last look didn't see all.
    pub(super) look: bool,
    /// Whether jobs that are due wait for a place.
    is_held_back: bool,
    /// The organisation that had the last turn.
    behind: Option<Uuid>,
}

impl Turns {
    pub(super) fn new(store: Store) -> Self {
        Self { store, look: true, is_held_back: false, behind: None }
    }

    /// A job has ended.
    pub(super) fn place_is_free(&mut self) {
        self.look |= self.is_held_back;
    }

    /// Which jobs get the free places.
    pub(super) async fn choose(&mut self, now_us: i64, places: &mut Places) -> Result<Vec<Due>> {
        if self.is_held_back {
            return self.go_round(now_us, places).await;
        }
        let due = self.store.due(now_us, places.free() + 1).await?;
        if due.len() > places.free() {
            return self.go_round(now_us, places).await;
        }
        let mut by_organisation: HashMap<_, Vec<Due>> = HashMap::new();
        for job in &due {
            by_organisation.entry(job.organisation).or_default().push(*job);
        }
        let chosen = places.give(&by_organisation.into_values().collect::<Vec<_>>());
        self.look = false;
        self.is_held_back = chosen.len() < due.len();
        Ok(chosen)
    }

    /// The oldest jobs may all be of one organisation, so those behind the one that had the last turn are asked
    /// for theirs.
    async fn go_round(&mut self, now_us: i64, places: &mut Places) -> Result<Vec<Due>> {
        let mut comes_round = self.behind.is_none();
        let mut is_held_back = false;
        loop {
            let most = places.most_for_one();
            let turns = self.store.turns(self.behind, now_us, most).await?;
            let chosen = places.give(&turns.by_organisation);
            let found = turns.by_organisation.iter().map(Vec::len);
            is_held_back |=
                found.clone().any(|found| found >= most) || found.sum::<usize>() > chosen.len();
            let is_last = turns.behind.is_none();
            // Where the places were fewer than the organisations, the next one's turn comes with the next place.
            let last = chosen.last().filter(|_| places.free() == 0);
            self.behind = match last {
                Some(last) => Some(OrganisationId::or_nil(last.organisation)),
                None => turns.behind,
            };
            self.look = last.is_some() || !(is_last && comes_round);
            self.is_held_back = is_held_back || self.look;
            if !self.look || !chosen.is_empty() {
                return Ok(chosen);
            }
            comes_round |= is_last;
        }
    }
}
