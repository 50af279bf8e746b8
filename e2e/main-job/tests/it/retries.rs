//! A receiver is away: the attempts come at the specified delays, on a clock that is moved.

use std::time::Duration;

use e2e_main_job::{API_KEY, Language, Receiver};
use serde_json::{Value, json};
use shop::Shop;
use svc::application_parts::Application;
use svc::core::Clock;
use svc::prelude::{Identity, Webhooks, Workflows};
use svc_testing::{Client, ReservedPort, TestApp, on_both_databases};

/// From the first attempt to the last: 30 s, then each twice the one before.
const DELAYS: [u64; 5] = [30, 60, 120, 240, 480];

async fn delivery(client: &Client) -> Value {
    let listed = client.get("/api/v1/webhooks/deliveries").await.expect(200);
    assert_eq!(listed["items"].as_array().map(Vec::len), Some(1), "{listed}");
    listed["items"][0].clone()
}

on_both_databases! {
    async fn attempts_follow_the_specified_delays_until_the_receiver_is_back(backend) {
        let secret = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
        let reserved = ReservedPort::take();
        let port = reserved.number();
        let url = format!("http://127.0.0.1:{port}/hook");
        let make = || {
            Application::new("shop").module(Identity).module(Webhooks).module(Workflows).module(Shop)
        };
        let app = TestApp::builder(make)
            .setting("Svc:Sample:Data", false)
            .setting("Svc:Setup:Organisation", "Lamps & Co")
            .setting("Svc:Setup:AdminEmail", "ada@example.com")
            .setting("Svc:Setup:AdminPassword", "correct horse battery")
            .setting("Svc:Setup:ApiKey", API_KEY)
            .setting("Svc:Webhooks:RequireHttps", false)
            .setting("Svc:Webhooks:AllowPrivateNetworks", true)
            .setting("Svc:Webhooks:AllowedPorts:0", port)
            // The last attempt is made now: receivers refuse what is older than five minutes.
            .beginning_at(Clock::system().now() - Duration::from_secs(DELAYS.iter().sum()))
            .start(backend)
            .await;
        // The owner of an endpoint is looked up anew, so it takes somebody with an account.
        let client = app.anonymous().with_credential(&format!("Bearer {API_KEY}"));
        let endpoint = json!({"url": url, "events": ["categories.created", "products.created"], "secret": secret});
        assert_eq!(client.post("/api/v1/webhooks", endpoint).await.expect(201)["isActive"], true);
        let category = client.post("/odata/v1/Categories", json!({"name": "Lamps"})).await.expect(201);
        let product = json!({"sku": "L-1", "name": "Desk lamp", "price": 49.9, "categoryId": category["id"]});
        let product = client.post("/odata/v1/Products", product).await.expect(201);
        app.drain().await;
        for (attempts, delay) in (1..).zip(DELAYS) {
            let waiting = delivery(&client).await;
            assert_eq!((&waiting["status"], &waiting["attempts"]), (&json!("retrying"), &json!(attempts)));
            app.advance(Duration::from_millis(delay * 1_000 - 1));
            app.drain().await;
            assert_eq!(delivery(&client).await["attempts"], attempts, "nothing comes early");
            let receiver = (attempts == 5).then(|| Receiver::start(Language::Python, port, &[secret]));
            app.advance(Duration::from_millis(1));
            app.drain().await;
            if let Some(receiver) = receiver {
                let received = receiver.next();
                assert!(received.accepted);
                assert_eq!(received.envelope()["data"]["id"], product["id"]);
            }
        }
        let delivered = delivery(&client).await;
        assert_eq!((&delivered["status"], &delivered["attempts"]), (&json!("delivered"), &json!(6)));
    }
}
