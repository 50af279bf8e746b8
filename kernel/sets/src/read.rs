//! Reading one entity, straight from its row to JSON, and what every read has in common.

use std::fmt::Write as _;

use sea_orm::Value;
use sea_orm::sea_query::{Alias, Condition, Expr, Func, Query, SelectStatement};
use svc_core::{Error, Principal, Result};
use svc_data::{Context, EntitySet, Masks, Record};
use svc_database::database_error;
use svc_odata::bind::{BoundExpand, BoundExpr, BoundQuery};
use svc_odata::model::{PropertyIndex, SetIndex};

use super::apply::Rows;
use super::model::{Served, Sets};
use super::row_json::push_json;
use super::rows::{Form, Layout, push_property};
use super::sink::{Row, RowSink};
use super::source::Source;
use super::sql::Translator;

/// One entity as its set returns it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entity {
    /// The version, of which the `ETag` is made.
    pub version: i64,
    /// The properties as the members of a JSON object, without its braces.
    pub members: String,
}

impl Sets {
    /// Insists that the context's principal may read the set.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Forbidden`](svc_core::ErrorKind::Forbidden), naming the permission.
    pub fn require_view(&self, ctx: &Context, set: SetIndex) -> Result<()> {
        ctx.require(&described(self.served(set))?.permissions.view)
    }

    /// One entity by its key.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Forbidden`](svc_core::ErrorKind::Forbidden) without the set's permission;
    /// [`ErrorKind::NotFound`](svc_core::ErrorKind::NotFound) when it is unknown, of another
    /// organisation, or hidden by a row filter.
    pub async fn read_one(
        &self,
        ctx: &Context,
        set: SetIndex,
        key: &Value,
        properties: Option<&[PropertyIndex]>,
    ) -> Result<Entity> {
        self.require_view(ctx, set)?;
        let source = self.with_key(Source::of(set), key.clone());
        let (select, layout) = {
            let (mut select, translator) = self.select_source(ctx, &source)?;
            let columns = chosen(self.served(set), properties, ctx.principal());
            let layout = Layout::new(&mut select, &translator, columns, None)?;
            (select, layout)
        };
        let row = ctx.run_one(ctx.database().build(&select)).await?.ok_or_else(missing)?;
        let mut sink = OneEntity::default();
        sink.row(&Row::entity(&layout, &row, &[], false))?;
        sink.0.ok_or_else(missing)
    }

    /// A record as [`Sets::read_one`] returns it, for one that was stored just now and that the
    /// context's principal is known to see.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Forbidden`](svc_core::ErrorKind::Forbidden) without the set's permission.
    pub fn entity_of_record(
        &self,
        ctx: &Context,
        set: SetIndex,
        record: &Record,
    ) -> Result<Entity> {
        self.require_view(ctx, set)?;
        let served = self.served(set);
        let columns = chosen(served, None, ctx.principal());
        let masks = Masks::of(&served.entity, ctx.principal(), &columns);
        let stored = |index| (index, served.kind(index).to_json(record.value(index)));
        let changed = masks
            .map(|masks| masks.apply(masks.columns().into_iter().map(stored).collect()))
            .transpose()?;
        let changed = changed.unwrap_or_default();
        let mut members = String::with_capacity(512);
        for index in columns {
            push_property(&mut members, served.name(index));
            match changed.iter().find(|(changed, _)| *changed == index) {
                Some((_, value)) => drop(write!(members, "{value}")),
                None => push_json(served.kind(index), record.value(index), &mut members),
            }
            members.push(',');
        }
        members.pop();
        let version = record.version(&served.entity);
        let version = version.ok_or_else(|| Error::internal("a set has no version"))?;
        Ok(Entity { version, members })
    }

