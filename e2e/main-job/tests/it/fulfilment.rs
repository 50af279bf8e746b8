//! Orders go their way through the hands of several people over HTTP. Each step arrives as a webhook, once, with
//! who took it from where to where and what was said; it stands in the history of the order alike.

use std::time::{Duration, Instant};

use e2e_main_job::{Language, Receiver, Shop};
use serde_json::{Value, json};
use svc_testing::{Backend, on_both_databases};

use crate::changes::{SECRET, check, database, new_product};
use crate::people::{Caller, id};

/// The event that tells of a step.
const TOLD: &str = "workflow.transitioned";

/// What it takes to place an order.
const PLACES: [&str; 4] =
    ["Orders.Place", "Orders.Update", "Products.View", "Products.SeeAllRegions"];

/// How long it may take until nothing waits.
const PATIENCE: Duration = Duration::from_mins(1);

/// Somebody with a key of their own.
struct Person {
    name: &'static str,
    id: String,
    caller: Caller,
}

impl Person {
    fn new(shop: &Shop, name: &'static str, permissions: &[&str]) -> Self {
        let caller = Caller::new(shop, name, permissions, &[]);
        let id = id(&caller.get("/api/v1/identity/me")["user"]);
        Self { name, id, caller }
    }

    /// Somebody who sees orders, may take steps in workflows, and this.
    fn at_work(shop: &Shop, name: &'static str, permissions: &[&str]) -> Self {
        let all = ["Workflows.View", "Workflows.Act", "Orders.View"];
        Self::new(shop, name, &[&all, permissions].concat())
    }

    /// Registers a receiver, which gets what this person may see.
    fn register(&self, receiver: &Receiver, events: &[&str]) -> String {
        let endpoint = json!({"url": receiver.url(), "events": events, "secret": SECRET});
        id(&self.caller.expect(201, "POST", "/api/v1/webhooks", Some(&endpoint)))
    }
}

/// The shop, and a receiver that gets the steps of orders.
struct Open {
    shop: Shop,
    receiver: Receiver,
    endpoint: String,
    /// The receiver and the endpoint of somebody who sees products and no orders.
    blind: (Receiver, String),
    organisation: Value,
}

/// What somebody says.
type Comment = Option<&'static str>;

/// An order on its way, and the steps that it has taken.
struct Order<'a> {
    open: &'a Open,
    id: String,
    steps: Vec<Value>,
}

impl Open {
    async fn start(backend: Backend) -> Self {
        let receivers = [Language::Node, Language::Python]
            .map(|language| Receiver::start(language, 0, &[SECRET]));
        let ports = receivers.each_ref().map(Receiver::port);
        let [receiver, blind] = receivers;
        let shop = Shop::start(database(backend).await, &ports);
        let ida = Person::new(&shop, "Ida", &["Webhooks.Manage", "Orders.View"]);
        let endpoint = ida.register(&receiver, &[TOLD]);
        let bea = ["Webhooks.Manage", "Products.View", "Products.SeeAllRegions"];
        let bea = Person::new(&shop, "Bea", &bea);
        let blind_endpoint = bea.register(&blind, &[TOLD, "products.updated"]);
        let me = shop.expect(200, "GET", "/api/v1/identity/me", None);
        let organisation = me["organisation"]["id"].clone();
        Self { shop, receiver, endpoint, blind: (blind, blind_endpoint), organisation }
    }

