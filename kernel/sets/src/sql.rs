//! Bound conditions and orders as SQL.
//!
//! OData knows true and false where SQL also knows "unknown": `eq` and `ne` take null as a value
//! like any other, and every other comparison with null is false. Where a condition only has to
//! hold, unknown and false come to the same, and the plain comparison stays, so that an index can
//! serve it, unless both sides may be null, which are equal then. Below a `not` they differ, so
//! there a comparison is made to answer false.
//!
//! Invariant: every table but the one that is read is referred to through
//! [`Translator::visible_table`], which narrows it to what the principal may see. No part of a
//! template stands in the SQL twice, so that nested expressions can't grow it exponentially.
//!
//! | File | What it holds |
//! | --- | --- |
//! | `navigation` | paths to other entities, `any`, `all`, `$count` |
//! | `joins` | virtual properties whose values stand in a table |
//! | `numbers` | arithmetic and rounding |
//! | `enumerations` | members by number, and the number of a member |
//! | `texts` | functions of texts |
//! | `moments` | functions of dates and times |

mod enumerations;
mod joins;
mod moments;
mod navigation;
mod numbers;
mod texts;

use std::cell::Cell;
use std::rc::Rc;

use sea_orm::sea_query::{Alias, BinOper, CaseStatement, DynIden, Expr, ExprTrait as _, Func};
use svc_core::{Error, Result};
use svc_data::value::{to_column, to_value};
use svc_data::{Context, VirtualRow};
use svc_database::Backend;
use svc_odata::bind::{BoundExpr, BoundKind};
use svc_odata::model::{PrimitiveType, TypeIndex};
use svc_odata::syntax::{BinaryOperator, Function};
use svc_odata::value::Value as Literal;

use super::form::Form;
use super::model::Sets;
use super::served::Served;
use joins::Joins;
use moments::refuse_early_years;

/// Entities of a set under the name that their table has in a statement.
#[derive(Clone)]
pub(crate) struct Place<'a> {
    pub(crate) served: &'a Served,
    pub(crate) table: DynIden,
    pub(crate) ctx: &'a Context,
    /// What the statement may be joined with; none where the SQL of virtual properties serves.
    joins: Option<Rc<Joins>>,
    /// The virtual property that is true of every row, since the statement asks for no others.
    pub(super) holds: Option<usize>,
}

impl Place<'_> {
    /// A column of the entity here, or a virtual property in SQL.
    pub(crate) fn column(&self, index: usize) -> Expr {
        let (table, entity) = (self.table.clone(), &self.served.entity);
        let Some(found) = entity.virtual_property(index) else {
            return Expr::col((table, entity.column_iden(index)));
        };
        if self.holds == Some(index) {
            return Expr::Constant(true.into());
        }
        let value = self.joined(index).unwrap_or_else(|| {
            (found.sql)(&VirtualRow { table, entity, who: self.ctx.principal() })
        });
        // So that PostgreSQL returns what is read, whatever the SQL is made of.
        Form::Kind(found.kind).typed(self.ctx.database().backend(), value)
    }
}

/// A computed column of the rows.
#[derive(Clone)]
pub(super) struct Computed {
    pub(super) value: Expr,
    /// Where it holds what a column of an entity holds, that column's form.
    pub(super) form: Form,
}

/// Translates expressions on one set's entities, as one principal sees them.
#[derive(Clone)]
pub(crate) struct Translator<'a> {
    pub(super) sets: &'a Sets,
    pub(super) ctx: &'a Context,
    pub(crate) backend: Backend,
    /// The entity that the option works on.
    pub(super) current: Place<'a>,
    /// The elements of the `any` and `all` around, from the outermost.
    lambdas: Vec<Place<'a>>,
    /// The computed columns.
    pub(super) columns: Vec<Computed>,
    /// How many names for tables were given away.
    names: Rc<Cell<usize>>,
    /// How many changes of case stand around what is translated.
    folds: Rc<Cell<usize>>,
}

/// Whether a condition only has to hold, or stands below a `not`.
#[derive(Clone, Copy, PartialEq)]
enum Truth {
    Holds,
    Exact,
}

impl<'a> Translator<'a> {
    /// A translator for entities of a type that stand in a statement under their table's name.
    pub(crate) fn new(sets: &'a Sets, ctx: &'a Context, entity_type: TypeIndex) -> Self {
        let served = sets.served_type(entity_type);
        let table = served.entity.table_iden();
        let current = Place { served, table, ctx, joins: None, holds: None };
        Self {
            sets,
            ctx,
            backend: ctx.database().backend(),
            current,
            lambdas: Vec::new(),
            columns: Vec::new(),
            names: Rc::default(),
            folds: Rc::default(),
        }
    }

