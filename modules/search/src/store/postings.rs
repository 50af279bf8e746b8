//! Which records have a word: blocks of their numbers, changed where records come and go.

use std::collections::{BTreeMap, BTreeSet};

use svc_core::{Result, hex};
use svc_data::UnitOfWork;
use svc_database::{Backend, CellKind, ROWS_AT_ONCE, RowTable, column};

use super::join;
use crate::blocks::{Block, block_of};

/// What is to be changed: for each block of a word the numbers that come and go.
#[derive(Debug, Default)]
pub(crate) struct Changes(BTreeMap<(i64, i64), Change>);

#[derive(Debug, Default)]
struct Change {
    removed: Vec<i64>,
    added: Vec<i64>,
}

impl Changes {
    /// A record has a word from now on.
    pub(crate) fn add(&mut self, word: i64, number: i64) {
        self.0.entry((word, block_of(number))).or_default().added.push(number);
    }

    /// A record has a word no more.
    pub(crate) fn remove(&mut self, word: i64, number: i64) {
        self.0.entry((word, block_of(number))).or_default().removed.push(number);
    }

    /// Makes the changes. Answers with the words that may have no record any more.
    pub(crate) async fn make(self, uow: &UnitOfWork) -> Result<BTreeSet<i64>> {
        let mut bare = BTreeSet::new();
        let mut changes = self.0.into_iter().peekable();
        while changes.peek().is_some() {
            let some: BTreeMap<(i64, i64), Change> = changes.by_ref().take(ROWS_AT_ONCE).collect();
            let mut blocks = read(uow, some.keys()).await?;
            let mut empty = Vec::new();
            for (place, change) in &some {
                let block = blocks.entry(*place).or_insert_with(Block::none);
                for number in &change.removed {
                    block.remove(*number);
                }
                for number in &change.added {
                    block.insert(*number);
                }
                if block.is_empty() {
                    empty.push(*place);
                }
            }
            for place in &empty {
                blocks.remove(place);
                bare.insert(place.0);
            }
            delete(uow, &empty).await?;
            write(uow, &blocks).await?;
        }
        Ok(bare)
    }
}

const PLACE: [(&str, CellKind); 2] = [("word_id", CellKind::BigInt), ("block", CellKind::BigInt)];

async fn read(
    uow: &UnitOfWork,
    places: impl Iterator<Item = &(i64, i64)>,
) -> Result<BTreeMap<(i64, i64), Block>> {
    let database = uow.context().database();
    let rows = places.map(|(word, block)| [(*word).into(), (*block).into()]);
    let RowTable { sql, values } = RowTable::new(database.backend(), &PLACE, rows);
    let sql = format!(
        "SELECT p.word_id, p.block, p.records FROM {sql} {} search_postings p \
         ON p.word_id = r.word_id AND p.block = r.block",
        join(database.backend())
    );
    let mut blocks = BTreeMap::new();
    for row in uow.rows(database.statement(&sql, values)).await? {
        let records: Vec<u8> = column(&row, 2)?;
        blocks.insert((column(&row, 0)?, column(&row, 1)?), Block::from_bytes(&records)?);
    }
    Ok(blocks)
}

async fn write(uow: &UnitOfWork, blocks: &BTreeMap<(i64, i64), Block>) -> Result<()> {
    if blocks.is_empty() {
        return Ok(());
    }
    let database = uow.context().database();
    let columns = [PLACE[0], PLACE[1], ("records", CellKind::Text)];
    let rows = blocks.iter().map(|((word, block), records)| {
        [(*word).into(), (*block).into(), hex(&records.to_bytes()).into()]
    });
    let RowTable { sql, values } = RowTable::new(database.backend(), &columns, rows);
    let records = match database.backend() {
        Backend::Sqlite => "unhex(r.records)",
        Backend::Postgres => "decode(r.records, 'hex')",
    };
    let sql = format!(
        "INSERT INTO search_postings (word_id, block, records) SELECT r.word_id, r.block, {records} FROM {sql} \
         WHERE TRUE ON CONFLICT (word_id, block) DO UPDATE SET records = excluded.records"
    );
    uow.execute(database.statement(&sql, values)).await.map(drop)
}

async fn delete(uow: &UnitOfWork, places: &[(i64, i64)]) -> Result<()> {
    if places.is_empty() {
        return Ok(());
    }
    let database = uow.context().database();
    let rows = places.iter().map(|(word, block)| [(*word).into(), (*block).into()]);
    let RowTable { sql, values } = RowTable::new(database.backend(), &PLACE, rows);
    let sql = format!(
        "DELETE FROM search_postings WHERE (word_id, block) IN (SELECT r.word_id, r.block FROM {sql})"
    );
    uow.execute(database.statement(&sql, values)).await.map(drop)
}
