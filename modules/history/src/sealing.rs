//! Seals entries in batches, and checks what was sealed.
//!
//! | Step | Who | What a crash leaves |
//! | --- | --- | --- |
//! | entries of five minutes ago and more, behind the last seal, are read | the job, each minute | nothing |
//! | a seal with a line for each is stored | the job | the seal, or none; the next run goes on |
//!
//! An entry has an identifier of right before its commit, or of a minute before that at most, so five
//! minutes later nothing appears any more among those that were sealed.

use std::collections::HashMap;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use svc_core::{App, Error, OrganisationId, Result, micros};
use svc_data::{Context, UnitOfWork};
use svc_jobs::{Job, JobContext, JobError};
use uuid::Uuid;

use crate::seal::{self, Line};
use crate::store::{self, Seal};

/// Entries that one seal holds at most.
const AT_ONCE: u64 = 1_000;

/// How old an entry is when it is sealed, in microseconds.
const LAG_US: i64 = 5 * 60 * 1_000_000;

/// Problems that a check tells of.
const TOLD: usize = 100;

/// Seals what happened.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SealEntries {}

impl Job for SealEntries {
    const NAME: &'static str = "history.seal";
}

/// Runs the job.
pub(crate) async fn seal_entries(ctx: JobContext, _: SealEntries) -> Result<(), JobError> {
    let mut organisation = Uuid::nil();
    while let Some(next) = store::next_organisation(ctx.context(), organisation).await? {
        organisation = next;
        loop {
            ctx.check_interruption()?;
            let ctx = ctx.in_organisation(OrganisationId(organisation))?;
            let sealed = ctx.transact(async |uow| seal_some(&uow).await).await?;
            if sealed < AT_ONCE {
                break;
            }
        }
    }
    Ok(())
}

/// Seals the next entries of the organisation, and says how many.
async fn seal_some(uow: &UnitOfWork) -> Result<u64> {
    let ctx = uow.context();
    store::lock_seals(uow).await?;
    let last = store::last_seal(ctx).await?;
    let behind = last.as_ref().map_or(Uuid::nil(), |seal| seal.through);
    let until = micros::first_id(ctx.clock().now_us() - LAG_US);
    let rows = store::between(ctx, behind, until, AT_ONCE).await?;
    let Some(through) = rows.last().map(|row| row.id) else { return Ok(0) };
    let lines = rows.iter().map(|row| Line::Entry {
        id: row.id,
        set: row.set.clone(),
        digest: row.digest(),
    });
    append(uow, last.as_ref(), through, lines).await?;
    Ok(u64::try_from(rows.len()).unwrap_or(u64::MAX))
}

/// Puts a seal behind the last one, while the seals are held.
async fn append(
    uow: &UnitOfWork,
    last: Option<&Seal>,
    through: Uuid,
    lines: impl Iterator<Item = Line>,
) -> Result<()> {
    let mut text = String::new();
    for line in lines {
        let _ = writeln!(text, "{line}");
    }
    let number = last.map_or(1, |seal| seal.number + 1);
    let sealed_us = uow.context().clock().now_us();
    let previous = last.map_or("", |seal| &seal.hash);
    let hash = seal::hash(previous, number, sealed_us, &text);
    store::insert_seal(uow, &Seal { number, hash, through, sealed_us, lines: text }).await
}

/// Seals what was done to entries that were sealed before.
pub(crate) async fn seal_lines(uow: &UnitOfWork, lines: Vec<Line>) -> Result<()> {
    store::lock_seals(uow).await?;
    let last = store::last_seal(uow.context()).await?;
    let through = last.as_ref().map_or(Uuid::nil(), |seal| seal.through);
    append(uow, last.as_ref(), through, lines.into_iter()).await
}

/// What a check found in one organisation.
struct Found {
    seals: i64,
    entries: u64,
    head: String,
    problems: Vec<String>,
}

