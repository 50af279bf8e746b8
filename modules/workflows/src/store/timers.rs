//! The statements about what happens by itself.

use sea_orm::{QueryResult, Value};
use svc_core::{Error, OrganisationId, Result};
use svc_data::{Context, UnitOfWork};
use svc_database::column;
use uuid::Uuid;

use super::keys::{OF_PLACE, Place};

/// What a timer stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimerKind {
    Remind,
    Escalate,
    Automatic,
}

impl TimerKind {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Remind => "remind",
            Self::Escalate => "escalate",
            Self::Automatic => "automatic",
        }
    }
}

/// Something that happens to a record by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Timer {
    pub(crate) organisation: OrganisationId,
    pub(crate) set: String,
    pub(crate) id: Uuid,
    pub(crate) kind: TimerKind,
    pub(crate) at_us: i64,
}

impl Timer {
    fn values(&self) -> [Value; 5] {
        let place = Place { organisation: self.organisation, set: &self.set, id: self.id };
        let [organisation, set, id] = place.values();
        [organisation, set, id, self.kind.as_str().into(), self.at_us.into()]
    }
}

const OF_TIMER: &str =
    "organisation_id = ? AND set_name = ? AND record_id = ? AND kind = ? AND at_us = ?";

/// Puts timers in the place of those that a record had.
pub(crate) async fn set_timers(
    uow: &UnitOfWork,
    place: Place<'_>,
    timers: &[(TimerKind, i64)],
) -> Result<()> {
    let database = uow.context().database();
    let sql = format!("DELETE FROM workflows_timers WHERE {OF_PLACE}");
    uow.execute(database.statement(&sql, place.values())).await?;
    for (kind, at_us) in timers {
        let sql = "INSERT INTO workflows_timers (organisation_id, set_name, record_id, kind, at_us) \
                   VALUES (?, ?, ?, ?, ?)";
        let told: [Value; 2] = [kind.as_str().into(), (*at_us).into()];
        let values = place.values().into_iter().chain(told);
        uow.execute(database.statement(sql, values)).await?;
    }
    Ok(())
}

/// The timers of all organisations whose time has come, in their order, at most so many.
pub(crate) async fn timers(ctx: &Context, count: u64) -> Result<Vec<Timer>> {
    let sql = format!(
        "SELECT set_name, record_id, kind, at_us, organisation_id FROM workflows_timers \
         WHERE at_us <= ? ORDER BY at_us, organisation_id, record_id, kind LIMIT {count}"
    );
    let values: [Value; 1] = [ctx.clock().now_us().into()];
    let read = |row: &QueryResult| {
        let kind: String = column(row, 2)?;
        let kind = match kind.as_str() {
            "remind" => TimerKind::Remind,
            "escalate" => TimerKind::Escalate,
            "automatic" => TimerKind::Automatic,
            _ => return Err(Error::internal("a timer of an unknown kind is stored")),
        };
        let (set, id, at_us) = (column(row, 0)?, column(row, 1)?, column(row, 3)?);
        let organisation = OrganisationId(column(row, 4)?);
        Ok(Timer { organisation, set, id, kind, at_us })
    };
    ctx.run(ctx.database().statement(&sql, values)).await?.iter().map(read).collect()
}

/// When a timer of a record is due; none where it has none of the kind.
pub(crate) async fn timer_of(
    ctx: &Context,
    place: Place<'_>,
    kind: TimerKind,
) -> Result<Option<i64>> {
    let sql = format!("SELECT MIN(at_us) FROM workflows_timers WHERE {OF_PLACE} AND kind = ?");
    let values = place.values().into_iter().chain([kind.as_str().into()]);
    let row = ctx.run_one(ctx.database().statement(&sql, values)).await?;
    row.map_or(Ok(None), |row| column(&row, 0))
}

/// Takes a timer out; false where somebody was faster.
pub(crate) async fn take_timer(uow: &UnitOfWork, timer: &Timer) -> Result<bool> {
    let sql = format!("DELETE FROM workflows_timers WHERE {OF_TIMER}");
    let taken = uow.execute(uow.context().database().statement(&sql, timer.values())).await?;
    Ok(taken == 1)
}

/// Puts a timer off, unless somebody was faster.
pub(crate) async fn put_off(uow: &UnitOfWork, timer: &Timer, later_us: i64) -> Result<()> {
    let sql = format!("UPDATE workflows_timers SET at_us = ? WHERE {OF_TIMER}");
    let values = [later_us.into()].into_iter().chain(timer.values());
    uow.execute(uow.context().database().statement(&sql, values)).await.map(drop)
}

/// Stores that others may act too.
pub(crate) async fn escalate(uow: &UnitOfWork, place: Place<'_>) -> Result<()> {
    let sql = format!("UPDATE workflows_instances SET escalated_us = ? WHERE {OF_PLACE}");
    let now_us = uow.context().clock().now_us();
    let values = [now_us.into()].into_iter().chain(place.values());
    uow.execute(uow.context().database().statement(&sql, values)).await.map(drop)
}
