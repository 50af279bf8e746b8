use std::time::{Duration, Instant};

use e2e_main_job::Shop;
use serde_json::{Value, json};
use svc_testing::{Backend, numbered, on_both_databases};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::changes::{database, new_product};
use crate::people::{Caller, id};

/// How long the index may take to know what was stored.
const PATIENCE: Duration = Duration::from_mins(1);

/// What is typed: words of what is seen, of what is hidden, of both, and near to them.
const TYPED: [&str; 9] =
    ["lamp", "la", "lapm", "desk lamp", "plutonium", "plutonum", "hotel", "zoe", "yve"];

fn make(shop: &Shop, sku: &str, change: &Value) -> String {
    let mut product = new_product(shop, sku);
    for (name, value) in change.as_object().expect("an object") {
        product[name] = value.clone();
    }
    id(&shop.expect(201, "POST", "/odata/v1/Products", Some(&product)))
}

/// A world in which what Rita may not see is made of `secret` and `name`: other costs, other contacts,
/// other records of another region, and changes of nothing else. Answers with the records of which she
/// asks.
fn world(shop: &Shop, secret: u32, name: &str) -> Vec<(&'static str, String)> {
    let admin = Caller::admin(shop);
    let seen =
        make(shop, "L-1", &json!({"costPrice": secret, "description": "A lamp for the desk."}));
    let path = format!("/odata/v1/Products({seen})");
    admin.patch(&path, &json!({"price": 2, "costPrice": secret + 1}));
    admin.patch(&path, &json!({"costPrice": secret + 2}));
    admin.patch(&path, &json!({"name": "Desk lamp of brass"}));
    let customer = json!({
        "number": "C-1", "name": "Hotel Sonne", "city": "Bern", "country": "CH",
        "email": format!("{name}@hotel.example"), "phone": format!("{secret}0 12"),
    });
    let customer = id(&shop.expect(201, "POST", "/odata/v1/Customers", Some(&customer)));
    let of_customer = format!("/odata/v1/Customers({customer})");
    admin
        .patch(&of_customer, &json!({"city": "Basel", "email": format!("{name}.a@hotel.example")}));
    admin.patch(&of_customer, &json!({"email": format!("{name}.b@hotel.example")}));
    let gone = make(shop, "L-2", &json!({"costPrice": secret}));
    admin.expect(204, "DELETE", &format!("/odata/v1/Products({gone})"), None);
    // What lies elsewhere is hidden as a whole, however much it is and whatever happens to it.
    let moved = make(shop, "L-3", &json!({"description": format!("plutonium for {name}")}));
    admin.patch(&format!("/odata/v1/Products({moved})"), &json!({"region": "US"}));
    for number in 0..secret {
        let sku = format!("U-{number}");
        let other = make(shop, &sku, &json!({"region": "US", "name": format!("Lamp of {name}")}));
        if number % 2 == 0 {
            admin.expect(204, "DELETE", &format!("/odata/v1/Products({other})"), None);
        }
    }
    vec![("Products", seen), ("Customers", customer), ("Products", gone), ("Products", moved)]
}

/// Waits until the index knows all that was stored.
fn wait_until_indexed(shop: &Shop) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let metrics = shop.send("GET", "/metrics", None).text;
        let mut lines = metrics.lines().filter(|line| line.starts_with("svc_outbox_ready{"));
        let found = shop.expect(200, "GET", "/api/v1/search?q=lamp", None);
        let providers = found["providers"].as_array().expect("providers");
        let is_complete = providers.iter().all(|provider| provider["complete"] == true);
        if is_complete && lines.all(|line| line.ends_with(" 0")) {
            return;
        }
        assert!(Instant::now() < deadline, "something still waits after {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// Without what differs in every world.
fn plain(text: &str) -> String {
    let is_time = |piece: &str| OffsetDateTime::parse(piece, &Rfc3339).is_ok();
    let pieces = text.split('"').map(|piece| if is_time(piece) { "<time>" } else { piece });
    numbered(&pieces.collect::<Vec<_>>().join("\""))
}

/// All that Rita can ask about it.
fn questions(shop: &Shop, records: &[(&str, String)]) -> Vec<String> {
    let admin = Caller::admin(shop);
    let mut paths: Vec<String> = ["history", "audit", "audit/facets", "search/providers"]
        .map(|path| format!("/api/v1/{path}"))
        .into();
    for query in ["take=1", "operation=updated", "set=Products", "set=Customers&take=2"] {
        paths.push(format!("/api/v1/audit?{query}"));
    }
    paths.push("/api/v1/audit/facets?operation=deleted".to_owned());
    for (set, record) in records {
        paths.push(format!("/api/v1/history/{set}/{record}"));
        paths.push(format!("/api/v1/history/{set}/{record}?take=1"));
        // All entries, also those that she isn't told of.
        for entry in admin.history(set, record) {
            for mode in ["After", "Before", "Undo"] {
                let entry = id(&entry);
                paths.push(format!("/api/v1/history/{set}/{record}/{entry}/preview?mode={mode}"));
            }
            let unit = entry["unitOfWork"].as_str().expect("an id");
            paths.push(format!("/api/v1/audit/units/{unit}/preview"));
            paths.push(format!("/api/v1/audit?unitOfWork={unit}"));
        }
    }
    for typed in TYPED {
        let typed = typed.replace(' ', "%20");
        for take in [1, 50] {
            paths.push(format!("/api/v1/search?q={typed}&take={take}"));
            // Lines of several providers come in any order.
            for set in ["Products", "Customers"] {
                paths.push(format!("/api/v1/search/stream?q={typed}&take={take}&set={set}"));
            }
        }
    }
    paths.push("/api/v1/audit/export".to_owned());
    paths
}

/// Everything that Rita is answered, one line for each question.
async fn answers(backend: Backend, secret: u32, name: &'static str) -> Vec<String> {
    let shop = Shop::start(database(backend).await, &[]);
    let may =
        ["History.View", "History.Audit", "Products.View", "Products.Update", "Customers.View"];
    let rita = Caller::new(&shop, "Rita", &may, &["EU"]);
    let records = world(&shop, secret, name);
    wait_until_indexed(&shop);
    let mut all = Vec::new();
    for path in questions(&shop, &records) {
        let method = if path.ends_with("/export") { "POST" } else { "GET" };
        let answer = rita.send(method, &path, None);
        // Where a page goes on, and the version of many records, are made of identifiers.
        let text = answer.text.as_str();
        let text = text.split_once("\"next\":\"").map_or(text, |(before, _)| before);
        let text = text.split_once(",\"records\"").map_or(text, |(_, records)| records);
        all.push(plain(&format!("{path} {}: {text}", answer.status)));
    }
    all
}

on_both_databases! {
    async fn worlds_that_differ_in_what_is_hidden_answer_alike(backend) {
        let one = answers(backend, 3, "zoe").await;
        let other = answers(backend, 8, "yve").await;
        assert_eq!(one.len(), other.len());
        assert!(one.iter().any(|line| line.contains("Desk lamp of brass")));
        assert!(one.iter().any(|line| line.contains("\"excerpt\":{")));
        for (one, other) in one.iter().zip(&other) {
            assert_eq!(one, other);
            // What was typed is told again.
            let told = one.split_once(": ").map_or("", |(_, answer)| answer);
            assert!(!told.contains("@hotel.example") || told.contains("…@hotel.example"), "{one}");
            assert!(!told.contains("costPrice") && !told.contains("plutonium for"), "{one}");
        }
    }
}
