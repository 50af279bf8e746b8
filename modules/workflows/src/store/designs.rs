//! The statements about workflows that administrators draw: drafts, versions, and moving records between them.

use sea_orm::{QueryResult, Value};
use svc_core::{OrganisationId, Result};
use svc_data::{Context, UnitOfWork};
use svc_database::column;
use uuid::Uuid;

use super::keys::{OF_PLACE, Place};

/// A definition that somebody is drawing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Draft {
    /// How often it was saved.
    pub(crate) revision: i64,
    pub(crate) definition: String,
    pub(crate) changed_name: String,
    pub(crate) changed_at_us: i64,
}

/// A version, as it is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Published {
    pub(crate) version: i64,
    /// Whether somebody has drawn it; the application declares the others.
    pub(crate) is_designed: bool,
    pub(crate) by_name: Option<String>,
    pub(crate) note: Option<String>,
    pub(crate) at_us: i64,
}

/// The version that new records of an organisation begin with, where one was drawn.
pub(crate) async fn current(
    ctx: &Context,
    organisation: OrganisationId,
    set: &str,
) -> Result<Option<i64>> {
    let sql = "SELECT version FROM workflows_current WHERE organisation_id = ? AND set_name = ?";
    let values: [Value; 2] = [organisation.0.into(), set.into()];
    let row = ctx.run_one(ctx.database().statement(sql, values)).await?;
    row.as_ref().map(|row| column(row, 0)).transpose()
}

pub(crate) async fn set_current(
    uow: &UnitOfWork,
    organisation: OrganisationId,
    set: &str,
    (version, begins_in): (i64, &str),
) -> Result<()> {
    let sql = "INSERT INTO workflows_current (organisation_id, set_name, version, begins_in) \
               VALUES (?, ?, ?, ?) ON CONFLICT (organisation_id, set_name) \
               DO UPDATE SET version = excluded.version, begins_in = excluded.begins_in";
    let values: [Value; 4] = [organisation.0.into(), set.into(), version.into(), begins_in.into()];
    uow.execute(uow.context().database().statement(sql, values)).await.map(drop)
}

/// The versions that an organisation may use, the newest first, at most so many.
pub(crate) async fn published(
    ctx: &Context,
    organisation: OrganisationId,
    set: &str,
    count: u64,
) -> Result<Vec<Published>> {
    let sql = format!(
        "SELECT version, organisation_id, published_name, note, published_at_us \
         FROM workflows_definitions WHERE set_name = ? \
         AND (organisation_id IS NULL OR organisation_id = ?) ORDER BY version DESC LIMIT {count}"
    );
    let values: [Value; 2] = [set.into(), organisation.0.into()];
    let read = |row: &QueryResult| {
        Ok(Published {
            version: column(row, 0)?,
            is_designed: column::<Option<Uuid>>(row, 1)?.is_some(),
            by_name: column(row, 2)?,
            note: column(row, 3)?,
            at_us: column(row, 4)?,
        })
    };
    ctx.run(ctx.database().statement(&sql, values)).await?.iter().map(read).collect()
}

/// Whether an organisation may use a version.
pub(crate) async fn is_usable(
    ctx: &Context,
    organisation: OrganisationId,
    set: &str,
    version: i64,
) -> Result<bool> {
    let sql = "SELECT 1 FROM workflows_definitions WHERE set_name = ? AND version = ? \
               AND (organisation_id IS NULL OR organisation_id = ?)";
    let values: [Value; 3] = [set.into(), version.into(), organisation.0.into()];
    Ok(ctx.run_one(ctx.database().statement(sql, values)).await?.is_some())
}

/// Stores a version that somebody has drawn; false where the number was taken meanwhile.
pub(crate) async fn publish_design(
    uow: &UnitOfWork,
    place: (OrganisationId, &str, i64),
    definition: &str,
    note: Option<&str>,
) -> Result<bool> {
    let (organisation, set, version) = place;
    let actor = uow.context().principal().actor();
    let sql = "INSERT INTO workflows_definitions (set_name, version, digest, definition, \
               published_at_us, organisation_id, published_by, published_name, note) \
               VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING";
    let values: [Value; 9] = [
        set.into(),
        version.into(),
        // Only what the application declares is looked for by it.
        format!("designed:{version}").into(),
        definition.into(),
        uow.context().clock().now_us().into(),
        organisation.0.into(),
        actor.user.map(|user| user.0).into(),
        actor.display_name.into(),
        note.map(str::to_owned).into(),
    ];
    Ok(uow.execute(uow.context().database().statement(sql, values)).await? == 1)
}

/// The draft of an organisation.
pub(crate) async fn draft(
    ctx: &Context,
    organisation: OrganisationId,
    set: &str,
) -> Result<Option<Draft>> {
    let sql = "SELECT revision, definition, changed_name, changed_at_us FROM workflows_drafts \
               WHERE organisation_id = ? AND set_name = ?";
    let values: [Value; 2] = [organisation.0.into(), set.into()];
    let row = ctx.run_one(ctx.database().statement(sql, values)).await?;
    let read = |row: &QueryResult| {
        Ok(Draft {
            revision: column(row, 0)?,
            definition: column(row, 1)?,
            changed_name: column(row, 2)?,
            changed_at_us: column(row, 3)?,
        })
    };
    row.as_ref().map(read).transpose()
}

