//! Reading: one entity, or a page of them, straight from rows to JSON.

use std::fmt::Write as _;

use sea_orm::sea_query::{Condition, Expr, Func, NullOrdering, Order, Query, SelectStatement};
use sea_orm::{QueryResult, Value};
use svc_core::{Error, Principal, Result};
use svc_odata::bind::{BoundExpr, BoundOrder};
use svc_odata::model::{PropertyIndex, SetIndex};

use super::model::{Served, Sets};
use super::sql::Translator;
use crate::catalogue::EntitySet;
use crate::context::Context;
use crate::database::Backend;
use crate::error::database_error;

/// One entity as its set returns it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entity {
    /// The version, of which the `ETag` is made.
    pub version: i64,
    /// The properties as the members of a JSON object, without its braces.
    pub members: String,
}

/// What is asked of a set.
#[derive(Clone, Debug, Default)]
pub struct PageRequest {
    /// What the entities must hold.
    pub filter: Option<BoundExpr>,
    /// How they are sorted; the key is always the last criterion, so that the order is total.
    pub order_by: Vec<BoundOrder>,
    /// What is returned of each; none is all that the principal may see.
    pub properties: Option<Vec<PropertyIndex>>,
    /// How many are left out first.
    pub skip: u64,
    /// How many are returned at most.
    pub take: u64,
    /// Whether the answer says how many there are in all.
    pub count: bool,
}

/// A page of entities.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// The entities as elements of a JSON array, without its brackets.
    pub elements: String,
    /// How many there are in all, where that was asked for.
    pub count: Option<u64>,
    /// Whether there are more after these.
    pub more: bool,
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
        let served = self.served(set);
        let columns = chosen(served, properties, ctx.principal());
        let mut select = select_visible(served, ctx)?;
        select.and_where(served.entity.key_is(key));
        select_columns(&mut select, served, &columns);
        let rows = ctx.run(ctx.database().build(&select)).await?;
        let row = rows.first().ok_or_else(|| Error::not_found("there is no such entity"))?;
        let mut members = String::with_capacity(512);
        let version = write_members(&mut members, served, &columns, row)?;
        Ok(Entity { version, members })
    }

    /// A page of entities.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Forbidden`](svc_core::ErrorKind::Forbidden) without the set's permission;
    /// [`ErrorKind::NotImplemented`](svc_core::ErrorKind::NotImplemented) for a feature that is
    /// not served.
    pub async fn read_page(
        &self,
        ctx: &Context,
        set: SetIndex,
        request: &PageRequest,
    ) -> Result<Page> {
        self.require_view(ctx, set)?;
        let served = self.served(set);
        let translator = Translator { served, backend: ctx.database().backend() };
        let mut select = select_visible(served, ctx)?;
        if let Some(filter) = &request.filter {
            select.and_where(translator.condition(filter)?);
        }
        let count = match request.count {
            true => Some(count_rows(ctx, &select).await?),
            false => None,
        };
        let columns = chosen(served, request.properties.as_deref(), ctx.principal());
        select_columns(&mut select, served, &columns);
        order(&mut select, served, &translator, &request.order_by)?;
        // One row more than is asked for tells whether there are more.
        select.limit(request.take.saturating_add(1)).offset(request.skip);
        let rows = ctx.run(ctx.database().build(&select)).await?;
        let wanted = usize::try_from(request.take).unwrap_or(usize::MAX);
        let mut elements = String::with_capacity(rows.len().min(wanted) * 384);
        for row in rows.iter().take(wanted) {
            if !elements.is_empty() {
                elements.push(',');
            }
            write_element(&mut elements, served, &columns, row)?;
        }
        Ok(Page { elements, count, more: rows.len() > wanted })
    }

    /// The version of an entity now.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotFound`](svc_core::ErrorKind::NotFound) when it is unknown, of another
    /// organisation, or hidden by a row filter.
    pub async fn current_version(&self, ctx: &Context, set: SetIndex, key: &Value) -> Result<i64> {
        let served = self.served(set);
        let mut select = select_visible(served, ctx)?;
        select.and_where(served.entity.key_is(key));
        select_columns(&mut select, served, &[]);
        let rows = ctx.run(ctx.database().build(&select)).await?;
        let row = rows.first().ok_or_else(|| Error::not_found("there is no such entity"))?;
        row.try_get_by_index(0).map_err(database_error)
    }

    /// How many entities hold a condition, as the context's principal sees them.
    ///
    /// # Errors
    ///
    /// As [`Sets::read_page`].
    pub async fn count(
        &self,
        ctx: &Context,
        set: SetIndex,
        filter: Option<&BoundExpr>,
    ) -> Result<u64> {
        self.require_view(ctx, set)?;
        let served = self.served(set);
        let mut select = select_visible(served, ctx)?;
        if let Some(filter) = filter {
            let translator = Translator { served, backend: ctx.database().backend() };
            select.and_where(translator.condition(filter)?);
        }
        count_rows(ctx, &select).await
    }
}

