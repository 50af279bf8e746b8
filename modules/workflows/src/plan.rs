//! Whether somebody may take a transition, as far as no query tells. Pure.

use svc_core::{Error, Principal, PrincipalKind};
use uuid::Uuid;

use crate::definition::{By, Transition};
use crate::errors::{APPROVED_ALREADY, COMMENT_MISSING, FOUR_EYES, NOT_ALLOWED, OTHER_STATE};

/// What is known of a record and of who asks.
pub(crate) struct Facts<'a> {
    /// Who asks.
    pub(crate) who: &'a Principal,
    /// The state that the record is in.
    pub(crate) state: &'a str,
    /// The person who made the record, where that is known.
    pub(crate) creator: Option<Uuid>,
    /// The person who took the last transition.
    pub(crate) last: Option<Uuid>,
    /// Who may act too, because the record is overdue.
    pub(crate) escalated_to: &'a [By],
    /// Who has approved which transition, of the record as it is.
    pub(crate) approved: &'a [(&'a str, Uuid)],
    /// The person whom a property of the record names.
    pub(crate) person_in: &'a dyn Fn(&str) -> Option<Uuid>,
}

impl Facts<'_> {
    /// What keeps the person from the transition; the condition and the comment aside.
    pub(crate) fn refusal(&self, transition: &Transition) -> Option<Error> {
        if !transition.leaves(self.state) {
            let message = format!(
                "`{}` is not possible in the state `{}`; it is in `{}`",
                transition.name,
                self.state,
                transition.from.join("`, `")
            );
            return Some(OTHER_STATE.error(message).with("state", self.state));
        }
        let later = if transition.optional { &[][..] } else { self.escalated_to };
        let by = || transition.by.iter().chain(later);
        if !by().any(|by| self.is_among(by)) {
            return Some(not_among(by()));
        }
        let me = self.who.user_id().map(|user| user.0);
        if transition.not_by_creator && me.is_some() && me == self.creator {
            return Some(
                FOUR_EYES.error("whoever made the record can't take this step; ask somebody else"),
            );
        }
        if transition.not_by_last && me.is_some() && me == self.last {
            return Some(
                FOUR_EYES
                    .error("whoever took the last step can't take this one; ask somebody else"),
            );
        }
        let name = transition.name.as_str();
        if me.is_some_and(|me| self.approved.contains(&(name, me))) {
            let missing =
                missing(transition, self.approved.iter().filter(|it| it.0 == name).count());
            let message =
                format!("you have approved this already; it still takes {missing} others");
            return Some(APPROVED_ALREADY.error(message).with("missing", missing));
        }
        None
    }

    fn is_among(&self, by: &By) -> bool {
        let me = self.who.user_id().map(|user| user.0);
        match by {
            // The application itself, as it does when a time has come.
            _ if self.who.kind() == PrincipalKind::System => true,
            By::Permission(permission) => self.who.can(permission),
            By::Creator => me.is_some() && me == self.creator,
            By::Person(property) => me.is_some() && me == (self.person_in)(property),
        }
    }
}

/// The refusal of whoever is none of those who may take a transition.
fn not_among<'a>(by: impl Iterator<Item = &'a By>) -> Error {
    let permissions = by.filter_map(|by| match by {
        By::Permission(permission) => Some(permission.as_str()),
        By::Creator | By::Person(_) => None,
    });
    let permissions: Vec<&str> = permissions.collect();
    let message = match permissions[..] {
        [] => "only the person whom the record names may do this".to_owned(),
        _ => format!("this needs the permission `{}`", permissions.join("` or `")),
    };
    NOT_ALLOWED.error(message).with("permissions", permissions)
}

/// How many people a transition still takes, where so many were.
pub(crate) fn missing(transition: &Transition, given: usize) -> u32 {
    transition.approvals.saturating_sub(u32::try_from(given).unwrap_or(u32::MAX))
}

/// Insists on the comment of a transition that needs one.
pub(crate) fn missing_comment(transition: &Transition, comment: Option<&str>) -> Option<Error> {
    (transition.needs_comment && comment.is_none())
        .then(|| COMMENT_MISSING.error("this step needs a comment").field("comment", "is required"))
}

#[cfg(test)]
mod tests {
    use svc_core::{OrganisationId, PermissionSet, UserId};

