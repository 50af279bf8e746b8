//! Arithmetic and rounding, with the same results on both databases.
//!
//! PostgreSQL computes with `numeric`, which neither overflows nor loses digits; SQLite with
//! integers and doubles. Results that are no whole numbers are rounded to ten decimals on both, and on SQLite to the
//! fifteen digits that a double has, so that its last bits never show. A division by zero has no result: it is null, as is what is no number
//! (`NaN`) on either.

use sea_orm::sea_query::Expr;
use svc_core::{Error, Result};
use svc_database::Backend;
use svc_odata::bind::BoundExpr;
use svc_odata::model::PrimitiveType;
use svc_odata::syntax::{BinaryOperator, Function};

use super::Translator;

fn is_integer(expr: &BoundExpr) -> bool {
    expr.primitive().is_some_and(PrimitiveType::is_integer)
}

/// SQLite's text of a value, rounded to the decimals that doubles of a magnitude have: fifteen digits in all, and ten
/// decimals at most. What is taken from a large number leaves a small one, in whose digits the last bits of the large
/// one would show.
macro_rules! kept {
    ($value:literal of $magnitude:literal) => {
        kept!($value, $magnitude, "1e5" 10, "1e6" 9, "1e7" 8, "1e8" 7, "1e9" 6, "1e10" 5, "1e11" 4, "1e12" 3, "1e13" 2, "1e14" 1)
    };
    ($value:literal, $magnitude:literal, $($bound:literal $decimals:literal),+) => {
        concat!(
            "round(", $value, ", CASE",
            $(" WHEN ", $magnitude, " < ", $bound, " THEN ", $decimals,)+
            " ELSE 0 END)"
        )
    };
}

/// SQLite's text of what two numbers, `l` and `r`, come to.
macro_rules! of_both {
    ($value:literal of $magnitude:literal) => {
        concat!(
            "(SELECT ",
            kept!($value of $magnitude),
            " FROM (SELECT CAST(? AS REAL) AS l, CAST(? AS REAL) AS r))"
        )
    };
}

impl Translator<'_> {
    /// A number in the form that arithmetic works on.
    pub(super) fn number(&self, expr: &BoundExpr) -> Result<Expr> {
        let value = self.value(expr)?;
        Ok(match self.backend {
            Backend::Postgres => Expr::cust_with_exprs("CAST($1 AS NUMERIC)", [value]),
            // What SQLite keeps as an integer would divide as one.
            Backend::Sqlite if !is_integer(expr) => {
                Expr::cust_with_exprs("CAST(? AS REAL)", [value])
            }
            Backend::Sqlite => value,
        })
    }

    pub(super) fn arithmetic(
        &self,
        expr: &BoundExpr,
        operator: BinaryOperator,
        left: &BoundExpr,
        right: &BoundExpr,
    ) -> Result<Expr> {
        use BinaryOperator as Op;
        if expr.primitive() == Some(PrimitiveType::DateTimeOffset) {
            return self.constant_moment(expr).and_then(|moment| {
                let missing = || {
                    Error::not_implemented("arithmetic of durations with a property is not served")
                };
                moment.map(|moment| self.parameter(moment.into())).ok_or_else(missing)
            });
        }
        if !expr.primitive().is_some_and(PrimitiveType::is_numeric) {
            return Err(Error::not_implemented("arithmetic of durations is not served"));
        }
        let whole = is_integer(left) && is_integer(right);
        let operands = vec![self.number(left)?, self.number(right)?];
        let (sqlite, postgres) = match (operator, whole) {
            (Op::Add, true) => ("(? + ?)", "($1 + $2)"),
            (Op::Subtract, true) => ("(? - ?)", "($1 - $2)"),
            (Op::Multiply, true) => ("(? * ?)", "($1 * $2)"),
            (Op::Divide, true) => ("(? / ?)", "div($1, NULLIF($2, 0))"),
            (Op::Modulo, true) => ("(? % ?)", "mod($1, NULLIF($2, 0))"),
            (Op::Add, false) => {
                (of_both!("l + r" of "max(abs(l), abs(r))"), "NULLIF(round($1 + $2, 10), 'NaN')")
            }
            (Op::Subtract, false) => {
                (of_both!("l - r" of "max(abs(l), abs(r))"), "NULLIF(round($1 - $2, 10), 'NaN')")
            }
            (Op::Multiply, false) => {
                (of_both!("l * r" of "abs(l * r)"), "NULLIF(round($1 * $2, 10), 'NaN')")
            }
            // A division by zero is null in SQLite.
            (Op::Divide, false) | (Op::DivideBy, _) => {
                (of_both!("l / r" of "abs(l / r)"), "NULLIF(round($1 / NULLIF($2, 0), 10), 'NaN')")
            }
            (Op::Modulo, false) => (
                // A quotient of doubles may come out just below the whole number that it is; what is
                // left then is all of the divisor. One that is just below it is rounded to it, and
                // what is left then has the other sign.
                concat!(
                    "(SELECT CASE WHEN abs(m) >= abs(round(r, 10)) THEN 0.0 \
                     WHEN m < 0 AND l > 0 THEN ",
                    kept!("m + abs(r)" of "abs(l)"),
                    " WHEN m > 0 AND l < 0 THEN ",
                    kept!("m - abs(r)" of "abs(l)"),
                    " ELSE m END FROM (SELECT ",
                    kept!("l - r * CAST(round(l / r, 10) AS INTEGER)" of "abs(l)"),
                    " AS m, l, r FROM (SELECT CAST(? AS REAL) AS l, CAST(NULLIF(?, 0) AS REAL) AS r)))"
                ),
                "NULLIF(round(mod($1, NULLIF($2, 0)), 10), 'NaN')",
            ),
            (other, _) => return Err(super::not_served(&other)),
        };
        Ok(self.sql(sqlite, postgres, operands))
    }

    pub(super) fn negate(&self, inner: &BoundExpr) -> Result<Expr> {
        if !inner.primitive().is_some_and(PrimitiveType::is_numeric) {
            return Err(Error::not_implemented("arithmetic of durations is not served"));
        }
        // In brackets of its own, since it may stand within other SQL.
        Ok(self.sql("(0 - ?)", "(0 - $1)", vec![self.number(inner)?]))
    }

    /// `round`, `floor` and `ceiling`; none for another function. Halves are rounded away from
    /// zero (URL Conventions 5.1.1.8.1).
    pub(super) fn rounding(
        &self,
        function: Function,
        arguments: &[BoundExpr],
    ) -> Result<Option<Expr>> {
        let (sqlite, postgres) = match function {
            Function::Round => ("round(?)", "round($1)"),
            // A double beyond 9e15 is whole, and may have no integer.
            Function::Floor => (
                "(SELECT CASE WHEN n BETWEEN -9e15 AND 9e15 \
                 THEN CAST(n AS INTEGER) - (n < CAST(n AS INTEGER)) ELSE n END FROM (SELECT ? AS n))",
                "floor($1)",
            ),
            Function::Ceiling => (
                "(SELECT CASE WHEN n BETWEEN -9e15 AND 9e15 \
                 THEN CAST(n AS INTEGER) + (n > CAST(n AS INTEGER)) ELSE n END FROM (SELECT ? AS n))",
                "ceil($1)",
            ),
            _ => return Ok(None),
        };
        let [argument] = arguments else { return Err(super::not_served(&function)) };
        if is_integer(argument) {
            // SQLite would make a double of it.
            return self.number(argument).map(Some);
        }
        Ok(Some(self.sql(sqlite, postgres, vec![self.number(argument)?])))
    }
}
