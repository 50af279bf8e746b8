//! `$apply`: what is made of the rows that the principal sees.
//!
//! Each step works on the rows that the one before leaves. They begin as the set's visible rows, so
//! that no aggregate counts what its reader may not see. As long as they are entities, their table
//! keeps the entity's name; after an aggregation they are a table of computed columns.

use sea_orm::sea_query::{
    Alias, Expr, Func, NullOrdering, Order, Query, SelectStatement, UnionType,
};
use svc_core::{Error, Result};
use svc_data::Context;
use svc_database::Backend;
use svc_odata::bind::{
    AggregateMethod, BoundAggregate, BoundApply, BoundExpr, BoundQuery, BoundTransformation,
    BoundTransformationKind as Kind, Row,
};
use svc_odata::model::PrimitiveType;

use super::aggregated::AggregatedColumn;
use super::form::Form;
use super::model::Sets;
use super::order::Terms;
use super::source::Source;
use super::sql::{Computed, Translator};

/// Rows in the making.
#[derive(Clone)]
pub(super) struct Rows<'a> {
    /// A statement without columns.
    pub(super) select: SelectStatement,
    pub(super) translator: Translator<'a>,
    /// Whether they are entities.
    entities: bool,
    /// Whether some were left out by number, so that what follows needs a table of its own.
    cut: Option<Cut>,
    /// Whether a step said what they are sorted by.
    ordered: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Cut {
    Skipped,
    Topped,
}

fn column_name(place: usize) -> Alias {
    Alias::new(format!("~column{place}"))
}

impl<'a> Rows<'a> {
    pub(super) fn of_entities(select: SelectStatement, translator: Translator<'a>) -> Self {
        Self { select, translator, entities: true, cut: None, ordered: false }
    }

    /// Makes the rows a table, with further columns.
    pub(super) fn settle(&mut self, compute: &[BoundExpr]) -> Result<()> {
        let select = std::mem::take(&mut self.select);
        self.cut = None;
        if self.entities {
            self.select = with_computed(select, &mut self.translator, compute)?;
            return Ok(());
        }
        let mut inner = select;
        let mut columns = self.translator.columns.clone();
        for expr in compute {
            columns.push(self.translator.compute(expr)?);
        }
        for (place, column) in columns.iter().enumerate() {
            inner.expr_as(column.value.clone(), column_name(place));
        }
        self.become_table(inner, columns.into_iter().map(|column| column.form));
        Ok(())
    }

    /// Goes on with the columns of a statement, which come in these forms.
    fn become_table(&mut self, inner: SelectStatement, forms: impl IntoIterator<Item = Form>) {
        let table = self.translator.new_name();
        let columns = forms.into_iter().enumerate().map(|(place, form)| {
            let value = Expr::col((table.clone(), column_name(place)));
            Computed { value, form }
        });
        self.translator.columns = columns.collect();
        self.select = Query::select();
        self.select.from_subquery(inner, table);
        self.entities = false;
        self.cut = None;
    }

    /// Whether some rows were left out by number.
    pub(super) fn is_cut(&self) -> bool {
        self.cut.is_some()
    }

    /// Performs the steps.
    pub(super) fn apply(&mut self, apply: &BoundApply) -> Result<()> {
        for step in &apply.steps {
            self.step(step)?;
        }
        Ok(())
    }

    fn step(&mut self, step: &BoundTransformation) -> Result<()> {
        let keeps_order = matches!(step.kind, Kind::Skip(_) | Kind::Top(_));
        if self.is_cut() && !keeps_order {
            self.settle(&[])?;
        }
        match &step.kind {
            Kind::Filter(condition) => {
                let condition = self.translator.condition(condition)?;
                self.select.and_where(condition);
            }
            Kind::Search(search) => {
                let Some(entity_type) = step.row.entity_type else {
                    let message = "`search` of aggregated rows is not served";
                    return Err(Error::not_implemented(message).target("$apply"));
                };
                let place = &self.translator.current;
                let condition = self.translator.search(place, entity_type, search)?;
                self.select.and_where(condition);
            }
            Kind::Compute(compute) => self.settle(compute)?,
            Kind::GroupBy { keys, aggregates } => self.group(keys, aggregates, &step.row)?,
            Kind::Concat(parts) => self.concat(parts, &step.row)?,
            Kind::OrderBy(order_by) => {
                self.select.clear_order_by();
                if self.entities {
                    Terms::new(&self.translator, order_by)?.sort(&mut self.select);
                } else {
                    Terms::without_key(&self.translator, order_by)?.sort(&mut self.select);
                    // Without a key, all columns decide among equal ones which are left out by number.
                    sort_by_columns(&mut self.select, &self.translator);
                }
                self.ordered = true;
            }
            Kind::Skip(skip) => {
                if self.is_cut() {
                    self.settle(&[])?;
                }
                self.sort_unless_sorted()?;
                // SQLite leaves rows out only where it also keeps some.
                self.select.offset(*skip).limit(i64::MAX.unsigned_abs());
                self.cut = Some(Cut::Skipped);
            }
            Kind::Top(top) => {
                if self.cut == Some(Cut::Topped) {
                    self.settle(&[])?;
                }
                self.sort_unless_sorted()?;
                self.select.limit((*top).min(i64::MAX.unsigned_abs()));
                self.cut = Some(Cut::Topped);
            }
        }
        Ok(())
    }

