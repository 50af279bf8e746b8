//! A person changes products; receivers on Node, Python and Rust get each change, signed.

use std::time::Duration;

use e2e_main_job::{Language, Received, Receiver, Shop};
use serde_json::{Value, json};
use svc_testing::{Backend, ThrowAwayDatabase, on_both_databases};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// A secret that the receivers know before the endpoint is registered.
pub(crate) const SECRET: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";

/// On SQLite the program's own default, a file in its folder; otherwise PostgreSQL.
pub(crate) async fn database(backend: Backend) -> Option<ThrowAwayDatabase> {
    match backend {
        Backend::Sqlite => None,
        Backend::Postgres => Some(ThrowAwayDatabase::empty(backend).await),
    }
}

pub(crate) fn receivers() -> [Receiver; 6] {
    Language::ALL.map(|language| Receiver::start(language, 0, &[SECRET]))
}

/// Starts the shop and registers the receivers for every event of products.
pub(crate) async fn shop_with(backend: Backend, receivers: &[Receiver]) -> Shop {
    let ports: Vec<u16> = receivers.iter().map(Receiver::port).collect();
    let shop = Shop::start(database(backend).await, &ports);
    for receiver in receivers {
        let endpoint = json!({
            "url": receiver.url(),
            "events": ["products.*"],
            "description": "a receiver of the end-to-end tests",
            "isActive": true,
            "secret": SECRET,
        });
        let created = shop.expect(201, "POST", "/api/v1/webhooks", Some(&endpoint));
        assert_eq!(created["secret"], SECRET);
        assert_eq!(created["consecutiveFailures"], 0);
    }
    let listed = shop.expect(200, "GET", "/api/v1/webhooks", None);
    assert!(!listed.to_string().contains("whsec_"), "a list never shows a secret: {listed}");
    shop
}

/// A product with all that it needs, in a category and from a supplier of its own.
pub(crate) fn new_product(shop: &Shop, sku: &str) -> Value {
    let category = json!({"name": format!("Lamps {sku}"), "description": "things that shine"});
    let category = shop.expect(201, "POST", "/odata/v1/Categories", Some(&category));
    let supplier = json!({"name": format!("Lux {sku}"), "city": "Jena", "country": "DE"});
    let supplier = shop.expect(201, "POST", "/odata/v1/Suppliers", Some(&supplier));
    json!({
        "sku": sku,
        "name": "Desk lamp",
        "description": "",
        "price": 49.9,
        "costPrice": 21.35,
        "stock": 10,
        "reorderLevel": 3,
        "region": "EU",
        "discontinued": false,
        "categoryId": category["id"],
        "supplierId": supplier["id"],
    })
}

/// What every webhook must be, whatever it tells; answers with its envelope.
pub(crate) fn check(received: &Received, event: &str, organisation: &Value) -> Value {
    assert!(received.accepted, "the receiver's library refused the signature: {received:?}");
    assert_eq!(received.header("content-type"), "application/json; charset=utf-8");
    let envelope = received.envelope();
    let members: Vec<&String> = envelope.as_object().expect("an object").keys().collect();
    assert_eq!(members, ["id", "type", "time", "tenant", "data"]);
    assert_eq!(envelope["type"], event);
    assert_eq!(&envelope["tenant"], organisation);
    let id = envelope["id"].as_str().expect("an id");
    assert_eq!(uuid::Uuid::parse_str(id).expect("a UUID").hyphenated().to_string(), id);
    assert_eq!(received.header("webhook-id"), id);
    let time = envelope["time"].as_str().expect("a time");
    assert!(time.ends_with("+00:00"), "a time has an explicit offset: {time}");
    OffsetDateTime::parse(time, &Rfc3339).expect("an ISO 8601 time");
    let seconds = received.header("webhook-timestamp");
    assert!(seconds.parse::<i64>().is_ok_and(|seconds| seconds > 1_700_000_000), "{seconds}");
    let signature = received.header("webhook-signature");
    assert!(signature.starts_with("v1,") && !signature.contains(' '), "{signature}");
    envelope
}

/// The properties of an entity, without what OData adds to an answer.
pub(crate) fn properties(entity: &Value) -> Value {
    let members = entity.as_object().expect("an entity");
    members
        .iter()
        .filter(|(name, _)| !name.starts_with('@'))
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect()
}

on_both_databases! {
    async fn each_change_reaches_each_receiver_signed_and_complete(backend) {
        let receivers = receivers();
        let shop = shop_with(backend, &receivers).await;
        let me = shop.expect(200, "GET", "/api/v1/identity/me", None);
        let organisation = &me["organisation"]["id"];
        let created = shop.send("POST", "/odata/v1/Products", Some(&new_product(&shop, "L-1")));
        assert_eq!(created.status, 201, "{}", created.json);
        let product = format!("/odata/v1/Products({})", created.json["id"].as_str().expect("an id"));
        let tag = created.headers["etag"].to_str().expect("an ETag").to_owned();
        assert_eq!(tag, "W/\"1\"");
        let mut ids = Vec::new();
        for receiver in &receivers {
            let envelope = check(&receiver.next(), "products.created", organisation);
            assert_eq!(envelope["data"], properties(&created.json));
            ids.push(envelope["id"].clone());
        }
        assert!(ids.iter().all(|id| *id == ids[0]), "one event has one id, whoever receives it");
        shop.expect(200, "PATCH", &product, Some(&json!({"price": 44.5, "stock": 9})));
        let changed = shop.expect(200, "GET", &product, None);
        for receiver in &receivers {
            let envelope = check(&receiver.next(), "products.updated", organisation);
            assert_eq!(envelope["data"], properties(&changed));
            assert_eq!(envelope["data"]["price"], 44.5);
            assert_ne!(envelope["id"], ids[0]);
        }
        shop.expect(204, "DELETE", &product, None);
        for receiver in &receivers {
            let envelope = check(&receiver.next(), "products.deleted", organisation);
            assert_eq!(envelope["data"], json!({"id": created.json["id"]}));
        }
        shop.expect(404, "GET", &product, None);
    }

    async fn what_is_rolled_back_is_told_to_nobody(backend) {
        let receivers = receivers();
        let shop = shop_with(backend, &receivers).await;
        let plenty = shop.expect(201, "POST", "/odata/v1/Products", Some(&new_product(&shop, "L-1")));
        let few = shop.expect(201, "POST", "/odata/v1/Products", Some(&new_product(&shop, "L-2")));
        for receiver in &receivers {
            let _ = (receiver.next(), receiver.next());
        }
        let customer = json!({
            "number": "C-1", "name": "Hotel Sonne", "email": "hotel@example.com",
            "city": "Bern", "country": "CH", "creditLimit": 100_000,
        });
        let customer = shop.expect(201, "POST", "/odata/v1/Customers", Some(&customer));
        // The first line takes from the stock before the second finds that there is too little.
        let order = json!({
            "customerId": customer["id"],
            "lines": [
                {"productId": plenty["id"], "quantity": 2},
                {"productId": few["id"], "quantity": 11},
            ],
        });
        shop.expect(409, "POST", "/api/v1/shop/orders", Some(&order));
        for receiver in &receivers {
            assert!(receiver.next_within(Duration::from_secs(2)).is_none());
        }
        let product = format!("/odata/v1/Products({})", plenty["id"].as_str().expect("an id"));
        assert_eq!(shop.expect(200, "GET", &product, None)["stock"], 10);
    }
}
