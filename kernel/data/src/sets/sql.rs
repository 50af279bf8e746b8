//! Bound conditions and orders as SQL.
//!
//! OData knows true and false where SQL also knows "unknown": `eq` and `ne` take null as a value
//! like any other, and every other comparison with null is false. Where a condition only has to
//! hold, unknown and false come to the same, and the plain comparison stays, so that an index can
//! serve it. Below a `not` they differ, so there a comparison is made to answer false.

use sea_orm::sea_query::{BinOper, Expr, ExprTrait as _, Func};
use svc_core::{Error, Result};
use svc_odata::bind::{BoundExpr, BoundKind, PropertyPath, Variable};
use svc_odata::syntax::{BinaryOperator, Function};
use svc_odata::value::Value as Literal;

use super::literal::{to_column, to_value};
use super::model::Served;
use crate::database::Backend;

/// Translates expressions on one set's entities.
pub(crate) struct Translator<'a> {
    pub(crate) served: &'a Served,
    pub(crate) backend: Backend,
}

/// Whether a condition only has to hold, or stands below a `not`.
#[derive(Clone, Copy, PartialEq)]
enum Truth {
    Holds,
    Exact,
}

impl Translator<'_> {
    /// A condition that rows must hold.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotImplemented`](svc_core::ErrorKind::NotImplemented) for a feature that is
    /// not served, which the message names.
    pub(crate) fn condition(&self, expr: &BoundExpr) -> Result<Expr> {
        self.truth(expr, Truth::Holds)
    }

    /// A value to sort by.
    ///
    /// # Errors
    ///
    /// As [`Translator::condition`].
    pub(crate) fn value(&self, expr: &BoundExpr) -> Result<Expr> {
        match &expr.kind {
            BoundKind::Property(path) => Ok(Expr::col(
                self.served.entity.column_ref(self.served.column_index(own_property(path)?)),
            )),
            BoundKind::Value(value) => literal(value),
            BoundKind::Call(function, arguments) => self.call(*function, arguments),
            _ => self.truth(expr, Truth::Exact),
        }
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
            BoundKind::Value(Literal::Boolean(value)) => Ok(Expr::val(*value).eq(true)),
            BoundKind::Value(Literal::Null) => Ok(Expr::val(false).eq(true)),
            BoundKind::Property(_) | BoundKind::Call(..) => {
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
        let mut parts = parts.iter().map(|part| self.truth(part, truth));
        let first = parts.next().unwrap_or_else(|| Ok(Expr::val(true).eq(true)))?;
        parts.try_fold(first, |joined, part| Ok(join(joined, part?)))
    }

    fn compare(
        &self,
        operator: BinaryOperator,
        left: &BoundExpr,
        right: &BoundExpr,
        truth: Truth,
    ) -> Result<Expr> {
        use BinaryOperator as Op;
        let equality = matches!(operator, Op::Equal | Op::NotEqual);
        if is_null(left) || is_null(right) {
            if !equality {
                return Ok(Expr::val(false).eq(true));
            }
            let other = self.value(if is_null(right) { left } else { right })?;
            return Ok(if operator == Op::Equal { other.is_null() } else { other.is_not_null() });
        }
        let nullable = left.nullable || right.nullable;
        let (a, b) = self.operands(left, right)?;
        let exact = nullable && truth == Truth::Exact;
        Ok(match operator {
            Op::Equal if exact => a.binary(BinOper::Custom("IS NOT DISTINCT FROM".into()), b),
            Op::Equal => a.eq(b),
            Op::NotEqual if nullable => a.binary(BinOper::Custom("IS DISTINCT FROM".into()), b),
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
        Ok((self.beside(left, right)?, self.beside(right, left)?))
    }

    fn beside(&self, expr: &BoundExpr, other: &BoundExpr) -> Result<Expr> {
        match (&expr.kind, &other.kind) {
            (BoundKind::Value(value), BoundKind::Property(path)) => {
                let column = self.served.column(own_property(path)?);
                let value = to_column(column.kind, value).or_else(|| to_value(value));
                value.map(Expr::val).ok_or_else(|| Error::not_implemented("this literal"))
            }
            _ => self.value(expr),
        }
    }

    fn is_in(&self, left: &BoundExpr, list: &[BoundExpr], truth: Truth) -> Result<Expr> {
        let (nulls, values): (Vec<_>, Vec<_>) = list.iter().partition(|item| is_null(item));
        let column = self.value(left)?;
        let values = values.into_iter().map(|item| self.beside(item, left));
        let values = values.collect::<Result<Vec<_>>>()?;
        let mut found = column.clone().is_in(values);
        if left.nullable && truth == Truth::Exact {
            found = or_false(found);
        }
        Ok(if nulls.is_empty() { found } else { found.or(column.is_null()) })
    }

    fn call(&self, function: Function, arguments: &[BoundExpr]) -> Result<Expr> {
        let values = arguments.iter().map(|argument| self.value(argument));
        let values = values.collect::<Result<Vec<_>>>()?;
        let sql = |sqlite: &'static str, postgres: &'static str| {
            let sql = if self.backend == Backend::Sqlite { sqlite } else { postgres };
            Expr::cust_with_exprs(sql, values.clone())
        };
        Ok(match function {
            Function::Contains => sql("instr(?, ?) > 0", "strpos($1, $2) > 0"),
            Function::StartsWith => sql("instr(?, ?) = 1", "starts_with($1, $2)"),
            Function::EndsWith => {
                let [text, end] = &values[..] else { return Err(not_served(&function)) };
                let values = [end.clone(), text.clone(), end.clone(), end.clone()];
                Expr::cust_with_exprs(
                    match self.backend {
                        Backend::Sqlite => "(length(?) = 0 OR substr(?, -length(?)) = ?)",
                        Backend::Postgres => "(length($1) = 0 OR right($2, length($3)) = $4)",
                    },
                    values,
                )
            }
            Function::Length => sql("length(?)", "length($1)"),
            Function::Trim => sql("trim(?)", "btrim($1)"),
            Function::IndexOf => sql("instr(?, ?) - 1", "strpos($1, $2) - 1"),
            Function::Concat => sql("? || ?", "$1 || $2"),
            other => {
                return Err(Error::not_implemented(format!("the function `{}`", other.name())));
            }
        })
    }
}

fn own_property(path: &PropertyPath) -> Result<svc_odata::model::PropertyIndex> {
    if path.variable == Variable::Current && path.steps.is_empty() {
        Ok(path.property)
    } else {
        Err(Error::not_implemented("a path through a navigation property"))
    }
}

fn literal(value: &Literal) -> Result<Expr> {
    to_value(value).map(Expr::val).ok_or_else(|| Error::not_implemented("this literal"))
}

fn or_false(condition: Expr) -> Expr {
    Expr::from(Func::coalesce([condition, Expr::val(false)]))
}

fn is_null(expr: &BoundExpr) -> bool {
    matches!(expr.kind, BoundKind::Value(Literal::Null))
}

fn not_served(what: &impl std::fmt::Debug) -> Error {
    let text = format!("{what:?}");
    let name = text.split(['(', ' ', '{']).next().unwrap_or_default();
    Error::not_implemented(format!("`{}` in an expression", name.to_lowercase()))
}
