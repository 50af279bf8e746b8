//! All that one unit of work did, taken back together or not at all.
//!
//! It is taken back from its end to its beginning, so that what was made last goes first. What the
//! caller doesn't see of it stays, as if it were none of it.

use sha2::{Digest as _, Sha256};
use svc_core::{Error, Result, hex};
use svc_data::Context;
use uuid::Uuid;

use crate::audit::Reader;
use crate::entry::{Operation, key_value};
use crate::errors::{CHANGED_SINCE, TOO_MANY};
use crate::plan::{Mode, State};
use crate::restore::{Preview, Subject, is_refusal, refuse_blanked};
use crate::sight::missing;
use crate::store;

/// Records that are taken back at once, at most.
const MOST: usize = 1_000;

/// What taking back a unit of work would do.
pub(crate) struct Whole {
    /// What the undo sends, so that it is known to be meant for the same versions.
    pub(crate) version: String,
    pub(crate) pieces: Vec<Piece>,
}

/// What it would do to one record.
pub(crate) struct Piece {
    pub(crate) set: String,
    pub(crate) key: String,
    pub(crate) entry: Uuid,
    pub(crate) preview: Preview,
}

/// What taking back a unit of work would do. It is tried and rolled back.
pub(crate) async fn preview(ctx: &Context, unit: Uuid) -> Result<Whole> {
    let subjects = subjects(ctx, unit).await?;
    let mut whole = Whole { version: String::new(), pieces: Vec::new() };
    let mut was_tried = false;
    let tried = ctx.transact(async |uow| {
        let mut states = Vec::new();
        for subject in &subjects {
            states.push(subject.locked(&uow).await?);
        }
        whole.version = version(&subjects, &states);
        for (subject, now) in subjects.iter().zip(&states) {
            let plan = subject.plan(ctx, Mode::Undo, now)?;
            let applied =
                uow.context().transact(async |uow| subject.apply(&uow, &plan, None).await);
            let refusal = match applied.await {
                Ok(_) => None,
                Err(error) if is_refusal(error.kind()) => Some(error),
                Err(error) => return Err(error),
            };
            whole.pieces.push(Piece {
                set: subject.entry.set.clone(),
                key: subject.entry.key.clone(),
                entry: subject.entry.id,
                preview: Preview { version: subject.version(now), plan, refusal },
            });
        }
        was_tried = true;
        Err::<(), _>(Error::internal("an undo was only tried"))
    });
    match tried.await {
        Err(error) if !was_tried => Err(error),
        _ => Ok(whole),
    }
}

/// Takes a unit of work back, and says how many records that changed.
pub(crate) async fn undo(ctx: &Context, unit: Uuid, expected: Option<&str>) -> Result<usize> {
    let expected = expected
        .ok_or_else(|| CHANGED_SINCE.error("`version` is missing; send that of the preview"))?;
    ctx.transact(async |uow| {
        let ctx = uow.context();
        let subjects = subjects(ctx, unit).await?;
        let mut states = Vec::new();
        for subject in &subjects {
            states.push(subject.locked(&uow).await?);
        }
        if version(&subjects, &states) != expected {
            let message = "some of the records were changed since the preview; look at it again";
            return Err(CHANGED_SINCE.error(message));
        }
        let mut changed = 0;
        for (subject, now) in subjects.iter().zip(&states) {
            let plan = subject.plan(ctx, Mode::Undo, now)?;
            let place = || format!("{}({})", subject.entry.set, subject.entry.key);
            let done = subject.apply(&uow, &plan, None).await.map_err(|e| e.target(place()))?;
            changed += usize::from(done.has_changed());
        }
        Ok(changed)
    })
    .await
}

/// What a unit of work did, as far as the caller sees it, from its end to its beginning.
async fn subjects(ctx: &Context, unit: Uuid) -> Result<Vec<Subject>> {
    let no_unit = || Error::not_found("there is no such unit of work");
    let mut rows = store::of_unit(ctx, unit, MOST + 1).await?;
    if rows.len() > MOST {
        return Err(TOO_MANY.error(format!(
            "the unit of work changed more than {MOST} records; take them back one by one"
        )));
    }
    rows.retain(|row| row.operation != Operation::Event);
    let mut reader = Reader::new(ctx);
    let mut subjects = Vec::new();
    for seen in reader.seen(rows).await?.into_iter().rev() {
        refuse_blanked(&seen.row)?;
        let kept = reader.kept(&seen.row.set)?.ok_or_else(no_unit)?.clone();
        let key = key_value(&kept.model, &seen.row.key).ok_or_else(missing)?;
        kept.served()?;
        let (home, set) = (kept.organisation, &seen.row.set);
        let newest = store::newest_of(ctx, home, set, &[&seen.row.key]).await?.pop();
        let newest = newest.ok_or_else(missing)?;
        subjects.push(Subject { kept, key, newest, entry: seen.row });
    }
    if subjects.is_empty() { Err(no_unit()) } else { Ok(subjects) }
}

/// One text for the versions of all records.
fn version(subjects: &[Subject], states: &[State]) -> String {
    let mut hash = Sha256::new();
    for (subject, now) in subjects.iter().zip(states) {
        hash.update(subject.entry.id.as_bytes());
        hash.update(subject.version(now).to_be_bytes());
    }
    hex(&hash.finalize())
}
