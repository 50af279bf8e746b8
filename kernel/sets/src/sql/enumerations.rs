//! Members of enumerations: they are compared and sorted by their numbers.
//!
//! Where numbers are stored, they are compared as they are, so that an index can serve it. Where
//! texts are, SQL makes the number of each; a text that is no member has none, and so comes before
//! all members, as null does.

use std::fmt::Write as _;

use sea_orm::sea_query::{Expr, ExprTrait as _};
use svc_core::{Error, Result};
use svc_data::value::{Enumeration, ValueKind};
use svc_database::Backend;
use svc_odata::bind::{BoundExpr, BoundKind};
use svc_odata::model::PropertyType;
use svc_odata::value::Value as Literal;

use super::{Translator, Truth, or_false};
use crate::form::Form;

impl Translator<'_> {
    /// The enumeration of an expression, where its members are stored as texts.
    fn ranked(&self, expr: &BoundExpr) -> Option<&'static Enumeration> {
        let PropertyType::Enum(index) = expr.ty else { return None };
        let enumeration = self.sets.enumeration(index);
        matches!(enumeration.storage(), ValueKind::Text { .. }).then_some(enumeration)
    }

    /// Whether SQL must make the number that an expression is compared and sorted by.
    pub(crate) fn is_ranked(&self, expr: &BoundExpr) -> bool {
        self.ranked(expr).is_some()
    }

    /// The number of a member whose text is stored.
    ///
    /// # Errors
    ///
    /// As [`Translator::condition`].
    pub(crate) fn rank(&self, expr: &BoundExpr) -> Result<Expr> {
        if let BoundKind::Value(Literal::Enum(_, number)) = &expr.kind {
            return Ok(self.parameter((*number).into()));
        }
        let enumeration =
            self.ranked(expr).ok_or_else(|| Error::internal("what is ranked isn't text"))?;
        let ranks = enumeration.ranks();
        let ranks = ranks.map(|(text, number)| (self.parameter(text.into()), number.into()));
        let rank = self.mapped(self.value(expr)?, ranks);
        Ok(Form::Kind(ValueKind::Int64).typed(self.backend, rank))
    }

    /// What the least or greatest value is sought of: the numbers of members, since their texts have
    /// another order. [`Translator::unranked`] makes the text of the result.
    ///
    /// # Errors
    ///
    /// As [`Translator::condition`].
    pub(crate) fn ordered(&self, expr: &BoundExpr) -> Result<Expr> {
        if self.is_ranked(expr) {
            return self.rank(expr);
        }
        self.typed(expr)
    }

    /// A value whose type PostgreSQL is told.
    ///
    /// # Errors
    ///
    /// As [`Translator::condition`].
    pub(crate) fn typed(&self, expr: &BoundExpr) -> Result<Expr> {
        Ok(self.form(expr)?.typed(self.backend, self.value(expr)?))
    }

    /// The stored text of a member, from the number that [`Translator::ordered`] made of `expr`; the
    /// value itself where it made none.
    pub(crate) fn unranked(&self, expr: &BoundExpr, value: Expr) -> Expr {
        let Some(enumeration) = self.ranked(expr) else { return value };
        let ranks = enumeration.ranks();
        let texts = ranks.map(|(text, number)| (number.into(), self.parameter(text.into())));
        self.mapped(value, texts)
    }

    /// `CASE value WHEN … THEN … END`, in which the value stands once.
    fn mapped(&self, value: Expr, pairs: impl Iterator<Item = (Expr, Expr)>) -> Expr {
        let mut sql = String::from("CASE ");
        let mut values = vec![value];
        let place = |sql: &mut String, number: usize| match self.backend {
            Backend::Sqlite => sql.push('?'),
            Backend::Postgres => drop(write!(sql, "${number}")),
        };
        place(&mut sql, 1);
        for (from, to) in pairs {
            sql.push_str(" WHEN ");
            place(&mut sql, values.len() + 1);
            sql.push_str(" THEN ");
            place(&mut sql, values.len() + 2);
            values.extend([from, to]);
        }
        sql.push_str(" END");
        Expr::cust_with_exprs(sql, values)
    }

    /// Whether a value is a member. Members exclude each other, so each has itself alone.
    pub(super) fn has(&self, left: &BoundExpr, number: i64, truth: Truth) -> Result<Expr> {
        let PropertyType::Enum(index) = left.ty else {
            return Err(Error::not_implemented("`has` is served for enumerations"));
        };
        let member = self.literal(&Literal::Enum(index, number))?;
        let found = self.value(left)?.eq(member);
        Ok(if left.nullable && truth == Truth::Exact { or_false(found) } else { found })
    }
}
