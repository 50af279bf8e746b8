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
//! `SVC_E2E_KILL_ROUNDS` says how many rounds there are, over both databases and both durabilities.

mod chance;
mod comparison;
mod writers;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use e2e_main_job::Shop;
use serde_json::{Value, json};
use svc_testing::{Backend, Received, Receiver, on_both_databases};

use crate::changes::{SECRET, database, new_product};
use chance::Chance;
use comparison::{Evidence, Tally};
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
        let (rows, entries) = (self.rows(), self.entries());
        let evidence = Evidence { done: self.done, received: self.received, rows, entries };
        let mut tally = evidence.compare();
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
        std::thread::sleep(self.chance.duration_below(WORK));
        self.shop.kill();
        self.done.extend(writers.join());
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
        if are_two {
            writers.push(Writers::start(other.client(), &stock, &mut self.chance));
        }
        std::thread::sleep(self.chance.duration_below(WORK));
        let is_first = self.chance.below(2) == 0;
        let (one, two) = if is_first { (&mut self.shop, other) } else { (other, &mut self.shop) };
        one.kill();
        std::thread::sleep(self.chance.duration_below(WORK));
        two.kill();
        self.done.extend(writers.into_iter().flat_map(Writers::join));
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
            if !self.has_waiting() {
                break;
            }
            assert!(Instant::now() < deadline, "something still waits after {PATIENCE:?}");
            std::thread::sleep(Duration::from_millis(200));
        }
        self.received.extend(self.receiver.received());
    }

    /// Whether messages wait, or deliveries.
    fn has_waiting(&self) -> bool {
        // First what comes first, so that nothing moves past the look.
        ["svc_outbox_ready{", "svc_webhooks_deliveries_waiting "].into_iter().any(|name| {
            let metrics = self.shop.send("GET", "/metrics", None).text;
            let mut lines = metrics.lines().filter(|line| line.starts_with(name)).peekable();
            assert!(lines.peek().is_some(), "no `{name}` in {metrics}");
            lines.any(|line| !line.ends_with(" 0"))
        })
    }

    /// What the history tells of products, the newest first.
    fn entries(&self) -> Vec<Value> {
        let mut entries = Vec::new();
        let mut path = "/api/v1/audit?set=Products&take=200".to_owned();
        loop {
            let page = self.shop.expect(200, "GET", &path, None);
            entries.extend(page["items"].as_array().expect("a page of entries").iter().cloned());
            let Some(next) = page["next"].as_str() else { return entries };
            path = format!("/api/v1/audit?set=Products&take=200&after={next}");
        }
    }

    /// The products that are stored, by their number.
    fn rows(&self) -> BTreeMap<String, Value> {
        let mut rows = BTreeMap::new();
        let mut path = "/odata/v1/Products?$orderby=sku".to_owned();
        loop {
            let page = self.shop.expect(200, "GET", &path, None);
            for row in page["value"].as_array().expect("a page of products") {
                rows.insert(row["sku"].as_str().expect("a number").to_owned(), row.clone());
            }
            let Some(next) = page["@odata.nextLink"].as_str() else { return rows };
            path = format!("/odata/v1/{}", next.rsplit("/odata/v1/").next().unwrap_or(next));
        }
    }
}

on_both_databases! {
    async fn kills_at_random_moments_lose_nothing_and_send_nothing_that_was_not(backend) {
        let mut chance = Chance::new();
        for durability in ["normal", "full"] {
            let (mut tally, mut left) = (Tally::default(), rounds());
            while left > 0 {
                let rounds = left.min(ROUNDS_OF_CAMPAIGN);
                let campaign = Campaign::new(backend, durability, rounds, chance.branch()).await;
                let outcome = tokio::task::spawn_blocking(move || campaign.run()).await;
                tally.add(outcome.expect("a campaign that ends"));
                left -= rounds;
            }
            println!("{backend:?}, durability {durability}, seed {}: {tally}", chance.seed());
            tally.insist();
        }
    }
}

#[tokio::test]
async fn kills_of_two_nodes_on_one_database_lose_nothing_and_send_nothing_that_was_not() {
    let mut chance = Chance::new();
    let (mut tally, mut left) = (Tally::default(), rounds());
    while left > 0 {
        let rounds = left.min(ROUNDS_OF_CAMPAIGN);
        let campaign = Campaign::new(Backend::Postgres, "normal", rounds, chance.branch()).await;
        let run = move || campaign.with_two_nodes().run();
        let outcome = tokio::task::spawn_blocking(run).await;
        tally.add(outcome.expect("a campaign that ends"));
        left -= rounds;
    }
    println!("Postgres, two nodes, seed {}: {tally}", chance.seed());
    tally.insist();
}
