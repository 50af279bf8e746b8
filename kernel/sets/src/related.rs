//! Related entities within an answer: one statement for each navigation property, where they are no
//! more than a few thousand.
//!
//! Where they are more, they are counted first, for each entity that they are related to, and read in
//! parts of so many rows. A part becomes text before the next one is read, so at every level of
//! `$expand` the rows of one part are in memory, and the text that was made so far. Both are asked of
//! the [budget](crate::Budget) of the request part by part: related entities when their rows were
//! read, before anything is read for them, and bytes with each entity that is written. So what is too
//! much is refused when that much was read, and not when all was.
//!
//! What leads there and back is the same text at every level, so an answer could grow with a power
//! of its depth: each further copy of a text is asked of the budget, too. Others get their turn in
//! between, so that a limit on time can end it as well.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use sea_orm::sea_query::{
    Alias, Asterisk, Condition, Expr, ExprTrait as _, Func, Order, OverStatement as _, Query,
    SelectStatement, WindowStatement,
};
use sea_orm::{QueryResult, Value};
use svc_core::Result;
use svc_data::{Context, Expense};
use svc_database::{ReadLimit, database_error};
use svc_odata::bind::{BoundExpand, BoundQuery, ExpandMode};
use svc_odata::json::push_string;
use svc_odata::model::SetIndex;
use svc_odata::syntax::encode_option;

use super::expanded::{Found, Related, name_of};
use super::form::Form;
use super::model::Sets;
use super::order::{Terms, marks};
use super::row_json::{close, push_json};
use super::rows::Layout;
use super::served::Link;
use super::source::Source;
use super::sql::Translator;
use super::token::{Position, token_binding};

/// How many entities one statement finds the related ones of; databases bound the parameters of a
/// statement.
const PARENTS: usize = 5_000;

/// How many related entities one statement reads.
const MANY: u64 = 5_000;

/// How many bytes are written before others get their turn.
const TURN: usize = 256 * 1024;

/// How related entities are read.
struct RelatedPlan<'a> {
    select: SelectStatement,
    layout: Layout<'a>,
    terms: Terms,
    /// The column that they are related by.
    column: Expr,
    /// Where a row has what it is related by, and its key.
    parent: usize,
    key: usize,
    marks: Vec<(usize, Form)>,
    /// Where nested navigation begins.
    from: Vec<usize>,
}

/// What is asked for along one navigation property.
#[derive(Clone, Copy)]
struct Asked<'a> {
    ctx: &'a Context,
    expand: &'a BoundExpand,
    link: Link,
    etags: bool,
    /// How many related entities an answer holds of each parent; none where it holds all.
    page: Option<u64>,
}

impl Asked<'_> {
    /// How many rows are left out of each parent's, and how many are read at most: those of its page
    /// and one more.
    fn of_each(self) -> (u64, Option<u64>) {
        let (top, skip) = (self.expand.query.top, self.expand.query.skip.unwrap_or(0));
        let page = self.page.map(|page| page.saturating_add(1));
        (skip, top.into_iter().chain(page).min())
    }
}

/// What one statement of several reads: so many rows of each of these parents, behind others.
#[derive(Debug, PartialEq)]
struct Part<'p> {
    parents: &'p [Value],
    skip: u64,
    take: Option<u64>,
}

/// How far the pages of the parents have come.
#[derive(Default)]
struct Pages {
    /// Of each parent how many were kept, its value, and the marks of the last one of a full page.
    last: HashMap<String, (u64, Value, Vec<serde_json::Value>)>,
    /// Those of which there are more.
    more: HashSet<String>,
}

/// How many parameters a list of this many values has: a power of two, so that all lists of a
/// statement make a few statements, which each connection prepares once.
fn width_of(list: usize) -> usize {
    list.next_power_of_two().min(PARENTS)
}

