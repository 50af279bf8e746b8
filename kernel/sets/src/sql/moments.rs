//! Functions of dates and times. All moments are in UTC, so their parts are UTC's.
//!
//! SQLite keeps a moment as text of fixed width (`2026-01-02T03:04:05.060000Z`), a time as
//! `03:04:05.060000` and a date as `2026-01-02`, so that a part is a part of the text.

use sea_orm::sea_query::Expr;
use svc_core::{Error, Result};
use svc_database::stored::truncate;
use svc_odata::bind::{BoundExpr, BoundKind};
use svc_odata::model::PrimitiveType;
use svc_odata::syntax::{BinaryOperator, Function};
use svc_odata::value::Value as Literal;
use time::OffsetDateTime;
use time::macros::datetime;

use super::Translator;

impl Translator<'_> {
    /// A function of dates and times; none for another function.
    pub(super) fn moment_function(
        &self,
        function: Function,
        arguments: &[BoundExpr],
    ) -> Result<Option<Expr>> {
        let [argument] = arguments else {
            let moment = self.moment_now(function);
            return Ok(moment.map(|moment| self.parameter(moment.into())));
        };
        let time_only = argument.primitive() == Some(PrimitiveType::TimeOfDay);
        let (sqlite, postgres) = match (function, time_only) {
            (Function::Year, _) => {
                ("CAST(substr(?, 1, 4) AS INTEGER)", "CAST(extract(year FROM $1) AS INTEGER)")
            }
            (Function::Month, _) => {
                ("CAST(substr(?, 6, 2) AS INTEGER)", "CAST(extract(month FROM $1) AS INTEGER)")
            }
            (Function::Day, _) => {
                ("CAST(substr(?, 9, 2) AS INTEGER)", "CAST(extract(day FROM $1) AS INTEGER)")
            }
            (Function::Hour, true) => {
                ("CAST(substr(?, 1, 2) AS INTEGER)", "CAST(extract(hour FROM $1) AS INTEGER)")
            }
            (Function::Hour, false) => {
                ("CAST(substr(?, 12, 2) AS INTEGER)", "CAST(extract(hour FROM $1) AS INTEGER)")
            }
            (Function::Minute, true) => {
                ("CAST(substr(?, 4, 2) AS INTEGER)", "CAST(extract(minute FROM $1) AS INTEGER)")
            }
            (Function::Minute, false) => {
                ("CAST(substr(?, 15, 2) AS INTEGER)", "CAST(extract(minute FROM $1) AS INTEGER)")
            }
            (Function::Second, true) => (
                "CAST(substr(?, 7, 2) AS INTEGER)",
                "CAST(floor(extract(second FROM $1)) AS INTEGER)",
            ),
            (Function::Second, false) => (
                "CAST(substr(?, 18, 2) AS INTEGER)",
                "CAST(floor(extract(second FROM $1)) AS INTEGER)",
            ),
            (Function::FractionalSeconds, true) => (
                "(CAST(substr(?, 10, 6) AS INTEGER) / 1000000.0)",
                "mod(CAST(extract(second FROM $1) AS NUMERIC), 1)",
            ),
            (Function::FractionalSeconds, false) => (
                "(CAST(substr(?, 21, 6) AS INTEGER) / 1000000.0)",
                "mod(CAST(extract(second FROM $1) AS NUMERIC), 1)",
            ),
            (Function::Date, _) => ("substr(?, 1, 10)", "CAST($1 AS DATE)"),
            (Function::Time, _) => ("substr(?, 12, 15)", "CAST($1 AS TIME)"),
            (Function::TotalOffsetMinutes, _) => {
                ("(CASE WHEN ? IS NOT NULL THEN 0 END)", "(CASE WHEN $1 IS NOT NULL THEN 0 END)")
            }
            _ => return Ok(None),
        };
        refuse_other_zone(argument)?;
        let mut value = self.value(argument)?;
        if argument.primitive() == Some(PrimitiveType::DateTimeOffset) {
            value = self.sql("?", "timezone('UTC', $1)", vec![value]);
        }
        Ok(Some(self.sql(sqlite, postgres, vec![value])))
    }

    /// A moment that doesn't depend on the row, such as `now() sub duration'P7D'`; none for one
    /// that does.
    pub(super) fn constant_moment(&self, expr: &BoundExpr) -> Result<Option<OffsetDateTime>> {
        Ok(match &expr.kind {
            BoundKind::Value(Literal::DateTimeOffset(moment)) => Some(truncate(*moment)),
            BoundKind::Call(function, _) => self.moment_now(*function),
            BoundKind::Arithmetic(operator, left, right) => {
                let (Some(moment), BoundKind::Value(Literal::Duration(duration))) =
                    (self.constant_moment(left)?, &right.kind)
                else {
                    return Ok(None);
                };
                let sum = match operator {
                    BinaryOperator::Add => moment.checked_add(*duration),
                    _ => moment.checked_sub(*duration),
                };
                Some(truncate(sum.filter(|sum| sum.year() > 0).ok_or_else(beyond_years)?))
            }
            _ => None,
        })
    }

    fn moment_now(&self, function: Function) -> Option<OffsetDateTime> {
        match function {
            Function::Now => Some(truncate(self.ctx.clock().now())),
            Function::MinDateTime => Some(datetime!(0001-01-01 00:00 UTC)),
            Function::MaxDateTime => Some(datetime!(9999-12-31 23:59:59.999_999 UTC)),
            _ => None,
        }
    }
}

/// Days and moments before the year 1 are stored nowhere, have another order as text, and other years on PostgreSQL.
pub(super) fn refuse_early_years(literal: &Literal) -> Result<()> {
    let year = match literal {
        Literal::Date(day) => day.year(),
        Literal::DateTimeOffset(moment) => truncate(*moment).year(),
        _ => return Ok(()),
    };
    if year < 1 { Err(beyond_years()) } else { Ok(()) }
}

fn beyond_years() -> Error {
    Error::malformed("the moment lies beyond the years 1 to 9999")
}

/// A moment that is written down has its date and time in the zone that it is written in, which is
/// lost here (URL Conventions 5.1.1.8).
fn refuse_other_zone(argument: &BoundExpr) -> Result<()> {
    match &argument.kind {
        BoundKind::Value(Literal::DateTimeOffset(moment)) if !moment.offset().is_utc() => Err(
            Error::malformed("the date and time of a moment are told in UTC: write it with `Z`"),
        ),
        _ => Ok(()),
    }
}
