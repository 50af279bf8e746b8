//! Whose turn it is with a record: what is stored of it, so that what awaits somebody is a range of an
//! index. Pure.
//!
//! A record awaits a person who may take a transition out of its state, unless that is an optional one; the condition
//! of the transition aside. In the state that records begin in it awaits nobody: whoever made it begins.
//!
//! | By | Claim |
//! | --- | --- |
//! | a permission | `permission:<name>`, for whoever holds it when they ask |
//! | a role | `role:<name>` in small letters, for whoever has it when they ask |
//! | who made the record, the person in a property | `user:<id>` |
//!
//! Claims are those of the definition that the record began with. They are stored with the step that brings a record into a state, and
//! anew when a property changes that names a person. Who is left out for four eyes stands beside the claim; who has
//! approved already is looked for among the approvals, since a change of the record takes these anew. Where a transition takes
//! people of groups, those have claims whose turn it is; they are stored anew with each approval, and with each change of the record.

use std::collections::BTreeSet;

use uuid::Uuid;

use crate::definition::{By, Definition, StateKind, Transition};
use crate::groups::{self, Given};
use crate::store::{Approval, Reassignment};

/// By which somebody may take a record on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Claim {
    /// Who: those with a permission or a role, or a person.
    pub(crate) who: String,
    /// The transition, where it takes several people.
    pub(crate) several: Option<String>,
    /// Who made the record, where that keeps from it.
    pub(crate) not_creator: Option<Uuid>,
    /// Who took the last step, where that keeps from it.
    pub(crate) not_last: Option<Uuid>,
    /// In the place of whom, where it was reassigned.
    pub(crate) for_user: Option<Uuid>,
}

/// The claim of those who hold a permission.
pub(crate) fn of_permission(name: &str) -> String {
    format!("permission:{name}")
}

/// The claim of those who have a role, whatever the case of its name. No claim has a comma, so that commas stand between
/// several.
pub(crate) fn of_role(name: &str) -> String {
    format!("role:{}", name.to_lowercase().replace('%', "%25").replace(',', "%2C"))
}

/// The claim of those who have a right; none for what names a single person.
pub(crate) fn of_right(by: &By) -> Option<String> {
    match by {
        By::Permission(name) => Some(of_permission(name)),
        By::Role(name) => Some(of_role(name)),
        By::Creator | By::Person(_) => None,
    }
}

/// The claim of a person.
pub(crate) fn of_user(id: Uuid) -> String {
    format!("user:{id}")
}

/// Where a record stands.
pub(crate) struct Standing<'a> {
    pub(crate) state: &'a str,
    pub(crate) creator: Option<Uuid>,
    pub(crate) last: Option<Uuid>,
    /// Whether it is overdue, so that others may act too.
    pub(crate) is_escalated: bool,
    /// Who has approved a transition out of the state, of the record as it is.
    pub(crate) approvals: &'a [Approval],
    /// Whose turn was handed on.
    pub(crate) reassigned: &'a [Reassignment],
    /// The person whom a property of the record names.
    pub(crate) person_in: &'a (dyn Fn(&str) -> Option<Uuid> + Sync),
}

impl Standing<'_> {
    /// Whose turn it is.
    pub(crate) fn claims(&self, definition: &Definition) -> BTreeSet<Claim> {
        let state = definition.find_state(self.state).filter(|_| self.is_escalated);
        let later = state.map_or(&[][..], |state| &state.escalates_to);
        let ways = awaited(definition, self.state);
        let who = ways.flat_map(|way| {
            let by = self.whose_turn(way).into_iter().chain(later);
            by.map(move |by| (way, by))
        });
        let who: Vec<(&Transition, &By)> = who.collect();
        let own = who.iter().filter_map(|(way, by)| self.claim(way, by));
        // Whoever has handed on the turn isn't waited for.
        let is_handed_on =
            |claim: &Claim| self.reassigned.iter().any(|one| claim.who == of_user(one.from));
        let mut claims: BTreeSet<Claim> = own.filter(|claim| !is_handed_on(claim)).collect();
        for one in self.reassigned {
            claims.extend(who.iter().filter_map(|(way, by)| self.claim_of(one, way, by)));
        }
        claims
    }

    /// The claim of somebody to whom another's turn was handed on.
    fn claim_of(&self, one: &Reassignment, way: &Transition, by: &By) -> Option<Claim> {
        let was_theirs = match by {
            By::Permission(_) | By::Role(_) => {
                of_right(by).is_some_and(|right| one.rights.contains(&right))
            }
            By::Creator => self.creator == Some(one.from),
            By::Person(property) => (self.person_in)(property) == Some(one.from),
        };
        let not_creator = self.creator.filter(|_| way.not_by_creator);
        let not_last = self.last.filter(|_| way.not_by_last);
        let people = [Some(one.from), Some(one.to)];
        let is_left_out = [not_creator, not_last]
            .into_iter()
            .any(|left_out| left_out.is_some() && people.contains(&left_out));
        let several = way.takes_several().then(|| way.name.clone());
        let (who, for_user) = (of_user(one.to), Some(one.from));
        (was_theirs && !is_left_out).then_some(Claim {
            who,
            several,
            not_creator,
            not_last,
            for_user,
        })
    }

    fn whose_turn<'d>(&self, way: &'d Transition) -> Vec<&'d By> {
        if way.groups.is_empty() {
            return way.by.iter().collect();
        }
        let approvals = self.approvals.iter().filter(|approval| approval.transition == way.name);
        let given: Given<'_> = approvals.map(|approval| &*approval.groups).collect();
        groups::open(way, &given).into_iter().flat_map(|group| &group.by).collect()
    }

    fn claim(&self, way: &Transition, by: &By) -> Option<Claim> {
        let not_creator = self.creator.filter(|_| way.not_by_creator);
        let not_last = self.last.filter(|_| way.not_by_last);
        let person = match by {
            By::Permission(_) | By::Role(_) => None,
            By::Creator => Some(self.creator?),
            By::Person(property) => Some((self.person_in)(property)?),
        };
        if person.is_some() && (person == not_creator || person == not_last) {
            return None;
        }
        let who = match of_right(by) {
            Some(right) => right,
            None => of_user(person?),
        };
        let several = way.takes_several().then(|| way.name.clone());
        Some(Claim { who, several, not_creator, not_last, for_user: None })
    }
}