impl Sets {
    /// What the entities of some rows are related to. `from` says where each row has the value
    /// that leads there, by item of `$expand`.
    pub(super) fn related<'a>(
        &'a self,
        ctx: &'a Context,
        expands: &'a [BoundExpand],
        from: &'a [usize],
        rows: &'a [QueryResult],
        etags: bool,
    ) -> BoxFuture<'a, Result<Vec<Related>>> {
        async move {
            let mut all = Vec::with_capacity(expands.len());
            for (expand, place) in expands.iter().zip(from) {
                all.push(self.related_by(ctx, expand, *place, rows, etags).await?);
            }
            Ok(all)
        }
        .boxed()
    }

    async fn related_by(
        &self,
        ctx: &Context,
        expand: &BoundExpand,
        place: usize,
        rows: &[QueryResult],
        etags: bool,
    ) -> Result<Related> {
        let link = self.served_type(expand.step.from).link(expand.step.navigation);
        let set = SetIndex(link.target.0);
        self.require_view(ctx, set)?;
        let kind = self.served_type(expand.step.from).entity.columns[link.column].kind;
        let from_type = self.model().entity_type(expand.step.from);
        let mut related = Related {
            name: from_type.navigation(expand.step.navigation).name.clone(),
            many: expand.collection,
            mode: expand.mode,
            counted: expand.query.count && expand.collection,
            from: (place, kind),
            found: HashMap::new(),
            budget: ctx.budget().cloned(),
        };
        let mut parents = Vec::new();
        for row in rows {
            let Some(name) = name_of(row, (place, kind))? else { continue };
            if let Entry::Vacant(unknown) = related.found.entry(name) {
                unknown.insert(Found::default());
                parents.push(kind.read(row, place).map_err(database_error)?);
            }
        }
        let page = self.page_of(expand, link);
        let asked = Asked { ctx, expand, link, etags, page };
        for parents in parents.chunks(PARENTS) {
            if related.counted || expand.mode == ExpandMode::Count {
                self.count_related(asked, parents, &mut related).await?;
            }
            if expand.mode != ExpandMode::Count {
                self.read_related(asked, parents, &mut related).await?;
            }
        }
        Ok(related)
    }

    async fn count_related(
        &self,
        Asked { ctx, expand, link, .. }: Asked<'_>,
        parents: &[Value],
        related: &mut Related,
    ) -> Result<()> {
        let select = {
            let (mut select, translator) =
                self.select_related(ctx, &expand.query, link, parents)?;
            let column = translator.current.column(link.target_column);
            select.expr(column.clone()).expr(Func::count(Expr::val(1))).add_group_by([column]);
            select
        };
        let kind = self.served_type(link.target).entity.columns[link.target_column].kind;
        for row in ctx.run(ctx.database().build(&select)).await? {
            let count: i64 = row.try_get_by_index(1).map_err(database_error)?;
            if let Some(parent) = name_of(&row, (0, kind))? {
                related.found.entry(parent).or_default().count = count.unsigned_abs();
            }
        }
        Ok(())
    }

    /// Reads what some parents lead to, and writes it.
    ///
    /// Numbering the rows of each parent costs, and most have few. So they are read as they are
    /// first, and numbered only when there are very many.
    async fn read_related(
        &self,
        asked: Asked<'_>,
        parents: &[Value],
        related: &mut Related,
    ) -> Result<()> {
        let Asked { ctx, expand, link, .. } = asked;
        let (skip, take) = asked.of_each();
        let mut pages = Pages::default();
        if skip == 0 && expand.query.top.is_none() {
            let plan = self.plan_related(asked, parents)?;
            let mut select = plan.select.clone();
            plan.terms.sort(&mut select);
            select.limit(MANY + 1);
            let long = plan.layout.long();
            let bytes = ctx.budget().map_or(u64::MAX, |budget| budget.left(Expense::HeldBytes));
            let limit = ReadLimit { long: &long, bytes };
            let first = ctx.run_within(ctx.database().build(&select), limit).await?;
            if first.rows.len() as u64 <= MANY && !first.is_cut {
                self.write_rows(asked, &plan, first.rows, related, &mut pages).await?;
                return self.link_to_more(asked, related, pages);
            }
        }
        let whole = Part { parents, skip, take };
        let are_few = take.is_some_and(|take| take.saturating_mul(parents.len() as u64) <= MANY);
        let parts = if are_few {
            vec![whole]
        } else {
            if !related.counted {
                self.count_related(asked, parents, related).await?;
            }
            let kind = self.served_type(link.target).entity.columns[link.target_column].kind;
            parts_of(whole, |parent| {
                let mut name = String::new();
                push_json(kind.stored(), parent, &mut name);
                related.found.get(&name).map_or(0, |found| found.count)
            })
        };
        for part in parts {
            let plan = self.plan_related(asked, part.parents)?;
            let column = plan.column.clone();
            let select = number_rows(plan.select.clone(), &plan.terms, column, &part);
            let rows = ctx.run_held(ctx.database().build(&select), &plan.layout.long()).await?;
            self.write_rows(asked, &plan, rows, related, &mut pages).await?;
        }
        self.link_to_more(asked, related, pages)
    }

    /// Writes the entities of some rows, with what is related to these in turn.
    async fn write_rows(
        &self,
        Asked { ctx, expand, link, etags, page }: Asked<'_>,
        plan: &RelatedPlan<'_>,
        rows: Vec<QueryResult>,
        related: &mut Related,
        pages: &mut Pages,
    ) -> Result<()> {
        let served = self.served_type(link.target);
        let kind = served.entity.columns[link.target_column].kind;
        let allowed = page.map(|page| expand.query.top.map_or(page, |top| Ord::min(top, page)));
        // What is beyond a page is left out before anything is read for it.
        let mut kept = Vec::with_capacity(rows.len());
        for row in rows {
            if let Some(allowed) = allowed
                && let Some(name) = name_of(&row, (plan.parent, kind))?
            {
                let entry = match pages.last.entry(name) {
                    Entry::Occupied(known) if known.get().0 == allowed => {
                        pages.more.insert(known.key().clone());
                        continue;
                    }
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(unknown) => {
                        let value = kind.read(&row, plan.parent).map_err(database_error)?;
                        unknown.insert((0, value, Vec::new()))
                    }
                };
                entry.0 += 1;
                if entry.0 == allowed {
                    entry.2 = marks(ctx.database().backend(), &plan.marks, &row)?;
                }
            }
            kept.push(row);
        }
        ctx.spend(Expense::RelatedEntities, kept.len() as u64)?;
        let nested = self.related(ctx, &expand.query.expand, &plan.from, &kept, etags).await?;
        let mut begun = 0;
        for row in &kept {
            let Some(name) = name_of(row, (plan.parent, kind))? else { continue };
            let found = related.found.entry(name).or_default();
            let before = found.elements.len();
            let mut within = 0;
            if expand.mode == ExpandMode::References {
                let key = served.entity.key().kind.read(row, plan.key).map_err(database_error)?;
                found.elements.push_str("{\"@odata.id\":");
                push_string(&mut found.elements, &self.address(SetIndex(link.target.0), &key));
                close(&mut found.elements, '}');
            } else {
                within = plan.layout.write_element(&mut found.elements, row, &nested, etags)?;
            }
            found.elements.push(',');
            found.written += 1 + within;
            let written = found.elements.len() - before;
            ctx.spend(Expense::RelatedEntities, within)?;
            ctx.spend(Expense::HeldBytes, written as u64)?;
            begun += written;
            if begun > TURN {
                begun = 0;
                tokio::task::yield_now().await;
            }
        }
        Ok(())
    }

    /// Says of each parent that has more than its page where the others are asked for.
    fn link_to_more(
        &self,
        Asked { ctx, expand, .. }: Asked<'_>,
        related: &mut Related,
        mut pages: Pages,
    ) -> Result<()> {
        for name in pages.more {
            let Some((sent, key, marks)) = pages.last.remove(&name) else { continue };
            if expand.query.top.is_some_and(|top| top <= sent) {
                continue;
            }
            let next = self.next_related(ctx, expand, &key, &Position { marks, sent })?;
            related.found.entry(name).or_default().next = next;
        }
        Ok(())
    }

    /// How many related entities an answer holds of each. Where the others can't be asked for by
    /// the key of what they are related to, it holds all.
    fn page_of(&self, expand: &BoundExpand, link: Link) -> Option<u64> {
        let has_address = link.column == self.served_type(expand.step.from).entity.key_index();
        let page = expand.page.as_ref().filter(|_| expand.collection && has_address);
        page.map(|page| page.limit)
    }

    /// The address of the related entities that come after a position.
    fn next_related(
        &self,
        ctx: &Context,
        expand: &BoundExpand,
        key: &Value,
        position: &Position,
    ) -> Result<Option<String>> {
        let Some(page) = &expand.page else { return Ok(None) };
        let from = expand.step.from;
        let name = &self.model().entity_type(from).navigation(expand.step.navigation).name;
        let end = if expand.mode == ExpandMode::References { "/$ref" } else { "" };
        let path = format!("{}/{name}{end}", self.address(SetIndex(from.0), key));
        let pairs = expand.options.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let token = self.seal_position(ctx, &token_binding(&path, pairs), position)?;
        let options = expand.options.iter().map(|(name, value)| encode_option(name, value));
        let options: Vec<String> =
            options.chain(std::iter::once(format!("$skiptoken={token}"))).collect();
        Ok(Some(format!("{}{path}?{}", page.root, options.join("&"))))
    }

    /// The statement for the related entities, without their order.
    fn plan_related<'a>(
        &'a self,
        Asked { ctx, expand, link, page, .. }: Asked<'a>,
        parents: &[Value],
    ) -> Result<RelatedPlan<'a>> {
        let query = &expand.query;
        let (mut select, translator) = self.select_related(ctx, query, link, parents)?;
        let served = self.served_type(link.target);
        let properties = served.chosen(Some(&query.select.properties), ctx.principal());
        let asked = Some((&query.select, &query.row));
        let mut layout = Layout::new(&mut select, &translator, properties, asked)?;
        let parent = layout.place_of(&mut select, &translator, link.target_column);
        let key = layout.place_of(&mut select, &translator, served.entity.key_index());
        let mut from = Vec::with_capacity(query.expand.len());
        for nested in &query.expand {
            let column = served.link(nested.step.navigation).column;
            from.push(layout.place_of(&mut select, &translator, column));
        }
        let terms = Terms::new(&translator, &query.order())?;
        let marks = if page.is_some() {
            terms.select(&mut select, &translator, &mut layout)
        } else {
            Vec::new()
        };
        let column = translator.current.column(link.target_column);
        Ok(RelatedPlan { select, layout, terms, column, parent, key, marks, from })
    }

    fn select_related<'a>(
        &'a self,
        ctx: &'a Context,
        query: &BoundQuery,
        link: Link,
        parents: &[Value],
    ) -> Result<(SelectStatement, Translator<'a>)> {
        let source = Source::of(SetIndex(link.target.0));
        let (mut select, translator) = self.select_query(ctx, &source, query)?;
        let column = translator.current.column(link.target_column);
        let last = parents.last().into_iter().cycle();
        let values = parents.iter().chain(last).take(width_of(parents.len())).cloned();
        select.cond_where(Condition::all().add(column.is_in(values)));
        Ok((select, translator))
    }
}

