//! Keeps a node that lost a job from storing what it did for it.

use async_trait::async_trait;
use svc_core::{Error, Result};
use svc_data::{Fence, UnitOfWork};
use svc_database::Backend;

use crate::store::Lease;

/// Lets through what a job does while its node holds the lease.
///
/// A node that was paused may go on when another has taken its job. Its heartbeat finds that out, but
/// maybe only after the next commit; so each commit looks at the lease itself. On PostgreSQL the row is
/// locked for the moment until the commit, so that nobody takes the job in between.
pub(crate) struct LeaseFence(pub(crate) Lease);

#[async_trait]
impl Fence for LeaseFence {
    async fn check(&self, uow: &UnitOfWork) -> Result<()> {
        let database = uow.context().database();
        let lock = if database.backend() == Backend::Postgres { " FOR SHARE" } else { "" };
        let sql = format!("SELECT id FROM jobs_queue WHERE id = ? AND lease_token = ?{lock}");
        let lease = self.0;
        let statement = database.statement(&sql, [lease.id.0.into(), lease.token.into()]);
        if uow.rows(statement).await?.is_empty() {
            return Err(Error::conflict(
                "another node has taken the job, so what was done for it here is not stored",
            ));
        }
        Ok(())
    }
}
