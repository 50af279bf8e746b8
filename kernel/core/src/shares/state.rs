//! Who has how many places, and whose turn it is.
//!
//! An organisation stands in `turns` while somebody of it waits who could be given a place but for
//! the total; a person stands in its organisation's `turns` likewise. Whoever is at a limit leaves,
//! and comes back, to the end, when a place is given back.

use std::collections::{HashMap, VecDeque};

use tokio::sync::oneshot::Sender;

use super::{Place, Share, ShareLimits};
use crate::{OrganisationId, UserId};

pub(super) struct State {
    limits: ShareLimits,
    taken: usize,
    organisations: HashMap<Option<OrganisationId>, Organisation>,
    turns: VecDeque<Option<OrganisationId>>,
}

#[derive(Default)]
struct Organisation {
    taken: usize,
    people: HashMap<Option<UserId>, Person>,
    turns: VecDeque<Option<UserId>>,
    /// Whether it stands in the turns.
    stands: bool,
}

#[derive(Default)]
struct Person {
    taken: usize,
    waiting: VecDeque<Sender<Place>>,
    /// Whether it stands in the turns of its organisation.
    stands: bool,
}

impl State {
    pub(super) fn new(limits: ShareLimits) -> Self {
        Self { limits, taken: 0, organisations: HashMap::new(), turns: VecDeque::new() }
    }

    /// Takes a place, where nobody has to wait for it.
    pub(super) fn take_now(&mut self, share: Share) -> bool {
        if self.taken >= self.limits.total || self.is_used_up(share) || self.waits_of(share) > 0 {
            return false;
        }
        self.add(share);
        true
    }

    /// Whether the person or the organisation has all that it may have.
    pub(super) fn is_used_up(&self, share: Share) -> bool {
        self.organisations.get(&share.organisation).is_some_and(|organisation| {
            organisation.taken >= self.limits.organisation
                || organisation
                    .people
                    .get(&share.person)
                    .is_some_and(|person| person.taken >= self.limits.person)
        })
    }

    pub(super) fn waits_of(&self, share: Share) -> usize {
        let organisation = self.organisations.get(&share.organisation);
        let person = organisation.and_then(|organisation| organisation.people.get(&share.person));
        person.map_or(0, |person| person.waiting.len())
    }

    pub(super) fn wait(&mut self, share: Share, grant: Sender<Place>) {
        let organisation = self.organisations.entry(share.organisation).or_default();
        organisation.people.entry(share.person).or_default().waiting.push_back(grant);
        self.stand(share);
    }

    /// Whoever is served next, with a place taken for it.
    pub(super) fn next(&mut self) -> Option<(Share, Sender<Place>)> {
        while self.taken < self.limits.total {
            let key = self.turns.pop_front()?;
            let organisation = self.organisations.get_mut(&key)?;
            organisation.stands = false;
            if organisation.taken >= self.limits.organisation {
                continue;
            }
            let Some(person_key) = organisation.turns.pop_front() else { continue };
            let share = Share { organisation: key, person: person_key };
            let Some(person) = organisation.people.get_mut(&person_key) else { continue };
            person.stands = false;
            let grant =
                if person.taken < self.limits.person { person.waiting.pop_front() } else { None };
            if grant.is_some() {
                self.add(share);
            }
            self.stand(share);
            self.tidy(share);
            if let Some(grant) = grant {
                return Some((share, grant));
            }
        }
        None
    }

    pub(super) fn give_back(&mut self, share: Share) {
        self.taken -= 1;
        if let Some(organisation) = self.organisations.get_mut(&share.organisation) {
            organisation.taken -= 1;
            if let Some(person) = organisation.people.get_mut(&share.person) {
                person.taken -= 1;
            }
        }
        self.stand(share);
        self.tidy(share);
    }

    /// Forgets who doesn't wait any more.
    pub(super) fn forget_gone(&mut self, share: Share) {
        let organisation = self.organisations.get_mut(&share.organisation);
        if let Some(person) = organisation.and_then(|it| it.people.get_mut(&share.person)) {
            person.waiting.retain(|grant| !grant.is_closed());
        }
        self.tidy(share);
    }

    fn add(&mut self, share: Share) {
        self.taken += 1;
        let organisation = self.organisations.entry(share.organisation).or_default();
        organisation.taken += 1;
        organisation.people.entry(share.person).or_default().taken += 1;
    }

    /// Puts person and organisation into the turns, where they wait and may have more.
    fn stand(&mut self, share: Share) {
        let Some(organisation) = self.organisations.get_mut(&share.organisation) else { return };
        if let Some(person) = organisation.people.get_mut(&share.person)
            && !person.stands
            && !person.waiting.is_empty()
            && person.taken < self.limits.person
        {
            person.stands = true;
            organisation.turns.push_back(share.person);
        }
        let may_have_more = organisation.taken < self.limits.organisation;
        if !organisation.stands && !organisation.turns.is_empty() && may_have_more {
            organisation.stands = true;
            self.turns.push_back(share.organisation);
        }
    }

    /// Forgets people and organisations that have nothing and wait for nothing.
    fn tidy(&mut self, share: Share) {
        let Some(organisation) = self.organisations.get_mut(&share.organisation) else { return };
        let is_idle =
            |person: &Person| person.taken == 0 && person.waiting.is_empty() && !person.stands;
        if organisation.people.get(&share.person).is_some_and(is_idle) {
            organisation.people.remove(&share.person);
        }
        if organisation.people.is_empty() && !organisation.stands {
            self.organisations.remove(&share.organisation);
        }
    }

    /// How many people are remembered.
    #[cfg(test)]
    pub(super) fn people(&self) -> usize {
        self.organisations.values().map(|organisation| organisation.people.len()).sum()
    }
}
