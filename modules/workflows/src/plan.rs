//! Whether somebody may take a transition, as far as no query tells. Pure.

use svc_core::{Error, Principal, PrincipalKind};
use uuid::Uuid;

use crate::definition::{By, Group, Transition};
use crate::errors::{
    APPROVED_ALREADY, COMMENT_MISSING, FOUR_EYES, HANDED_ON, NOT_ALLOWED, OTHER_GROUP, OTHER_STATE,
};
use crate::groups::{self, Given};
use crate::store::{Approval, Reassignment};

/// What is known of a record and of who asks.
pub(crate) struct Facts<'a> {
    /// Who asks.
    pub(crate) who: &'a Principal,
    /// For whom, where somebody stands in.
    pub(crate) represents: Option<&'a Principal>,
    /// Whose turn was handed on.
    pub(crate) reassigned: &'a [Reassignment],
    /// The state that the record is in.
    pub(crate) state: &'a str,
    /// The person who made the record, where that is known.
    pub(crate) creator: Option<Uuid>,
    /// The person who took the last transition.
    pub(crate) last: Option<Uuid>,
    /// Who may act too, because the record is overdue.
    pub(crate) escalated_to: &'a [By],
    /// Who has approved which transition, of the record as it is.
    pub(crate) approvals: &'a [Approval],
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
        let by = || transition.everybody().chain(later);
        if !by().any(|by| self.is_among(by)) {
            return Some(not_among(by()));
        }
        if let Some(refusal) = self.has_handed_on(transition) {
            return Some(refusal);
        }
        // Whoever stands in for somebody counts as both.
        let people = self.people();
        let is_one = |who: Option<Uuid>| who.is_some_and(|who| people.contains(&who));
        if transition.not_by_creator && is_one(self.creator) {
            return Some(
                FOUR_EYES.error("whoever made the record can't take this step; ask somebody else"),
            );
        }
        if transition.not_by_last && is_one(self.last) {
            return Some(
                FOUR_EYES
                    .error("whoever took the last step can't take this one; ask somebody else"),
            );
        }
        let is_by = |approval: &Approval| {
            let represented = approval.represents.as_ref().map(|one| one.user);
            is_one(Some(approval.user)) || is_one(represented)
        };
        if self.approvals_of(transition).any(is_by) {
            let missing = groups::missing(transition, &self.given(transition));
            let message =
                format!("you have approved this already; it still takes {missing} others");
            return Some(APPROVED_ALREADY.error(message).with("missing", missing));
        }
        if !transition.groups.is_empty() && self.groups_of(transition).is_empty() {
            let open = groups::open(transition, &self.given(transition));
            let names: Vec<&str> = open.iter().map(|group| group.name.as_str()).collect();
            let message = format!(
                "it is the turn of others, of `{}`, to approve this",
                names.join("` and `")
            );
            return Some(OTHER_GROUP.error(message).with("groups", names));
        }
        None
    }

    /// The person whose rights count.
    fn speaker(&self) -> &Principal {
        self.represents.unwrap_or(self.who)
    }

    /// The person, and for whom that one stands in.
    fn people(&self) -> Vec<Uuid> {
        let all = [Some(self.who), self.represents].into_iter().flatten();
        all.filter_map(|who| who.user_id().map(|user| user.0)).collect()
    }

    /// Whether the turn has been handed on, to somebody else than the person.
    fn has_handed_on(&self, transition: &Transition) -> Option<Error> {
        let (me, speaker) = (self.who.user_id()?.0, self.speaker().user_id()?.0);
        let mut all = self.reassigned.iter().filter(|_| !transition.optional);
        let to = all.find(|one| one.from == speaker && one.to != me)?;
        let message = format!("the turn was handed on to `{}`", to.to_name);
        Some(HANDED_ON.error(message).with("to", &*to.to_name))
    }

    /// The groups of a transition that the person counts for, one of which is missing somebody; none where none is.
    pub(crate) fn groups_of(&self, transition: &Transition) -> Vec<String> {
        let open = groups::open(transition, &self.given(transition));
        let later = if transition.optional { &[][..] } else { self.escalated_to };
        let stands_in = later.iter().any(|by| self.is_among(by));
        let is_of = |group: &Group| group.by.iter().any(|by| self.is_among(by));
        if !open.iter().any(|group| stands_in || is_of(group)) {
            return Vec::new();
        }
        let of: Vec<&Group> = if transition.in_sequence || stands_in {
            open
        } else {
            transition.groups.iter().filter(|group| is_of(group)).collect()
        };
        of.into_iter().map(|group| group.name.clone()).collect()
    }

    fn approvals_of(&self, transition: &Transition) -> impl Iterator<Item = &Approval> {
        self.approvals.iter().filter(|approval| approval.transition == transition.name)
    }

    fn given(&self, transition: &Transition) -> Given<'_> {
        self.approvals_of(transition).map(|approval| &*approval.groups).collect()
    }

    fn is_among(&self, by: &By) -> bool {
        let who = self.speaker();
        let me = who.user_id().map(|user| user.0);
        match by {
            // The application itself, as it does when a time has come.
            _ if who.kind() == PrincipalKind::System => true,
            By::Permission(_) | By::Role(_) => by.is_right_of(who),
            By::Creator => me.is_some() && me == self.creator,
            By::Person(property) => me.is_some() && me == (self.person_in)(property),
        }
    }
}

