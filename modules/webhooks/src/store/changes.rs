//! Which endpoints were changed or deleted lately, for nodes that hold what was prepared before.

use svc_core::{Result, micros};
use svc_database::Database;
use uuid::Uuid;

use super::read_all;

/// Endpoints that were changed or deleted since a time, with the versions that hold now.
pub(crate) async fn since(database: &Database, since_us: i64) -> Result<Vec<(Uuid, i64)>> {
    let sql = "SELECT id, version FROM webhooks_endpoints WHERE updated_at >= ? \
               UNION ALL SELECT endpoint_id, ? FROM webhooks_deletions WHERE deleted_us >= ?";
    let values = [micros::to_time(since_us).into(), i64::MAX.into(), since_us.into()];
    let rows = database.rows(database.statement(sql, values)).await?;
    read_all(&rows, |row| Ok((row.try_get_by_index(0)?, row.try_get_by_index(1)?)))
}