    /// Gives rows an order of which some are left out by number: by the key, or by all columns
    /// where there is none.
    fn sort_unless_sorted(&mut self) -> Result<()> {
        if self.ordered || self.is_cut() {
            return Ok(());
        }
        if self.entities {
            Terms::new(&self.translator, &[])?.sort(&mut self.select);
        } else {
            sort_by_columns(&mut self.select, &self.translator);
        }
        Ok(())
    }

    /// Keys and values are computed first and grouped by name, since PostgreSQL takes two equal
    /// expressions with parameters for different ones.
    fn group(
        &mut self,
        keys: &[BoundExpr],
        aggregates: &[BoundAggregate],
        row: &Row,
    ) -> Result<()> {
        let backend = self.translator.backend;
        let mut inner = std::mem::take(&mut self.select);
        let mut forms = Vec::with_capacity(keys.len() + aggregates.len());
        for (place, expr) in keys.iter().enumerate() {
            let key = self.translator.compute(expr)?;
            inner.expr_as(key.value, column_name(place));
            forms.push(key.form);
        }
        for (aggregate, column) in aggregates.iter().zip(&row.columns[keys.len()..]) {
            forms.push(match &aggregate.expr {
                // One of the values themselves.
                Some(expr) if is_extreme(aggregate.method) => self.translator.form(expr)?,
                _ => Form::of_type(self.translator.sets, column.ty)?,
            });
        }
        let values = aggregates.iter().filter_map(|it| Some((it.method, it.expr.as_ref()?)));
        for (number, (method, expr)) in values.enumerate() {
            let value = if is_extreme(method) {
                self.translator.ordered(expr)?
            } else {
                self.translator.typed(expr)?
            };
            inner.expr_as(value, column_name(keys.len() + number));
        }
        // A statement that only counts still needs a column.
        inner.expr_as(Expr::val(1), Alias::new("~one"));
        let table = self.translator.new_name();
        let column = |place: usize| Expr::col((table.clone(), column_name(place)));
        let mut grouped = Query::select();
        for place in 0..keys.len() {
            grouped.expr_as(column(place), column_name(place)).add_group_by([column(place)]);
        }
        let mut next = keys.len();
        for (number, aggregate) in aggregates.iter().enumerate() {
            let value = match &aggregate.expr {
                Some(expr) => {
                    let value = aggregated(backend, aggregate.method, expr, column(next));
                    next += 1;
                    if is_extreme(aggregate.method) {
                        self.translator.unranked(expr, value)
                    } else {
                        value
                    }
                }
                None => Expr::from(Func::count(Expr::val(1))),
            };
            grouped.expr_as(value, column_name(keys.len() + number));
        }
        grouped.from_subquery(inner, table.clone());
        self.ordered = false;
        self.become_table(grouped, forms);
        Ok(())
    }

    /// The rows of each sequence, one after the other, with their columns matched by name.
    fn concat(&mut self, parts: &[BoundApply], row: &Row) -> Result<()> {
        if row.entity_type.is_some() {
            let message = "`concat` of entities is not served";
            return Err(Error::not_implemented(message).target("$apply"));
        }
        let mut made = Vec::with_capacity(parts.len());
        for part in parts {
            let mut rows = self.clone();
            rows.apply(part)?;
            rows.settle(&[])?;
            made.push((rows, &part.row));
        }
        let column_of = |(rows, made): &(Rows<'a>, &Row), name: &str| {
            let known = made.columns.iter().position(|column| column.name == name)?;
            Some(rows.translator.columns[known].clone())
        };
        let mut forms = Vec::with_capacity(row.columns.len());
        for column in &row.columns {
            let mut known = made.iter().filter_map(|part| column_of(part, &column.name));
            let first = known.next().map(|column| column.form);
            let common = first.filter(|form| known.all(|column| column.form == *form));
            forms.push(match common {
                Some(form) => form,
                None => Form::of_type(self.translator.sets, column.ty)?,
            });
        }
        let mut all: Option<SelectStatement> = None;
        for part in made {
            let mut select = part.0.select.clone();
            for (place, (column, form)) in row.columns.iter().zip(&forms).enumerate() {
                let known = column_of(&part, &column.name);
                let value = known.map_or_else(|| Expr::cust("NULL"), |column| column.value);
                select.expr_as(form.typed(self.translator.backend, value), column_name(place));
            }
            match &mut all {
                Some(all) => drop(all.union(UnionType::All, select)),
                None => all = Some(select),
            }
        }
        let all = all.ok_or_else(|| Error::malformed("`concat` takes two sequences or more"))?;
        self.ordered = false;
        self.become_table(all, forms);
        Ok(())
    }
}

