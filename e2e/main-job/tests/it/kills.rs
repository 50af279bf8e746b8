//! The process is killed (`kill -9`) at random moments, again and again: nothing that was committed
//! is lost, and nothing is sent that was not committed; no change is without its entry in the history,
//! and no entry without its change.
//!
//! A campaign has a database of its own, which is empty at first. Each round starts the program and
//! kills it: one in four while it starts (the first of all: during migrations and set-up), the
//! others while writers change products, so during commits, the fan-out, sending and settling. The
//! moments are chosen evenly from the time that either takes. Writers know what was acknowledged, what was refused, and what they never heard
//! of. After the last round the program runs until nothing waits, and all is compared: rows,
//! what the writers know, and what the receiver got.
//!
//! On PostgreSQL there are campaigns of two processes on one database, too: both take changes and send
//! deliveries, one is killed, the other goes on with what both had begun, and is killed as well.
//!
//! Beside products, of which webhooks tell, records of other sets come and go: deleted for good in the
//! shop, and softly in a program that adds a set to it.
//!
//! `SVC_E2E_KILL_ROUNDS` says how many rounds there are, over both databases and both durabilities.

mod chance;
mod comparison;
mod lives;
mod writers;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use e2e_main_job::{Client, Shop, beside_the_tests};
use serde_json::{Value, json};
use svc_testing::{Backend, Received, Receiver, on_both_databases};

use crate::changes::{SECRET, database, new_product};
use chance::Chance;
use comparison::{Evidence, Tally};
use lives::{Lives, Work};
use writers::{Done, Stock, Writers};

/// Rounds in all where the variable says nothing else.
const ROUNDS: u32 = 20;

/// Databases times durabilities.
const COMBINATIONS: u32 = 4;

/// Rounds of one campaign at most, so that a long run has many first starts in it.
const ROUNDS_OF_CAMPAIGN: u32 = 10;

/// One round in so many is cut short while the program starts.
const STARTS_CUT: u64 = 4;

/// How long writers are at work in a round at most.
const WORK: Duration = Duration::from_millis(1_500);

/// How long a start is taken to last before the first one was measured.
const FIRST_GUESS: Duration = Duration::from_millis(1_500);

/// How long it may take until nothing waits after the last round.
const PATIENCE: Duration = Duration::from_mins(2);

fn rounds() -> u32 {
    let given = std::env::var("SVC_E2E_KILL_ROUNDS").ok();
    let all = given.map_or(ROUNDS, |text| text.parse().expect("a number of rounds"));
    all.div_ceil(COMBINATIONS)
}

/// A program that is killed, and all that is known of it.
struct Campaign {
    shop: Shop,
    /// Another process on the same database.
    other: Option<Shop>,
    receiver: Arc<Receiver>,
    rounds: u32,
    chance: Chance,
    stock: Option<Stock>,
    done: Vec<Done>,
    lives: Vec<Lives>,
    received: Vec<Received>,
    killed_before_ready: u32,
    start: Duration,
}

impl Campaign {
    async fn new(backend: Backend, durability: &str, rounds: u32, chance: Chance) -> Self {
        let receiver = Arc::new(Receiver::start().await);
        let shop = Shop::prepare(database(backend).await, &[receiver.port()])
            .with("Database:Durability", durability)
            // A claim of a process that was killed ends ten seconds after this.
            .with("Webhooks:Timeout", "00:00:02");
        Self {
            shop,
            other: None,
            receiver,
            rounds,
            chance,
            stock: None,
            done: Vec::new(),
            lives: vec![Lives::of("Categories", false)],
            received: Vec::new(),
            killed_before_ready: 0,
            start: FIRST_GUESS,
        }
    }

    /// Adds another process, to a database that is set up.
    fn with_two_nodes(mut self) -> Self {
        self.shop.start_again();
        self.stock = Some(self.prepare());
        self.shop.kill();
        self.other = Some(self.shop.another_node());
        self
    }

