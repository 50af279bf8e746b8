//! Which records await somebody, in SQL over the stored claims: the property `workflowAwaitsMe`, and what
//! lists and counts tasks.
//!
//! Both ask the same of a claim. The property asks it of the claims of a row; the list goes through the claims
//! of a person in the order of their index, and tells those whose record the person sees. What is hidden is left
//! out by the statement, so neither a count nor a page tells of it.
//!
//! What awaits those for whom somebody stands in awaits that one, too: the claims of those who delegate are stored as they
//! were looked up last ([`crate::delegation`]), and a turn that was handed on has claims of its own.

use std::collections::BTreeSet;

use parking_lot::RwLock;
use sea_orm::sea_query::{
    Alias, Asterisk, Condition, Expr, ExprTrait as _, Func, JoinType, Order, Query,
    SelectStatement, UnionType,
};
use svc_core::{OrganisationId, Principal, PrincipalKind};
use svc_data::{EntityModel, KeysAsked, Viewer, VirtualRow};
use svc_database::Backend;
use uuid::Uuid;

use crate::claims;
use crate::declared::STATE_PROPERTY;
use crate::definition::{By, Definition};
use crate::permissions::ACT;

/// The rights by which people may be waited for to take records of a set on, in all versions that there
/// were when the node started.
#[derive(Debug, Default)]
pub(crate) struct Awaited {
    named: RwLock<BTreeSet<By>>,
    /// The permissions that there are, where a version may name any of them, and any role: what a row is asked by.
    any: Option<BTreeSet<String>>,
}

/// What of a list of tasks comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TaskOrder {
    Newest,
    /// What is due first.
    Due,
}

/// Whose claims are asked for.
struct Asking {
    me: Uuid,
    /// For whom that one stands in, where it is for somebody.
    represents: Option<Expr>,
}

/// Whose tasks are asked for.
pub(crate) struct Tasks<'a> {
    pub(crate) who: Viewer<'a>,
    pub(crate) user: Uuid,
    pub(crate) organisation: OrganisationId,
    pub(crate) model: &'a EntityModel,
    pub(crate) awaited: &'a Awaited,
    /// For whom the person stands in, with the claims of each.
    pub(crate) delegated: &'a BTreeSet<(Uuid, String)>,
}

impl Awaited {
    /// Where somebody draws workflows, a version may name any permission.
    pub(crate) fn new(any: impl Iterator<Item = String>) -> Self {
        let any: BTreeSet<String> = any.collect();
        Self { named: RwLock::default(), any: (!any.is_empty()).then_some(any) }
    }

    pub(crate) fn add(&self, definition: &Definition) {
        let mut named = self.named.write();
        named.extend(claims::rights(definition).cloned());
    }

    /// The claims by rights that somebody has.
    pub(crate) fn held_by(&self, who: &Principal) -> Vec<String> {
        let named = self.named.read();
        named.iter().filter(|by| by.is_right_of(who)).filter_map(claims::of_right).collect()
    }

    fn claims_of(&self, who: &Principal, me: Uuid) -> Vec<String> {
        self.held_by(who).into_iter().chain([claims::of_user(me)]).collect()
    }

    /// The claims that a row is asked by.
    fn claims_asked(&self, who: &Principal, me: Uuid) -> Vec<String> {
        match &self.any {
            Some(any) => held(any, who).chain([claims::of_user(me)]).collect(),
            None => self.claims_of(who, me),
        }
    }

