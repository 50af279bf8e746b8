//! Orders that come to much are approved before their goods leave, and each step is told.

use serde_json::{Value, json};
use shop::{Shop, customer, product};
use svc::application_parts::Application;
use svc::core::OrganisationId;
use svc::prelude::*;
use svc_testing::{Client, Person, Receiver, TestApp, on_both_databases};

const KEY: &str = "svck_chosen.by-the~operator_of+this/shop";

const SALES: [&str; 5] =
    ["Orders.Place", "Orders.View", "Orders.Update", "Workflows.View", "Workflows.Act"];

const APPROVERS: [&str; 4] = ["Orders.View", "Orders.Approve", "Workflows.View", "Workflows.Act"];

/// The shop with webhooks, without sample data.
async fn start(backend: svc_testing::Backend, port: u16) -> TestApp {
    let application = || {
        Application::new("shop").module(Identity).module(Webhooks).module(Workflows).module(Shop)
    };
    TestApp::builder(application)
        .setting("Svc:Sample:Data", false)
        .setting("Svc:Setup:Organisation", "Example Ltd")
        .setting("Svc:Setup:AdminEmail", "ada@example.com")
        .setting("Svc:Setup:AdminPassword", "correct horse battery")
        .setting("Svc:Setup:ApiKey", KEY)
        .setting("Svc:Webhooks:RequireHttps", false)
        .setting("Svc:Webhooks:AllowPrivateNetworks", true)
        .setting("Svc:Webhooks:AllowedPorts:0", port)
        .start(backend)
        .await
}

/// Places an order for 99 products at a price.
async fn place(app: &TestApp, organisation: OrganisationId, client: &Client, price: i64) -> String {
    let system = Context::system_in(app.app(), organisation).unwrap();
    let buyer: customer::Model =
        crate::fixture::add_customer(&system, &format!("C-{price}"), None).await;
    let hammer: product::Model = crate::fixture::add_product(&system, &format!("HT-{price}")).await;
    let price = Decimal::from(price);
    let work = async |uow: UnitOfWork| {
        let mut hammer = hammer.clone().into_active_model();
        hammer.price = Set(price);
        uow.update(hammer).await
    };
    system.transact(work).await.unwrap();
    let lines = json!([{"productId": hammer.id, "quantity": 99}]);
    let order = json!({"customerId": buyer.id, "reference": "PO 1", "lines": lines});
    let placed = client.post("/api/v1/shop/orders", order).await.expect(201);
    placed["id"].as_str().unwrap().to_owned()
}

/// Looks at an order and takes it on; answers with the status and the code.
async fn take(client: &Client, order: &str, step: &str, comment: &str) -> (u16, Value) {
    let path = format!("/api/v1/workflows/Orders/{order}");
    let seen = client.get(&path).await.expect(200);
    let body = json!({"version": seen["version"], "comment": comment});
    let answer = client.post(&format!("{path}/transitions/{step}"), body).await;
    (answer.status.as_u16(), answer.json()["code"].clone())
}