/// The refusal of whoever doesn't hold a permission that every transition asks for.
pub(crate) fn missing_permission(who: &Principal, permission: &str) -> Option<Error> {
    let refused = || {
        let message = format!("this needs the permission `{permission}`");
        NOT_ALLOWED.error(message).with("permissions", vec![permission])
    };
    (!who.can(permission)).then(refused)
}

/// The refusal of whoever is none of those who may take a transition.
fn not_among<'a>(by: impl Iterator<Item = &'a By>) -> Error {
    let (mut permissions, mut roles): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    for by in by {
        match by {
            By::Permission(name) => permissions.push(name),
            By::Role(name) => roles.push(name),
            By::Creator | By::Person(_) => {}
        }
    }
    let named = |names: &[&str]| names.join("` or `");
    let message = match (&permissions[..], &roles[..]) {
        ([], []) => "only the person whom the record names may do this".to_owned(),
        ([], _) => format!("only members of the role `{}` may do this", named(&roles)),
        (_, []) => format!("this needs the permission `{}`", named(&permissions)),
        _ => format!(
            "this needs the permission `{}`, or the role `{}`",
            named(&permissions),
            named(&roles)
        ),
    };
    NOT_ALLOWED.error(message).with("permissions", permissions).with("roles", roles)
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
            represents: None,
            reassigned: &[],
            state: "open",
            creator: Some(ADA),
            last: Some(BOB),
            escalated_to,
            approvals: &[approved_by_cy()],
            person_in: &|property| (property == "buyerId").then_some(BOB),
        };
        facts.refusal(transition).map(|error| error.code())
    }

    fn approved_by_cy() -> Approval {
        Approval {
            steps: 0,
            transition: "x".to_owned(),
            user: CY,
            user_name: "Cy".to_owned(),
            represents: None,
            comment: None,
            groups: vec!["a".to_owned()],
            record_version: 1,
            at_us: 0,
        }
    }

    #[test]
    fn who_stands_in_counts_as_both() {
        let way = || Transition::new("x").from(["open"]).to("done").by(By::permission("P"));
        let (eve, gil) = (Uuid::from_u128(7), Uuid::from_u128(8));
        let handed_on = [Reassignment {
            from: gil,
            to: eve,
            to_name: "Eve".to_owned(),
            reason: "away".to_owned(),
            by_name: "Gil".to_owned(),
            rights: Vec::new(),
            at_us: 0,
        }];
        let code = |who: &Principal, represents: Option<&Principal>, way: &Transition| {
            let facts = Facts {
                who,
                represents,
                reassigned: &handed_on,
                state: "open",
                creator: Some(ADA),
                last: Some(BOB),
                escalated_to: &[],
                approvals: &[approved_by_cy()],
                person_in: &|_| None,
            };
            facts.refusal(way).map(|error| error.code())
        };
        let none = person(eve, &[]);
        assert_eq!(code(&none, None, &way()), Some("workflows.not_allowed"));
        let able = |id: Uuid| person(id, &["P"]);
        assert_eq!(code(&none, Some(&able(Uuid::from_u128(9))), &way()), None);
        // What one of them can't, neither can for the other.
        assert_eq!(
            code(&none, Some(&able(ADA)), &way().not_by_creator()),
            Some("workflows.four_eyes")
        );
        assert_eq!(
            code(&person(BOB, &[]), Some(&able(gil)), &way().not_by_last()),
            Some("workflows.handed_on")
        );
        assert_eq!(
            code(&person(BOB, &[]), Some(&able(ADA)), &way().not_by_last()),
            Some("workflows.four_eyes")
        );
        let several = way().approvals(3);
        assert_eq!(code(&none, Some(&able(CY)), &several), Some("workflows.approved_already"));
        assert_eq!(code(&able(CY), Some(&able(ADA)), &several), Some("workflows.approved_already"));
        // What was handed on is the other's, but for what nobody is waited for.
        assert_eq!(code(&able(gil), None, &way()), Some("workflows.handed_on"));
        assert_eq!(code(&able(gil), None, &way().optional()), None);
        assert_eq!(code(&none, Some(&able(gil)), &way()), None);
    }

    #[test]
    fn each_group_has_its_turn() {
        let group = |name: &str| Group::new(name).by(By::permission(name));
        let way = || Transition::new("x").from(["open"]).to("done").group(group("a"));
        let both = || way().group(group("b").by(By::Creator));
        let (first, second) = (person(BOB, &["a"]), person(BOB, &["b"]));
        // Cy has approved for `a`.
        assert_eq!(code(&first, &both()), Some("workflows.other_group"));
        assert_eq!(code(&second, &both()), None);
        assert_eq!(code(&person(ADA, &[]), &both()), None);
        assert_eq!(code(&person(BOB, &[]), &both()), Some("workflows.not_allowed"));
        assert_eq!(code(&person(CY, &["b"]), &both()), Some("workflows.approved_already"));
        let later = Transition { groups: vec![group("c"), group("b")], ..both().in_sequence() };
        assert_eq!(code(&second, &later), Some("workflows.other_group"));
        assert_eq!(code(&person(BOB, &["c"]), &later), None);
        assert_eq!(code_later(&person(BOB, &["d"]), &later, &[By::permission("d")]), None);
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
    fn members_of_a_role_may() {
        let way = || Transition::new("x").from(["open"]).to("done").by(By::role("Buyers"));
        let (ada, bob) = (person(ADA, &["Buyers"]), person(BOB, &[]).with_roles(["buyers"]));
        assert_eq!(code(&ada, &way()), Some("workflows.not_allowed"), "a permission isn't a role");
        assert_eq!(code(&bob, &way()), None);
        assert_eq!(code(&ada, &way().by(By::Creator)), None);
        assert_eq!(code(&bob, &way().not_by_last()), Some("workflows.four_eyes"));
        let refusal = |by: &[By]| {
            let refused = not_among(by.iter());
            (refused.message().to_owned(), refused.parameters()["roles"].clone())
        };
        let (told, roles) = refusal(&[By::role("Buyers"), By::Creator]);
        assert_eq!(told, "only members of the role `Buyers` may do this");
        assert_eq!(roles, serde_json::json!(["Buyers"]));
        let (told, _) = refusal(&[By::permission("P"), By::role("Buyers")]);
        assert_eq!(told, "this needs the permission `P`, or the role `Buyers`");
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