/// The set behind what is served; every served entity is one.
pub(super) fn described(served: &Served) -> Result<&EntitySet> {
    served.entity.set.as_ref().ok_or_else(|| Error::internal("what is served is no set"))
}

/// What narrows the set to what the context's principal may see.
pub(super) fn visible(served: &Served, ctx: &Context) -> Result<Condition> {
    let scope = served.entity.scope(ctx.principal().organisation());
    Ok(match described(served)?.filter_for(ctx.principal()) {
        Some(filter) => scope.add(filter),
        None => scope,
    })
}

fn select_visible(served: &Served, ctx: &Context) -> Result<SelectStatement> {
    let mut select = Query::select();
    select.from(served.entity.table_iden()).cond_where(visible(served, ctx)?);
    Ok(select)
}

/// The columns to return, by property: those asked for that the principal may see.
pub(super) fn chosen(
    served: &Served,
    properties: Option<&[PropertyIndex]>,
    who: &Principal,
) -> Vec<usize> {
    let asked = |property: &PropertyIndex| properties.is_none_or(|asked| asked.contains(property));
    served
        .properties()
        .filter(|(property, column)| asked(property) && served.entity.is_visible(*column, who))
        .map(|(_, column)| column)
        .collect()
}

fn select_columns(select: &mut SelectStatement, served: &Served, columns: &[usize]) {
    let version = served.entity.version_index();
    for column in version.iter().chain(columns) {
        select.column(served.entity.column_ref(*column));
    }
}

fn order(
    select: &mut SelectStatement,
    served: &Served,
    translator: &Translator<'_>,
    order_by: &[BoundOrder],
) -> Result<()> {
    for BoundOrder { expr, descending } in order_by {
        let value = translator.value(expr)?;
        // Null sorts before everything (OData 11.2.6.2), which PostgreSQL has the other way.
        let (order, nulls) = match descending {
            true => (Order::Desc, NullOrdering::Last),
            false => (Order::Asc, NullOrdering::First),
        };
        if expr.nullable && translator.backend == Backend::Postgres {
            select.order_by_expr_with_nulls(value, order, nulls);
        } else {
            select.order_by_expr(value, order);
        }
    }
    let key = Expr::col(served.entity.column_ref(served.entity.key_index()));
    select.order_by_expr(key, Order::Asc);
    Ok(())
}

async fn count_rows(ctx: &Context, select: &SelectStatement) -> Result<u64> {
    let mut select = select.clone();
    select.expr(Func::count(Expr::val(1)));
    let rows = ctx.run(ctx.database().build(&select)).await?;
    let count = rows.first().map(|row| row.try_get_by_index::<i64>(0)).transpose();
    let count = count.map_err(database_error)?.unwrap_or(0);
    Ok(count.unsigned_abs())
}

/// Writes an entity as a JSON object, with its `ETag`.
fn write_element(
    out: &mut String,
    served: &Served,
    columns: &[usize],
    row: &QueryResult,
) -> Result<()> {
    let version: i64 = row.try_get_by_index(0).map_err(database_error)?;
    let _ = write!(out, "{{\"@odata.etag\":\"W/\\\"{version}\\\"\",");
    write_members(out, served, columns, row)?;
    out.push('}');
    Ok(())
}

/// Writes the properties of a row that begins with the version, which is the answer.
fn write_members(
    out: &mut String,
    served: &Served,
    columns: &[usize],
    row: &QueryResult,
) -> Result<i64> {
    for (place, column) in columns.iter().enumerate() {
        let column = &served.entity.columns[*column];
        if place > 0 {
            out.push(',');
        }
        // A property's name is made of letters, digits and underscores.
        let _ = write!(out, "\"{}\":", column.property);
        column.kind.write_json(row, place + 1, out).map_err(database_error)?;
    }
    row.try_get_by_index(0).map_err(database_error)
}