    /// Whether the context's principal may read the entity with this key.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn sees(&self, ctx: &Context, set: SetIndex, key: &Value) -> Result<bool> {
        if self.require_view(ctx, set).is_err() {
            return Ok(false);
        }
        let source = self.with_key(Source::of(set), key.clone());
        let key = self.entity(set).key_index();
        Ok(self.column_of(ctx, &source, key).await?.is_some())
    }

    /// The one entity that a source leads to, with what the query asks for of it.
    ///
    /// # Errors
    ///
    /// As [`Sets::read_one`]; [`ErrorKind::NotImplemented`](svc_core::ErrorKind::NotImplemented)
    /// for a feature that is not served.
    pub async fn read_entity(
        &self,
        ctx: &Context,
        source: &Source,
        query: &BoundQuery,
        etags: bool,
    ) -> Result<Entity> {
        let mut sink = OneEntity::default();
        self.read_row(ctx, source, query, etags, &mut sink).await?;
        sink.0.ok_or_else(missing)
    }

    /// Reads the one entity that a source leads to, with what the query asks for of it, into a
    /// sink. `etags` says whether related entities come with theirs.
    ///
    /// # Errors
    ///
    /// As [`Sets::read_entity`].
    pub async fn read_row<S: RowSink + ?Sized>(
        &self,
        ctx: &Context,
        source: &Source,
        query: &BoundQuery,
        etags: bool,
        sink: &mut S,
    ) -> Result<()> {
        self.require_view(ctx, source.set)?;
        if let Some((statement, layout)) = self.prepared(ctx, source, query)? {
            let row = ctx.run_one(statement).await?.ok_or_else(missing)?;
            return sink.row(&Row::entity(&layout, &row, &[], etags));
        }
        let (select, layout, from) = {
            let (mut select, translator) = self.select_query(ctx, source, query)?;
            let (layout, from) = lay_out(&mut select, &translator, query)?;
            (select, layout, from)
        };
        let row = ctx.run_one(ctx.database().build(&select)).await?.ok_or_else(missing)?;
        let row = std::slice::from_ref(&row);
        let related = self.related(ctx, &query.expand, &from, row, etags).await?;
        sink.row(&Row::entity(&layout, &row[0], &related, etags))
    }

    /// The rows of a source that hold the conditions of a query, without columns.
    pub(super) fn select_query<'a>(
        &'a self,
        ctx: &'a Context,
        source: &Source,
        query: &BoundQuery,
    ) -> Result<(SelectStatement, Translator<'a>)> {
        let (select, translator) = self.select_source(ctx, source)?;
        let mut rows = Rows::of_entities(select, translator);
        if let Some(apply) = &query.apply {
            rows.apply(apply)?;
        }
        if rows.is_cut() || !query.compute.is_empty() {
            rows.settle(&query.compute)?;
        }
        let Rows { mut select, translator, .. } = rows;
        // Whoever needs an order says it of what is left: see `BoundQuery::order`.
        select.clear_order_by();
        if let Some(filter) = &query.filter {
            select.and_where(translator.condition(filter)?);
        }
        if let Some(search) = &query.search {
            let Some(entity_type) = query.row.entity_type else {
                let message = "`$search` of aggregated rows is not served";
                return Err(Error::not_implemented(message).target("$search"));
            };
            select.and_where(translator.search(&translator.current, entity_type, search)?);
        }
        Ok((select, translator))
    }

    /// The version of an entity now.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotFound`](svc_core::ErrorKind::NotFound) when it is unknown, of another
    /// organisation, or hidden by a row filter.
    pub async fn current_version(&self, ctx: &Context, source: &Source) -> Result<i64> {
        let select = {
            let (mut select, translator) = self.select_source(ctx, source)?;
            Layout::new(&mut select, &translator, Vec::new(), None)?;
            select
        };
        let row = ctx.run_one(ctx.database().build(&select)).await?;
        Layout::version(&row.ok_or_else(missing)?)
    }

    /// How many entities of a source hold the conditions of a query, as the context's principal
    /// sees them.
    ///
    /// # Errors
    ///
    /// As [`Sets::open_page`].
    pub async fn count(&self, ctx: &Context, source: &Source, query: &BoundQuery) -> Result<u64> {
        self.require_view(ctx, source.set)?;
        let select = count_of(&self.select_query(ctx, source, query)?.0);
        first_number(ctx, &select).await
    }
}

fn missing() -> Error {
    Error::not_found("there is no such entity")
}

