//! Who gets the places of a node. Pure: what is due comes in, by organisation.

use std::collections::HashMap;

use svc_core::OrganisationId;

use crate::store::Due;

/// The places of a node: how many are free, and how many each organisation has.
///
/// An organisation gets one while it has fewer than are free. So one alone has half of all, two that have much
/// to do have three quarters, and whoever comes next finds some.
pub(super) struct Places {
    free: usize,
    taken: HashMap<Option<OrganisationId>, usize>,
}

impl Places {
    /// So many free places, beside those that jobs of these organisations have.
    pub(super) fn new(free: usize, taken: impl Iterator<Item = Option<OrganisationId>>) -> Self {
        let mut places = Self { free, taken: HashMap::new() };
        for organisation in taken {
            *places.taken.entry(organisation).or_default() += 1;
        }
        places
    }

    /// How many are free.
    pub(super) fn free(&self) -> usize {
        self.free
    }

    /// The most that one organisation can get.
    pub(super) fn most_for_one(&self) -> usize {
        self.free.div_ceil(2)
    }

    /// Gives places to jobs, to each organisation one after the other, and the oldest of its jobs first.
    pub(super) fn give(&mut self, due: &[Vec<Due>]) -> Vec<Due> {
        let longest = due.iter().map(Vec::len).max().unwrap_or_default();
        let by_turns =
            (0..longest).flat_map(|turn| due.iter().filter_map(move |due| due.get(turn)));
        by_turns.copied().filter(|due| self.take(due.organisation)).collect()
    }

    fn take(&mut self, organisation: Option<OrganisationId>) -> bool {
        let taken = self.taken.entry(organisation).or_default();
        let gets_one = *taken < self.free;
        if gets_one {
            *taken += 1;
            self.free -= 1;
        }
        gets_one
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::job::JobId;

    fn organisation(number: u128) -> OrganisationId {
        OrganisationId(Uuid::from_u128(number))
    }

    /// So many jobs of each organisation.
    fn due(counts: &[usize]) -> Vec<Vec<Due>> {
        let of = |number: usize, count: usize| {
            let number = number as u128 + 1;
            let job = |nth| Due {
                id: JobId(Uuid::from_u128(nth)),
                organisation: Some(organisation(number)),
            };
            (0..count as u128).map(job).collect()
        };
        counts.iter().enumerate().map(|(number, count)| of(number, *count)).collect()
    }

    /// How many places each of three organisations has got.
    fn given(places: &mut Places, due: &[Vec<Due>]) -> [usize; 3] {
        let given = places.give(due);
        [1, 2, 3].map(|one| {
            given.iter().filter(|due| due.organisation == Some(organisation(one))).count()
        })
    }

    #[test]
    fn whoever_comes_next_finds_a_place() {
        let mut places = Places::new(100, std::iter::empty());
        assert_eq!(given(&mut places, &due(&[1_000])), [50, 0, 0]);
        assert_eq!(given(&mut places, &due(&[1_000, 1_000])), [0, 25, 0]);
        assert_eq!(given(&mut places, &due(&[1_000, 1_000, 5])), [0, 0, 5]);
        assert_eq!(places.free(), 20);
    }

    #[test]
    fn what_comes_together_gets_places_alike() {
        let mut places = Places::new(100, std::iter::empty());
        assert_eq!(given(&mut places, &due(&[1_000, 3, 1_000])), [33, 3, 32]);
        assert_eq!(Places::new(100, std::iter::empty()).most_for_one(), 50);
    }

    #[test]
    fn one_place_goes_to_the_first() {
        let mut places = Places::new(1, [Some(organisation(9))].into_iter());
        assert_eq!(given(&mut places, &due(&[5, 5])), [1, 0, 0]);
        assert_eq!(places.free(), 0);
    }
}