    /// A name that no other table of the statement has.
    pub(super) fn new_name(&self) -> DynIden {
        use sea_orm::sea_query::IntoIden as _;
        self.names.set(self.names.get() + 1);
        Alias::new(format!("~{}", self.names.get())).into_iden()
    }

    /// A condition that rows must hold.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotImplemented`](svc_core::ErrorKind::NotImplemented) for a feature that is
    /// not served, which the message names.
    pub(crate) fn condition(&self, expr: &BoundExpr) -> Result<Expr> {
        self.truth(expr, Truth::Holds)
    }

    /// A value to sort by or to return.
    ///
    /// # Errors
    ///
    /// As [`Translator::condition`].
    pub(crate) fn value(&self, expr: &BoundExpr) -> Result<Expr> {
        match &expr.kind {
            BoundKind::Property(path) => self.property(path),
            BoundKind::Column(index) => Ok(self.computed(*index)?.value.clone()),
            BoundKind::Value(value) => self.literal(value),
            BoundKind::Call(function, arguments) => self.call(*function, arguments),
            BoundKind::Arithmetic(operator, left, right) => {
                self.arithmetic(expr, *operator, left, right)
            }
            BoundKind::Negate(inner) => self.negate(inner),
            BoundKind::Case(branches) => self.case(expr, branches),
            BoundKind::Cast(inner) => self.cast(expr, inner),
            BoundKind::Count(collection) => self.count(collection),
            _ => self.truth(expr, Truth::Exact),
        }
    }

    fn computed(&self, index: usize) -> Result<&Computed> {
        self.columns.get(index).ok_or_else(|| Error::internal("a computed column is not there"))
    }

    /// The form of an expression's value.
    pub(super) fn form(&self, expr: &BoundExpr) -> Result<Form> {
        match &expr.kind {
            BoundKind::Property(path) => {
                Ok(Form::Kind(self.sets.served_type(path.entity_type).kind_of(path.property)))
            }
            BoundKind::Column(index) => Ok(self.computed(*index)?.form),
            _ => Form::of_type(self.sets, expr.ty),
        }
    }

    /// A computed column with the value of an expression, of a type that the database knows.
    pub(super) fn compute(&self, expr: &BoundExpr) -> Result<Computed> {
        // Refuses what can't be a computed value, in whatever form it is stored.
        Form::of_type(self.sets, expr.ty)?;
        Ok(Computed { value: self.typed(expr)?, form: self.form(expr)? })
    }

    fn truth(&self, expr: &BoundExpr, truth: Truth) -> Result<Expr> {
        match &expr.kind {
            BoundKind::And(parts) => self.join(parts, truth, Expr::and),
            BoundKind::Or(parts) => self.join(parts, truth, Expr::or),
            BoundKind::Not(inner) => Ok(self.truth(inner, Truth::Exact)?.not()),
            BoundKind::Compare(operator, left, right) => {
                self.compare(*operator, left, right, truth)
            }
            BoundKind::In(left, list) => self.is_in(left, list, truth),
            BoundKind::Has(left, number) => self.has(left, *number, truth),
            BoundKind::IsRelated(path) => self.is_related(path),
            BoundKind::Any(collection, condition) => self.any(collection, condition.as_deref()),
            BoundKind::All(collection, condition) => self.all(collection, condition),
            BoundKind::Value(Literal::Boolean(value)) => Ok(Expr::val(*value).eq(true)),
            BoundKind::Value(Literal::Null) => Ok(Expr::val(false).eq(true)),
            BoundKind::Property(_)
            | BoundKind::Call(..)
            | BoundKind::Column(_)
            | BoundKind::Case(_)
            | BoundKind::Cast(_) => {
                let value = self.value(expr)?;
                Ok(if truth == Truth::Exact && expr.nullable { or_false(value) } else { value })
            }
            other => Err(not_served(other)),
        }
    }

    fn join(
        &self,
        parts: &[BoundExpr],
        truth: Truth,
        join: fn(Expr, Expr) -> Expr,
    ) -> Result<Expr> {
        Ok(match parts {
            [] => Expr::val(true).eq(true),
            [part] => self.truth(part, truth)?,
            // Halves of halves: a long chain is no deep tree, which would exhaust the stack here,
            // and SQLite's limit there.
            parts => {
                let (first, second) = parts.split_at(parts.len() / 2);
                join(self.join(first, truth, join)?, self.join(second, truth, join)?)
            }
        })
    }

