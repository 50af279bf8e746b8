//! How much an endpoint may say, and how far a question may reach: just within, and just beyond.

use serde_json::{Map, Value as Json, json};
use svc_testing::on_both_databases;

use crate::fixture::{World, path};

/// A letter that takes several bytes: people count letters.
fn letters(count: usize) -> String {
    "\u{1f6a2}".repeat(count)
}

fn numbered(count: usize, value: &str) -> Json {
    let all = (0..count).map(|number| (format!("X-{number}"), Json::from(value)));
    Json::Object(all.collect::<Map<_, _>>())
}

fn secret(bytes: usize) -> String {
    use base64::Engine as _;
    format!("whsec_{}", base64::engine::general_purpose::STANDARD.encode(vec![7; bytes]))
}

on_both_databases! {
    async fn what_is_said_of_an_endpoint_has_bounds_that_may_be_reached(backend) {
        let world = World::new(backend).await;
        let url = |length: usize| {
            let url = format!("{}?", world.receiver.url());
            format!("{url}{}", "x".repeat(length - url.len()))
        };
        let types = |count: usize| (0..count).map(|number| format!("a.n{number}")).collect::<Vec<_>>();
        let filter = |bytes: usize| format!("sku eq '{}'", "x".repeat(bytes - 9));
        let terms = |count: usize| vec!["sku eq ''"; count].join(" or ");
        let good = json!({"url": world.receiver.url(), "events": ["products.*"]});
        let endpoint = world.client().post("/api/v1/webhooks", good.clone()).await.expect(201);
        for (field, within, beyond, named) in [
            ("url", json!(url(2_048)), json!(url(2_049)), "url"),
            ("description", json!(letters(500)), json!(letters(501)), "description"),
            ("events", json!(types(200)), json!(types(201)), "events"),
            ("events", json!(["x".repeat(128)]), json!(["x".repeat(129)]), "events[0]"),
            ("metadata", numbered(50, ""), numbered(51, ""), "metadata"),
            ("metadata", json!({letters(100): letters(500)}), json!({"a": letters(501)}), "metadata.a"),
            ("metadata", json!({"a": "\n"}), json!({"": "a"}), "metadata"),
            ("headers", numbered(20, "a"), numbered(21, "a"), "headers"),
            ("headers", json!({"X-A": "a".repeat(2_048)}), json!({"X-A": "a".repeat(2_049)}), "headers.X-A"),
            ("headers", json!({"X-A": "a b\tc"}), json!({"X-A": "a\u{7f}"}), "headers.X-A"),
            ("secret", json!(secret(24)), json!(secret(23)), "secret"),
            ("secret", json!(secret(64)), json!(secret(65)), "secret"),
            ("filter", json!(filter(2_000)), json!(filter(2_001)), "filter"),
            ("filter", json!(terms(40)), json!(terms(60)), "filter"),
            ("maxPerSecond", json!(1), json!(0), "maxPerSecond"),
            ("maxPerSecond", json!(10_000), json!(10_001), "maxPerSecond"),
            ("timeoutSeconds", json!(1), json!(-1), "timeoutSeconds"),
            ("timeoutSeconds", json!(10), json!(11), "timeoutSeconds"),
            ("expiresAfterSeconds", json!(60), json!(59), "expiresAfterSeconds"),
            ("expiresAfterSeconds", json!(2_592_000), json!(i32::MAX), "expiresAfterSeconds"),
            ("retryDelaysSeconds", json!(vec![1; 30]), json!(vec![1; 31]), "retryDelaysSeconds"),
            ("retryDelaysSeconds", json!([21_600]), json!([1, i32::MIN]), "retryDelaysSeconds[1]"),
            ("retryDelaysSeconds", json!([]), json!([21_601]), "retryDelaysSeconds[0]"),
        ] {
            // Each alone, since a filter must fit the events and eight replaced secrets are kept at most.
            let mut new = good.clone();
            new[field] = within.clone();
            let made = world.client().post("/api/v1/webhooks", new.clone()).await;
            assert_eq!(made.status, 201, "{field} {}", made.text);
            let made = made.json();
            if !["headers", "secret", "url", "events"].contains(&field) {
                assert_eq!(made[field], within, "{field}");
            }
            let before = world.show(&made).await;
            for wrong in [world.client().put(&path(&made, ""), json!({field: beyond})).await, {
                new[field] = beyond.clone();
                world.client().post("/api/v1/webhooks", new).await
            }] {
                let problem = wrong.expect(422);
                assert!(problem["errors"].get(named).is_some(), "{field}: {problem}");
            }
            assert_eq!(world.show(&made).await, before, "{field}: a refusal changes nothing");
        }
        assert_eq!(world.show(&endpoint).await["events"], json!(["products.*"]));
    }

    async fn what_no_database_takes_is_refused_by_its_field(backend) {
        let world = World::new(backend).await;
        let endpoint = world.endpoint(&["products.*"]).await;
        let before = world.show(&endpoint).await;
        for (change, named) in [
            (json!({"url": format!("{}\0", world.receiver.url())}), "url"),
            (json!({"events": ["products.\0"]}), "events[0]"),
            (json!({"description": "\0"}), "description"),
            (json!({"metadata": {"a": "b\0"}}), "metadata.a"),
            (json!({"metadata": {"a\0": "b"}}), "metadata.a"),
            (json!({"headers": {"X-A": "b\0"}}), "headers.X-A"),
            (json!({"filter": "sku eq '\0'"}), "filter"),
            (json!({"secret": "whsec_\0"}), "secret"),
            (json!({"oauth2": {"tokenUrl": "https://a.example/\0", "clientId": "a", "clientSecret": "b"}}), "oauth2.tokenUrl"),
        ] {
            let problem = world.client().put(&path(&endpoint, ""), change.clone()).await.expect(422);
            assert!(problem["errors"].get(named).is_some(), "{change}: {problem}");
        }
        assert_eq!(world.show(&endpoint).await, before);
    }

    async fn questions_reach_as_far_as_time_does(backend) {
        let world = World::new(backend).await;
        let endpoint = world.endpoint(&["*"]).await;
        world.publish_many(3).await;
        world.deliver().await;
        let log = "/api/v1/webhooks/deliveries";
        let count = async |query: &str| {
            let found = world.client().get(&format!("{log}?{query}")).await.expect(200);
            found["items"].as_array().unwrap().len()
        };
        // The application lives at noon of 2026-11-20.
        for (query, expected) in [
            ("since=0000-01-01T00:00:00Z", 3),
            ("since=0001-01-01T00:00:00%2B23:59", 3),
            ("since=1969-12-31T23:59:59.999999Z", 3),
            ("since=2026-11-20T12:00:00Z", 3),
            ("since=2026-11-20T13:00:00%2B01:00", 3),
            ("since=2026-11-20T12:00:00.001Z", 0),
            ("since=9999-12-31T23:59:59.999999999Z", 0),
            ("since=9999-12-31T23:59:59-23:59", 0),
            ("until=0000-01-01T00:00:00Z", 0),
            ("until=1970-01-01T00:00:00Z", 0),
            ("until=2026-11-20T12:00:00Z", 0),
            ("until=2026-11-20T12:00:00.001Z", 3),
            ("until=9999-12-31T23:59:59-23:59", 3),
            ("since=9999-12-31T23:59:59Z&until=0000-01-01T00:00:00Z", 0),
            ("statusCode=204", 3),
            ("statusCode=999", 0),
            ("take=1", 1),
        ] {
            assert_eq!(count(query).await, expected, "{query}");
        }
        for wrong in [
            "since=2026-11-20", "since=yesterday", "since=10000-01-01T00:00:00Z", "since=-0001-01-01T00:00:00Z",
            "since=2026-02-29T00:00:00Z", "since=2026-11-20T24:00:00Z", "since=", "until=2026-11-20T12:00:00",
            "statusCode=40000", "statusCode=x", "status=gone", "status=", "take=0", "take=-1", "take=x",
            "take=99999999999999999999", "subscriptionId=x", "eventId=x", "after=x", "unknown=1",
        ] {
            let answer = world.client().get(&format!("{log}?{wrong}")).await;
            assert_eq!(answer.status, 400, "{wrong}: {}", answer.text);
        }
        // A job that reaches as far does what there is, and once.
        for since in ["0000-01-01T00:00:00Z", "9999-12-31T23:59:59-23:59"] {
            let body = json!({"since": since});
            let answer = world.client().post(&path(&endpoint, "/recover"), body).await;
            assert_eq!(answer.status, 202, "{since}: {}", answer.text);
            assert_eq!(world.deliver().await.len(), 0, "{since}: nothing was missed");
        }
        let body = json!({"status": "delivered", "since": "0000-01-01T00:00:00Z", "until": "9999-12-31T23:59:59-23:59"});
        let answer = world.client().post("/api/v1/webhooks/deliveries/redeliver", body).await;
        assert_eq!(answer.status, 202, "{}", answer.text);
        assert_eq!(world.deliver().await.len(), 3);
        for (hours, status) in [("1", 200), ("720", 200), ("0", 400), ("721", 400), ("-1", 400), ("4294967296", 400)] {
            let answer = world.client().get(&path(&endpoint, &format!("/health?hours={hours}"))).await;
            assert_eq!(answer.status, status, "{hours}: {}", answer.text);
        }
    }
}
