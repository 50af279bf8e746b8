//! Clients that change products until the program is gone, and note what they know of each change.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use e2e_main_job::{Answer, Client};
use serde_json::{Value, json};

use super::chance::Chance;

/// How many write at once.
const WRITERS: usize = 3;

/// What writers use in all rounds of a campaign. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Stock(Arc<Shared>);

struct Shared {
    customer: Value,
    plenty: Value,
    none: Value,
    /// Numbers the changes of all rounds.
    next: AtomicU64,
    /// Products that were acknowledged and never changed: identifier and number.
    unchanged: Mutex<Vec<(String, String)>>,
}

impl Stock {
    pub(crate) fn new(customer: &Value, plenty: &Value, none: &Value) -> Self {
        Self(Arc::new(Shared {
            customer: customer["id"].clone(),
            plenty: plenty.clone(),
            none: none["id"].clone(),
            next: AtomicU64::new(1),
            unchanged: Mutex::default(),
        }))
    }

    fn number(&self) -> u64 {
        self.0.next.fetch_add(1, Ordering::Relaxed)
    }
}

/// A change that was tried, and what its writer knows of it.
#[derive(Clone, Debug)]
pub(crate) struct Done {
    pub(crate) deed: Deed,
    pub(crate) fate: Fate,
}

#[derive(Clone, Debug)]
pub(crate) enum Deed {
    /// A product was to be stored.
    Create { sku: String },
    /// A product was to get another name, for the first time.
    Rename { sku: String, name: String },
    /// Two products were to be stored together.
    Pair { skus: [String; 2] },
    /// A product was to be stored with something that can't be.
    Impossible { sku: String },
    /// An order was to take from the stock of one product, and from another that has none.
    ImpossibleOrder,
}

#[derive(Clone, Debug)]
pub(crate) enum Fate {
    /// The program said that it is stored, and how it looks.
    Acknowledged(Value),
    /// The program said that nothing is stored.
    Refused,
    /// No answer came, or one that says that the program doesn't know.
    Unknown,
}

/// The threads of one round.
pub(crate) struct Writers {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<Vec<Done>>>,
}

impl Writers {
    pub(crate) fn start(client: &Client, stock: &Stock, chance: &mut Chance) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let begin = |_| {
            let (client, stock, chance) = (client.clone(), stock.clone(), chance.branch());
            let writer = Writer { client, stock, chance, stop: Arc::clone(&stop) };
            std::thread::spawn(move || writer.write())
        };
        let threads = (0..WRITERS).map(begin).collect();
        Self { stop, threads }
    }

    /// Waits for all of them to notice that the program is gone.
    pub(crate) fn join(self) -> Vec<Done> {
        self.stop.store(true, Ordering::Relaxed);
        let join = |thread: JoinHandle<_>| thread.join().expect("a writer that ends");
        self.threads.into_iter().flat_map(join).collect()
    }
}

struct Writer {
    client: Client,
    stock: Stock,
    chance: Chance,
    stop: Arc<AtomicBool>,
}

impl Writer {
    fn write(mut self) -> Vec<Done> {
        let mut done = Vec::new();
        while !self.stop.load(Ordering::Relaxed) {
            let one = self.change();
            let is_gone = matches!(one.fate, Fate::Unknown);
            done.push(one);
            if is_gone {
                break;
            }
        }
        done
    }

    fn change(&mut self) -> Done {
        match self.chance.below(10) {
            0..=3 => self.create(),
            4..=5 => self.rename(),
            6..=7 => self.pair(),
            8 => self.impossible_pair(),
            _ => self.impossible_order(),
        }
    }

    fn product(&self, sku: &str) -> Value {
        let category = &self.stock.0.plenty["categoryId"];
        json!({"sku": sku, "name": format!("Lamp {sku}"), "price": 49.9, "categoryId": category})
    }