/// In which parts rows are read, where it is known how many there are of each parent: each has so many
/// rows as one statement reads.
fn parts_of(
    Part { parents, skip, take }: Part<'_>,
    count: impl Fn(&Value) -> u64,
) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let (mut begun, mut rows) = (0, 0);
    for (place, parent) in parents.iter().enumerate() {
        let wanted = Ord::min(count(parent).saturating_sub(skip), take.unwrap_or(u64::MAX));
        if begun < place && rows + wanted > MANY {
            parts.push(Part { parents: &parents[begun..place], skip, take });
            (begun, rows) = (place, 0);
        }
        rows += wanted;
        let mut first = 0;
        while wanted > MANY && first < wanted {
            let take = Some(Ord::min(MANY, wanted - first));
            parts.push(Part { parents: &parents[place..=place], skip: skip + first, take });
            first += MANY;
            (begun, rows) = (place + 1, 0);
        }
    }
    if begun < parents.len() {
        parts.push(Part { parents: &parents[begun..], skip, take });
    }
    parts
}

/// Keeps the rows of each parent that a part has, which are left after some and are no more than others.
fn number_rows(
    mut select: SelectStatement,
    terms: &Terms,
    parent: Expr,
    part: &Part<'_>,
) -> SelectStatement {
    let number = Alias::new("~number");
    let mut window = WindowStatement::new();
    window.add_partition_by(parent);
    terms.sort_window(&mut window);
    select.expr_window_as(Expr::cust("ROW_NUMBER()"), window, number.clone());
    let mut outer = Query::select();
    outer.column(Asterisk).from_subquery(select, Alias::new("~numbered"));
    let skip = i64::try_from(part.skip).unwrap_or(i64::MAX);
    outer.and_where(Expr::col(number.clone()).gt(skip));
    if let Some(take) = part.take {
        let last = i64::try_from(take).unwrap_or(i64::MAX).saturating_add(skip);
        outer.and_where(Expr::col(number.clone()).lte(last));
    }
    outer.order_by(number, Order::Asc);
    outer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_has_as_many_rows_as_one_statement_reads() {
        let parents: Vec<Value> = (0..6).map(Value::from).collect();
        let counts = [0, 3_000, 2_000, 1, 12_000, 4];
        let count = |parent: &Value| match parent {
            Value::Int(Some(parent)) => counts[usize::try_from(*parent).unwrap()],
            _ => unreachable!("all are numbers"),
        };
        let of =
            |from: usize, to: usize, skip, take| Part { parents: &parents[from..to], skip, take };
        let all = parts_of(of(0, 6, 0, None), count);
        assert_eq!(
            all,
            [
                of(0, 3, 0, None),
                of(3, 4, 0, None),
                of(4, 5, 0, Some(5_000)),
                of(4, 5, 5_000, Some(5_000)),
                of(4, 5, 10_000, Some(2_000)),
                of(5, 6, 0, None),
            ]
        );
        let pages = parts_of(of(0, 6, 1_000, Some(1_500)), count);
        assert_eq!(pages, [of(0, 6, 1_000, Some(1_500))]);
        assert_eq!(
            parts_of(of(4, 5, 6_000, None), count),
            [of(4, 5, 6_000, Some(5_000)), of(4, 5, 11_000, Some(1_000)),]
        );
    }
}
