//! What is noted of endpoints whose owners are gone.

use svc_core::Result;
use svc_data::UnitOfWork;
use time::OffsetDateTime;
use uuid::Uuid;

use super::{ids, is_one_of, read_all};

/// An endpoint of which it was noted just now.
pub(crate) struct Abandoned {
    pub(crate) endpoint: Uuid,
    pub(crate) url: String,
    pub(crate) description: String,
}

/// Notes endpoints whose owners are gone; answers with those of which nobody had noted it.
pub(crate) async fn note_gone(
    uow: &UnitOfWork,
    endpoints: impl IntoIterator<Item = Uuid>,
    at: OffsetDateTime,
) -> Result<Vec<Abandoned>> {
    let database = uow.context().database();
    let sql = format!(
        "UPDATE webhooks_endpoints SET owner_gone_at = ? WHERE owner_gone_at IS NULL AND {} \
         RETURNING id, url, description",
        is_one_of(database.backend(), "id")
    );
    let rows = uow.rows(database.statement(&sql, [at.into(), ids(endpoints)])).await?;
    read_all(&rows, |row| {
        Ok(Abandoned {
            endpoint: row.try_get_by_index(0)?,
            url: row.try_get_by_index(1)?,
            description: row.try_get_by_index(2)?,
        })
    })
}

/// Notes endpoints whose owners are there again.
pub(crate) async fn note_return(
    uow: &UnitOfWork,
    endpoints: impl IntoIterator<Item = Uuid>,
) -> Result<()> {
    let database = uow.context().database();
    let sql = format!(
        "UPDATE webhooks_endpoints SET owner_gone_at = NULL WHERE {}",
        is_one_of(database.backend(), "id")
    );
    uow.execute(database.statement(&sql, [ids(endpoints)])).await.map(drop)
}
