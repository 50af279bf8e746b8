//! Related entities within an answer: one statement for each navigation property, however many
//! entities are expanded.

use std::collections::HashMap;
use std::fmt::Write as _;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use sea_orm::sea_query::{
    Alias, Asterisk, Condition, Expr, ExprTrait as _, Func, Order, OverStatement as _, Query,
    SelectStatement, WindowStatement,
};
use sea_orm::{QueryResult, Value};
use svc_core::Result;
use svc_odata::bind::{BoundExpand, BoundQuery, ExpandMode};
use svc_odata::json::{push_name, push_string};
use svc_odata::model::SetIndex;

use super::model::{Link, Sets};
use super::order::Terms;
use super::read::chosen;
use super::rows::{Layout, close};
use super::source::Source;
use super::sql::Translator;
use crate::context::Context;
use crate::error::database_error;
use crate::value::{ValueKind, to_json};

/// How many entities one statement finds the related ones of; databases bound the parameters of a
/// statement.
const PARENTS: usize = 5_000;

/// What a navigation property leads to, from each of several entities.
pub(super) struct Related {
    name: String,
    many: bool,
    mode: ExpandMode,
    counted: bool,
    /// Where a row has the value that leads there, and its kind.
    from: (usize, ValueKind),
    found: HashMap<String, Found>,
}

#[derive(Default)]
struct Found {
    elements: String,
    count: u64,
}

/// How a value is found again.
fn name_of(value: &Value) -> String {
    to_json(value).to_string()
}

impl Related {
    /// Writes what a row's entity is related to, with a comma behind it.
    pub(super) fn write(&self, out: &mut String, row: &QueryResult) -> Result<()> {
        let value = self.from.1.read(row, self.from.0).map_err(database_error)?;
        let found = self.found.get(&name_of(&value));
        let count = found.map_or(0, |found| found.count);
        if self.counted || self.mode == ExpandMode::Count {
            push_name(out, &format!("{}@odata.count", self.name));
            let _ = write!(out, "{count},");
        }
        if self.mode == ExpandMode::Count {
            return Ok(());
        }
        push_name(out, &self.name);
        let elements = found.map(|found| &found.elements[..]).unwrap_or_default();
        let elements = elements.strip_suffix(',').unwrap_or(elements);
        match (self.many, elements) {
            (true, elements) => drop(write!(out, "[{elements}],")),
            (false, "") => out.push_str("null,"),
            (false, element) => drop(write!(out, "{element},")),
        }
        Ok(())
    }
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
        };
        let mut parents = HashMap::new();
        for row in rows {
            let value = kind.read(row, place).map_err(database_error)?;
            let name = name_of(&value);
            if name != "null" {
                parents.insert(name, value);
            }
        }
        let parents: Vec<Value> = parents.into_values().collect();
        for parents in parents.chunks(PARENTS) {
            if related.counted || expand.mode == ExpandMode::Count {
                self.count_related(ctx, expand, link, parents, &mut related).await?;
            }
            if expand.mode != ExpandMode::Count {
                self.read_related(ctx, expand, link, parents, etags, &mut related).await?;
            }
        }
        Ok(related)
    }

    async fn count_related(
        &self,
        ctx: &Context,
        expand: &BoundExpand,
        link: Link,
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
            let parent = kind.read(&row, 0).map_err(database_error)?;
            let count: i64 = row.try_get_by_index(1).map_err(database_error)?;
            related.found.entry(name_of(&parent)).or_default().count = count.unsigned_abs();
        }
        Ok(())
    }

    async fn read_related(
        &self,
        ctx: &Context,
        expand: &BoundExpand,
        link: Link,
        parents: &[Value],
        etags: bool,
        related: &mut Related,
    ) -> Result<()> {
        let (select, layout, parent, from) = self.plan_related(ctx, expand, link, parents)?;
        let rows = ctx.run(ctx.database().build(&select)).await?;
        let nested = self.related(ctx, &expand.query.expand, &from, &rows, etags).await?;
        let served = self.served_type(link.target);
        let kind = served.entity.columns[link.target_column].kind;
        for row in &rows {
            let value = kind.read(row, parent.0).map_err(database_error)?;
            let found = related.found.entry(name_of(&value)).or_default();
            if expand.mode == ExpandMode::References {
                let key = served.entity.key().kind.read(row, parent.1).map_err(database_error)?;
                found.elements.push_str("{\"@odata.id\":");
                push_string(&mut found.elements, &self.address(SetIndex(link.target.0), &key));
                close(&mut found.elements, '}');
            } else {
                layout.write_element(&mut found.elements, row, &nested, etags)?;
            }
            found.elements.push(',');
        }
        Ok(())
    }

    /// The statement for the related entities, how its rows look, where they have what they are
    /// related by and their key, and where nested navigation begins.
    #[expect(clippy::type_complexity, reason = "the parts of one plan, used once")]
    fn plan_related<'a>(
        &'a self,
        ctx: &'a Context,
        expand: &BoundExpand,
        link: Link,
        parents: &[Value],
    ) -> Result<(SelectStatement, Layout<'a>, (usize, usize), Vec<usize>)> {
        let query = &expand.query;
        let (mut select, translator) = self.select_related(ctx, query, link, parents)?;
        let served = self.served_type(link.target);
        let properties = chosen(served, Some(&query.select.properties), ctx.principal());
        let asked = Some((&query.select, &query.row));
        let mut layout = Layout::new(&mut select, &translator, properties, asked)?;
        let parent = layout.place_of(&mut select, &translator, link.target_column);
        let key = layout.place_of(&mut select, &translator, served.entity.key_index());
        let mut from = Vec::with_capacity(query.expand.len());
        for nested in &query.expand {
            let column = served.link(nested.step.navigation).column;
            from.push(layout.place_of(&mut select, &translator, column));
        }
        let terms = Terms::new(&translator, &query.order_by)?;
        if query.top.is_some() || query.skip.is_some() {
            let column = translator.current.column(link.target_column);
            select = number_rows(select, &terms, column, query);
        } else {
            terms.sort(&mut select);
        }
        Ok((select, layout, (parent, key), from))
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
        select.cond_where(Condition::all().add(column.is_in(parents.iter().cloned())));
        Ok((select, translator))
    }
}

/// Keeps the rows of `$skip` and `$top` of each parent.
fn number_rows(
    mut select: SelectStatement,
    terms: &Terms,
    parent: Expr,
    query: &BoundQuery,
) -> SelectStatement {
    let number = Alias::new("~number");
    let mut window = WindowStatement::new();
    window.add_partition_by(parent);
    terms.sort_window(&mut window);
    select.expr_window_as(Expr::cust("ROW_NUMBER()"), window, number.clone());
    let mut outer = Query::select();
    outer.column(Asterisk).from_subquery(select, Alias::new("~numbered"));
    let skip = i64::try_from(query.skip.unwrap_or(0)).unwrap_or(i64::MAX);
    outer.and_where(Expr::col(number.clone()).gt(skip));
    if let Some(top) = query.top {
        let last = i64::try_from(top).unwrap_or(i64::MAX).saturating_add(skip);
        outer.and_where(Expr::col(number.clone()).lte(last));
    }
    outer.order_by(number, Order::Asc);
    outer
}
