//! The statements about whose turn it is.

use std::collections::BTreeSet;

use svc_core::Result;
use svc_data::UnitOfWork;
use svc_database::{Cell, CellKind, RowTable};

use super::keys::{OF_PLACE, Place};
use crate::claims::Claim;

/// A record's time in its state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stay<'a> {
    pub(crate) state: &'a str,
    pub(crate) steps: i64,
    pub(crate) since_us: i64,
    pub(crate) due_us: Option<i64>,
}

const CLAIMED: [(&str, CellKind); 13] = [
    ("organisation_id", CellKind::Uuid),
    ("set_name", CellKind::Text),
    ("record_id", CellKind::Uuid),
    ("number", CellKind::BigInt),
    ("claim", CellKind::Text),
    ("state", CellKind::Text),
    ("since_us", CellKind::BigInt),
    ("due_us", CellKind::BigInt),
    ("steps", CellKind::BigInt),
    ("several", CellKind::Text),
    ("not_creator", CellKind::Uuid),
    ("not_last", CellKind::Uuid),
    ("for_user", CellKind::Uuid),
];

/// Puts claims in the place of those that a record had: so many, as it was read with its lock held, or nobody knows how
/// many. There are few of them: as many as a state has ways out.
pub(crate) async fn claim(
    uow: &UnitOfWork,
    place: Place<'_>,
    stay: Stay<'_>,
    claims: &BTreeSet<Claim>,
    had: Option<i64>,
) -> Result<()> {
    let database = uow.context().database();
    let count = i64::try_from(claims.len()).unwrap_or(i64::MAX);
    if had.is_none_or(|had| had > count) {
        let sql = format!("DELETE FROM workflows_claims WHERE {OF_PLACE} AND number > ?");
        let values = place.values().into_iter().chain([count.into()]);
        uow.execute(database.statement(&sql, values)).await?;
    }
    if claims.is_empty() {
        return Ok(());
    }
    let cells = claims.iter().zip(1_i64..).map(|(claim, number)| -> [Cell<'_>; 13] {
        [
            place.organisation.0.into(),
            place.set.into(),
            place.id.into(),
            number.into(),
            claim.who.as_str().into(),
            stay.state.into(),
            stay.since_us.into(),
            stay.due_us.unwrap_or(i64::MAX).into(),
            stay.steps.into(),
            claim.several.as_deref().into(),
            claim.not_creator.into(),
            claim.not_last.into(),
            claim.for_user.into(),
        ]
    });
    let names = CLAIMED.map(|(name, _)| name).join(", ");
    let RowTable { sql, values } = RowTable::new(database.backend(), &CLAIMED, cells);
    let sql = format!(
        "INSERT INTO workflows_claims ({names}) SELECT {names} FROM {sql} WHERE true \
         ON CONFLICT (organisation_id, set_name, record_id, number) DO UPDATE SET \
         claim = excluded.claim, state = excluded.state, since_us = excluded.since_us, \
         due_us = excluded.due_us, steps = excluded.steps, several = excluded.several, not_creator = excluded.not_creator, \
         not_last = excluded.not_last, for_user = excluded.for_user"
    );
    uow.execute(database.statement(&sql, values)).await.map(drop)
}