/// Sorts rows that have no key by all that they consist of. Null comes first, as in every order.
fn sort_by_columns(select: &mut SelectStatement, translator: &Translator<'_>) {
    for column in &translator.columns {
        let column = column.value.clone();
        match translator.backend {
            Backend::Sqlite => select.order_by_expr(column, Order::Asc),
            Backend::Postgres => {
                select.order_by_expr_with_nulls(column, Order::Asc, NullOrdering::First)
            }
        };
    }
}

/// Whether an aggregate is one of the values themselves.
fn is_extreme(method: AggregateMethod) -> bool {
    matches!(method, AggregateMethod::Min | AggregateMethod::Max)
}

fn aggregated(backend: Backend, method: AggregateMethod, expr: &BoundExpr, value: Expr) -> Expr {
    use AggregateMethod as Method;
    let small = matches!(
        expr.primitive(),
        Some(PrimitiveType::Int16 | PrimitiveType::Int32 | PrimitiveType::Byte)
    );
    let (sqlite, postgres) = match method {
        // SQLite's sum of integers fails where it overflows; one of doubles never does.
        Method::Sum if small => ("SUM(?)", "SUM(CAST($1 AS NUMERIC))"),
        Method::Sum => ("ROUND(SUM(CAST(? AS REAL)), 10)", "ROUND(SUM(CAST($1 AS NUMERIC)), 10)"),
        Method::Average => {
            ("ROUND(AVG(CAST(? AS REAL)), 10)", "ROUND(AVG(CAST($1 AS NUMERIC)), 10)")
        }
        Method::Min => ("MIN(?)", "MIN($1)"),
        Method::Max => ("MAX(?)", "MAX($1)"),
        Method::CountDistinct => ("COUNT(DISTINCT ?)", "COUNT(DISTINCT $1)"),
        Method::Count => ("COUNT(?)", "COUNT($1)"),
    };
    let sql = if backend == Backend::Sqlite { sqlite } else { postgres };
    Expr::cust_with_exprs(sql, [value])
}

impl Sets {
    /// The aggregated rows of a query behind some of them, and their columns. They have no key, so
    /// that where they go on is said by a number of rows.
    pub(super) fn select_aggregated<'q>(
        &self,
        ctx: &Context,
        source: &Source,
        query: &'q BoundQuery,
        behind: u64,
    ) -> Result<(SelectStatement, Vec<AggregatedColumn<'q>>)> {
        let (mut select, translator) = self.select_query(ctx, source, query)?;
        let mut columns = Vec::with_capacity(query.select.columns.len());
        for index in &query.select.columns {
            let Computed { value, form } = translator.columns[*index].clone();
            select.expr(form.returned(translator.backend, value));
            let path = query.row.columns[*index].name.split('/').collect();
            columns.push(AggregatedColumn { path, form });
        }
        let terms = Terms::without_key(&translator, &query.order())?;
        terms.sort(&mut select);
        sort_by_columns(&mut select, &translator);
        select.offset(behind.min(i64::MAX.unsigned_abs()));
        Ok((select, columns))
    }
}

/// Makes rows with computed columns of rows: a table that is called as the entity's own, so that
/// what is translated later finds both in it.
fn with_computed(
    mut rows: SelectStatement,
    translator: &mut Translator<'_>,
    compute: &[BoundExpr],
) -> Result<SelectStatement> {
    let place = translator.current.clone();
    for index in 0..place.served.entity.columns.len() {
        rows.column((place.table.clone(), place.served.entity.column_iden(index)));
    }
    let mut columns = translator.columns.clone();
    for expr in compute {
        columns.push(translator.compute(expr)?);
    }
    for (number, column) in columns.iter_mut().enumerate() {
        let named = Expr::col((place.table.clone(), column_name(number)));
        rows.expr_as(std::mem::replace(&mut column.value, named), column_name(number));
    }
    translator.columns = columns;
    let mut outer = Query::select();
    outer.from_subquery(rows, place.table);
    Ok(outer)
}