on_both_databases! {
    async fn what_comes_to_much_is_shipped_once_it_is_approved(backend) {
        let receiver = Receiver::start().await;
        let app = start(backend, receiver.port()).await;
        let operator = app.anonymous().with_credential(&format!("Bearer {KEY}"));
        let shown = operator.get("/api/v1/identity/organisation").await.expect(200);
        let organisation: OrganisationId = serde_json::from_value(shown["id"].clone()).unwrap();
        let endpoint = json!({"url": receiver.url(), "events": ["workflow.transitioned"]});
        let _ = operator.post("/api/v1/webhooks", endpoint).await.expect(201);
        let person = |name: &str, permissions: &[&str]| {
            app.sign_in(&Person::named(name).of(organisation).who_may(permissions))
        };
        let sam = person("Sam", &SALES);
        let eve = person("Eve", &APPROVERS);
        let both = person("Sam", &[&SALES[..], &["Orders.Approve"]].concat());
        let packer = person("Pat", &["Orders.Ship"]);

        let order = place(&app, organisation, &sam, 200).await;
        let ship = format!("/api/v1/shop/orders/{order}/ship");
        assert_eq!(packer.post(&ship, json!(null)).await.expect(409)["code"], "shop.not_approved");
        assert_eq!(take(&sam, &order, "submit", "").await.0, 200);
        let path = format!("/odata/v1/Orders({order})");
        let refused = sam.patch(&path, json!({"reference": "PO 2"})).await;
        assert_eq!(refused.expect(409)["error"]["code"], "workflows.locked");
        assert_eq!(take(&both, &order, "approve", "").await, (403, json!("workflows.four_eyes")));
        assert_eq!(take(&eve, &order, "refuse", "").await, (422, json!("workflows.comment_missing")));
        assert_eq!(take(&eve, &order, "refuse", "which hammers?").await.0, 200);
        let _ = sam.patch(&path, json!({"reference": "PO 2, claw hammers"})).await.expect(200);
        assert_eq!(take(&sam, &order, "submit", "").await.0, 200);
        assert_eq!(packer.post(&ship, json!(null)).await.expect(409)["code"], "shop.not_approved");
        assert_eq!(take(&eve, &order, "approve", "").await.0, 200);
        let waiting = eve.get("/odata/v1/Orders?$filter=workflowState%20eq%20'approved'&$select=status").await;
        assert_eq!(waiting.expect(200)["value"][0]["status"], "placed");
        assert_eq!(packer.post(&ship, json!(null)).await.status, 200);

        // What comes to more takes two.
        let large = place(&app, organisation, &sam, 600).await;
        assert_eq!(take(&sam, &large, "submit", "").await.0, 200);
        let awaited = eve.get("/odata/v1/Orders?$filter=workflowAwaitsMe&$select=id").await.expect(200);
        assert_eq!(awaited["value"][0]["id"], json!(large));
        let tasks = eve.get("/api/v1/workflows/tasks?order=due").await.expect(200);
        let task = &tasks["items"][0];
        let seen = eve.get(&format!("/api/v1/workflows/Orders/{large}")).await.expect(200);
        assert_eq!((&task["id"], &task["version"]), (&json!(large), &seen["version"]));
        assert!(task["title"].is_string() && task["due"].is_string(), "{task}");
        let names: Vec<_> = task["choices"].as_array().unwrap().iter().map(|it| it["name"].clone()).collect();
        assert_eq!(names, ["approveLarge", "refuse"]);
        assert_eq!(take(&eve, &large, "approve", "").await, (409, json!("workflows.condition")));
        assert_eq!(take(&eve, &large, "approveLarge", "").await.0, 200);
        assert_eq!(take(&eve, &large, "approveLarge", "").await.0, 409);
        let ship = format!("/api/v1/shop/orders/{large}/ship");
        assert_eq!(packer.post(&ship, json!(null)).await.expect(409)["code"], "shop.not_approved");
        let uma = person("Uma", &APPROVERS);
        assert_eq!(take(&uma, &large, "approveLarge", "").await.0, 200);
        assert_eq!(packer.post(&ship, json!(null)).await.status, 200);

        let _ = app.drain().await;
        let mut told: Vec<(String, String)> = Vec::new();
        for one in receiver.received() {
            let data = one.json()["data"].clone();
            assert_eq!(data["entityType"], "Orders");
            assert!([&order, &large].iter().any(|id| data["entityId"] == **id), "{data}");
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            told.push((text(&data["transition"]), text(&data["user"]["displayName"])));
        }
        // Of several deliveries at once any may come first.
        told.sort();
        let steps = [
            ("approve", "Eve"),
            ("approveLarge", "Uma"),
            ("refuse", "Eve"),
            ("submit", "Sam"),
            ("submit", "Sam"),
            ("submit", "Sam"),
        ];
        assert_eq!(told, steps.map(|(step, who)| (step.to_owned(), who.to_owned())));
    }
}
