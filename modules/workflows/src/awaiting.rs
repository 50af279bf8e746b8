//! Which records await somebody, in SQL over the stored claims: the property `workflowAwaitsMe`, and what
//! lists and counts tasks.
//!
//! Both ask the same of a claim. The property asks it of the claims of a row; the list goes through the claims
//! of a person in the order of their index, and tells those whose record the person sees. What is hidden is left
//! out by the statement, so neither a count nor a page tells of it.

use std::collections::BTreeSet;

use sea_orm::sea_query::{
    Alias, Asterisk, Condition, Expr, ExprTrait as _, Func, Order, Query, SelectStatement,
    UnionType,
};
use svc_core::{OrganisationId, Principal};
use svc_data::{EntityModel, VirtualRow};
use uuid::Uuid;

use crate::claims;
use crate::definition::Definition;
use crate::tasks::TaskOrder;

/// The permissions by which people may be waited for to take records of a set on, in all versions that there
/// were when the node started.
#[derive(Clone, Debug, Default)]
pub(crate) struct Awaited(BTreeSet<String>);

/// Whose claims are asked for.
struct Asking {
    me: Uuid,
    claims: Vec<String>,
}

/// Whose tasks are asked for.
pub(crate) struct Tasks<'a> {
    pub(crate) who: &'a Principal,
    pub(crate) user: Uuid,
    pub(crate) organisation: OrganisationId,
    pub(crate) model: &'a EntityModel,
    pub(crate) awaited: &'a Awaited,
}

impl Awaited {
    pub(crate) fn add(&mut self, definition: &Definition) {
        self.0.extend(claims::permissions(definition).map(str::to_owned));
    }

    fn asking(&self, who: &Principal, me: Uuid) -> Asking {
        let held = self.0.iter().filter(|name| who.can(name));
        let claims = held.map(|name| claims::of_permission(name)).chain([claims::of_user(me)]);
        Asking { me, claims: claims.collect() }
    }

    /// Whether a row awaits whoever asks. The system awaits itself nowhere.
    pub(crate) fn awaits(&self, row: &VirtualRow<'_>, set: &str) -> Expr {
        let Some(me) = row.who().user_id().map(|user| user.0) else { return Expr::val(false) };
        let asking = self.asking(row.who(), me);
        let version = row.entity.version_index();
        let version = version.map(|version| row.column(row.entity.columns[version].name));
        let mut found = Query::select();
        found
            .expr(Expr::val(1))
            .from(table())
            .and_where(column("organisation_id").eq(row.organisation()))
            .and_where(column("set_name").eq(set))
            .and_where(column("record_id").eq(row.key()))
            .and_where(column("claim").is_in(asking.claims.iter().map(String::as_str)))
            .cond_where(asking.is_not_left_out())
            .and_where(asking.has_not_approved(version));
        Expr::exists(found)
    }
}

fn table() -> Alias {
    Alias::new("workflows_claims")
}

fn column(name: &str) -> Expr {
    Expr::col((table(), Alias::new(name)))
}

impl Asking {
    /// Four eyes.
    fn is_not_left_out(&self) -> Condition {
        let is_not =
            |name| Condition::any().add(column(name).is_null()).add(column(name).ne(self.me));
        Condition::all().add(is_not("not_creator")).add(is_not("not_last"))
    }

    /// Whether the claim isn't one that has been used: by an approval of the record as it is.
    fn has_not_approved(&self, version: Option<Expr>) -> Expr {
        let approvals = || Alias::new("workflows_approvals");
        let of = |name: &str| Expr::col((approvals(), Alias::new(name)));
        let mut found = Query::select();
        found
            .expr(Expr::val(1))
            .from(approvals())
            .and_where(of("transition").eq(column("several")))
            .and_where(of("user_id").eq(self.me));
        for name in ["organisation_id", "set_name", "record_id", "steps"] {
            found.and_where(of(name).eq(column(name)));
        }
        if let Some(version) = version {
            found.and_where(of("record_version").eq(version));
        }
        column("several").is_null().or(Expr::exists(found).not())
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
        let asking = self.awaited.asking(self.who, self.user);
        let parts = asking.claims.iter().map(|claim| {
            let part = self.of_claim((&asking, claim), order, after, count);
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
        let mut part = Query::select();
        part.distinct()
            .column((table(), Alias::new(order.column())))
            .column((table(), Alias::new("record_id")))
            .from(table())
            .and_where(column("organisation_id").eq(self.organisation.0))
            .and_where(column("set_name").eq(self.model.name()))
            .and_where(column("claim").eq(claim))
            .cond_where(asking.is_not_left_out())
            .and_where(Expr::exists(self.record(asking)))
            .order_by((table(), Alias::new(order.column())), order.direction())
            .order_by((table(), Alias::new("record_id")), order.direction())
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
            .expr(Expr::val(1))
            .from(model.table_iden())
            .and_where(key.eq(column("record_id")))
            .cond_where(crate::subject::visible(model, self.who))
            .and_where(asking.has_not_approved(version));
        record
    }
}