    /// The keys of the records of a set that somebody has a claim to, or stands in for somebody who has: all that await
    /// that one are among them. None for whoever takes no record on.
    pub(crate) fn claimed(
        &self,
        asked: &KeysAsked<'_>,
        set: &str,
        now_us: i64,
    ) -> Option<SelectStatement> {
        let who = asked.who;
        let me = who.user_id().filter(|_| who.can(ACT))?.0;
        let organisation = who.organisation()?.0;
        let by = match asked.by() {
            None => None,
            Some(STATE_PROPERTY) => Some("state"),
            Some(_) => return None,
        };
        let range = |whose, claim| {
            let is_its = ["organisation_id", "set_name", "claim"].map(column);
            let its = [Expr::val(organisation), Expr::val(set), claim];
            let is_its = is_its.into_iter().zip(its).map(|(one, other)| one.eq(other));
            claims_in_order(asked, by, whose, is_its.fold(Condition::all(), Condition::add))
        };
        let mut claims = Query::select();
        claims.from_values(self.claims_asked(who, me), Alias::new(ASKED));
        let own = range(claims, Expr::col((Alias::new(ASKED), Alias::new("column1"))));
        if who.kind() != PrincipalKind::User {
            return Some(own);
        }
        let of = |name: &str| DELEGATED.column(name);
        let mut delegated = DELEGATED.select();
        delegated
            .and_where(of("organisation_id").eq(organisation))
            .cond_where(is_delegated_to(me, now_us));
        let others = range(delegated, of("claim"));
        let mut all = Query::select();
        all.column(Asterisk).from_subquery(own, Alias::new("own"));
        let mut delegated = Query::select();
        delegated.column(Asterisk).from_subquery(others, Alias::new("others"));
        Some(all.union(UnionType::All, delegated).take())
    }

    /// Whether a row awaits whoever asks: nobody who takes no record on. The system awaits itself nowhere.
    pub(crate) fn awaits(&self, row: &VirtualRow<'_>, set: &str, now_us: i64) -> Expr {
        if !row.who().can(ACT) {
            return Expr::val(false);
        }
        let Some(me) = row.who().user_id().map(|user| user.0) else { return Expr::val(false) };
        let version = row.entity.version_index();
        let version = version.map(|version| row.column(row.entity.columns[version].name));
        let own = Asking { me, represents: None };
        let claims = self.claims_asked(row.who(), me);
        let mut is_possible = Condition::any().add(
            Condition::all()
                .add(column("claim").is_in(claims.iter().map(String::as_str)))
                .add(own.is_possible(version.clone())),
        );
        // A key has no more than its own scope.
        if row.who().kind() == PrincipalKind::User {
            is_possible = is_possible.add(Expr::exists(delegated_claim(me, now_us, version)));
        }
        let mut found = CLAIMS.select();
        found
            .expr(one())
            .and_where(column("organisation_id").eq(row.organisation()))
            .and_where(column("set_name").eq(set))
            .and_where(column("record_id").eq(row.key()))
            .cond_where(is_possible);
        Expr::exists(found)
    }
}

/// The keys of the records of claims, for each row of those who have them: the first that are asked for.
fn claims_in_order(
    asked: &KeysAsked<'_>,
    by: Option<&str>,
    mut whose: SelectStatement,
    is_its: Condition,
) -> SelectStatement {
    let (key, value) = (column("record_id"), by.map(column));
    let put = |select: &mut SelectStatement| {
        select.expr_as(key.clone(), Alias::new(KeysAsked::KEY));
        if let Some(value) = &value {
            select.expr_as(value.clone(), Alias::new(KeysAsked::VALUE));
        }
        asked.first_of(select, &key, value.as_ref());
    };
    let (name, alias) = (Alias::new(CLAIMS.name), Alias::new(CLAIMS.alias));
    match (asked.backend, asked.order.is_some()) {
        // Joined, PostgreSQL looks for each in the index. With a list it may go through the claims of everybody, since it takes
        // what is asked for to be spread evenly among them.
        (_, false) => put(whose.join_as(JoinType::InnerJoin, name, alias, is_its)),
        // It leaves a range once nothing in it comes before what it has, if it goes along the index that has this order: the one with
        // a further condition. Of tables that are merely joined it may begin with either.
        (Backend::Sqlite, true) => {
            let least = match &value {
                Some(value) => value.clone().gte(""),
                None => key.clone().gte(Uuid::nil()),
            };
            let all = Condition::all();
            let whose = whose.join_as(JoinType::CrossJoin, name, alias, all).cond_where(is_its);
            put(whose.and_where(least));
        }
        // It would read all of each range.
        (Backend::Postgres, true) => {
            let (mut claims, first) = (CLAIMS.select(), Alias::new("~f"));
            put(claims.cond_where(is_its));
            let all = Condition::all().add(Expr::val(true));
            let whose = whose.column((first.clone(), Asterisk));
            whose.join_lateral(JoinType::InnerJoin, claims, first, all);
        }
    }
    whose
}