/// Saves a draft in the place of the one of a revision, 0 for none; false where it was another.
pub(crate) async fn save_draft(
    uow: &UnitOfWork,
    organisation: OrganisationId,
    set: &str,
    (seen, definition): (i64, &str),
) -> Result<bool> {
    let actor = uow.context().principal().actor();
    let now_us = uow.context().clock().now_us();
    let new: [Value; 4] = [
        seen.saturating_add(1).into(),
        definition.into(),
        actor.display_name.into(),
        now_us.into(),
    ];
    let place: [Value; 2] = [organisation.0.into(), set.into()];
    let (sql, values): (_, Vec<Value>) = if seen == 0 {
        let sql = "INSERT INTO workflows_drafts (revision, definition, changed_name, changed_at_us, \
                   organisation_id, set_name) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING";
        (sql, new.into_iter().chain(place).collect())
    } else {
        let sql = "UPDATE workflows_drafts SET revision = ?, definition = ?, changed_name = ?, \
                   changed_at_us = ? WHERE organisation_id = ? AND set_name = ? AND revision = ?";
        (sql, new.into_iter().chain(place).chain([seen.into()]).collect())
    };
    Ok(uow.execute(uow.context().database().statement(sql, values)).await? == 1)
}

/// Takes a draft out, if it is of this revision.
pub(crate) async fn drop_draft(
    uow: &UnitOfWork,
    organisation: OrganisationId,
    set: &str,
    seen: i64,
) -> Result<bool> {
    let sql = "DELETE FROM workflows_drafts WHERE organisation_id = ? AND set_name = ? \
               AND revision = ?";
    let values: [Value; 3] = [organisation.0.into(), set.into(), seen.into()];
    Ok(uow.execute(uow.context().database().statement(sql, values)).await? == 1)
}

/// How many records are in which state of a version, in the order of the states; so many are counted at most.
pub(crate) async fn count_states(
    ctx: &Context,
    organisation: OrganisationId,
    (set, version): (&str, i64),
    most: u64,
) -> Result<Vec<(String, u64)>> {
    let sql = format!(
        "SELECT state, COUNT(*) FROM (SELECT state FROM workflows_instances \
         WHERE organisation_id = ? AND set_name = ? AND definition_version = ? LIMIT {most}) s \
         GROUP BY state ORDER BY state"
    );
    let values: [Value; 3] = [organisation.0.into(), set.into(), version.into()];
    let read = |row: &QueryResult| {
        let count: i64 = column(row, 1)?;
        Ok((column(row, 0)?, u64::try_from(count).unwrap_or(0)))
    };
    ctx.run(ctx.database().statement(&sql, values)).await?.iter().map(read).collect()
}

/// Records of a version in a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Running {
    pub(crate) version: i64,
    pub(crate) state: String,
    pub(crate) records: u64,
}

/// How many records are in which state of which version, the newest version first; so many are counted at most.
pub(crate) async fn count_running(
    ctx: &Context,
    organisation: OrganisationId,
    set: &str,
    most: u64,
) -> Result<Vec<Running>> {
    let sql = format!(
        "SELECT definition_version, state, COUNT(*) FROM (SELECT definition_version, state \
         FROM workflows_instances WHERE organisation_id = ? AND set_name = ? LIMIT {most}) s \
         GROUP BY definition_version, state ORDER BY definition_version DESC, state"
    );
    let values: [Value; 2] = [organisation.0.into(), set.into()];
    let read = |row: &QueryResult| {
        let count: i64 = column(row, 2)?;
        let (version, state) = (column(row, 0)?, column(row, 1)?);
        Ok(Running { version, state, records: u64::try_from(count).unwrap_or(0) })
    };
    ctx.run(ctx.database().statement(&sql, values)).await?.iter().map(read).collect()
}

/// Records of a version behind one, at most so many.
pub(crate) async fn records_of_version(
    ctx: &Context,
    organisation: OrganisationId,
    (set, version): (&str, i64),
    after: Uuid,
    count: u64,
) -> Result<Vec<Uuid>> {
    let sql = format!(
        "SELECT record_id FROM workflows_instances WHERE organisation_id = ? AND set_name = ? \
         AND record_id > ? AND definition_version = ? ORDER BY record_id LIMIT {count}"
    );
    let values: [Value; 4] = [organisation.0.into(), set.into(), after.into(), version.into()];
    let rows = ctx.run(ctx.database().statement(&sql, values)).await?;
    rows.iter().map(|row| column(row, 0)).collect()
}

/// Puts a record that was moved under another version.
pub(crate) async fn set_version(uow: &UnitOfWork, place: Place<'_>, version: i64) -> Result<()> {
    let sql = format!("UPDATE workflows_instances SET definition_version = ? WHERE {OF_PLACE}");
    let values = [version.into()].into_iter().chain(place.values());
    uow.execute(uow.context().database().statement(&sql, values)).await.map(drop)
}