/// The transitions out of a state that people are waited for to take.
pub(crate) fn awaited<'a>(
    definition: &'a Definition,
    state: &'a str,
) -> impl Iterator<Item = &'a Transition> {
    let begins = definition.find_state(state).is_none_or(|it| it.kind == StateKind::Initial);
    definition.leaving(state).filter(move |way| !begins && !way.optional)
}

/// The properties that name whose turn it is in a state.
pub(crate) fn naming<'a>(
    definition: &'a Definition,
    state: &'a str,
) -> impl Iterator<Item = &'a str> {
    all_by(definition, state).filter_map(|by| match by {
        By::Person(property) => Some(property.as_str()),
        By::Permission(_) | By::Role(_) | By::Creator => None,
    })
}

/// All who may be waited for in a state, in time or later.
fn all_by<'a>(definition: &'a Definition, state: &'a str) -> impl Iterator<Item = &'a By> {
    let later = definition.find_state(state).into_iter().flat_map(|state| &state.escalates_to);
    awaited(definition, state).flat_map(Transition::everybody).chain(later)
}

/// Whether it is somebody else's turn in a state after each approval.
pub(crate) fn has_groups(definition: &Definition, state: &str) -> bool {
    awaited(definition, state).any(|way| !way.groups.is_empty())
}

/// The rights that are claims in some state.
pub(crate) fn rights(definition: &Definition) -> impl Iterator<Item = &By> {
    let states = definition.states.iter();
    states.flat_map(|state| all_by(definition, &state.name)).filter(|by| by.is_right())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::State;

    const ADA: Uuid = Uuid::from_u128(1);
    const BOB: Uuid = Uuid::from_u128(2);

    fn claims(way: Transition) -> Vec<Claim> {
        let definition = Definition::new()
            .state(State::initial("open"))
            .state(State::new("waiting").escalates_to(By::permission("Q")))
            .transition(way.from(["open", "waiting"]).to("open"));
        let standing = |state, is_escalated| Standing {
            state,
            creator: Some(ADA),
            last: Some(BOB),
            is_escalated,
            approvals: &[],
            reassigned: &[],
            person_in: &|property| (property == "buyerId").then_some(BOB),
        };
        assert_eq!(standing("open", true).claims(&definition), BTreeSet::new());
        let mut later = standing("waiting", true).claims(&definition);
        let claims = standing("waiting", false).claims(&definition);
        later.retain(|claim| !claims.contains(claim));
        assert!(later.iter().all(|claim| claim.who == of_permission("Q")), "{later:?}");
        assert_eq!(later.is_empty(), awaited(&definition, "waiting").next().is_none());
        claims.into_iter().collect()
    }

    fn of(who: &str) -> Claim {
        let who = who.to_owned();
        Claim { who, several: None, not_creator: None, not_last: None, for_user: None }
    }

    #[test]
    fn each_who_may_has_a_claim() {
        let way = || Transition::new("x");
        let (ada, bob) = (of(&of_user(ADA)), of(&of_user(BOB)));
        let holders = || of(&of_permission("P"));
        assert_eq!(claims(way().by(By::permission("P"))), [holders()]);
        let role = "Buyers, 100 %";
        assert_eq!(claims(way().by(By::role(role))), [of("role:buyers%2C 100 %25")]);
        assert_eq!(claims(way().by(By::Creator)), [ada]);
        assert_eq!(claims(way().by(By::person_in("buyerId"))), [bob]);
        assert_eq!(claims(way().by(By::person_in("nobody"))), []);
        assert_eq!(claims(way().by(By::Creator).optional()), []);
        let several = way().by(By::permission("P")).approvals(2);
        assert_eq!(claims(several), [Claim { several: Some("x".to_owned()), ..holders() }]);
    }

    #[test]
    fn four_eyes_leave_out() {
        let way = || Transition::new("x").not_by_creator().not_by_last();
        let holders = of(&of_permission("P"));
        let expected = Claim { not_creator: Some(ADA), not_last: Some(BOB), ..holders };
        assert_eq!(claims(way().by(By::permission("P"))), [expected]);
        assert_eq!(claims(way().by(By::Creator).by(By::person_in("buyerId"))), []);
    }
}
