//! Orders go their way through the hands of several people, and purchases theirs; each step is told to webhooks.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};
use shop::{Shop, customer, product};
use svc::application_parts::Application;
use svc::core::OrganisationId;
use svc::prelude::*;
use svc_testing::{Backend, Client, Person, Receiver, TestApp, on_both_databases};

use crate::fixture::{add_customer, add_product, stock_of};

const KEY: &str = "svck_chosen.by-the~operator_of+this/shop";

const DAY: Duration = Duration::from_hours(24);

/// A shop without sample data that sends what happens in workflows, and the people in it.
struct Open {
    app: TestApp,
    receiver: Receiver,
    organisation: OrganisationId,
}

impl Open {
    async fn start(backend: Backend) -> Self {
        let receiver = Receiver::start().await;
        let application = || {
            Application::new("shop")
                .module(Identity)
                .module(Webhooks)
                .module(History)
                .module(Workflows)
                .module(Shop)
        };
        let app = TestApp::builder(application)
            .setting("Svc:Sample:Data", false)
            .setting("Svc:Setup:Organisation", "Example Ltd")
            .setting("Svc:Setup:AdminEmail", "ada@example.com")
            .setting("Svc:Setup:AdminPassword", "correct horse battery")
            .setting("Svc:Setup:ApiKey", KEY)
            .setting("Svc:Webhooks:RequireHttps", false)
            .setting("Svc:Webhooks:AllowPrivateNetworks", true)
            .setting("Svc:Webhooks:AllowedPorts:0", receiver.port())
            .start(backend)
            .await;
        let operator = app.anonymous().with_credential(&format!("Bearer {KEY}"));
        let shown = operator.get("/api/v1/identity/organisation").await.expect(200);
        let organisation = serde_json::from_value(shown["id"].clone()).unwrap();
        let endpoint = json!({"url": receiver.url(), "events": ["workflow.transitioned"]});
        let _ = operator.post("/api/v1/webhooks", endpoint).await.expect(201);
        Self { app, receiver, organisation }
    }

    /// Somebody who may look at workflows, take steps in them, and this.
    fn person(&self, name: &str, permissions: &[&str]) -> Client {
        let all = [&["Workflows.View", "Workflows.Act"], permissions].concat();
        self.app.sign_in(&Person::named(name).of(self.organisation).who_may(&all))
    }

    fn system(&self) -> Context {
        Context::system_in(self.app.app(), self.organisation).unwrap()
    }

    /// Places an order for 99 products at a price.
    async fn place(&self, client: &Client, price: i64) -> (String, product::Model) {
        let system = self.system();
        let buyer: customer::Model = add_customer(&system, &format!("C-{price}"), None).await;
        let hammer = add_product(&system, &format!("HT-{price}")).await;
        let work = async |uow: UnitOfWork| {
            let mut hammer = hammer.clone().into_active_model();
            hammer.price = Set(Decimal::from(price));
            uow.update(hammer).await
        };
        let hammer = system.transact(work).await.unwrap();
        let lines = json!([{"productId": hammer.id, "quantity": 99}]);
        let order = json!({"customerId": buyer.id, "reference": "PO 1", "lines": lines});
        let placed = client.post("/api/v1/shop/orders", order).await.expect(201);
        (placed["id"].as_str().unwrap().to_owned(), hammer)
    }

    /// The steps of a record that were sent, in their order there: transition, from, to and who.
    async fn told(&self, id: &str) -> Vec<String> {
        let _ = self.app.drain().await;
        let mut told = BTreeMap::new();
        for one in self.receiver.received() {
            let body = one.json();
            let data = &body["data"];
            if data["entityId"] == id {
                let text = |name: &str| data[name].as_str().unwrap().to_owned();
                let who = data["user"]["displayName"].as_str().unwrap();
                let step = format!("{} {} {} {who}", text("transition"), text("from"), text("to"));
                // What arrives twice is one; identifiers are in the order of what happened.
                told.insert(body["id"].as_str().unwrap().to_owned(), step);
            }
        }
        told.into_values().collect()
    }
}