/// The claims by some permissions, and by any role.
fn held<'a>(
    permissions: &'a BTreeSet<String>,
    who: &'a Principal,
) -> impl Iterator<Item = String> + use<'a> {
    let permissions = permissions.iter().filter(|name| who.can(name));
    permissions.map(|name| claims::of_permission(name)).chain(who.roles().map(claims::of_role))
}

/// Whether a claim is one of somebody for whom the person stands in now.
fn delegated_claim(me: Uuid, now_us: i64, version: Option<Expr>) -> SelectStatement {
    let of = |name: &str| DELEGATED.column(name);
    let asking = Asking { me, represents: Some(of("from_user")) };
    let mut found = DELEGATED.select();
    found
        .expr(one())
        .and_where(of("organisation_id").eq(column("organisation_id")))
        .and_where(of("claim").eq(column("claim")))
        .cond_where(is_delegated_to(me, now_us))
        .cond_where(asking.is_possible(version));
    found
}

/// Whether what is delegated is so to somebody, now.
fn is_delegated_to(me: Uuid, now_us: i64) -> Condition {
    let of = |name: &str| DELEGATED.column(name);
    Condition::all()
        .add(of("to_user").eq(me))
        .add(of("begins_us").lte(now_us))
        .add(of("ends_us").gt(now_us))
}

/// A table under a short name: the statement of a page names its columns dozens of times, and what is long isn't kept
/// prepared.
#[derive(Clone, Copy)]
struct Table {
    name: &'static str,
    alias: &'static str,
}

/// What stands for the claims that somebody has.
const ASKED: &str = "~k";

const CLAIMS: Table = Table { name: "workflows_claims", alias: "~c" };
const APPROVALS: Table = Table { name: "workflows_approvals", alias: "~a" };
const DELEGATED: Table = Table { name: "workflows_delegated", alias: "~d" };
const REASSIGNMENTS: Table = Table { name: "workflows_reassignments", alias: "~r" };

impl Table {
    fn select(self) -> SelectStatement {
        Query::select().from_as(Alias::new(self.name), Alias::new(self.alias)).take()
    }

    fn column(self, name: &str) -> Expr {
        Expr::col((Alias::new(self.alias), Alias::new(name)))
    }
}

/// What a subquery gives that is asked whether it finds anything: no value, so the statement stays short.
fn one() -> Expr {
    Expr::Constant(1.into())
}

/// A column of the claims.
fn column(name: &str) -> Expr {
    CLAIMS.column(name)
}

impl Asking {
    /// The person, and for whom that one stands in.
    fn people(&self) -> Vec<Expr> {
        [Some(Expr::val(self.me)), self.represents.clone()].into_iter().flatten().collect()
    }

    /// Whether nothing keeps the person from a claim.
    fn is_possible(&self, version: Option<Expr>) -> Condition {
        let possible = Condition::all()
            .add(self.is_not_left_out())
            .add(self.has_not_approved(version))
            .add(self.has_not_handed_on());
        match self.represents {
            // Who stands in for somebody doesn't for those whom that person stands in for.
            Some(_) => possible.add(column("for_user").is_null()),
            None => possible,
        }
    }

    /// Four eyes.
    fn is_not_left_out(&self) -> Condition {
        let mut all = Condition::all();
        for name in ["not_creator", "not_last"] {
            let others = self.people().into_iter().map(|one| column(name).ne(one));
            let others = others.fold(Condition::all(), Condition::add);
            all = all.add(Condition::any().add(column(name).is_null()).add(others));
        }
        all
    }

    /// Whether the claim isn't one that has been used: by an approval of the record as it is.
    fn has_not_approved(&self, version: Option<Expr>) -> Expr {
        let of = |name: &str| APPROVALS.column(name);
        let people = || self.people().into_iter().chain([column("for_user")]);
        let is_by =
            Condition::any().add(of("user_id").is_in(people())).add(of("for_user").is_in(people()));
        let mut found = APPROVALS.select();
        found.expr(one()).and_where(of("transition").eq(column("several"))).cond_where(is_by);
        for name in ["organisation_id", "set_name", "record_id", "steps"] {
            found.and_where(of(name).eq(column(name)));
        }
        if let Some(version) = version {
            found.and_where(of("record_version").eq(version));
        }
        column("several").is_null().or(Expr::exists(found).not())
    }