    fn compare(
        &self,
        operator: BinaryOperator,
        left: &BoundExpr,
        right: &BoundExpr,
        truth: Truth,
    ) -> Result<Expr> {
        use BinaryOperator as Op;
        // What is no number is unlike all others, and neither less nor greater.
        if is_nan(left) || is_nan(right) {
            return Ok(Expr::val(operator == Op::NotEqual).eq(true));
        }
        let equality = matches!(operator, Op::Equal | Op::NotEqual);
        if is_null(left) || is_null(right) {
            if !equality {
                return Ok(Expr::val(false).eq(true));
            }
            let other = self.value(if is_null(right) { left } else { right })?;
            return Ok(if operator == Op::Equal { other.is_null() } else { other.is_not_null() });
        }
        // What is no member has no number.
        let ranked = !equality && self.is_ranked(left);
        let nullable = left.nullable || right.nullable || ranked;
        let (a, b) = if ranked {
            (self.rank(left)?, self.rank(right)?)
        } else {
            self.operands(left, right)?
        };
        let exact = nullable && truth == Truth::Exact;
        // Two that are null are equal, which the plain comparison doesn't know.
        let both = left.nullable && right.nullable;
        Ok(match operator {
            Op::Equal if exact || both => a.binary(BinOper::Custom("IS NOT DISTINCT FROM"), b),
            Op::Equal => a.eq(b),
            Op::NotEqual if nullable => a.binary(BinOper::Custom("IS DISTINCT FROM"), b),
            Op::NotEqual => a.ne(b),
            ordered => {
                let compared = match ordered {
                    Op::Greater => a.gt(b),
                    Op::GreaterOrEqual => a.gte(b),
                    Op::Less => a.lt(b),
                    _ => a.lte(b),
                };
                if exact { or_false(compared) } else { compared }
            }
        })
    }

    /// Both sides of a comparison; a constant takes the kind of the column beside it.
    fn operands(&self, left: &BoundExpr, right: &BoundExpr) -> Result<(Expr, Expr)> {
        let plain =
            |expr: &BoundExpr| matches!(expr.kind, BoundKind::Value(_) | BoundKind::Property(_));
        let numeric = |expr: &BoundExpr| expr.primitive().is_some_and(PrimitiveType::is_numeric);
        if numeric(left) && numeric(right) && !(plain(left) && plain(right)) {
            return Ok((self.number(left)?, self.number(right)?));
        }
        Ok((self.beside(left, right)?, self.beside(right, left)?))
    }

    fn beside(&self, expr: &BoundExpr, other: &BoundExpr) -> Result<Expr> {
        match (&expr.kind, &other.kind) {
            (BoundKind::Value(literal), BoundKind::Property(path)) => {
                refuse_early_years(literal)?;
                let kind = self.sets.served_type(path.entity_type).kind_of(path.property);
                let value = to_column(kind, literal).or_else(|| to_value(literal));
                let value = value.ok_or_else(|| unserved_literal(literal))?;
                // Of the column's type, as a rule; then nothing needs to say so.
                let same = std::mem::discriminant(&value) == std::mem::discriminant(&kind.null());
                Ok(if same { Expr::val(value) } else { self.parameter(value) })
            }
            _ => self.value(expr),
        }
    }

    fn is_in(&self, left: &BoundExpr, list: &[BoundExpr], truth: Truth) -> Result<Expr> {
        if is_nan(left) {
            return Ok(Expr::val(false).eq(true));
        }
        let list = list.iter().filter(|item| !is_nan(item));
        let (nulls, values): (Vec<_>, Vec<_>) = list.partition(|item| is_null(item));
        let column = self.value(left)?;
        let values = values.into_iter().map(|item| self.beside(item, left));
        let values = values.collect::<Result<Vec<_>>>()?;
        if values.is_empty() {
            return Ok(if nulls.is_empty() { Expr::val(false).eq(true) } else { column.is_null() });
        }
        if nulls.is_empty() {
            let found = column.is_in(values);
            let exact = left.nullable && truth == Truth::Exact;
            return Ok(if exact { or_false(found) } else { found });
        }
        // A null in the list is a value like any other. What is not found in the other values is
        // null where it was null, and then it is found.
        let missing = column.is_not_in(values);
        let found = Expr::from(Func::coalesce([missing, Expr::val(false)])).not();
        Ok(found)
    }

