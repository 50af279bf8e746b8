//! The audit log: what happened in an organisation, over all sets, as far as its reader sees it.
//!
//! Of changes, and of events about records, only those are told whose record the reader may see, by the rules of its set; of other events
//! all. What no index finds (the person, the operation) is looked for among a bounded number of entries
//! for each page; the next page goes on behind them.

use std::collections::{BTreeMap, HashMap, HashSet};

use svc_core::Result;
use svc_data::Context;
use uuid::Uuid;

use crate::entry::{Operation, key_value, record_of_events};
use crate::sight::{Field, Kept};
use crate::store::{self, Author, Filter, Row};

/// Entries that one statement reads.
const AT_ONCE: u64 = 200;

/// Entries among which one statement looks for some.
const SEARCHED_AT_ONCE: u64 = 1_000;

/// Entries that a page looks at, at most.
const LOOKED_AT: u64 = 5_000;

/// An entry as its reader sees it.
pub(crate) struct Seen {
    pub(crate) row: Row,
    pub(crate) fields: Vec<Field>,
}

/// A part of the log.
pub(crate) struct Part {
    pub(crate) entries: Vec<Seen>,
    /// Behind which entry the next part goes on; none at the end.
    pub(crate) next: Option<Uuid>,
}

/// A walk through the log, from the newest entries on.
struct Walk<'a> {
    filter: &'a Filter,
    /// Entries that one step looks at.
    at_once: u64,
    place: Option<Uuid>,
    looked_at: u64,
    is_at_end: bool,
}

impl<'a> Walk<'a> {
    fn new(filter: &'a Filter) -> Self {
        let at_once = if filter.is_searched() { SEARCHED_AT_ONCE } else { AT_ONCE };
        Self { filter, at_once, place: filter.before, looked_at: 0, is_at_end: false }
    }

    fn is_over(&self) -> bool {
        self.is_at_end || self.looked_at >= LOOKED_AT
    }
}

/// How many entries are of what.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) entries: u64,
    pub(crate) sets: BTreeMap<String, u64>,
    pub(crate) events: BTreeMap<String, u64>,
    pub(crate) operations: BTreeMap<i16, u64>,
    /// By the person, with one of the entries' authors; none for the system.
    pub(crate) people: BTreeMap<Option<Uuid>, (Author, u64)>,
    /// Whether these are all that there are.
    pub(crate) is_complete: bool,
}

impl Counts {
    fn add(&mut self, row: Row) {
        self.entries += 1;
        let named =
            if row.operation == Operation::Event { &mut self.events } else { &mut self.sets };
        *named.entry(row.set).or_default() += 1;
        *self.operations.entry(row.operation.code()).or_default() += 1;
        let by = self.people.entry(row.author.user).or_insert((row.author, 0));
        by.1 += 1;
    }
}

/// The set and the key of the record that an entry is about; none of an event that is about none.
fn record(row: &Row) -> Option<(&str, &str)> {
    match row.operation {
        Operation::Event => record_of_events(&row.key),
        _ => Some((&row.set, &row.key)),
    }
}

/// Reads the log as somebody.
pub(crate) struct Reader<'a> {
    ctx: &'a Context,
    /// The sets that the reader may read, by name; none for those that may not be.
    sets: HashMap<String, Option<Kept>>,
}

impl<'a> Reader<'a> {
    /// Reads as the context's principal.
    pub(crate) fn new(ctx: &'a Context) -> Self {
        Self { ctx, sets: HashMap::new() }
    }

    /// The newest entries that a filter names, `take` at most.
    pub(crate) async fn page(&mut self, filter: &Filter, take: usize) -> Result<Part> {
        let mut entries: Vec<Seen> = Vec::new();
        let mut walk = Walk::new(filter);
        loop {
            entries.extend(self.window(&mut walk).await?);
            if entries.len() > take {
                entries.truncate(take);
                // Not behind the last one that was looked at: how many are hidden is nobody's.
                let next = entries.last().map(|seen| seen.row.id);
                return Ok(Part { entries, next });
            }
            if walk.is_over() {
                return Ok(Part { entries, next: walk.place.filter(|_| !walk.is_at_end) });
            }
        }
    }

    /// How many of the newest entries that a filter names are of what.
    pub(crate) async fn counts(&mut self, filter: &Filter) -> Result<Counts> {
        let mut counts = Counts::default();
        let mut walk = Walk::new(filter);
        while !walk.is_over() {
            for seen in self.window(&mut walk).await? {
                counts.add(seen.row);
            }
        }
        counts.is_complete = walk.is_at_end;
        Ok(counts)
    }

    /// What the reader sees of the next entries that a walk looks at.
    async fn window(&mut self, walk: &mut Walk<'_>) -> Result<Vec<Seen>> {
        let wanted = Filter { before: walk.place, ..walk.filter.clone() };
        let end = store::window_end(self.ctx, &wanted, walk.at_once).await?;
        // What lies in the window is what matches, and is there within its ends.
        let wanted = Filter { since: end.or(wanted.since), ..wanted };
        let rows = store::audit(self.ctx, &wanted, walk.at_once).await?;
        walk.is_at_end = end.is_none();
        walk.place = end.or(walk.place);
        walk.looked_at += walk.at_once;
        self.seen(rows).await
    }

    /// Those of entries that the reader sees, in their order.
    pub(crate) async fn seen(&mut self, rows: Vec<Row>) -> Result<Vec<Seen>> {
        let mut keys: BTreeMap<String, HashSet<String>> = BTreeMap::new();
        for (set, key) in rows.iter().filter_map(record) {
            keys.entry(set.to_owned()).or_default().insert(key.to_owned());
        }
        let ctx = self.ctx;
        let mut visible: HashSet<(String, String)> = HashSet::new();
        for (set, keys) in keys {
            let Some(kept) = self.kept(&set)? else { continue };
            let known = |text: &String| key_value(&kept.model, text).map(|key| (text.clone(), key));
            let keys: Vec<_> = keys.iter().filter_map(known).collect();
            let seen = kept.sees_of(ctx, &keys).await?;
            visible.extend(seen.into_iter().map(|key| (set.clone(), key)));
        }
        let mut all = Vec::new();
        for row in rows {
            let is_about = record(&row).map(|(set, key)| (set.to_owned(), key.to_owned()));
            if is_about.is_some_and(|record| !visible.contains(&record)) {
                continue;
            }
            if row.operation == Operation::Event {
                all.push(Seen { row, fields: Vec::new() });
                continue;
            }
            let Some(kept) = self.kept(&row.set)? else { continue };
            if let Some(fields) = kept.fields(ctx, &row)? {
                all.push(Seen { row, fields });
            }
        }
        Ok(all)
    }

    /// A set that the reader may read; none for one that may not be, or is no more.
    pub(crate) fn kept(&mut self, set: &str) -> Result<Option<&Kept>> {
        if !self.sets.contains_key(set) {
            use svc_core::ErrorKind::{Forbidden, NotFound};
            let found = match Kept::find(self.ctx, set) {
                Ok(kept) => Some(kept),
                Err(error) if matches!(error.kind(), Forbidden | NotFound) => None,
                Err(error) => return Err(error),
            };
            self.sets.insert(set.to_owned(), found);
        }
        Ok(self.sets.get(set).and_then(Option::as_ref))
    }
}
