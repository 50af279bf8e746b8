//! The statements about who stands in for whom.

use std::collections::{BTreeSet, HashMap};

use sea_orm::{QueryResult, Value};
use svc_core::{OrganisationId, Result};
use svc_data::{Context, UnitOfWork};
use svc_database::column;
use uuid::Uuid;

use super::keys::{KEYS_AT_ONCE, Place, marks};

/// Somebody stands in for another over a span of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Delegation {
    pub(crate) id: Uuid,
    pub(crate) from: Uuid,
    pub(crate) from_name: String,
    pub(crate) to: Uuid,
    pub(crate) to_name: String,
    pub(crate) begins_us: i64,
    pub(crate) ends_us: i64,
    pub(crate) reason: Option<String>,
}

/// Somebody's turn with a record was handed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reassignment {
    pub(crate) from: Uuid,
    pub(crate) to: Uuid,
    pub(crate) to_name: String,
    pub(crate) reason: String,
    pub(crate) by_name: String,
    /// The rights by which it was the person's turn, as their claims.
    pub(crate) rights: Vec<String>,
    pub(crate) at_us: i64,
}

const DELEGATION: &str = "id, from_user, from_name, to_user, to_name, begins_us, ends_us, reason";

fn read(row: &QueryResult) -> Result<Delegation> {
    Ok(Delegation {
        id: column(row, 0)?,
        from: column(row, 1)?,
        from_name: column(row, 2)?,
        to: column(row, 3)?,
        to_name: column(row, 4)?,
        begins_us: column(row, 5)?,
        ends_us: column(row, 6)?,
        reason: column(row, 7)?,
    })
}

/// What the numbers of the turns of delegations begin with: `workflow` in ASCII.
const TURN: i64 = 0x776f_726b_666c_6f77;

/// Lets nobody else delegate in the organisation until the unit of work ends, so that what is counted after this is all.
/// Organisations that share a number wait for each other, and no more.
pub(crate) async fn lock_delegations(uow: &UnitOfWork, organisation: OrganisationId) -> Result<()> {
    uow.take_turn(organisation.0.as_u64_pair().1.cast_signed() ^ TURN).await
}

/// The delegations that somebody gives or gets and that aren't over, in their order.
pub(crate) async fn delegations(
    ctx: &Context,
    organisation: OrganisationId,
    user: Uuid,
    now_us: i64,
) -> Result<Vec<Delegation>> {
    let of = |column: &str| {
        format!(
            "SELECT {DELEGATION} FROM workflows_delegations WHERE organisation_id = ? \
             AND {column} = ? AND ends_us > ?"
        )
    };
    let sql = format!("{} UNION {} ORDER BY begins_us, id", of("to_user"), of("from_user"));
    let one: [Value; 3] = [organisation.0.into(), user.into(), now_us.into()];
    let values = one.clone().into_iter().chain(one);
    ctx.run(ctx.database().statement(&sql, values)).await?.iter().map(read).collect()
}

/// One delegation.
pub(crate) async fn delegation(
    ctx: &Context,
    organisation: OrganisationId,
    id: Uuid,
) -> Result<Option<Delegation>> {
    let sql = format!(
        "SELECT {DELEGATION} FROM workflows_delegations WHERE organisation_id = ? AND id = ?"
    );
    let values: [Value; 2] = [organisation.0.into(), id.into()];
    let row = ctx.run_one(ctx.database().statement(&sql, values)).await?;
    row.as_ref().map(read).transpose()
}

/// Those of all organisations, behind an identifier, at most so many.
pub(crate) async fn all_delegations(
    ctx: &Context,
    after: Uuid,
    count: u64,
) -> Result<Vec<(OrganisationId, Delegation)>> {
    let sql = format!(
        "SELECT {DELEGATION}, organisation_id FROM workflows_delegations WHERE id > ? \
         ORDER BY id LIMIT {count}"
    );
    let rows = ctx.run(ctx.database().statement(&sql, [after.into()])).await?;
    rows.iter().map(|row| Ok((OrganisationId(column(row, 8)?), read(row)?))).collect()
}

pub(crate) async fn delegate(
    uow: &UnitOfWork,
    organisation: OrganisationId,
    delegation: &Delegation,
) -> Result<()> {
    let sql = format!(
        "INSERT INTO workflows_delegations (organisation_id, {DELEGATION}) \
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
    );
    let values: [Value; 9] = [
        organisation.0.into(),
        delegation.id.into(),
        delegation.from.into(),
        delegation.from_name.as_str().into(),
        delegation.to.into(),
        delegation.to_name.as_str().into(),
        delegation.begins_us.into(),
        delegation.ends_us.into(),
        delegation.reason.clone().into(),
    ];
    uow.execute(uow.context().database().statement(&sql, values)).await.map(drop)
}

/// The claims that lists ask for because of a delegation.
pub(crate) async fn delegated(ctx: &Context, id: Uuid) -> Result<BTreeSet<String>> {
    let sql = "SELECT claim FROM workflows_delegated WHERE delegation_id = ?";
    let rows = ctx.run(ctx.database().statement(sql, [id.into()])).await?;
    rows.iter().map(|row| column(row, 0)).collect()
}