    /// Whether the turn is still the one of whoever has it by the claim.
    fn has_not_handed_on(&self) -> Expr {
        let of = |name: &str| REASSIGNMENTS.column(name);
        let speaker = self.represents.clone().unwrap_or_else(|| Expr::val(self.me));
        let mut found = REASSIGNMENTS.select();
        found.expr(one()).and_where(of("from_user").eq(speaker));
        for name in ["organisation_id", "set_name", "record_id", "steps"] {
            found.and_where(of(name).eq(column(name)));
        }
        column("for_user").is_not_null().or(Expr::exists(found).not())
    }
}

impl TaskOrder {
    fn column(self) -> &'static str {
        match self {
            Self::Newest => "since_us",
            Self::Due => "due_us",
        }
    }

    fn direction(self) -> Order {
        match self {
            Self::Newest => Order::Desc,
            Self::Due => Order::Asc,
        }
    }
}

impl Tasks<'_> {
    /// The records of the set that await the person, the time that they are ordered by and `record_id` of each:
    /// behind a place, at most so many. A part of it for each claim goes through a range of an index.
    pub(crate) fn page(
        &self,
        order: TaskOrder,
        after: Option<(i64, Uuid, bool)>,
        count: u64,
    ) -> SelectStatement {
        let own =
            self.awaited.claims_of(&self.who, self.user).into_iter().map(|claim| (None, claim));
        let delegated = self.delegated.iter();
        let others = delegated.map(|(from, claim)| (Some(Expr::val(*from)), claim.clone()));
        let parts = own.chain(others).map(|(represents, claim)| {
            let asking = Asking { me: self.user, represents };
            let part = self.of_claim((&asking, &claim), order, after, count);
            Query::select().column(Asterisk).from_subquery(part, Alias::new("part")).take()
        });
        let all = parts.reduce(|mut all, part| all.union(UnionType::Distinct, part).take());
        let mut page = Query::select();
        page.column(Asterisk)
            .from_subquery(all.unwrap_or_default(), Alias::new("tasks"))
            .order_by(Alias::new(order.column()), order.direction())
            .order_by(Alias::new("record_id"), order.direction())
            .limit(count);
        page
    }

    /// How many there are, up to so many.
    pub(crate) fn count(&self, most: u64) -> SelectStatement {
        Query::select()
            .expr(Func::count(Expr::col(Asterisk)))
            .from_subquery(self.page(TaskOrder::Newest, None, most), Alias::new("counted"))
            .take()
    }

    fn of_claim(
        &self,
        (asking, claim): (&Asking, &str),
        order: TaskOrder,
        after: Option<(i64, Uuid, bool)>,
        count: u64,
    ) -> SelectStatement {
        let place = || Expr::tuple([column(order.column()), column("record_id")]);
        let mut part = CLAIMS.select();
        part.distinct()
            .expr(column(order.column()))
            .expr(column("record_id"))
            .and_where(column("organisation_id").eq(self.organisation.0))
            .and_where(column("set_name").eq(self.model.name()))
            .and_where(column("claim").eq(claim))
            .and_where(Expr::exists(self.record(asking)))
            .order_by_expr(column(order.column()), order.direction())
            .order_by_expr(column("record_id"), order.direction())
            .limit(count);
        if let Some((at_us, id, is_told)) = after {
            let last = Expr::tuple([Expr::val(at_us), Expr::val(id)]);
            part.and_where(match (order, is_told) {
                (TaskOrder::Newest, true) => place().lt(last),
                (TaskOrder::Newest, false) => place().lte(last),
                (TaskOrder::Due, true) => place().gt(last),
                (TaskOrder::Due, false) => place().gte(last),
            });
        }
        part
    }

    /// The record of a claim, if the person sees it.
    fn record(&self, asking: &Asking) -> SelectStatement {
        let model = self.model;
        let version = model.version_index().map(|version| Expr::col(model.column_ref(version)));
        let key = Expr::col(model.column_ref(model.key_index()));
        let mut record = Query::select();
        record
            .expr(one())
            .from(model.table_iden())
            .and_where(key.eq(column("record_id")))
            .cond_where(model.seen_by(self.who))
            .cond_where(asking.is_possible(version));
        record
    }
}
