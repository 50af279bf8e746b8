//! The numbers of orders: counted up in each organisation, without gaps.

use svc::prelude::*;

/// The first number of an organisation.
const FIRST: i64 = 100_001;

/// The next number. Whoever takes one holds the counter until the unit of work ends, so a unit of
/// work that is rolled back gives its number back, and others wait for it meanwhile.
pub(crate) async fn next(uow: &UnitOfWork) -> Result<String> {
    reserve(uow, 1).await.map(text)
}

/// Reserves `count` numbers that follow each other, and answers with the first.
pub(crate) async fn reserve(uow: &UnitOfWork, count: i64) -> Result<i64> {
    let organisation = uow.context().organisation()?;
    let statement = uow.context().database().statement(
        "INSERT INTO order_numbers (organisation_id, last) VALUES (?, ?) \
         ON CONFLICT (organisation_id) DO UPDATE SET last = order_numbers.last + ? \
         RETURNING last",
        [organisation.0.into(), (FIRST - 1 + count).into(), count.into()],
    );
    let rows = uow.rows(statement).await?;
    let row = rows.first().ok_or_else(|| Error::internal("the counter of orders gave no row"))?;
    let last: i64 = row.try_get_by_index(0).map_err(svc::database::database_error)?;
    Ok(last - count + 1)
}

/// A number as people write it.
pub(crate) fn text(number: i64) -> String {
    format!("SO-{number}")
}
