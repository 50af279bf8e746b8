//! Events that more endpoints want than one unit of work tells, and how far each has come.

use svc_core::Result;
use svc_data::UnitOfWork;
use uuid::Uuid;

use super::read_all;
use super::subscribers::Place;

/// Such an event.
pub(crate) struct Wide {
    pub(crate) event: Uuid,
    pub(crate) event_type: String,
    /// The event as the outbox told it, JSON.
    pub(crate) source: String,
    /// The endpoints up to here have it.
    pub(crate) place: Place,
}

/// Whose events these are; nil for those of records that belong to all organisations.
fn organisation(uow: &UnitOfWork) -> Uuid {
    uow.context().principal().organisation().map_or(Uuid::nil(), |own| own.0)
}

/// Notes an event of which no endpoint has been told.
pub(crate) async fn note(
    uow: &UnitOfWork,
    event: Uuid,
    event_type: &str,
    source: String,
) -> Result<()> {
    let sql = "INSERT INTO webhooks_fan_outs \
               (organisation_id, event_id, event_type, source, at_organisation, at_endpoint) \
               VALUES (?, ?, ?, ?, ?, ?)";
    let Place { organisation: at_organisation, endpoint } = Place::START;
    let values = [
        organisation(uow).into(),
        event.into(),
        event_type.into(),
        source.into(),
        at_organisation.into(),
        endpoint.into(),
    ];
    uow.execute(uow.context().database().statement(sql, values)).await.map(drop)
}

/// Whether endpoints of the organisation wait for one.
pub(crate) async fn is_any(uow: &UnitOfWork) -> Result<bool> {
    let sql = "SELECT 1 FROM webhooks_fan_outs WHERE organisation_id = ? LIMIT 1";
    let rows =
        uow.rows(uow.context().database().statement(sql, [organisation(uow).into()])).await?;
    Ok(!rows.is_empty())
}

/// The oldest of the organisation, up to one of them; nobody else takes it meanwhile.
pub(crate) async fn oldest(uow: &UnitOfWork, up_to: Uuid) -> Result<Option<Wide>> {
    let database = uow.context().database();
    let lock = database.backend().locking(" FOR UPDATE");
    let sql = format!(
        "SELECT event_id, event_type, source, at_organisation, at_endpoint FROM webhooks_fan_outs \
         WHERE organisation_id = ? AND event_id <= ? ORDER BY event_id LIMIT 1{lock}"
    );
    let rows = uow.rows(database.statement(&sql, [organisation(uow).into(), up_to.into()])).await?;
    let found = read_all(&rows, |row| {
        Ok(Wide {
            event: row.try_get_by_index(0)?,
            event_type: row.try_get_by_index(1)?,
            source: row.try_get_by_index(2)?,
            place: Place {
                organisation: row.try_get_by_index(3)?,
                endpoint: row.try_get_by_index(4)?,
            },
        })
    })?;
    Ok(found.into_iter().next())
}

/// Notes how far it has come.
pub(crate) async fn pass(uow: &UnitOfWork, event: Uuid, place: Place) -> Result<()> {
    let sql = "UPDATE webhooks_fan_outs SET at_organisation = ?, at_endpoint = ? \
               WHERE organisation_id = ? AND event_id = ?";
    let values =
        [place.organisation.into(), place.endpoint.into(), organisation(uow).into(), event.into()];
    uow.execute(uow.context().database().statement(sql, values)).await.map(drop)
}

/// Forgets one of which every endpoint has been told.
pub(crate) async fn forget(uow: &UnitOfWork, event: Uuid) -> Result<()> {
    let sql = "DELETE FROM webhooks_fan_outs WHERE organisation_id = ? AND event_id = ?";
    let values = [organisation(uow).into(), event.into()];
    uow.execute(uow.context().database().statement(sql, values)).await.map(drop)
}