    fn create(&mut self) -> Done {
        let sku = format!("S-{}", self.stock.number());
        let product = self.product(&sku);
        let fate = match self.client.send("POST", "/odata/v1/Products", Some(&product)) {
            Ok(Answer { status: 201, json, .. }) => {
                let id = json["id"].as_str().expect("an id").to_owned();
                self.stock.0.unchanged.lock().expect("a list").push((id, sku.clone()));
                Fate::Acknowledged(json)
            }
            outcome => unknown(outcome),
        };
        Done { deed: Deed::Create { sku }, fate }
    }

    fn rename(&mut self) -> Done {
        let known = self.stock.0.unchanged.lock().expect("a list").pop();
        let Some((id, sku)) = known else { return self.create() };
        let name = format!("Lamp {sku}, renamed by change {}", self.stock.number());
        let path = format!("/odata/v1/Products({id})");
        let fate = match self.client.send("PATCH", &path, Some(&json!({"name": name}))) {
            Ok(Answer { status: 200 | 204, json, .. }) => Fate::Acknowledged(json),
            outcome => unknown(outcome),
        };
        Done { deed: Deed::Rename { sku, name }, fate }
    }

    /// Both products in one unit of work.
    fn pair(&mut self) -> Done {
        let number = self.stock.number();
        let skus = ["A", "B"].map(|which| format!("P-{number}-{which}"));
        let bodies = skus.each_ref().map(|sku| self.product(sku));
        let fate = match self.group(&bodies) {
            Ok(answer) if statuses(&answer) == [201, 201] => {
                let bodies = answer.json["responses"].as_array().expect("responses").iter();
                Fate::Acknowledged(bodies.map(|response| response["body"].clone()).collect())
            }
            outcome => unknown(outcome),
        };
        Done { deed: Deed::Pair { skus }, fate }
    }

    /// A product, and another whose number is taken, in one unit of work.
    fn impossible_pair(&mut self) -> Done {
        let sku = format!("X-{}", self.stock.number());
        let bodies = [self.product(&sku), self.product("PLENTY")];
        let fate = match self.group(&bodies) {
            Ok(answer) if statuses(&answer) == [424, 409] => Fate::Refused,
            outcome => unknown(outcome),
        };
        Done { deed: Deed::Impossible { sku }, fate }
    }

    fn impossible_order(&mut self) -> Done {
        let stock = &self.stock.0;
        let order = json!({"customerId": stock.customer, "lines": [
            {"productId": stock.plenty["id"], "quantity": 1},
            {"productId": stock.none, "quantity": 1},
        ]});
        let fate = match self.client.send("POST", "/api/v1/shop/orders", Some(&order)) {
            Ok(Answer { status: 409, .. }) => Fate::Refused,
            outcome => unknown(outcome),
        };
        Done { deed: Deed::ImpossibleOrder, fate }
    }

    fn group(&self, products: &[Value; 2]) -> Result<Answer, ureq::Error> {
        let requests: Vec<Value> = (1..)
            .zip(products)
            .map(|(id, product)| {
                json!({
                    "id": format!("{id}"), "atomicityGroup": "g", "method": "post",
                    "url": "Products", "body": product,
                })
            })
            .collect();
        self.client.send("POST", "/odata/v1/$batch", Some(&json!({"requests": requests})))
    }
}

fn statuses(answer: &Answer) -> Vec<u64> {
    let responses = answer.json["responses"].as_array().into_iter().flatten();
    responses.map(|response| response["status"].as_u64().unwrap_or(0)).collect()
}

fn unknown(outcome: Result<Answer, ureq::Error>) -> Fate {
    insist_on_open(outcome);
    Fate::Unknown
}

/// That it is no answer, or one that leaves the outcome open. Anything else is a fault of the test.
pub(crate) fn insist_on_open(outcome: Result<Answer, ureq::Error>) {
    if let Ok(answer) = outcome {
        assert!(answer.status >= 500, "unexpected: {} {}", answer.status, answer.text);
    }
}
