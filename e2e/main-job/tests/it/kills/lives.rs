//! Records that are made, changed, deleted and brought back until the program is gone, and whether the
//! history tells of each of these, once, and of nothing else.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use e2e_main_job::{Answer, Client, Shop};
use serde_json::{Value, json};

use super::chance::Chance;
use super::comparison::Tally;
use super::writers::insist_on_open;
use super::{entries, rows};

/// One step of four makes a new record.
const NEW: u64 = 4;

/// Of the steps with a record that is there, one of three deletes it.
const DELETED: u64 = 3;

/// The records of a set, over all rounds. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Lives {
    set: &'static str,
    /// Whether what was deleted can be restored, instead of being made again.
    softly: bool,
    /// All records that nobody is at work with.
    known: Arc<Mutex<Vec<Life>>>,
}

/// What became of a record.
#[derive(Clone, Debug)]
struct Life {
    /// What no other record is called.
    name: String,
    /// None where the program never said that it is made: then it is found by its name, if it is.
    id: Option<String>,
    /// What was acknowledged, in the history's words.
    acknowledged: Vec<&'static str>,
    /// What no answer came to. Nobody goes on with the record then.
    open: Option<&'static str>,
    /// What was written into it last, by a step that was acknowledged.
    text: String,
}

impl Life {
    fn new(chance: &mut Chance) -> Self {
        let name = format!("Life {:016x}{:016x}", chance.next(), chance.next());
        Self { name, id: None, acknowledged: Vec::new(), open: None, text: String::new() }
    }

    fn is_there(&self) -> bool {
        self.acknowledged.last().is_some_and(|last| *last != "deleted")
    }

    /// Notes what came of a step, and gives the answer of one that was acknowledged.
    fn note(&mut self, step: &'static str, outcome: Result<Answer, ureq::Error>) -> Option<Value> {
        match outcome {
            Ok(Answer { status: 200..=299, json, .. }) => {
                self.acknowledged.push(step);
                Some(json)
            }
            outcome => {
                insist_on_open(outcome);
                self.open = Some(step);
                None
            }
        }
    }
}

/// A thread that is at work.
pub(crate) struct Work {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Work {
    /// Waits for it to notice that the program is gone.
    pub(crate) fn join(self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().expect("it ends");
    }
}

impl Lives {
    pub(crate) fn of(set: &'static str, softly: bool) -> Self {
        Self { set, softly, known: Arc::default() }
    }

    /// Goes on with the records until the program is gone.
    pub(crate) fn begin(&self, client: &Client, chance: &mut Chance) -> Work {
        let stop = Arc::new(AtomicBool::new(false));
        let (lives, is_over, client) = (self.clone(), Arc::clone(&stop), client.clone());
        let mut chance = chance.branch();
        let work = move || {
            while !is_over.load(Ordering::Relaxed) && lives.go_on(&client, &mut chance) {}
        };
        Work { stop, thread: std::thread::spawn(work) }
    }

    /// Does one thing to one record; tells whether it was answered.
    fn go_on(&self, client: &Client, chance: &mut Chance) -> bool {
        let mut life = self.take(chance).unwrap_or_else(|| Life::new(chance));
        let is_answered = self.step(client, chance, &mut life);
        self.known.lock().expect("a list").push(life);
        is_answered
    }

    fn step(&self, client: &Client, chance: &mut Chance, life: &mut Life) -> bool {
        let text = chance.next().to_string();
        let Some(id) = life.id.clone() else {
            let body = json!({"name": life.name, "description": text});
            let outcome = client.send("POST", &format!("/odata/v1/{}", self.set), Some(&body));
            let Some(made) = life.note("created", outcome) else { return false };
            life.id = Some(made["id"].as_str().expect("an id").to_owned());
            life.text = text;
            return true;
        };
        let path = format!("/odata/v1/{}({id})", self.set);
        let (step, outcome) = if !life.is_there() {
            let Some(body) = self.way_back(client, &id) else { return false };
            let path = format!("/api/v1/history/{}/{id}/restore", self.set);
            let step = if self.softly { "restored" } else { "created" };
            (step, client.send("POST", &path, Some(&body)))
        } else if chance.below(DELETED) == 0 {
            ("deleted", client.send("DELETE", &path, None))
        } else {
            ("updated", client.send("PATCH", &path, Some(&json!({"description": text}))))
        };
        let is_answered = life.note(step, outcome).is_some();
        if is_answered && step == "updated" {
            life.text = text;
        }
        is_answered
    }