    fn case(&self, expr: &BoundExpr, branches: &[(BoundExpr, BoundExpr)]) -> Result<Expr> {
        let mut case = CaseStatement::new();
        let numeric = expr.primitive().is_some_and(PrimitiveType::is_numeric);
        for (condition, value) in branches {
            let value = if numeric { self.number(value)? } else { self.value(value)? };
            case = case.case(self.condition(condition)?, value);
        }
        Ok(case.into())
    }

    /// Conversions that give the same on both databases: to a wider number, and to text from what
    /// has one form only.
    fn cast(&self, expr: &BoundExpr, inner: &BoundExpr) -> Result<Expr> {
        use PrimitiveType as Ty;
        let (Some(from), Some(to)) = (inner.primitive(), expr.primitive()) else {
            return Err(not_served(&expr.kind));
        };
        let widens = |from: Ty, to: Ty| match to {
            Ty::Int64 => from.is_integer(),
            Ty::Int32 => from.is_integer() && from != Ty::Int64,
            Ty::Decimal | Ty::Double => from.is_integer() || from == to,
            _ => false,
        };
        if from == to || is_null(inner) {
            return self.value(inner);
        }
        match to {
            Ty::String if from.is_integer() => {
                Ok(self.sql("CAST(? AS TEXT)", "CAST($1 AS TEXT)", vec![self.value(inner)?]))
            }
            _ if widens(from, to) => self.number(inner),
            _ => Err(Error::not_implemented(format!(
                "a cast of `{}` to `{}` is not served",
                from.name(),
                to.name()
            ))),
        }
    }

    fn call(&self, function: Function, arguments: &[BoundExpr]) -> Result<Expr> {
        if let Some(moment) = self.moment_function(function, arguments)? {
            return Ok(moment);
        }
        if let Some(number) = self.rounding(function, arguments)? {
            return Ok(number);
        }
        self.text_function(function, arguments)
    }

    fn literal(&self, value: &Literal) -> Result<Expr> {
        let is_nan = matches!(value, Literal::Double(number) if number.is_nan());
        if value.is_null() || is_nan {
            return Ok(Expr::cust("NULL"));
        }
        refuse_early_years(value)?;
        let stored = match value {
            Literal::Enum(index, number) => self.sets.enumeration(*index).stored(*number),
            value => to_value(value),
        };
        stored.map(|value| self.parameter(value)).ok_or_else(|| unserved_literal(value))
    }

    /// A constant whose type stands in the SQL. The driver keeps a prepared statement by its text,
    /// and PostgreSQL keeps the types that its parameters had first: without it the same text with
    /// a parameter of another type would be refused, or read wrongly.
    fn parameter(&self, value: sea_orm::Value) -> Expr {
        use sea_orm::Value;
        let name = match &value {
            _ if self.backend == Backend::Sqlite => return Expr::val(value),
            Value::Bool(_) => "boolean",
            Value::SmallInt(_) => "smallint",
            Value::Int(_) => "integer",
            Value::BigInt(_) => "bigint",
            Value::Double(_) => "double precision",
            Value::Decimal(_) => "numeric",
            Value::Uuid(_) => "uuid",
            Value::TimeDateTimeWithTimeZone(_) => "timestamptz",
            Value::TimeDate(_) => "date",
            Value::TimeTime(_) => "time",
            Value::Bytes(_) => "bytea",
            _ => "text",
        };
        Expr::val(value).cast_as(Alias::new(name))
    }

    /// SQL that differs between the databases. Each argument stands in it once, in order.
    fn sql(&self, sqlite: &'static str, postgres: &'static str, arguments: Vec<Expr>) -> Expr {
        let sql = if self.backend == Backend::Sqlite { sqlite } else { postgres };
        Expr::cust_with_exprs(sql, arguments)
    }
}

fn unserved_literal(literal: &Literal) -> Error {
    match literal {
        Literal::BigDecimal(_) => Error::malformed(
            "a number has more digits than the 28 that are compared; write it with fewer",
        ),
        _ => Error::not_implemented("a literal of this type is not served"),
    }
}

fn or_false(condition: Expr) -> Expr {
    Expr::from(Func::coalesce([condition, Expr::val(false)]))
}

fn is_null(expr: &BoundExpr) -> bool {
    matches!(expr.kind, BoundKind::Value(Literal::Null))
}

fn is_nan(expr: &BoundExpr) -> bool {
    matches!(expr.kind, BoundKind::Value(Literal::Double(number)) if number.is_nan())
}

fn not_served(what: &impl std::fmt::Debug) -> Error {
    let text = format!("{what:?}");
    let name = text.split(['(', ' ', '{']).next().unwrap_or_default();
    Error::not_implemented(format!("`{}` in an expression is not served", name.to_lowercase()))
}
