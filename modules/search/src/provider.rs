//! A set as a provider: candidates of the index, read through the set's rules as the caller.
//!
//! The index says in which order records are looked at; what of them is there for the caller, and what it is called, the
//! reading front says. What is hidden is passed over, so that it takes nobody's place.
//!
//! The classes are asked in turn, and a class a window of blocks at a time, the most recent first: what is frequent is found in
//! the first window, and what is rare has little in all of them.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use serde_json::{Map, Value as Json};
use svc_core::{Error, Result};
use svc_data::value::ValueKind;
use svc_data::{Context, Exposure};
use svc_odata::syntax::QueryOptions;
use svc_sets::search::{HitSink, MatchClass, SearchHit, SearchProvider, SearchQuery, Searched};
use svc_sets::{JsonRows, Sets, Source};

use crate::blocks::block_of;
use crate::highlight::{excerpt, matches};
use crate::matching::Plan;
use crate::sets::{SearchedSet, text_of};
use crate::store::builds;
use crate::store::lookup::Place;

/// The classes, in the order in which they are asked.
const CLASSES: [MatchClass; 5] = [
    MatchClass::Equal,
    MatchClass::Words,
    MatchClass::Beginnings,
    MatchClass::Parts,
    MatchClass::Similar,
];

/// Candidates that are read at a time, after the first.
const PAGE: usize = 200;

/// The blocks of the first window, how many times as many the next one has, and the most: half a million records.
const FIRST_WINDOW: i64 = 4;
const GROWTH: i64 = 8;
const LARGEST_WINDOW: i64 = 128;

/// Finds records of a set.
pub(crate) struct SetProvider {
    set: SearchedSet,
    permission: String,
    /// Whether the index is known to have all records: once it has, it keeps them.
    is_built: AtomicBool,
}

impl SetProvider {
    pub(crate) fn new(set: SearchedSet) -> Self {
        let described = set.model.set.as_ref();
        let permission = described.map(|set| set.permissions.view.clone()).unwrap_or_default();
        Self { set, permission, is_built: AtomicBool::new(false) }
    }

    async fn is_built(&self, ctx: &Context) -> Result<bool> {
        if self.is_built.load(Ordering::Relaxed) {
            return Ok(true);
        }
        let is_built = builds::is_built(ctx, self.set.name(), &self.set.declaration()).await?;
        self.is_built.store(is_built, Ordering::Relaxed);
        Ok(is_built)
    }
}

#[async_trait]
impl SearchProvider for SetProvider {
    fn id(&self) -> &str {
        self.set.name()
    }

    fn permission(&self) -> Option<&str> {
        Some(&self.permission)
    }

    fn set(&self) -> Option<&str> {
        Some(self.set.name())
    }

    async fn search(
        &self,
        ctx: &Context,
        query: &SearchQuery,
        take: usize,
        hits: &HitSink,
    ) -> Result<Searched> {
        let complete = self.is_built(ctx).await?;
        let properties = self.set.usable(ctx.principal());
        if properties.is_empty() {
            return Ok(Searched { more: false, complete });
        }
        let organisation = self.set.organisation_of(ctx.principal())?;
        let scopes = properties.iter().map(|property| self.set.scope(organisation, property));
        let scopes: Vec<i64> = scopes.collect();
        let place = Place { ctx, space: self.set.space(organisation), scopes: &scopes };
        let reader = Reader::new(ctx, &self.set, query, &properties)?;
        let mut search = Search {
            place,
            reader,
            hits,
            take,
            sent: 0,
            page: (2 * take + 2).min(PAGE),
            waiting: Vec::new(),
        };
        let more = search.run(&query.words).await?;
        Ok(Searched { more, complete })
    }
}

/// A search in progress.
struct Search<'a> {
    place: Place<'a>,
    reader: Reader<'a>,
    hits: &'a HitSink,
    /// The hits that are wanted, and those that were handed on.
    take: usize,
    sent: usize,
    /// How many candidates are read at a time.
    page: usize,
    /// Candidates that are not read yet, in their order.
    waiting: Vec<(i64, MatchClass)>,
}

