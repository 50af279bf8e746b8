//! The records of the index, with the words that each has: put in place of what was there.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use svc_core::{Error, Result};
use svc_data::UnitOfWork;
use svc_database::{CellKind, ROWS_AT_ONCE, RowTable, column};

use super::postings::Changes;
use super::words::{forget, identifiers, named};
use super::{builds, join};
use crate::sets::{IndexedRecord, IndexedTerms};

/// The number of the turn to index: `svc find` in ASCII.
const TURN: i64 = 0x7376_6320_6669_6e64;

/// Records that one step deletes: short enough that nothing waits for it.
const STEP: usize = 200;

/// Records among which one step looks for those to delete.
const LOOKED_AT: usize = 2_000;

/// The identifiers of the words that a record has, by property.
type Words = BTreeMap<String, Vec<i64>>;

/// A record that is indexed.
struct Known {
    number: i64,
    words: Words,
}

/// Lets nobody else index until the unit of work ends. What is read after this is not older than what
/// anybody indexed before.
pub(crate) async fn lock(uow: &UnitOfWork) -> Result<()> {
    uow.take_turn(TURN).await
}

/// Replaces what the index has of the records with these keys: those that are not among `records` are gone. Where
/// properties are named the others stay as they are, and so does the record's number.
pub(crate) async fn replace(
    uow: &UnitOfWork,
    set: &str,
    keys: &[String],
    properties: Option<&BTreeSet<&str>>,
    records: &[IndexedRecord],
) -> Result<()> {
    let mut known = known(uow, set, keys).await?;
    // Of a record that keeps its number only these properties are looked at.
    let is_kept = |key: &str| properties.is_some() && known.contains_key(key);
    let is_replaced = |key: &str, property: &str| {
        !is_kept(key) || properties.is_some_and(|some| some.contains(property))
    };
    let replaced: Vec<(&IndexedRecord, Vec<(&String, &IndexedTerms)>)> = records
        .iter()
        .map(|record| {
            let all = record.terms.iter();
            (record, all.filter(|(property, _)| is_replaced(&record.key, property)).collect())
        })
        .collect();
    let terms = replaced.iter().flat_map(|(_, of_record)| of_record);
    let terms = terms.flat_map(|(_, of)| of.terms.iter().map(|term| (of.scope, term))).collect();
    let ids = identifiers(uow, &terms).await?;
    let new: Vec<&IndexedRecord> = records.iter().filter(|record| !is_kept(&record.key)).collect();
    let mut numbers = numbers(uow, set, &new).await?;
    let mut changes = Changes::default();
    let mut rows = Vec::with_capacity(records.len());
    for (record, of_record) in replaced {
        let mut words = Words::new();
        for (property, of) in of_record {
            let id = |term| ids.get(&named(&(of.scope, term))).copied().ok_or_else(lost);
            words.insert(property.clone(), of.terms.iter().map(id).collect::<Result<_>>()?);
        }
        let earlier = known.remove(&record.key);
        let number = match (&earlier, properties) {
            (Some(earlier), Some(replaced)) => {
                let others = earlier.words.iter();
                let others = others.filter(|(property, _)| !replaced.contains(property.as_str()));
                words.extend(others.map(|(property, ids)| (property.clone(), ids.clone())));
                earlier.number
            }
            _ => numbers.get_mut(&record.space).and_then(Iterator::next).ok_or_else(lost)?,
        };
        if let Some(earlier) = &earlier {
            remove(&mut changes, earlier);
        }
        for id in words.values().flatten() {
            changes.add(*id, number);
        }
        if !words.is_empty() {
            rows.push((record, number, words));
        }
    }
    for gone in known.values() {
        remove(&mut changes, gone);
    }
    store(uow, set, keys, &rows).await?;
    let bare: Vec<i64> = changes.make(uow).await?.into_iter().collect();
    forget(uow, &bare).await
}

fn remove(changes: &mut Changes, known: &Known) {
    for id in known.words.values().flatten() {
        changes.remove(*id, known.number);
    }
}

fn lost() -> Error {
    Error::internal("the search index lost what was just written to it")
}

async fn known(uow: &UnitOfWork, set: &str, keys: &[String]) -> Result<HashMap<String, Known>> {
    let database = uow.context().database();
    let mut known = HashMap::new();
    for some in keys.chunks(ROWS_AT_ONCE) {
        let columns = [("record_key", CellKind::Text)];
        let rows = some.iter().map(|key| [key.as_str().into()]);
        let RowTable { sql, values } = RowTable::new(database.backend(), &columns, rows);
        let sql = format!(
            "SELECT s.record_key, s.number, s.words FROM {sql} {} search_records s \
             ON s.record_key = r.record_key WHERE s.set_name = ?",
            join(database.backend())
        );
        let values = values.into_iter().chain([set.into()]);
        for row in uow.rows(database.statement(&sql, values)).await? {
            let words: String = column(&row, 2)?;
            let words = serde_json::from_str(&words).map_err(|error| {
                Error::internal("words of a record that aren't JSON").caused_by(error)
            })?;
            known.insert(column(&row, 0)?, Known { number: column(&row, 1)?, words });
        }
    }
    Ok(known)
}

