//! Holds the database and the keys that protect its secrets together.
//!
//! The database remembers the names of the keys that were used with it. A start with other keys
//! would only fail much later, when somebody needs a secret, so it is refused at once.

use std::collections::BTreeSet;
use std::sync::Arc;

use svc_core::{App, Error, KeyRing, ProtectionSettings, Result};
use svc_database::{Migration, database_error};

use crate::context::Context;

pub(crate) const MIGRATION: Migration = Migration::new(
    "0001_protection",
    "CREATE TABLE svc_protection (
    key_name TEXT PRIMARY KEY,
    first_used_at_us BIGINT NOT NULL
);",
);

/// Loads the keys, checks that they are this database's, and provides them.
pub(crate) async fn provide_keys(app: App) -> Result<()> {
    let settings = app.settings::<ProtectionSettings>();
    let ring = KeyRing::load(&settings, app.name())?;
    let context = Context::system(&app)?;
    let database = context.database();
    let rows = database.rows(database.statement("SELECT key_name FROM svc_protection", [])).await?;
    let used = rows.iter().map(|row| row.try_get_by_index::<String>(0));
    let used: BTreeSet<String> = used.collect::<Result<_, _>>().map_err(database_error)?;
    let missing: Vec<&String> = used.iter().filter(|name| !ring.has(name)).collect();
    if !used.is_empty() && missing.len() == used.len() {
        return Err(Error::conflict(
            "the secrets in this database were protected with other keys; set \
             `Svc:DataProtection:Keys`, or put the key file that belongs to it in its place",
        ));
    }
    for name in missing {
        tracing::warn!(
            key = name,
            "a key that protected secrets is no longer there; what it protected can't be revealed"
        );
    }
    if !used.contains(ring.current()) {
        let sql = "INSERT INTO svc_protection (key_name, first_used_at_us) VALUES (?, ?) \
                   ON CONFLICT DO NOTHING";
        let values = [ring.current().into(), app.clock().now_us().into()];
        context
            .transact(async |uow| uow.execute(context.database().statement(sql, values)).await)
            .await?;
    }
    app.provide(Arc::new(ring));
    Ok(())
}