/// Puts claims in the place of those of a delegation.
pub(crate) async fn set_delegated(
    uow: &UnitOfWork,
    organisation: OrganisationId,
    delegation: &Delegation,
    claims: &BTreeSet<String>,
) -> Result<()> {
    let database = uow.context().database();
    let sql = "DELETE FROM workflows_delegated WHERE delegation_id = ?";
    uow.execute(database.statement(sql, [delegation.id.into()])).await?;
    for claim in claims {
        // One that was ended meanwhile gets none.
        let sql = "INSERT INTO workflows_delegated (delegation_id, claim, organisation_id, to_user, \
                   from_user, begins_us, ends_us) SELECT id, ?, organisation_id, to_user, from_user, \
                   begins_us, ends_us FROM workflows_delegations WHERE organisation_id = ? AND id = ?";
        let values: [Value; 3] =
            [claim.as_str().into(), organisation.0.into(), delegation.id.into()];
        uow.execute(database.statement(sql, values)).await?;
    }
    Ok(())
}

pub(crate) async fn end_delegation(
    uow: &UnitOfWork,
    organisation: OrganisationId,
    id: Uuid,
) -> Result<()> {
    let database = uow.context().database();
    let sql = "DELETE FROM workflows_delegated WHERE delegation_id = ?";
    uow.execute(database.statement(sql, [id.into()])).await?;
    let sql = "DELETE FROM workflows_delegations WHERE organisation_id = ? AND id = ?";
    let values: [Value; 2] = [organisation.0.into(), id.into()];
    uow.execute(database.statement(sql, values)).await.map(drop)
}

/// Takes out those that are over.
pub(crate) async fn end_old_delegations(ctx: &Context) -> Result<()> {
    let now_us = ctx.clock().now_us();
    ctx.transact(async |uow| {
        for table in ["workflows_delegated", "workflows_delegations"] {
            let sql = format!("DELETE FROM {table} WHERE ends_us <= ?");
            uow.execute(uow.context().database().statement(&sql, [now_us.into()])).await?;
        }
        Ok(())
    })
    .await
}

/// For whom somebody is asked, and by which claims: of the delegations that hold now.
pub(crate) async fn delegated_to(
    ctx: &Context,
    organisation: OrganisationId,
    user: Uuid,
) -> Result<BTreeSet<(Uuid, String)>> {
    let sql = "SELECT from_user, claim FROM workflows_delegated WHERE organisation_id = ? \
               AND to_user = ? AND begins_us <= ? AND ends_us > ?";
    let now_us = ctx.clock().now_us();
    let values: [Value; 4] = [organisation.0.into(), user.into(), now_us.into(), now_us.into()];
    let rows = ctx.run(ctx.database().statement(sql, values)).await?;
    rows.iter().map(|row| Ok((column(row, 0)?, column(row, 1)?))).collect()
}

/// Whose turn with some records was handed on after so many steps of each, by record.
pub(crate) async fn reassigned(
    ctx: &Context,
    organisation: OrganisationId,
    set: &str,
    stays: &[(Uuid, i64)],
) -> Result<HashMap<Uuid, Vec<Reassignment>>> {
    let mut found: HashMap<Uuid, Vec<Reassignment>> = HashMap::new();
    for part in stays.chunks(KEYS_AT_ONCE) {
        let sql = format!(
            "SELECT record_id, steps, from_user, to_user, to_name, reason, by_name, permissions, at_us \
             FROM workflows_reassignments WHERE organisation_id = ? AND set_name = ? \
             AND record_id IN ({}) ORDER BY at_us, from_user",
            marks(part.len())
        );
        let values: [Value; 2] = [organisation.0.into(), set.into()];
        let values = values.into_iter().chain(part.iter().map(|(id, _)| Value::from(*id)));
        for row in ctx.run(ctx.database().statement(&sql, values)).await? {
            let stay: (Uuid, i64) = (column(&row, 0)?, column(&row, 1)?);
            if part.contains(&stay) {
                found.entry(stay.0).or_default().push(reassignment(&row)?);
            }
        }
    }
    Ok(found)
}

fn reassignment(row: &QueryResult) -> Result<Reassignment> {
    let rights: String = column(row, 7)?;
    Ok(Reassignment {
        from: column(row, 2)?,
        to: column(row, 3)?,
        to_name: column(row, 4)?,
        reason: column(row, 5)?,
        by_name: column(row, 6)?,
        rights: rights.split_terminator(',').map(str::to_owned).collect(),
        at_us: column(row, 8)?,
    })
}

/// Stores that somebody's turn is handed on; who gets back what was one's own has it again.
pub(crate) async fn reassign(
    uow: &UnitOfWork,
    place: Place<'_>,
    steps: i64,
    one: &Reassignment,
) -> Result<()> {
    let database = uow.context().database();
    let of_one = || place.values().into_iter().chain([steps.into(), one.from.into()]);
    let sql = "DELETE FROM workflows_reassignments WHERE organisation_id = ? AND set_name = ? \
               AND record_id = ? AND steps = ? AND from_user = ?";
    uow.execute(database.statement(sql, of_one())).await?;
    if one.from == one.to {
        return Ok(());
    }
    let sql = "INSERT INTO workflows_reassignments (organisation_id, set_name, record_id, steps, \
               from_user, to_user, to_name, reason, by_name, permissions, at_us) \
               VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    let told: [Value; 6] = [
        one.to.into(),
        one.to_name.as_str().into(),
        one.reason.as_str().into(),
        one.by_name.as_str().into(),
        one.rights.join(",").into(),
        one.at_us.into(),
    ];
    uow.execute(database.statement(sql, of_one().chain(told))).await.map(drop)
}