/// The set behind what is served; every served entity is one.
pub(super) fn described(served: &Served) -> Result<&EntitySet> {
    served.entity.set.as_ref().ok_or_else(|| Error::internal("what is served is no set"))
}

/// What narrows the set to what the context's principal may see.
pub(super) fn visible(served: &Served, ctx: &Context) -> Result<Condition> {
    let scope = served.entity.scope(ctx.principal().organisation());
    Ok(match described(served)?.filter_for(ctx.viewer()) {
        Some(filter) => scope.add(filter),
        None => scope,
    })
}

/// The columns to return, by property: those asked for that the principal may see.
pub(super) fn chosen(
    served: &Served,
    properties: Option<&[PropertyIndex]>,
    who: &Principal,
) -> Vec<usize> {
    let asked = |property: &PropertyIndex, column: usize| match properties {
        Some(asked) => asked.contains(property),
        // What is no column is for those who name it.
        None => served.entity.virtual_property(column).is_none(),
    };
    served
        .properties()
        .filter(|(property, column)| {
            asked(property, *column) && served.entity.is_visible(*column, who)
        })
        .map(|(_, column)| column)
        .collect()
}

/// Makes rows with computed columns of rows: a table that is called as the entity's own, so that
/// what is translated later finds both in it.
pub(super) fn with_computed(
    mut rows: SelectStatement,
    translator: &mut Translator<'_>,
    compute: &[BoundExpr],
) -> Result<SelectStatement> {
    let place = translator.current.clone();
    for index in 0..place.served.entity.columns.len() {
        rows.column((place.table.clone(), place.served.entity.column_iden(index)));
    }
    let known = std::mem::take(&mut translator.columns);
    let mut columns = Vec::with_capacity(known.len() + compute.len());
    for value in &known {
        let name = Alias::new(format!("~column{}", columns.len()));
        rows.expr_as(value.clone(), name.clone());
        columns.push(Expr::col((place.table.clone(), name)));
    }
    translator.columns = known;
    for expr in compute {
        let name = Alias::new(format!("~column{}", columns.len()));
        let form = Form::of(translator.sets, expr)?;
        let value = translator.value(expr)?;
        rows.expr_as(form.typed(translator.backend, value), name.clone());
        columns.push(Expr::col((place.table.clone(), name)));
    }
    translator.columns = columns;
    let mut outer = Query::select();
    outer.from_subquery(rows, place.table);
    Ok(outer)
}

/// The number of rows of a statement without columns.
pub(super) fn count_of(select: &SelectStatement) -> SelectStatement {
    let mut select = select.clone();
    select.expr(Func::count(Expr::val(1)));
    select
}

pub(super) async fn first_number(ctx: &Context, select: &SelectStatement) -> Result<u64> {
    let row = ctx.run_one(ctx.database().build(select)).await?;
    let count = row.map(|row| row.try_get_by_index::<i64>(0)).transpose();
    let count = count.map_err(database_error)?.unwrap_or(0);
    Ok(count.unsigned_abs())
}

/// Selects what a query asks for, and what its `$expand` begins with.
pub(super) fn lay_out<'a>(
    select: &mut SelectStatement,
    translator: &Translator<'a>,
    query: &BoundQuery,
) -> Result<(Layout<'a>, Vec<usize>)> {
    let served = translator.current.served;
    let who = translator.ctx.principal();
    let properties = chosen(served, Some(&query.select.properties), who);
    let asked = Some((&query.select, &query.row));
    let mut layout = Layout::new(select, translator, properties, asked)?;
    let begins = |expand: &BoundExpand| {
        let column = served.link(expand.step.navigation).column;
        layout.place_of(select, translator, column)
    };
    let from = query.expand.iter().map(begins).collect();
    Ok((layout, from))
}

/// Keeps the one entity that is read.
#[derive(Default)]
struct OneEntity(Option<Entity>);

impl RowSink for OneEntity {
    fn row(&mut self, row: &Row<'_>) -> Result<()> {
        let version = row.version()?.ok_or_else(|| Error::internal("a set has no version"))?;
        let mut members = String::with_capacity(512);
        row.write_members(&mut members)?;
        members.pop();
        self.0 = Some(Entity { version, members });
        Ok(())
    }
}
