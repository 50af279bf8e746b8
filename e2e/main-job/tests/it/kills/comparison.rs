//! What was stored, what the writers know, what the receiver got, and what the history tells: whether all
//! of it agrees.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::Value;
use svc_testing::Received;

use super::writers::{Deed, Done, Fate};
use crate::changes::{SECRET, properties};

/// What numbers of products begin with that a rolled-back unit of work would have stored.
const IMPOSSIBLE: &str = "X-";

/// All that is known at the end of a campaign.
pub(crate) struct Evidence {
    pub(crate) done: Vec<Done>,
    pub(crate) received: Vec<Received>,
    pub(crate) rows: BTreeMap<String, Value>,
    /// What the history tells, the newest first.
    pub(crate) entries: Vec<Value>,
}

/// What a comparison found, in numbers and in words.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) rounds: u32,
    pub(crate) killed_before_ready: u32,
    acknowledged: usize,
    rolled_back: usize,
    unknown: usize,
    unknown_but_stored: usize,
    received: usize,
    events: usize,
    pub(super) entries: usize,
    /// Records that came and went, and what was stored of that.
    pub(super) lives: usize,
    pub(super) steps: usize,
    pub(super) lost: Vec<String>,
    pub(super) phantom: Vec<String>,
    pub(super) wrong: Vec<String>,
}

/// The events that came, by type and number of the product, each with its identifiers.
type Events = BTreeMap<(String, String), BTreeMap<String, Value>>;

impl Evidence {
    pub(crate) fn compare(&self) -> Tally {
        let mut tally = Tally { received: self.received.len(), ..Tally::default() };
        let events = self.events(&mut tally);
        tally.events = events.values().map(BTreeMap::len).sum();
        self.judge_writers(&mut tally, &events);
        self.judge_rows(&mut tally, &events);
        self.judge_events(&mut tally, &events);
        tally.entries = self.entries.len();
        self.judge_entries(&mut tally);
        tally
    }

    /// Groups what came by event; what came several times must be the same bytes.
    fn events(&self, tally: &mut Tally) -> Events {
        let mut bodies = BTreeMap::new();
        let mut events = Events::new();
        for received in &self.received {
            let id = received.header("webhook-id").to_owned();
            if !received.is_signed_with(SECRET) {
                tally.wrong.push(format!("the signature of {id}"));
            }
            let body = bodies.entry(id.clone()).or_insert_with(|| received.body.clone());
            if *body != received.body {
                tally.wrong.push(format!("two bodies for {id}"));
            }
            let envelope = received.json();
            if envelope["id"] != id.as_str() {
                tally.wrong.push(format!("the identifier of {id}"));
            }
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let data = envelope["data"].clone();
            let key = (text(&envelope["type"]), text(&data["sku"]));
            events.entry(key).or_default().insert(id, data);
        }
        events
    }

    /// What writers were told must be so.
    fn judge_writers(&self, tally: &mut Tally, events: &Events) {
        for Done { deed, fate } in &self.done {
            let stored = self.is_stored(deed);
            match fate {
                Fate::Acknowledged(answers) => {
                    tally.acknowledged += 1;
                    if !stored {
                        tally.lost.push(format!("{deed:?}: acknowledged, and not stored"));
                    }
                    Self::judge_answers(tally, events, deed, answers);
                }
                Fate::Refused => {
                    tally.rolled_back += 1;
                    if stored {
                        tally.phantom.push(format!("{deed:?}: refused, and stored"));
                    }
                }
                Fate::Unknown => {
                    tally.unknown += 1;
                    tally.unknown_but_stored += usize::from(stored);
                }
            }
            if let Deed::Pair { skus } = deed {
                let [one, other] = skus.each_ref().map(|sku| self.rows.contains_key(sku));
                if one != other {
                    tally.wrong.push(format!("half of {deed:?} is stored"));
                }
            }
        }
    }

    fn is_stored(&self, deed: &Deed) -> bool {
        match deed {
            Deed::Create { sku } | Deed::Impossible { sku } => self.rows.contains_key(sku),
            Deed::Pair { skus } => skus.iter().all(|sku| self.rows.contains_key(sku)),
            Deed::Rename { sku, name } => {
                self.rows.get(sku).is_some_and(|row| row["name"] == name.as_str())
            }
            Deed::ImpossibleOrder => self.rows["PLENTY"]["stock"] != 1_000,
        }
    }

    /// The events must tell what the program had answered.
    fn judge_answers(tally: &mut Tally, events: &Events, deed: &Deed, answers: &Value) {
        let answers = match answers {
            Value::Array(answers) => answers.iter().collect(),
            Value::Null => Vec::new(),
            answer => vec![answer],
        };
        let kind = match deed {
            Deed::Rename { .. } => "products.updated",
            _ => "products.created",
        };
        for answer in answers {
            let sku = answer["sku"].as_str().unwrap_or_default().to_owned();
            let told = events.get(&(kind.to_owned(), sku.clone()));
            match told.and_then(|told| told.values().next()) {
                None => tally.lost.push(format!("{kind} of {sku}: acknowledged, and not sent")),
                Some(data) if *data != properties(answer) => {
                    tally.wrong.push(format!("{kind} of {sku}: {data} is not {answer}"));
                }
                Some(_) => {}
            }
        }
    }

