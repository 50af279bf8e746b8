//! The table of what happened, and the handler that keeps it there.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use sea_orm::{QueryResult, Value};
use serde::{Deserialize, Serialize};
use svc_core::{Error, OrganisationId, Result};
use svc_data::UnitOfWork;
use svc_database::{Database, database_error};
use svc_events::{Handler, Message, Payload, RecordChange};
use uuid::Uuid;

use crate::tell::LiveTold;

/// The topic by which nodes tell each other that something happened.
pub(crate) const WAKE_TOPIC: &str = "live";

/// Rows of one statement that stores.
const ROWS: usize = 100;

/// Something that happened, as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Happening {
    Change(RecordChange),
    Told(LiveTold),
}

/// Numbers what happened and keeps it.
pub(crate) struct Logging;

#[async_trait]
impl Handler for Logging {
    async fn handle(&self, uow: &UnitOfWork, messages: &[Message]) -> Result<()> {
        let mut of: BTreeMap<Option<OrganisationId>, Vec<Happening>> = BTreeMap::new();
        for message in messages {
            let happening = match &message.payload {
                Payload::Change(change) => Happening::Change(change.clone()),
                Payload::Domain(_) => Happening::Told(message.data()?),
                Payload::Application(_) => continue,
            };
            of.entry(message.organisation).or_default().push(happening);
        }
        for (organisation, happenings) in of {
            store(uow, organisation, &happenings).await?;
        }
        uow.wake_after_commit(WAKE_TOPIC);
        Ok(())
    }
}

/// Something that happened, with its number.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) position: i64,
    pub(crate) organisation: Option<OrganisationId>,
    pub(crate) happening: Happening,
    /// About how much it takes in memory.
    pub(crate) bytes: usize,
}

/// Numbers what happened in an organisation, and stores it. The counter stays locked until the unit of work ends, so what
/// has a higher number is never seen before what has a lower one.
pub(crate) async fn store(
    uow: &UnitOfWork,
    organisation: Option<OrganisationId>,
    happenings: &[Happening],
) -> Result<()> {
    let database = uow.context().database();
    let told_at_us = uow.context().clock().now_us();
    let count = i64::try_from(happenings.len()).unwrap_or(i64::MAX);
    let take = "UPDATE live_head SET position = position + ? WHERE id = 1 RETURNING position";
    let taken = uow.rows(database.statement(take, [count.into()])).await?;
    let last: i64 = match taken.first() {
        Some(row) => row.try_get_by_index(0).map_err(database_error)?,
        None => return Err(Error::internal("the table `live_head` has lost its row")),
    };
    for (positions, chunk) in (last - count + 1..).step_by(ROWS).zip(happenings.chunks(ROWS)) {
        let mut values: Vec<Value> = Vec::with_capacity(chunk.len() * 4);
        for (position, happening) in (positions..).zip(chunk) {
            let content = serde_json::to_string(happening).map_err(|error| {
                Error::internal("what happened can't be made JSON").caused_by(error)
            })?;
            let organisation = organisation.map(|organisation| organisation.0);
            let row: [Value; 4] =
                [position.into(), organisation.into(), content.into(), told_at_us.into()];
            values.extend(row);
        }
        let rows = vec!["(?, ?, ?, ?)"; chunk.len()].join(", ");
        let sql = format!(
            "INSERT INTO live_log (position, organisation_id, content, told_at_us) VALUES {rows}"
        );
        uow.execute(database.statement(&sql, values)).await?;
    }
    Ok(())
}

/// The number of the last event.
pub(crate) async fn newest(database: &Database) -> Result<i64> {
    let rows = database.rows(database.statement("SELECT position FROM live_head", [])).await?;
    let position = rows.first().map(|row| row.try_get_by_index(0)).transpose();
    Ok(position.map_err(database_error)?.unwrap_or(0))
}

/// What happened behind a number, at most so much.
pub(crate) async fn after(
    database: &Database,
    position: i64,
    limit: usize,
) -> Result<Vec<Arc<Entry>>> {
    let sql = format!(
        "SELECT position, organisation_id, content FROM live_log WHERE position > ? ORDER BY position LIMIT {limit}"
    );
    let rows = database.rows(database.statement(&sql, [position.into()])).await?;
    rows.iter().map(|row| read(row).map(Arc::new)).collect()
}

fn read(row: &QueryResult) -> Result<Entry> {
    let organisation: Option<Uuid> = row.try_get_by_index(1).map_err(database_error)?;
    let content: String = row.try_get_by_index(2).map_err(database_error)?;
    let happening = serde_json::from_str(&content).map_err(|error| {
        Error::internal("what is stored of what happened can't be read").caused_by(error)
    })?;
    Ok(Entry {
        position: row.try_get_by_index(0).map_err(database_error)?,
        organisation: organisation.map(OrganisationId),
        happening,
        bytes: content.len(),
    })
}

/// Deletes what was told before a time, and says how much.
pub(crate) async fn forget(database: &Database, before_us: i64) -> Result<u64> {
    let sql = "DELETE FROM live_log WHERE told_at_us < ?";
    database.execute(database.statement(sql, [before_us.into()])).await
}