    /// Has somebody place an order that comes to twice this price.
    fn place(&self, by: &Person, price: u32) -> Order<'_> {
        let mut product = new_product(&self.shop, "L-1");
        product["price"] = price.into();
        let product = self.shop.expect(201, "POST", "/odata/v1/Products", Some(&product));
        let customer =
            json!({"number": "C-1", "name": "Hotel Sonne", "city": "Bern", "country": "CH"});
        let customer = self.shop.expect(201, "POST", "/odata/v1/Customers", Some(&customer));
        let order = json!({
            "customerId": customer["id"], "reference": "PO 1",
            "lines": [{"productId": product["id"], "quantity": 2}],
        });
        let order = by.caller.expect(201, "POST", "/api/v1/shop/orders", Some(&order));
        Order { open: self, id: id(&order), steps: Vec::new() }
    }

    /// The deliveries of an endpoint's log.
    fn deliveries(&self, endpoint: &str) -> Vec<Value> {
        let path = format!("/api/v1/webhooks/deliveries?subscriptionId={endpoint}&take=100");
        let page = self.shop.expect(200, "GET", &path, None);
        assert!(page["next"].is_null(), "more than a page: {page}");
        page["items"].as_array().expect("deliveries").clone()
    }

    fn wait_until_nothing_waits(&self) {
        let deadline = Instant::now() + PATIENCE;
        while self.shop.has_waiting() {
            assert!(Instant::now() < deadline, "something still waits after {PATIENCE:?}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

impl Order<'_> {
    /// Looks at the order and tries to take it on; answers with the status and the code.
    fn attempt(&self, by: &Person, transition: &str, comment: Comment) -> (u16, Value) {
        let version = self.seen(by)["version"].clone();
        self.attempt_from(by, transition, comment, &version)
    }

    /// The same without a look, from a version that was seen before.
    fn attempt_from(
        &self,
        by: &Person,
        transition: &str,
        comment: Comment,
        version: &Value,
    ) -> (u16, Value) {
        let path = format!("/api/v1/workflows/Orders/{}/transitions/{transition}", self.id);
        let body = json!({"version": version, "comment": comment});
        let answer = by.caller.send("POST", &path, Some(&body));
        (answer.status, answer.json["code"].clone())
    }

    /// Calls a command of the shop; answers with the status and the code.
    fn command(&self, by: &Person, name: &str) -> (u16, Value) {
        let path = format!("/odata/v1/Orders({})/Shop.{name}", self.id);
        let answer = by.caller.send("POST", &path, Some(&json!({})));
        (answer.status, answer.json["error"]["code"].clone())
    }

    /// The order in its workflow, as somebody sees it.
    fn seen(&self, by: &Person) -> Value {
        by.caller.get(&format!("/api/v1/workflows/Orders/{}", self.id))
    }

    /// Takes the order on, which arrives as a webhook.
    fn take(&mut self, by: &Person, transition: &str, [from, to]: [&str; 2], comment: Comment) {
        assert_eq!(self.attempt(by, transition, comment), (200, Value::Null), "{transition}");
        self.is_told(by, transition, [from, to], comment);
    }

    /// Insists that the next webhook tells of this step.
    fn is_told(&mut self, by: &Person, transition: &str, [from, to]: [&str; 2], comment: Comment) {
        let received = self.open.receiver.next();
        assert!(!received.duplicate, "{received:?}");
        let envelope = check(&received, TOLD, &self.open.organisation);
        let step = json!({
            "entityType": "Orders",
            "entityId": self.id,
            "from": from,
            "to": to,
            "transition": transition,
            "user": {"id": by.id, "displayName": by.name},
            "comment": comment,
        });
        assert_eq!(envelope["data"], step);
        assert_eq!(self.seen(by)["state"]["name"], to);
        self.steps.push(step);
    }

    /// Insists that nothing else was told, to nobody else, and that the history tells the same.
    fn insist_on_no_more(self) {
        let Self { open, id, steps } = self;
        open.wait_until_nothing_waits();
        assert!(open.receiver.next_within(Duration::ZERO).is_none(), "a step that none was");
        let sent = open.deliveries(&open.endpoint);
        assert_eq!(sent.len(), steps.len(), "{sent:?}");
        for one in &sent {
            let whole = (&one["status"], &one["attempts"], &one["entityId"]);
            assert_eq!(whole, (&json!("delivered"), &json!(1), &json!(id)), "{one}");
        }
        // The goods that were set aside changed a product, so the other endpoint works.
        let (blind, endpoint) = &open.blind;
        assert_eq!(blind.next().envelope()["type"], "products.updated");
        while let Some(received) = blind.next_within(Duration::ZERO) {
            assert_eq!(received.envelope()["type"], "products.updated");
        }
        let sent = open.deliveries(endpoint);
        assert!(sent.iter().all(|one| one["eventType"] == "products.updated"), "{sent:?}");

        let reader = ["History.View", "Orders.View"];
        let reader = Person::new(&open.shop, "Rea", &reader);
        let entries = reader.caller.history("Orders", &id);
        assert_eq!(entries.last().expect("entries")["operation"], "created");
        let mut told: Vec<_> = entries.iter().filter(|one| one["operation"] == "event").collect();
        // The newest comes first.
        told.reverse();
        assert_eq!(told.len(), steps.len(), "{told:?}");
        for (entry, step) in told.into_iter().zip(&steps) {
            assert_eq!(entry["event"], "WorkflowTransitioned");
            assert_eq!(entry["by"]["displayName"], step["user"]["displayName"]);
            for name in ["from", "to", "transition", "comment"] {
                assert_eq!(entry["data"][name], step[name], "{name} of {entry}");
            }
        }
    }
}

fn refused(status: u16, code: &str) -> (u16, Value) {
    (status, json!(code))
}

on_both_databases! {
    async fn an_order_is_refused_approved_shipped_and_closed(backend) {
        let open = Open::start(backend).await;
        let shop = &open.shop;
        let sam = Person::at_work(shop, "Sam", &PLACES);
        let eve = Person::at_work(shop, "Eve", &["Orders.Approve"]);
        let pat = Person::at_work(shop, "Pat", &["Orders.Ship"]);
        let ned = Person::at_work(shop, "Ned", &[]);
        let mut order = open.place(&sam, 50);

        assert_eq!(order.attempt(&ned, "submit", None), refused(403, "workflows.not_allowed"));
        assert_eq!(order.command(&pat, "Ship"), refused(409, "shop.not_ready"));
        order.take(&sam, "submit", ["draft", "submitted"], Some("it is urgent"));
        for may_not in [&sam, &pat, &ned] {
            let attempt = order.attempt(may_not, "approve", None);
            assert_eq!(attempt, refused(403, "workflows.not_allowed"), "{}", may_not.name);
        }
        assert_eq!(order.attempt(&eve, "refuse", None), refused(422, "workflows.comment_missing"));
        let stale = order.seen(&eve)["version"].clone();
        order.take(&eve, "refuse", ["submitted", "draft"], Some("which lamps?"));
        let path = format!("/odata/v1/Orders({})", order.id);
        sam.caller.patch(&path, &json!({"reference": "PO 1, desk lamps"}));
        order.take(&sam, "submit", ["draft", "submitted"], None);
        let attempt = order.attempt_from(&eve, "approve", None, &stale);
        assert_eq!(attempt, refused(409, "workflows.changed_since"));
        order.take(&eve, "approve", ["submitted", "approved"], Some("these are fine"));
        assert_eq!(order.attempt(&eve, "pick", None), refused(403, "workflows.not_allowed"));
        order.take(&pat, "pick", ["approved", "picking"], None);
        assert_eq!(order.command(&pat, "Ship"), (200, Value::Null));
        order.is_told(&pat, "ship", ["picking", "shipped"], None);
        order.take(&pat, "close", ["shipped", "closed"], Some("Hotel Sonne has it"));
        assert_eq!(order.command(&pat, "Ship"), refused(409, "shop.order_closed"));
        order.insist_on_no_more();
    }

    async fn a_large_order_takes_two_who_did_not_place_it_and_is_cancelled(backend) {
        let open = Open::start(backend).await;
        let shop = &open.shop;
        let clara = [&PLACES[..], &["Orders.Approve"]].concat();
        let clara = Person::at_work(shop, "Clara", &clara);
        let [eve, uma] =
            ["Eve", "Uma"].map(|name| Person::at_work(shop, name, &["Orders.Approve"]));
        let pat = Person::at_work(shop, "Pat", &["Orders.Ship"]);
        let cem = Person::at_work(shop, "Cem", &["Orders.Cancel"]);
        let mut order = open.place(&clara, 6_000);

        order.take(&clara, "submit", ["draft", "submitted"], Some("all rooms"));
        let attempt = order.attempt(&clara, "approveLarge", None);
        assert_eq!(attempt, refused(403, "workflows.four_eyes"));
        assert_eq!(order.attempt(&eve, "approve", None), refused(409, "workflows.condition"));
        // The first of two approvals moves nothing.
        assert_eq!(order.attempt(&eve, "approveLarge", Some("one")), (200, Value::Null));
        let again = order.attempt(&eve, "approveLarge", None);
        assert_eq!(again, refused(409, "workflows.approved_already"));
        assert_eq!(order.attempt(&pat, "pick", None), refused(409, "workflows.other_state"));
        assert_eq!(order.seen(&pat)["state"]["name"], "submitted");
        order.take(&uma, "approveLarge", ["submitted", "approved"], Some("two"));
        assert_eq!(order.attempt(&uma, "cancel", None), refused(403, "workflows.not_allowed"));
        order.take(&cem, "cancel", ["approved", "cancelled"], Some("they have lamps"));
        assert_eq!(order.attempt(&pat, "pick", None), refused(409, "workflows.other_state"));
        assert_eq!(order.command(&cem, "Cancel"), refused(409, "shop.order_closed"));
        order.insist_on_no_more();
    }
}
