//! The statements, for either database.

mod claims;
mod delegations;
mod designs;
mod existing;
mod keys;
mod standings;
mod timers;

use std::collections::HashMap;

use sea_orm::{QueryResult, Value};
use svc_core::{OrganisationId, Result};
use svc_data::{Context, UnitOfWork};
use svc_database::{Cell, CellKind, ROWS_AT_ONCE, RowTable, column};
use uuid::Uuid;

use crate::definition::Definition;
use keys::{KEYS_AT_ONCE, OF_PLACE, marks};

pub(crate) use claims::{Stay, claim};
pub(crate) use delegations::{
    Delegation, Reassignment, all_delegations, delegate, delegated, delegated_to, delegation,
    delegations, end_delegation, end_old_delegations, lock_delegations, reassign, reassigned,
    set_delegated,
};
pub(crate) use designs::{
    Draft, Published, Running, count_running, count_states, current, draft, drop_draft, is_usable,
    publish_design, published, records_of_version, save_draft, set_current, set_version,
};
pub(crate) use existing::{begin_existing, has_records, has_unbegun, set_due};
pub(crate) use keys::Place;
pub(crate) use standings::{Standing, standings};
pub(crate) use timers::{
    Timer, TimerKind, escalate, put_off, set_timers, take_timer, timer_of, timers,
};

/// Where a record stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Instance {
    pub(crate) version: i64,
    pub(crate) state: String,
    pub(crate) steps: i64,
    /// None where nobody knows: of a record that was there before its workflow.
    pub(crate) since_us: Option<i64>,
    pub(crate) created_by: Option<Uuid>,
    pub(crate) last_by: Option<Uuid>,
    pub(crate) due_us: Option<i64>,
    /// Whether others may act too, because it is overdue.
    pub(crate) is_escalated: bool,
    /// How many claims are stored, at most.
    pub(crate) claims: i64,
    /// Whether somebody's turn may have been handed on while it is in its state.
    pub(crate) may_be_reassigned: bool,
}

impl Instance {
    /// That of a record which was there before its workflow. What was handed on of it, and the claims that it has since, nobody has counted.
    pub(crate) fn unbegun(version: i64, definition: &Definition) -> Self {
        Self {
            version,
            state: definition.begins_in().to_owned(),
            steps: 0,
            since_us: None,
            created_by: None,
            last_by: None,
            due_us: None,
            is_escalated: false,
            claims: i64::MAX,
            may_be_reassigned: true,
        }
    }

    pub(crate) fn stay(&self) -> Stay<'_> {
        let (state, since_us) = (self.state.as_str(), self.since_us.unwrap_or(0));
        Stay { state, steps: self.steps, since_us, due_us: self.due_us }
    }
}

/// What is kept of a record.
const TABLES: [&str; 6] = [
    "workflows_instances",
    "workflows_claims",
    "workflows_timers",
    "workflows_steps",
    "workflows_approvals",
    "workflows_reassignments",
];

/// For whom somebody stood in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Represented {
    pub(crate) user: Uuid,
    pub(crate) name: String,
}

impl Represented {
    fn read(row: &QueryResult, place: usize) -> Result<Option<Self>> {
        let (user, name): (Option<Uuid>, Option<String>) =
            (column(row, place)?, column(row, place + 1)?);
        Ok(user.zip(name).map(|(user, name)| Self { user, name }))
    }

    fn values(one: Option<&Self>) -> [Value; 2] {
        [one.map(|one| one.user).into(), one.map(|one| one.name.clone()).into()]
    }
}

/// A transition that was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) number: i64,
    pub(crate) transition: String,
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) user: Option<Uuid>,
    pub(crate) user_name: String,
    pub(crate) represents: Option<Represented>,
    pub(crate) comment: Option<String>,
    pub(crate) at_us: i64,
}

impl Step {
    /// The time in the state that it leads to.
    pub(crate) fn stay(&self, due_us: Option<i64>) -> Stay<'_> {
        Stay { state: &self.to, steps: self.number, since_us: self.at_us, due_us }
    }
}

/// One of several people who take a transition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Approval {
    /// How many transitions there were before.
    pub(crate) steps: i64,
    pub(crate) transition: String,
    pub(crate) user: Uuid,
    pub(crate) user_name: String,
    pub(crate) represents: Option<Represented>,
    pub(crate) comment: Option<String>,
    /// The groups of the transition that the person was of.
    pub(crate) groups: Vec<String>,
    /// The version of the record that was approved.
    pub(crate) record_version: i64,
    pub(crate) at_us: i64,
}

