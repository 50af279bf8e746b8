//! How far the groups are of which a transition takes people. Pure.
//!
//! Each person who has approved counts for one group. Whoever is of several counts for the one that
//! helps most: people are matched with places of groups, so that nobody who may still be
//! needed is used up. Where the groups come after each other, an approval is of the group whose turn it was.

use crate::definition::{Group, Transition};

/// The groups of each person who has approved.
pub(crate) type Given<'a> = Vec<&'a [String]>;

/// How many people a transition still takes.
pub(crate) fn missing(transition: &Transition, given: &Given<'_>) -> u32 {
    let counted = if transition.groups.is_empty() {
        given.len()
    } else {
        Places::filled(transition, given).taken()
    };
    transition.people().saturating_sub(u32::try_from(counted).unwrap_or(u32::MAX))
}

/// The groups whose turn it is: those of which another person would help.
pub(crate) fn open<'t>(transition: &'t Transition, given: &Given<'_>) -> Vec<&'t Group> {
    let places = Places::filled(transition, given);
    let mut found = transition.groups.iter().filter(|group| {
        let one = [group.name.clone()];
        let mut more = given.clone();
        more.push(&one);
        Places::filled(transition, &more).taken() > places.taken()
    });
    if transition.in_sequence { found.next().into_iter().collect() } else { found.collect() }
}

/// Who stands for which group.
struct Places<'a> {
    transition: &'a Transition,
    given: &'a Given<'a>,
    /// The people of each group, by their place among those who have approved.
    people: Vec<Vec<usize>>,
}

impl<'a> Places<'a> {
    fn filled(transition: &'a Transition, given: &'a Given<'a>) -> Self {
        let people = vec![Vec::new(); transition.groups.len()];
        let mut places = Self { transition, given, people };
        for person in 0..given.len() {
            let mut tried = vec![false; transition.groups.len()];
            let _ = places.place(person, &mut tried);
        }
        places
    }

    /// Finds a place for a person, for which others may move to another of their groups.
    fn place(&mut self, person: usize, tried: &mut [bool]) -> bool {
        let transition = self.transition;
        for (index, group) in transition.groups.iter().enumerate() {
            if tried[index] || !self.given[person].contains(&group.name) {
                continue;
            }
            tried[index] = true;
            let needed = usize::try_from(group.approvals).unwrap_or(usize::MAX);
            if self.people[index].len() < needed {
                self.people[index].push(person);
                return true;
            }
            for place in 0..self.people[index].len() {
                if self.place(self.people[index][place], tried) {
                    self.people[index][place] = person;
                    return true;
                }
            }
        }
        false
    }

    fn taken(&self) -> usize {
        self.people.iter().map(Vec::len).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::By;

    fn transition() -> Transition {
        let group = |name: &str| Group::new(name).by(By::permission(name));
        Transition::new("x").group(group("a")).group(group("b").approvals(2))
    }

    fn state(transition: &Transition, given: &[&[&str]]) -> (u32, Vec<String>) {
        let given: Vec<Vec<String>> = given
            .iter()
            .map(|groups| groups.iter().map(|name| (*name).to_owned()).collect())
            .collect();
        let given = given.iter().map(Vec::as_slice).collect();
        let open = open(transition, &given).into_iter().map(|group| group.name.clone());
        (missing(transition, &given), open.collect())
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn all_groups_are_needed() {
        let way = transition();
        assert_eq!(state(&way, &[]), (3, names(&["a", "b"])));
        assert_eq!(state(&way, &[&["a"]]), (2, names(&["b"])));
        assert_eq!(state(&way, &[&["a"], &["a"]]), (2, names(&["b"])));
        assert_eq!(state(&way, &[&["b"], &["b"]]), (1, names(&["a"])));
        assert_eq!(state(&way, &[&["b"], &["a"], &["b"]]), (0, names(&[])));
    }

    #[test]
    fn whoever_is_of_several_counts_where_it_helps() {
        let way = transition();
        // Either of the two may still come: the first makes place.
        assert_eq!(state(&way, &[&["a", "b"]]), (2, names(&["a", "b"])));
        assert_eq!(state(&way, &[&["a", "b"], &["a"]]), (1, names(&["b"])));
        assert_eq!(state(&way, &[&["a", "b"], &["b"]]), (1, names(&["a", "b"])));
        assert_eq!(state(&way, &[&["a", "b"], &["b"], &["b"]]), (0, names(&[])));
        assert_eq!(state(&way, &[&["a", "b"], &["b"], &["a"]]), (0, names(&[])));
    }

    #[test]
    fn in_sequence_the_first_that_is_missing_comes_first() {
        let way = transition().in_sequence();
        assert_eq!(state(&way, &[]), (3, names(&["a"])));
        assert_eq!(state(&way, &[&["a"]]), (2, names(&["b"])));
        assert_eq!(state(&way, &[&["a"], &["b"]]), (1, names(&["b"])));
        assert_eq!(state(&way, &[&["a"], &["b"], &["b"]]), (0, names(&[])));
    }

    #[test]
    fn without_groups_each_counts() {
        let way = Transition::new("x").by(By::permission("P")).approvals(2);
        assert_eq!(state(&way, &[&[]]), (1, names(&[])));
    }
}