    use super::*;

    const ADA: Uuid = Uuid::from_u128(1);
    const BOB: Uuid = Uuid::from_u128(2);
    const CY: Uuid = Uuid::from_u128(3);

    fn person(id: Uuid, permissions: &[&str]) -> Principal {
        let permissions: PermissionSet = permissions.iter().copied().collect();
        Principal::user(UserId(id), "somebody", OrganisationId(Uuid::nil()), permissions)
    }

    fn code(who: &Principal, transition: &Transition) -> Option<&'static str> {
        code_later(who, transition, &[])
    }

    fn code_later(
        who: &Principal,
        transition: &Transition,
        escalated_to: &[By],
    ) -> Option<&'static str> {
        let facts = Facts {
            who,
            state: "open",
            creator: Some(ADA),
            last: Some(BOB),
            escalated_to,
            approved: &[("x", CY)],
            person_in: &|property| (property == "buyerId").then_some(BOB),
        };
        facts.refusal(transition).map(|error| error.code())
    }

    #[test]
    fn any_of_those_who_are_named_may() {
        let way = || Transition::new("x").from(["open"]).to("done");
        let (ada, bob) = (person(ADA, &[]), person(BOB, &["Orders.Approve"]));
        let by_permission = way().by(By::permission("Orders.Approve"));
        assert_eq!(code(&ada, &by_permission), Some("workflows.not_allowed"));
        assert_eq!(code(&bob, &by_permission), None);
        assert_eq!(code(&ada, &by_permission.by(By::Creator)), None);
        assert_eq!(code(&bob, &way().by(By::Creator)), Some("workflows.not_allowed"));
        assert_eq!(code(&bob, &way().by(By::person_in("buyerId"))), None);
        assert_eq!(code(&ada, &way().by(By::person_in("buyerId"))), Some("workflows.not_allowed"));
        assert_eq!(code(&bob, &way().by(By::person_in("other"))), Some("workflows.not_allowed"));
    }

    #[test]
    fn four_eyes_are_four() {
        let way = || Transition::new("x").from(["open"]).to("done").by(By::permission("P"));
        let (ada, bob) = (person(ADA, &["P"]), person(BOB, &["P"]));
        assert_eq!(code(&ada, &way().not_by_creator()), Some("workflows.four_eyes"));
        assert_eq!(code(&bob, &way().not_by_creator()), None);
        assert_eq!(code(&ada, &way().not_by_last()), None);
        assert_eq!(code(&bob, &way().not_by_last()), Some("workflows.four_eyes"));
        let system = Principal::system_in(OrganisationId(Uuid::nil()));
        assert_eq!(code(&system, &way().not_by_last().not_by_creator()), None);
        let by_creator = Transition::new("x").from(["open"]).to("done").by(By::Creator);
        assert_eq!(code(&system, &by_creator), None, "the application needs nobody");
    }

    #[test]
    fn what_is_overdue_is_for_others_too() {
        let way = || Transition::new("x").from(["open"]).to("done").by(By::permission("P"));
        let (ada, later) = (person(ADA, &[]), [By::Creator]);
        assert_eq!(code_later(&ada, &way(), &[]), Some("workflows.not_allowed"));
        assert_eq!(code_later(&ada, &way(), &later), None);
        let eyes = way().not_by_creator();
        assert_eq!(code_later(&ada, &eyes, &later), Some("workflows.four_eyes"));
        let optional = way().optional();
        assert_eq!(code_later(&ada, &optional, &later), Some("workflows.not_allowed"));
    }

    #[test]
    fn nobody_approves_twice() {
        let way = |name: &str| {
            Transition::new(name).from(["open"]).to("done").by(By::permission("P")).approvals(2)
        };
        let (bob, cy) = (person(BOB, &["P"]), person(CY, &["P"]));
        assert_eq!(code(&cy, &way("x")), Some("workflows.approved_already"));
        assert_eq!((code(&cy, &way("y")), code(&bob, &way("x"))), (None, None));
    }

    #[test]
    fn the_state_is_asked_first() {
        let elsewhere = Transition::new("x").from(["done"]).to("open");
        assert_eq!(code(&person(ADA, &[]), &elsewhere), Some("workflows.other_state"));
    }
}