/// Checks all that was sealed, and says of each organisation how much that is, and its last hash.
pub(crate) async fn check(app: App) -> Result<String> {
    let system = Context::system(&app)?;
    let mut text = String::new();
    let mut problems = Vec::new();
    let mut organisation = Uuid::nil();
    while let Some(next) = store::next_sealed_organisation(&system, organisation).await? {
        organisation = next;
        let ctx = Context::system_in(&app, OrganisationId(organisation))?;
        let found = check_organisation(&ctx).await?;
        let Found { seals, entries, head, .. } = &found;
        let _ = writeln!(text, "{organisation}: {entries} entries in {seals} seals, up to {head}");
        problems.extend(found.problems);
    }
    if problems.is_empty() {
        return Ok(if text.is_empty() { "nothing is sealed yet\n".to_owned() } else { text });
    }
    let count = problems.len();
    problems.truncate(TOLD);
    Err(Error::conflict(format!(
        "the history was changed, in {count} places:\n{}",
        problems.join("\n")
    )))
}

async fn check_organisation(ctx: &Context) -> Result<Found> {
    let rules = Rules::read(ctx).await?;
    let mut found = Found { seals: 0, entries: 0, head: String::new(), problems: Vec::new() };
    let mut behind = Uuid::nil();
    while let Some(seal) = store::seal_after(ctx, found.seals).await? {
        let number = found.seals + 1;
        let hash = seal::hash(&found.head, number, seal.sealed_us, &seal.lines);
        if seal.number != number || seal.hash != hash {
            let problem = format!("seal {number} does not follow from the one before");
            found.problems.push(problem);
        }
        found.seals = seal.number;
        found.head.clone_from(&seal.hash);
        check_seal(ctx, &rules, &seal, behind, &mut found).await?;
        behind = seal.through;
    }
    Ok(found)
}

/// Compares the entries of one seal with what is stored.
async fn check_seal(
    ctx: &Context,
    rules: &Rules,
    seal: &Seal,
    behind: Uuid,
    found: &mut Found,
) -> Result<()> {
    let mut stored: HashMap<Uuid, String> = HashMap::new();
    if seal.through > behind {
        let end = Uuid::from_u128(seal.through.as_u128() + 1);
        for row in store::between(ctx, behind, end, AT_ONCE * 2).await? {
            stored.insert(row.id, row.digest());
        }
    }
    for line in seal.lines.lines() {
        let Line::Entry { id, set, digest } = Line::parse(line)? else { continue };
        found.entries += 1;
        match stored.remove(&id) {
            Some(now) if now == *rules.blanked.get(&id).unwrap_or(&digest) => {}
            Some(_) => found.problems.push(format!("entry {id} of `{set}` was changed")),
            None if rules.deleted.get(&set).is_some_and(|before| id < *before) => {}
            None => found.problems.push(format!("entry {id} of `{set}` is gone")),
        }
    }
    found.problems.extend(stored.keys().map(|id| format!("entry {id} was added later")));
    Ok(())
}

/// What was done to sealed entries by the rules.
struct Rules {
    /// The digests of entries that were blanked.
    blanked: HashMap<Uuid, String>,
    /// Before which identifier entries of a set were deleted.
    deleted: HashMap<String, Uuid>,
}

impl Rules {
    async fn read(ctx: &Context) -> Result<Self> {
        let mut rules = Self { blanked: HashMap::new(), deleted: HashMap::new() };
        let mut number = 0;
        while let Some(seal) = store::seal_after(ctx, number).await? {
            number = seal.number;
            for line in seal.lines.lines() {
                match Line::parse(line)? {
                    Line::Entry { .. } => {}
                    Line::Blanked { id, digest } => {
                        rules.blanked.insert(id, digest);
                    }
                    Line::Deleted { before, set } => {
                        let known = rules.deleted.entry(set).or_default();
                        *known = before.max(*known);
                    }
                }
            }
        }
        Ok(rules)
    }
}
