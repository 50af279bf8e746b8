//! The statements on seals, and those that delete and blank entries.

use sea_orm::Value;
use svc_core::Result;
use svc_data::{Context, UnitOfWork};
use svc_database::column;
use uuid::Uuid;

use super::{Row, rows, selected};
use crate::entry::{self, Operation};
use crate::events::Blanking;

/// A seal as it is stored.
pub(crate) struct Seal {
    pub(crate) number: i64,
    pub(crate) hash: String,
    /// Up to which entry everything is sealed.
    pub(crate) through: Uuid,
    pub(crate) sealed_us: i64,
    pub(crate) lines: String,
}

/// The next organisation of which there are entries.
pub(crate) async fn next_organisation(ctx: &Context, behind: Uuid) -> Result<Option<Uuid>> {
    next_of(ctx, "history_entries", behind).await
}

/// The next organisation of which there are seals.
pub(crate) async fn next_sealed_organisation(ctx: &Context, behind: Uuid) -> Result<Option<Uuid>> {
    next_of(ctx, "history_seals", behind).await
}

async fn next_of(ctx: &Context, table: &str, behind: Uuid) -> Result<Option<Uuid>> {
    let sql = format!(
        "SELECT organisation_id FROM {table} WHERE organisation_id > ? \
         ORDER BY organisation_id LIMIT 1"
    );
    let rows = ctx.run(ctx.database().statement(&sql, [behind.into()])).await?;
    rows.first().map(|row| column(row, 0)).transpose()
}

/// Holds the organisation's seals until the unit of work ends, so that one is added after the other.
pub(crate) async fn lock_seals(uow: &UnitOfWork) -> Result<()> {
    let sql = "INSERT INTO history_chains (organisation_id) VALUES (?) \
               ON CONFLICT (organisation_id) DO UPDATE SET organisation_id = excluded.organisation_id";
    let values = [uow.context().organisation()?.0.into()];
    uow.execute(uow.context().database().statement(sql, values)).await.map(drop)
}

/// The newest seal of the organisation.
pub(crate) async fn last_seal(ctx: &Context) -> Result<Option<Seal>> {
    seal(ctx, "number > ? ORDER BY number DESC", 0).await
}

/// The first seal of the organisation behind a number.
pub(crate) async fn seal_after(ctx: &Context, number: i64) -> Result<Option<Seal>> {
    seal(ctx, "number > ? ORDER BY number", number).await
}

async fn seal(ctx: &Context, which: &str, number: i64) -> Result<Option<Seal>> {
    let sql = format!(
        "SELECT number, hash, through, sealed_at_us, lines FROM history_seals \
         WHERE organisation_id = ? AND {which} LIMIT 1"
    );
    let values = [ctx.organisation()?.0.into(), number.into()];
    let rows = ctx.run(ctx.database().statement(&sql, values)).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    Ok(Some(Seal {
        number: column(row, 0)?,
        hash: column(row, 1)?,
        through: column(row, 2)?,
        sealed_us: column(row, 3)?,
        lines: column(row, 4)?,
    }))
}

/// Stores a seal.
pub(crate) async fn insert_seal(uow: &UnitOfWork, seal: &Seal) -> Result<()> {
    let sql = "INSERT INTO history_seals \
               (organisation_id, number, hash, through, sealed_at_us, lines) \
               VALUES (?, ?, ?, ?, ?, ?)";
    let values: [Value; 6] = [
        uow.context().organisation()?.0.into(),
        seal.number.into(),
        seal.hash.as_str().into(),
        seal.through.into(),
        seal.sealed_us.into(),
        seal.lines.as_str().into(),
    ];
    uow.execute(uow.context().database().statement(sql, values)).await.map(drop)
}

/// The entries of the organisation between two identifiers, without these, the oldest first.
pub(crate) async fn between(
    ctx: &Context,
    behind: Uuid,
    before: Uuid,
    count: u64,
) -> Result<Vec<Row>> {
    let sql = format!(
        "SELECT {} FROM history_entries WHERE organisation_id = ? AND id > ? AND id < ? \
         ORDER BY id LIMIT {count}",
        selected()
    );
    let values = vec![ctx.organisation()?.0.into(), behind.into(), before.into()];
    rows(ctx, &sql, values).await
}

/// The same, of each its identifier and its set.
pub(crate) async fn places(
    ctx: &Context,
    behind: Uuid,
    before: Uuid,
    count: u64,
) -> Result<Vec<(Uuid, String)>> {
    let sql = format!(
        "SELECT id, set_name FROM history_entries WHERE organisation_id = ? AND id > ? AND id < ? \
         ORDER BY id LIMIT {count}"
    );
    let values = [ctx.organisation()?.0.into(), behind.into(), before.into()];
    let rows = ctx.run(ctx.database().statement(&sql, values)).await?;
    rows.iter().map(|row| Ok((column(row, 0)?, column(row, 1)?))).collect()
}

/// Deletes entries of the organisation.
pub(crate) async fn delete(uow: &UnitOfWork, ids: &[Uuid]) -> Result<()> {
    let sql = format!("DELETE FROM history_entries WHERE {}", are(ids));
    let values = named(uow, ids)?;
    uow.execute(uow.context().database().statement(&sql, values)).await.map(drop)
}

/// Blanks the next entries behind an identifier, and answers with what is stored of them now.
pub(crate) async fn blank(
    uow: &UnitOfWork,
    what: &Blanking,
    behind: Uuid,
    count: u64,
) -> Result<Vec<Row>> {
    let ctx = uow.context();
    let (is_meant, change, mut values) = match what {
        Blanking::Person(user) => {
            ("user_id = ? AND user_name <> ''", "user_name = ''", vec![Value::from(*user)])
        }
        Blanking::Record(set, key) => (
            "((set_name = ? AND record_key = ?) OR (operation = ? AND record_key = ?)) AND blanked = 0",
            "row_after = CASE WHEN row_after IS NULL THEN NULL ELSE '{}' END, \
             row_before = CASE WHEN row_before IS NULL THEN NULL ELSE '{}' END, \
             protected = NULL, blanked = 1",
            vec![
                set.as_str().into(),
                key.as_str().into(),
                Operation::Event.code().into(),
                entry::key_of_events(set, key).into(),
            ],
        ),
    };
    values.insert(0, ctx.organisation()?.0.into());
    values.push(behind.into());
    let sql = format!(
        "SELECT id FROM history_entries WHERE organisation_id = ? AND {is_meant} AND id > ? \
         ORDER BY id LIMIT {count}"
    );
    let found = uow.rows(ctx.database().statement(&sql, values)).await?;
    let ids: Vec<Uuid> = found.iter().map(|row| column(row, 0)).collect::<Result<_>>()?;
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let sql = format!("UPDATE history_entries SET {change} WHERE {}", are(&ids));
    uow.execute(ctx.database().statement(&sql, named(uow, &ids)?)).await?;
    let sql = format!("SELECT {} FROM history_entries WHERE {} ORDER BY id", selected(), are(&ids));
    rows(ctx, &sql, named(uow, &ids)?).await
}

/// The condition that entries of the organisation are these; [`named`] has its values.
fn are(ids: &[Uuid]) -> String {
    format!("organisation_id = ? AND id IN ({})", vec!["?"; ids.len()].join(", "))
}

fn named(uow: &UnitOfWork, ids: &[Uuid]) -> Result<Vec<Value>> {
    let organisation = uow.context().organisation()?.0;
    Ok(std::iter::once(organisation).chain(ids.iter().copied()).map(Value::from).collect())
}