    /// Takes a program instead that has a set which deletes softly, too.
    fn deleting_softly(mut self) -> Self {
        self.shop = self.shop.of_program(beside_the_tests("keeping"));
        self.lives.push(Lives::of("Notes", true));
        self
    }

    fn run(mut self) -> Tally {
        for _ in 0..self.rounds {
            match self.other.take() {
                Some(mut other) => {
                    self.round_of_two(&mut other);
                    self.other = Some(other);
                }
                None => self.round(),
            }
        }
        self.shop.start_again();
        if self.stock.is_none() {
            self.stock = Some(self.prepare());
        }
        self.wait_until_nothing_waits();
        let (rows, entries) =
            (rows(&self.shop, "Products", "sku"), entries(&self.shop, "Products"));
        let evidence = Evidence { done: self.done, received: self.received, rows, entries };
        let mut tally = evidence.compare();
        for lives in &self.lives {
            lives.judge(&self.shop, &mut tally);
        }
        tally.rounds = self.rounds;
        tally.killed_before_ready = self.killed_before_ready;
        tally
    }

    /// Starts the program and kills it.
    fn round(&mut self) {
        let begun = Instant::now();
        self.shop.begin();
        if self.chance.below(STARTS_CUT) == 0 {
            let moment = self.chance.duration_below(self.start);
            if !self.shop.is_ready_within(moment) {
                self.shop.kill();
                self.killed_before_ready += 1;
                return;
            }
        }
        assert!(self.shop.is_ready_within(PATIENCE), "the shop is not ready in {PATIENCE:?}");
        self.start = self.start.max(begun.elapsed());
        let stock = self.stock.take().unwrap_or_else(|| self.prepare());
        self.stock = Some(stock.clone());
        // A receiver that fails now and then makes retries among the first attempts.
        self.receiver.answer_with([204, 204, 500, 204, 503]);
        let writers = Writers::start(self.shop.client(), &stock, &mut self.chance);
        let client = self.shop.client().clone();
        let lives = self.begin_lives(&client);
        std::thread::sleep(self.chance.duration_below(WORK));
        self.shop.kill();
        self.done.extend(writers.join());
        lives.into_iter().for_each(Work::join);
        self.received.extend(self.receiver.received());
    }

    /// Starts both processes, and kills them one after the other; one in four of the second while it starts.
    fn round_of_two(&mut self, other: &mut Shop) {
        let begun = Instant::now();
        self.shop.begin();
        other.begin();
        if self.chance.below(STARTS_CUT) == 0 {
            let moment = self.chance.duration_below(self.start);
            if !other.is_ready_within(moment) {
                other.kill();
                self.killed_before_ready += 1;
            }
        }
        assert!(self.shop.is_ready_within(PATIENCE), "the shop is not ready in {PATIENCE:?}");
        let are_two = other.is_running();
        assert!(!are_two || other.is_ready_within(PATIENCE), "the other isn't in {PATIENCE:?}");
        self.start = self.start.max(begun.elapsed());
        let stock = self.stock.clone().expect("two nodes begin with it");
        self.receiver.answer_with([204, 204, 500, 204, 503]);
        let mut writers = vec![Writers::start(self.shop.client(), &stock, &mut self.chance)];
        let client = self.shop.client().clone();
        let mut lives = self.begin_lives(&client);
        if are_two {
            writers.push(Writers::start(other.client(), &stock, &mut self.chance));
            lives.extend(self.begin_lives(other.client()));
        }
        std::thread::sleep(self.chance.duration_below(WORK));
        let is_first = self.chance.below(2) == 0;
        let (one, two) = if is_first { (&mut self.shop, other) } else { (other, &mut self.shop) };
        one.kill();
        std::thread::sleep(self.chance.duration_below(WORK));
        two.kill();
        self.done.extend(writers.into_iter().flat_map(Writers::join));
        lives.into_iter().for_each(Work::join);
        self.received.extend(self.receiver.received());
    }