impl Search<'_> {
    /// Hands on what is found. Answers with whether there is more than was wanted.
    async fn run(&mut self, words: &[String]) -> Result<bool> {
        let (mut fittings, last) = self.place.beginnings(words).await?;
        let mut asked: Vec<Plan> = Vec::new();
        for class in CLASSES {
            if matches!(class, MatchClass::Parts | MatchClass::Similar) {
                // What was found so far needs not wait for what costs more.
                if self.read().await? {
                    return Ok(true);
                }
                self.place.widen(words, class, &mut fittings).await?;
            }
            let Some(plan) = fittings.plan(class).filter(|plan| !asked.contains(plan)) else {
                continue;
            };
            if self.walk(&plan, class, block_of(last)).await? {
                return Ok(true);
            }
            asked.push(plan);
        }
        self.read().await
    }

    /// Looks through the blocks from the last one back.
    async fn walk(&mut self, plan: &Plan, class: MatchClass, last: i64) -> Result<bool> {
        let ids = plan.ids();
        let (mut last, mut window) = (last, FIRST_WINDOW);
        while last >= 0 {
            let first = (last + 1 - window).max(0);
            let postings = self.place.postings(&ids, first, last).await?;
            for number in plan.numbers(&postings)? {
                if !self.reader.known.insert(number) {
                    continue;
                }
                self.waiting.push((number, class));
                if self.waiting.len() >= self.page && self.read().await? {
                    return Ok(true);
                }
            }
            last = first - 1;
            window = (window * GROWTH).min(LARGEST_WINDOW);
        }
        Ok(false)
    }

    /// Reads the candidates that wait, and hands on what is there for the caller.
    async fn read(&mut self) -> Result<bool> {
        if self.waiting.is_empty() {
            return Ok(false);
        }
        let waiting = std::mem::take(&mut self.waiting);
        self.page = PAGE;
        let numbers: Vec<i64> = waiting.iter().map(|(number, _)| *number).collect();
        let mut keys = self.place.keys(&numbers).await?;
        let candidates = waiting.into_iter();
        let candidates: Vec<(String, MatchClass)> =
            candidates.filter_map(|(number, class)| Some((keys.remove(&number)?, class))).collect();
        for hit in self.reader.read(&candidates).await? {
            if self.sent == self.take {
                return Ok(true);
            }
            self.hits.hit(hit).await?;
            self.sent += 1;
        }
        Ok(false)
    }
}

/// Reads candidates as the caller, each record once.
struct Reader<'a> {
    ctx: &'a Context,
    sets: std::sync::Arc<Sets>,
    set: &'a SearchedSet,
    query: &'a SearchQuery,
    /// The property that holds what a record is called; none where the caller sees none.
    title: Option<String>,
    /// The properties in which words may be shown to match.
    shown: Vec<&'a str>,
    options: QueryOptions,
    /// The numbers of the records that were found already.
    known: HashSet<i64>,
}

impl<'a> Reader<'a> {
    fn new(
        ctx: &'a Context,
        set: &'a SearchedSet,
        query: &'a SearchQuery,
        usable: &[&'a str],
    ) -> Result<Self> {
        let model = &set.model;
        let is_title = |index: &&usize| {
            let is_text = matches!(model.columns[**index].kind, ValueKind::Text { .. });
            is_text && model.is_visible(**index, ctx.principal())
        };
        let title = set.columns.iter().find(is_title);
        let title = title.map(|index| model.columns[*index].property.clone());
        let key = model.key();
        if key.exposure == Exposure::Internal {
            return Err(Error::internal("a set shows its key"));
        }
        let names = [key.property.as_str()].into_iter().chain(title.as_deref());
        let names: BTreeSet<&str> = names.chain(usable.iter().copied()).collect();
        let names: Vec<&str> = names.into_iter().collect();
        let options = QueryOptions::parse(&format!("$select={}", names.join(",")));
        let options =
            options.map_err(|error| Error::internal("names of properties").caused_by(error))?;
        let sets = ctx.app().service::<Sets>()?;
        let shown = usable.iter().copied().filter(|name| Some(*name) != title.as_deref()).collect();
        Ok(Self { ctx, sets, set, query, title, shown, options, known: HashSet::new() })
    }

    /// What of the candidates is there for the caller, in their order.
    async fn read(&self, candidates: &[(String, MatchClass)]) -> Result<Vec<SearchHit>> {
        let keys: Vec<_> = candidates.iter().filter_map(|(key, _)| self.set.key(key)).collect();
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let source = Source::of(self.sets.find(self.set.name())?).among(keys);
        let reading = self.sets.reading_of(self.ctx, source, &self.options)?;
        let mut json = String::from("[");
        reading.read(&mut JsonRows::new(&mut json, usize::MAX)).await?;
        json.push(']');
        let rows: Vec<Map<String, Json>> = serde_json::from_str(&json)
            .map_err(|error| Error::internal("rows that aren't JSON").caused_by(error))?;
        let key = &self.set.model.key().property;
        let keyed = |row: Map<String, Json>| Some((row.get(key).and_then(text_of)?, row));
        let mut rows: HashMap<String, Map<String, Json>> =
            rows.into_iter().filter_map(keyed).collect();
        let found = candidates.iter();
        let found = found.filter_map(|(key, class)| Some((key, rows.remove(key)?, *class)));
        found.map(|(key, row, class)| self.hit(key, &row, class)).collect()
    }

    fn hit(&self, key: &str, row: &Map<String, Json>, class: MatchClass) -> Result<SearchHit> {
        let text = |name: &str| row.get(name).and_then(text_of);
        let words = &self.query.words;
        let title = self.title.as_deref().and_then(text).filter(|title| !title.trim().is_empty());
        let title = title.unwrap_or_else(|| key.to_owned());
        let excerpt = self.shown.iter().find_map(|name| excerpt(name, &text(name)?, words));
        let set = self.sets.find(self.set.name())?;
        let missing = || Error::internal("a key that was read can't be written");
        let address = self.sets.address(set, &self.set.key(key).ok_or_else(missing)?);
        Ok(SearchHit {
            set: Some(self.set.name().to_owned()),
            key: Some(key.to_owned()),
            address,
            title_matches: matches(&title, words),
            title,
            excerpt,
            class,
        })
    }
}
