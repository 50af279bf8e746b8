//! What rows are sorted by, and what comes after one of them.
//!
//! The key is always the last criterion, so that the order is total: where a page ended is said by
//! the values that its last row is sorted by. What is added or removed before that row moves
//! nothing, and what is added after it is found.

use sea_orm::sea_query::{Condition, Expr, ExprTrait as _, NullOrdering, Order};
use sea_orm::sea_query::{SelectStatement, WindowStatement};
use sea_orm::{QueryResult, Value};
use serde_json::Value as Json;
use svc_core::Result;
use svc_data::value::ValueKind;
use svc_database::{Backend, database_error};
use svc_odata::bind::{BoundKind, BoundOrder, Variable};

use super::form::Form;
use super::rows::Layout;
use super::sql::Translator;
use super::token::wrong_token;

/// One criterion.
struct Term {
    value: Expr,
    /// The column, where it is one of the entity itself.
    column: Option<usize>,
    descending: bool,
    nullable: bool,
    form: Form,
}

/// The criteria, the key last.
pub(super) struct Terms {
    terms: Vec<Term>,
    backend: Backend,
}

impl Terms {
    /// The criteria of `$orderby`.
    pub(super) fn new(translator: &Translator<'_>, order_by: &[BoundOrder]) -> Result<Self> {
        let mut terms = Self::without_key(translator, order_by)?;
        let place = &translator.current;
        let served = place.served;
        let key = served.entity.key_index();
        let joined = match terms.terms.first() {
            Some(first) => first.column.and_then(|column| place.joined_key(Some(column))),
            None => place.joined_key(None),
        };
        terms.terms.push(Term {
            value: joined.unwrap_or_else(|| place.column(key)),
            column: Some(key),
            descending: false,
            nullable: false,
            form: Form::Kind(served.entity.key().kind),
        });
        Ok(terms)
    }

    /// The criteria of `$orderby` for rows that have no key.
    pub(super) fn without_key(
        translator: &Translator<'_>,
        order_by: &[BoundOrder],
    ) -> Result<Self> {
        let backend = translator.backend;
        let served = translator.current.served;
        let mut terms = Vec::with_capacity(order_by.len() + 1);
        for BoundOrder { expr, descending } in order_by {
            let ranked = translator.is_ranked(expr);
            let column = match &expr.kind {
                _ if ranked => None,
                BoundKind::Property(path)
                    if path.steps.is_empty() && path.variable == Variable::Current =>
                {
                    Some(served.column_index(path.property))
                }
                // A constant sorts nothing.
                BoundKind::Value(_) => continue,
                _ => None,
            };
            let (form, value) = if ranked {
                (Form::Kind(ValueKind::Int64), translator.rank(expr)?)
            } else {
                (translator.form(expr)?, translator.value(expr)?)
            };
            let value = if column.is_some() { value } else { form.returned(backend, value) };
            let nullable = expr.nullable || ranked || form == Form::Number;
            terms.push(Term { value, column, descending: *descending, nullable, form });
        }
        Ok(Self { terms, backend })
    }

    /// Sorts a statement.
    pub(super) fn sort(&self, select: &mut SelectStatement) {
        self.sort_by(|value, order, nulls| {
            match nulls {
                Some(nulls) => select.order_by_expr_with_nulls(value, order, nulls),
                None => select.order_by_expr(value, order),
            };
        });
    }

    /// Sorts the rows of each part of a window.
    pub(super) fn sort_window(&self, window: &mut WindowStatement) {
        self.sort_by(|value, order, nulls| {
            match nulls {
                Some(nulls) => window.order_by_expr_with_nulls(value, order, nulls),
                None => window.order_by_expr(value, order),
            };
        });
    }

    fn sort_by(&self, mut add: impl FnMut(Expr, Order, Option<NullOrdering>)) {
        for term in &self.terms {
            // Null sorts before everything (OData 11.2.6.2), which PostgreSQL has the other way.
            let (order, nulls) = if term.descending {
                (Order::Desc, NullOrdering::Last)
            } else {
                (Order::Asc, NullOrdering::First)
            };
            let nulls = (term.nullable && self.backend == Backend::Postgres).then_some(nulls);
            add(term.value.clone(), order, nulls);
        }
    }

    /// Selects what the rows are sorted by, and answers with the places of it.
    pub(super) fn select(
        &self,
        select: &mut SelectStatement,
        translator: &Translator<'_>,
        layout: &mut Layout<'_>,
    ) -> Vec<(usize, Form)> {
        let mut places = Vec::with_capacity(self.terms.len());
        for term in &self.terms {
            let place = match term.column {
                Some(column) => layout.place_of(select, translator, column),
                None => layout.add(select, term.value.clone()),
            };
            places.push((place, term.form));
        }
        places
    }

    /// The condition of what comes after the row with these marks.
    pub(super) fn after(&self, marks: &[Json]) -> Result<Condition> {
        if marks.len() != self.terms.len() {
            return Err(wrong_token());
        }
        let mut after = Condition::any();
        let mut equal: Vec<Expr> = Vec::new();
        let mut first_bound = None;
        for (term, mark) in self.terms.iter().zip(marks) {
            let value = term.form.value_of_mark(mark).ok_or_else(wrong_token)?;
            let null = mark.is_null();
            if let Some(beyond) = term.beyond(&value, null) {
                let all = equal.iter().cloned().fold(Condition::all(), Condition::add);
                after = after.add(all.add(beyond));
            }
            // What the first criterion alone says lets an index begin in the right place.
            if equal.is_empty() && !term.nullable {
                let (column, value) = (term.value.clone(), Expr::val(value.clone()));
                let bound = if term.descending { column.lte(value) } else { column.gte(value) };
                first_bound = Some(bound);
            }
            let column = term.value.clone();
            equal.push(if null { column.is_null() } else { column.eq(value) });
        }
        let all = Condition::all().add(after);
        Ok(match first_bound {
            Some(bound) => all.add(bound),
            None => all,
        })
    }
}

impl Term {
    /// What sorts after a value; none when nothing can.
    fn beyond(&self, value: &Value, null: bool) -> Option<Expr> {
        let column = self.value.clone();
        match (self.descending, null) {
            (false, true) => Some(column.is_not_null()),
            (true, true) => None,
            (false, false) => Some(column.gt(value.clone())),
            (true, false) if self.nullable => {
                Some(column.clone().lt(value.clone()).or(column.is_null()))
            }
            (true, false) => Some(column.lt(value.clone())),
        }
    }
}

/// The marks of a row.
pub(super) fn marks(
    backend: Backend,
    places: &[(usize, Form)],
    row: &QueryResult,
) -> Result<Vec<Json>> {
    let mark = |(place, form): &(usize, Form)| {
        form.read(backend, row, *place).map(|value| Form::to_mark(&value))
    };
    places.iter().map(mark).collect::<Result<_, _>>().map_err(database_error)
}