/// Looks at a record and takes it on; answers with the status and the code.
async fn take(client: &Client, record: &str, step: &str, comment: &str) -> (u16, Value) {
    let path = format!("/api/v1/workflows/{record}");
    let seen = client.get(&path).await.expect(200);
    let body = json!({"version": seen["version"], "comment": comment});
    let answer = client.post(&format!("{path}/transitions/{step}"), body).await;
    (answer.status.as_u16(), answer.json()["code"].clone())
}

const TAKEN: (u16, Value) = (200, Value::Null);

fn refused(status: u16, code: &str) -> (u16, Value) {
    (status, json!(code))
}

async fn state(client: &Client, record: &str) -> String {
    let seen = client.get(&format!("/api/v1/workflows/{record}")).await.expect(200);
    seen["state"]["name"].as_str().unwrap().to_owned()
}

on_both_databases! {
    async fn an_order_goes_from_its_draft_until_it_is_closed(backend) {
        let open = Open::start(backend).await;
        let sales = ["Orders.Place", "Orders.View", "Orders.Update"];
        let sam = open.person("Sam", &sales);
        let both = open.person("Sam", &[&sales[..], &["Orders.Approve"]].concat());
        let eve = open.person("Eve", &["Orders.View", "Orders.Approve"]);
        let pat = open.person("Pat", &["Orders.View", "Orders.Ship"]);
        let (id, _) = open.place(&sam, 50).await;
        let order = format!("Orders/{id}");
        let ship = format!("/odata/v1/Orders({id})/Shop.Ship");
        assert_eq!(pat.post(&ship, json!({})).await.expect(409)["error"]["code"], "shop.not_ready");
        assert_eq!(take(&sam, &order, "submit", "").await, TAKEN);
        let path = format!("/odata/v1/Orders({id})");
        let changed = sam.patch(&path, json!({"reference": "PO 2"})).await;
        assert_eq!(changed.expect(409)["error"]["code"], "workflows.locked");
        assert_eq!(take(&pat, &order, "approve", "").await, refused(403, "workflows.not_allowed"));
        assert_eq!(take(&both, &order, "approve", "").await, refused(403, "workflows.four_eyes"));
        assert_eq!(take(&eve, &order, "approveLarge", "").await, refused(409, "workflows.condition"));
        assert_eq!(take(&eve, &order, "refuse", "").await, refused(422, "workflows.comment_missing"));
        assert_eq!(take(&eve, &order, "refuse", "which hammers?").await, TAKEN);
        let _ = sam.patch(&path, json!({"reference": "PO 2, claw hammers"})).await.expect(200);
        assert_eq!(take(&sam, &order, "submit", "").await, TAKEN);
        let tasks = eve.get("/api/v1/workflows/tasks?order=due").await.expect(200);
        let task = &tasks["items"][0];
        assert_eq!(task["id"], json!(id));
        assert!(task["title"].is_string() && task["due"].is_string(), "{task}");
        assert_eq!(take(&eve, &order, "approve", "").await, TAKEN);
        assert_eq!(pat.post(&ship, json!({})).await.expect(409)["error"]["code"], "shop.not_ready");
        let awaited = pat.get("/odata/v1/Orders?$filter=workflowAwaitsMe&$select=id,workflowState").await;
        assert_eq!(awaited.expect(200)["value"][0]["workflowState"], "approved");
        assert_eq!(take(&pat, &order, "pick", "").await, TAKEN);
        assert_eq!(pat.post(&ship, json!({})).await.expect(200)["status"], "shipped");
        let shipped = pat.get(&format!("{path}?$select=status,shippedAt,workflowState")).await.expect(200);
        assert_eq!((&shipped["status"], &shipped["workflowState"]), (&json!("shipped"), &json!("shipped")));
        assert!(shipped["shippedAt"].is_string());
        assert_eq!(pat.post(&ship, json!({})).await.expect(409)["error"]["code"], "shop.order_closed");
        let _ = open.app.drain().await;
        open.app.advance(13 * DAY);
        let _ = open.app.drain().await;
        assert_eq!(state(&pat, &order).await, "shipped");
        open.app.advance(DAY);
        let steps = [
            "submit draft submitted Sam",
            "refuse submitted draft Eve",
            "submit draft submitted Sam",
            "approve submitted approved Eve",
            "pick approved picking Pat",
            "ship picking shipped Pat",
            "close shipped closed System",
        ];
        assert_eq!(open.told(&id).await, steps);
        assert_eq!(state(&pat, &order).await, "closed");

        // All of it stands in the history of the order, with what was said.
        let reader = open.person("Rea", &["Orders.View", "History.View", "History.Audit"]);
        let path = format!("/api/v1/history/Orders/{id}?take=3");
        let mut page = reader.get(&path).await.expect(200);
        let mut entries = page["items"].as_array().unwrap().clone();
        while let Some(next) = page["next"].as_str().map(str::to_owned) {
            page = reader.get(&format!("{path}&after={next}")).await.expect(200);
            entries.extend(page["items"].as_array().unwrap().clone());
        }
        let kept = entries.iter().rev().filter(|entry| entry["operation"] == "event");
        let kept: Vec<String> = kept
            .map(|entry| {
                assert_eq!(entry["event"], "WorkflowTransitioned");
                let text = |name: &str| entry["data"][name].as_str().unwrap().to_owned();
                let who = entry["by"]["displayName"].as_str().unwrap();
                format!("{} {} {} {who}", text("transition"), text("from"), text("to"))
            })
            .collect();
        assert_eq!(kept, steps);
        let said = entries.iter().filter_map(|entry| entry["data"]["comment"].as_str());
        assert_eq!(said.collect::<Vec<_>>(), ["which hammers?"]);
        assert!(entries.iter().any(|entry| entry["operation"] == "created"));
        // The log tells of it to those who see the order.
        let log = "/api/v1/audit?event=WorkflowTransitioned";
        let told = reader.get(log).await.expect(200);
        assert_eq!(told["items"].as_array().unwrap().len(), steps.len());
        let blind = open.person("Bea", &["History.Audit"]);
        assert_eq!(blind.get(log).await.expect(200)["items"], json!([]));
    }

    async fn what_comes_to_much_takes_two_who_approve(backend) {
        let open = Open::start(backend).await;
        let sam = open.person("Sam", &["Orders.Place", "Orders.View"]);
        let [eve, uma] = ["Eve", "Uma"].map(|name| open.person(name, &["Orders.View", "Orders.Approve"]));
        let pat = open.person("Pat", &["Orders.View", "Orders.Ship"]);
        let (id, _) = open.place(&sam, 600).await;
        let order = format!("Orders/{id}");
        assert_eq!(take(&sam, &order, "submit", "").await, TAKEN);
        let tasks = eve.get("/api/v1/workflows/tasks").await.expect(200);
        let choices = tasks["items"][0]["choices"].as_array().unwrap().iter();
        assert_eq!(choices.map(|it| &it["name"]).collect::<Vec<_>>(), ["approveLarge", "refuse"]);
        assert_eq!(take(&eve, &order, "approve", "").await, refused(409, "workflows.condition"));
        assert_eq!(take(&eve, &order, "approveLarge", "").await, TAKEN);
        assert_eq!(take(&eve, &order, "approveLarge", "").await, refused(409, "workflows.approved_already"));
        assert_eq!(take(&pat, &order, "pick", "").await, refused(409, "workflows.other_state"));
        assert_eq!(take(&uma, &order, "approveLarge", "").await, TAKEN);
        assert_eq!(take(&pat, &order, "pick", "").await, TAKEN);
        let steps = ["submit draft submitted Sam", "approveLarge submitted approved Uma", "pick approved picking Pat"];
        assert_eq!(open.told(&id).await, steps);
    }

    async fn what_is_cancelled_comes_back_into_stock_whichever_way(backend) {
        let open = Open::start(backend).await;
        let sam = open.person("Sam", &["Orders.Place", "Orders.View", "Orders.Cancel"]);
        for (price, by_command) in [(50, false), (51, true)] {
            let (id, hammer) = open.place(&sam, price).await;
            let order = format!("Orders/{id}");
            assert_eq!(take(&sam, &order, "submit", "").await, TAKEN);
            assert_eq!(stock_of(&open.system(), &hammer).await, 1);
            let cancel = format!("/odata/v1/Orders({id})/Shop.Cancel");
            if by_command {
                assert_eq!(sam.post(&cancel, json!({})).await.expect(200)["status"], "cancelled");
            } else {
                assert_eq!(take(&sam, &order, "cancel", "no hammers, please").await, TAKEN);
            }
            assert_eq!(stock_of(&open.system(), &hammer).await, 100);
            assert_eq!(sam.post(&cancel, json!({})).await.expect(409)["error"]["code"], "shop.order_closed");
            assert_eq!(take(&sam, &order, "cancel", "").await, refused(409, "workflows.other_state"));
            assert_eq!(stock_of(&open.system(), &hammer).await, 100);
            let steps = ["submit draft submitted Sam", "cancel submitted cancelled Sam"];
            assert_eq!(open.told(&id).await, steps);
        }
    }

    async fn a_purchase_is_released_received_and_overdue(backend) {
        let open = Open::start(backend).await;
        let own = ["Purchases.View", "Purchases.Create", "Purchases.Update", "Purchases.Delete"];
        let bo = open.person("Bo", &[&own[..], &["Purchases.Release"]].concat());
        let rita = open.person("Rita", &["Purchases.View", "Purchases.Release"]);
        let hammer = add_product(&open.system(), "HT-1").await;
        let body = json!({"reference": "Hammers", "productId": hammer.id, "quantity": 40});
        let made = bo.post("/odata/v1/Purchases", body).await.expect(201);
        let id = made["id"].as_str().unwrap();
        let purchase = format!("Purchases/{id}");
        assert_eq!(take(&bo, &purchase, "request", "").await, TAKEN);
        assert_eq!(take(&bo, &purchase, "order", "").await, refused(403, "workflows.four_eyes"));
        assert_eq!(take(&rita, &purchase, "order", "").await, TAKEN);
        let path = format!("/odata/v1/Purchases({id})");
        let changed = bo.patch(&path, json!({"quantity": 400})).await;
        assert_eq!(changed.expect(409)["error"]["code"], "workflows.locked");
        assert_eq!(bo.delete(&path).await.status.as_u16(), 409);
        assert_eq!(take(&rita, &purchase, "receive", "").await, refused(403, "workflows.not_allowed"));
        let seen = rita.get(&format!("/api/v1/workflows/{purchase}")).await.expect(200);
        assert!(seen["due"].is_string() && seen["isEscalated"] == false, "{seen}");
        let _ = open.app.drain().await;
        // More than ten working days later whoever releases purchases looks after it, too.
        open.app.advance(16 * DAY);
        let _ = open.app.drain().await;
        let tasks = rita.get("/api/v1/workflows/tasks").await.expect(200);
        assert_eq!(tasks["items"][0]["isEscalated"], true);
        assert_eq!(take(&rita, &purchase, "receive", "").await, TAKEN);
        assert_eq!(stock_of(&open.system(), &hammer).await, 140);
        let received = rita.get(&path).await.expect(200);
        assert!(received["receivedAt"].is_string(), "{received}");
        let steps = ["request draft requested Bo", "order requested ordered Rita", "receive ordered received Rita"];
        assert_eq!(open.told(id).await, steps);
    }
}
