//! Keeps the index what the records are: by the outbox as they change, and by a job as a whole.
//!
//! | What happens | Who writes | A crash leaves |
//! | --- | --- | --- |
//! | a record changes | [`Indexing`], in the transaction that removes the message | the message |
//! | a set is declared otherwise | [`declare`] at the start: the note, and a job, in one transaction | nothing, or both |
//! | the job takes a step | [`build`]: words of some records, and where it goes on, in one transaction | the step before |
//! | the job is done | it deletes what it didn't write, then notes that it is finished | a job that goes on |
//!
//! Whoever writes holds the lock of the index and reads the records after it was given, so what is written is not older
//! than what it replaces.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use sea_orm::Value;
use sea_orm::sea_query::{Expr, ExprTrait as _, Order, Query, SelectStatement};
use serde::{Deserialize, Serialize};
use svc_core::{App, Error, Result};
use svc_data::{Context, Record, UnitOfWork};
use svc_database::database_error;
use svc_events::{Handler, Message};
use svc_jobs::{EnqueueJobs as _, Job, JobContext, JobError};

use crate::sets::{SearchedSet, text_of};
use crate::store::{builds, records};

/// Records that one step of a build indexes: short enough that nothing waits for it.
const STEP: u64 = 500;

/// The sets that are searched, by name.
#[derive(Debug, Default)]
pub(crate) struct SearchedSets(BTreeMap<String, SearchedSet>);

impl SearchedSets {
    pub(crate) fn new(sets: Vec<SearchedSet>) -> Self {
        Self(sets.into_iter().map(|set| (set.name().to_owned(), set)).collect())
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &SearchedSet> {
        self.0.values()
    }
}

/// Hears of changes.
#[derive(Default)]
pub(crate) struct Indexing {
    /// What is known once the application is built.
    configured: OnceLock<(Arc<SearchedSets>, BTreeSet<String>)>,
}

impl Indexing {
    pub(crate) fn configure(&self, sets: &Arc<SearchedSets>) {
        let names = sets.all().filter_map(|set| set.model.set.as_ref());
        let names = names.map(|set| set.event_name.clone()).collect();
        self.configured.get_or_init(|| (Arc::clone(sets), names));
    }
}

#[async_trait]
impl Handler for Indexing {
    async fn handle(&self, uow: &UnitOfWork, messages: &[Message]) -> Result<()> {
        let Some((sets, _)) = self.configured.get() else { return Ok(()) };
        // By set and by what of the records is replaced.
        let mut changed: BTreeMap<(&str, Option<BTreeSet<&str>>), BTreeSet<String>> =
            BTreeMap::new();
        for change in messages.iter().filter_map(Message::change) {
            let Some(set) = sets.0.get(&change.set) else { continue };
            let Some(key) = text_of(&change.key) else { continue };
            let group = (set.name(), set.guarded_change(change));
            changed.entry(group).or_default().insert(key);
        }
        if changed.is_empty() {
            return Ok(());
        }
        records::lock(uow).await?;
        for ((set, properties), keys) in changed {
            let Some(set) = sets.0.get(set) else { continue };
            let keys: Vec<String> = keys.into_iter().collect();
            let values: Vec<Value> = keys.iter().filter_map(|key| set.key(key)).collect();
            let mut select = select(set);
            select.and_where(Expr::col(set.model.column_ref(set.model.key_index())).is_in(values));
            store(uow, set, &select, keys, properties.as_ref()).await?;
        }
        Ok(())
    }

    fn wants(&self, name: &str) -> bool {
        let names = self.configured.get().map(|(_, names)| names);
        let set = name.rsplit_once('.').map_or(name, |(set, _)| set);
        names.is_none_or(|names| names.contains(set))
    }
}

/// The records of a set that aren't deleted, whatever their organisation: what a key names is one record.
fn select(set: &SearchedSet) -> SelectStatement {
    let model = &set.model;
    let mut select = Query::select();
    select.from(model.table_iden()).cond_where(model.scope(None));
    select.columns((0..model.columns.len()).map(|index| model.column_ref(index)));
    select
}

/// Replaces the words of records, of some properties or all, by those of what is selected. Answers with the keys that were selected, in order.
async fn store(
    uow: &UnitOfWork,
    set: &SearchedSet,
    select: &SelectStatement,
    mut keys: Vec<String>,
    properties: Option<&BTreeSet<&str>>,
) -> Result<Vec<String>> {
    let model = &set.model;
    let rows = uow.rows(uow.context().database().build(select)).await?;
    let records = rows.iter().map(|row| Record::read(model, row)).collect::<Result<Vec<_>, _>>();
    let records = records.map_err(database_error)?;
    let found: Vec<_> = records.iter().map(|record| set.indexed(record)).collect();
    let read: Vec<String> = found.iter().map(|record| record.key.clone()).collect();
    if keys.is_empty() {
        keys.clone_from(&read);
    }
    records::replace(uow, set.name(), &keys, properties, &found).await?;
    Ok(read)
}

/// Builds the index of a set, or deletes that of a set that isn't searched any more.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Build {
    /// The set.
    pub(crate) set: String,
}