/// The newest version of the workflow of a set, or the one with this digest.
pub(crate) async fn version(ctx: &Context, set: &str, digest: Option<&str>) -> Result<Option<i64>> {
    let mut values: Vec<Value> = vec![set.into()];
    let narrowed = digest.map_or("", |digest| {
        values.push(digest.into());
        " AND digest = ?"
    });
    let sql =
        format!("SELECT MAX(version) FROM workflows_definitions WHERE set_name = ?{narrowed}");
    let row = ctx.run_one(ctx.database().statement(&sql, values)).await?;
    row.map_or(Ok(None), |row| column(&row, 0))
}

/// All versions of the workflow of a set, as JSON.
pub(crate) async fn definitions(ctx: &Context, set: &str) -> Result<Vec<(i64, String)>> {
    let sql = "SELECT version, definition FROM workflows_definitions WHERE set_name = ? \
               ORDER BY version";
    let rows = ctx.run(ctx.database().statement(sql, [set.into()])).await?;
    rows.iter().map(|row| Ok((column(row, 0)?, column(row, 1)?))).collect()
}

/// One version of the workflow of a set, as JSON.
pub(crate) async fn definition(ctx: &Context, set: &str, version: i64) -> Result<Option<String>> {
    let sql = "SELECT definition FROM workflows_definitions WHERE set_name = ? AND version = ?";
    let values: [Value; 2] = [set.into(), version.into()];
    let row = ctx.run_one(ctx.database().statement(sql, values)).await?;
    row.map(|row| column(&row, 0)).transpose()
}

/// Stores a version, unless another node was faster; answers with whether it is new.
pub(crate) async fn publish(
    uow: &UnitOfWork,
    set: &str,
    version: i64,
    digest: &str,
    definition: &str,
) -> Result<bool> {
    let sql = "INSERT INTO workflows_definitions \
               (set_name, version, digest, definition, published_at_us) VALUES (?, ?, ?, ?, ?) \
               ON CONFLICT DO NOTHING";
    let now_us = uow.context().clock().now_us();
    let values: [Value; 5] =
        [set.into(), version.into(), digest.into(), definition.into(), now_us.into()];
    Ok(uow.execute(uow.context().database().statement(sql, values)).await? == 1)
}

/// Of the table as `i`. Most records have few claims, and no turn that was handed on: to count and to look costs less than
/// statements of their own.
const INSTANCE: &str = "i.record_id, i.definition_version, i.state, i.steps, i.since_us, i.created_by, \
    i.last_by, i.due_us, i.escalated_us, \
    (SELECT COUNT(*) FROM workflows_claims c WHERE c.organisation_id = i.organisation_id \
    AND c.set_name = i.set_name AND c.record_id = i.record_id), \
    EXISTS (SELECT 1 FROM workflows_reassignments r WHERE r.organisation_id = i.organisation_id \
    AND r.set_name = i.set_name AND r.record_id = i.record_id AND r.steps = i.steps)";

fn instance(row: &QueryResult) -> Result<(Uuid, Instance)> {
    let instance = Instance {
        version: column(row, 1)?,
        state: column(row, 2)?,
        steps: column(row, 3)?,
        since_us: Some(column(row, 4)?),
        created_by: column(row, 5)?,
        last_by: column(row, 6)?,
        due_us: column(row, 7)?,
        is_escalated: column::<Option<i64>>(row, 8)?.is_some(),
        claims: column(row, 9)?,
        may_be_reassigned: column(row, 10)?,
    };
    Ok((column(row, 0)?, instance))
}

/// Where some records of a set stand; those that no instance tells of are left out.
pub(crate) async fn instances(
    ctx: &Context,
    organisation: OrganisationId,
    set: &str,
    ids: &[Uuid],
) -> Result<HashMap<Uuid, Instance>> {
    let mut found = HashMap::with_capacity(ids.len());
    for part in ids.chunks(KEYS_AT_ONCE) {
        let sql = format!(
            "SELECT {INSTANCE} FROM workflows_instances i WHERE i.organisation_id = ? \
             AND i.set_name = ? AND i.record_id IN ({})",
            marks(part.len())
        );
        let values = [organisation.0.into(), set.into()];
        let values = values.into_iter().chain(part.iter().map(|id| Value::from(*id)));
        for row in ctx.run(ctx.database().statement(&sql, values)).await? {
            let (id, instance) = instance(&row)?;
            found.insert(id, instance);
        }
    }
    Ok(found)
}

const BEGUN: [(&str, CellKind); 7] = [
    ("organisation_id", CellKind::Uuid),
    ("set_name", CellKind::Text),
    ("record_id", CellKind::Uuid),
    ("definition_version", CellKind::BigInt),
    ("state", CellKind::Text),
    ("since_us", CellKind::BigInt),
    ("created_by", CellKind::Uuid),
];