/// The next numbers of each space, as many as it has new records.
async fn numbers(
    uow: &UnitOfWork,
    set: &str,
    new: &[&IndexedRecord],
) -> Result<HashMap<i64, std::ops::RangeInclusive<i64>>> {
    let mut counts: BTreeMap<i64, i64> = BTreeMap::new();
    for record in new {
        *counts.entry(record.space).or_default() += 1;
    }
    let database = uow.context().database();
    let mut numbers = HashMap::with_capacity(counts.len());
    let counts: Vec<(i64, i64)> = counts.into_iter().collect();
    for some in counts.chunks(ROWS_AT_ONCE) {
        let columns = [("space", CellKind::BigInt), ("count", CellKind::BigInt)];
        let rows = some.iter().map(|(space, count)| [(*space).into(), (*count).into()]);
        let RowTable { sql, values } = RowTable::new(database.backend(), &columns, rows);
        let sql = format!(
            "INSERT INTO search_spaces (space, set_name, last_number) SELECT r.space, ?, r.count FROM {sql} \
             WHERE TRUE ON CONFLICT (space) DO UPDATE \
             SET last_number = search_spaces.last_number + excluded.last_number RETURNING space, last_number"
        );
        let values = std::iter::once(set.into()).chain(values);
        for row in uow.rows(database.statement(&sql, values)).await? {
            let (space, last): (i64, i64) = (column(&row, 0)?, column(&row, 1)?);
            let count = some.iter().find(|(of, _)| *of == space).map_or(0, |(_, count)| *count);
            numbers.insert(space, last - count + 1..=last);
        }
    }
    Ok(numbers)
}

async fn store(
    uow: &UnitOfWork,
    set: &str,
    keys: &[String],
    rows: &[(&IndexedRecord, i64, Words)],
) -> Result<()> {
    let database = uow.context().database();
    for some in keys.chunks(ROWS_AT_ONCE) {
        let columns = [("record_key", CellKind::Text)];
        let rows = some.iter().map(|key| [key.as_str().into()]);
        let RowTable { sql, values } = RowTable::new(database.backend(), &columns, rows);
        let sql = format!(
            "DELETE FROM search_records WHERE set_name = ? AND record_key IN (SELECT r.record_key FROM {sql})"
        );
        let values = std::iter::once(set.into()).chain(values);
        uow.execute(database.statement(&sql, values)).await?;
    }
    let generation = builds::generation(uow, set).await?;
    let columns = [
        ("space", CellKind::BigInt),
        ("number", CellKind::BigInt),
        ("record_key", CellKind::Text),
        ("words", CellKind::Text),
    ];
    for some in rows.chunks(ROWS_AT_ONCE) {
        let cells = some.iter().map(|(record, number, words)| {
            let words = serde_json::to_string(words).expect("texts and numbers are JSON");
            [record.space.into(), (*number).into(), record.key.as_str().into(), words.into()]
        });
        let RowTable { sql, values } = RowTable::new(database.backend(), &columns, cells);
        let sql = format!(
            "INSERT INTO search_records (set_name, generation, space, number, record_key, words) \
             SELECT ?, CAST(? AS BIGINT), r.space, r.number, r.record_key, r.words FROM {sql}"
        );
        let values = [set.into(), generation.into()].into_iter().chain(values);
        uow.execute(database.statement(&sql, values)).await?;
    }
    Ok(())
}

/// Deletes some records of a set that were written for an earlier generation than this, among those behind a key; answers
/// with the key to go on behind, none at the end.
pub(crate) async fn delete_step(
    uow: &UnitOfWork,
    set: &str,
    before: i64,
    after: &str,
) -> Result<Option<String>> {
    let database = uow.context().database();
    let sql = format!(
        "SELECT record_key, generation FROM search_records WHERE set_name = ? AND record_key > ? \
         ORDER BY record_key LIMIT {LOOKED_AT}"
    );
    let rows = uow.rows(database.statement(&sql, [set.into(), after.into()])).await?;
    let (mut old, mut last) = (Vec::new(), None);
    for row in &rows {
        let (key, generation): (String, i64) = (column(row, 0)?, column(row, 1)?);
        if generation < before {
            old.push(key.clone());
        }
        last = Some(key);
        if old.len() == STEP {
            break;
        }
    }
    replace(uow, set, &old, None, &[]).await?;
    Ok(last.filter(|_| old.len() == STEP || rows.len() == LOOKED_AT))
}
