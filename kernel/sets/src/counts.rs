//! Numbers that the database answers with.

use sea_orm::sea_query::{Expr, Func, SelectStatement};
use svc_core::Result;
use svc_data::Context;
use svc_database::database_error;

/// The number of rows of a statement without columns.
pub(super) fn count_of(select: &SelectStatement) -> SelectStatement {
    let mut select = select.clone();
    select.expr(Func::count(Expr::val(1)));
    select
}

/// The number that a statement answers with; none is 0.
pub(super) async fn first_number(ctx: &Context, select: &SelectStatement) -> Result<u64> {
    let row = ctx.run_one(ctx.database().build(select)).await?;
    let count = row.map(|row| row.try_get_by_index::<i64>(0)).transpose();
    let count = count.map_err(database_error)?.unwrap_or(0);
    Ok(count.unsigned_abs())
}