impl Job for Build {
    const NAME: &'static str = "search.build";
    const TIMEOUT: Option<Duration> = None;
}

/// Compares what sets say with what the index was built for, and enqueues what is to be built.
pub(crate) async fn declare(app: &App, sets: &SearchedSets) -> Result<()> {
    let ctx = Context::system(app)?;
    ctx.transact(async |uow| {
        let mut due = Vec::new();
        for set in sets.all() {
            if builds::declare(&uow, set.name(), &set.declaration()).await? {
                due.push(set.name().to_owned());
            }
        }
        let known = builds::all(&uow).await?;
        due.extend(known.into_iter().filter(|set| !sets.0.contains_key(set)));
        for set in due {
            let key = set.clone();
            uow.enqueue(Build { set }).unique_while_waiting(key).watched().await?;
        }
        Ok(())
    })
    .await
}

/// Runs the job.
pub(crate) async fn build(ctx: JobContext, job: Build) -> Result<(), JobError> {
    let sets = ctx.app().service::<SearchedSets>()?;
    let name = job.set.as_str();
    let Some(set) = sets.0.get(name) else {
        delete(&ctx, name, i64::MAX).await?;
        ctx.transact(async |uow| builds::forget(&uow, name).await).await?;
        return Ok(());
    };
    let total = total(ctx.context(), set).await?;
    let tell = |percent: u8, done: u64| {
        ctx.progress(percent, format!("{done} of {total} records of {name} indexed"));
    };
    let mut done = 0;
    loop {
        ctx.check_interruption()?;
        let step = ctx.transact(async |uow| step(&uow, set).await).await?;
        done += step;
        let percent = u8::try_from((done * 100).checked_div(total).unwrap_or(99)).unwrap_or(99);
        tell(std::cmp::Ord::min(percent, 99), done);
        if step < STEP {
            break;
        }
    }
    let generation = ctx.transact(async |uow| builds::generation(&uow, name).await).await?;
    delete(&ctx, name, generation).await?;
    ctx.transact(async |uow| builds::finish(&uow, name).await).await?;
    tell(100, done);
    Ok(())
}

/// How many records there are, about.
async fn total(ctx: &Context, set: &SearchedSet) -> Result<u64> {
    let sql = format!("SELECT count(*) FROM {}", set.model.table);
    let row = ctx.run_one(ctx.database().statement(&sql, [])).await?;
    let count: Option<i64> =
        row.map(|row| row.try_get_by_index(0)).transpose().map_err(database_error)?;
    Ok(count.unwrap_or(0).unsigned_abs())
}

/// Indexes the next records; answers with their number.
async fn step(uow: &UnitOfWork, set: &SearchedSet) -> Result<u64> {
    records::lock(uow).await?;
    let after = builds::place(uow, set.name()).await?;
    let key = set.model.column_ref(set.model.key_index());
    let mut select = select(set);
    select.order_by(key.clone(), Order::Asc).limit(STEP);
    if let Some(after) = &after {
        let wrong = || Error::internal("the place of a build isn't a key of its set");
        select.and_where(Expr::col(key).gt(set.key(after).ok_or_else(wrong)?));
    }
    let read = store(uow, set, &select, Vec::new(), None).await?;
    builds::go_on_at(uow, set.name(), read.last().cloned().or(after)).await?;
    Ok(read.len() as u64)
}

/// Deletes the records of a set that were written for an earlier generation, a few at a time.
async fn delete(ctx: &JobContext, set: &str, before: i64) -> Result<(), JobError> {
    let mut after = Some(String::new());
    while let Some(behind) = after {
        ctx.check_interruption()?;
        let step = ctx.transact(async |uow| {
            records::lock(&uow).await?;
            records::delete_step(&uow, set, before, &behind).await
        });
        after = step.await?;
    }
    Ok(())
}