    /// A record that nobody is at work with, to go on with; none where a new one is due.
    fn take(&self, chance: &mut Chance) -> Option<Life> {
        let mut known = self.known.lock().expect("a list");
        let settled: Vec<usize> =
            (0..known.len()).filter(|index| known[*index].open.is_none()).collect();
        if settled.is_empty() || chance.below(NEW) == 0 {
            return None;
        }
        let which = chance.below(settled.len().try_into().expect("few enough"));
        Some(known.swap_remove(settled[usize::try_from(which).expect("few enough")]))
    }

    /// What takes a deletion back; none where the program is gone.
    fn way_back(&self, client: &Client, id: &str) -> Option<Value> {
        let path = format!("/api/v1/history/{}/{id}", self.set);
        let read = |path: &str| match client.send("GET", path, None) {
            Ok(Answer { status: 200, json, .. }) => Some(json),
            outcome => {
                insist_on_open(outcome);
                None
            }
        };
        let entry = read(&format!("{path}?take=1"))?["items"][0]["id"].clone();
        let seen =
            read(&format!("{path}/{}/preview?mode=Undo", entry.as_str().expect("an entry")))?;
        Some(json!({"entry": entry, "mode": "Undo", "version": seen["version"]}))
    }

    /// Compares what was done with what is stored and what the history tells.
    pub(crate) fn judge(&self, shop: &Shop, tally: &mut Tally) {
        let mut stored = rows(shop, self.set, "id");
        let deleted = self.softly.then(|| rows(shop, &format!("Deleted{}", self.set), "id"));
        let marked = deleted.unwrap_or_default();
        let mut told: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for entry in entries(shop, self.set) {
            tally.entries += 1;
            let record = entry["record"].as_str().unwrap_or_default().to_owned();
            told.entry(record).or_default().push(entry);
        }
        for life in self.known.lock().expect("a list").iter() {
            // Nobody goes on with what was never said to be made, so it is there or it isn't.
            let named = || stored.iter().find(|(_, row)| row["name"] == life.name.as_str());
            let id = life.id.clone().or_else(|| named().map(|(id, _)| id.clone()));
            let id = id.unwrap_or_default();
            let (row, is_marked) = (stored.remove(&id), marked.contains_key(&id));
            let entries = told.remove(&id).unwrap_or_default();
            life.judge(self, row.as_ref(), is_marked, entries, tally);
        }
        // What the campaign itself had made.
        for (id, _) in stored {
            let entries = told.remove(&id).unwrap_or_default();
            if operations(&entries) != ["created"] {
                tally.wrong.push(format!("{} {id}: {entries:?}", self.set));
            }
        }
        for (id, entries) in told {
            tally.phantom.push(format!("{} {id}: {entries:?}", self.set));
        }
    }
}

impl Life {
    fn judge(
        &self,
        lives: &Lives,
        row: Option<&Value>,
        is_marked: bool,
        mut entries: Vec<Value>,
        tally: &mut Tally,
    ) {
        // A deletion for good has the version of the record that it was of.
        entries.sort_by_key(|entry| (entry["version"].as_u64(), entry["operation"] == "deleted"));
        let told = operations(&entries);
        let open: Vec<&str> = self.acknowledged.iter().copied().chain(self.open).collect();
        let which = format!("{} {}", lives.set, self.name);
        tally.lives += 1;
        tally.steps += told.len();
        if told.len() < self.acknowledged.len() {
            tally.lost.push(format!("{which}: {self:?} is told as {told:?}"));
        } else if told != self.acknowledged && told != open {
            tally.phantom.push(format!("{which}: {self:?} is told as {told:?}"));
        }
        let is_told = told.last().is_some_and(|last| *last != "deleted");
        if row.is_some() != is_told {
            tally.wrong.push(format!("{which}: {told:?}, and the row is {row:?}"));
        }
        if is_marked != (lives.softly && told.last() == Some(&"deleted")) {
            tally.wrong.push(format!("{which}: {told:?}, and marked as deleted: {is_marked}"));
        }
        let version = row.map(|row| row["@odata.etag"].as_str().unwrap_or_default());
        let newest = entries.last().map(|entry| format!("W/\"{}\"", entry["version"]));
        if version.is_some() && version != newest.as_deref() {
            tally.wrong.push(format!("{which}: the row is {version:?}, and {newest:?} is told"));
        }
        let is_settled = told.len() == self.acknowledged.len();
        if is_settled && row.is_some_and(|row| row["description"] != self.text.as_str()) {
            tally.wrong.push(format!("{which}: {row:?} is not {}", self.text));
        }
    }
}

fn operations(entries: &[Value]) -> Vec<&str> {
    entries.iter().map(|entry| entry["operation"].as_str().unwrap_or_default()).collect()
}