/// A record whose instance begins.
pub(crate) struct Begun<'a> {
    pub(crate) place: Place<'a>,
    pub(crate) version: i64,
    pub(crate) state: &'a str,
    pub(crate) created_by: Option<Uuid>,
    /// Since when, in microseconds since 1970; this moment, where none is given.
    pub(crate) since_us: Option<i64>,
}

/// Begins instances; one that is there already stays. Answers with how many began.
pub(crate) async fn begin(uow: &UnitOfWork, begun: &[Begun<'_>]) -> Result<u64> {
    let database = uow.context().database();
    let now_us = uow.context().clock().now_us();
    let mut count = 0;
    for part in begun.chunks(ROWS_AT_ONCE) {
        let cells = part.iter().map(|begun| -> [Cell<'_>; 7] {
            [
                begun.place.organisation.0.into(),
                begun.place.set.into(),
                begun.place.id.into(),
                begun.version.into(),
                begun.state.into(),
                begun.since_us.unwrap_or(now_us).into(),
                begun.created_by.into(),
            ]
        });
        let RowTable { sql, values } = RowTable::new(database.backend(), &BEGUN, cells);
        let sql = format!(
            "INSERT INTO workflows_instances (organisation_id, set_name, record_id, \
             definition_version, state, since_us, created_by, steps) \
             SELECT r.organisation_id, r.set_name, r.record_id, r.definition_version, r.state, \
             r.since_us, r.created_by, 0 FROM {sql} WHERE true ON CONFLICT DO NOTHING"
        );
        count += uow.execute(database.statement(&sql, values)).await?;
    }
    Ok(count)
}

/// Takes everything out that is known of records which are gone for good.
pub(crate) async fn forget(
    uow: &UnitOfWork,
    organisation: OrganisationId,
    set: &str,
    ids: &[Uuid],
) -> Result<()> {
    let database = uow.context().database();
    for part in ids.chunks(KEYS_AT_ONCE) {
        for table in TABLES {
            let sql = format!(
                "DELETE FROM {table} WHERE organisation_id = ? AND set_name = ? \
                 AND record_id IN ({})",
                marks(part.len())
            );
            let values = [organisation.0.into(), set.into()];
            let values = values.into_iter().chain(part.iter().map(|id| Value::from(*id)));
            uow.execute(database.statement(&sql, values)).await?;
        }
    }
    Ok(())
}

/// Moves a record from where it was seen, where `created_by` counts as who made it from now on; false where somebody else has moved it since.
pub(crate) async fn advance(
    uow: &UnitOfWork,
    place: Place<'_>,
    seen: &Instance,
    step: &Step,
    (created_by, due_us): (Option<Uuid>, Option<i64>),
) -> Result<bool> {
    let database = uow.context().database();
    let sql = format!(
        "UPDATE workflows_instances SET state = ?, steps = ?, since_us = ?, last_by = ?, \
         created_by = ?, due_us = ?, escalated_us = NULL WHERE {OF_PLACE} AND state = ? AND steps = ?"
    );
    let to: [Value; 6] = [
        step.to.as_str().into(),
        step.number.into(),
        step.at_us.into(),
        step.user.into(),
        created_by.into(),
        due_us.into(),
    ];
    let from: [Value; 2] = [seen.state.as_str().into(), seen.steps.into()];
    let values = to.into_iter().chain(place.values()).chain(from);
    if uow.execute(database.statement(&sql, values)).await? != 1 {
        return Ok(false);
    }
    let sql = "INSERT INTO workflows_steps (organisation_id, set_name, record_id, number, \
               transition, from_state, to_state, user_id, user_name, comment, at_us, for_user, \
               for_name) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    let told: [Value; 8] = [
        step.number.into(),
        step.transition.as_str().into(),
        step.from.as_str().into(),
        step.to.as_str().into(),
        step.user.into(),
        step.user_name.as_str().into(),
        step.comment.clone().into(),
        step.at_us.into(),
    ];
    let represented = Represented::values(step.represents.as_ref());
    let values = place.values().into_iter().chain(told).chain(represented);
    uow.execute(database.statement(sql, values)).await?;
    Ok(true)
}

/// The last transitions of a record, the newest first.
pub(crate) async fn steps(ctx: &Context, place: Place<'_>, count: u64) -> Result<Vec<Step>> {
    let sql = format!(
        "SELECT number, transition, from_state, to_state, user_id, user_name, comment, at_us, \
         for_user, for_name FROM workflows_steps WHERE {OF_PLACE} ORDER BY number DESC LIMIT {count}"
    );
    let rows = ctx.run(ctx.database().statement(&sql, place.values())).await?;
    let read = |row: &QueryResult| {
        Ok(Step {
            number: column(row, 0)?,
            transition: column(row, 1)?,
            from: column(row, 2)?,
            to: column(row, 3)?,
            user: column(row, 4)?,
            user_name: column(row, 5)?,
            comment: column(row, 6)?,
            at_us: column(row, 7)?,
            represents: Represented::read(row, 8)?,
        })
    };
    rows.iter().map(read).collect()
}