    /// Registers the receiver, and stores what writers need.
    fn prepare(&self) -> Stock {
        let endpoint =
            json!({"url": self.receiver.url(), "events": ["products.*"], "secret": SECRET});
        self.shop.expect(201, "POST", "/api/v1/webhooks", Some(&endpoint));
        let create = |sku: &str, stock: u32| {
            let mut product = new_product(&self.shop, sku);
            product["stock"] = stock.into();
            self.shop.expect(201, "POST", "/odata/v1/Products", Some(&product))
        };
        let customer = json!({
            "number": "C-1", "name": "Hotel Sonne", "city": "Bern", "country": "CH",
        });
        let customer = self.shop.expect(201, "POST", "/odata/v1/Customers", Some(&customer));
        let (plenty, none) = (create("PLENTY", 1_000), create("NONE", 0));
        Stock::new(&customer, &plenty, &none)
    }

    fn wait_until_nothing_waits(&mut self) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            self.received.extend(self.receiver.received());
            if !self.shop.has_waiting() {
                break;
            }
            assert!(Instant::now() < deadline, "something still waits after {PATIENCE:?}");
            std::thread::sleep(Duration::from_millis(200));
        }
        self.received.extend(self.receiver.received());
    }

    /// Has records come and go from now on.
    fn begin_lives(&mut self, client: &Client) -> Vec<Work> {
        self.lives.iter().map(|lives| lives.begin(client, &mut self.chance)).collect()
    }
}

/// What the history tells of a set, the newest first.
fn entries(shop: &Shop, set: &str) -> Vec<Value> {
    let first = format!("/api/v1/audit?set={set}&take=200");
    let (mut entries, mut path) = (Vec::new(), first.clone());
    loop {
        let page = shop.expect(200, "GET", &path, None);
        entries.extend(page["items"].as_array().expect("a page of entries").iter().cloned());
        let Some(next) = page["next"].as_str() else { return entries };
        path = format!("{first}&after={next}");
    }
}

/// The records of a set that are stored, by a property that tells them apart.
fn rows(shop: &Shop, set: &str, by: &str) -> BTreeMap<String, Value> {
    let mut rows = BTreeMap::new();
    let mut path = format!("/odata/v1/{set}?$orderby={by}");
    loop {
        let page = shop.expect(200, "GET", &path, None);
        for row in page["value"].as_array().expect("a page of records") {
            rows.insert(row[by].as_str().expect("a text").to_owned(), row.clone());
        }
        let Some(next) = page["@odata.nextLink"].as_str() else { return rows };
        path = format!("/odata/v1/{}", next.rsplit("/odata/v1/").next().unwrap_or(next));
    }
}

/// Plays all rounds in campaigns that `make` prepares, and insists that nothing is lost.
async fn play(
    what: &str,
    backend: Backend,
    durability: &str,
    chance: &mut Chance,
    make: fn(Campaign) -> Campaign,
) {
    let (mut tally, mut left) = (Tally::default(), rounds());
    while left > 0 {
        let rounds = left.min(ROUNDS_OF_CAMPAIGN);
        let campaign = Campaign::new(backend, durability, rounds, chance.branch()).await;
        let outcome = tokio::task::spawn_blocking(move || make(campaign).run()).await;
        tally.add(outcome.expect("a campaign that ends"));
        left -= rounds;
    }
    println!("{backend:?}, {what}, durability {durability}, seed {}: {tally}", chance.seed());
    tally.insist();
}

on_both_databases! {
    async fn kills_at_random_moments_lose_nothing_and_send_nothing_that_was_not(backend) {
        let mut chance = Chance::new();
        for durability in ["normal", "full"] {
            play("one node", backend, durability, &mut chance, |campaign| campaign).await;
        }
    }

    async fn kills_while_records_are_deleted_softly_lose_nothing(backend) {
        let make = Campaign::deleting_softly;
        play("deleting softly", backend, "normal", &mut Chance::new(), make).await;
    }
}

#[tokio::test]
async fn kills_of_two_nodes_on_one_database_lose_nothing_and_send_nothing_that_was_not() {
    let make = Campaign::with_two_nodes;
    play("two nodes", Backend::Postgres, "normal", &mut Chance::new(), make).await;
}
