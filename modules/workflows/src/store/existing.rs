//! The statements about records that have no instance yet.

use sea_orm::Value;
use svc_core::{Error, Result};
use svc_data::{Context, EntityModel, UnitOfWork};
use svc_database::{Backend, column};
use uuid::Uuid;

use super::keys::{OF_PLACE, Place};

/// Whether a set has records, of any organisation.
pub(crate) async fn has_records(ctx: &Context, model: &EntityModel) -> Result<bool> {
    let sql = format!("SELECT 1 FROM \"{}\" LIMIT 1", model.table);
    let row = ctx.run_one(ctx.database().statement(&sql, [])).await?;
    Ok(row.is_some())
}

/// Whether a record of a set has no instance, of any organisation.
pub(crate) async fn has_unbegun(ctx: &Context, model: &EntityModel) -> Result<bool> {
    let (table, key, organisation) = (model.table, model.key().name, organisation(model)?);
    let sql = format!(
        "SELECT 1 FROM \"{table}\" r WHERE NOT EXISTS (SELECT 1 FROM workflows_instances i \
         WHERE i.organisation_id = r.\"{organisation}\" AND i.set_name = ? \
         AND i.record_id = r.\"{key}\") LIMIT 1"
    );
    let row = ctx.run_one(ctx.database().statement(&sql, [model.name().into()])).await?;
    Ok(row.is_some())
}

fn organisation(model: &EntityModel) -> Result<&'static str> {
    let organisation = model.organisation.map(|index| model.columns[index].name);
    organisation.ok_or_else(|| Error::internal("records with a workflow belong to an organisation"))
}

/// Begins the instances of records behind a key, of all organisations, where there is none: at most so many. Each begins with the version that
/// its organisation has drawn, or else with the one that is declared. Answers with the last key; none where no record is left.
pub(crate) async fn begin_existing(
    uow: &UnitOfWork,
    model: &EntityModel,
    (version, begins_in): (i64, &str),
    after: Uuid,
    count: u64,
) -> Result<Option<Uuid>> {
    let ctx = uow.context();
    let (table, key, organisation) = (model.table, model.key().name, organisation(model)?);
    let sql = format!(
        "SELECT \"{key}\" FROM \"{table}\" WHERE \"{key}\" > ? ORDER BY \"{key}\" LIMIT 1 OFFSET {}",
        count.saturating_sub(1)
    );
    let last = ctx.run_one(ctx.database().statement(&sql, [after.into()])).await?;
    let last: Option<Uuid> = last.map(|row| column(&row, 0)).transpose()?;
    let is_among = if last.is_some() { format!("AND r.\"{key}\" <= ?") } else { String::new() };
    // A record that is deleted at the same moment leaves no instance behind; SQLite has one writer.
    let held = if ctx.database().backend() == Backend::Postgres { "FOR SHARE OF r" } else { "" };
    let sql = format!(
        "INSERT INTO workflows_instances (organisation_id, set_name, record_id, definition_version, \
         state, steps, since_us) \
         SELECT r.\"{organisation}\", CAST(? AS TEXT), r.\"{key}\", COALESCE(c.version, CAST(? AS BIGINT)), \
         COALESCE(c.begins_in, CAST(? AS TEXT)), 0, CAST(? AS BIGINT) FROM \"{table}\" r \
         LEFT JOIN workflows_current c ON c.organisation_id = r.\"{organisation}\" AND c.set_name = ? \
         WHERE r.\"{key}\" > ? {is_among} {held} ON CONFLICT DO NOTHING"
    );
    let values: [Value; 6] = [
        model.name().into(),
        version.into(),
        begins_in.into(),
        ctx.clock().now_us().into(),
        model.name().into(),
        after.into(),
    ];
    let values = values.into_iter().chain(last.map(Value::from));
    uow.execute(ctx.database().statement(&sql, values)).await?;
    Ok(last)
}

/// Says when a record is due.
pub(crate) async fn set_due(uow: &UnitOfWork, place: Place<'_>, due_us: i64) -> Result<()> {
    let sql = format!("UPDATE workflows_instances SET due_us = ? WHERE {OF_PLACE}");
    let values = [due_us.into()].into_iter().chain(place.values());
    uow.execute(uow.context().database().statement(&sql, values)).await.map(drop)
}