    /// Every row was told of, whether or not its writer heard of it.
    fn judge_rows(&self, tally: &mut Tally, events: &Events) {
        let has = |kind: &str, sku: &String| events.contains_key(&(kind.to_owned(), sku.clone()));
        for (sku, row) in &self.rows {
            let is_renamed = row["name"].as_str().is_some_and(|name| name.contains("renamed"));
            if !has("products.created", sku) {
                tally.lost.push(format!("products.created of {sku}"));
            }
            if is_renamed && !has("products.updated", sku) {
                tally.lost.push(format!("products.updated of {sku}"));
            }
        }
    }

    /// Every version of every row has its entry, once, and every entry is of such a version; the newest
    /// that tells of a name tells the row's.
    fn judge_entries(&self, tally: &mut Tally) {
        let mut told: BTreeMap<&str, BTreeMap<u64, Vec<&Value>>> = BTreeMap::new();
        for entry in &self.entries {
            let record = entry["record"].as_str().unwrap_or_default();
            let version = entry["version"].as_u64().unwrap_or(0);
            told.entry(record).or_default().entry(version).or_default().push(entry);
        }
        for (sku, row) in &self.rows {
            let tag = row["@odata.etag"].as_str().unwrap_or_default();
            let version: u64 = tag.trim_matches(['W', '/', '"']).parse().unwrap_or(0);
            let entries = told.remove(row["id"].as_str().unwrap_or_default()).unwrap_or_default();
            for wanted in 1..=version.max(1) {
                let operation = if wanted == 1 { "created" } else { "updated" };
                match entries.get(&wanted).map(Vec::as_slice) {
                    None => tally.lost.push(format!("the entry of version {wanted} of {sku}")),
                    Some([entry]) if entry["operation"] == operation => {}
                    Some(other) => tally.wrong.push(format!("entries of {sku}: {other:?}")),
                }
            }
            if entries.keys().any(|told| *told > version) {
                tally.phantom.push(format!("entries of {sku} behind version {version}"));
            }
            let fields = entries
                .values()
                .rev()
                .flatten()
                .flat_map(|entry| entry["fields"].as_array().into_iter().flatten());
            let mut names = fields.filter(|field| field["name"] == "name");
            if names.next().map(|field| &field["after"]) != Some(&row["name"]) {
                tally.wrong.push(format!("the history of {sku} tells another name"));
            }
        }
        for (record, entries) in told {
            tally
                .phantom
                .push(format!("{} entries of {record}, which is not stored", entries.len()));
        }
    }

    /// Every event is of something that is stored, once.
    fn judge_events(&self, tally: &mut Tally, events: &Events) {
        let tried: BTreeSet<&str> = self.done.iter().flat_map(|done| done.deed.skus()).collect();
        for ((kind, sku), ids) in events {
            let row = self.rows.get(sku);
            let is_true = |data: &Value| match (kind.as_str(), row) {
                ("products.created", Some(_)) => {
                    !data["name"].as_str().unwrap_or("renamed").contains("renamed")
                }
                ("products.updated", Some(row)) => *data == properties(row),
                _ => false,
            };
            let is_known =
                tried.contains(sku.as_str()) || ["PLENTY", "NONE"].contains(&sku.as_str());
            if ids.len() != 1
                || !ids.values().all(is_true)
                || !is_known
                || sku.starts_with(IMPOSSIBLE)
            {
                tally.phantom.push(format!("{kind} of {sku}: {ids:?}"));
            }
        }
    }
}

impl Deed {
    fn skus(&self) -> Vec<&str> {
        match self {
            Self::Create { sku } | Self::Rename { sku, .. } | Self::Impossible { sku } => vec![sku],
            Self::Pair { skus } => skus.iter().map(String::as_str).collect(),
            Self::ImpossibleOrder => Vec::new(),
        }
    }
}

impl Tally {
    pub(crate) fn add(&mut self, other: Self) {
        self.rounds += other.rounds;
        self.killed_before_ready += other.killed_before_ready;
        self.acknowledged += other.acknowledged;
        self.rolled_back += other.rolled_back;
        self.unknown += other.unknown;
        self.unknown_but_stored += other.unknown_but_stored;
        self.received += other.received;
        self.events += other.events;
        self.entries += other.entries;
        self.lives += other.lives;
        self.steps += other.steps;
        self.lost.extend(other.lost);
        self.phantom.extend(other.phantom);
        self.wrong.extend(other.wrong);
    }

    pub(crate) fn insist(&self) {
        assert!(self.lost.is_empty(), "lost: {:#?}", self.lost);
        assert!(self.phantom.is_empty(), "never committed: {:#?}", self.phantom);
        assert!(self.wrong.is_empty(), "wrong: {:#?}", self.wrong);
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} rounds ({} killed before they were ready); {} changes acknowledged, {} rolled \
             back, {} without an answer ({} of them stored); {} requests received, {} events, {} \
             duplicates, {} entries, {} steps of {} records that came and went; lost {}, never committed {}, wrong {}",
            self.rounds,
            self.killed_before_ready,
            self.acknowledged,
            self.rolled_back,
            self.unknown,
            self.unknown_but_stored,
            self.received,
            self.events,
            self.received - self.events,
            self.entries,
            self.steps,
            self.lives,
            self.lost.len(),
            self.phantom.len(),
            self.wrong.len(),
        )
    }
}