/// Stores that somebody approves; what the person approved of an earlier version of the record
/// makes way.
pub(crate) async fn approve(uow: &UnitOfWork, place: Place<'_>, approval: &Approval) -> Result<()> {
    let sql = "INSERT INTO workflows_approvals (organisation_id, set_name, record_id, steps, \
               transition, user_id, user_name, comment, group_names, record_version, at_us, \
               for_user, for_name) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) \
               ON CONFLICT (organisation_id, set_name, record_id, steps, transition, user_id) \
               DO UPDATE SET user_name = excluded.user_name, comment = excluded.comment, \
               group_names = excluded.group_names, record_version = excluded.record_version, \
               at_us = excluded.at_us, for_user = excluded.for_user, for_name = excluded.for_name";
    let told: [Value; 8] = [
        approval.steps.into(),
        approval.transition.as_str().into(),
        approval.user.into(),
        approval.user_name.as_str().into(),
        approval.comment.clone().into(),
        approval.groups.join(",").into(),
        approval.record_version.into(),
        approval.at_us.into(),
    ];
    let represented = Represented::values(approval.represents.as_ref());
    let values = place.values().into_iter().chain(told).chain(represented);
    uow.execute(uow.context().database().statement(sql, values)).await.map(drop)
}

/// Who approved transitions of a record after so many steps, in their order. Of each only those who
/// approved the latest version of the record: the others don't count.
pub(crate) async fn approvals(
    ctx: &Context,
    place: Place<'_>,
    since_steps: i64,
) -> Result<Vec<Approval>> {
    let sql = format!(
        "SELECT steps, transition, user_id, user_name, comment, record_version, at_us, \
         group_names, for_user, for_name FROM workflows_approvals a WHERE {OF_PLACE} AND steps >= ? AND record_version = \
         (SELECT MAX(record_version) FROM workflows_approvals b \
         WHERE b.organisation_id = a.organisation_id AND b.set_name = a.set_name \
         AND b.record_id = a.record_id AND b.steps = a.steps AND b.transition = a.transition) \
         ORDER BY steps, at_us, user_id"
    );
    let values = place.values().into_iter().chain([since_steps.into()]);
    ctx.run(ctx.database().statement(&sql, values)).await?.iter().map(approval).collect()
}

/// Who approves transitions of some records now, by record: after the last step of each. One that was there before its
/// workflow has taken none.
pub(crate) async fn open_approvals(
    ctx: &Context,
    organisation: OrganisationId,
    set: &str,
    ids: &[Uuid],
) -> Result<HashMap<Uuid, Vec<Approval>>> {
    let mut found: HashMap<Uuid, Vec<Approval>> = HashMap::new();
    for part in ids.chunks(KEYS_AT_ONCE) {
        let sql = format!(
            "SELECT a.steps, a.transition, a.user_id, a.user_name, a.comment, a.record_version, \
             a.at_us, a.group_names, a.for_user, a.for_name, a.record_id FROM workflows_approvals a LEFT JOIN workflows_instances i \
             ON i.organisation_id = a.organisation_id AND i.set_name = a.set_name \
             AND i.record_id = a.record_id \
             WHERE a.organisation_id = ? AND a.set_name = ? AND a.record_id IN ({}) \
             AND a.steps = COALESCE(i.steps, 0) \
             ORDER BY a.at_us, a.user_id",
            marks(part.len())
        );
        let values = [organisation.0.into(), set.into()];
        let values = values.into_iter().chain(part.iter().map(|id| Value::from(*id)));
        for row in ctx.run(ctx.database().statement(&sql, values)).await? {
            found.entry(column(&row, 10)?).or_default().push(approval(&row)?);
        }
    }
    Ok(found)
}

fn approval(row: &QueryResult) -> Result<Approval> {
    Ok(Approval {
        steps: column(row, 0)?,
        transition: column(row, 1)?,
        user: column(row, 2)?,
        user_name: column(row, 3)?,
        comment: column(row, 4)?,
        record_version: column(row, 5)?,
        at_us: column(row, 6)?,
        groups: {
            let names: String = column(row, 7)?;
            names.split_terminator(',').map(str::to_owned).collect()
        },
        represents: Represented::read(row, 8)?,
    })
}
